//! JSON lines: every type, Spark's spelling, and errors that name the line.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use isomorph_error::{Kind, Result};
use isomorph_tables::{Encoding, ReadOptions, Selection, TableWriter, WriteOptions};

use crate::samples::{batch, columns, open, read, write};

const JSON: Encoding = Encoding::JsonLines;

fn options(fields: &[(&str, DataType)]) -> ReadOptions {
    let fields: Vec<Field> = fields.iter().map(|(name, kind)| Field::new(*name, kind.clone(), true)).collect();
    ReadOptions::declared(Arc::new(Schema::new(fields)))
}

fn parse(text: &str, options: &ReadOptions) -> Result<RecordBatch> {
    open(&text.to_owned().into(), JSON, options).and_then(|reader| read(&reader, &Selection::all()))
}

#[test]
fn every_type_comes_back() {
    for nullable in [false, true] {
        let batch = batch(columns(nullable), nullable, 100);
        let bytes = write(&batch, JSON, &WriteOptions::default());
        let reader = open(&bytes, JSON, &ReadOptions::declared(batch.schema())).unwrap();
        assert_eq!(read(&reader, &Selection::all()).unwrap(), batch);
    }
}

#[test]
fn the_spelling_of_spark() {
    let rows = batch(columns(true), true, 1).slice(0, 3);
    let picked = rows.project(&[0, 4, 10, 11, 13, 14, 16, 19, 20, 24]).unwrap();
    let text = "\
        {\"bool\":true,\"i64\":0,\"f64\":0.0,\"utf8\":\"\",\"binary\":\"\",\"date\":\"1970-01-01\",\
        \"ms\":\"1970-01-01T00:00:00.000\",\"utc\":\"1970-01-01T00:00:00.000Z\",\"ints\":[1,2,-2147483648],\"texts\":[]}\n\
        {}\n\
        {\"bool\":true,\"i64\":9223372036854775807,\"f64\":1.5,\"utf8\":\"NA\",\"binary\":\"TkE=\",\
        \"date\":\"2019-04-14\",\"ms\":\"2023-11-14T22:13:20.123\",\"utc\":\"2023-11-14T22:13:20.123Z\",\
        \"ints\":[2147483647],\"texts\":[\"\",\"a;b\"]}\n";
    assert_eq!(write(&picked, JSON, &WriteOptions::default()), text);
}

#[test]
fn a_number_beyond_its_type_is_refused() {
    let column =
        |data_type: DataType, text: &str| parse(&format!("{{\"q\":1}}\n{text}\n"), &options(&[("q", data_type)]));
    let list = || DataType::List(Arc::new(Field::new("element", DataType::Float64, true)));
    for (data_type, text) in [
        (DataType::Float64, "{\"q\":1e400}".to_owned()),
        (DataType::Float64, format!("{{\"q\":-1{}}}", "0".repeat(309))),
        (DataType::Float32, "{\"q\":1E39}".to_owned()),
    ] {
        let error = column(data_type, &text).unwrap_err();
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some("TEXT-VALUE"), "{text}");
        assert_eq!((error.place().line, error.place().field.as_deref()), (Some(2), Some("q")), "{text}");
    }
    assert!(parse("{\"q\":[1,1e400]}", &options(&[("q", list())])).is_err());
    assert!(column(DataType::Float64, "{\"q\":1e308}").is_ok() && column(DataType::Float32, "{\"q\":1e38}").is_ok());
}

#[test]
fn missing_keys_are_null_and_others_are_passed_over() {
    let options = options(&[("a", DataType::Int64), ("b", DataType::Utf8)]);
    let text = "\u{feff}{\"b\":\"\\u00e9\\n\",\"other\":{\"a\":[1,{}]},\"a\":1}\r\n\n{\"a\":null}\n {} ";
    let batch = parse(text, &options).unwrap();
    assert_eq!(batch.column(0).as_ref(), &Int64Array::from(vec![Some(1), None, None]) as &dyn Array);
    assert_eq!(batch.column(1).as_ref(), &StringArray::from(vec![Some("é\n"), None, None]) as &dyn Array);
    let strict = ReadOptions { refuse_unknown_keys: true, ..options };
    let error = parse(text, &strict).unwrap_err();
    assert_eq!(error.place().line, Some(1));
    assert!(error.to_string().contains("key \"other\" is not declared"), "{error}");
    // A declared key that is not read is still known.
    let reader = open(&"{\"a\":1,\"b\":\"x\"}".to_owned().into(), JSON, &strict).unwrap();
    assert_eq!(read(&reader, &Selection::all().columns(["a"])).unwrap().num_rows(), 1);
}

#[test]
fn numbers_and_times_keep_every_digit() {
    let options = options(&[
        ("n", DataType::Int64),
        ("f", DataType::Float64),
        ("t", DataType::Timestamp(TimeUnit::Millisecond, None)),
    ]);
    let text =
        "{\"n\":9007199254740993,\"f\":\"Infinity\",\"t\":\"2010-07-30T15:19:53.298+01:00\"}\n{\"f\":\"NaN\",\"n\":-0}";
    let batch = parse(text, &options).unwrap();
    assert_eq!(batch.column(0).as_primitive::<Int64Type>().values(), &[9_007_199_254_740_993, 0]);
    assert_eq!(batch.column(1).as_ref(), &Float64Array::from(vec![f64::INFINITY, f64::NAN]) as &dyn Array);
    for (text, field) in [
        ("{\"n\":1.0}", "n"),
        ("{\"n\":\"1\"}", "n"),
        ("{\"n\":9223372036854775808}", "n"),
        ("{\"f\":\"1\"}", "f"),
        ("{\"f\":true}", "f"),
        ("{\"t\":5}", "t"),
    ] {
        let error = parse(text, &options).unwrap_err();
        assert_eq!(
            (error.kind(), error.place().line, error.place().field.as_deref()),
            (Kind::Malformed, Some(1), Some(field))
        );
    }
}

#[test]
fn errors_name_the_line() {
    let options = options(&[("a", DataType::Int64)]);
    for (text, line) in [
        ("{\"a\":1}\n{\"a\":}", 2),
        ("{\"a\":1}\n\n[1]", 3),
        ("{\"a\":1} {\"a\":2}", 1),
        ("{\"a\":1,\"a\":2}", 1),
        ("{\"a\":1}\n{\"a\":2", 2),
        ("\"a\"", 1),
        (&"[".repeat(100_000), 1),
        (&format!("{{\"b\":{}", "[".repeat(100_000)), 1),
    ] {
        let error = parse(text, &options).unwrap_err();
        assert_eq!((error.kind(), error.place().line), (Kind::Malformed, Some(line)), "{error}");
    }
    let bytes = bytes::Bytes::from_static(b"{\"a\":1}\n{\"b\":\"\xff\"}\n");
    let error = open(&bytes, JSON, &options).and_then(|reader| read(&reader, &Selection::all())).unwrap_err();
    assert_eq!(error.to_string(), "JSON-RECORD: the line is not UTF-8 (table, line 2)");
    assert_eq!(open(&bytes, JSON, &ReadOptions::default()).err().unwrap().kind(), Kind::Usage);
}

#[test]
fn types_that_are_not_json_are_refused_beforehand() {
    let schema = Schema::new(vec![Field::new("x", DataType::Duration(TimeUnit::Second), true)]);
    let error = TableWriter::create(Vec::new(), JSON, &schema, &WriteOptions::default()).err().unwrap();
    assert_eq!(error.kind(), Kind::Unsupported);
}
