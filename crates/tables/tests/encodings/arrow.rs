//! Arrow IPC: every type, selections, the variants that other writers use, and what is refused.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, FixedSizeBinaryArray, LargeListArray, NullArray, RecordBatch, StringArray,
    StringViewArray, StructArray,
};
use arrow_cast::cast;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use bytes::Bytes;
use isomorph_error::Kind;
use isomorph_tables::{Encoding, ReadOptions, Selection, WriteOptions};

use crate::samples::{batch, columns, open, read, write};

const ARROW: Encoding = Encoding::Arrow;

#[test]
fn every_type_comes_back() {
    for nullable in [false, true] {
        let mut columns = columns(nullable);
        // Text has one type when it is read, unless another is declared.
        columns.retain(|(name, _)| *name != "large_utf8");
        let batch = batch(columns, nullable, 100);
        let bytes = write(&batch, ARROW, &WriteOptions::default());
        let reader = open(&bytes, ARROW, &ReadOptions::default()).unwrap();
        assert_eq!((reader.row_count(), reader.row_groups()), (Some(batch.num_rows() as u64), 1));
        assert_eq!(read(&reader, &Selection::all()).unwrap(), batch);
        assert_eq!(read(&reader, &Selection::all().rows([5..7, 300..301])).unwrap().num_rows(), 3);
        let some = read(&reader, &Selection::all().columns(["utf8", "i8"]).batch_rows(7)).unwrap();
        assert_eq!(some, batch.project(&[11, 1]).unwrap());
    }
}

fn of(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

fn file(batches: &[&RecordBatch]) -> Bytes {
    let mut writer = FileWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap().into()
}

#[test]
fn variants_are_the_common_types() {
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("a longer text than fits"), None, Some("b")]));
    let views: ArrayRef =
        Arc::new(texts.as_any().downcast_ref::<StringArray>().unwrap().iter().collect::<StringViewArray>());
    let words: DictionaryArray<Int32Type> = vec![Some("x"), None, Some("x")].into_iter().collect();
    let lists = LargeListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1)]), None, Some(vec![])]);
    let fixed = FixedSizeBinaryArray::try_from_iter([[1u8; 3], [2; 3], [3; 3]].into_iter()).unwrap();
    let batch =
        of(vec![("views", views), ("words", Arc::new(words)), ("lists", Arc::new(lists)), ("fixed", Arc::new(fixed))]);
    let reader = open(&file(&[&batch, &batch]), ARROW, &ReadOptions::default()).unwrap();
    assert_eq!((reader.row_count(), reader.row_groups(), reader.rows_of_group(1)), (Some(6), 2, Some(3..6)));
    let second = read(&reader, &Selection::all().row_groups(1..2)).unwrap();
    let names: Vec<String> = second.schema().fields().iter().map(|field| field.data_type().to_string()).collect();
    assert_eq!(&names[..2], ["Utf8", "Utf8"]);
    assert_eq!(second.column(0), &texts);
    assert_eq!(second.column(1), &cast(batch.column(1), &arrow_schema::DataType::Utf8).unwrap());
    assert_eq!((second.column(2).null_count(), second.column(3).len()), (1, 3));
}

#[test]
fn nulls_beside_other_columns_and_structs_are_read() {
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("b")]));
    let views: ArrayRef = cast(&texts, &arrow_schema::DataType::Utf8View).unwrap();
    let nulls: ArrayRef = Arc::new(NullArray::new(3));
    let field = |name: &str, of: &ArrayRef| Arc::new(arrow_schema::Field::new(name, of.data_type().clone(), true));
    let parts = vec![(field("v", &views), Arc::clone(&views)), (field("n", &nulls), Arc::clone(&nulls))];
    let batch = of(vec![("t", Arc::clone(&texts)), ("n", nulls), ("s", Arc::new(StructArray::from(parts)))]);
    let reader = open(&file(&[&batch, &batch]), ARROW, &ReadOptions::default()).unwrap();
    let second = read(&reader, &Selection::all().rows([4..6])).unwrap();
    let names: Vec<String> = second.schema().fields().iter().map(|field| field.data_type().to_string()).collect();
    assert_eq!(names[1], "Null");
    assert_eq!((second.column(1).len(), second.column(0).null_count()), (2, 1));
    let parts = second.column(2).as_struct();
    assert_eq!(parts.column(0), &texts.slice(1, 2));
    assert_eq!(parts.column(1), &arrow_array::new_null_array(&arrow_schema::DataType::Utf8, 2));
}

