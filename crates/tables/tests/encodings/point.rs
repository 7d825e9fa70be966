//! Look-ups: the requested rows in the requested order, from every layout that writers produce.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{
    Array, BooleanArray, Date32Array, Float32Array, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray, TimestampMillisecondArray,
};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use bytes::Bytes;
use isomorph_error::Kind;
use isomorph_storage::Blob;
use isomorph_tables::{Encoding, PageCache, ReadOptions, TableReader};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding as PageEncoding};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};

const ROWS: i64 = 50_000;

fn value(row: i64) -> i64 {
    row * 7919 % 100_003 - 50_000
}

fn table() -> RecordBatch {
    let schema = Schema::new(vec![
        Field::new("long", DataType::Int64, false),
        Field::new("few", DataType::Int64, true),
        Field::new("gaps", DataType::Int64, true),
        Field::new("int", DataType::Int32, true),
        Field::new("text", DataType::Utf8, true),
        Field::new("word", DataType::Utf8, false),
        Field::new("float", DataType::Float32, true),
        Field::new("double", DataType::Float64, false),
        Field::new("bool", DataType::Boolean, true),
        Field::new("date", DataType::Date32, true),
        Field::new("millis", DataType::Timestamp(TimeUnit::Millisecond, None), false),
        Field::new("micros", DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())), true),
    ]);
    let columns: Vec<Arc<dyn Array>> = vec![
        Arc::new(Int64Array::from_iter_values((0..ROWS).map(value))),
        Arc::new(Int64Array::from_iter((0..ROWS).map(|row| Some(row / 100 % 10)))),
        Arc::new(Int64Array::from_iter((0..ROWS).map(|row| (row % 7 > 2 && row % 2000 > 900).then(|| value(row))))),
        Arc::new(Int32Array::from_iter((0..ROWS).map(|row| (row % 3 > 0).then(|| value(row) as i32)))),
        Arc::new(StringArray::from_iter((0..ROWS).map(|row| (row % 5 > 0).then(|| format!("t{}", value(row)))))),
        Arc::new(StringArray::from_iter_values((0..ROWS).map(|row| ["", "one", "\u{e4}\u{2603}"][row as usize % 3]))),
        Arc::new(Float32Array::from_iter((0..ROWS).map(|row| (row % 4 > 0).then(|| value(row) as f32 / 3.0)))),
        Arc::new(Float64Array::from_iter_values((0..ROWS).map(|row| value(row) as f64 / -7.0))),
        Arc::new(BooleanArray::from_iter((0..ROWS).map(|row| (row % 6 > 0).then_some(value(row) % 3 == 0)))),
        Arc::new(Date32Array::from_iter((0..ROWS).map(|row| (row % 2 > 0).then(|| value(row) as i32)))),
        Arc::new(TimestampMillisecondArray::from_iter_values((0..ROWS).map(|row| value(row) * 86_399_999))),
        Arc::new(
            TimestampMicrosecondArray::from_iter((0..ROWS).map(|row| (row % 9 > 0).then(|| value(row) * 1_001)))
                .with_timezone("UTC"),
        ),
    ];
    RecordBatch::try_new(Arc::new(schema), columns).unwrap()
}

/// The table in the layouts of other writers.
fn layouts() -> Vec<(String, Bytes)> {
    let table = table();
    let mut layouts = Vec::new();
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY] {
            for encoding in [
                None,
                Some(PageEncoding::PLAIN),
                Some(PageEncoding::DELTA_BINARY_PACKED),
                Some(PageEncoding::BYTE_STREAM_SPLIT),
            ] {
                for (page_rows, index) in [(1000, true), (1 << 20, true), (1000, false)] {
                    let mut properties = WriterProperties::builder()
                        .set_writer_version(version)
                        .set_compression(compression)
                        .set_dictionary_enabled(encoding.is_none())
                        .set_data_page_row_count_limit(page_rows)
                        .set_write_batch_size(500)
                        .set_offset_index_disabled(!index)
                        .set_statistics_enabled(if index { EnabledStatistics::Page } else { EnabledStatistics::None })
                        .set_max_row_group_row_count(Some(30_000));
                    let (ints, floats, texts, bools) = match encoding {
                        None => (None, None, None, None),
                        Some(PageEncoding::DELTA_BINARY_PACKED) => (
                            encoding,
                            Some(PageEncoding::PLAIN),
                            Some(PageEncoding::DELTA_LENGTH_BYTE_ARRAY),
                            Some(PageEncoding::RLE),
                        ),
                        Some(PageEncoding::BYTE_STREAM_SPLIT) => {
                            (encoding, encoding, Some(PageEncoding::DELTA_BYTE_ARRAY), Some(PageEncoding::PLAIN))
                        }
                        plain => (plain, plain, plain, plain),
                    };
                    let ints = ["long", "few", "gaps", "int", "date", "millis", "micros"].map(|name| (name, ints));
                    let others =
                        [("float", floats), ("double", floats), ("text", texts), ("word", texts), ("bool", bools)];
                    for (column, encoding) in ints.into_iter().chain(others) {
                        if let Some(encoding) = encoding {
                            properties = properties.set_column_encoding(column.into(), encoding);
                        }
                    }
                    let mut writer =
                        ArrowWriter::try_new(Vec::new(), table.schema(), Some(properties.build())).unwrap();
                    writer.write(&table).unwrap();
                    let name = format!("{version:?} {compression} {encoding:?} {page_rows} {index}");
                    layouts.push((name, writer.into_inner().unwrap().into()));
                }
            }
        }
    }
    layouts
}

