//! A table of a graph.

use std::fmt;
use std::sync::{Arc, OnceLock};

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{Schema, SchemaRef};
use datafusion::common::Statistics;
use futures::StreamExt;
use isomorph::dataset::{Dataset, Partition, PlannedRead, Role, Scan, TableKind};
use isomorph::model::EndForm;
use isomorph::{Error, Graph, Predicate, Result, Table};

use crate::tables::columns::{Column, as_in_sql, columns};
use crate::tables::estimate;
use crate::tables::look_up::{LookUp, choose, is_end};
use crate::tables::parts::{Part, Rows, Wanted};

/// A table of the typed dataset of a graph.
pub(crate) struct GraphTable {
    graph: Arc<Graph>,
    name: String,
    columns: Vec<Column>,
    schema: SchemaRef,
    rows: Option<u64>,
    /// Numbers of nodes at both ends, of a table of edges.
    ends: [Option<u64>; 2],
    statistics: OnceLock<Statistics>,
}

impl fmt::Debug for GraphTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphTable").field("name", &self.name).finish_non_exhaustive()
    }
}

impl GraphTable {
    pub fn new(graph: &Arc<Graph>, table: &Table) -> Result<Self> {
        let (columns, schema) = columns(table);
        let description = graph.dataset()?.source().graph();
        let nodes = |ty: usize| description.nodes.get(ty).and_then(|ty| ty.rows);
        let ends = match table.kind() {
            TableKind::Edges(ty) => {
                let edge = description.edges.get(ty);
                [edge.and_then(|edge| nodes(edge.source)), edge.and_then(|edge| nodes(edge.target))]
            }
            _ => [None, None],
        };
        Ok(GraphTable {
            graph: Arc::clone(graph),
            name: table.name().to_owned(),
            columns,
            schema,
            rows: table.rows(),
            ends,
            statistics: OnceLock::new(),
        })
    }

    fn dataset(&self) -> Result<&Dataset> {
        self.graph.dataset()
    }

    /// About how many of all rows have one value of a column.
    fn per_key(&self, column: &Column) -> u64 {
        let nodes = match column.role {
            Role::Source => self.ends[0],
            Role::Target => self.ends[1],
            _ => return 1,
        };
        match (self.rows, nodes) {
            (Some(rows), Some(nodes)) if nodes > 0 => rows.div_ceil(nodes).max(1),
            _ => 16,
        }
    }

    /// Whether a column has the keys of an end of edges that are stored as rows of the nodes whose keys `key` has.
    pub fn has_rows_of(&self, end: usize, nodes: &GraphTable, key: usize) -> bool {
        let kind = |table: &GraphTable| table.dataset().and_then(|own| own.table(&table.name)).map(Table::kind);
        let (Ok(TableKind::Edges(ty)), Ok(TableKind::Nodes(of)), Ok(dataset)) =
            (kind(self), kind(nodes), self.dataset())
        else {
            return false;
        };
        let role = |table: &GraphTable, at: usize| table.columns.get(at).map(|column| column.role);
        let edge = dataset.source().graph().edges.get(ty);
        let end = match role(self, end) {
            Some(Role::Source) => edge.map(|edge| edge.source),
            Some(Role::Target) => edge.map(|edge| edge.target),
            _ => None,
        };
        Arc::ptr_eq(&self.graph, &nodes.graph)
            && end == Some(of)
            && role(nodes, key) == Some(Role::Key)
            && dataset.source().end_form(ty) == EndForm::Rows
    }

    /// Whether a column has an end of edges.
    pub fn has_end(&self, column: usize) -> bool {
        self.columns.get(column).is_some_and(|column| is_end(column.role))
    }

    /// Whether a condition reads an end of edges.
    pub fn filters_ends(&self, filter: Option<&Predicate>) -> bool {
        let is_of_end = |name: &str| self.columns.iter().any(|column| column.stored == name && is_end(column.role));
        filter.is_some_and(|filter| filter.columns().into_iter().any(is_of_end))
    }

