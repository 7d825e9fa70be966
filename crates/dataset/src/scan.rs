//! Which columns of which rows are read.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arrow_array::ArrayRef;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use isomorph_error::{Error, Place, Result};
use isomorph_model::{Comparison, DynamicFilter, Filter, Predicate};
use isomorph_model::{Request, Tables, ValueKind};

use crate::cancel::Cancel;
use crate::dataset::Dataset;
use crate::names::unique;
use crate::partition::{Batches, Partition, Shared, partitions};
use crate::push_down::{dynamic, narrowing};
use crate::rows::Rows;
use crate::schema::{Role, field};
use crate::table::{Table, TableKind};
use crate::wanted_keys::Asked;

/// A scan of one table: by default all columns of all rows.
#[derive(Debug, Clone)]
pub struct Scan<'d> {
    dataset: &'d Dataset,
    table: &'d Table,
    columns: Option<Vec<String>>,
    filter: Option<Predicate>,
    dynamic: Vec<DynamicFilter>,
    limit: Option<u64>,
    batch_rows: Option<usize>,
    cancel: Cancel,
    asked: Option<(String, ArrayRef)>,
    rows_of_ends: bool,
}

impl<'d> Scan<'d> {
    pub(crate) fn new(dataset: &'d Dataset, table: &'d Table) -> Self {
        Scan {
            dataset,
            table,
            columns: None,
            filter: None,
            dynamic: Vec::new(),
            limit: None,
            batch_rows: None,
            cancel: Cancel::new(),
            asked: None,
            rows_of_ends: false,
        }
    }

