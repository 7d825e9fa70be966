//! From a question to a plan that other processes run.

use std::sync::Arc;

use datafusion::common::Result as EngineResult;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::JoinType;
use datafusion::physical_expr::{Partitioning, PhysicalExpr, ScalarFunctionExpr};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::joins::NestedLoopJoinExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, replace_children_if_necessary};
use datafusion::prelude::SessionConfig;
use isomorph::formats::flat::PlainTable;
use isomorph::{Error, Graph, Result};

use super::functions::function_to_text;
use super::scan::{TableRows, TableScanExec};
use crate::answer::Answer;
use crate::catalog::{Catalog, Entry, GraphSchema};
use crate::engine::Engine;
use crate::errors::{inside, internal, of_engine};
use crate::file::FileTable;
use crate::labels::Labels;
use crate::parameters::Parameters;
use crate::parts::Rows;
use crate::scan::ScanExec;
use crate::workers::Workers;

/// A plan that other processes run.
pub struct DistributedPlan {
    plan: Arc<dyn ExecutionPlan>,
    config: SessionConfig,
    labels: Labels,
    workers: Arc<Workers>,
}

impl std::fmt::Debug for DistributedPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DistributedPlan").field("plan", &self.plan.name()).finish_non_exhaustive()
    }
}

impl Engine {
    /// Plans a question for other processes, which divide joins and groups into so many partitions. The plan has the meaning that [`Engine::query`] gives the
    /// question; its scans are [`TableScanExec`].
    ///
    /// # Errors
    /// As [`Engine::query_while`]; [`isomorph::Kind::Unsupported`] for what cannot be divided.
    pub fn distributed(
        &self,
        question: &str,
        parameters: &Parameters,
        partitions: usize,
        go_on: &mut dyn FnMut() -> Result<()>,
    ) -> Result<DistributedPlan> {
        let (runnable, catalog, workers) = self.plan_elsewhere(question, parameters, partitions, go_on)?;
        let plan = divided(runnable.plan, &catalog).map_err(of_engine)?;
        check(&plan).map_err(of_engine)?;
        let config = runnable.state.config().clone();
        Ok(DistributedPlan { plan, config, labels: runnable.labels, workers })
    }
}

impl DistributedPlan {
    /// The plan.
    pub fn plan(&self) -> &Arc<dyn ExecutionPlan> {
        &self.plan
    }

    /// The settings with which it was made.
    pub fn config(&self) -> &SessionConfig {
        &self.config
    }

    /// The names of the graphs and tables that it reads, each once.
    pub fn tables(&self) -> Vec<(String, String)> {
        let mut tables = Vec::new();
        let visited = self.plan.apply(|node| {
            if let Some(scan) = node.downcast_ref::<TableScanExec>() {
                tables.push((scan.graph().to_owned(), scan.scan().table().to_owned()));
            }
            Ok(TreeNodeRecursion::Continue)
        });
        debug_assert!(visited.is_ok());
        tables.sort();
        tables.dedup();
        tables
    }

    /// The answer whose rows are those of `stream`.
    pub fn answer(&self, stream: SendableRecordBatchStream) -> Answer {
        Answer::new(&self.workers, stream, &self.labels)
    }
}

/// The tables of a place, in a process that reads parts of them.
#[derive(Debug)]
pub struct Tables(Kept);

#[derive(Debug)]
enum Kept {
    Graph(GraphSchema),
    File(Entry),
}

impl Tables {
    /// Those of a graph.
    pub fn of_graph(graph: Arc<Graph>) -> Self {
        Tables(Kept::Graph(GraphSchema::new("graph", graph)))
    }

    /// The one of a file.
    pub fn of_file(table: PlainTable) -> Self {
        let rows: Arc<dyn Rows> = Arc::new(FileTable::new(table));
        Tables(Kept::File(Entry { name: String::new(), other: None, rows }))
    }

