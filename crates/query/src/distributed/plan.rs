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
use isomorph::storage::Resources;
use isomorph::{Error, Graph, Result};

use super::functions::function_to_text;
use super::scan::{TableRows, TableScan, TableScanExec};
use crate::answer::Answer;
use crate::engine::Engine;
use crate::errors::{inside, internal, of_engine};
use crate::parameters::Parameters;
use crate::syntax::labels::Labels;
use crate::tables::catalog::{Catalog, Entry, GraphSchema};
use crate::tables::file::FileTable;
use crate::tables::matched::MatchedRows;
use crate::tables::parts::Rows;
use crate::tables::scan::ScanExec;
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

    /// The graph, if it is one.
    pub fn graph(&self) -> Option<&Arc<Graph>> {
        match &self.0 {
            Kept::Graph(schema) => Some(schema.graph()),
            Kept::File(_) => None,
        }
    }

    /// The rows that a scan reads. A graph without declared types is surveyed, once. Matches of patterns are found with this much memory.
    ///
    /// # Errors
    /// [`isomorph::Kind::Conflict`] if there is no such table; as [`Graph::survey`].
    pub fn rows(&self, scan: &TableScan, resources: &Resources) -> Result<TableRows> {
        if let Some(pattern) = &scan.pattern {
            let graph = self.graph().ok_or_else(|| internal("a pattern of no graph"))?;
            return Ok(TableRows(Arc::new(MatchedRows::of(graph, "graph", pattern, resources)?)));
        }
        self.table(scan.table())
    }

    fn table(&self, table: &str) -> Result<TableRows> {
        let found = match &self.0 {
            Kept::File(entry) => Some(entry),
            Kept::Graph(schema) => match schema.quads().filter(|_| table == crate::tables::catalog::QUADS) {
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
    if let Some((graph, _)) = rows.matched() {
        return Some(graph);
    }
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use datafusion::arrow::util::pretty::pretty_format_batches;
    use datafusion::physical_plan::execute_stream;

    use super::super::{OpenTable, TableScan, session_state};
    use super::*;

    const QUESTIONS: [&str; 17] = [
        "select a, b, since from graph_table (graph match (a:person)-[k:knows]->(b where b.id > 1300) columns (a.id as a, b.id as b, k.since))",
        "select gender, count(*) from graph_table (graph match (a:person)-[:knows]->{1,2}(b:person) columns (b.id as b)) m join person p on p.id = m.b group by gender",
        "select * from graph_table (graph match (a:person where a.id < 1010) columns (a.id, a.birthday)) m where id > 1003",
        "select count(*) from person where cast(id / 3.0 as int) = 400 or cast(id as bigint) << 2 > 4400",
        "select gender, sum(cast(id / 7.0 as decimal(9, 1))) from person group by gender",
        "select count(*), sum(id), min(birthday) from person where id > 1200",
        "select gender, sum(id * 2 - 1), avg(id), max(id + 1) from person group by gender",
        "select p.gender, count(*) from person p join knows k on k._source = p.id group by p.gender",
        "select a.id, count(b.id) from person a left join person b on a.id < b.id and b.id < 1020 group by a.id",
        "select count(*) from person a where not exists (select 1 from person b where b.id > a.id)",
        "select count(*) from person a full join city c on a.firstName = c.name",
        "select id, rank() over (partition by gender order by birthday, id) from person",
        "select id from person where id > (select avg(id) from person) order by birthday desc, id limit 9",
        "select id from person where id in (1007, 1021) union all select _source from knows where _target = 1021",
        "select l, count(*) from (select unnest(_labels) as l from person) group by l",
        "select count(*) from person where firstName like 'G%' and -id < -1500",
        "select _target, since from knows where _source = 1007",
    ];

    fn rows(answer: Answer) -> Vec<String> {
        let batches = answer.collect::<Result<Vec<_>>>().unwrap();
        let text = pretty_format_batches(&batches).unwrap().to_string();
        let mut rows: Vec<String> = text.lines().filter(|line| line.starts_with('|')).map(ToOwned::to_owned).collect();
        rows.sort();
        rows.dedup_by(|one, other| one == other && one.contains("id "));
        rows
    }

    /// The plan whose scans are read from their texts, and open the graph as an executor does.
    fn arrived(plan: &Arc<dyn ExecutionPlan>, tables: &Arc<Tables>) -> Arc<dyn ExecutionPlan> {
        let read = |node: Arc<dyn ExecutionPlan>| {
            let Some(exec) = node.downcast_ref::<TableScanExec>() else { return Ok(Transformed::no(node)) };
            let scan = TableScan::parse(&exec.scan().to_text().unwrap()).unwrap();
            let (tables, own) = (Arc::clone(tables), scan.clone());
            let open: OpenTable = Arc::new(move || tables.rows(&own, &Resources::of_this_machine()?));
            let input = Arc::clone(exec.children()[0]);
            let own: Arc<dyn ExecutionPlan> =
                Arc::new(TableScanExec::decoded(scan, exec.graph().to_owned(), Some(open), input, exec.schema()));
            Ok(Transformed::yes(own))
        };
        Arc::clone(plan).transform_up(read).unwrap().data
    }

    #[test]
    fn scans_that_travelled_read_the_same_rows() {
        let place = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/social");
        let mut engine = Engine::new(Resources { threads: 2, ..Resources::of_this_machine().unwrap() }).unwrap();
        engine.add_graph("graph", Arc::new(isomorph::open(place).unwrap())).unwrap();
        let tables = Arc::new(Tables::of_graph(Arc::new(isomorph::open(place).unwrap())));
        let context = session_state(SessionConfig::new(), usize::MAX).unwrap().task_ctx();
        for question in QUESTIONS {
            let expected = rows(engine.query(question, &Parameters::new()).unwrap());
            assert!(expected.len() > 1, "{question}");
            for partitions in [1, 3, 16] {
                let planned = engine.distributed(question, &Parameters::new(), partitions, &mut || Ok(())).unwrap();
                assert!(!planned.tables().is_empty(), "{question}");
                let inside = planned.workers.handle().enter();
                let stream = execute_stream(arrived(planned.plan(), &tables), Arc::clone(&context)).unwrap();
                drop(inside);
                assert_eq!(rows(planned.answer(stream)), expected, "{question}, {partitions} partitions");
            }
        }
    }

    #[test]
    fn partitions_together_are_the_table_and_each_is_a_part_of_it() {
        let place = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/social");
        let mut engine = Engine::new(Resources::of_this_machine().unwrap()).unwrap();
        engine.add_graph("graph", Arc::new(isomorph::open(place).unwrap())).unwrap();
        let tables = Arc::new(Tables::of_graph(Arc::new(isomorph::open(place).unwrap())));
        let context = session_state(SessionConfig::new(), usize::MAX).unwrap().task_ctx();
        let planned =
            engine.distributed("select id from person where id >= 0", &Parameters::new(), 7, &mut || Ok(())).unwrap();
        let plan = arrived(planned.plan(), &tables);
        let partitions = plan.output_partitioning().partition_count();
        let one = |at: usize| {
            let inside = planned.workers.handle().enter();
            let stream = plan.execute(at, Arc::clone(&context)).unwrap();
            drop(inside);
            planned.answer(stream).map(|batch| batch.unwrap().num_rows()).sum::<usize>()
        };
        assert_eq!((0..partitions).map(one).sum::<usize>(), 500);
        // A task that runs again reads the same rows.
        assert_eq!(one(0), one(0));
        // Another number of parts is another table.
        let gone = Tables::of_graph(Arc::new(isomorph::open(place).unwrap()));
        assert_eq!(gone.table("nobody").unwrap_err().kind(), isomorph::Kind::Conflict);
    }

    #[test]
    fn arithmetic_in_keys_of_partitions_is_refused() {
        let place = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/social");
        let mut engine = Engine::new(Resources::of_this_machine().unwrap()).unwrap();
        engine.add_graph("graph", Arc::new(isomorph::open(place).unwrap())).unwrap();
        let question = "select id, count(*) over (partition by id * 2 + 1) from person";
        let error = engine.distributed(question, &Parameters::new(), 4, &mut || Ok(())).unwrap_err();
        assert_eq!(error.kind(), isomorph::Kind::Unsupported, "{error}");
    }
}
