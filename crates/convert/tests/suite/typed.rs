//! Graphs whose formats declare no types, as tables with types: compared with what is stored, row by row, and with what a conversion to GraphAr writes.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int32Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field};
use isomorph_convert::{
    ConvertOptions, Format, NodeTypes, OpenOptions, Opened, Plan, Progress, SidecarUse, Silent, TypedOptions,
    TypesFrom, Typing, convert,
};
use isomorph_dataset::{Dataset, KIND, TableKind};
use isomorph_error::{Error, Kind, Result};
use isomorph_model::NodeId;
use isomorph_storage::{Location, Resources};
use serde_json::{Map, Value, json};

type Row = BTreeMap<String, Value>;

fn resources() -> Resources {
    Resources::of_this_machine().unwrap()
}

fn opened(at: &Path, sidecar: SidecarUse) -> Opened {
    Opened::open(&Location::from_path(at), &OpenOptions { sidecar, ..OpenOptions::default() }).unwrap()
}

fn typed_as(at: &Path, options: &TypedOptions) -> Result<Dataset> {
    let source = opened(at, SidecarUse::Auto).typed(options, &resources(), &Silent)?;
    Ok(Dataset::new(source, resources()))
}

fn typed(at: &Path) -> Dataset {
    typed_as(at, &TypedOptions::default()).unwrap()
}

fn stored(at: &Path) -> Dataset {
    Dataset::new(opened(at, SidecarUse::Auto).graph, resources())
}

fn converted(from: &Path, to: &Path, options: &ConvertOptions) {
    let (opened, to) = (opened(from, SidecarUse::Auto), Location::from_path(to));
    let plan = Plan::new(&opened, &to, options, &resources(), &Silent).unwrap();
    convert(&opened, &plan, &to, options, &resources(), &Silent).unwrap();
}

/// A cell as JSON.
fn cell(field: &Field, column: &ArrayRef, row: usize) -> Value {
    if column.is_null(row) {
        return Value::Null;
    }
    let is_json = field.metadata().get(KIND).is_some_and(|kind| kind == "json" || kind == "bag");
    match column.data_type() {
        DataType::Utf8 if is_json => serde_json::from_str(column.as_string::<i32>().value(row)).unwrap(),
        DataType::Utf8 => column.as_string::<i32>().value(row).into(),
        DataType::Boolean => column.as_boolean().value(row).into(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into(),
        DataType::Int32 => column.as_primitive::<Int32Type>().value(row).into(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).into(),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).into(),
        DataType::Float32 => column.as_primitive::<Float32Type>().value(row).into(),
        DataType::List(item) => {
            let items = column.as_list::<i32>().value(row);
            (0..items.len()).map(|at| cell(item, &items, at)).collect()
        }
        DataType::Dictionary(_, _) => cell(field, &arrow_cast::cast(column, &DataType::Utf8).unwrap(), row),
        _ => format!("{:?}", column.slice(row, 1)).into(),
    }
}

/// The rows of a table without their nulls; labels are sorted, and no labels are absent.
fn rows(dataset: &Dataset, table: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for batch in dataset.scan(table).unwrap().batches().unwrap() {
        let batch = batch.unwrap();
        let schema = batch.schema();
        for row in 0..batch.num_rows() {
            let cells = schema.fields().iter().zip(batch.columns());
            let mut cells: Row =
                cells.map(|(field, column)| (field.name().clone(), cell(field, column, row))).collect();
            if let Some(Value::Array(labels)) = cells.get_mut("labels") {
                labels.sort_by_key(Value::to_string);
            }
            cells.retain(|_, cell| !cell.is_null() && *cell != json!([]));
            rows.push(cells);
        }
    }
    rows
}

fn sorted(mut rows: Vec<Row>) -> Vec<String> {
    rows.iter_mut().for_each(|row| row.retain(|name, _| !["is_rdf", "truth", "row"].contains(&name.as_str())));
    let mut rows: Vec<String> = rows.into_iter().map(|row| format!("{row:?}")).collect();
    rows.sort();
    rows
}

/// All tables by name, with their rows in an order of their own.
fn tables(dataset: &Dataset) -> BTreeMap<String, Vec<String>> {
    dataset.tables().iter().map(|table| (table.name().to_owned(), sorted(rows(dataset, table.name())))).collect()
}