#[test]
fn what_is_not_read_is_refused() {
    let refused = |bytes: Bytes| open(&bytes, ARROW, &ReadOptions::default()).err().unwrap();
    // Nothing bounds the number of rows, or of items.
    let nulls: ArrayRef = Arc::new(NullArray::new(3));
    assert_eq!(refused(file(&[&of(vec![("n", Arc::clone(&nulls))])])).kind(), Kind::Unsupported);
    let item = Arc::new(arrow_schema::Field::new("item", arrow_schema::DataType::Null, true));
    let lists = arrow_array::ListArray::new(item, arrow_buffer::OffsetBuffer::from_lengths([3]), nulls, None);
    assert_eq!(refused(file(&[&of(vec![("l", Arc::new(lists))])])).kind(), Kind::Unsupported);
    let texts = of(vec![("t", Arc::new(StringArray::from(vec!["a"])))]);
    let mut stream = StreamWriter::try_new(Vec::new(), &texts.schema()).unwrap();
    stream.write(&texts).unwrap();
    let error = refused(stream.into_inner().unwrap().into());
    assert!(error.message().contains("a stream of Arrow IPC"), "{error:?}");
    assert_eq!(refused(Bytes::from_static(b"ARROW1")).broken_rule().map(|rule| rule.id), Some("ARROW-FILE"));
}

fn compressed(batch: &RecordBatch, codec: CompressionType) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(Some(codec)).unwrap();
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn compressed_batches_are_read() {
    for codec in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        for (nullable, rows) in [(false, 20_000), (true, 500), (true, 1)] {
            let mut columns = columns(nullable);
            columns.retain(|(name, _)| *name != "large_utf8");
            let batch = batch(columns, nullable, rows);
            let reader = open(&compressed(&batch, codec).into(), ARROW, &ReadOptions::default()).unwrap();
            assert_eq!(read(&reader, &Selection::all()).unwrap(), batch, "{codec:?} {rows}");
        }
        let words: DictionaryArray<Int32Type> = (0..5000).map(|at| ["x", "yy", "zzz"][at % 3]).collect();
        let words = of(vec![("w", Arc::new(words))]);
        let reader = open(&compressed(&words, codec).into(), ARROW, &ReadOptions::default()).unwrap();
        assert_eq!(read(&reader, &Selection::all()).unwrap().num_rows(), 5000, "{codec:?}");
    }
}

/// Whatever a compressed file claims, it is read as it is or refused, without the memory that it claims.
#[test]
fn claims_of_compressed_batches_are_bounded() {
    let zeros: ArrayRef = Arc::new(arrow_array::Int64Array::from(vec![0; 100_000]));
    let batch = of(vec![("z", zeros)]);
    for codec in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        let bytes = compressed(&batch, codec);
        let length = 800_000i64.to_le_bytes();
        let at = bytes.windows(8).rposition(|own| own == length.as_slice()).unwrap();
        for (claim, kind) in [
            (i64::MAX, Kind::TooLarge),
            (2 << 30, Kind::TooLarge),
            (-2, Kind::Malformed),
            (799_999, Kind::Malformed),
            (8, Kind::Malformed),
            (500 << 20, Kind::Malformed),
        ] {
            let mut bytes = bytes.clone();
            bytes[at..at + 8].copy_from_slice(&i64::to_le_bytes(claim));
            let reader = open(&bytes.into(), ARROW, &ReadOptions::default()).unwrap();
            assert_eq!(read(&reader, &Selection::all()).unwrap_err().kind(), kind, "{codec:?} {claim}");
        }
        // One byte after another is damaged: nothing panics, and what is read has as many rows.
        for place in (8..bytes.len()).step_by(7) {
            let mut bytes = bytes.clone();
            bytes[place] ^= 0x5a;
            if let Ok(reader) = open(&bytes.into(), ARROW, &ReadOptions::default()) {
                let rows = reader.row_count().unwrap();
                if let Ok(read) = read(&reader, &Selection::all()) {
                    assert_eq!(read.num_rows() as u64, rows, "{codec:?} {place}");
                }
            }
        }
    }
}
