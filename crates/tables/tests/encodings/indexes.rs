//! Page indexes and statistics: if they pass the comparison, look-ups return the same rows as scans.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use bytes::Bytes;
use isomorph_model::{Comparison, Predicate};
use isomorph_tables::{Compression, Encoding, ReadOptions, Selection, TableReader, WriteOptions, quiet_fenced_panics};
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaDataReader};

use crate::samples::{batch, columns, open, read, rising, write};

/// Pages of three rows, two in a row group.
fn small(compression: Compression) -> WriteOptions {
    WriteOptions { row_group_rows: 6, page_rows: 3, ..WriteOptions::default() }.compression(compression)
}

fn compared() -> Selection {
    Selection::all().check_indexes()
}

/// Where the first page index starts; after it there are only indexes and the footer.
fn first_index(bytes: &Bytes) -> usize {
    let mut reader = ParquetMetaDataReader::new().with_page_index_policy(PageIndexPolicy::Skip);
    reader.try_parse(bytes).unwrap();
    let metadata = reader.finish().unwrap();
    let chunks = metadata.row_groups().iter().flat_map(|group| group.columns());
    let places = chunks.flat_map(|chunk| [chunk.column_index_offset(), chunk.offset_index_offset()]);
    places.flatten().min().unwrap() as usize
}

/// Checks that the rows of `batch`, looked up one by one and in ranges, are those of `batch`.
fn assert_found(reader: &TableReader, batch: &RecordBatch, what: &str) {
    let rows = batch.num_rows() as u64;
    for (position, field) in batch.schema().fields().iter().enumerate() {
        let name = field.name().as_str();
        if batch.schema().fields().iter().filter(|field| field.name() == name).count() > 1 {
            continue;
        }
        for row in 0..rows {
            let found = reader.read_rows(&[name], &[row..row + 1]).unwrap_or_else(|error| panic!("{what}: {error:?}"));
            let expected = batch.column(position).slice(row as usize, 1);
            assert_eq!(found.column(0).to_data(), expected.to_data(), "{what}: row {row} of {name}");
        }
        let ranges = [1.min(rows)..4.min(rows), 5.min(rows)..rows];
        let found = read(reader, &Selection::all().columns([name]).rows(ranges.clone()));
        let found = found.unwrap_or_else(|error| panic!("{what}: {error:?}"));
        let parts =
            ranges.map(|range| batch.column(position).slice(range.start as usize, (range.end - range.start) as usize));
        let expected = arrow_select::concat::concat(&[parts[0].as_ref(), parts[1].as_ref()]).unwrap();
        assert_eq!(found.column(0).to_data(), expected.to_data(), "{what}: {name}");
    }
}

/// Checks that filters on `id` and `even` select the right rows.
fn assert_filtered(reader: &TableReader, batch: &RecordBatch, what: &str) {
    let count = |predicate: Predicate, expected: usize| {
        let found = read(reader, &Selection::all().columns(Vec::<String>::new()).row_numbers("row").filter(predicate));
        let found = found.unwrap_or_else(|error| panic!("{what}: {error:?}"));
        assert_eq!(found.num_rows(), expected, "{what}");
    };
    let ids = batch.column_by_name("id").filter(|ids| ids.data_type() == &DataType::Int64);
    if let Some(ids) = ids {
        let ids = ids.as_primitive::<Int64Type>();
        for limit in -1..13 {
            let expected = |keep: &dyn Fn(i64) -> bool| ids.iter().flatten().filter(|id| keep(*id)).count();
            count(Predicate::compare("id", Comparison::LessOrEqual, limit), expected(&|id| id <= limit));
            count(Predicate::equal("id", limit), expected(&|id| id == limit));
        }
    }
    if let Some(even) = batch.column_by_name("even") {
        count(Predicate::IsNull("even".to_owned()), even.null_count());
        count(Predicate::IsNotNull("even".to_owned()), even.len() - even.null_count());
    }
}

#[test]
fn sound_files_of_every_type_pass() {
    for nullable in [false, true] {
        for options in [small(Compression::Snappy), WriteOptions::default(), small(Compression::None)] {
            let bytes = write(&batch(columns(nullable), nullable, 3), Encoding::Parquet, &options);
            let reader = open(&bytes, Encoding::Parquet, &ReadOptions::default()).unwrap();
            for rows in [1, 4, 8192] {
                let whole = read(&reader, &compared().batch_rows(rows)).unwrap();
                assert_eq!(whole, read(&reader, &Selection::all()).unwrap());
            }
            let some = compared().rows([2..3, 7..20]);
            assert_eq!(read(&reader, &some).unwrap(), read(&reader, &Selection::all().rows([2..3, 7..20])).unwrap());
        }
    }
}

#[test]
fn what_passes_the_comparison_is_found_by_look_ups_and_conditions() {
    quiet_fenced_panics();
    let ids = rising(10).project(&[0, 1]).unwrap();
    let lists: Vec<_> = columns(true).into_iter().filter(|(name, _)| matches!(*name, "utf8" | "longs")).collect();
    for (table, compression) in [(ids, Compression::None), (batch(lists, true, 1), Compression::None)] {
        let bytes = write(&table, Encoding::Parquet, &small(compression));
        let start = first_index(&bytes);
        let (mut refused, mut only_compared) = (0, 0);
        for at in start..bytes.len() {
            for change in [1u8 << (at % 8), 2, 0xff] {
                let mut damaged = bytes.to_vec();
                damaged[at] ^= change;
                let damaged = Bytes::from(damaged);
                let what = format!("byte {at} of {} changed by {change}", bytes.len());
                let Ok(reader) = open(&damaged, Encoding::Parquet, &ReadOptions::default()) else { continue };
                let whole = read(&reader, &Selection::all());
                match read(&reader, &compared()) {
                    Ok(batch) => {
                        assert_found(&reader, &batch, &what);
                        assert_filtered(&reader, &batch, &what);
                    }
                    Err(error) => {
                        refused += 1;
                        if whole.is_ok() {
                            only_compared += 1;
                            let rule = error.broken_rule().map(|rule| rule.id);
                            assert_eq!(rule, Some("PARQUET-INDEX"), "{what}: {error:?}");
                        }
                    }
                }
            }
        }
        assert!(only_compared > 100, "{only_compared} of {refused} of {}", 3 * (bytes.len() - start));
    }
}

/// Like a file of Arrow's writer with `write_batch_size=2, data_page_size=1, write_page_index=True`: pages start in the
/// middle of a row, so that the index lists two pages with the same first row.
#[test]
fn a_row_that_is_divided_between_pages_is_read_without_the_index() {
    let bytes = Bytes::from_static(include_bytes!("divided_row.parquet"));
    let reader = open(&bytes, Encoding::Parquet, &ReadOptions::default()).unwrap();
    let all = read(&reader, &compared()).unwrap();
    assert_eq!(all.column(1).as_list::<i32>().value_offsets(), [0, 6, 11, 11, 15]);
    assert_eq!(
        all.column(1).as_list::<i32>().values().as_primitive::<Int64Type>().values()[..],
        (1..16).collect::<Vec<_>>()
    );
    assert_found(&reader, &all, "divided");
    let some = Selection::all().filter(Predicate::compare("id", Comparison::Greater, 1i64));
    assert_eq!(read(&reader, &some).unwrap(), all.slice(2, 2));
}
