//! Batches of every type, with nulls, empty and extreme values.

use std::sync::Arc;

use arrow_array::builder::{Int64Builder, ListBuilder};
use arrow_array::types::{Float32Type, Float64Type, Int32Type};
use arrow_array::*;
use arrow_schema::{DataType, Field, Schema};
use bytes::Bytes;
use isomorph_error::Result;
use isomorph_storage::Blob;
use isomorph_tables::{Encoding, ReadOptions, Selection, TableReader, TableWriter, WriteOptions};

/// One column per type; `nullable` adds nulls to each.
pub fn columns(nullable: bool) -> Vec<(&'static str, ArrayRef)> {
    let none = |index: usize| nullable && index % 3 == 1;
    fn some<T: Clone>(values: &[T], none: &dyn Fn(usize) -> bool) -> Vec<Option<T>> {
        values.iter().enumerate().map(|(index, value)| (!none(index)).then(|| value.clone())).collect()
    }
    let floats = [0.0, -0.0, 1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 5e-324, f64::MAX, 0.1];
    let singles = floats.map(|value| value as f32);
    let texts = ["", "a", "NA", "null", "x,y", "say \"hi\"", "two\nlines", " edge ", "żółć 🦀"];
    let longs = [0, -1, i64::MAX, i64::MIN, 7, 42, 1 << 53, -(1 << 53) - 1, 9];
    let millis = [0, -1, 1_700_000_000_123, -62_135_596_800_000, 253_402_300_799_999, 1, 999, 1000, -1001];
    let seconds = millis.map(|value: i64| value / 1000);
    vec![
        (
            "bool",
            Arc::new(BooleanArray::from(some(&[true, false, true, true, false, true, false, false, true], &none))),
        ),
        ("i8", Arc::new(Int8Array::from(some(&[0, 1, -1, i8::MAX, i8::MIN, 5, 6, 7, 8], &none)))),
        ("i16", Arc::new(Int16Array::from(some(&[0, 1, -1, i16::MAX, i16::MIN, 5, 6, 7, 8], &none)))),
        ("i32", Arc::new(Int32Array::from(some(&[0, 1, -1, i32::MAX, i32::MIN, 5, 6, 7, 8], &none)))),
        ("i64", Arc::new(Int64Array::from(some(&longs, &none)))),
        ("u8", Arc::new(UInt8Array::from(some(&[0, 1, 2, u8::MAX, 4, 5, 6, 7, 8], &none)))),
        ("u16", Arc::new(UInt16Array::from(some(&[0, 1, 2, u16::MAX, 4, 5, 6, 7, 8], &none)))),
        ("u32", Arc::new(UInt32Array::from(some(&[0, 1, 2, u32::MAX, 4, 5, 6, 7, 8], &none)))),
        ("u64", Arc::new(UInt64Array::from(some(&[0, 1, 2, u64::MAX, 1 << 63, 5, 6, 7, 8], &none)))),
        ("f32", Arc::new(Float32Array::from(some(&singles, &none)))),
        ("f64", Arc::new(Float64Array::from(some(&floats, &none)))),
        ("utf8", Arc::new(StringArray::from(some(&texts, &none)))),
        ("large_utf8", Arc::new(LargeStringArray::from(some(&texts, &none)))),
        ("binary", Arc::new(BinaryArray::from(some(&texts.map(str::as_bytes), &none)))),
        ("date", Arc::new(Date32Array::from(some(&[0, -1, 18_000, -719_162, 2_932_896, 1, 2, 3, 4], &none)))),
        ("s", Arc::new(TimestampSecondArray::from(some(&seconds, &none)))),
        ("ms", Arc::new(TimestampMillisecondArray::from(some(&millis, &none)))),
        ("us", Arc::new(TimestampMicrosecondArray::from(some(&millis.map(|v| v * 1000 + 1), &none)))),
        ("ns", Arc::new(TimestampNanosecondArray::from(some(&longs, &none)))),
        ("utc", Arc::new(TimestampMillisecondArray::from(some(&millis, &none)).with_timezone("UTC"))),
        ("ints", list_i32(nullable)),
        ("longs", list_i64()),
        ("singles", list::<Float32Type>(&[&[1.5f32, f32::MIN], &[], &[0.1]], nullable)),
        ("doubles", list::<Float64Type>(&[&[1.5f64, f64::NAN], &[], &[0.1]], nullable)),
        ("texts", list_text(nullable)),
    ]
}

