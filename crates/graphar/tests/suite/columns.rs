//! Columns of a chunk against the declared type: read, or refused with the rule and the place.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{
    Array, ArrayRef, BinaryArray, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampSecondArray, UInt64Array,
};
use arrow_schema::{Field, Schema, TimeUnit};
use isomorph_error::{Error, Findings};
use isomorph_graphar::{GraphAr, OpenOptions};
use isomorph_model::{Batch, Comparison, Filter, Literal, MemoryGraph, Narrowing, Predicate, Request, Source, Tables};
use isomorph_storage::Location;
use isomorph_tables::{Encoding, TableWriter, WriteOptions};

/// Writes a graph of one vertex type with the property `q`, declared as `declared`.
fn graph(home: &Path, declared: &str, encoding: Encoding, q: ArrayRef) {
    let file_type = if encoding == Encoding::Orc { "orc" } else { "parquet" };
    let vertex = format!(
        "type: v\nchunk_size: 10\nprefix: vertex/v/\nproperty_groups:\n  - prefix: q/\n    file_type: {file_type}\n    properties:\n      - name: q\n        data_type: {declared}\n        is_primary: false\nversion: gar/v1\n"
    );
    fs::write(home.join("g.graph.yml"), "name: g\nvertices:\n  - v.vertex.yml\nversion: gar/v1\n").unwrap();
    fs::write(home.join("v.vertex.yml"), vertex).unwrap();
    fs::create_dir_all(home.join("vertex/v/q")).unwrap();
    fs::write(home.join("vertex/v/vertex_count"), (q.len() as u64).to_le_bytes()).unwrap();
    let batch = RecordBatch::try_from_iter_with_nullable([("q", q, true)]).unwrap();
    let mut writer = TableWriter::create(Vec::new(), encoding, &batch.schema(), &WriteOptions::default()).unwrap();
    writer.write(&batch).unwrap();
    fs::write(home.join("vertex/v/q/chunk0"), writer.finish().unwrap().0).unwrap();
}

fn opened(home: &Path, options: &OpenOptions) -> GraphAr {
    GraphAr::open(&Location::from_path(home), options).unwrap()
}

/// Returns the values of `q`.
fn read(home: &Path, options: &OpenOptions) -> Result<Vec<ArrayRef>, Error> {
    let graph = MemoryGraph::read(&opened(home, options))?;
    let column = |batch: Batch| match batch {
        Batch::Nodes(nodes) => nodes.properties[0].clone(),
        _ => None,
    };
    Ok(graph.batches.into_iter().filter_map(column).collect())
}

/// Returns the values of `q` that pass a condition, which is evaluated by the files.
fn passing(home: &Path, options: &OpenOptions, condition: &Predicate) -> Vec<ArrayRef> {
    let graph = opened(home, options);
    let q = &graph.graph().nodes[0].properties[0];
    let schema = Arc::new(Schema::new(vec![Field::new("q", q.data_type.clone(), true)]));
    let filter = Filter::new(condition, &schema).unwrap();
    let narrowing = Narrowing { properties: vec![0], filter: Some(condition.clone()), ..Narrowing::least() };
    let mut found = Vec::new();
    for batch in graph.scan(&Request::of(Tables::Nodes(0)).narrowed(narrowing)).unwrap().into_iter().flatten() {
        let Batch::Nodes(nodes) = batch.unwrap() else { panic!() };
        let column = nodes.properties[0].clone().unwrap();
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::clone(&column)]).unwrap();
        found.extend(filter.passing(&batch).unwrap().set_indices().map(|row| column.slice(row, 1)));
    }
    found
}

/// Returns the rule that reading reports, and checks that validation reports it too.
fn broken(home: &Path) -> &'static str {
    let error = read(home, &OpenOptions::default()).unwrap_err();
    assert_eq!(error.place().field.as_deref(), Some("q"), "{error}");
    assert!(error.place().file.is_some() && error.hints().next().is_some(), "{error:?}");
    let mut found = Findings::keeping(3);
    opened(home, &OpenOptions::default()).validate(&mut found).unwrap();
    let rule = error.broken_rule().unwrap();
    assert_eq!(found.count(rule), 1, "{found:?}");
    rule.id
}

#[test]
fn no_value_of_a_user_defined_type_becomes_null() {
    let home = tempfile::tempdir().unwrap();
    for encoding in [Encoding::Parquet, Encoding::Orc] {
        graph(home.path(), "blob", encoding, Arc::new(BinaryArray::from_vec(vec![b"ok", b"\xff\xfe"])));
        assert_eq!(broken(home.path()), "GAR-COLUMN-TYPE");
        graph(home.path(), "blob", encoding, Arc::new(BinaryArray::from_vec(vec![b"ok", b"fine"])));
        let [column] = &read(home.path(), &OpenOptions::default()).unwrap()[..] else { panic!() };
        assert_eq!(column.as_ref(), &StringArray::from(vec!["ok", "fine"]));
    }
}

