//! Parquet: round trips of every type and option, and the documented layout.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
    TimestampMillisecondArray,
};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use isomorph_error::Kind;
use isomorph_storage::Blob;
use isomorph_tables::{
    ColumnEncoding, Compression, Encoding, ReadOptions, Selection, TableReader, TableWriter, TextType, WriteOptions,
};
use parquet::basic::{Encoding as PageEncoding, LogicalType, Repetition};
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::samples::{batch, columns, open, read, rising, write};

const PARQUET: Encoding = Encoding::Parquet;

/// Reads back a batch in which seconds became milliseconds, because Parquet has no seconds.
fn assert_round_trip(batch: &RecordBatch, options: &WriteOptions) {
    let reader = open(&write(batch, PARQUET, options), PARQUET, &ReadOptions::declared(batch.schema())).unwrap();
    assert_eq!(reader.row_count(), Some(batch.num_rows() as u64));
    assert_eq!(&read(&reader, &Selection::all()).unwrap(), batch);
}

#[test]
fn every_type_comes_back() {
    for nullable in [false, true] {
        assert_round_trip(&batch(columns(nullable), nullable, 1), &WriteOptions::default());
        assert_round_trip(&batch(columns(nullable), nullable, 500), &WriteOptions::default());
    }
}

#[test]
fn every_compression_comes_back() {
    let batch = batch(columns(true), true, 200);
    for compression in [
        Compression::None,
        Compression::Snappy,
        Compression::Zstd(1),
        Compression::Zstd(19),
        Compression::Lz4,
        Compression::Gzip(6),
        Compression::Brotli(4),
    ] {
        assert_round_trip(&batch, &WriteOptions::default().compression(compression));
    }
    let impossible = WriteOptions::default().compression(Compression::Zstd(99));
    let error = TableWriter::create(Vec::new(), PARQUET, &batch.schema(), &impossible).err().unwrap();
    assert_eq!(error.kind(), Kind::Usage);
}

#[test]
fn empty_tables_come_back() {
    let empty = batch(columns(true), true, 1).slice(0, 0);
    assert_round_trip(&empty, &WriteOptions::default());
    let bytes = write(&empty, PARQUET, &WriteOptions::default());
    assert_eq!(open(&bytes, PARQUET, &ReadOptions::default()).unwrap().row_groups(), 0);
    let nothing = RecordBatch::new_empty(Arc::new(Schema::empty()));
    assert_round_trip(&nothing, &WriteOptions::default());
}

#[test]
fn the_same_data_gives_the_same_bytes() {
    let batch = rising(50_000);
    let options = WriteOptions::default().encoding("id", ColumnEncoding::Delta);
    let whole = write(&batch, PARQUET, &options);
    assert_eq!(whole, write(&batch, PARQUET, &options));
}

#[test]
fn columns_have_the_encodings_asked_for() {
    let batch = batch(columns(false), false, 300);
    let options = WriteOptions::default()
        .encoding("i64", ColumnEncoding::Delta)
        .encoding("bool", ColumnEncoding::RunLength)
        .encoding("f64", ColumnEncoding::ByteStreamSplit)
        .encoding("utf8", ColumnEncoding::Plain);
    assert_round_trip(&batch, &options);
    let file = SerializedFileReader::new(write(&batch, PARQUET, &options)).unwrap();
    let has = |name: &str, encoding| {
        let chunk = file.metadata().row_group(0).columns().iter().find(|c| c.column_path().string() == name).unwrap();
        chunk.encodings().any(|found| found == encoding)
    };
    assert!(has("i64", PageEncoding::DELTA_BINARY_PACKED) && !has("i64", PageEncoding::RLE_DICTIONARY));
    assert!(has("bool", PageEncoding::RLE) && !has("bool", PageEncoding::PLAIN));
    assert!(has("f64", PageEncoding::BYTE_STREAM_SPLIT) && !has("f64", PageEncoding::RLE_DICTIONARY));
    assert!(has("utf8", PageEncoding::PLAIN) && !has("utf8", PageEncoding::RLE_DICTIONARY));
    assert!(has("i32", PageEncoding::RLE_DICTIONARY));
    for (column, encoding) in [("utf8", ColumnEncoding::Delta), ("missing", ColumnEncoding::Plain)] {
        let options = WriteOptions::default().encoding(column, encoding);
        let error = TableWriter::create(Vec::new(), PARQUET, &batch.schema(), &options).err().unwrap();
        assert_eq!((error.kind(), error.place().field.as_deref()), (Kind::Usage, Some(column)));
    }
}

