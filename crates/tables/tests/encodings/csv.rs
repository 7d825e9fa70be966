//! CSV: both dialects byte for byte, every type, and errors with line and field.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use isomorph_error::{Kind, Result};
use isomorph_model::Predicate;
use isomorph_tables::{CsvDialect, Encoding, Quoting, ReadOptions, Selection, TableWriter, WriteOptions};

use crate::samples::{batch, columns, open, read, rising, scalars, write};

const CSV: Encoding = Encoding::Csv;

fn schema(fields: &[(&str, DataType)]) -> Arc<Schema> {
    Arc::new(Schema::new(fields.iter().map(|(name, kind)| Field::new(*name, kind.clone(), true)).collect::<Vec<_>>()))
}

fn parse(text: &str, fields: &[(&str, DataType)], dialect: CsvDialect) -> Result<RecordBatch> {
    let options = ReadOptions { csv: dialect, ..ReadOptions::declared(schema(fields)) };
    open(&text.to_owned().into(), CSV, &options).and_then(|reader| read(&reader, &Selection::all()))
}

#[test]
fn every_type_comes_back() {
    for nullable in [false, true] {
        // The word for null is recognised in undeclared columns; here all are declared.
        let dialects = [CsvDialect::default(), CsvDialect { null_word: None, ..CsvDialect::nock() }];
        // Values that equal a null of the lenient dialects are quoted.
        for dialect in dialects.iter().cloned().chain(dialects.iter().cloned().map(CsvDialect::lenient)) {
            let mut columns = scalars(nullable);
            if dialect.quoting == Quoting::NonNumeric && nullable {
                // NOCK does not distinguish null from empty text.
                columns.retain(|(name, _)| !matches!(*name, "utf8" | "large_utf8" | "binary"));
            }
            let batch = batch(columns, nullable, 100);
            let bytes = write(&batch, CSV, &WriteOptions { csv: dialect.clone(), ..WriteOptions::default() });
            let options = ReadOptions { csv: dialect, ..ReadOptions::declared(batch.schema()) };
            let reader = open(&bytes, CSV, &options).unwrap();
            assert_eq!((reader.row_count(), reader.row_groups()), (None, 1));
            assert_eq!(read(&reader, &Selection::all()).unwrap(), batch);
        }
    }
}

#[test]
fn the_dialect_of_graphar() {
    let batch = RecordBatch::try_from_iter([
        ("id", Arc::new(Int64Array::from(vec![Some(1), None])) as Arc<dyn Array>),
        ("na\"me", Arc::new(StringArray::from(vec![Some("a,\"b\""), Some("")]))),
        ("plain", Arc::new(StringArray::from(vec![Some("x y"), None]))),
        ("ok", Arc::new(BooleanArray::from(vec![true, false]))),
        ("weight", Arc::new(Float64Array::from(vec![1.0, 0.25]))),
        ("day", Arc::new(arrow_array::Date32Array::from(vec![0, -1]))),
        ("time", Arc::new(arrow_array::TimestampMillisecondArray::from(vec![Some(-1), None]))),
    ])
    .unwrap();
    let text = "\"id\",\"na\"\"me\",\"plain\",\"ok\",\"weight\",\"day\",\"time\"\n\
                1,\"a,\"\"b\"\"\",x y,true,1,1970-01-01,1969-12-31 23:59:59.999\n\
                ,\"\",,false,0.25,1969-12-31,\n";
    assert_eq!(write(&batch, CSV, &WriteOptions::default()), text);
}

