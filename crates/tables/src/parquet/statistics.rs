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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt32Array};
    use isomorph_model::predicate::extremes;
    use isomorph_storage::Blob;
    use parquet::arrow::ArrowWriter;

    use super::*;
    use crate::{Encoding, ReadOptions, TableReader, TableWriter, WriteOptions};

    const LONG: &str =
        "a text that is much longer than the sixty-four bytes of which writers keep bounds, and then some";

    fn batch() -> RecordBatch {
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("whole", Arc::new(Int64Array::from(vec![Some(3), None, Some(i64::MIN), None]))),
            ("unsigned", Arc::new(UInt32Array::from(vec![1, u32::MAX, 2, 3]))),
            ("truth", Arc::new(BooleanArray::from(vec![Some(true), None, Some(true), Some(true)]))),
            ("short", Arc::new(StringArray::from(vec![Some("b"), Some(""), None, Some("ä")]))),
            ("cut", Arc::new(StringArray::from(vec![Some(LONG), Some("m"), None, Some(&LONG[1..])]))),
            ("nan", Arc::new(Float64Array::from(vec![Some(f64::NAN), Some(1.0), None, Some(2.0)]))),
            ("zeros", Arc::new(Float64Array::from(vec![-0.0, 0.0, -0.0, 0.0]))),
            ("nulls", Arc::new(Int64Array::from(vec![None; 4]))),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    fn opened(bytes: Vec<u8>) -> TableReader {
        let blob = Blob::from_bytes("t.parquet", &bytes.into());
        TableReader::open(blob, Encoding::Parquet, &ReadOptions::default()).unwrap()
    }

    #[test]
    fn what_is_exact_is_what_reading_gives() {
        let all = batch();
        for row_group_rows in [1, 3, 100] {
            let options = WriteOptions { row_group_rows, ..WriteOptions::default() };
            let mut writer = TableWriter::create(Vec::new(), Encoding::Parquet, &all.schema(), &options).unwrap();
            writer.write(&all).unwrap();
            let file = opened(writer.finish().unwrap().0);
            for (field, column) in all.schema().fields().iter().zip(all.columns()) {
                let said = file.column_statistics(field.name()).unwrap();
                assert_eq!(said.nulls, Known::Exact(column.null_count() as u64), "{field:?}");
                let (least, greatest) = extremes(column).unzip();
                match field.name().as_str() {
                    // The least begins like the text that is longer than a bound.
                    "cut" => assert!(matches!(said.least, Known::Estimated(Some(_))), "{said:?}"),
                    "nan" | "zeros" => {
                        assert_eq!((said.least.exact(), said.greatest.exact()), (None, None), "{said:?}");
                    }
                    _ => {
                        let exact = (Known::Exact(least), Known::Exact(greatest));
                        assert_eq!((said.least, said.greatest), exact, "{field:?}");
                    }
                }
            }
            assert_eq!(file.column_statistics("nobody").unwrap(), ColumnStatistics::default());
        }
    }

    #[test]
    fn what_others_say_is_an_estimate() {
        let all = batch();
        let mut writer = ArrowWriter::try_new(Vec::new(), all.schema(), None).unwrap();
        writer.write(&all).unwrap();
        let file = opened(writer.into_inner().unwrap());
        for field in all.schema().fields() {
            let said = file.column_statistics(field.name()).unwrap();
            assert_eq!(
                (said.nulls.exact(), said.least.exact(), said.greatest.exact()),
                (None, None, None),
                "{field:?}"
            );
        }
        let whole = file.column_statistics("whole").unwrap();
        assert_eq!(whole.nulls, Known::Estimated(2));
        assert_eq!(whole.least, Known::Estimated(Some(Value::Int(i64::MIN.into()))));
    }
}
