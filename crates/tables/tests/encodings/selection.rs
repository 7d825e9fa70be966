//! Projection, row ranges, filters: the right rows, and no more bytes than needed.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_schema::{DataType, Field, Schema};
use bytes::Bytes;
use isomorph_error::Kind;
use isomorph_model::{Comparison, Predicate};
use isomorph_storage::Blob;
use isomorph_tables::{ColumnEncoding, Compression, Encoding, ReadOptions, Selection, TableReader, WriteOptions};

use crate::samples::{open, read, rising, write};

const ROWS: i64 = 100_000;

fn options() -> WriteOptions {
    let options = WriteOptions { row_group_rows: 30_000, page_rows: 1024, ..WriteOptions::default() };
    // Without dictionaries, which a look-up would have to read whole.
    ["even", "name", "score"]
        .into_iter()
        .fold(options.compression(Compression::Snappy), |options, name| options.encoding(name, ColumnEncoding::Plain))
        .encoding("id", ColumnEncoding::Delta)
}

fn bytes() -> Bytes {
    write(&rising(ROWS), Encoding::Parquet, &options())
}

fn ids(reader: &TableReader, selection: &Selection) -> Vec<i64> {
    read(reader, selection).unwrap().column_by_name("id").unwrap().as_primitive::<Int64Type>().values().to_vec()
}

/// Bytes read for a selection, by a reader that was opened before.
fn cost(bytes: &Bytes, selection: &Selection) -> (u64, usize) {
    let blob = Blob::from_bytes("table", bytes);
    let reader = TableReader::open(blob.clone(), Encoding::Parquet, &ReadOptions::default()).unwrap();
    let before = blob.bytes_read();
    let rows = read(&reader, selection).unwrap().num_rows();
    (blob.bytes_read() - before, rows)
}

#[test]
fn columns_come_in_the_order_asked_for() {
    let reader = open(&bytes(), Encoding::Parquet, &ReadOptions::default()).unwrap();
    let batch = read(&reader, &Selection::all().columns(["score", "id"]).rows([3..5])).unwrap();
    assert_eq!(batch.schema().fields().iter().map(|f| f.name().as_str()).collect::<Vec<_>>(), ["score", "id"]);
    assert_eq!(batch.column(1).as_primitive::<Int64Type>().values(), &[3, 4]);
    let none = read(&reader, &Selection::all().columns(Vec::<String>::new()).row_numbers("row").rows([7..9])).unwrap();
    assert_eq!(none.column(0).as_primitive::<Int64Type>().values(), &[7, 8]);
    for (columns, kind) in [(vec!["nothing"], Kind::NotFound), (vec!["id", "id"], Kind::Usage)] {
        assert_eq!(reader.batches(&Selection::all().columns(columns)).err().unwrap().kind(), kind);
    }
}

#[test]
fn row_ranges_across_pages_and_row_groups() {
    for page_index in [true, false] {
        let bytes = write(&rising(ROWS), Encoding::Parquet, &WriteOptions { page_index, ..options() });
        let reader = open(&bytes, Encoding::Parquet, &ReadOptions::default()).unwrap();
        let ranges: [&[Range<u64>]; 6] = [
            &[0..1],
            &[1023..1025, 29_999..30_001],
            &[5..5, 99_999..100_000],
            &[10..20, 20..30, 59_000..61_000],
            &[0..100_000],
            &[],
        ];
        for ranges in ranges {
            let expected: Vec<i64> = ranges.iter().flat_map(|range| range.start as i64..range.end as i64).collect();
            assert_eq!(ids(&reader, &Selection::all().rows(ranges.to_vec())), expected);
        }
        let groups = Selection::all().row_groups(1..2).rows([29_990..30_010]);
        assert_eq!(ids(&reader, &groups), (30_000..30_010).collect::<Vec<_>>());
        let beyond = Selection::all().rows([0..100_001]);
        assert_eq!(reader.batches(&beyond).err().unwrap().kind(), Kind::Usage);
    }
}

#[test]
fn batches_have_the_rows_asked_for() {
    let reader = open(&bytes(), Encoding::Parquet, &ReadOptions::default()).unwrap();
    let sizes = |rows| -> Vec<usize> {
        reader
            .batches(&Selection::all().batch_rows(rows).rows([0..2500]))
            .unwrap()
            .map(|b| b.unwrap().num_rows())
            .collect()
    };
    assert_eq!(sizes(1000), [1000, 1000, 500]);
    assert_eq!(sizes(1).len(), 2500);
}