#[test]
fn the_dialect_of_nock() {
    let batch = RecordBatch::try_from_iter([
        ("src_name", Arc::new(StringArray::from(vec!["a", "b"])) as Arc<dyn Array>),
        ("edge_id", Arc::new(Int32Array::from(vec![0, -1]))),
        ("rel_name", Arc::new(StringArray::from(vec![Some("z"), None]))),
        ("truth", Arc::new(arrow_array::Float32Array::from(vec![0.25, 1.0]))),
        ("is_rdf", Arc::new(BooleanArray::from(vec![false, true]))),
        ("props", Arc::new(StringArray::from(vec!["{\"w\":2}", ""]))),
    ])
    .unwrap();
    let text = "\"src_name\",\"edge_id\",\"rel_name\",\"truth\",\"is_rdf\",\"props\"\n\
                \"a\",0,\"z\",0.25,False,\"{\"\"w\"\":2}\"\n\
                \"b\",-1,\"\",1.0,True,\"\"\n";
    let options = WriteOptions { csv: CsvDialect::nock(), ..WriteOptions::default() };
    assert_eq!(write(&batch, CSV, &options), text);
    let back = open(
        &text.to_owned().into(),
        CSV,
        &ReadOptions { csv: CsvDialect::nock(), ..ReadOptions::declared(batch.schema()) },
    );
    let back = read(&back.unwrap(), &Selection::all()).unwrap();
    assert_eq!(back.column(2).as_string::<i32>().value(1), "");
    assert_eq!(back.columns()[3..], batch.columns()[3..]);
}

#[test]
fn columns_are_found_by_name_and_others_kept_if_asked_for() {
    let text = "b,x,a\n1,extra,true\n2,,FALSE\n";
    let fields = [("a", DataType::Boolean), ("b", DataType::Int64)];
    let plain = parse(text, &fields, CsvDialect::default()).unwrap();
    assert_eq!(plain.schema().fields().len(), 2);
    assert_eq!(plain.column(0).as_ref(), &BooleanArray::from(vec![true, false]) as &dyn Array);
    let kept = parse(text, &fields, CsvDialect { keep_other_columns: true, ..CsvDialect::default() }).unwrap();
    assert_eq!(kept.schema().field(2), &Field::new("x", DataType::Utf8, true));
    assert_eq!(kept.column(2).as_ref(), &StringArray::from(vec![Some("extra"), None]) as &dyn Array);
}

#[test]
fn declared_types_win_over_what_values_look_like() {
    let text = "zip,when\n00123,2010-07-30T15:19:53.298+0000\n\"7\",x\n";
    let batch = parse(text, &[("zip", DataType::Utf8), ("when", DataType::Utf8)], CsvDialect::default()).unwrap();
    assert_eq!(batch.column(0).as_ref(), &StringArray::from(vec!["00123", "7"]) as &dyn Array);
    let time = DataType::Timestamp(TimeUnit::Millisecond, None);
    let error = parse(text, &[("zip", DataType::Int64), ("when", time)], CsvDialect::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "TEXT-VALUE: \"x\" is not a value of type timestamp[ms] (table, line 3, row 1, when)"
    );
}

#[test]
fn lenient_words_are_null_only_when_asked_for_and_not_in_quotes() {
    let text = "n,t\nNA,null\n\"1\",\"NA\"\nNaN,None\n";
    let fields = [("n", DataType::Float64), ("t", DataType::Utf8)];
    let error = parse(text, &fields, CsvDialect::default()).unwrap_err();
    assert_eq!(error.place().line, Some(2));
    let batch = parse(text, &fields, CsvDialect::default().lenient()).unwrap();
    assert_eq!(batch.column(0).as_ref(), &Float64Array::from(vec![None, Some(1.0), None]) as &dyn Array);
    assert_eq!(batch.column(1).as_ref(), &StringArray::from(vec![None, Some("NA"), None]) as &dyn Array);
}

#[test]
fn one_column_has_rows_for_its_empty_lines() {
    let back = parse("\"x\"\n1\n\n\n", &[("x", DataType::Int64)], CsvDialect::default()).unwrap();
    assert_eq!(back.column(0).as_ref(), &Int64Array::from(vec![Some(1), None, None]) as &dyn Array);
}

#[test]
fn a_number_beyond_its_type_is_refused_and_infinity_is_not() {
    let column = |data_type: DataType, text: &str| parse(text, &[("q", data_type)], CsvDialect::default());
    for (data_type, number) in
        [(DataType::Float32, "1e39"), (DataType::Float32, "-3.5e38"), (DataType::Float64, "1e400")]
    {
        let error = column(data_type.clone(), &format!("q\n1\n{number}\n")).unwrap_err().to_string();
        let expected = format!("TEXT-VALUE: \"{number}\" is too large for {data_type} (table, line 3, row 1, q)");
        assert_eq!(error, expected);
    }
    for words in ["q\ninf\n-inf\n", "q\nInfinity\n-Infinity\n"] {
        let read = column(DataType::Float32, words).unwrap();
        let expected = arrow_array::Float32Array::from(vec![f32::INFINITY, f32::NEG_INFINITY]);
        assert_eq!(read.column(0).as_ref(), &expected as &dyn Array, "{words}");
    }
    assert!(column(DataType::Float64, "q\n1e308\n1e39\n").is_ok());
}

