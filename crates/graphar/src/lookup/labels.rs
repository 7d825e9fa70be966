//! Look-up of vertices by label: only the columns of the given labels are read.

use std::ops::Range;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use isomorph_error::{Error, Result, did_you_mean};
use isomorph_tables::Selection;

use crate::GraphAr;
use crate::read::LabelFile;

/// How several labels are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    /// The vertex has all of them.
    All,
    /// The vertex has at least one of them.
    Any,
}

impl GraphAr {
    /// Returns the vertices of node type `ty` that have `labels`, as ascending disjoint ranges of rows. No other label and no
    /// property is decoded.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] for a label that is not declared, or an error of reading.
    pub fn with_labels(&self, ty: usize, labels: &[&str], matching: Match) -> Result<Vec<Range<u64>>> {
        let table = self.vertex_table(ty)?;
        if let Some(unknown) = labels.iter().find(|label| !table.info.labels.iter().any(|own| own == *label)) {
            let declared = table.info.labels.join(", ");
            let near = did_you_mean(unknown, table.info.labels.iter().map(String::as_str));
            return Err(Error::usage(format!("{} has no label {unknown}{near}", table.info.ty))
                .hint(format!("one of {declared}")));
        }
        let mut found: Vec<Range<u64>> = Vec::new();
        let mut add = |range: Range<u64>| match found.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => found.push(range),
        };
        for chunk in 0..table.chunks()? {
            let file = LabelFile::open(table, chunk)?;
            let mut row = chunk * table.info.chunk_size;
            for batch in file.batches(labels.iter().copied(), Selection::all().batch_rows(1 << 16))? {
                let batch = batch.map_err(|error| error.at(file.path.as_str()))?;
                let columns = batch.columns().iter().filter_map(|column| column.as_boolean_opt());
                let columns = columns.map(|column| match column.nulls() {
                    Some(valid) => column.values() & valid.inner(),
                    None => column.values().clone(),
                });
                let has = columns.reduce(|left, right| match matching {
                    Match::All => &left & &right,
                    Match::Any => &left | &right,
                });
                for (from, to) in has.iter().flat_map(|has| has.set_slices()) {
                    add(row + from as u64..row + to as u64);
                }
                row += batch.num_rows() as u64;
            }
        }
        Ok(found)
    }
}
