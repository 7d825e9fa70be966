//! ORC: round trips of every type, and timestamps as other writers store them.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, RecordBatch, TimestampMicrosecondArray, TimestampMillisecondArray};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use isomorph_error::Kind;
use isomorph_model::Predicate;
use isomorph_storage::Blob;
use isomorph_tables::{Compression, Encoding, ReadOptions, Selection, TableReader, TableWriter, WriteOptions};

use crate::samples::{batch, columns, open, read, rising, write};

const ORC: Encoding = Encoding::Orc;

/// The positions and names of the sample columns that ORC can store: it has no unsigned 64-bit integers.
pub fn without_unsigned_longs(nullable: bool) -> (Vec<usize>, Vec<&'static str>) {
    columns(nullable)
        .iter()
        .enumerate()
        .filter(|(_, (name, _))| *name != "u64")
        .map(|(position, (name, _))| (position, *name))
        .unzip()
}

fn sample(nullable: bool, repeats: usize) -> RecordBatch {
    let all = batch(columns(nullable), nullable, repeats);
    all.project(&without_unsigned_longs(nullable).0).unwrap()
}

/// ORC does not store nullability: every column may contain nulls.
fn assert_round_trip(batch: &RecordBatch, options: &WriteOptions) {
    let bytes = write(batch, ORC, options);
    let reader = open(&bytes, ORC, &ReadOptions::declared(batch.schema())).unwrap();
    assert_eq!(reader.row_count(), Some(batch.num_rows() as u64));
    assert_eq!(read(&reader, &Selection::all()).unwrap().columns(), batch.columns());
}

/// Like a file of Arrow's writer with `dictionary_key_size_threshold=1.0`: three rows with seven texts, six of them distinct.
#[test]
fn a_dictionary_in_a_list_may_have_more_entries_than_there_are_rows() {
    let bytes = include_bytes!("dictionary_list.orc").as_slice().into();
    let read = read(&open(&bytes, ORC, &ReadOptions::default()).unwrap(), &Selection::all()).unwrap();
    let lists = read.column(0).as_list::<i32>();
    let texts: Vec<_> = lists.values().as_string::<i32>().iter().flatten().collect();
    assert_eq!(texts, ["a", "b", "c", "d", "e", "f", "a"]);
    assert_eq!(lists.value_offsets(), [0, 3, 6, 7]);
}

#[test]
fn every_type_and_compression_comes_back() {
    for nullable in [false, true] {
        for compression in
            [Compression::None, Compression::Snappy, Compression::Zstd(3), Compression::Lz4, Compression::Gzip(6)]
        {
            let options = WriteOptions::default().compression(compression);
            assert_round_trip(&sample(nullable, 1), &options);
            assert_round_trip(&sample(nullable, 300), &options);
            let small = WriteOptions { row_group_rows: 1000, ..options };
            assert_round_trip(&sample(nullable, 300), &small);
        }
    }
    assert_round_trip(&sample(true, 1).slice(0, 0), &WriteOptions::default());
    assert_round_trip(&rising(100_000), &WriteOptions::default());
}

#[test]
fn times_before_1970_come_back() {
    for zone in [None, Some("UTC")] {
        let values = vec![-62_135_596_800_000, -1_000_000_001, -1001, -1000, -999, -1, 0, 1, 253_402_300_799_999];
        let array = TimestampMillisecondArray::from(values).with_timezone_opt(zone);
        let batch = RecordBatch::try_from_iter([("t", Arc::new(array) as Arc<dyn Array>)]).unwrap();
        assert_round_trip(&batch, &WriteOptions::default());
    }
    let past = arrow_array::TimestampSecondArray::from(vec![i64::MIN]);
    let past = RecordBatch::try_from_iter([("t", Arc::new(past) as Arc<dyn Array>)]).unwrap();
    let mut writer = TableWriter::create(Vec::new(), ORC, &past.schema(), &WriteOptions::default()).unwrap();
    let error = writer.write(&past).unwrap_err();
    assert_eq!((error.kind(), error.place().field.as_deref()), (Kind::Unsupported, Some("t")));
    assert_eq!(error.place().row, Some(0));
}