#[test]
fn errors_name_line_and_field() {
    let fields = [("a", DataType::Int8), ("b", DataType::Utf8)];
    let fail = |text: &str| parse(text, &fields, CsvDialect::default()).unwrap_err().to_string();
    assert_eq!(fail(""), "CSV-HEADER: the file is empty (table)");
    assert_eq!(fail("a\n1\n"), "CSV-HEADER: column `b` occurs 0 times in the header a (table, line 1, b)");
    assert_eq!(fail("a,b,b\n"), "CSV-HEADER: column `b` occurs 2 times in the header a,b,b (table, line 1, b)");
    assert_eq!(
        fail("a,b\n\n1,\"x\ny\"\n2\n"),
        "CSV-RECORD: the record has 1 fields, but the header has 2 (table, line 5, row 1)"
    );
    assert_eq!(fail("a,b\n128,x\n"), "TEXT-VALUE: \"128\" is not a value of type int8 (table, line 2, row 0, a)");
    assert_eq!(fail("a,b\n1,\"x\n"), "CSV-RECORD: a quoted field has no closing quote (table, line 2)");
    let options = ReadOptions::declared(schema(&fields));
    let error =
        open(&bytes::Bytes::from_static(b"a,b\n1,\xff\n"), CSV, &options).and_then(|r| read(&r, &Selection::all()));
    assert_eq!(
        error.unwrap_err().to_string(),
        "TEXT-VALUE: the text is not UTF-8 after byte 0 (table, line 2, row 0, b)"
    );
    let strict = Arc::new(Schema::new(vec![Field::new("a", DataType::Int8, false)]));
    let error = open(&"a,b\n1,\n,\n".to_owned().into(), CSV, &ReadOptions::declared(strict)).unwrap();
    assert_eq!(
        read(&error, &Selection::all()).unwrap_err().to_string(),
        "TEXT-VALUE: a required value is missing (table, line 3, row 1, a)"
    );
}

#[test]
fn lists_and_missing_schemas_are_refused_beforehand() {
    let lists = batch(columns(false), false, 1);
    let error = TableWriter::create(Vec::new(), CSV, &lists.schema(), &WriteOptions::default()).err().unwrap();
    assert_eq!((error.kind(), error.place().field.as_deref()), (Kind::Unsupported, Some("ints")));
    let text = "ints\n1\n".to_owned().into();
    let error =
        open(&text, CSV, &ReadOptions::declared(Arc::new(lists.schema().project(&[20]).unwrap()))).err().unwrap();
    assert_eq!(error.kind(), Kind::Unsupported);
    assert_eq!(open(&text, CSV, &ReadOptions::default()).err().unwrap().kind(), Kind::Usage);
}

#[test]
fn what_is_no_csv_of_ours_is_named() {
    let declared = ReadOptions::declared(Arc::new(Schema::new(vec![Field::new("id", DataType::Int64, true)])));
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    for (bytes, cause) in [
        (b"\x1f\x8b\x08\x00aaaa".to_vec(), "gzip"),
        (utf16("\u{feff}id\n1\n"), "UTF-16"),
        (utf16("id\n1\n"), "UTF-16"),
        (b"id;name\n1;a\n".to_vec(), "semicolons"),
        (b"name\tid\na\t1\n".to_vec(), "tabs"),
    ] {
        let error = open(&bytes.into(), CSV, &declared).err().unwrap();
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some("CSV-HEADER"), "{error}");
        let said = format!("{error} {}", error.hints().collect::<Vec<_>>().join(" "));
        assert!(said.contains(cause), "{said}");
    }
    let error = open(&b"name\n1\n".to_vec().into(), CSV, &declared).err().unwrap();
    assert_eq!(error.hints().count(), 1, "{error:?}");
}

