//! The rows of edges by their ids, from one pass over the ids when the first is asked for.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{Array, StringArray};
use isomorph_error::Result;
use isomorph_model::{Cost, Way};
use isomorph_storage::Scratch;
use isomorph_tables::lookup::{KeyRows, KeyRowsBuilder, Lookup, LookupOptions};

use super::Annnet;
use crate::layout::column;

/// Of the budget, this part may hold ids of edges.
const SHARE: u64 = 8;

/// Rows that are read at once.
const BATCH_ROWS: usize = 65_536;

/// The ids, once they were read. No index inside: the ids do not fit into the memory, or one of them is there twice.
#[derive(Default)]
pub(crate) struct EdgeIndex(Mutex<Option<Option<Arc<KeyRows>>>>);

impl Annnet {
    /// The rows among `within` of the table of edges with one of `ids`, ascending; nothing where there is no index.
    ///
    /// # Errors
    /// Returns an error if the ids cannot be read.
    pub(crate) fn rows_of_edges(&self, ids: &StringArray, within: &Range<u64>) -> Result<Option<Vec<u64>>> {
        // Others that need the index wait for it.
        let mut known = self.edge_index.0.lock().unwrap_or_else(PoisonError::into_inner);
        let index = match &*known {
            Some(index) => index.clone(),
            None => known.insert(self.index_edges()?).clone(),
        };
        drop(known);
        let Some(index) = index else { return Ok(None) };
        let mut rows = Vec::with_capacity(ids.len());
        index.translate(ids, &mut rows)?;
        rows.retain(|row| within.contains(row));
        rows.sort_unstable();
        Ok(Some(rows))
    }

    fn index_edges(&self) -> Result<Option<Arc<KeyRows>>> {
        let scratch = self.options.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?;
        let options = LookupOptions::new(&self.options.budget, &scratch).memory(self.options.budget.limit() / SHARE);
        let mut ids = KeyRowsBuilder::new(options);
        let table = &self.edges.table;
        for cells in table.batches(&[column::EDGE_ID], 0..table.rows(), BATCH_ROWS)? {
            ids.push(&cells?.text(column::EDGE_ID)?)?;
        }
        Ok(match ids.finish()? {
            Lookup::Memory(rows) if rows.repeats().is_empty() => Some(Arc::new(rows)),
            Lookup::Memory(_) | Lookup::Spilled(_) => None,
        })
    }

    /// What it costs to find edges by their ids.
    pub(crate) fn cost_of_edges(&self) -> Cost {
        let rows = Some(self.edges.table.rows());
        match &*self.edge_index.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(Some(_)) => Cost::INDEX,
            Some(None) => Cost::pass(rows),
            None => Cost { way: Way::Index, rows },
        }
    }
}
