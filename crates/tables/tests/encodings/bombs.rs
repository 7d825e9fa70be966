//! Small files that claim or become much.

use std::sync::Arc;

use arrow_array::{Array, RecordBatch, StringArray};
use isomorph_error::Kind;
use isomorph_tables::{ColumnEncoding, Encoding, Limits, ReadOptions, Selection, WriteOptions};

use crate::samples::{open, read, write};

fn text(value: &str, rows: usize) -> RecordBatch {
    let column = StringArray::from_iter_values(std::iter::repeat_n(value, rows));
    RecordBatch::try_from_iter([("text", Arc::new(column) as Arc<dyn Array>)]).unwrap()
}

#[test]
fn a_page_that_unpacks_to_too_much_is_refused_unless_allowed() {
    let table = text(&"a".repeat(1000), 2000);
    let options = WriteOptions::default().encoding("text", ColumnEncoding::Plain);
    let bytes = write(&table, Encoding::Parquet, &options);
    assert!(bytes.len() < 3000);
    let error = open(&bytes, Encoding::Parquet, &ReadOptions::default())
        .and_then(|reader| read(&reader, &Selection::all()))
        .unwrap_err();
    assert_eq!((error.kind(), error.place().field.as_deref()), (Kind::TooLarge, Some("text")));
    let limits = Limits { page_ratio: 1 << 20, ..Limits::default() };
    let reader = open(&bytes, Encoding::Parquet, &ReadOptions { limits, ..ReadOptions::default() }).unwrap();
    assert_eq!(read(&reader, &Selection::all()).unwrap(), table);
}

/// 20,000 rows of one dictionary entry of 100 kB would be 2 GB: they come in batches that fit the budget.
#[test]
fn a_large_dictionary_entry_makes_batches_small() {
    let value: String = (0..100_000u32).map(|at| char::from(b'a' + (at % 97 * (at % 89) % 26) as u8)).collect();
    let mut writer = isomorph_tables::TableWriter::create(
        Vec::new(),
        Encoding::Parquet,
        &text(&value, 1).schema(),
        &WriteOptions::default(),
    )
    .unwrap();
    for _ in 0..40 {
        writer.write(&text(&value, 500)).unwrap();
    }
    let (bytes, _) = writer.finish().unwrap();
    assert!(bytes.len() < 200_000, "{}", bytes.len());
    let reader = open(&bytes.into(), Encoding::Parquet, &ReadOptions::default()).unwrap();
    let mut rows = 0;
    for batch in reader.batches(&Selection::all()).unwrap().take(20) {
        let batch = batch.unwrap();
        assert!(batch.get_array_memory_size() < 128 << 20, "{}", batch.get_array_memory_size());
        rows += batch.num_rows();
    }
    assert!(rows > 1000, "{rows}");
}

#[test]
fn large_values_make_orc_batches_small() {
    let table = text(&"a".repeat(200_000), 4000);
    let bytes = write(&table, Encoding::Orc, &WriteOptions::default());
    assert!(bytes.len() < 400_000, "{}", bytes.len());
    let reader = open(&bytes, Encoding::Orc, &ReadOptions::default()).unwrap();
    let mut rows = 0;
    for batch in reader.batches(&Selection::all()).unwrap() {
        let batch = batch.unwrap();
        assert!(batch.get_array_memory_size() < 600 << 20, "{}", batch.get_array_memory_size());
        rows += batch.num_rows();
    }
    assert_eq!(rows, 4000);
}
