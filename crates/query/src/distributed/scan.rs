//! The operator that reads parts of a table, whichever process runs it.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result as EngineResult, Statistics};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties};
use futures::{StreamExt, TryStreamExt};
use isomorph::{Error, Kind, Result};

use super::message;
use crate::errors::{inside, internal};
use crate::tables::parts::{Part, Pattern, Rows, Wanted};
use crate::tables::scan::{ScanExec, properties};

/// What a scan reads: of which table, and how it is divided.
#[derive(Debug, Clone)]
pub struct TableScan {
    pub(crate) table: String,
    pub(crate) wanted: Wanted,
    /// The number of parts that the table had where the plan was made.
    pub(crate) parts: usize,
    /// The part `n` is read by the partition `n % partitions`.
    pub(crate) partitions: usize,
    /// About how many rows there are.
    pub(crate) rows: Option<usize>,
    /// The pattern whose matches are the rows, of a `GRAPH_TABLE`.
    pub(crate) pattern: Option<Pattern>,
}

impl TableScan {
    /// The scan as text.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] for a condition that cannot be written.
    pub fn to_text(&self) -> Result<String> {
        message::written(self)
    }

    /// The scan of a text.
    ///
    /// # Errors
    /// [`Kind::Malformed`] if it is none.
    pub fn parse(text: &str) -> Result<Self> {
        message::read(text)
    }

    /// The name of its table.
    pub fn table(&self) -> &str {
        &self.table
    }
}

/// The rows of a table that an executor has opened.
#[derive(Debug, Clone)]
pub struct TableRows(pub(crate) Arc<dyn Rows>);

/// Opens a table, when its first part is read.
pub type OpenTable = Arc<dyn Fn() -> Result<TableRows> + Send + Sync>;

/// Reads parts of a table: those whose numbers its input has. Each partition of the input has one number, so that whoever divides a plan into tasks by
/// the partitions of its leaves divides scans too, and needs to know nothing of them.
pub struct TableScanExec {
    scan: TableScan,
    /// Which graph: its name in the question, or what the client wrote instead.
    graph: String,
    /// Nothing in a process that only divides the plan.
    open: Option<OpenTable>,
    input: Arc<dyn ExecutionPlan>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
    opened: Arc<Opened>,
}

/// The parts, once they are opened, as far as nobody has taken them.
struct Opened(Mutex<Option<Vec<Option<Part>>>>);

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Opened")
    }
}

impl fmt::Debug for TableScanExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableScanExec").field("scan", &self.scan).finish_non_exhaustive()
    }
}

/// The column of numbers.
fn numbers() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("part", DataType::UInt64, false)]))
}

impl TableScanExec {
    /// The scan of a plan, divided as `own` was; `graph` is the name of its graph in the question.
    ///
    /// # Errors
    /// Those of the engine.
    pub(crate) fn of(own: &ScanExec, graph: &str) -> EngineResult<Self> {
        let partitions = own.partitions();
        let one = |at: usize| -> EngineResult<Vec<RecordBatch>> {
            let number = UInt64Array::from_iter_values([at as u64]);
            Ok(vec![RecordBatch::try_new(numbers(), vec![Arc::new(number)])?])
        };
        let batches = (0..partitions).map(one).collect::<EngineResult<Vec<_>>>()?;
        let input: Arc<dyn ExecutionPlan> = MemorySourceConfig::try_new_exec(&batches, numbers(), None)?;
        let rows = own.estimated_rows();
        let scan = TableScan {
            table: own.table().to_owned(),
            wanted: own.wanted().clone(),
            parts: own.parts().map_err(inside)?,
            partitions,
            rows,
            pattern: own.rows().matched().map(|(_, pattern)| pattern),
        };
        Ok(TableScanExec::new(scan, graph.to_owned(), None, input, own.schema()))
    }

    /// A scan that was read from a text. `graph` is what the client wrote for its graph; without `open` it cannot be run.
    pub fn decoded(
        scan: TableScan,
        graph: String,
        open: Option<OpenTable>,
        input: Arc<dyn ExecutionPlan>,
        schema: SchemaRef,
    ) -> Self {
        TableScanExec::new(scan, graph, open, input, schema)
    }

    fn new(
        scan: TableScan,
        graph: String,
        open: Option<OpenTable>,
        input: Arc<dyn ExecutionPlan>,
        schema: SchemaRef,
    ) -> Self {
        let properties = properties(&schema, input.output_partitioning().partition_count());
        TableScanExec { scan, graph, open, input, schema, properties, opened: Arc::new(Opened(Mutex::default())) }
    }