#[test]
fn every_layout_gives_the_rows() {
    let table = table();
    let columns = ["text", "long", "few", "gaps", "int", "word", "float", "double", "bool", "date", "millis", "micros"];
    let requests: [&[Range<u64>]; 6] = [
        &[0..1],
        &[49_999..50_000, 0..3, 29_990..30_010],
        &[999..1001, 999..1001, 5..5, 1000..1002],
        &[12_345..12_400],
        &[],
        &[40_000..45_000, 100..4100],
    ];
    for (name, bytes) in layouts() {
        let reader =
            TableReader::open(Blob::from_bytes("table", &bytes), Encoding::Parquet, &ReadOptions::default()).unwrap();
        for rows in requests {
            let slices: Vec<RecordBatch> = rows
                .iter()
                .map(|range| table.slice(range.start as usize, (range.end - range.start) as usize))
                .collect();
            let expected = arrow_select::concat::concat_batches(&table.schema(), &slices).unwrap();
            let found = reader.read_rows(&columns, rows).unwrap();
            for column in columns {
                let (found, expected) =
                    (found.column_by_name(column).unwrap(), expected.column_by_name(column).unwrap());
                assert_eq!(found, expected, "{name}: {column} {rows:?}");
            }
        }
    }
}

#[test]
fn a_look_up_reads_little_and_comes_back_for_nothing() {
    for (name, bytes) in layouts().into_iter().filter(|(name, _)| name.ends_with("true")) {
        let blob = Blob::from_bytes("table", &bytes);
        let reader = TableReader::open(blob.clone(), Encoding::Parquet, &ReadOptions::default()).unwrap();
        reader.read_rows(&["long"], &[0..1]).unwrap();
        let before = blob.bytes_read();
        let long = reader.read_rows(&["long"], &[20_000..20_010]).unwrap();
        let expected: Vec<i64> = (20_000..20_010).map(value).collect();
        assert_eq!(long.column(0).as_primitive::<Int64Type>().values(), &expected[..]);
        let first = blob.bytes_read() - before;
        let is_large_page = name.contains("1048576");
        assert!(is_large_page || first < 20_000, "{name}: {first} bytes");
        reader.read_rows(&["long"], &[20_000..20_010]).unwrap();
        let again = blob.bytes_read() - before - first;
        assert!(again <= if is_large_page { 1200 } else { 0 }, "{name}: {again} bytes");
    }
}

#[test]
fn what_is_looked_up_is_not_scanned_for() {
    for (name, bytes) in layouts().into_iter().filter(|(name, _)| name.contains("1000 true")) {
        let deltas = name.contains("DELTA") || name.contains("SPLIT");
        for column in table().schema().fields().iter().map(|field| field.name().clone()) {
            let blob = Blob::from_bytes("table", &bytes);
            let reader = TableReader::open(blob.clone(), Encoding::Parquet, &ReadOptions::default()).unwrap();
            reader.read_rows(&[&column], &[20_100..20_110]).unwrap();
            let before = blob.bytes_read();
            reader.read_rows(&[&column], &[20_200..20_250]).unwrap();
            let is_text = matches!(column.as_str(), "text" | "word");
            // Decompressed pages are cached, except where a scan is needed: for texts in delta encoding.
            assert_eq!(blob.bytes_read() - before > 0, is_text && deltas, "{name}: {column}");
        }
    }
}

#[test]
fn texts_that_are_not_utf8_are_an_error() {
    let schema = Arc::new(Schema::new(vec![Field::new("bytes", DataType::Binary, false)]));
    let bytes =
        arrow_array::BinaryArray::from_iter_values((0..100u8).map(|row| [b'a', if row == 50 { 0xff } else { b'b' }]));
    let batch = RecordBatch::try_new(schema, vec![Arc::new(bytes)]).unwrap();
    for dictionary in [false, true] {
        let properties = WriterProperties::builder().set_dictionary_enabled(dictionary).build();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        let declared = ReadOptions::declared(Arc::new(Schema::new(vec![Field::new("bytes", DataType::Utf8, true)])));
        let blob = Blob::from_bytes("table", &writer.into_inner().unwrap().into());
        let reader = TableReader::open(blob, Encoding::Parquet, &declared).unwrap();
        let found = reader.read_rows(&["bytes"], &[10..20]).unwrap();
        assert_eq!(found.column(0).as_string::<i32>().value(3), "ab");
        assert!(reader.read_rows(&["bytes"], &[45..55]).is_err());
    }
}

#[test]
fn nothing_is_kept_without_a_cache() {
    let (_, bytes) = layouts().swap_remove(0);
    let options = ReadOptions { pages: PageCache::new(0), ..ReadOptions::default() };
    let blob = Blob::from_bytes("table", &bytes);
    let reader = TableReader::open(blob.clone(), Encoding::Parquet, &options).unwrap();
    for _ in 0..2 {
        let before = blob.bytes_read();
        let int = reader.read_rows(&["int"], &[4..6]).unwrap();
        assert_eq!(int.column(0).as_primitive::<Int32Type>().values(), &[value(4) as i32, value(5) as i32]);
        assert!(blob.bytes_read() > before);
    }
    assert_eq!(options.pages.bytes(), 0);
}

#[test]
fn rows_and_columns_that_are_not_there() {
    let (_, bytes) = layouts().swap_remove(0);
    let reader =
        TableReader::open(Blob::from_bytes("table", &bytes), Encoding::Parquet, &ReadOptions::default()).unwrap();
    assert_eq!(reader.read_rows(&["long"], &[49_999..50_001]).unwrap_err().kind(), Kind::Usage);
    assert_eq!(reader.read_rows(&["none"], &[0..1]).unwrap_err().kind(), Kind::NotFound);
}