#[test]
fn the_layout_is_plain_parquet() {
    let options = WriteOptions { footer_metadata: vec![("key".into(), "value".into())], ..WriteOptions::default() };
    let bytes = write(&batch(columns(false), false, 1), PARQUET, &options);
    let file = SerializedFileReader::new(bytes).unwrap();
    let metadata = file.metadata().file_metadata();
    assert_eq!(metadata.created_by(), Some("isomorph"));
    let keys: Vec<_> = metadata.key_value_metadata().unwrap().iter().map(|pair| pair.key.as_str()).collect();
    assert_eq!(keys, ["key"]);
    let schema = metadata.schema_descr();
    let column = |name: &str| {
        (0..schema.num_columns()).map(|leaf| schema.column(leaf)).find(|c| c.path().string() == name).unwrap()
    };
    assert_eq!(column("utf8").logical_type_ref(), Some(&LogicalType::String));
    assert_eq!(column("i64").self_type().get_basic_info().repetition(), Repetition::REQUIRED);
    assert_eq!(column("ints.list.element").max_rep_level(), 1);
    assert!(file.metadata().row_group(0).sorting_columns().is_none());
}

#[test]
fn metadata_of_columns_is_in_the_embedded_schema_if_it_is_wanted() {
    let field = Field::new("x", DataType::Int64, true).with_metadata([("k".to_owned(), "v".to_owned())].into());
    let values: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![values]).unwrap();
    for (field_metadata, expected) in [(true, Some("v")), (false, None)] {
        let options = WriteOptions { field_metadata, ..WriteOptions::default() };
        let bytes = write(&batch, PARQUET, &options);
        let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap();
        assert_eq!(reader.schema().field(0).metadata().get("k").map(String::as_str), expected);
        assert_eq!(reader.metadata().file_metadata().key_value_metadata().is_some(), field_metadata);
    }
}

#[test]
fn pages_and_row_groups_have_the_rows_asked_for() {
    let batch = rising(30_000);
    let options = WriteOptions { row_group_rows: 10_000, page_rows: 2048, ..WriteOptions::default() };
    let bytes = write(&batch, PARQUET, &options);
    let metadata = parquet::file::metadata::ParquetMetaDataReader::new()
        .with_page_index_policy(parquet::file::metadata::PageIndexPolicy::Required)
        .parse_and_finish(&bytes)
        .unwrap();
    assert_eq!(metadata.num_row_groups(), 3);
    let pages = metadata.offset_index().unwrap()[0][0].page_locations();
    assert_eq!(pages.iter().map(|page| page.first_row_index).collect::<Vec<_>>(), [0, 2048, 4096, 6144, 8192]);
    assert_round_trip(&batch, &options);
    assert_round_trip(&batch, &WriteOptions { page_index: false, ..options.clone() });
    assert_round_trip(&batch, &WriteOptions { statistics: false, ..options });
}

#[test]
fn undeclared_columns_have_the_types_of_the_file() {
    let bytes = write(&batch(columns(true), true, 1), PARQUET, &WriteOptions::default());
    let type_of = |options: &ReadOptions, name: &str| {
        let reader = open(&bytes, PARQUET, options).unwrap();
        reader.schema().field_with_name(name).unwrap().data_type().clone()
    };
    let plain = ReadOptions::default();
    assert_eq!(type_of(&plain, "large_utf8"), DataType::Utf8);
    assert_eq!(type_of(&plain, "s"), DataType::Timestamp(TimeUnit::Millisecond, None));
    assert_eq!(type_of(&plain, "u16"), DataType::UInt16);
    let large = ReadOptions { text: TextType::LargeUtf8, ..ReadOptions::default() };
    assert_eq!(type_of(&large, "utf8"), DataType::LargeUtf8);
    let texts = |item| DataType::List(Arc::new(Field::new("element", item, true)));
    assert_eq!(type_of(&large, "texts"), texts(DataType::LargeUtf8));
    let views = ReadOptions { text: TextType::Utf8View, ..ReadOptions::default() };
    assert_eq!(type_of(&views, "utf8"), DataType::Utf8View);
    assert_eq!(type_of(&views, "texts"), texts(DataType::Utf8));
}

#[test]
fn declared_types_are_converted_to_without_loss_or_not_at_all() {
    let batch = RecordBatch::try_from_iter([
        ("small", Arc::new(Int32Array::from(vec![1, 2, 3])) as _),
        ("large", Arc::new(Int64Array::from(vec![1, 2, 1 << 40])) as _),
        ("time", Arc::new(TimestampMicrosecondArray::from(vec![1000, -2000, 3500])) as _),
    ])
    .unwrap();
    let bytes = write(&batch, PARQUET, &WriteOptions::default());
    let declared = |name: &str, data_type: DataType| {
        let schema = Schema::new(vec![Field::new(name, data_type, true)]);
        let reader = open(&bytes, PARQUET, &ReadOptions::declared(Arc::new(schema)))?;
        let two = read(&reader, &Selection::all().columns([name]).rows([0..2]))?;
        read(&reader, &Selection::all().columns([name])).map(|all| (two, all))
    };
    let (_, all) = declared("small", DataType::Int64).unwrap();
    assert_eq!(all.column(0).as_ref(), &Int64Array::from(vec![1, 2, 3]) as &dyn arrow_array::Array);
    let error = declared("large", DataType::Int32).unwrap_err();
    assert_eq!((error.kind(), error.place().field.as_deref()), (Kind::Malformed, Some("large")));
    let error = declared("time", DataType::Timestamp(TimeUnit::Millisecond, None)).unwrap_err();
    assert_eq!(error.kind(), Kind::Malformed);
    let schema = Schema::new(vec![Field::new("time", DataType::Timestamp(TimeUnit::Millisecond, None), true)]);
    let reader = open(&bytes, PARQUET, &ReadOptions::declared(Arc::new(schema))).unwrap();
    let two = read(&reader, &Selection::all().columns(["time"]).rows([0..2])).unwrap();
    assert_eq!(two.column(0).as_ref(), &TimestampMillisecondArray::from(vec![1, -2]) as &dyn arrow_array::Array);
    let error = declared("small", DataType::Boolean).unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported);
}