#[test]
fn different_lists_of_a_user_defined_type_are_different_texts() {
    let home = tempfile::tempdir().unwrap();
    let mut lists = ListBuilder::new(ListBuilder::new(StringBuilder::new()));
    lists.append_value([Some([Some("a, b")].to_vec())]);
    lists.append_value([Some([Some("a"), Some("b")].to_vec())]);
    lists.append_value([Some([None::<&str>].to_vec()), None]);
    lists.append_null();
    graph(home.path(), "list<list<string>>", Encoding::Orc, Arc::new(lists.finish()));
    let [column] = &read(home.path(), &OpenOptions::default()).unwrap()[..] else { panic!() };
    let expected = vec![Some(r#"[["a, b"]]"#), Some(r#"[["a","b"]]"#), Some("[[null],null]"), None];
    assert_eq!(column.as_ref(), &StringArray::from(expected));
}

#[test]
fn a_value_that_its_declared_type_cannot_hold_says_so() {
    let home = tempfile::tempdir().unwrap();
    graph(home.path(), "int32", Encoding::Parquet, Arc::new(Int64Array::from(vec![1, 1 << 31])));
    assert_eq!(broken(home.path()), "GAR-VALUE-INEXACT");
    graph(home.path(), "float", Encoding::Parquet, Arc::new(Float64Array::from(vec![0.5, 0.1])));
    assert_eq!(broken(home.path()), "GAR-VALUE-INEXACT");
}

/// The row of the value, not that of the first row read together with it.
#[test]
fn a_value_that_its_declared_type_cannot_hold_is_named_by_its_row() {
    let row = |home: &Path| read(home, &OpenOptions::default()).unwrap_err().place().row;
    let home = tempfile::tempdir().unwrap();
    for wrong in [0, 3, 6] {
        let integers = Int64Array::from_iter_values((0..7).map(|at| if at >= wrong { 1 << 40 } else { at }));
        for encoding in [Encoding::Parquet, Encoding::Orc] {
            graph(home.path(), "int32", encoding, Arc::new(integers.clone()));
            assert_eq!(row(home.path()), Some(wrong.unsigned_abs()), "{encoding:?}");
        }
        let tenths = Float64Array::from_iter_values((0..7).map(|at| if at >= wrong { 0.1 } else { 0.5 }));
        graph(home.path(), "float", Encoding::Parquet, Arc::new(tenths));
        assert_eq!(row(home.path()), Some(wrong.unsigned_abs()));
        let mut found = Findings::keeping(3);
        opened(home.path(), &OpenOptions::default()).validate(&mut found).unwrap();
        let (_, kept) = found.by_rule().find(|(_, kept)| kept[0].rule.id == "GAR-VALUE-INEXACT").unwrap();
        assert_eq!(kept[0].place.row, Some(wrong.unsigned_abs()));
    }
}

#[test]
fn conditions_compare_what_is_shown_whatever_the_file_has() {
    let home = tempfile::tempdir().unwrap();
    let tenths = [0.1_f32, 0.5];
    let wide = Float64Array::from_iter_values(tenths.map(f64::from));
    let narrow = Float32Array::from_iter_values(tenths);
    let tenth = || Literal::Number("0.1".to_owned());
    let text = |text: &str| Literal::Text(text.to_owned());
    let numbers = || Arc::new(UInt64Array::from(vec![10, 9])) as ArrayRef;
    use Comparison::{Equal, Greater, Less};
    // The declared type, the column of the file, a condition, and the first value that passes it: none, that of row 0, of row 1.
    let cases: [(&str, ArrayRef, Comparison, Literal, Option<usize>); 7] = [
        ("float", Arc::new(wide.clone()), Equal, tenth(), Some(0)),
        ("float", Arc::new(wide), Greater, tenth(), Some(1)),
        ("double", Arc::new(narrow.clone()), Equal, tenth(), None),
        ("double", Arc::new(narrow), Greater, tenth(), Some(0)),
        ("uint64", numbers(), Greater, text("9"), None),
        ("uint64", numbers(), Equal, text("10"), Some(0)),
        ("uint64", numbers(), Less, text("5"), Some(0)),
    ];
    for encoding in [Encoding::Parquet, Encoding::Orc] {
        for (declared, column, comparison, literal, expected) in &cases {
            if encoding == Encoding::Orc && *declared == "uint64" {
                continue; // ORC has no unsigned integers.
            }
            graph(home.path(), declared, encoding, Arc::clone(column));
            let all = &read(home.path(), &OpenOptions::default()).unwrap()[0];
            let condition = Predicate::compare("q", *comparison, literal.clone());
            let first = passing(home.path(), &OpenOptions::default(), &condition).into_iter().next();
            assert_eq!(first, expected.map(|row| all.slice(row, 1)), "{encoding:?} {declared} {condition:?}");
        }
    }
}

#[test]
fn far_times_of_orc_are_filtered_in_the_unit_that_is_read() {
    let home = tempfile::tempdir().unwrap();
    // The year 9999 is outside the range of nanoseconds.
    let far = TimestampSecondArray::from(vec![Some(253_370_764_800), Some(0), None]);
    graph(home.path(), "timestamp", Encoding::Orc, Arc::new(far));
    let conditions = [
        (Predicate::IsNull("q".to_owned()), 1),
        (Predicate::compare("q", Comparison::Greater, isomorph_model::Literal::Timestamp(1_000_000_000)), 1),
    ];
    for unit in [None, Some(TimeUnit::Second), Some(TimeUnit::Microsecond)] {
        for (condition, rows) in &conditions {
            let options = OpenOptions { timestamps: unit, ..OpenOptions::default() };
            assert_eq!(passing(home.path(), &options, condition).len(), *rows, "{unit:?} {condition:?}");
        }
    }
}