    /// What it reads.
    pub fn scan(&self) -> &TableScan {
        &self.scan
    }

    /// Which graph: its name in the question, or what the client wrote instead.
    pub fn graph(&self) -> &str {
        &self.graph
    }
}

fn changed(table: &str, how: &str) -> Error {
    Error::new(Kind::Conflict, format!("the table {table} is not what it was when the plan was made: {how}"))
        .hint("ask again; if it fails again, the machines do not see the same files")
}

/// What reading a partition needs, without the plan.
struct Reader {
    scan: TableScan,
    schema: SchemaRef,
    open: OpenTable,
    opened: Arc<Opened>,
}

impl Reader {
    /// The parts of the partition of this number.
    fn parts(&self, number: usize) -> Result<Vec<Part>> {
        let mut opened = self.opened.0.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = || (number..self.scan.parts).step_by(self.scan.partitions.max(1));
        // The first partition opens them for all; a partition that runs again opens them again.
        let has_all = |opened: &Vec<Option<Part>>| wanted().all(|at| opened.get(at).is_some_and(Option::is_some));
        let parts = match opened.take().filter(has_all) {
            Some(parts) => parts,
            None => {
                let TableRows(rows) = (self.open)()?;
                if rows.schema().project(&self.scan.wanted.columns).ok().as_ref() != Some(self.schema.as_ref()) {
                    return Err(changed(&self.scan.table, "its columns are others"));
                }
                let parts = rows.parts(&self.scan.wanted)?;
                if parts.len() != self.scan.parts {
                    let how = format!("it has {} parts, and had {}", parts.len(), self.scan.parts);
                    return Err(changed(&self.scan.table, &how));
                }
                parts.into_iter().map(Some).collect()
            }
        };
        let parts = opened.insert(parts);
        Ok(wanted().filter_map(|at| parts.get_mut(at).and_then(Option::take)).collect())
    }

    fn all(&self, batch: &RecordBatch) -> Result<Vec<Part>> {
        let numbers = batch.columns().first().and_then(|column| column.as_primitive_opt::<UInt64Type>());
        let numbers = numbers.ok_or_else(|| internal("a scan without numbers of parts"))?;
        let mut all = Vec::new();
        for number in numbers.iter().flatten() {
            all.extend(self.parts(usize::try_from(number).unwrap_or(usize::MAX))?);
        }
        Ok(all)
    }
}

impl DisplayAs for TableScanExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns: Vec<&str> = self.schema.fields().iter().map(|field| field.name().as_str()).collect();
        write!(
            f,
            "TableScanExec: table={}, columns=[{}], parts={}",
            self.scan.table,
            columns.join(", "),
            self.scan.parts
        )
    }
}

impl ExecutionPlan for TableScanExec {
    fn name(&self) -> &str {
        "TableScanExec"
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    /// More partitions of numbers are no more parts.
    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> EngineResult<Arc<dyn ExecutionPlan>> {
        let [input] = <[_; 1]>::try_from(children).map_err(|_| inside(internal("a scan has one input")))?;
        let (scan, open) = (self.scan.clone(), self.open.clone());
        Ok(Arc::new(TableScanExec::new(scan, self.graph.clone(), open, input, Arc::clone(&self.schema))))
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> EngineResult<TreeNodeRecursion>,
    ) -> EngineResult<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> EngineResult<SendableRecordBatchStream> {
        let Some(open) = self.open.clone() else {
            return Err(inside(internal("a scan that only an executor can run")));
        };
        let numbers = self.input.execute(partition, context)?;
        let (scan, schema) = (self.scan.clone(), Arc::clone(&self.schema));
        let reader = Reader { scan, schema, open, opened: Arc::clone(&self.opened) };
        let batches = numbers
            .map(move |batch| {
                let parts = reader.all(&batch?).map_err(inside)?;
                Ok::<_, DataFusionError>(futures::stream::iter(parts).flatten().map_err(inside))
            })
            .try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), batches)))
    }

    /// Estimates, which choose how joins are divided.
    fn statistics_from_inputs(&self, _: &[Arc<Statistics>], _: &StatisticsArgs) -> EngineResult<Arc<Statistics>> {
        let num_rows = self.scan.rows.map_or(Precision::Absent, Precision::Inexact);
        Ok(Arc::new(Statistics { num_rows, ..Statistics::new_unknown(&self.schema) }))
    }
}