#[test]
fn structures_and_maps_pass_through() {
    use arrow_array::builder::{MapBuilder, StringBuilder};
    use arrow_array::{Array, ListArray, StructArray};
    let inner = StructArray::from(vec![
        (
            Arc::new(Field::new("rel", DataType::Int32, true)),
            Arc::new(Int32Array::from(vec![1, 2, 3])) as Arc<dyn Array>,
        ),
        (Arc::new(Field::new("dst", DataType::Int64, true)), Arc::new(Int64Array::from(vec![Some(4), None, Some(6)]))),
    ]);
    let item = Arc::new(Field::new("element", inner.data_type().clone(), true));
    let edges = ListArray::new(item, arrow_buffer::OffsetBuffer::from_lengths([2, 0, 1]), Arc::new(inner), None);
    let mut props = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
    for row in 0..3 {
        if row == 1 {
            props.keys().append_value("key");
            props.values().append_null();
        }
        props.append(true).unwrap();
    }
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("edges", Arc::new(edges) as Arc<dyn Array>, true),
        ("props", Arc::new(props.finish()) as Arc<dyn Array>, true),
    ]);
    let batch = batch.unwrap();
    let reader = open(&write(&batch, PARQUET, &WriteOptions::default()), PARQUET, &ReadOptions::default()).unwrap();
    let back = read(&reader, &Selection::all()).unwrap();
    assert_eq!(back.column(0), batch.column(0));
    assert_eq!(format!("{:?}", back.column(1)), format!("{:?}", batch.column(1)));
    let one = read(&reader, &Selection::all().columns(["props"]).rows([1..2])).unwrap();
    assert_eq!(one.column(0).len(), 1);
}

/// Readers, their iterators, and writers can move between threads.
#[test]
fn everything_can_be_sent() {
    fn sent<T: Send>() {}
    fn shared<T: Send + Sync>() {}
    shared::<isomorph_tables::TableReader>();
    shared::<ReadOptions>();
    sent::<isomorph_tables::Batches>();
    sent::<TableWriter<Vec<u8>>>();
}

#[test]
fn a_null_where_none_is_allowed_is_refused() {
    let nulls =
        RecordBatch::try_from_iter_with_nullable([("x", Arc::new(Int64Array::from(vec![None, Some(1)])) as _, true)]);
    let schema = Schema::new(vec![Field::new("x", DataType::Int64, false)]);
    let mut writer = TableWriter::create(Vec::new(), PARQUET, &schema, &WriteOptions::default()).unwrap();
    assert_eq!(writer.write(&nulls.unwrap()).unwrap_err().kind(), Kind::Malformed);
    let other = RecordBatch::try_from_iter([("y", Arc::new(Int64Array::from(vec![1])) as _)]).unwrap();
    assert_eq!(writer.write(&other).unwrap_err().kind(), Kind::Usage);
}

#[test]
fn columns_are_encoded_on_all_threads_as_on_one() {
    let rows = 20_000;
    let text = |row: i64| (row % 7 > 0).then(|| format!("text {}", row % 900));
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("id", Arc::new(Int64Array::from_iter_values(0..rows)) as ArrayRef, false),
        ("text", Arc::new((0..rows).map(text).collect::<StringArray>()), true),
        (
            "half",
            Arc::new((0..rows).map(|row| (row % 5 > 0).then_some(row as f64 / 2.0)).collect::<Float64Array>()),
            true,
        ),
    ])
    .unwrap();
    // Batches of few rows are encoded on one thread.
    let bytes = |step: usize| {
        let options = WriteOptions { row_group_rows: 8_192, ..WriteOptions::default() };
        let mut writer = TableWriter::create(Vec::new(), PARQUET, &batch.schema(), &options).unwrap();
        for from in (0..batch.num_rows()).step_by(step) {
            writer.write(&batch.slice(from, step.min(batch.num_rows() - from))).unwrap();
        }
        writer.finish().unwrap().0
    };
    let whole = bytes(batch.num_rows());
    assert_eq!(whole, bytes(2_048));
    let reader = TableReader::open(Blob::from_bytes("x", &whole.into()), PARQUET, &ReadOptions::default()).unwrap();
    assert_eq!((reader.row_groups(), reader.row_count()), (3, Some(20_000)));
    assert_eq!(read(&reader, &Selection::all()).unwrap().columns(), batch.columns());
}