/// The columns that are not lists.
pub fn scalars(nullable: bool) -> Vec<(&'static str, ArrayRef)> {
    columns(nullable).into_iter().filter(|(_, array)| !array.data_type().is_nested()).collect()
}

fn list<T: ArrowPrimitiveType>(rows: &[&[T::Native]], nullable: bool) -> ArrayRef {
    let rows = (0..9).map(|row| {
        (!(nullable && row % 3 == 1))
            .then(|| rows[row % rows.len()].iter().map(|value| Some(*value)).collect::<Vec<_>>())
    });
    named(ListArray::from_iter_primitive::<T, _, _>(rows))
}

fn list_i32(nullable: bool) -> ArrayRef {
    list::<Int32Type>(&[&[1, 2, i32::MIN], &[], &[i32::MAX]], nullable)
}

/// Lists with nulls inside.
fn list_i64() -> ArrayRef {
    let mut builder = ListBuilder::new(Int64Builder::new());
    for row in 0..9 {
        for value in 0..row {
            builder.values().append_option((value % 2 == 0).then_some(i64::MAX - value));
        }
        builder.append(true);
    }
    named(builder.finish())
}

fn list_text(nullable: bool) -> ArrayRef {
    let mut builder = ListBuilder::new(arrow_array::builder::StringBuilder::new());
    for row in 0..9 {
        if nullable && row % 3 == 1 {
            builder.append(false);
            continue;
        }
        for word in ["", "a;b", "ü"].iter().take(row % 4) {
            builder.values().append_value(word);
        }
        builder.append(true);
    }
    named(builder.finish())
}

/// The list with its items named as this crate names them.
fn named(list: ListArray) -> ArrayRef {
    let (item, offsets, values, nulls) = list.into_parts();
    let item = Field::new("element", item.data_type().clone(), true);
    Arc::new(ListArray::new(Arc::new(item), offsets, values, nulls))
}

/// A batch of the named columns; `repeats` times the nine rows.
pub fn batch(columns: Vec<(&str, ArrayRef)>, nullable: bool, repeats: usize) -> RecordBatch {
    let fields: Vec<Field> =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), nullable)).collect();
    let arrays = columns
        .iter()
        .map(|(_, array)| arrow_select::concat::concat(&vec![array.as_ref(); repeats]).unwrap())
        .collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
}

pub fn write(batch: &RecordBatch, encoding: Encoding, options: &WriteOptions) -> Bytes {
    let mut writer = TableWriter::create(Vec::new(), encoding, &batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    let (bytes, stats) = writer.finish().unwrap();
    assert_eq!((stats.rows, stats.bytes), (batch.num_rows() as u64, bytes.len() as u64));
    bytes.into()
}

pub fn open(bytes: &Bytes, encoding: Encoding, options: &ReadOptions) -> Result<TableReader> {
    TableReader::open(Blob::from_bytes("table", bytes), encoding, options)
}

/// Reads everything as one batch.
pub fn read(reader: &TableReader, selection: &Selection) -> Result<RecordBatch> {
    let batches = reader.batches(selection)?;
    let schema = batches.schema().clone();
    let batches = batches.collect::<Result<Vec<_>>>()?;
    Ok(arrow_select::concat::concat_batches(&schema, &batches).unwrap())
}

/// A table of `rows` rows that rise: `id`, `even` (null where odd), `name`, `score`.
pub fn rising(rows: i64) -> RecordBatch {
    let schema = Schema::new(vec![
        Field::new("id", DataType::Int64, false),
        Field::new("even", DataType::Int32, true),
        Field::new("name", DataType::Utf8, true),
        Field::new("score", DataType::Float64, true),
    ]);
    let even = Int32Array::from_iter((0..rows).map(|row| (row % 2 == 0).then_some(row as i32)));
    let name = StringArray::from_iter_values((0..rows).map(|row| format!("name {row:08}")));
    let score = Float64Array::from_iter_values((0..rows).map(|row| row as f64 / 4.0));
    let id = Int64Array::from_iter_values(0..rows);
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(id), Arc::new(even), Arc::new(name), Arc::new(score)]).unwrap()
}
