//! Which columns of which rows are read.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arrow_array::ArrayRef;
use arrow_schema::{DataType, Schema, SchemaRef};
use isomorph_error::{Error, Place, Result};
use isomorph_model::{Comparison, Filter, Predicate};
use isomorph_model::{Request, Tables, ValueKind};

use crate::cancel::Cancel;
use crate::dataset::Dataset;
use crate::names::unique;
use crate::partition::{Batches, Partition, Shared, partitions};
use crate::push_down::narrowing;
use crate::rows::Rows;
use crate::schema::{Role, field};
use crate::table::{Table, TableKind};
use crate::wanted_keys::Asked;

/// A scan of one table: all columns of all rows, unless less is asked for.
#[derive(Debug, Clone)]
pub struct Scan<'d> {
    dataset: &'d Dataset,
    table: &'d Table,
    columns: Option<Vec<String>>,
    filter: Option<Predicate>,
    limit: Option<u64>,
    batch_rows: Option<usize>,
    cancel: Cancel,
    asked: Option<(String, ArrayRef)>,
}

impl<'d> Scan<'d> {
    pub(crate) fn new(dataset: &'d Dataset, table: &'d Table) -> Self {
        Scan {
            dataset,
            table,
            columns: None,
            filter: None,
            limit: None,
            batch_rows: None,
            cancel: Cancel::new(),
            asked: None,
        }
    }

    /// Only these columns, in this order, by name or by `@ROLE`.
    pub fn columns<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.columns = Some(columns.into_iter().map(Into::into).collect());
        self
    }

    /// Only rows for which `filter` is true. A second filter must hold as well.
    pub fn filter(mut self, filter: Predicate) -> Self {
        self.filter = Some(match self.filter.take() {
            None => filter,
            Some(first) => Predicate::And(vec![first, filter]),
        });
        self
    }

    /// At most so many rows of all partitions together.
    pub fn limit(mut self, rows: u64) -> Self {
        self.limit = Some(rows);
        self
    }

    /// At most so many rows in a batch, and at least one. Formats may give fewer: no more than a page or a row group holds.
    pub fn batch_rows(mut self, rows: usize) -> Self {
        self.batch_rows = Some(rows.max(1));
        self
    }

    /// Ends with [`isomorph_error::Kind::Cancelled`] at the next batch once `cancel` says so.
    pub fn cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// Only rows whose `column` holds one of `keys`, integers or texts. A first column, `question` (`UInt64`), says
    /// for which of the keys a row is there, from 0; a row is there as often as its key is asked for, in no order of the questions. A
    /// text finds the integer that it spells, and the other way round; a key that the column's type does not hold finds nothing, as null
    /// does. The rows come in the order of the table, or, of edges, in that of the end that is asked for. The keys have to fit into the budget; what
    /// it costs says [`Dataset::look_up_cost`]. Columns that a filter does not compare are refused.
    pub fn look_up(mut self, column: impl Into<String>, keys: ArrayRef) -> Self {
        self.asked = Some((column.into(), keys));
        self
    }

    /// The columns that it gives.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Usage`] for a column that is not there, or is named twice.
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

    /// Its partitions, in the order of the rows.
    ///
    /// # Errors
    /// As for [`Scan::schema`], for a filter that does not fit the table, and when metadata cannot be read.
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
        if let Some(narrowing) = narrowing(graph, self.table, &positions, condition.as_ref(), located) {
            request = request.narrowed(narrowing);
        }
        let rows = Rows { keys, roles, schema };
        let left = AtomicU64::new(self.limit.unwrap_or(u64::MAX));
        let (kind, batch_rows, cancel) = (self.table.kind(), request.batch_rows, self.cancel.clone());
        let shared = Shared { kind, rows, given, filter, asked, left, batch_rows, cancel };
        partitions(Arc::clone(self.dataset.source()), &request, shared)
    }

    /// All batches, one partition after another.
    ///
    /// # Errors
    /// As for [`Scan::partitions`].
    pub fn batches(&self) -> Result<Batches> {
        Ok(Batches::new(self.schema()?, self.partitions()?))
    }

    fn positions(&self) -> Result<Vec<usize>> {
        let Some(names) = &self.columns else { return Ok((0..self.table.schema().fields().len()).collect()) };
        let positions = names.iter().map(|name| self.table.column(name)).collect::<Result<Vec<_>>>()?;
        let mut seen = BTreeSet::new();
        match positions.iter().zip(names).find(|(at, _)| !seen.insert(**at)) {
            Some((_, name)) => Err(Error::usage(format!("column {name} is asked for twice"))),
            None => Ok(positions),
        }
    }

    fn project(&self, positions: &[usize]) -> Result<SchemaRef> {
        self.table.schema().project(positions).map(Arc::new).map_err(|error| Error::usage(error.to_string()))
    }

    /// The keys that are asked for, and the place of their column, which is added to `positions`.
    fn asked_for(&self, column: &str, keys: &ArrayRef, positions: &mut Vec<usize>) -> Result<(usize, Asked)> {
        let at = self.table.column(column)?;
        let place = positions.iter().position(|position| *position == at).unwrap_or(positions.len());
        if place == positions.len() {
            positions.push(at);
        }
        let field = self.table.schema().field(at);
        let data_type = field.data_type();
        // A look-up is a comparison with each key.
        self.dataset.comparable(self.table, &Predicate::equal(field.name(), ""))?;
        Ok((place, Asked::new(keys, data_type, self.dataset.resources())?))
    }

    /// A filter with the names of columns instead of roles; columns that it looks at are added to `positions`.
    fn bound(&self, filter: &Predicate, positions: &mut Vec<usize>) -> Result<Predicate> {
        let bound = self.table.bound(filter, positions)?;
        self.dataset.comparable(self.table, &bound)?;
        Ok(bound)
    }

    /// The least that a source can be asked for.
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

/// Whether cells that mean `kind` compare as a reader expects.
///
/// # Errors
/// [`isomorph_error::Kind::Unsupported`] when they do not.
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
        ValueKind::Json => refused("JSON, whose texts do not compare as its values do"),
        ValueKind::Bag => refused("objects whose members are properties, which do not compare as one text"),
        ValueKind::Term if only_equal => Ok(()),
        ValueKind::Term => refused("RDF terms, which are equal or not and have no order"),
        ValueKind::Literal { datatype: Some(datatype) }
            if datatype == isomorph_model::xsd::STRING && *data_type == DataType::Utf8 =>
        {
            Ok(())
        }
        ValueKind::Literal { .. } => refused("RDF literals, whose texts do not compare as their values do"),
        ValueKind::Tensor { .. } => refused("tensors, which do not compare"),
        ValueKind::Raw => refused("bytes of unknown type, which do not compare"),
    }
}
