//! Files of other tools, compared with what NetworkX reads from them (`fixtures/inout`).
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use isomorph_convert::{Format, OpenOptions, Opened};
use isomorph_fixtures::fixture;
use isomorph_model::{Batch, Direction, Ends, Graph, MemoryGraph, Property, ValueKind};
use isomorph_storage::Location;
use serde_json::{Value, json};

/// The fixtures of a folder that have an expectation.
fn fixtures(folder: &str) -> Vec<(PathBuf, Value)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(fixture(format!("inout/{folder}"))).unwrap() {
        let path = entry.unwrap().path();
        let expected = PathBuf::from(format!("{}.expected.json", path.display()));
        if expected.exists() {
            // Python writes NaN although JSON has none.
            let text = std::fs::read_to_string(expected).unwrap().replace(": NaN", ": \"NaN\"");
            all.push((path, serde_json::from_str(&text).unwrap()));
        }
    }
    all.sort_by(|left, right| left.0.cmp(&right.0));
    all
}

fn name_of(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

fn cell(property: &Property, column: &ArrayRef, row: usize) -> Option<Value> {
    if column.is_null(row) {
        return None;
    }
    Some(match column.data_type() {
        DataType::Boolean => json!(column.as_boolean().value(row)),
        DataType::Int32 => json!(column.as_primitive::<Int32Type>().value(row)),
        DataType::Int64 => json!(column.as_primitive::<Int64Type>().value(row)),
        DataType::Float32 => json!(column.as_primitive::<Float32Type>().value(row)),
        DataType::Float64 => match column.as_primitive::<Float64Type>().value(row) {
            value if value.is_nan() => json!("NaN"),
            value => json!(value),
        },
        DataType::Utf8 if property.kind == ValueKind::Json => {
            serde_json::from_str(column.as_string::<i32>().value(row)).unwrap()
        }
        DataType::Utf8 => json!(column.as_string::<i32>().value(row)),
        other => panic!("{other}"),
    })
}

fn key(column: &ArrayRef, row: usize) -> String {
    match column.as_primitive_opt::<Int64Type>() {
        Some(numbers) => numbers.value(row).to_string(),
        None => column.as_string::<i32>().value(row).to_owned(),
    }
}

fn attributes(properties: &[Property], columns: &[Option<ArrayRef>], row: usize) -> BTreeMap<String, Value> {
    let columns = properties.iter().zip(columns);
    columns.filter_map(|(own, column)| Some((own.name.clone(), cell(own, column.as_ref()?, row)?))).collect()
}

/// Nodes with attributes, edges with attributes, and whether these are directed.
#[derive(Debug, PartialEq)]
struct Plain {
    directed: bool,
    nodes: BTreeMap<String, BTreeMap<String, Value>>,
    edges: Vec<(String, String, String)>,
}

impl Plain {
    fn sorted(mut self) -> Plain {
        if !self.directed {
            for (source, target, _) in &mut self.edges {
                if source > target {
                    std::mem::swap(source, target);
                }
            }
        }
        self.edges.sort();
        self
    }

    fn of(graph: &MemoryGraph) -> Plain {
        let Graph { nodes, edges, .. } = &graph.graph;
        let directed = edges[0].direction != Direction::Undirected;
        let mut plain = Plain { directed, nodes: BTreeMap::new(), edges: Vec::new() };
        for batch in &graph.batches {
            match batch {
                Batch::Nodes(batch) => {
                    for row in 0..batch.rows {
                        let own = attributes(&nodes[batch.ty].properties, &batch.properties, row);
                        let before = plain.nodes.insert(key(batch.keys.as_ref().unwrap(), row), own);
                        assert!(before.is_none(), "a node is there twice");
                    }
                }
                Batch::Edges(batch) => {
                    let (Ends::Keys(sources), Ends::Keys(targets)) = (&batch.source, &batch.target) else { panic!() };
                    for row in 0..batch.rows {
                        let own = attributes(&edges[batch.ty].properties, &batch.properties, row);
                        let own = serde_json::to_string(&own).unwrap();
                        plain.edges.push((key(sources, row), key(targets, row), own));
                    }
                }
                _ => panic!("neither nodes nor edges"),
            }
        }
        plain.sorted()
    }

    fn expected(value: &Value) -> Plain {
        let attributes = |value: &Value| -> BTreeMap<String, Value> { serde_json::from_value(value.clone()).unwrap() };
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let nodes = value["nodes"].as_array().unwrap().iter().map(|node| (text(&node[0]), attributes(&node[1])));
        let edges = value["edges"]
            .as_array()
            .unwrap()
            .iter()
            .map(|edge| (text(&edge[0]), text(&edge[1]), serde_json::to_string(&attributes(&edge[2])).unwrap()));
        let (nodes, edges) = (nodes.collect(), edges.collect());
        Plain { directed: value["directed"].as_bool().unwrap(), nodes, edges }.sorted()
    }
}

fn open(path: &Path, options: &OpenOptions) -> Opened {
    Opened::open(&Location::from_path(path), options).unwrap_or_else(|error| panic!("{}: {error:?}", path.display()))
}

fn read(opened: &Opened) -> MemoryGraph {
    MemoryGraph::read(opened.graph.as_ref()).unwrap_or_else(|error| panic!("{error:?}"))
}

#[test]
fn edge_lists_are_what_networkx_reads() {
    let mut seen = 0;
    for (path, expected) in fixtures("edges") {
        let name = name_of(&path);
        if !(name.ends_with(".edgelist") || name.starts_with("snap")) {
            continue;
        }
        let mut options = OpenOptions::default();
        // The lines do not state it, and NetworkX must be told as well.
        options.get_mut::<isomorph_edgelist::OpenOptions>().undirected = expected["directed"] == false;
        let opened = open(&path, &options);
        assert_eq!(opened.format, Format::EDGELIST, "{name}");
        assert_eq!(Plain::of(&read(&opened)), Plain::expected(&expected), "{name}");
        seen += 1;
    }
    assert_eq!(seen, 10);
}

#[test]
fn adjacency_lists_and_metis_are_what_networkx_reads() {
    let mut seen = 0;
    for (path, expected) in fixtures("edges") {
        let name = name_of(&path);
        let format = match name {
            _ if name.ends_with(".adjlist") => Format::ADJACENCY_LIST,
            _ if name.ends_with(".metis") => Format::METIS,
            _ => continue,
        };
        let mut options = OpenOptions::default();
        options.get_mut::<isomorph_edgelist::OpenOptions>().undirected = expected["directed"] == false;
        let opened = open(&path, &options);
        assert_eq!(opened.format, format, "{name}");
        assert_eq!(plain_by_key(&read(&opened)), Plain::expected(&expected), "{name}");
        seen += 1;
    }
    assert_eq!(seen, 3);
}

/// The same with keys instead of rows.
fn plain_by_key(graph: &MemoryGraph) -> Plain {
    let mut keys: Vec<String> = Vec::new();
    for batch in &graph.batches {
        if let Batch::Nodes(batch) = batch {
            keys.extend((0..batch.rows).map(|row| key(batch.keys.as_ref().unwrap(), row)));
        }
    }
    let mut graph = graph.clone();
    for batch in &mut graph.batches {
        let Batch::Edges(edges) = batch else { continue };
        for ends in [&mut edges.source, &mut edges.target] {
            if let Ends::Rows(rows) = ends {
                let named = rows.values().iter().map(|row| Some(keys[usize::try_from(*row).unwrap()].as_str()));
                let named: arrow_array::StringArray = named.collect();
                *ends = Ends::Keys(std::sync::Arc::new(named));
            }
        }
    }
    Plain::of(&graph)
}

/// The entries of a matrix, against a reader of two lines; and the edges of networks, which have nothing else.
#[test]
fn matrices_and_networks_are_their_lines() {
    let path = fixture("inout/edges/matrix.mtx");
    let opened = open(&path, &OpenOptions::default());
    assert_eq!(opened.format, Format::MATRIX_MARKET);
    let plain = plain_by_key(&read(&opened));
    let text = std::fs::read_to_string(&path).unwrap();
    let mut expected: Vec<(String, String, String)> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('%')).skip(1) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let weight = format!("{{\"weight\":{:?}}}", words[2].parse::<f64>().unwrap());
        expected.push((words[0].to_owned(), words[1].to_owned(), weight));
    }
    expected.sort();
    assert_eq!((plain.nodes.len(), plain.edges), (12, expected));
    for (name, directed, count) in [("di_multi", true, 30), ("un_simple", false, 23)] {
        let path = fixture(format!("inout/pajek/igraph_{name}.net"));
        let opened = open(&path, &OpenOptions::default());
        assert_eq!(opened.format, Format::PAJEK);
        let plain = plain_by_key(&read(&opened));
        assert_eq!((plain.directed, plain.nodes.len(), plain.edges.len()), (directed, 12, count), "{name}");
        assert!(plain.nodes.contains_key("v10 é"));
        let text = std::fs::read_to_string(&path).unwrap();
        let lines =
            text.lines().skip_while(|line| !line.starts_with(if directed { "*Arcs" } else { "*Edges" })).skip(1);
        let label = |word: &str| format!("v{} é", word.parse::<u32>().unwrap() - 1);
        let edges = lines.map(|line| {
            let (from, to) = line.split_once(' ').unwrap();
            (label(from), label(to), "{}".to_owned())
        });
        let expected = Plain { directed, nodes: plain.nodes.clone(), edges: edges.collect() }.sorted();
        assert_eq!(plain, expected);
    }
}

