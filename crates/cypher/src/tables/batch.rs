//! Elements of a batch: what is read of them is read from its columns, and nothing is kept.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use arrow_array::RecordBatch;
use isomorph::Result;

use super::cells;
use crate::value::Value;

/// What the columns of batches mean.
#[derive(Debug, Clone, Default)]
pub(super) struct Element {
    /// The columns that are read, in order.
    pub columns: Vec<String>,
    /// Properties with their columns.
    pub properties: Vec<(String, usize)>,
    /// Columns whose cells hold several properties.
    pub bags: Vec<usize>,
    /// The property that is the key of a node.
    pub key: Option<(String, usize)>,
    /// Type of a node, or of a relationship if all have the same.
    pub type_name: Option<Arc<str>>,
    pub labels_at: Option<usize>,
    pub relation_at: Option<usize>,
}

/// A batch that is being read.
#[derive(Debug)]
pub(super) struct InBatch {
    pub batch: Rc<RecordBatch>,
    pub element: Rc<Element>,
}

impl Element {
    /// The position of a column, which is added if it is new.
    pub(super) fn column(&mut self, name: &str) -> usize {
        self.columns.iter().position(|own| own == name).unwrap_or_else(|| {
            self.columns.push(name.to_owned());
            self.columns.len() - 1
        })
    }

    /// Adds the columns that the properties of these names are read from. `known` are all columns of properties, with whether their
    /// cells hold several.
    pub(super) fn add_properties(&mut self, names: &[&Arc<str>], known: &[(String, bool)]) {
        for name in names {
            if self.key.as_ref().is_some_and(|(key, _)| **key == ***name) {
                continue;
            }
            if known.iter().any(|(own, is_bag)| **own == ***name && !is_bag) {
                let at = self.column(name);
                self.properties.push((name.to_string(), at));
                continue;
            }
            let bags: BTreeSet<usize> =
                known.iter().filter(|(_, is_bag)| *is_bag).map(|(bag, _)| self.column(bag)).collect();
            self.bags = bags.into_iter().collect();
        }
    }
}

impl InBatch {
    fn cell(&self, at: usize, row: usize) -> Result<Value> {
        let schema = self.batch.schema_ref();
        cells::value(cells::of(&self.batch, at)?, row, schema.field(at))
    }

    pub(super) fn property(&self, row: usize, name: &str) -> Result<Value> {
        if let Some((_, at)) = self.element.key.as_ref().filter(|(key, _)| key == name) {
            return Ok(cells::key(cells::of(&self.batch, *at)?, row)?.value());
        }
        if let Some((_, at)) = self.element.properties.iter().find(|(own, _)| own == name) {
            return self.cell(*at, row);
        }
        super::in_bags(name, self.element.bags.iter().map(|at| self.cell(*at, row)))
    }

    /// The type of a node and its labels, sorted.
    pub(super) fn labels(&self, row: usize) -> Result<Vec<Arc<str>>> {
        let own = self.element.labels_at.map(|at| self.cell(at, row)).transpose()?;
        Ok(super::labels(self.element.type_name.as_ref(), own.as_ref()))
    }

    pub(super) fn relation(&self, row: usize) -> Result<Arc<str>> {
        match (self.element.relation_at, &self.element.type_name) {
            (Some(at), _) => Ok(Arc::from(cells::key(cells::of(&self.batch, at)?, row)?.text())),
            (None, Some(name)) => Ok(Arc::clone(name)),
            (None, None) => Ok(Arc::from("")),
        }
    }
}
