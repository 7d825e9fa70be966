//! Further columns of NOCK, of any type, in formats with fewer types.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::sync::Arc;

use arrow_array::types::Int64Type;
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Decimal128Array, Float32Array, Int8Array, Int32Array, Int64Array, ListArray,
    MapArray, RecordBatch, StringArray, StructArray, TimestampMicrosecondArray, UInt64Array,
};
use arrow_schema::{DataType, Field};
use isomorph_convert::{ConvertOptions, OpenOptions, Opened, Plan, SidecarUse, Silent, convert, diff, digest, dump};
use isomorph_dataset::Selection;
use isomorph_error::{Error, Findings};
use isomorph_model::Source;
use isomorph_model::{Comparison, Literal, Predicate};
use isomorph_storage::{Location, Resources};
use isomorph_tables::{Encoding, TableWriter, WriteOptions};

/// A NOCK file of two nodes with a further column `x`.
fn file(path: &Path, x: ArrayRef) {
    let text = |one: &str, other: &str| Arc::new(StringArray::from(vec![one, other])) as ArrayRef;
    let numbers = || Arc::new(Int32Array::from(vec![-1, -1])) as ArrayRef;
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("src_name", text("ann", "bob"), false),
        ("edge_id", numbers(), true),
        ("rel_name", text("", ""), true),
        ("dst_name", text("", ""), true),
        ("truth", Arc::new(Float32Array::from(vec![1.0, 1.0])) as ArrayRef, true),
        ("shadow", numbers(), true),
        ("is_rdf", Arc::new(BooleanArray::from(vec![false, false])) as ArrayRef, true),
        ("labels", text("", ""), true),
        ("props", text("", ""), true),
        ("x", x, true),
    ])
    .unwrap();
    let out = std::fs::File::create(path).unwrap();
    let mut writer = TableWriter::create(out, Encoding::Parquet, batch.schema_ref(), &WriteOptions::default()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
}

fn opened(path: &Path) -> Opened {
    Opened::open(&Location::from_path(path), &OpenOptions::default()).unwrap()
}

fn converted(from: &Path, to: &Path, options: &ConvertOptions) -> Result<Vec<String>, Error> {
    let (opened, to) = (opened(from), Location::from_path(to));
    let resources = Resources::of_this_machine().unwrap();
    let plan = Plan::new(&opened, &to, options, &resources, &Silent)?;
    convert(&opened, &plan, &to, options, &resources, &Silent).map(|certificate| certificate.lost)
}

/// Columns of many types, with and without nulls.
fn columns() -> Vec<ArrayRef> {
    let strukt = StructArray::from(vec![(
        Arc::new(Field::new("q", DataType::Int64, true)),
        Arc::new(Int64Array::from(vec![1, 2])) as ArrayRef,
    )]);
    vec![
        Arc::new(BinaryArray::from_opt_vec(vec![Some(b"\xff\xfe"), None])),
        Arc::new(StringArray::from(vec![None, Some("")])),
        Arc::new(StringArray::from(vec!["null", "NA"])),
        Arc::new(Int64Array::from(vec![None, Some(5)])),
        Arc::new(Int8Array::from(vec![1, -1])),
        Arc::new(UInt64Array::from(vec![u64::MAX, 0])),
        Arc::new(Decimal128Array::from(vec![Some(125), None]).with_precision_and_scale(10, 2).unwrap()),
        Arc::new(TimestampMicrosecondArray::from(vec![Some(1), None]).with_timezone("UTC")),
        Arc::new(TimestampMicrosecondArray::from(vec![Some(-1), None])),
        Arc::new(strukt),
        Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(1), None]), None])),
    ]
}

#[test]
fn columns_of_any_type_are_written_as_the_nearest() {
    for (at, column) in columns().into_iter().enumerate() {
        let home = tempfile::tempdir().unwrap();
        let from = home.path().join("in.parq");
        file(&from, column);
        let digests = |path: &Path| {
            let resources = Resources::of_this_machine().unwrap();
            digest(opened(path).graph.as_ref(), &resources, &Silent).unwrap().digests
        };
        let before = digests(&from);
        for name in ["out.csv", "out.graphar", "out.annnet", "out.deepgnn"] {
            let to = home.path().join(name);
            converted(&from, &to, &ConvertOptions::default()).unwrap_or_else(|error| panic!("{at} {name}: {error}"));
            assert_eq!(digests(&to), before, "{at} {name}");
        }
    }
}