#[test]
fn undeclared_times_are_nanoseconds() {
    let times = TimestampMillisecondArray::from(vec![Some(5), None]);
    let batch = RecordBatch::try_from_iter([("t", Arc::new(times) as Arc<dyn Array>)]).unwrap();
    let reader = open(&write(&batch, ORC, &WriteOptions::default()), ORC, &ReadOptions::default()).unwrap();
    assert_eq!(reader.schema().field(0).data_type(), &DataType::Timestamp(TimeUnit::Nanosecond, None));
}

/// A file with timestamps finer than the reader's unit is valid: the error says so, with the row and a hint.
#[test]
fn times_finer_than_their_unit_are_named() {
    let millisecond = DataType::Timestamp(TimeUnit::Millisecond, None);
    let times = |values: Vec<Option<i64>>| TimestampMicrosecondArray::from(values);
    let plain: ArrayRef = Arc::new(times(vec![Some(0), None, Some(1000), Some(1500), Some(2000)]));
    let items = times(vec![Some(0), Some(1000), Some(1500)]);
    let item = |ty: &DataType| Arc::new(Field::new("element", ty.clone(), true));
    let offsets = arrow_buffer::OffsetBuffer::from_lengths([1, 0, 0, 2]);
    let lists = ListArray::try_new(item(items.data_type()), offsets, Arc::new(items.clone()), None).unwrap();
    let lists: ArrayRef = Arc::new(lists);
    for (column, ty) in [(plain, millisecond.clone()), (lists, DataType::List(item(&millisecond)))] {
        let table = RecordBatch::try_from_iter_with_nullable([("t", column, true)]).unwrap();
        let bytes = write(&table, ORC, &WriteOptions::default());
        let declared = Arc::new(Schema::new(vec![Field::new("t", ty, true)]));
        let reader = open(&bytes, ORC, &ReadOptions::declared(declared)).unwrap();
        let error = read(&reader, &Selection::all()).unwrap_err();
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some("TIME-UNIT"), "{error:?}");
        assert_eq!((error.place().row, error.place().field.as_deref()), (Some(3), Some("t")), "{error:?}");
        let reader = open(&bytes, ORC, &ReadOptions::declared(table.schema())).unwrap();
        assert_eq!(read(&reader, &Selection::all()).unwrap().columns(), table.columns());
    }
}

#[test]
fn what_orc_lacks_is_refused_before_anything_is_written() {
    let schema = Schema::new(vec![Field::new("u", DataType::UInt64, true)]);
    let create = |options: &WriteOptions| TableWriter::create(Vec::new(), ORC, &schema, options).err().unwrap();
    let error = create(&WriteOptions::default());
    assert_eq!((error.kind(), error.place().field.as_deref()), (Kind::Unsupported, Some("u")));
}

#[test]
fn selection_and_stripes() {
    let table = rising(50_000);
    let options = WriteOptions { row_group_rows: 10_000, ..WriteOptions::default() };
    let bytes = write(&table, ORC, &options);
    let blob = Blob::from_bytes("table", &bytes);
    let reader = TableReader::open(blob.clone(), ORC, &ReadOptions::default()).unwrap();
    assert_eq!((reader.row_groups(), reader.rows_of_group(2)), (5, Some(20_000..30_000)));
    let before = blob.bytes_read();
    let selection = Selection::all().columns(["id"]).rows([9_998..10_001, 40_000..40_001]).row_numbers("row");
    let found = read(&reader, &selection).unwrap();
    assert_eq!(found.column(0), found.column(1));
    assert_eq!(found.num_rows(), 4);
    assert!(blob.bytes_read() - before < bytes.len() as u64 / 4);
    let filter = Predicate::equal("name", "name 00012345");
    let found = read(&reader, &Selection::all().columns(["id"]).filter(filter).row_groups(1..2)).unwrap();
    assert_eq!(found.column(0).as_primitive::<arrow_array::types::Int64Type>().values(), &[12_345]);
    let rows = reader.read_rows(&["id"], &[30_000..30_002, 1..2]).unwrap();
    assert_eq!(rows.column(0).as_primitive::<arrow_array::types::Int64Type>().values(), &[30_000, 30_001, 1]);
    assert!(reader.batches(&Selection::all().rows([0..50_001])).is_err());
    assert!(reader.batches(&Selection::all().row_groups(4..6)).is_err());
}