const HEAD: &str = "src_name,edge_id,rel_name,dst_name,truth,shadow,is_rdf,labels,props\n";

/// Nodes with labels and properties of many types, and edges between them.
fn nock() -> String {
    let mut state = 3u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let quoted = |text: &str| text.replace('"', "\"\"");
    let mut text = HEAD.to_owned();
    let mut edge = 0;
    for node in 0..200 {
        let labels = ["", "City", "Person", "Person,Admin", "Zoo,City", "Admin"][random(6) as usize];
        let mut props = Map::new();
        let mut with = |name: &str, value: Value| {
            props.insert(name.to_owned(), value);
        };
        for member in 0..8 {
            match (random(3) > 0).then_some(member) {
                Some(0) => with("age", json!(random(90))),
                Some(1) => with("size", json!(random(90) as f64 + 0.5)),
                Some(2) => with("name", json!(format!("n{}", random(20)))),
                Some(3) => with("is new", json!(random(2) == 0)),
                Some(4) => with("mixed", if random(2) == 0 { json!(random(9)) } else { json!("text") }),
                Some(5) => with("half", if random(2) == 0 { json!(random(9)) } else { json!(0.5) }),
                Some(6) => with("tags", json!([random(9), random(9)])),
                Some(_) => with("deep", json!({"a": [1, "b"]})),
                None => {}
            }
        }
        let shown = if props.is_empty() { String::new() } else { Value::Object(props).to_string() };
        text += &format!("\"k{node:03}\",-1,\"\",\"\",1.0,-1,False,\"{labels}\",\"{}\"\n", quoted(&shown));
        for _ in 0..random(4) {
            let relation = ["KNOWS", "LIKES", "IN"][random(3) as usize];
            let target = (node + 1 + random(199)) % 200;
            let props = match random(3) {
                0 => String::new(),
                1 => quoted(&json!({"since": random(30)}).to_string()),
                _ => quoted(&json!({"since": random(30), "why": "so"}).to_string()),
            };
            text += &format!("\"k{node:03}\",{edge},\"{relation}\",\"k{target:03}\",1.0,-1,False,\"\",\"{props}\"\n");
            edge += 1;
        }
    }
    text
}

/// What the stored tables are as tables by the first label of nodes and by relation.
fn by_hand(stored: &Dataset) -> BTreeMap<String, Vec<String>> {
    let mut tables: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    let mut types: BTreeMap<String, String> = BTreeMap::new();
    let members = |row: &Row| match row.get("properties") {
        Some(Value::Object(members)) => members.clone(),
        _ => Map::new(),
    };
    for row in rows(stored, "node") {
        let labels = row.get("labels").cloned().unwrap_or(json!([]));
        let mut labels: Vec<String> = serde_json::from_value(labels).unwrap();
        labels.sort();
        let ty = if labels.is_empty() { "node".to_owned() } else { labels.remove(0) };
        types.insert(row["src_name"].as_str().unwrap().to_owned(), ty.clone());
        let mut typed: Row = members(&row).into_iter().collect();
        typed.insert("src_name".to_owned(), row["src_name"].clone());
        if !labels.is_empty() {
            typed.insert("labels".to_owned(), json!(labels));
        }
        tables.entry(ty).or_default().push(typed);
    }
    for row in rows(stored, "node_to_node") {
        let ends = ["source", "target"].map(|end| types[row[end].as_str().unwrap()].clone());
        let mut typed: Row = members(&row).into_iter().collect();
        typed.extend(["source", "target"].map(|end| (end.to_owned(), row[end].clone())));
        tables.entry(format!("{}_{}_{}", ends[0], row["relation"].as_str().unwrap(), ends[1])).or_default().push(typed);
    }
    tables.into_iter().map(|(name, rows)| (name, sorted(rows))).collect()
}

