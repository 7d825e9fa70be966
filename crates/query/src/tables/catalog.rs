//! The graphs and files that questions are about, as schemas and tables of the engine.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, SchemaProvider, Session, TableProvider};
use datafusion::common::{DFSchema, DataFusionError, Result as EngineResult, Statistics};
use datafusion::logical_expr::expr_rewriter::unnormalize_col;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::FilterExecBuilder;
use isomorph::dataset::TableKind;
use isomorph::{Error, Graph, Predicate, Result};

use crate::errors::inside;
use crate::tables::filter::predicate;
use crate::tables::parts::{Divided, Rows, Wanted};
use crate::tables::quads::Quads;
use crate::tables::scan::ScanExec;
use crate::tables::table::GraphTable;

/// The name of the catalog.
pub(crate) const CATALOG: &str = "isomorph";

/// The schema of files.
pub(crate) const FILES: &str = "files";

/// The table of triples.
pub(crate) const QUADS: &str = "quads";

/// A table with its names.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub name: String,
    /// A second name: the relation, if no other table has that name.
    pub other: Option<String>,
    pub rows: Arc<dyn Rows>,
}

/// A graph with its tables, which are found when they are first needed.
pub(crate) struct GraphSchema {
    pub name: String,
    graph: Arc<Graph>,
    quads: Option<Entry>,
    tables: OnceLock<Vec<Entry>>,
    /// Held while tables are found.
    finding: Mutex<()>,
}

impl fmt::Debug for GraphSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphSchema").field("name", &self.name).finish_non_exhaustive()
    }
}

impl GraphSchema {
    pub fn new(name: &str, graph: Arc<Graph>) -> Self {
        let quads = Quads::of(&graph.opened().graph).or_else(|| Quads::of(&graph.opened().native));
        let quads = quads.map(|quads| Entry { name: QUADS.to_owned(), other: None, rows: Arc::new(quads) });
        GraphSchema { name: name.to_owned(), graph, quads, tables: OnceLock::new(), finding: Mutex::default() }
    }

    /// The graph.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// The table of triples, which no survey has to find.
    pub fn quads(&self) -> Option<&Entry> {
        self.quads.as_ref()
    }

    /// All tables.
    ///
    /// # Errors
    /// As [`Graph::survey`].
    pub fn tables(&self) -> Result<&[Entry]> {
        let _alone = self.finding.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tables) = self.tables.get() {
            return Ok(tables);
        }
        let found = self.find()?;
        Ok(self.tables.get_or_init(|| found))
    }

    fn find(&self) -> Result<Vec<Entry>> {
        let dataset = self.graph.dataset()?;
        let description = dataset.source().graph();
        let relation = |kind: TableKind| match kind {
            TableKind::Edges(ty) => description.edges.get(ty)?.relation.fixed().map(ToOwned::to_owned),
            _ => None,
        };
        let mut entries: Vec<Entry> = self.quads.iter().cloned().collect();
        let mut relations: BTreeMap<String, usize> = BTreeMap::new();
        for table in dataset.tables() {
            if let Some(relation) = relation(table.kind()) {
                *relations.entry(relation).or_default() += 1;
            }
        }
        let names: Vec<&str> = dataset.tables().iter().map(isomorph::Table::name).collect();
        for table in dataset.tables() {
            let other = relation(table.kind())
                .filter(|relation| relations.get(relation) == Some(&1))
                .filter(|relation| !names.contains(&relation.as_str()) && relation != QUADS);
            let mut name = table.name().to_owned();
            while self.quads.is_some() && name == QUADS || entries.iter().any(|entry| entry.name == name) {
                name.push_str("_2");
            }
            entries.push(Entry { name, other, rows: Arc::new(GraphTable::new(&self.graph, table)?) });
        }
        Ok(entries)
    }
}

/// All graphs and files.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    pub graphs: Vec<Arc<GraphSchema>>,
    pub files: Vec<Entry>,
}

impl Catalog {
    /// The tables of a schema.
    ///
    /// # Errors
    /// As [`GraphSchema::tables`].
    pub fn tables(&self, schema: &str) -> Result<Vec<Entry>> {
        if schema == FILES {
            return Ok(self.files.clone());
        }
        match self.graphs.iter().find(|graph| graph.name == schema) {
            Some(graph) => Ok(graph.tables()?.to_vec()),
            None => Ok(Vec::new()),
        }
    }

    /// The names of schemas.
    pub fn schemas(&self) -> Vec<String> {
        let files = (!self.files.is_empty()).then(|| FILES.to_owned());
        self.graphs.iter().map(|graph| graph.name.clone()).chain(files).collect()
    }

    /// Whether the tables of all graphs were found.
    pub fn is_found(&self) -> bool {
        self.graphs.iter().all(|graph| graph.tables.get().is_some())
    }

