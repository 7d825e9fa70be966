//! The engine.

use std::sync::Arc;
use std::time::Instant;

use arrow_schema::SchemaRef;
use datafusion::physical_plan::display::DisplayableExecutionPlan;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use isomorph::dataset::{Explanation, Ran};
use isomorph::formats::flat::PlainTable;
use isomorph::storage::Resources;
use isomorph::{Graph, Location, Result};

use crate::answer::{Answer, distinct_names};
use crate::direct::{self, Direct};
use crate::errors::of_engine;
use crate::large_joins::{holds_tables, or_sorted};
use crate::parameters::Parameters;
use crate::planning::{Planning, Runnable};
use crate::tables::catalog::{Catalog, Entry, GraphSchema};
use crate::tables::file::FileTable;
use crate::tables::scan::ScanExec;
use crate::workers::Workers;

/// What a plan that was run says of its operators.
const METRICS: [&str; 2] = ["output_rows", "elapsed_compute"];

/// Graphs and files, and questions about them.
///
/// ```
/// use std::sync::Arc;
/// use isomorph_query::{Engine, Parameters};
///
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// let mut engine = Engine::new(isomorph::storage::Resources::of_this_machine()?)?;
/// engine.add_graph("a", Arc::new(isomorph::open("examples/social")?))?;
/// let oldest = engine.query("select min(birthday) from a.person where gender = $sex", &Parameters::new().with("sex", "female"))?;
/// assert_eq!(oldest.map(|batch| batch.map(|batch| batch.num_rows())).sum::<Result<usize, _>>()?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Engine {
    catalog: Arc<Catalog>,
    resources: Resources,
    workers: Arc<Workers>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("schemas", &self.catalog.schemas()).finish_non_exhaustive()
    }
}

/// A table that questions can name.
#[derive(Debug, Clone)]
pub struct TableInfo {
    /// The name of its graph, or `files`.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Its relation, if that calls it too.
    pub other_name: Option<String>,
    /// Its columns.
    pub columns: SchemaRef,
}

impl Engine {
    /// An engine without graphs, with so much memory and so many threads. It uses half of the memory; the rest is for what reads graphs.
    ///
    /// # Errors
    /// If threads cannot be started.
    pub fn new(resources: Resources) -> Result<Self> {
        let workers = Arc::new(Workers::start(resources.threads.max(1))?);
        Ok(Engine { catalog: Arc::default(), resources, workers })
    }

    /// Adds a graph. Its tables are in the schema of this name.
    ///
    /// # Errors
    /// [`isomorph::Kind::Usage`] for a name that is taken, or has another meaning.
    pub fn add_graph(&mut self, name: &str, graph: Arc<Graph>) -> Result<()> {
        self.catalog.check_name(name)?;
        let schema = Arc::new(GraphSchema::new(name, graph));
        self.change(|catalog| catalog.graphs.push(schema));
        Ok(())
    }

    /// Adds a file as a table of this name, in the schema `files`: Parquet, ORC, Arrow IPC, CSV or JSON lines. A text is read once, to find the types of its
    /// columns.
    ///
    /// # Errors
    /// As [`Engine::add_graph`]; and if the file cannot be read.
    pub fn add_file(&mut self, name: &str, location: &Location) -> Result<()> {
        self.catalog.check_name(name)?;
        let rows = Arc::new(FileTable::new(PlainTable::open(location)?));
        self.change(|catalog| catalog.files.push(Entry { name: name.to_owned(), other: None, rows }));
        Ok(())
    }

    fn change(&mut self, change: impl FnOnce(&mut Catalog)) {
        // Questions that are being answered keep the catalog that they began with.
        let mut catalog = Catalog { graphs: self.catalog.graphs.clone(), files: self.catalog.files.clone() };
        change(&mut catalog);
        self.catalog = Arc::new(catalog);
    }

    /// All tables. Graphs without declared types are surveyed.
    ///
    /// # Errors
    /// As [`Graph::survey`].
    pub fn tables(&self) -> Result<Vec<TableInfo>> {
        let mut all = Vec::new();
        for schema in self.catalog.schemas() {
            all.extend(self.catalog.tables(&schema)?.into_iter().map(|entry| TableInfo {
                schema: schema.clone(),
                name: entry.name,
                other_name: entry.other,
                columns: Arc::clone(entry.rows.schema()),
            }));
        }
        Ok(all)
    }

    /// Answers a question.
    ///
    /// # Errors
    /// [`isomorph::Kind::Usage`] for what is no SQL, with line and column, and for names that do not exist or match several; [`isomorph::Kind::Unsupported`] for
    /// statements that do more than read; errors of reading.
    pub fn query(&self, question: &str, parameters: &Parameters) -> Result<Answer> {
        self.query_while(question, parameters, &mut || Ok(()))
    }