#[test]
fn nock_has_a_table_for_each_label_and_relation() {
    let home = tempfile::tempdir().unwrap();
    let csv = home.path().join("n.csv");
    std::fs::write(&csv, nock()).unwrap();
    converted(&csv, &home.path().join("n.parq"), &ConvertOptions::default());
    for name in ["n.csv", "n.parq"] {
        let at = home.path().join(name);
        let (typed, expected) = (typed(&at), by_hand(&stored(&at)));
        assert_eq!(tables(&typed), expected, "{name}");
        assert!(expected.len() > 30, "{:?}", expected.keys());
        for table in typed.tables() {
            assert_eq!(table.rows(), Some(expected[table.name()].len() as u64), "{name}: {}", table.name());
        }
        let person = typed.table("Person").unwrap().schema();
        let types =
            ["age", "size", "name", "is new", "mixed", "half"].map(|column| person.field_with_name(column).unwrap());
        let data_types = types.map(|field| field.data_type().clone());
        use DataType::{Boolean, Float64, Int64, Utf8};
        assert_eq!(data_types, [Int64, Float64, Utf8, Boolean, Utf8, Utf8], "{name}");
        let kinds = types.map(|field| field.metadata().contains_key(KIND));
        assert_eq!(kinds, [false, false, false, false, true, true], "{name}");
    }
}

#[test]
fn a_conversion_to_graphar_writes_the_same_tables() {
    let home = tempfile::tempdir().unwrap();
    let (from, to) = (home.path().join("n.csv"), home.path().join("g"));
    // Names that GraphAr changes have other columns there.
    std::fs::write(&from, nock().replace("is new", "is_new")).unwrap();
    let node_types = Some(NodeTypes::of(TypesFrom::Label));
    converted(&from, &to, &ConvertOptions { to: Some(Format::GRAPHAR), node_types, ..ConvertOptions::default() });
    let (typed, written) = (typed(&from), Dataset::new(opened(&to, SidecarUse::Ignore).graph, resources()));
    let names = |dataset: &Dataset| -> BTreeSet<String> {
        dataset.tables().iter().map(|table| table.name().to_owned()).collect()
    };
    assert_eq!(names(&typed), names(&written));
    for table in typed.tables() {
        let own = rows(&typed, table.name());
        let mut others = rows(&written, table.name());
        for row in &mut others {
            if let Some(key) = row.remove("id") {
                row.insert("src_name".to_owned(), key);
            }
            // Files of GraphAr do not say that a text is JSON.
            for field in table.schema().fields().iter().filter(|field| field.metadata().contains_key(KIND)) {
                if let Some(Value::String(text)) = row.get(field.name()) {
                    let value = serde_json::from_str(text).unwrap();
                    row.insert(field.name().clone(), value);
                }
            }
        }
        assert_eq!(sorted(own), sorted(others), "{}", table.name());
    }
}

#[test]
fn neighbors_are_those_of_the_tables() {
    let home = tempfile::tempdir().unwrap();
    let (csv, text) = (home.path().join("n.csv"), home.path().join("p.ttl"));
    std::fs::write(&csv, nock()).unwrap();
    std::fs::write(&text, TURTLE).unwrap();
    converted(&text, &home.path().join("p.lake"), &ConvertOptions::default());
    // Texts of RDF have no look-ups.
    for at in [csv, home.path().join("p.lake")] {
        let typed = typed(&at);
        let mut near: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
        let graph = typed.source().graph();
        for table in typed.tables() {
            let TableKind::Edges(ty) = table.kind() else { continue };
            let (source, _, target) = graph.edge_name(&graph.edges[ty]);
            for row in rows(&typed, table.name()) {
                let [from, to] = ["source", "target"].map(|end| row[end].as_str().unwrap().to_owned());
                near.entry((source.clone(), from.clone())).or_default().push(to.clone());
                near.entry((target.clone(), to)).or_default().push(from);
            }
        }
        let (mut looked_up, mut missing) = (0, 0);
        for table in typed.tables().iter().filter(|table| matches!(table.kind(), TableKind::Nodes(_))) {
            let key = table.schema().field(table.column("@key").unwrap()).name().clone();
            for row in rows(&typed, table.name()) {
                let key = row[&key].as_str().unwrap();
                let mut found: Vec<String> = Vec::new();
                for batch in typed.neighbors(Some(table.name()), NodeId::Key(key)).unwrap().batches() {
                    let batch = batch.unwrap().to_record_batch().unwrap();
                    let column = arrow_cast::cast(batch.column(0), &DataType::Utf8).unwrap();
                    found.extend(column.as_string::<i32>().iter().map(|key| key.unwrap().to_owned()));
                }
                let mut expected = near.get(&(table.name().to_owned(), key.to_owned())).cloned().unwrap_or_default();
                found.sort();
                expected.sort();
                assert_eq!(found, expected, "{}: {key} of {}", at.display(), table.name());
                looked_up += found.len();
                for other in graph.nodes.iter().filter(|ty| ty.name != table.name()).take(2) {
                    let batches = typed.neighbors(Some(&other.name), NodeId::Key(key)).unwrap().batches();
                    let error = batches.collect::<Result<Vec<_>>>().map(|_| ()).unwrap_err();
                    assert_eq!(error.kind(), Kind::NotFound, "{}: {key} of {}: {error}", at.display(), other.name);
                    missing += 1;
                }
            }
        }
        assert!(looked_up > 5 && missing > 3, "{}: {looked_up} {missing}", at.display());
    }
}