    /// Selects columns, in this order, by name or by `@ROLE`.
    pub fn columns<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.columns = Some(columns.into_iter().map(Into::into).collect());
        self
    }

    /// Selects rows for which `filter` is true. If called again, both filters must be true.
    pub fn filter(mut self, filter: Predicate) -> Self {
        self.filter = Some(match self.filter.take() {
            None => filter,
            Some(first) => Predicate::And(vec![first, filter]),
        });
        self
    }

    /// Rows that `filter` excludes, now or by the time that they are read, may be left out; it is not applied to rows that are read. GraphAr looks at it before each
    /// chunk, NOCK and annnet before each piece of a file.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use isomorph_dataset::{Dataset, parse_predicate};
    /// # use isomorph_model::{DynamicFilter, Graph, Key, MemoryGraph, NodeType};
    /// # use isomorph_storage::Resources;
    /// # let graph = Graph { nodes: vec![NodeType::new("person", Key::int64().named("id"))], ..Graph::default() };
    /// # let source = Arc::new(MemoryGraph { graph, batches: Vec::new() });
    /// # let dataset = Dataset::new(source, Resources::of_this_machine()?);
    /// let least = DynamicFilter::new(["id"]);
    /// for partition in dataset.scan("person")?.dynamic_filter(&least).partitions()? {
    ///     // … the ten greatest keys so far are above 900:
    ///     least.narrow(parse_predicate("id > 900")?)?;
    /// }
    /// # Ok::<(), isomorph_error::Error>(())
    /// ```
    pub fn dynamic_filter(mut self, filter: &DynamicFilter) -> Self {
        self.dynamic.push(filter.clone());
        self
    }

    /// At most so many rows of all partitions together.
    pub fn limit(mut self, rows: u64) -> Self {
        self.limit = Some(rows);
        self
    }

    /// Limits the number of rows in a batch; the minimum is one. Batches may be smaller: a page or a row group can end
    /// them.
    pub fn batch_rows(mut self, rows: usize) -> Self {
        self.batch_rows = Some(rows.max(1));
        self
    }

    /// Ends the scan with [`isomorph_error::Kind::Cancelled`] at the next batch after `cancel` is cancelled.
    pub fn cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// Selects rows whose `column` has one of `keys`, integers or texts. The first column, `question` (`UInt64`), is
    /// the index of the matching key, from 0. A row is returned once for each time its key occurs, in no order of the
    /// questions. A text matches the integer that it spells, and the other way round. Null and keys that the column's
    /// type cannot hold match nothing. Rows are in the order of the table; edges in the order of the end that is looked
    /// up. The keys must fit into the budget; [`Dataset::look_up_cost`] states the cost. Columns that a filter cannot
    /// compare are refused.
    pub fn look_up(mut self, column: impl Into<String>, keys: ArrayRef) -> Self {
        self.asked = Some((column.into(), keys));
        self
    }

    /// Shows the ends of edges as rows of their nodes (`UInt64`), which are the positions in a scan of these: no keys are read for them. The format must store edges
    /// so (`Source::end_form`), and no filter may read an end.
    pub fn ends_as_rows(mut self) -> Self {
        self.rows_of_ends = true;
        self
    }

    /// The schema of the batches.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] for a column that does not exist, or is named twice.
    pub fn schema(&self) -> Result<SchemaRef> {
        let given = self.project(&self.positions()?)?;
        if self.asked.is_none() {
            return Ok(given);
        }
        let taken: Vec<String> = given.fields().iter().map(|field| field.name().clone()).collect();
        let name = unique(Role::Question.word().to_owned(), &taken);
        let question = Arc::new(field(Role::Question, &name, DataType::UInt64, false, &ValueKind::Plain));
        Ok(Arc::new(Schema::new(std::iter::once(question).chain(given.fields().iter().cloned()).collect::<Vec<_>>())))
    }

    /// The partitions, in the order of the rows.
    ///
    /// # Errors
    /// As [`Scan::schema`]; also for a filter that does not fit the table, and if metadata cannot be read.
    pub fn partitions(&self) -> Result<Vec<Partition>> {
        let mut positions = self.positions()?;
        let given = self.schema()?;
        let asked =
            self.asked.as_ref().map(|(column, keys)| self.asked_for(column, keys, &mut positions)).transpose()?;
        let condition = self.filter.as_ref().map(|filter| self.bound(filter, &mut positions)).transpose()?;
        let schema = self.project(&positions)?;
        let filter = condition.as_ref().map(|filter| Filter::new(filter, &schema)).transpose()?;
        let roles: Vec<Role> = positions.iter().filter_map(|at| self.table.roles().get(*at).copied()).collect();
        let keys = Arc::clone(self.dataset.keys());
        let mut request = Request::of(self.tables(&roles));
        if let Some(rows) = self.batch_rows {
            request = request.in_batches_of(rows);
        }
        let graph = self.dataset.source().graph();
        let located = match &asked {
            Some((place, asked)) => {
                let role = positions.get(*place).and_then(|at| self.table.roles().get(*at));
                role.map(|role| self.dataset.located(self.table, *role, &asked.set)).transpose()?.flatten()
            }
            None => None,
        };
        let mut read = positions.clone();
        for column in self.dynamic.iter().flat_map(DynamicFilter::columns) {
            let at = self.table.column(column)?;
            if !read.contains(&at) {
                read.push(at);
            }
        }
        if let Some(mut narrowing) = narrowing(graph, self.table, &read, condition.as_ref()) {
            narrowing.filter = Predicate::both(narrowing.filter, located);
            narrowing.dynamic = self.dynamic.iter().map(|filter| dynamic(graph, self.table, filter)).collect();
            request = request.narrowed(narrowing);
        }
        let rows = Rows { keys, roles, schema, rows_of_ends: self.rows_of_ends };
        let left = AtomicU64::new(self.limit.unwrap_or(u64::MAX));
        let (kind, batch_rows, cancel) = (self.table.kind(), request.batch_rows, self.cancel.clone());
        let shared = Shared { kind, rows, given, filter, asked, left, batch_rows, cancel };
        partitions(Arc::clone(self.dataset.source()), &request, shared)
    }

    /// The batches of all partitions, one partition after another.
    ///
    /// # Errors
    /// As [`Scan::partitions`].
    pub fn batches(&self) -> Result<Batches> {
        Ok(Batches::new(self.schema()?, self.partitions()?))
    }

    pub(crate) fn dataset(&self) -> &'d Dataset {
        self.dataset
    }

    pub(crate) fn table(&self) -> &'d Table {
        self.table
    }

    /// The column in which keys are looked up, and how many.
    pub(crate) fn asked(&self) -> Option<(&str, usize)> {
        self.asked.as_ref().map(|(column, keys)| (column.as_str(), keys.len()))
    }

    /// Whether ends of edges are shown as rows.
    pub(crate) fn shows_rows(&self) -> bool {
        self.rows_of_ends
    }

    /// Whether rows may be left out that no key finds.
    pub(crate) fn may_skip(&self) -> bool {
        self.filter.is_some() || self.limit.is_some() || !self.dynamic.is_empty()
    }

    /// The columns that are read: those that are selected, and those of the filters and of the look-up.
    pub(crate) fn read_positions(&self) -> Result<Vec<usize>> {
        let mut positions = self.positions()?;
        if let Some(filter) = &self.filter {
            self.table.bound(filter, &mut positions)?;
        }
        let dynamic = self.dynamic.iter().flat_map(DynamicFilter::columns).map(|column| self.table.column(column));
        let asked = self.asked.iter().map(|(column, _)| self.table.column(column));
        for at in dynamic.chain(asked) {
            let at = at?;
            if !positions.contains(&at) {
                positions.push(at);
            }
        }
        Ok(positions)
    }

    fn positions(&self) -> Result<Vec<usize>> {
        let Some(names) = &self.columns else { return Ok((0..self.table.schema().fields().len()).collect()) };
        let positions = names.iter().map(|name| self.table.column(name)).collect::<Result<Vec<_>>>()?;
        let mut seen = BTreeSet::new();
        match positions.iter().zip(names).find(|(at, _)| !seen.insert(**at)) {
            Some((_, name)) => Err(Error::usage(format!("column {name} is requested twice"))),
            None => Ok(positions),
        }
    }

    fn project(&self, positions: &[usize]) -> Result<SchemaRef> {
        let schema = self.table.schema().project(positions).map_err(|error| Error::usage(error.to_string()))?;
        if !self.rows_of_ends {
            return Ok(Arc::new(schema));
        }
        let fields = positions.iter().zip(schema.fields()).map(|(at, field)| match self.table.roles().get(*at) {
            Some(Role::Source | Role::Target) => Arc::new(Field::clone(field).with_data_type(DataType::UInt64)),
            _ => Arc::clone(field),
        });
        Ok(Arc::new(Schema::new(fields.collect::<Vec<_>>())))
    }

    /// The keys that are looked up, and the position of their column, which is added to `positions`.
    fn asked_for(&self, column: &str, keys: &ArrayRef, positions: &mut Vec<usize>) -> Result<(usize, Asked)> {
        let at = self.table.column(column)?;
        let place = positions.iter().position(|position| *position == at).unwrap_or(positions.len());
        if place == positions.len() {
            positions.push(at);
        }
        let field = self.table.schema().field(at);
        let data_type = field.data_type();
        // A look-up compares the column with each key.
        self.dataset.comparable(self.table, &Predicate::equal(field.name(), ""))?;
        Ok((place, Asked::new(keys, data_type, self.dataset.resources())?))
    }

    /// A filter with names of columns instead of roles; its columns are added to `positions`.
    fn bound(&self, filter: &Predicate, positions: &mut Vec<usize>) -> Result<Predicate> {
        let bound = self.table.bound(filter, positions)?;
        self.dataset.comparable(self.table, &bound)?;
        Ok(bound.with_sets(self.table.schema()))
    }

    /// The smallest set of tables that the source has to read.
    fn tables(&self, roles: &[Role]) -> Tables {
        match self.table.kind() {
            TableKind::Nodes(ty) if roles.iter().all(|role| matches!(role, Role::Key | Role::Row)) => {
                Tables::NodeKeys(ty)
            }
            TableKind::Nodes(ty) => Tables::Nodes(ty),
            TableKind::Edges(ty) if roles.iter().all(|role| matches!(role, Role::Source | Role::Target)) => {
                Tables::EdgeEnds(ty)
            }
            TableKind::Edges(ty) => Tables::Edges(ty),
            _ => Tables::Rest,
        }
    }
}