    /// Whether no two nodes have one key. Keys are read to find out.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn has_distinct_keys(&self) -> Result<bool> {
        self.dataset()?.has_distinct_keys(&self.name)
    }

    /// The partitions of a scan without a condition.
    ///
    /// # Errors
    /// As those of the dataset.
    pub fn partitions(&self, wanted: &Wanted) -> Result<Vec<Partition>> {
        self.scan(wanted)?.0.partitions()
    }

    /// The same for edges, with ends as rows.
    ///
    /// # Errors
    /// As those of the dataset.
    pub fn partitions_of_ends(&self, wanted: &Wanted) -> Result<Vec<Partition>> {
        self.scan_of_ends(wanted)?.partitions()
    }

    /// What these read.
    ///
    /// # Errors
    /// As those of the dataset.
    pub fn reads_of_ends(&self, wanted: &Wanted) -> Result<Vec<PlannedRead>> {
        self.scan_of_ends(wanted)?.planned_reads()
    }

    fn scan_of_ends(&self, wanted: &Wanted) -> Result<Scan<'_>> {
        let mut scan = self.dataset()?.scan(&self.name)?.columns(self.names(wanted)).ends_as_rows();
        if let Some(filter) = &wanted.filter {
            scan = scan.filter(filter.clone());
        }
        if let Some(limit) = wanted.limit {
            scan = scan.limit(limit as u64);
        }
        Ok(scan)
    }

    /// What the dataset calls the columns.
    fn names<'s>(&'s self, wanted: &'s Wanted) -> impl Iterator<Item = &'s str> {
        wanted.columns.iter().filter_map(|at| self.columns.get(*at)).map(|column| column.stored.as_str())
    }

    /// The scan of what is wanted, and whether it is a look-up.
    fn scan(&self, wanted: &Wanted) -> Result<(Scan<'_>, bool)> {
        let mut scan = self.dataset()?.scan(&self.name)?.columns(self.names(wanted));
        let found = self.look_up(wanted)?;
        let is_found = found.is_some();
        let filter = match found {
            Some(LookUp { column, keys, rest }) => {
                scan = scan.look_up(column, keys);
                rest
            }
            None => wanted.condition(),
        };
        if let Some(filter) = filter {
            scan = scan.filter(filter);
        }
        if let Some(dynamic) = &wanted.dynamic {
            scan = scan.dynamic_filter(dynamic);
        }
        if let Some(limit) = wanted.limit {
            scan = scan.limit(limit as u64);
        }
        Ok((scan, is_found))
    }

    fn look_up(&self, wanted: &Wanted) -> Result<Option<LookUp>> {
        let condition = wanted.condition().filter(|_| !wanted.is_divided);
        let Some(condition) = &condition else { return Ok(None) };
        choose(self.dataset()?, &self.name, &self.columns, self.rows, &|column| self.per_key(column), condition)
    }
}

impl Rows for GraphTable {
    fn graph_table(&self) -> Option<&GraphTable> {
        Some(self)
    }

    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn column(&self, name: &str) -> Option<Column> {
        self.columns.get(self.schema.index_of(name).ok()?).cloned()
    }

    fn statistics(&self) -> Statistics {
        let read = || {
            let known = self.dataset().and_then(|dataset| dataset.statistics(&self.name));
            // What is wrong with the files, reading them tells.
            known.map_or_else(
                |_| Statistics::new_unknown(&self.schema),
                |known| estimate::statistics(&known, &self.columns),
            )
        };
        self.statistics.get_or_init(read).clone()
    }

    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn fraction(&self, filter: &Predicate) -> f64 {
        estimate::fraction(filter, &|stored| {
            let column = self.columns.iter().find(|column| column.stored == stored);
            let role = column.map(|column| column.role);
            match (role, self.rows, column) {
                (Some(Role::Key | Role::Row), Some(rows), _) if rows > 0 => 1.0 / rows as f64,
                (Some(role), Some(rows), Some(column)) if is_end(role) && rows > 0 => {
                    self.per_key(column) as f64 / rows as f64
                }
                _ => 0.1,
            }
        })
    }

    fn parts(&self, wanted: &Wanted) -> Result<Vec<Part>> {
        let (scan, is_found) = self.scan(wanted)?;
        let schema = self.schema.project(&wanted.columns).map(Arc::new);
        let schema = schema.map_err(|error| Error::usage(error.to_string()))?;
        let part = |partition: isomorph::dataset::Partition| {
            let schema = Arc::clone(&schema);
            let batches = partition.into_stream();
            batches.map(move |batch| shown(&batch?, &schema, usize::from(is_found))).boxed()
        };
        Ok(scan.partitions()?.into_iter().map(part).collect())
    }

    fn is_found(&self, wanted: &Wanted) -> bool {
        self.look_up(wanted).is_ok_and(|found| found.is_some())
    }

    fn reads(&self, wanted: &Wanted) -> Result<Vec<PlannedRead>> {
        self.scan(wanted)?.0.planned_reads()
    }

    fn way(&self, wanted: &Wanted) -> String {
        let way = self.scan(wanted).and_then(|(scan, _)| scan.way());
        way.unwrap_or_else(|_| "scan".to_owned())
    }
}

/// A batch with the names of SQL, without its first columns.
pub(crate) fn shown(batch: &RecordBatch, schema: &Arc<Schema>, without: usize) -> Result<RecordBatch> {
    let columns = batch.columns().iter().skip(without).zip(schema.fields());
    let columns = columns.map(|(column, field)| as_in_sql(column, field)).collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
        .map_err(|error| Error::malformed(error.to_string()).caused_by(error))
}
