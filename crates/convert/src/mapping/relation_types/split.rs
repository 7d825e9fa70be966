//! Shows edges that name their relations as edge types by relation.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray};
use arrow_select::take::take;
use isomorph_error::{Error, Result};
use isomorph_model::{Columns, EdgeBatch, EdgeType, LabelColumn, Narrowing, NodeBatch, NodeType, Relations, Source};

use super::Relating;
use crate::mapping::declared;
use crate::mapping::split::{Divided, Split};
use crate::mapping::view::{Rows, columns_alone};

impl Divided<Relating> {
    /// Shows `inner` as `record.typed`. Reads nothing.
    ///
    /// # Errors
    /// If it is not the graph of the record.
    pub fn new(inner: Arc<dyn Source>, record: &Relating) -> Result<Self> {
        Ok(Divided::of(declared(inner, &record.single)?, record.clone(), record.typed.clone()))
    }
}

impl Split for Relating {
    fn prefix(&self, _ty: usize) -> Option<&str> {
        None
    }

    fn relation(&self, _number: usize, ty: &EdgeType) -> Option<String> {
        ty.relation.fixed().filter(|_| !self.in_column).map(str::to_owned)
    }

    fn nodes(
        &self,
        _number: usize,
        _ty: &NodeType,
        batch: &NodeBatch,
        _rows: Range<usize>,
    ) -> Result<(Columns, Option<LabelColumn>)> {
        Ok((batch.properties.clone(), batch.labels.clone()))
    }

    fn relations<'b>(&self, batch: &'b EdgeBatch) -> Result<Cow<'b, Relations>> {
        let relations = batch.relations.as_ref().map(Cow::Borrowed);
        relations.ok_or_else(|| Error::unsupported("edges that do not name their relations"))
    }

    fn edges(
        &self,
        number: usize,
        _ty: &EdgeType,
        batch: &EdgeBatch,
        rows: &Rows,
    ) -> Result<(Columns, Option<BooleanArray>)> {
        let places = self.columns.get(number).ok_or_else(|| Error::usage("no such edge type"))?;
        let columns = places.iter().map(|at| batch.properties.get(*at).cloned().flatten()).collect();
        let mut properties = rows.of_columns(&columns)?;
        if let Some(relations) = batch.relations.as_ref().filter(|_| self.in_column) {
            let index: ArrayRef = rows.of(&relations.index)?;
            let names = take(&relations.names, &index, None);
            properties.push(Some(names.map_err(|error| Error::malformed(error.to_string()))?));
        }
        Ok((properties, rows.of_flags(batch.directed.as_ref())?))
    }

    fn wanted_of_nodes(&self, _number: usize, wanted: &Narrowing) -> Narrowing {
        wanted.clone()
    }

    fn wanted_of_edges(&self, number: usize, wanted: &Narrowing) -> Narrowing {
        let places = self.columns.get(number).map(Vec::as_slice).unwrap_or_default();
        columns_alone(true, false, wanted.properties.iter().filter_map(|at| places.get(*at).copied()))
    }

    fn place_in_nodes(&self, _number: usize, property: usize) -> Option<usize> {
        Some(property)
    }

    fn place_in_edges(&self, number: usize, property: usize) -> Option<usize> {
        self.columns.get(number)?.get(property).copied()
    }

    fn ends_tell_types(&self) -> bool {
        true
    }

    fn rest(&self) -> Result<()> {
        Err(Error::unsupported("only edges can be divided by relation"))
    }
}