/// Checks that cells of this kind can be compared as a user expects.
///
/// # Errors
/// Returns [`isomorph_error::Kind::Unsupported`] if they cannot.
pub(crate) fn comparable(column: &str, kind: &ValueKind, data_type: &DataType, filter: &Predicate) -> Result<()> {
    let refused = |why: &str| {
        let message = format!("column {column} holds {why}");
        Err(Error::unsupported(message).at(Place::field(column)).hint(format!("write {column} is not null")))
    };
    let only_equal = matches!(
        filter,
        Predicate::Compare { comparison: Comparison::Equal | Comparison::NotEqual, .. }
            | Predicate::Has { .. }
            | Predicate::In { .. }
    );
    match kind {
        ValueKind::Plain => Ok(()),
        ValueKind::Json => refused("JSON, whose text does not compare like its values"),
        ValueKind::Bag => refused("objects whose members are properties, which cannot be compared as one text"),
        ValueKind::Term if only_equal => Ok(()),
        ValueKind::Term => refused("RDF terms, which can be equal but have no order"),
        ValueKind::Literal { datatype: Some(datatype) }
            if datatype == isomorph_model::xsd::STRING && *data_type == DataType::Utf8 =>
        {
            Ok(())
        }
        ValueKind::Literal { .. } => refused("RDF literals, whose text does not compare like their values"),
        ValueKind::Tensor { .. } => refused("tensors, which cannot be compared"),
        ValueKind::Raw => refused("bytes of unknown type, which cannot be compared"),
    }
}
