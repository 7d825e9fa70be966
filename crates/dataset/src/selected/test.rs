//! The conditions on one table.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_buffer::BooleanBuffer;
use isomorph_error::{Error, Result};
use isomorph_model::{Batch, Filter, Narrowing, Predicate, Relations};

use super::values;
use crate::dataset::Dataset;
use crate::push_down::narrowing;
use crate::rows::Rows;
use crate::schema::Role;
use crate::table::{Table, TableKind};

/// The relations that a condition applies to; `None` for all rows.
type Relation = Option<BTreeSet<String>>;

/// Conditions on a table, each for all of its rows or for those of some relations.
#[derive(Debug, Clone, Default)]
pub(super) struct Conditions(Vec<(Relation, Predicate)>);

impl Conditions {
    /// Adds a condition.
    pub fn add(&mut self, relation: Relation, predicate: Predicate) {
        self.0.push((relation, predicate));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The test that rows of a table must pass.
pub(super) struct Test {
    rows: Rows,
    filters: Vec<(Relation, Filter)>,
    /// The columns that it uses, by position in the table.
    positions: Vec<usize>,
    /// A condition that is true of every row that passes.
    pushed: Option<Predicate>,
}

/// The table of the dataset for this table of the graph.
fn table(dataset: &Dataset, kind: TableKind) -> Result<&Table> {
    let mut tables = dataset.tables().iter();
    tables.find(|table| table.kind() == kind).ok_or_else(|| Error::usage("there is no such table"))
}

impl Test {
    /// The test for a table; `None` if there is no condition.
    ///
    /// # Errors
    /// If a condition does not fit the table.
    pub fn new(dataset: &Dataset, kind: TableKind, conditions: &Conditions) -> Result<Option<Test>> {
        if conditions.is_empty() {
            return Ok(None);
        }
        let table = table(dataset, kind)?;
        let mut positions: Vec<usize> = Vec::new();
        let mut bound = Vec::new();
        for (relation, predicate) in &conditions.0 {
            let named = table.bound(predicate, &mut positions)?;
            dataset.comparable(table, &named)?;
            bound.push((relation.clone(), values::on_values(dataset, table, &named)?.with_sets(table.schema())));
        }
        let schema = table.schema().project(&positions).map_err(|error| Error::usage(error.to_string()))?;
        let filters = bound.iter().map(|(relation, named)| Ok((relation.clone(), Filter::new(named, &schema)?)));
        let filters = filters.collect::<Result<Vec<_>>>()?;
        let roles: Vec<Role> = positions.iter().filter_map(|at| table.roles().get(*at).copied()).collect();
        let rows = Rows { keys: Arc::clone(dataset.keys()), roles, schema: Arc::new(schema), rows_of_ends: false };
        let always = bound.into_iter().filter(|(relation, _)| relation.is_none()).map(|(_, named)| named);
        let always: Vec<Predicate> = always.collect();
        Ok(Some(Test { rows, filters, positions, pushed: (!always.is_empty()).then_some(Predicate::And(always)) }))
    }

    /// The rows that pass.
    ///
    /// # Errors
    /// If a column cannot be read, or its values are not of the declared type.
    pub fn passing(&self, batch: &Batch) -> Result<BooleanBuffer> {
        let columns = self.rows.of(batch)?;
        let mut all = BooleanBuffer::new_set(batch.rows());
        for (relation, filter) in &self.filters {
            let passing = filter.passing(&columns)?;
            all = match (relation, batch) {
                (None, _) => &all & &passing,
                (Some(relation), Batch::Edges(edges)) => {
                    let others = !&having(edges.relations.as_ref(), &|own| relation.contains(own))?;
                    &all & &(&others | &passing)
                }
                (Some(_), _) => return Err(Error::usage("a condition on a relation of a table that is not of edges")),
            };
        }
        Ok(all)
    }

    /// The columns that are used, by position.
    fn positions(&self) -> &[usize] {
        &self.positions
    }
}

/// The rows with a matching relation.
///
/// # Errors
/// If rows do not name their relations.
pub(super) fn having(relations: Option<&Relations>, is_meant: &dyn Fn(&str) -> bool) -> Result<BooleanBuffer> {
    let Relations { names, index } = relations.ok_or_else(|| Error::usage("rows without a relation"))?;
    let meant: Vec<bool> = names.iter().map(|name| name.is_some_and(is_meant)).collect();
    let is = |at: &u32| meant.get(*at as usize).copied().unwrap_or_default();
    Ok(index.values().iter().map(is).collect())
}

/// The request to a format for a table of which the properties at `properties` (in the description) are shown and whose
/// rows must pass `test`. `push` states whether rows that do not pass may be skipped.
///
/// # Errors
/// If the table does not exist.
pub(super) fn asked(
    dataset: &Dataset,
    kind: TableKind,
    properties: &[usize],
    test: Option<&Test>,
    push: bool,
) -> Result<Option<Narrowing>> {
    let table = table(dataset, kind)?;
    let is_shown = |role: &Role| match role {
        Role::Property(at) => properties.contains(at),
        _ => true,
    };
    let mut positions: Vec<usize> =
        table.roles().iter().enumerate().filter(|(_, role)| is_shown(role)).map(|(at, _)| at).collect();
    let looked_at = test.map(Test::positions).unwrap_or_default();
    positions.extend(looked_at.iter().filter(|at| !positions.contains(at)).copied().collect::<Vec<_>>());
    let filter = test.filter(|_| push).and_then(|test| test.pushed.as_ref());
    Ok(narrowing(dataset.source().graph(), table, &positions, filter))
}

/// The same for a scan of only keys, or only ends.
///
/// # Errors
/// As [`asked`].
pub(super) fn asked_for_test(dataset: &Dataset, kind: TableKind, test: &Test, push: bool) -> Result<Option<Narrowing>> {
    let table = table(dataset, kind)?;
    let is_key = |(at, role): (usize, &Role)| matches!(role, Role::Key).then_some(at);
    let mut positions: Vec<usize> = table.roles().iter().enumerate().filter_map(is_key).collect();
    positions.extend(test.positions.iter().filter(|at| !positions.contains(at)).copied().collect::<Vec<_>>());
    let filter = test.pushed.as_ref().filter(|_| push);
    Ok(narrowing(dataset.source().graph(), table, &positions, filter))
}