    /// The same. While the question is planned it asks `go_on`, about twenty times in a second, and ends with its error.
    ///
    /// # Errors
    /// As [`Engine::query`], and those of `go_on`.
    pub fn query_while(
        &self,
        question: &str,
        parameters: &Parameters,
        go_on: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Answer> {
        if let Some(Direct { stream, labels }) = direct::answer(question, parameters, &self.catalog) {
            return Ok(Answer::new(&self.workers, stream, &labels));
        }
        self.run(self.planning(question, parameters), go_on)
    }

    /// How a question is answered: the plans, and what each table is read for, with the bytes that this takes. Nothing is read but metadata, and keys for look-ups,
    /// unless it `runs`: then its answer is read to the end, and the plan has what each operator did.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use isomorph_query::{Engine, Parameters};
    ///
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// let mut engine = Engine::new(isomorph::storage::Resources::of_this_machine()?)?;
    /// engine.add_graph("a", Arc::new(isomorph::open("examples/social")?))?;
    /// let question = "select gender, count(*) from person group by gender";
    /// let explained = engine.explain(question, &Parameters::new(), true, &mut || Ok(()))?;
    /// assert_eq!((explained.reads[0].table.as_str(), explained.reads[0].way.as_str()), ("person", "scan"));
    /// assert_eq!(explained.ran.map(|ran| ran.rows), Some(3));
    /// # Ok::<(), isomorph::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Engine::query_while`], and, if it runs, as reading its answer.
    pub fn explain(
        &self,
        question: &str,
        parameters: &Parameters,
        runs: bool,
        go_on: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Explanation> {
        let planning = self.planning(question, parameters);
        let handle = self.workers.handle().clone();
        let again = Planning { sorts_joins: true, ..planning.clone() };
        let (started, before) = (Instant::now(), isomorph::storage::bytes_read());
        let (runnable, logical) = self.workers.do_while(move || planning.explained(&handle), go_on)?;
        let mut explained = Explanation::default();
        add_reads(&runnable.plan, &mut explained)?;
        let plan = Arc::clone(&runnable.plan);
        if runs {
            let mut answer = self.start(runnable, again)?;
            let mut rows = 0;
            while let Some(batch) = answer.next_while(go_on)? {
                rows += batch.num_rows() as u64;
            }
            let bytes = isomorph::storage::bytes_read().saturating_sub(before);
            explained.ran = Some(Ran { rows, bytes, time: started.elapsed() });
        }
        let display = match runs {
            true => DisplayableExecutionPlan::with_metrics(plan.as_ref())
                .set_metric_names(METRICS.map(str::to_owned).into()),
            false => DisplayableExecutionPlan::new(plan.as_ref()),
        };
        let physical = display.indent(false).to_string();
        explained.plans = vec![("logical plan".to_owned(), logical), ("physical plan".to_owned(), physical)];
        Ok(explained)
    }

    /// The columns of the answer to a question. No rows are read.
    ///
    /// # Errors
    /// As [`Engine::query`].
    pub fn columns(&self, question: &str, parameters: &Parameters) -> Result<SchemaRef> {
        let planning = self.planning(question, parameters);
        let handle = self.workers.handle().clone();
        let planned = self.workers.do_while(move || planning.logical(&handle), &mut || Ok(()))?;
        Ok(distinct_names(&planned.labels.on(planned.plan.schema().inner())))
    }

    fn planning(&self, question: &str, parameters: &Parameters) -> Planning {
        Planning {
            catalog: Arc::clone(&self.catalog),
            resources: self.resources.clone(),
            question: question.to_owned(),
            parameters: parameters.clone(),
            elsewhere: None,
            sorts_joins: false,
        }
    }

    /// Plans a question whose work is divided into so many partitions, which other processes do.
    #[cfg(feature = "distributed")]
    pub(crate) fn plan_elsewhere(
        &self,
        question: &str,
        parameters: &Parameters,
        partitions: usize,
        go_on: &mut dyn FnMut() -> Result<()>,
    ) -> Result<(Runnable, Arc<Catalog>, Arc<Workers>)> {
        let planning = Planning { elsewhere: Some(partitions), ..self.planning(question, parameters) };
        let handle = self.workers.handle().clone();
        let runnable = self.workers.do_while(move || planning.physical(&handle), go_on)?;
        Ok((runnable, Arc::clone(&self.catalog), Arc::clone(&self.workers)))
    }

    fn run(&self, planning: Planning, go_on: &mut dyn FnMut() -> Result<()>) -> Result<Answer> {
        let handle = self.workers.handle().clone();
        let again = Planning { sorts_joins: true, ..planning.clone() };
        let runnable = self.workers.do_while(move || planning.physical(&handle), go_on)?;
        self.start(runnable, again)
    }

    /// Runs a plan; `again` is the same with joins that hold no table.
    fn start(&self, Runnable { state, plan, labels }: Runnable, again: Planning) -> Result<Answer> {
        let _inside = self.workers.handle().enter();
        let holds = holds_tables(&plan);
        let mut stream = execute_stream(plan, state.task_ctx()).map_err(of_engine)?;
        if holds {
            stream = or_sorted(stream, again, self.workers.handle());
        }
        Ok(Answer::new(&self.workers, stream, &labels))
    }
}

/// Adds what the scans of a plan read.
fn add_reads(plan: &Arc<dyn ExecutionPlan>, explained: &mut Explanation) -> Result<()> {
    if let Some(scan) = plan.downcast_ref::<ScanExec>() {
        explained.add(scan.reads()?);
    }
    plan.children().into_iter().try_for_each(|child| add_reads(child, explained))
}
