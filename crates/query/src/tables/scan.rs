//! The operator that reads a table.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_schema::{Schema, SchemaRef};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result as EngineResult, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::DynamicFilterPhysicalExpr;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, apply_expression_roots};
use datafusion::physical_plan::filter_pushdown::{ChildPushdownResult, FilterPushdownPhase, FilterPushdownPropagation};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder, MetricsSet};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::{StreamExt, TryStreamExt};
use isomorph::dataset::PlannedRead;
use isomorph::model::DynamicFilter;
use isomorph::{Error, Predicate, Result};

use crate::errors::inside;
use crate::tables::columns::Column;
use crate::tables::estimate;
use crate::tables::narrowed::implied;
use crate::tables::parts::{Part, Rows, Wanted};

/// Reads some columns of some rows of a table. Its partitions have no order.
#[derive(Debug)]
pub(crate) struct ScanExec {
    name: String,
    rows: Arc<dyn Rows>,
    wanted: Wanted,
    schema: SchemaRef,
    /// Filters of the engine that become narrower while it runs.
    dynamic: Vec<Arc<dyn PhysicalExpr>>,
    runs: Arc<Runs>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

/// The parts of each time that the operator runs.
#[derive(Debug)]
struct Runs(Mutex<State>);

#[derive(Default)]
struct State {
    /// How often each partition was started.
    started: Vec<usize>,
    /// The parts of each time, as far as they are not taken.
    opened: Vec<Option<Opened>>,
    /// Those that were opened to plan.
    planned: Option<Vec<Part>>,
}

struct Opened {
    parts: Vec<Option<Part>>,
    narrower: Option<Arc<Narrower>>,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("started", &self.started).finish_non_exhaustive()
    }
}

/// Carries what the engine learns to the dataset, while a scan runs.
struct Narrower {
    expressions: Vec<Arc<dyn PhysicalExpr>>,
    columns: Vec<(String, Column)>,
    filter: DynamicFilter,
    seen: AtomicU64,
}

impl Narrower {
    fn implied(&self) -> Option<Predicate> {
        implied_by(&self.expressions, &self.columns)
    }

    /// Looks again, if anything changed.
    fn refresh(&self) -> Result<()> {
        let now = self.expressions.iter().map(|one| one.snapshot_generation()).fold(0, u64::wrapping_add);
        if self.seen.swap(now, Ordering::Relaxed) != now
            && let Some(condition) = self.implied()
        {
            self.filter.narrow(condition)?;
        }
        Ok(())
    }
}

fn implied_by(expressions: &[Arc<dyn PhysicalExpr>], columns: &[(String, Column)]) -> Option<Predicate> {
    let find = |name: &str| columns.iter().find(|(own, _)| own == name).map(|(_, column)| column.clone());
    expressions.iter().fold(None, |all, one| Predicate::both(all, implied(one, &find)))
}

impl ScanExec {
    /// A scan on at most so many threads.
    ///
    /// # Errors
    /// If metadata cannot be read.
    pub fn new(name: &str, rows: Arc<dyn Rows>, wanted: Wanted, threads: usize) -> Result<Self> {
        let planned = rows.parts(&wanted)?;
        let schema = rows.schema().project(&wanted.columns).map_err(|error| Error::usage(error.to_string()))?;
        let schema: Arc<Schema> = Arc::new(schema);
        let partitions = planned.len().clamp(1, threads.max(1));
        let state = State { planned: Some(planned), ..State::default() };
        let runs = Arc::new(Runs(Mutex::new(state)));
        Ok(ScanExec {
            name: name.to_owned(),
            rows,
            wanted,
            properties: properties(&schema, partitions),
            schema,
            dynamic: Vec::new(),
            runs,
            metrics: ExecutionPlanMetricsSet::new(),
        })
    }