/// The graph of the fixtures, by its properties and by its directory.
#[test]
fn graphalytics_is_its_lines() {
    for name in ["inout/graphalytics/toy.properties", "inout/graphalytics"] {
        let opened = open(&fixture(name), &OpenOptions::default());
        assert_eq!(opened.format, Format::GRAPHALYTICS);
        let plain = plain_by_key(&read(&opened));
        let text = std::fs::read_to_string(fixture("inout/graphalytics/toy.e")).unwrap();
        let mut expected: Vec<(String, String, String)> = Vec::new();
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let weight = format!("{{\"weight\":{:?}}}", words[2].parse::<f64>().unwrap());
            expected.push((words[0].to_owned(), words[1].to_owned(), weight));
        }
        expected.sort();
        assert_eq!((plain.directed, plain.nodes.len(), plain.edges), (true, 12, expected));
    }
}

#[test]
fn what_a_third_column_is_has_to_be_said() {
    let path = fixture("inout/edges/temporal.txt");
    let opened = open(&path, &OpenOptions::default());
    let graph = read(&opened);
    assert_eq!(graph.graph.edges[0].properties[0].name, "value");
    let layout = opened.native.about().layout;
    assert!(
        layout
            .contains("value: third column, integers; set its name with --edge-columns weight or --edge-columns time"),
        "{layout}"
    );
    let mut options = OpenOptions::default();
    options.get_mut::<isomorph_edgelist::OpenOptions>().columns = vec!["time:int".parse().unwrap()];
    let told = read(&open(&path, &options));
    assert_eq!(told.graph.edges[0].properties[0].name, "time");
    let first = told.batches.iter().find_map(|batch| match batch {
        Batch::Edges(edges) => edges.properties[0].clone(),
        _ => None,
    });
    assert_eq!(first.unwrap().as_primitive::<Int64Type>().value(0), 1_082_040_961);
    let table = open(&fixture("inout/plain/edges.csv"), &OpenOptions::default());
    assert_eq!((table.format, table.graph.graph().edges[0].properties[0].name.as_str()), (Format::EDGELIST, "amount"));
}