#[test]
fn a_text_stays_a_text_whatever_is_lost() {
    let home = tempfile::tempdir().unwrap();
    for (at, column) in columns().into_iter().enumerate() {
        let (from, to) = (home.path().join(format!("{at}.parq")), home.path().join(format!("{at}.csv")));
        file(&from, column);
        let lossy = ConvertOptions { lossy: true, ..ConvertOptions::default() };
        assert!(!converted(&from, &to, &lossy).unwrap().is_empty(), "{at}");
        let text = String::from_utf8(std::fs::read(&to).unwrap()).unwrap();
        let nulls = text.lines().filter(|line| line.ends_with(",null")).count();
        assert!(nulls <= 1 && !text.contains(",\"\"null"), "{text}");
        assert!(opened(&to).native.validate(&mut Findings::keeping(1)).is_ok());
    }
}

#[test]
fn numbers_of_edges_that_are_kept_come_back_beside_columns_of_other_types() {
    let home = tempfile::tempdir().unwrap();
    let mut keep = OpenOptions::default();
    keep.get_mut::<isomorph_nock::OpenOptions>().keep_edge_id = true;
    let resources = Resources::of_this_machine().unwrap();
    for (at, column) in columns().into_iter().enumerate() {
        let (from, to) = (home.path().join(format!("{at}.parq")), home.path().join(format!("{at}.csv")));
        file(&from, column);
        let from = Opened::open(&Location::from_path(&from), &keep).unwrap();
        let (place, options) = (Location::from_path(&to), ConvertOptions::default());
        let plan = Plan::new(&from, &place, &options, &resources, &Silent).unwrap();
        convert(&from, &plan, &place, &options, &resources, &Silent).unwrap();
        let digests = |opened: &Opened| digest(opened.graph.as_ref(), &resources, &Silent).unwrap().digests;
        let again = opened(&to);
        assert_eq!(digests(&again), digests(&from), "{at}");
        assert!(again.graph.graph().edges[0].properties.iter().any(|property| property.name == "edge_id"), "{at}");
    }
}