#[test]
fn only_the_pages_of_the_rows_are_read() {
    let bytes = bytes();
    let (all, _) = cost(&bytes, &Selection::all());
    let (id, _) = cost(&bytes, &Selection::all().columns(["id"]));
    let (few, rows) = cost(&bytes, &Selection::all().columns(["id"]).rows([50_000..50_010]));
    assert_eq!(rows, 10);
    assert!(id < all / 4, "{id} of {all}");
    assert!(few < id / 10, "{few} of {id}");
}

#[test]
fn conditions_select_exactly_and_skip_pages() {
    let bytes = bytes();
    let reader = open(&bytes, Encoding::Parquet, &ReadOptions::default()).unwrap();
    let between = |from: i64, to: i64| {
        Predicate::And(vec![
            Predicate::compare("id", Comparison::GreaterOrEqual, from),
            Predicate::compare("id", Comparison::Less, to),
        ])
    };
    let cases: Vec<(Predicate, Vec<i64>)> = vec![
        (between(29_995, 30_005), (29_995..30_005).collect()),
        (Predicate::equal("name", "name 00012345"), vec![12_345]),
        (Predicate::compare("score", Comparison::Less, 1.1), (0..5).collect()),
        (Predicate::And(vec![between(10, 20), Predicate::IsNull("even".into())]), vec![11, 13, 15, 17, 19]),
        (Predicate::And(vec![between(10, 14), Predicate::IsNotNull("even".into())]), vec![10, 12]),
        (Predicate::Not(Box::new(Predicate::compare("id", Comparison::Greater, 3i64))), (0..4).collect()),
        (Predicate::Or(vec![Predicate::equal("id", 5i64), Predicate::equal("id", 99_999i64)]), vec![5, 99_999]),
        (Predicate::equal("id", -1i64), vec![]),
        (Predicate::equal("even", 7i64), vec![]),
    ];
    let (whole, _) = cost(&bytes, &Selection::all());
    for (predicate, expected) in cases {
        let selection = Selection::all().filter(predicate.clone());
        assert_eq!(ids(&reader, &selection), expected, "{predicate:?}");
        let with_numbers = selection.clone().columns(["name"]).row_numbers("row");
        let numbered = read(&reader, &with_numbers).unwrap();
        assert_eq!(numbered.column(1).as_primitive::<Int64Type>().values(), &expected[..], "{predicate:?}");
        let (read, _) = cost(&bytes, &selection);
        assert!(read < whole / 5, "{predicate:?}: {read} of {whole}");
    }
}

#[test]
fn conditions_without_statistics_and_within_rows() {
    for (statistics, page_index) in [(false, true), (true, false), (false, false)] {
        let bytes = write(&rising(ROWS), Encoding::Parquet, &WriteOptions { statistics, page_index, ..options() });
        let reader = open(&bytes, Encoding::Parquet, &ReadOptions::default()).unwrap();
        let filter = Predicate::compare("id", Comparison::Greater, 59_990i64);
        let selection = Selection::all().rows([0..10, 59_985..60_010]).filter(filter);
        assert_eq!(ids(&reader, &selection), (59_991..60_010).collect::<Vec<_>>());
        assert_eq!(ids(&reader, &selection.columns(["id"])), (59_991..60_010).collect::<Vec<_>>());
    }
}

#[test]
fn conditions_on_text_that_is_declared_as_a_dictionary() {
    let bytes = bytes();
    let words = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let declared = ReadOptions::declared(Arc::new(Schema::new(vec![Field::new("name", words, true)])));
    let reader = open(&bytes, Encoding::Parquet, &declared).unwrap();
    let selection = Selection::all().filter(Predicate::equal("name", "name 00054321"));
    assert_eq!(ids(&reader, &selection), [54_321]);
    let blob = Blob::from_bytes("table", &bytes);
    let reader = TableReader::open(blob.clone(), Encoding::Parquet, &declared).unwrap();
    let before = blob.bytes_read();
    read(&reader, &selection).unwrap();
    assert!(blob.bytes_read() - before < bytes.len() as u64 / 5);
}

#[test]
fn conditions_that_make_no_sense_are_refused() {
    let reader = open(&bytes(), Encoding::Parquet, &ReadOptions::default()).unwrap();
    for (predicate, kind) in [
        (Predicate::equal("id", "text"), Kind::Usage),
        (Predicate::equal("name", 5i64), Kind::Usage),
        (Predicate::IsNull("nothing".into()), Kind::NotFound),
    ] {
        let error = reader.batches(&Selection::all().filter(predicate)).err().unwrap();
        assert_eq!(error.kind(), kind);
    }
}