    /// The same with these dynamic filters, as if it had never run.
    fn with_dynamic(&self, dynamic: Vec<Arc<dyn PhysicalExpr>>) -> Self {
        ScanExec {
            name: self.name.clone(),
            rows: Arc::clone(&self.rows),
            wanted: self.wanted.clone(),
            schema: Arc::clone(&self.schema),
            dynamic,
            runs: Arc::new(Runs(Mutex::default())),
            properties: Arc::clone(&self.properties),
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }

    /// The number of partitions: the part `n` is read by the partition `n % partitions`.
    pub fn partitions(&self) -> usize {
        self.properties.partitioning.partition_count()
    }

    /// What it reads of files.
    ///
    /// # Errors
    /// If metadata cannot be read.
    pub fn reads(&self) -> Result<Vec<PlannedRead>> {
        let mut reads = self.rows.reads(&self.wanted)?;
        if !self.dynamic.is_empty() {
            reads.iter_mut().for_each(|read| read.is_most = true);
        }
        Ok(reads)
    }

    /// Whether tables are held in memory to find its rows.
    pub fn holds_tables(&self) -> bool {
        self.rows.holds_tables()
    }
}

#[cfg(feature = "distributed")]
impl ScanExec {
    /// The name of its table.
    pub fn table(&self) -> &str {
        &self.name
    }

    /// Where it reads.
    pub fn rows(&self) -> &Arc<dyn Rows> {
        &self.rows
    }

    /// What it reads.
    pub fn wanted(&self) -> &Wanted {
        &self.wanted
    }

    /// The number of parts.
    ///
    /// # Errors
    /// If metadata cannot be read.
    pub fn parts(&self) -> Result<usize> {
        let state = self.runs.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &state.planned {
            Some(planned) => Ok(planned.len()),
            None => self.rows.parts(&self.wanted).map(|parts| parts.len()),
        }
    }

    /// About how many rows it reads, if that is known.
    pub fn estimated_rows(&self) -> Option<usize> {
        let fraction = self.wanted.filter.as_ref().map(|filter| self.rows.fraction(filter));
        let statistics = self.rows.statistics();
        let narrowed = estimate::narrowed(&statistics, &self.wanted.columns, fraction, self.wanted.limit);
        narrowed.num_rows.get_value().copied()
    }
}

/// What the engine knows of a scan of so many partitions.
pub(crate) fn properties(schema: &SchemaRef, partitions: usize) -> Arc<PlanProperties> {
    Arc::new(PlanProperties::new(
        EquivalenceProperties::new(Arc::clone(schema)),
        Partitioning::UnknownPartitioning(partitions),
        EmissionType::Incremental,
        Boundedness::Bounded,
    ))
}

/// What starting a partition needs, without the plan.
struct Start {
    rows: Arc<dyn Rows>,
    wanted: Wanted,
    dynamic: Vec<Arc<dyn PhysicalExpr>>,
    runs: Arc<Runs>,
    partition: usize,
    partitions: usize,
    turn: usize,
}

impl Start {
    /// The parts of this partition. The first one that starts opens them for all, with what is known by then.
    fn parts(&self) -> Result<(Vec<Part>, Option<Arc<Narrower>>)> {
        let mut state = self.runs.0.lock().unwrap_or_else(PoisonError::into_inner);
        while state.opened.len() <= self.turn {
            state.opened.push(None);
        }
        if state.opened.get(self.turn).is_none_or(Option::is_none) {
            let opened = self.open(&mut state)?;
            if let Some(place) = state.opened.get_mut(self.turn) {
                *place = Some(opened);
            }
        }
        let Some(Some(opened)) = state.opened.get_mut(self.turn) else { return Ok((Vec::new(), None)) };
        let own = opened.parts.iter_mut().skip(self.partition).step_by(self.partitions);
        Ok((own.filter_map(Option::take).collect(), opened.narrower.clone()))
    }