#[test]
fn years_that_have_no_four_digits_are_refused() {
    let far =
        RecordBatch::try_from_iter([("d", Arc::new(arrow_array::Date32Array::from(vec![i32::MAX])) as Arc<dyn Array>)]);
    let far = far.unwrap();
    let mut writer = TableWriter::create(Vec::new(), CSV, &far.schema(), &WriteOptions::default()).unwrap();
    assert_eq!(writer.write(&far).unwrap_err().kind(), Kind::Unsupported);
}

#[test]
fn selection_works_on_text() {
    let table = rising(20_000);
    for encoding in [CSV, Encoding::JsonLines] {
        let bytes = write(&table, encoding, &WriteOptions::default());
        let reader = open(&bytes, encoding, &ReadOptions::declared(table.schema())).unwrap();
        let selection = Selection::all()
            .columns(["score", "id"])
            .rows([5..10, 9000..9003, 19_999..20_000])
            .filter(Predicate::IsNotNull("even".into()))
            .row_numbers("row");
        let found = read(&reader, &selection).unwrap();
        let expected = [6, 8, 9000, 9002];
        assert_eq!(found.column(2).as_ref(), &Int64Array::from_iter_values(expected) as &dyn Array);
        assert_eq!(found.column(1), found.column(2));
        let rows = reader.read_rows(&["id"], &[15_000..15_001, 3..5]).unwrap();
        assert_eq!(rows.column(0).as_ref(), &Int64Array::from(vec![15_000, 3, 4]) as &dyn Array);
        let beyond = read(&reader, &Selection::all().rows([19_999..20_001]));
        assert_eq!(beyond.unwrap_err().kind(), Kind::Usage);
    }
}

#[test]
fn no_record_of_a_single_column_is_an_empty_line() {
    let one = |cells: Vec<Option<&str>>| {
        RecordBatch::try_from_iter([("a", Arc::new(StringArray::from(cells)) as Arc<dyn Array>)]).unwrap()
    };
    let batch = one(vec![Some("x"), Some(""), Some("  "), Some("\t")]);
    let text = "\"a\"\nx\n\"\"\n\"  \"\n\"\t\"\n";
    assert_eq!(write(&batch, CSV, &WriteOptions::default()), text);
    assert_eq!(parse(text, &[("a", DataType::Utf8)], CsvDialect::default()).unwrap().column(0), batch.column(0));
    // Null has no unquoted spelling there, and NOCK's is quoted.
    let nulls = one(vec![Some("x"), None]);
    let mut writer = TableWriter::create(Vec::new(), CSV, nulls.schema_ref(), &WriteOptions::default()).unwrap();
    let error = writer.write(&nulls).unwrap_err();
    assert_eq!(
        (error.kind(), error.place().row, error.place().field.as_deref()),
        (Kind::Unsupported, Some(1), Some("a"))
    );
    let nock = WriteOptions { csv: CsvDialect::nock(), ..WriteOptions::default() };
    assert_eq!(write(&nulls, CSV, &nock), "\"a\"\n\"x\"\n\"\"\n");
}

#[test]
fn separators_headers_and_names_are_what_the_dialect_says() {
    let fields = [("a", DataType::Int64), ("b", DataType::Utf8)];
    let expected = parse("a,b\n1,\"x|y\"\n2,\n", &fields, CsvDialect::default()).unwrap();
    for (separator, text) in [(b'|', "a|b\n1|\"x|y\"\n2|\n"), (b'\t', "a\tb\n1\tx|y\n2\t\n")] {
        let dialect = CsvDialect { separator, ..CsvDialect::default() };
        assert_eq!(parse(text, &fields, dialect).unwrap(), expected, "{text}");
    }
    let names = Some(vec!["a".to_owned(), "b".to_owned()]);
    let headless = CsvDialect { has_header: false, names: names.clone(), ..CsvDialect::default() };
    assert_eq!(parse("1,x|y\n2,\n", &fields, headless.clone()).unwrap(), expected);
    let twice = CsvDialect { names, ..CsvDialect::default() };
    assert_eq!(parse("id,id\n1,x|y\n2,\n", &fields, twice).unwrap(), expected);
    let error = parse("1,2,3\n", &fields, headless).unwrap_err();
    assert!(error.message().contains("3 fields, but 2 columns are named"), "{error:?}");
}
