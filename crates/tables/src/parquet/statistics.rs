//! What the footer says of a whole column.

use isomorph_error::Result;
use isomorph_model::predicate::{Bounds, Value, value_type};
use isomorph_model::statistics::{ColumnStatistics, Known};

use super::bounds::of_group;
use super::file::ParquetFile;
use super::write::CREATED_BY;

impl ParquetFile {
    /// What the footer says of the column at `column`. Files of our own say what is so, but of floats: there bounds leave NaN out and do not tell the
    /// zeros apart. What others say is an estimate: bounds may be cut or wide, and counts missing or wrong.
    ///
    /// # Errors
    /// When there is no such column.
    pub(crate) fn column_statistics(&self, column: usize) -> Result<ColumnStatistics> {
        let mut all = ColumnStatistics::of_no_rows();
        for group in 0..self.row_groups() {
            all = all.with(self.of_row_group(group, column)?);
        }
        Ok(all)
    }

    fn of_row_group(&self, group: usize, column: usize) -> Result<ColumnStatistics> {
        let Some(leaf) = self.columns.flat_leaf(column) else { return Ok(ColumnStatistics::default()) };
        let chunk = self.chunk(group, leaf)?;
        let is_own = self.metadata.file_metadata().created_by() == Some(CREATED_BY);
        let bytes = Known::Exact(chunk.compressed_size().unsigned_abs());
        let Some(statistics) = chunk.statistics() else {
            return Ok(ColumnStatistics { bytes, ..ColumnStatistics::default() });
        };
        let nulls = statistics.null_count_opt().map_or(Known::Unknown, |nulls| match is_own {
            true => Known::Exact(nulls),
            false => Known::Estimated(nulls),
        });
        let Bounds { least, greatest, all_null, .. } = of_group(self, group, column)?;
        let is_float = value_type(self.columns.decoded_type(column)).is_floating();
        let bound = |value: Option<Value>, is_exact: bool| match value {
            None if !all_null => Known::Unknown,
            value if is_own && (all_null || is_exact && !is_float) => Known::Exact(value),
            value => Known::Estimated(value),
        };
        Ok(ColumnStatistics {
            nulls,
            least: bound(least, statistics.min_is_exact()),
            greatest: bound(greatest, statistics.max_is_exact()),
            distinct: Known::Unknown,
            bytes,
        })
    }
}