const TURTLE: &str = r#"
@prefix : <http://e/> .
:ann a :Person ; :name "Ann" ; :age 5 ; :knows :bob , :cid .
:bob a :Person , :Admin ; :name "Bob"@en ; :age 7 ; :knows :ann .
:cid a :Person ; :name "Cid" , "Sid" .
:rome a :City ; :name "Roma" .
:ann :in :rome .
:x :note "lone" .
"#;

#[test]
fn rdf_has_a_table_for_each_class_and_predicate() {
    let home = tempfile::tempdir().unwrap();
    let (text, lake) = (home.path().join("p.ttl"), home.path().join("p.lake"));
    std::fs::write(&text, TURTLE).unwrap();
    converted(&text, &lake, &ConvertOptions::default());
    let found = tables(&typed(&text));
    let names: Vec<&str> = found.keys().map(String::as_str).collect();
    let expected = [
        "http://e/Admin",
        "http://e/Admin_http://e/knows_http://e/Person",
        "http://e/City",
        "http://e/Person",
        "http://e/Person_http://e/in_http://e/City",
        "http://e/Person_http://e/knows_http://e/Admin",
        "http://e/Person_http://e/knows_http://e/Person",
        "resource",
    ];
    assert_eq!(names, expected);
    let counts: Vec<usize> = found.values().map(Vec::len).collect();
    assert_eq!(counts, [1, 1, 1, 2, 1, 1, 1, 1]);
    let people = rows(&typed(&text), "http://e/Person");
    let ann = people.iter().find(|row| row["term"] == "http://e/ann").unwrap();
    assert_eq!((&ann["http://e/name"], &ann["http://e/age"]), (&json!("Ann"), &json!(5)));
    let cid = people.iter().find(|row| row["term"] == "http://e/cid").unwrap();
    assert_eq!(cid["http://e/name"].as_array().unwrap().len(), 2);
    assert_eq!(tables(&typed(&lake)), found);
    // Stored, literals are in tables of their own.
    assert!(stored(&text).tables().iter().any(|table| matches!(table.kind(), TableKind::Values(_))));
}

#[test]
fn a_text_of_deepgnn_has_a_table_for_each_relation() {
    let text = isomorph_fixtures::fixture("deepgnn/hetero");
    let mut compared = 0;
    for entry in std::fs::read_dir(text).unwrap() {
        let at = entry.unwrap().path();
        let Ok(opened) = Opened::open(&Location::from_path(&at), &OpenOptions::default()) else { continue };
        let stored = Dataset::new(Arc::clone(&opened.graph), resources());
        let typed = opened.typed(&TypedOptions::default(), &resources(), &Silent).unwrap();
        let typed = Dataset::new(typed, resources());
        let edges = |dataset: &Dataset, split: bool| -> Vec<String> {
            let tables = dataset.tables().iter().filter(|table| matches!(table.kind(), TableKind::Edges(_)));
            let mut all = Vec::new();
            for table in tables {
                let TableKind::Edges(ty) = table.kind() else { continue };
                for mut row in rows(dataset, table.name()) {
                    if split {
                        let relation = dataset.source().graph().edges[ty].relation.fixed().unwrap();
                        row.insert("relation".to_owned(), relation.into());
                    }
                    all.push(row);
                }
            }
            sorted(all)
        };
        assert_eq!(edges(&typed, true), edges(&stored, false), "{}", at.display());
        compared += usize::from(typed.tables().len() > stored.tables().len());
    }
    assert!(compared > 0);
}

