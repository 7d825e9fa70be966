//! Look-ups: the rows asked for, in the order asked for, from every layout that writers produce.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
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
    ]);
    let columns: Vec<Arc<dyn Array>> = vec![
        Arc::new(Int64Array::from_iter_values((0..ROWS).map(value))),
        Arc::new(Int64Array::from_iter((0..ROWS).map(|row| Some(row / 100 % 10)))),
        Arc::new(Int64Array::from_iter((0..ROWS).map(|row| (row % 7 > 2 && row % 2000 > 900).then(|| value(row))))),
        Arc::new(Int32Array::from_iter((0..ROWS).map(|row| (row % 3 > 0).then(|| value(row) as i32)))),
        Arc::new(StringArray::from_iter((0..ROWS).map(|row| (row % 5 > 0).then(|| format!("t{}", value(row)))))),
    ];
    RecordBatch::try_new(Arc::new(schema), columns).unwrap()
}

/// The table as other writers might lay it out.
fn layouts() -> Vec<(String, Bytes)> {
    let table = table();
    let mut layouts = Vec::new();
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY] {
            for encoding in [None, Some(PageEncoding::PLAIN), Some(PageEncoding::DELTA_BINARY_PACKED)] {
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
                    for column in ["long", "few", "gaps", "int"] {
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
    let columns = ["text", "long", "few", "gaps", "int"];
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
