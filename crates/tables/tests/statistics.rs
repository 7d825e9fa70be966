//! What footers say of columns: exact where reading gives the same, and else an estimate.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt32Array};
use isomorph_model::predicate::{Value, extremes};
use isomorph_model::statistics::{ColumnStatistics, Known};
use isomorph_storage::Blob;
use isomorph_tables::{Encoding, ReadOptions, TableReader, TableWriter, WriteOptions};
use parquet::arrow::ArrowWriter;

const LONG: &str = "a text that is much longer than the sixty-four bytes of which writers keep bounds, and then some";

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
        assert_eq!((said.nulls.exact(), said.least.exact(), said.greatest.exact()), (None, None, None), "{field:?}");
    }
    let whole = file.column_statistics("whole").unwrap();
    assert_eq!(whole.nulls, Known::Estimated(2));
    assert_eq!(whole.least, Known::Estimated(Some(Value::Int(i64::MIN.into()))));
}