/// igraph writes 15 digits: for its files, this many are compared.
fn rounded(plain: Plain) -> Plain {
    let round = |text: &str| -> String {
        let mut own: BTreeMap<String, Value> = serde_json::from_str(text).unwrap();
        for value in own.values_mut().filter(|value| value.is_f64()) {
            *value = json!(format!("{:.14e}", value.as_f64().unwrap()));
        }
        serde_json::to_string(&own).unwrap()
    };
    let node = |own: &BTreeMap<String, Value>| -> BTreeMap<String, Value> {
        serde_json::from_str(&round(&serde_json::to_string(own).unwrap())).unwrap()
    };
    let nodes = plain.nodes.iter().map(|(id, own)| (id.clone(), node(own))).collect();
    let edges = plain.edges.iter().map(|(from, to, own)| (from.clone(), to.clone(), round(own))).collect();
    Plain { directed: plain.directed, nodes, edges }.sorted()
}

#[test]
fn graphml_is_what_networkx_and_igraph_say() {
    let all = fixtures("graphml");
    assert_eq!(all.len(), 8);
    for (path, expected) in all {
        let name = name_of(&path);
        let opened = open(&path, &OpenOptions::default());
        assert_eq!(opened.format, Format::GRAPHML, "{name}");
        let mut found = read(&opened);
        // NetworkX treats the id of an edge as the number of a parallel edge, not as data.
        let ids = found.graph.edges[0].properties.iter().position(|own| own.declared.contains_key("graphml.attribute"));
        if let Some(at) = ids {
            found.graph.edges[0].properties.remove(at);
            for batch in &mut found.batches {
                if let Batch::Edges(edges) = batch {
                    edges.properties.remove(at);
                }
            }
        }
        assert_eq!(rounded(Plain::of(&found)), rounded(Plain::expected(&expected)), "{name}");
        let types = |name: &str| {
            let own = found.graph.nodes[0].properties.iter().find(|own| own.name == name);
            own.map(|own| own.data_type.clone())
        };
        if name.starts_with("nx") {
            let found = ["age", "score", "ok", "name"].map(|name| types(name).unwrap());
            assert_eq!(found, [DataType::Int64, DataType::Float64, DataType::Boolean, DataType::Utf8]);
        }
    }
}

