//! Small files that claim to be large, or become large when decoded.

use std::sync::Arc;

use arrow_array::builder::{Float64Builder, ListBuilder};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float32Array, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use arrow_schema::{DataType, Field};
use bytes::Bytes;
use isomorph_error::Kind;
use isomorph_tables::{ColumnEncoding, Compression, Encoding, Limits, ReadOptions, Selection, WriteOptions};
use parquet::arrow::ArrowWriter;
use parquet::basic::{BrotliLevel, Compression as Codec, GzipLevel, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterVersion};

use crate::samples::{open, read, write};

fn text(value: &str, rows: usize) -> RecordBatch {
    let column = StringArray::from_iter_values(std::iter::repeat_n(value, rows));
    RecordBatch::try_from_iter([("text", Arc::new(column) as Arc<dyn Array>)]).unwrap()
}

#[test]
fn a_page_that_unpacks_to_too_much_is_refused_unless_allowed() {
    let table = text(&"a".repeat(1000), 2000);
    let options = WriteOptions { page_rows: 1 << 20, ..WriteOptions::default() };
    let bytes = write(&table, Encoding::Parquet, &options.encoding("text", ColumnEncoding::Plain));
    assert!(bytes.len() < 3000);
    let with = |limits: Limits| {
        let options = ReadOptions { limits, ..ReadOptions::default() };
        open(&bytes, Encoding::Parquet, &options).and_then(|reader| read(&reader, &Selection::all()))
    };
    for limits in [
        Limits { page_ratio: 1024, page_slack_bytes: 0, ..Limits::default() },
        Limits { page_bytes: 100_000, ..Limits::default() },
        Limits { expanded_pages_bytes: 100_000, ..Limits::default() },
    ] {
        let error = with(limits.clone()).unwrap_err();
        assert_eq!((error.kind(), error.place().field.as_deref()), (Kind::TooLarge, Some("text")), "{limits:?}");
    }
    assert_eq!(with(Limits::default()).unwrap(), table);
}

/// Each page is small for its column, but all of them together are not.
#[test]
fn pages_that_unpack_to_much_are_counted_over_all_columns() {
    let column: ArrayRef = Arc::new(Float64Array::from(vec![1.0; 100_000]));
    let names: Vec<String> = (0..20).map(|number| format!("c{number}")).collect();
    let table = RecordBatch::try_from_iter(names.iter().map(|name| (name, Arc::clone(&column)))).unwrap();
    let bytes = parquet(&table, Codec::ZSTD(ZstdLevel::default()), WriterVersion::PARQUET_1_0);
    let with = |expanded_pages_bytes| {
        let limits = Limits { expanded_pages_bytes, ..Limits::default() };
        open(&bytes, Encoding::Parquet, &ReadOptions { limits, ..ReadOptions::default() })
            .and_then(|reader| read(&reader, &Selection::all()))
    };
    assert_eq!(with(10_000_000).unwrap_err().kind(), Kind::TooLarge);
    assert_eq!(with(20_000_000).unwrap(), table);
}

/// A column of one value takes a few bytes per page in every codec, and is valid.
#[test]
fn constants_are_read_in_every_codec_and_type() {
    let codecs = [
        Codec::SNAPPY,
        Codec::GZIP(GzipLevel::default()),
        Codec::BROTLI(BrotliLevel::default()),
        Codec::LZ4,
        Codec::LZ4_RAW,
        Codec::ZSTD(ZstdLevel::default()),
    ];
    for rows in [17_000, 200_000] {
        let table = constants(rows);
        for codec in codecs {
            for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
                let bytes = parquet(&table, codec, version);
                let reader = open(&bytes, Encoding::Parquet, &ReadOptions::default()).unwrap();
                let found = read(&reader, &Selection::all()).unwrap_or_else(|error| panic!("{codec} {error:?}"));
                assert!(found.columns() == table.columns(), "{codec} {version:?} {rows}");
            }
        }
        for compression in [Compression::Zstd(3), Compression::Gzip(6), Compression::Snappy, Compression::Lz4] {
            let bytes = write(&table, Encoding::Orc, &WriteOptions::default().compression(compression));
            let reader = open(&bytes, Encoding::Orc, &ReadOptions::declared(table.schema())).unwrap();
            let found = read(&reader, &Selection::all()).unwrap_or_else(|error| panic!("{compression:?} {error:?}"));
            assert!(found.columns() == table.columns(), "{compression:?} {rows}");
        }
    }
}

/// A million doubles in a page of 8 MB, which Zstandard compresses to less than a thousand bytes, and Brotli to a hundred.
#[test]
fn a_large_page_of_one_value_is_read() {
    let column: ArrayRef = Arc::new(Float64Array::from(vec![1.0; 1_000_000]));
    let table = RecordBatch::try_from_iter([("weight", column)]).unwrap();
    for codec in [Codec::ZSTD(ZstdLevel::default()), Codec::BROTLI(BrotliLevel::default())] {
        let bytes = parquet(&table, codec, WriterVersion::PARQUET_1_0);
        assert!(bytes.len() < 3000, "{}", bytes.len());
        let reader = open(&bytes, Encoding::Parquet, &ReadOptions::default()).unwrap();
        assert!(read(&reader, &Selection::all()).unwrap() == table, "{codec}");
    }
}

fn constants(rows: usize) -> RecordBatch {
    let item = Field::new("element", DataType::Float64, true);
    let mut lists = ListBuilder::new(Float64Builder::new()).with_field(item);
    (0..rows).for_each(|_| lists.append_value([Some(1.0), Some(1.0)]));
    let columns: [(&str, ArrayRef); 8] = [
        ("double", Arc::new(Float64Array::from(vec![1.0; rows]))),
        ("float", Arc::new(Float32Array::from(vec![1.0; rows]))),
        ("long", Arc::new(Int64Array::from(vec![7; rows]))),
        ("int", Arc::new(Int32Array::from(vec![7; rows]))),
        ("bool", Arc::new(BooleanArray::from(vec![true; rows]))),
        ("text", Arc::new(StringArray::from_iter_values(std::iter::repeat_n("one text", rows)))),
        ("null", Arc::new(Float64Array::from(vec![None; rows]))),
        ("list", Arc::new(lists.finish())),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// One page for each column, as some writers do.
fn parquet(table: &RecordBatch, codec: Codec, version: WriterVersion) -> Bytes {
    let properties = WriterProperties::builder()
        .set_compression(codec)
        .set_writer_version(version)
        .set_dictionary_enabled(false)
        .set_data_page_size_limit(1 << 28)
        .set_data_page_row_count_limit(1 << 28)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), table.schema(), Some(properties)).unwrap();
    writer.write(table).unwrap();
    writer.into_inner().unwrap().into()
}

/// 20,000 rows of one dictionary entry of 100 kB would be 2 GB: they are returned in batches that fit into the budget.
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