#[test]
fn what_a_member_is_called_does_not_depend_on_other_rows() {
    let home = tempfile::tempdir().unwrap();
    let resources = Resources::of_this_machine().unwrap();
    let row = |name: &str, truth: f64, shadow: i32, props: &str| {
        format!("\"{name}\",-1,\"\",\"\",{truth:?},{shadow},False,\"\",\"{}\"\n", props.replace('"', "\"\""))
    };
    let header = "src_name,edge_id,rel_name,dst_name,truth,shadow,is_rdf,labels,props\n";
    let a = row("a", 1.0, -1, r#"{"shadow":"dark","truth":"said","x":1}"#);
    let texts = [format!("{header}{a}"), format!("{header}{a}{}{}", row("z", 1.0, 3, ""), row("y", 0.5, -1, ""))];
    let opened = texts.iter().enumerate().map(|(at, text)| {
        let path = home.path().join(format!("{at}.csv"));
        std::fs::write(&path, text).unwrap();
        (opened(&path), home.path().join(format!("{at}")))
    });
    let opened: Vec<_> = opened.collect();
    let diff = diff(opened[0].0.graph.as_ref(), opened[1].0.graph.as_ref(), 10, &resources, &Silent).unwrap();
    let keys: Vec<&str> = diff.elements.iter().map(|element| element.identity.as_str()).collect();
    assert_eq!(keys, ["\"y\"", "\"z\""], "{:?}", diff.elements);
    assert!(!diff.equal && !diff.schema_equal);
    for (opened, to) in &opened {
        let mut out = Vec::new();
        dump(opened.graph.as_ref(), &mut out, &resources, &Silent).unwrap();
        let lines = String::from_utf8(out).unwrap();
        assert!(lines.contains(r#""bag":{"shadow":"dark","truth":"said"}"#), "{lines}");
        let columns = opened.in_columns(&resources, &Silent).unwrap();
        let names = |graph: &isomorph_model::Graph| {
            graph.nodes[0].properties.iter().map(|property| property.name.clone()).collect::<Vec<_>>()
        };
        let own = names(columns.graph());
        for name in ["bag.shadow", "bag.truth", "x"] {
            assert!(own.iter().any(|own| own == name), "{own:?}");
        }
        let options = ConvertOptions { to: Some(isomorph_convert::Format::GRAPHAR), ..ConvertOptions::default() };
        let place = Location::from_path(to);
        let plan = Plan::new(opened, &place, &options, &resources, &Silent).unwrap();
        convert(opened, &plan, &place, &options, &resources, &Silent).unwrap();
        let ignore = OpenOptions { sidecar: SidecarUse::Ignore, ..OpenOptions::default() };
        let given = names(Opened::open(&place, &ignore).unwrap().graph.graph());
        for name in ["shadow_2", "truth_2", "x"] {
            assert!(given.iter().any(|given| given == name), "{given:?}");
        }
    }
}

#[test]
fn null_and_empty_text_are_told_apart_without_a_sidecar() {
    let home = tempfile::tempdir().unwrap();
    let (from, to) = (home.path().join("in.parq"), home.path().join("out.csv"));
    file(&from, Arc::new(StringArray::from(vec![None, Some("")])));
    let unverified = ConvertOptions { no_verify: true, ..ConvertOptions::default() };
    converted(&from, &to, &unverified).unwrap();
    let ignore = OpenOptions { sidecar: SidecarUse::Ignore, ..OpenOptions::default() };
    let again = Opened::open(&Location::from_path(&to), &ignore).unwrap();
    let content = |opened: &Opened| {
        let resources = Resources::of_this_machine().unwrap();
        digest(opened.graph.as_ref(), &resources, &Silent).unwrap().digests.content
    };
    assert_eq!(content(&again), content(&opened(&from)));
}

#[test]
fn a_column_of_maps_is_found_and_named() {
    let home = tempfile::tempdir().unwrap();
    let from = home.path().join("in.parq");
    let maps =
        MapArray::new_from_strings(["k", "l"].into_iter(), &StringArray::from(vec!["v", "w"]), &[0, 1, 2]).unwrap();
    file(&from, Arc::new(maps));
    let mut found = Findings::keeping(2);
    let location = Location::from_path(&from);
    let nock = isomorph_nock::Nock::open(&location, &isomorph_nock::OpenOptions::default()).unwrap();
    nock.validate(&mut found).unwrap();
    assert_eq!(found.count(&isomorph_nock::rules::FILE_COLUMN_TYPE), 1);
    let error = Opened::open(&location, &OpenOptions::default()).map(|_| ()).unwrap_err();
    assert_eq!(error.place().field.as_deref(), Some("x"), "{error}");
    assert!(error.place().file.as_ref().is_some_and(|file| file.ends_with("in.parq")), "{error}");
}

#[test]
fn columns_that_stand_for_other_values_are_compared_as_these() {
    let home = tempfile::tempdir().unwrap();
    let options = ConvertOptions { to: Some(isomorph_convert::Format::GRAPHAR), ..ConvertOptions::default() };
    let decimals = Decimal128Array::from(vec![Some(900), Some(1000)]).with_precision_and_scale(6, 2).unwrap();
    let columns: [(&str, ArrayRef, Literal); 4] = [
        // Stored as -1.
        ("unsigned", Arc::new(UInt64Array::from(vec![9, u64::MAX])), Literal::Int(10)),
        // As texts, 9.00 sorts after 10.00.
        ("decimals", Arc::new(decimals), Literal::Number("9.5".to_owned())),
        ("small", Arc::new(Int8Array::from(vec![9, 11])), Literal::Int(10)),
        ("texts", Arc::new(StringArray::from(vec!["10", "9"])), Literal::Text("10".to_owned())),
    ];
    for (name, column, literal) in columns {
        let (from, to) = (home.path().join(format!("{name}.parq")), home.path().join(name));
        file(&from, column);
        converted(&from, &to, &options).unwrap();
        let found = |at: &Path, filter: Predicate, sidecar| {
            let open = OpenOptions { sidecar, ..OpenOptions::default() };
            let opened = Opened::open(&Location::from_path(at), &open).unwrap();
            let selection = Selection { conditions: vec![("node".to_owned(), filter)], ..Selection::default() };
            let resources = Resources::of_this_machine().unwrap();
            let selecting = opened.select(&selection, false, &resources, &Silent);
            let opened = selecting.unwrap_or_else(|error| panic!("{name}: {error:?}")).opened;
            let mut out = Vec::new();
            dump(opened.graph.as_ref(), &mut out, &resources, &Silent).unwrap();
            String::from_utf8(out).unwrap()
        };
        let above = || Predicate::compare("x", Comparison::Greater, literal.clone());
        for at in [&from, &to] {
            let some = found(at, above(), SidecarUse::Auto);
            assert!(some.contains("bob") && !some.contains("ann"), "{name}: {some}");
            assert!(found(at, Predicate::IsNull("x".to_owned()), SidecarUse::Auto).is_empty(), "{name}");
        }
        found(&to, Predicate::IsNotNull("x".to_owned()), SidecarUse::Ignore);
    }
}