    fn open(&self, state: &mut State) -> Result<Opened> {
        let planned = state.planned.take();
        if self.dynamic.is_empty() {
            let parts = match planned {
                Some(parts) => parts,
                None => self.rows.parts(&self.wanted)?,
            };
            return Ok(Opened { parts: parts.into_iter().map(Some).collect(), narrower: None });
        }
        let named = self.dynamic.iter().flat_map(collect_columns).map(|column| column.name().to_owned());
        let mut columns: Vec<(String, Column)> = Vec::new();
        for name in named {
            if let Some(column) = self.rows.column(&name).filter(|_| columns.iter().all(|(own, _)| *own != name)) {
                columns.push((name, column));
            }
        }
        let filter = DynamicFilter::new(columns.iter().map(|(_, column)| column.stored.clone()));
        let narrower = Narrower { expressions: self.dynamic.clone(), columns, filter, seen: AtomicU64::new(0) };
        narrower.refresh()?;
        let (hints, dynamic) = (narrower.implied(), Some(narrower.filter.clone()));
        let parts = self.rows.parts(&Wanted { hints, dynamic, ..self.wanted.clone() })?;
        Ok(Opened { parts: parts.into_iter().map(Some).collect(), narrower: Some(Arc::new(narrower)) })
    }
}

impl DisplayAs for ScanExec {
    fn fmt_as(&self, form: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns: Vec<&str> = self.schema.fields().iter().map(|field| field.name().as_str()).collect();
        let way = self.rows.way(&self.wanted);
        match form {
            DisplayFormatType::TreeRender => {
                write!(f, "table={}\ncolumns={}\nway={way}", self.name, columns.join(", "))?
            }
            _ => write!(f, "ScanExec: table={}, columns=[{}], way={way}", self.name, columns.join(", "))?,
        }
        if let Some(filter) = &self.wanted.filter {
            write!(f, ", filter on {}", filter.columns().join(", "))?;
        }
        if let Some(limit) = self.wanted.limit {
            write!(f, ", limit={limit}")?;
        }
        if !self.dynamic.is_empty() {
            write!(f, ", narrowed by {} filters of the plan", self.dynamic.len())?;
        }
        Ok(())
    }
}

impl ExecutionPlan for ScanExec {
    fn name(&self) -> &str {
        "ScanExec"
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> EngineResult<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    /// Before it runs again, as recursion does: filters of the time before are no longer true.
    fn reset_state(self: Arc<Self>) -> EngineResult<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(self.with_dynamic(Vec::new())))
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> EngineResult<TreeNodeRecursion>,
    ) -> EngineResult<TreeNodeRecursion> {
        apply_expression_roots(self.dynamic.iter(), f)
    }

    fn execute(&self, partition: usize, _: Arc<TaskContext>) -> EngineResult<SendableRecordBatchStream> {
        let turn = {
            let mut state = self.runs.0.lock().unwrap_or_else(PoisonError::into_inner);
            if state.started.len() <= partition {
                state.started.resize(partition + 1, 0);
            }
            let turn = state.started.get(partition).copied().unwrap_or_default();
            if let Some(started) = state.started.get_mut(partition) {
                *started += 1;
            }
            turn
        };
        let start = Start {
            rows: Arc::clone(&self.rows),
            wanted: self.wanted.clone(),
            dynamic: self.dynamic.clone(),
            runs: Arc::clone(&self.runs),
            partition,
            partitions: self.partitions(),
            turn,
        };
        let counted = MetricBuilder::new(&self.metrics).output_rows(partition);
        let opening = futures::stream::once(async move {
            let (parts, narrower) = start.parts()?;
            Ok::<_, Error>(futures::stream::iter(parts).flatten().map(move |batch| {
                if let Some(narrower) = &narrower {
                    narrower.refresh()?;
                }
                batch
            }))
        });
        let batches = opening.try_flatten().map(move |batch| {
            let batch = batch.map_err(inside)?;
            counted.add(batch.num_rows());
            Ok(batch)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), batches)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn statistics_from_inputs(&self, _: &[Arc<Statistics>], args: &StatisticsArgs) -> EngineResult<Arc<Statistics>> {
        if args.partition().is_some() && self.partitions() > 1 {
            return Ok(Arc::new(Statistics::new_unknown(&self.schema)));
        }
        let fraction = self.wanted.filter.as_ref().map(|filter| self.rows.fraction(filter));
        let whole = self.rows.statistics();
        Ok(Arc::new(estimate::narrowed(&whole, &self.wanted.columns, fraction, self.wanted.limit)))
    }

    fn handle_child_pushdown_result(
        &self,
        phase: FilterPushdownPhase,
        result: ChildPushdownResult,
        _: &ConfigOptions,
    ) -> EngineResult<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        let offered = result.parent_filters.iter().map(|one| Arc::clone(&one.filter));
        let dynamic: Vec<_> = offered.filter(|one| one.is::<DynamicFilterPhysicalExpr>()).collect();
        let answer = FilterPushdownPropagation::all_unsupported(result);
        // The first rows would be others.
        if phase == FilterPushdownPhase::Pre || dynamic.is_empty() || self.wanted.limit.is_some() {
            return Ok(answer);
        }
        let mut all = self.dynamic.clone();
        all.extend(dynamic);
        Ok(answer.with_updated_node(Arc::new(self.with_dynamic(all))))
    }
}