/// Removes a property of edges.
fn without_edge_property(graph: &mut MemoryGraph, name: &str) {
    let Some(at) = graph.graph.edges[0].properties.iter().position(|own| own.name == name) else { return };
    graph.graph.edges[0].properties.remove(at);
    for batch in &mut graph.batches {
        if let Batch::Edges(edges) = batch {
            edges.properties.remove(at);
        }
    }
}

#[test]
fn node_link_json_is_what_networkx_says() {
    let mut seen = 0;
    for (path, expected) in fixtures("json") {
        let name = name_of(&path);
        if !name.starts_with("nodelink") {
            continue;
        }
        let opened = open(&path, &OpenOptions::default());
        assert_eq!(opened.format, Format::NODELINK, "{name}");
        let mut found = read(&opened);
        without_edge_property(&mut found, "key");
        assert_eq!(Plain::of(&found), Plain::expected(&expected), "{name}");
        seen += 1;
    }
    assert_eq!(seen, 8);
}

#[test]
fn gexf_is_what_networkx_says() {
    let all = fixtures("gexf");
    assert_eq!(all.len(), 2);
    for (path, expected) in all {
        let name = name_of(&path);
        let opened = open(&path, &OpenOptions::default());
        assert_eq!(opened.format, Format::GEXF, "{name}");
        assert_eq!(Plain::of(&read(&opened)), Plain::expected(&expected), "{name}");
    }
}

#[test]
fn gml_is_what_networkx_says() {
    let all = fixtures("gml");
    assert_eq!(all.len(), 4);
    for (path, expected) in all {
        let name = name_of(&path);
        let opened = open(&path, &OpenOptions::default());
        assert_eq!(opened.format, Format::GML, "{name}");
        let mut found = read(&opened);
        without_edge_property(&mut found, "key");
        assert_eq!(Plain::of(&found), Plain::expected(&expected), "{name}");
    }
}

