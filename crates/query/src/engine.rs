//! The engine.

use std::num::NonZeroUsize;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::{FairSpillPool, TrackConsumersPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::execute_stream;
use datafusion::prelude::{SQLOptions, SessionConfig};
use datafusion::sql::parser::Statement;
use isomorph::formats::flat::PlainTable;
use isomorph::storage::Resources;
use isomorph::{Error, Graph, Location, Result};

use crate::answer::{Answer, distinct_names};
use crate::catalog::{CATALOG, Catalog, Entry, GraphSchema, SqlCatalog};
use crate::errors::{of_engine, of_plan};
use crate::file::FileTable;
use crate::parameters::Parameters;
use crate::resolve::resolve;
use crate::statement::{explained, parse, sql_of};
use crate::workers::Workers;

/// The most memory that is kept for merging what was sorted, bytes.
const MOST_RESERVED: usize = 256 << 20;

/// Keys of the smaller side of a join that are handed to the other side: so many, of so many bytes.
const MOST_KEYS: usize = 20_000;
const MOST_KEY_BYTES: usize = 4 << 20;

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
        self.run(parse(question)?, parameters)
    }

    /// How a question would be answered: the plans, as rows of `plan_type` and `plan`. Nothing is read but metadata, and keys for look-ups.
    ///
    /// # Errors
    /// As [`Engine::query`].
    pub fn explain(&self, question: &str, parameters: &Parameters) -> Result<Answer> {
        self.run(explained(parse(question)?), parameters)
    }

    /// The columns of the answer to a question. No rows are read.
    ///
    /// # Errors
    /// As [`Engine::query`].
    pub fn columns(&self, question: &str, parameters: &Parameters) -> Result<SchemaRef> {
        let (_, plan) = self.planned(parse(question)?, parameters)?;
        Ok(distinct_names(plan.schema().inner()))
    }

    fn run(&self, statement: Statement, parameters: &Parameters) -> Result<Answer> {
        let (state, plan) = self.planned(statement, parameters)?;
        let plan = self.workers.handle().block_on(state.create_physical_plan(&plan)).map_err(of_engine)?;
        let _inside = self.workers.handle().enter();
        let stream = execute_stream(plan, state.task_ctx()).map_err(of_engine)?;
        Ok(Answer::new(&self.workers, stream))
    }

    fn planned(&self, mut statement: Statement, parameters: &Parameters) -> Result<(SessionState, LogicalPlan)> {
        let sql = sql_of(&mut statement).ok_or_else(|| Error::unsupported("a statement that does not read"))?;
        let places = resolve(sql, &self.catalog)?;
        let state = self.state()?;
        let plan = self.workers.handle().block_on(state.statement_to_plan(statement));
        let plan = plan.map_err(|error| of_plan(error, &places))?;
        let only_reads = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
        only_reads.verify_plan(&plan).map_err(|error| of_engine(error).of_kind(isomorph::Kind::Unsupported))?;
        Ok((state, parameters.bind(plan)?))
    }

    fn state(&self) -> Result<SessionState> {
        let threads = self.resources.threads.max(1);
        let limit = usize::try_from(self.resources.budget.limit() / 2).unwrap_or(usize::MAX);
        // Sorting fails where less than a quarter is kept for merging, see apache/datafusion#16979.
        let reserved = (limit / 4).min(limit / (2 * threads)).min(MOST_RESERVED);
        let mut config = SessionConfig::new()
            .with_target_partitions(threads)
            .with_create_default_catalog_and_schema(false)
            .with_default_catalog_and_schema(CATALOG, self.catalog.schemas().first().map_or("graph", String::as_str))
            .with_information_schema(true)
            .with_sort_spill_reservation_bytes(reserved);
        let options = config.options_mut();
        // Names have the spelling of what they match.
        options.sql_parser.enable_ident_normalization = false;
        options.sql_parser.map_string_types_to_utf8view = false;
        options.optimizer.hash_join_inlist_pushdown_max_distinct_values = MOST_KEYS;
        options.optimizer.hash_join_inlist_pushdown_max_size = MOST_KEY_BYTES;
        let top = NonZeroUsize::MIN.saturating_add(2);
        let pool = TrackConsumersPool::new(FairSpillPool::new(limit), top);
        let scratch = vec![self.resources.scratch.directory().to_owned()];
        let disk = DiskManagerBuilder::default().with_mode(DiskManagerMode::Directories(scratch));
        let runtime = RuntimeEnvBuilder::new().with_memory_pool(Arc::new(pool)).with_disk_manager_builder(disk);
        let runtime = runtime.build_arc().map_err(of_engine)?;
        let state =
            SessionStateBuilder::new().with_config(config).with_runtime_env(runtime).with_default_features().build();
        state.catalog_list().register_catalog(CATALOG.to_owned(), Arc::new(SqlCatalog(Arc::clone(&self.catalog))));
        Ok(state)
    }
}