    /// Checks that nothing else has this name.
    ///
    /// # Errors
    /// [`isomorph::Kind::Usage`] for a name that is taken or means something else.
    pub fn check_name(&self, name: &str) -> Result<()> {
        let is_taken = self.graphs.iter().any(|graph| graph.name == name) || self.files.iter().any(|f| f.name == name);
        if is_taken || name == FILES || name == "information_schema" || name.is_empty() {
            let why = if is_taken { "two graphs or files have the name" } else { "this name has another meaning:" };
            return Err(Error::usage(format!("{why} {name:?}")).hint("NAME=PATH    give each its own name"));
        }
        Ok(())
    }
}

/// The catalog as the engine sees it.
#[derive(Debug)]
pub(crate) struct SqlCatalog(pub Arc<Catalog>);

impl CatalogProvider for SqlCatalog {
    fn schema_names(&self) -> Vec<String> {
        self.0.schemas()
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        let has = self.0.schemas().iter().any(|own| own == name);
        has.then(|| Arc::new(SqlSchema { catalog: Arc::clone(&self.0), name: name.to_owned() }) as _)
    }
}

#[derive(Debug)]
struct SqlSchema {
    catalog: Arc<Catalog>,
    name: String,
}

impl SqlSchema {
    fn entry(&self, name: &str) -> Result<Option<Entry>> {
        let quads = self.catalog.graphs.iter().find(|graph| graph.name == self.name).and_then(|graph| graph.quads());
        if let Some(quads) = quads.filter(|_| name == QUADS) {
            return Ok(Some(quads.clone()));
        }
        let entries = self.catalog.tables(&self.name)?;
        let exact = entries.iter().find(|entry| entry.name == name);
        Ok(exact.or_else(|| entries.iter().find(|entry| entry.other.as_deref() == Some(name))).cloned())
    }
}

#[async_trait]
impl SchemaProvider for SqlSchema {
    fn table_names(&self) -> Vec<String> {
        // Whoever lists tables has found them before, and told an error then.
        self.catalog.tables(&self.name).unwrap_or_default().into_iter().map(|entry| entry.name).collect()
    }

    async fn table(&self, name: &str) -> EngineResult<Option<Arc<dyn TableProvider>>, DataFusionError> {
        let entry = self.entry(name).map_err(inside)?;
        Ok(entry.map(|entry| Arc::new(SqlTable { name: entry.name, rows: entry.rows }) as _))
    }

    fn table_exist(&self, name: &str) -> bool {
        self.entry(name).is_ok_and(|entry| entry.is_some())
    }
}

/// A table as the engine sees it.
#[derive(Debug)]
pub(crate) struct SqlTable {
    pub name: String,
    pub rows: Arc<dyn Rows>,
}

impl SqlTable {
    /// A condition of the engine as one of the rows.
    pub fn predicate(&self, filter: &Expr) -> Option<Predicate> {
        // A condition on no column is the engine's: files are read by columns.
        let is_of_columns = !filter.column_refs().is_empty();
        is_of_columns.then(|| predicate(filter, &|name| self.rows.column(name))).flatten()
    }
}

#[async_trait]
impl TableProvider for SqlTable {
    fn schema(&self) -> arrow_schema::SchemaRef {
        Arc::clone(self.rows.schema())
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> EngineResult<Vec<TableProviderFilterPushDown>> {
        let answer = |filter: &&Expr| match self.predicate(filter) {
            Some(_) => TableProviderFilterPushDown::Exact,
            None => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(answer).collect())
    }

    fn statistics(&self) -> Option<Statistics> {
        None
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> EngineResult<Arc<dyn ExecutionPlan>> {
        let mut columns: Vec<usize> = match projection {
            Some(columns) => columns.clone(),
            None => (0..self.rows.schema().fields().len()).collect(),
        };
        let shown = columns.len();
        let mut filter = None;
        // The optimizer may write a filter in another way after it was accepted.
        let mut rest = None;
        for one in filters {
            match self.predicate(one) {
                Some(own) => filter = Predicate::both(filter, Some(own)),
                None => rest = Some(rest.map_or_else(|| one.clone(), |rest: Expr| rest.and(one.clone()))),
            }
        }
        for column in rest.iter().flat_map(|rest| rest.column_refs()) {
            let at = self.rows.schema().index_of(&column.name)?;
            if !columns.contains(&at) {
                columns.push(at);
            }
        }
        let limit = limit.filter(|_| rest.is_none());
        let is_divided = state.config().get_extension::<Divided>().is_some();
        let wanted = Wanted { columns, filter, limit, is_divided, ..Wanted::default() };
        let threads = state.config().target_partitions();
        let scan = ScanExec::new(&self.name, Arc::clone(&self.rows), wanted, threads).map_err(inside)?;
        let Some(rest) = rest else { return Ok(Arc::new(scan)) };
        let schema = DFSchema::try_from(scan.schema())?;
        let condition = state.create_physical_expr(unnormalize_col(rest), &schema)?;
        let passing = FilterExecBuilder::new(condition, Arc::new(scan));
        Ok(Arc::new(passing.apply_projection(Some((0..shown).collect()))?.build()?))
    }
}