/// A typed graph as an edge list with `--lossy`: the output is what the plan keeps.
#[test]
fn an_edge_list_loses_what_the_plan_says() {
    use isomorph_convert::{ConvertOptions, Plan, Silent, convert};
    use isomorph_zoo::{Build, Edges, Nodes, float64, int64, text};
    let mut build = Build::default();
    let person = build.nodes(Nodes::keyed("person", text(["ann", "bob", "eve"])).column("age", int64([1, 2, 3])));
    let city = build.nodes(Nodes::keyed("city", text(["rome"])));
    build.edges(Edges::rows(person, "knows", person, [(0, 1), (0, 1)]).column("since", int64([1, 2])));
    build.edges(Edges::rows(person, "in", city, [(1, 0)]).column("since", float64([0.5])));
    let memory = std::sync::Arc::new(build.finish());
    let home = tempfile::tempdir().unwrap();
    let place = Location::from_path(&home.path().join("x.edges"));
    let opened = Opened {
        location: Location::from_path(Path::new("/memory")),
        format: Format::GRAPHAR,
        native: memory.clone(),
        sidecar: None,
        graph: memory,
        options: OpenOptions::default(),
        is_part: false,
    };
    let resources = isomorph_storage::Resources::of_this_machine().unwrap();
    let options = ConvertOptions { to: Some(Format::EDGELIST), ..ConvertOptions::default() };
    // With the sidecar, nothing is lost.
    assert_eq!(Plan::new(&opened, &place, &options, &resources, &Silent).unwrap().losses.len(), 0);
    let options = ConvertOptions { lossy: true, ..options };
    let plan = Plan::new(&opened, &place, &options, &resources, &Silent).unwrap();
    let lost: Vec<&str> = plan.losses.iter().map(|loss| loss.subject.as_str()).collect();
    assert_eq!(lost, ["property age of nodes", "property type of nodes", "1 node"]);
    let done = convert(&opened, &plan, &place, &options, &resources, &Silent).unwrap();
    assert_eq!(done.lost.iter().filter(|line| line.starts_with("1 node")).count(), 1);
    let found = Plain::of(&read(&open(&home.path().join("x.edges"), &OpenOptions::default())));
    assert_eq!(found.nodes.keys().collect::<Vec<_>>(), ["city/rome", "person/ann", "person/bob"]);
    let edge = |from: &str, to: &str, own: &str| (from.to_owned(), to.to_owned(), own.to_owned());
    let expected = [
        edge("person/ann", "person/bob", "{\"relation\":\"knows\",\"since\":1}"),
        edge("person/ann", "person/bob", "{\"relation\":\"knows\",\"since\":2}"),
        edge("person/bob", "city/rome", "{\"relation\":\"in\",\"since_2\":0.5}"),
    ];
    assert_eq!(found.edges, expected);
}

#[test]
fn other_files_keep_their_formats() {
    let formats = isomorph_convert::Registry::standard();
    for folder in ["nock", "deepgnn", "annnet", "graphlake", "sidecars", "reifiers"] {
        let mut folders = vec![fixture(folder)];
        while let Some(next) = folders.pop() {
            for entry in std::fs::read_dir(next).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let found = formats.at(&Location::from_path(&path));
                    let ours = [
                        Format::EDGELIST,
                        Format::GRAPHML,
                        Format::NODELINK,
                        Format::KGX,
                        Format::GEXF,
                        Format::GML,
                        Format::JGF,
                        Format::MATRIX_MARKET,
                        Format::ADJACENCY_LIST,
                        Format::MULTILINE,
                        Format::METIS,
                        Format::PAJEK,
                        Format::GRAPHALYTICS,
                    ];
                    assert!(!found.is_ok_and(|found| ours.contains(&found)), "{}", path.display());
                }
            }
        }
    }
}
