//! Reads the values of single node rows.

use isomorph_error::{Place, Result};

use super::Nock;
use super::open::Advance;
use crate::columns::{Column, ColumnSet};
use crate::compare::{Canonical, CompareOptions};
use crate::dataset::Wanted;
use crate::layout::has_no_place;
use crate::node_rows::{Position, Said, side_by_side};
use crate::rows::Rows;

/// Number of rows in a batch: a text file is scanned completely for a few rows.
const BATCH_ROWS: usize = 1 << 14;

impl Nock {
    /// Returns the values of the node rows at ascending `positions` that pass `keep`. In Parquet files, no other rows are read.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or a row is invalid.
    pub(super) fn said_at(
        &self,
        positions: &[Position],
        keep: &(dyn Fn(&Said) -> bool + Sync),
        threads: usize,
        advance: &Advance<'_>,
    ) -> Result<Vec<(Position, Said)>> {
        let canonical = Canonical::of(self, self, &CompareOptions::default())?;
        let wanted = self.wanted_of_nodes();
        let pieces: Vec<&[Position]> = positions.chunk_by(|one, other| one.piece() == other.piece()).collect();
        let found = side_by_side(pieces.len(), threads, |index| {
            let mut positions = pieces.get(index).copied().unwrap_or_default().iter();
            let number = positions.as_slice().first().map_or(0, |position| position.piece());
            let (partition, mut found) = (self.partition_of(number)?, Vec::new());
            let Some(piece) = self.pieces.get(number) else { return Ok(found) };
            let rows = positions.as_slice().iter().map(|position| position.row()).collect();
            for rows in partition.rows_at(piece, rows, &wanted)? {
                advance(0)?;
                let rows = rows?;
                let batch = canonical.batch(&rows).map_err(|error| error.at(Place::file(&partition.name)))?;
                let said = (0..rows.len).map(|row| Said::of(&batch, row));
                found.extend(positions.by_ref().copied().zip(said).filter(|(_, said)| keep(said)));
            }
            Ok(found)
        })?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Returns the number of values in row `row`.
    ///
    /// # Errors
    /// Returns an error if a value has no text form.
    pub(crate) fn cells_said(&self, rows: &Rows, row: usize) -> Result<usize> {
        let canonical = Canonical::of(self, self, &CompareOptions::default())?;
        let extras = if self.has_readable_extras() { rows.extras.clone() } else { vec![None; rows.extras.len()] };
        Ok(Said::of(&canonical.batch(&Rows { extras, ..rows.clone() })?, row).cells())
    }

    /// Returns the columns of node rows, without further columns if the model has no type for one of them.
    fn wanted_of_nodes(&self) -> Wanted<'_> {
        let columns = ColumnSet::of(&[Column::Truth, Column::Shadow, Column::IsRdf, Column::Labels, Column::Props]);
        Wanted { batch_rows: BATCH_ROWS, ..self.wanted(columns, self.has_readable_extras()) }
    }

    fn has_readable_extras(&self) -> bool {
        let extras = &self.shape.extras;
        !extras.is_empty() && !extras.iter().any(|extra| has_no_place(&extra.data_type))
    }
}