/// Which stages were announced; says no in the one that is named.
#[derive(Default)]
struct Stages {
    begun: Mutex<Vec<String>>,
    refuse: Option<&'static str>,
}

impl Progress for Stages {
    fn begin(&self, stage: &str, _total: Option<u64>) {
        self.begun.lock().unwrap().push(stage.to_owned());
    }

    fn advance(&self, _rows: u64) -> Result<()> {
        let is_refused = self.begun.lock().unwrap().last().map(String::as_str) == self.refuse;
        if is_refused { Err(Error::new(Kind::Cancelled, "stop")) } else { Ok(()) }
    }

    fn end(&self) {}
}

#[test]
fn a_survey_is_announced_limited_and_can_be_cancelled() {
    let home = tempfile::tempdir().unwrap();
    let (csv, text) = (home.path().join("n.csv"), home.path().join("p.ttl"));
    let nock = nock();
    std::fs::write(&csv, &nock).unwrap();
    std::fs::write(&text, TURTLE).unwrap();
    for (at, stages) in
        [(&csv, ["survey", "types", "ends"].as_slice()), (&text, &["resources", "survey", "types", "ends"])]
    {
        let survey =
            |progress: &Stages| opened(at, SidecarUse::Auto).typed(&TypedOptions::default(), &resources(), progress);
        let progress = Stages::default();
        survey(&progress).unwrap();
        let begun: BTreeSet<String> = progress.begun.into_inner().unwrap().into_iter().collect();
        for stage in stages {
            assert!(begun.contains(*stage), "{stage}: {begun:?}");
            let refusing = Stages { refuse: Some(stage), ..Stages::default() };
            assert_eq!(survey(&refusing).map(|_| ()).unwrap_err().kind(), Kind::Cancelled, "{stage}");
        }
    }
    let lines = nock.lines().count() as u64 - 1;
    let limited = |most_rows| typed_as(&csv, &TypedOptions { most_rows: Some(most_rows), ..TypedOptions::default() });
    let error = limited(lines - 1).unwrap_err();
    assert_eq!(error.kind(), Kind::TooLarge, "{error}");
    assert!(error.hints().next().is_some(), "{error:?}");
    assert!(limited(lines).is_ok());
}

#[test]
fn more_labels_and_relations_than_types_stay_columns() {
    let home = tempfile::tempdir().unwrap();
    let at = home.path().join("n.csv");
    std::fs::write(&at, nock()).unwrap();
    let few = TypedOptions { typing: Typing { columns: 1_000, labels: 2, relations: 2 }, most_rows: None };
    let (typed, stored) = (typed_as(&at, &few).unwrap(), stored(&at));
    let names: Vec<&str> = typed.tables().iter().map(|table| table.name()).collect();
    assert_eq!(names, ["node", "node_edge_node"]);
    let (own, all) = (rows(&typed, "node"), rows(&stored, "node"));
    assert_eq!(own.len(), all.len());
    for (own, all) in own.iter().zip(&all) {
        assert_eq!((&own["src_name"], own.get("labels")), (&all["src_name"], all.get("labels")));
    }
    let relations = |dataset: &Dataset, table: &str, column: &str| {
        let all = rows(dataset, table).into_iter().map(|row| row[column].as_str().unwrap().to_owned());
        all.collect::<Vec<String>>()
    };
    assert_eq!(relations(&typed, "node_edge_node", "predicate"), relations(&stored, "node_to_node", "relation"));
}

#[test]
fn graphs_with_declared_types_are_what_they_are() {
    let social = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/social");
    let opened = opened(&social, SidecarUse::Auto);
    let typed = opened.typed(&TypedOptions { most_rows: Some(0), ..TypedOptions::default() }, &resources(), &Silent);
    assert!(Arc::ptr_eq(&typed.unwrap(), &opened.graph));
}