    /// The rows of a table. A graph without declared types is surveyed, once.
    ///
    /// # Errors
    /// [`isomorph::Kind::Conflict`] if there is no such table; as [`Graph::survey`].
    pub fn rows(&self, table: &str) -> Result<TableRows> {
        let found = match &self.0 {
            Kept::File(entry) => Some(entry),
            Kept::Graph(schema) => match schema.quads().filter(|_| table == crate::catalog::QUADS) {
                Some(quads) => Some(quads),
                None => schema.tables()?.iter().find(|entry| entry.name == table),
            },
        };
        let missing = || Error::new(isomorph::Kind::Conflict, format!("there is no table {table} any more"));
        found.map(|entry| TableRows(Arc::clone(&entry.rows))).ok_or_else(missing)
    }
}

/// The name of the graph or file to which a scan belongs.
fn owner(rows: &Arc<dyn Rows>, catalog: &Catalog) -> Option<String> {
    let is_own = |entry: &Entry| Arc::ptr_eq(&entry.rows, rows);
    let file = catalog.files.iter().find(|entry| is_own(entry)).map(|entry| entry.name.clone());
    file.or_else(|| {
        let graph = catalog.graphs.iter().find(|graph| {
            // Triples need no survey.
            graph.quads().is_some_and(is_own) || graph.tables().is_ok_and(|all| all.iter().any(is_own))
        });
        graph.map(|graph| graph.name.clone())
    })
}

/// The plan with scans that travel, and joins that are right in every process.
fn divided(plan: Arc<dyn ExecutionPlan>, catalog: &Catalog) -> EngineResult<Arc<dyn ExecutionPlan>> {
    let changed = plan.transform_up(|node| {
        if let Some(scan) = node.downcast_ref::<ScanExec>() {
            let graph = owner(scan.rows(), catalog).ok_or_else(|| inside(internal("a scan of no graph")))?;
            let scan: Arc<dyn ExecutionPlan> = Arc::new(TableScanExec::of(scan, &graph)?);
            return Ok(Transformed::yes(scan));
        }
        match in_one_task(&node) {
            Some(children) => Ok(Transformed::yes(replace_children_if_necessary(node, children)?)),
            None => Ok(Transformed::no(node)),
        }
    })?;
    Ok(changed.data)
}

/// The inputs of a nested loop join that has rows of its left side whose partner is nowhere: whether it has none is known where all of the right side is read.
/// Partitions of one process share what they found, tasks do not.
fn in_one_task(node: &Arc<dyn ExecutionPlan>) -> Option<Vec<Arc<dyn ExecutionPlan>>> {
    let join = node.downcast_ref::<NestedLoopJoinExec>()?;
    let needs_all = matches!(
        join.join_type(),
        JoinType::Left | JoinType::Full | JoinType::LeftSemi | JoinType::LeftAnti | JoinType::LeftMark
    );
    let (left, right) = (join.left(), join.right());
    if !needs_all || right.output_partitioning().partition_count() < 2 {
        return None;
    }
    let right: Arc<dyn ExecutionPlan> = Arc::new(CoalescePartitionsExec::new(Arc::clone(right)));
    Some(vec![Arc::clone(left), right])
}

/// Refuses what travels but would not arrive as it was.
fn check(plan: &Arc<dyn ExecutionPlan>) -> EngineResult<()> {
    plan.apply(|node| {
        if let Some(divided) = node.downcast_ref::<RepartitionExec>()
            && let Partitioning::Hash(keys, _) = divided.partitioning()
        {
            // Keys of partitions travel by the names of their functions alone.
            for key in keys {
                key.apply(|part| match is_made(part) {
                    true => Err(inside(
                        Error::unsupported("arithmetic in PARTITION BY or in a key does not travel to other machines")
                            .hint("select … from (select a + b as c, … from t) partition by c"),
                    )),
                    false => Ok(TreeNodeRecursion::Continue),
                })?;
            }
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

fn is_made(part: &Arc<dyn PhysicalExpr>) -> bool {
    part.downcast_ref::<ScalarFunctionExpr>().is_some_and(|call| function_to_text(call.fun()).is_some())
}
