//! The neighbours of every node of every fixture, compared with a scan of all edges.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use isomorph_convert::{
    ConvertOptions, Format, KeyTexts, NodeTypes, OpenOptions, Opened, Plan, PropertyTexts, Renderer, SidecarUse,
    Silent, TypesFrom, convert,
};
use isomorph_dataset::{Dataset, NeighborBatch, Neighbors, Sides};
use isomorph_error::Kind;
use isomorph_fixtures::{fixture, public_data};
use isomorph_model::json::Members;
use isomorph_model::{Batch, EndForm, Graph, KeyKind, NodeId, Part, Request, Side, Source, Tables};
use isomorph_storage::{Location, Resources};
use serde_json::Value;

/// A node: its type, and its key or row as JSON.
type Node = (String, String);

/// The result of a scan.
#[derive(Default)]
struct Expected {
    nodes: BTreeSet<Node>,
    /// The rows of nodes.
    rows: BTreeMap<Node, u64>,
    /// For each end, its outgoing, its incoming and its undirected edges.
    edges: BTreeMap<Node, [Vec<String>; 3]>,
}

/// Number of nodes of a large graph that are looked up, and of one of many copies.
const MOST_NODES: usize = 150;
const MOST_OF_COPY: usize = 12;

fn opened(path: &Path) -> isomorph_error::Result<Opened> {
    let location = Location::parse(path.to_str().unwrap())?;
    Opened::open(&location, &OpenOptions { look_ups: true, ..OpenOptions::default() })
}

/// The graphs at and below `path`; an opened directory is not searched for others.
fn graphs(path: &Path, found: &mut Vec<(PathBuf, Opened)>) {
    if let Ok(opened) = opened(path) {
        found.push((path.to_owned(), opened));
    } else if path.is_dir() {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        entries.iter().for_each(|entry| graphs(entry, found));
    }
}

/// An edge as seen from one of its ends.
fn shown(relation: &str, ty: &str, key: &Value, facts: &str) -> String {
    format!("{relation} {ty} {key} {facts}")
}

/// The values of an edge, in the order in which `dump` prints them.
fn facts(properties: &[(String, String)], bag: &[(String, String)]) -> String {
    format!("{properties:?} {bag:?}")
}

fn facts_of_line(line: &str) -> String {
    let mut both = [Vec::new(), Vec::new()];
    let mut all = Members::default();
    all.read(line, |name, object| {
        let Some(at) = ["properties", "bag"].iter().position(|own| *own == name) else { return Ok(()) };
        Members::default().read(object, |name, value| {
            both[at].push((name.to_owned(), value.to_owned()));
            Ok(())
        })
    })
    .unwrap();
    facts(&both[0], &both[1])
}

/// The edges of a batch in the compared form.
fn edges_of(batch: &NeighborBatch<'_>, found: &mut Vec<String>) {
    let keys = KeyTexts::new(&batch.node_type.key, &batch.neighbors).unwrap();
    let mut properties = PropertyTexts::new(&batch.edge_type.properties, &batch.properties).unwrap();
    for row in 0..batch.rows() {
        let mut key = String::new();
        keys.push(row, &mut key);
        let key: Value = serde_json::from_str(&key).unwrap();
        let [own, bag] = properties.row(row).unwrap();
        found.push(shown(batch.relations.value(row), &batch.node_type.name, &key, &facts(own, bag)));
    }
    let table = batch.to_record_batch().unwrap();
    assert_eq!(table.num_rows(), batch.rows());
}

impl Expected {
    /// The result of a scan of all nodes and edges.
    ///
    /// # Errors
    /// If the graph is invalid, or has no data.
    fn of(opened: &Opened, resources: &Resources) -> isomorph_error::Result<Self> {
        let source = opened.graph.as_ref();
        let renderer = Renderer::new(source, resources, &Silent)?;
        let mut expected = Expected::default();
        for tables in [Tables::AllNodes, Tables::AllEdges] {
            for mut part in source.scan(&Request::of(tables))? {
                part.read(&mut |batch| {
                    let mut row = if let Batch::Nodes(nodes) = &batch { nodes.start } else { 0 };
                    renderer.batch(&batch, |element| {
                        if let Batch::Nodes(_) = &batch {
                            expected.rows.insert((element.ty.to_owned(), element.identity.to_owned()), row);
                            row += 1;
                        }
                        expected.add(&serde_json::from_str(element.line).unwrap(), &facts_of_line(element.line));
                        Ok(())
                    })
                })?;
            }
        }
        // Some formats imply the nodes at the ends of edges, and have no rows for them.
        let implied = |ty: &String| source.graph().nodes.iter().any(|own| own.name == *ty && own.implied);
        expected.nodes.extend(expected.edges.keys().filter(|(ty, _)| implied(ty)).cloned());
        Ok(expected)
    }

    fn add(&mut self, line: &Value, facts: &str) {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        if let Some(ty) = line.get("node") {
            let id = line.get("key").or(line.get("row")).unwrap();
            self.nodes.insert((text(ty), id.to_string()));
            return;
        }
        let (source, target) =
            ((text(&line["types"][0]), &line["ends"][0]), (text(&line["types"][1]), &line["ends"][1]));
        let directed = line.get("directed").is_none();
        let relation = text(&line["edge"]);
        let mut at = |(ty, key): &(String, &Value), slot: usize, other: &(String, &Value)| {
            let edge = shown(&relation, &other.0, other.1, facts);
            self.edges.entry((ty.clone(), key.to_string())).or_default()[slot].push(edge);
        };
        if directed {
            at(&source, 0, &target);
            at(&target, 1, &source);
        } else {
            at(&source, 2, &target);
            if source != target {
                at(&target, 2, &source);
            }
        }
    }
}

/// All neighbours in the compared form, and the number beyond the limit.
fn found_by(asked: &Neighbors<'_>) -> isomorph_error::Result<(Vec<String>, Option<u64>)> {
    let (mut batches, mut found) = (asked.batches(), Vec::new());
    while let Some(batch) = batches.next().transpose()? {
        edges_of(&batch, &mut found);
    }
    Ok((found, batches.more()))
}

/// Checks that a limit returns the first of `all` and counts the others, and that fewer columns return the same edges.
fn check_less(asked: &Neighbors<'_>, all: &[String], what: &str) {
    let (first, more) = found_by(&asked.clone().limit(2)).unwrap();
    assert_eq!(first, all[..all.len().min(2)], "{what}");
    if let Some(more) = more {
        assert_eq!(first.len() as u64 + more, all.len() as u64, "{what}");
    }
    let whole: Vec<NeighborBatch<'_>> = asked.batches().map(Result::unwrap).collect();
    let Some(property) =
        whole.iter().find_map(|batch| batch.edge_type.properties.last()).filter(|own| !own.name.is_empty())
    else {
        return;
    };
    let narrow = asked.clone().columns([property.name.as_str()]).unwrap();
    let narrow: Vec<NeighborBatch<'_>> = narrow.batches().map(Result::unwrap).collect();
    let column = |batches: &[NeighborBatch<'_>]| {
        let mut cells = Vec::new();
        for batch in batches {
            let mut texts = PropertyTexts::new(&batch.edge_type.properties, &batch.properties).unwrap();
            for row in 0..batch.rows() {
                let [own, _] = texts.row(row).unwrap();
                cells.push(own.iter().find(|(name, _)| *name == property.name).cloned());
            }
        }
        cells
    };
    assert_eq!(column(&narrow), column(&whole), "{what}: {}", property.name);
    for (batch, property) in
        narrow.iter().flat_map(|batch| batch.edge_type.properties.iter().map(move |own| (batch, own)))
    {
        let at = batch.edge_type.properties.iter().position(|own| own.name == property.name).unwrap();
        assert!(narrow_names(batch).contains(&property.name) || batch.properties[at].is_none(), "{what}");
    }
}

/// The properties of a batch under the names in a table.
fn narrow_names(batch: &NeighborBatch<'_>) -> Vec<String> {
    batch.to_record_batch().unwrap().schema().fields().iter().skip(3).map(|field| field.name().clone()).collect()
}

/// Compares all nodes of a graph, by key and by row; returns their number, or `None` if the graph cannot be scanned or
/// has no look-ups.
fn compare(path: &Path, opened: &Opened, most: usize, resources: &Resources) -> Option<usize> {
    let expected = Expected::of(opened, resources).ok()?;
    let step = expected.nodes.len().div_ceil(most).max(1);
    let (mut compared, mut refused) = (0, [false; 2]);
    let none = Default::default();
    let tables = Dataset::new(Arc::clone(&opened.graph), resources.clone());
    for node in expected.nodes.iter().step_by(step) {
        let ((ty, id), [leave, reach, undirected]) = (node, expected.edges.get(node).unwrap_or(&none));
        let by_row = opened.graph.graph().nodes.iter().any(|own| own.name == *ty && own.key.kind == KeyKind::Row);
        let id: Value = serde_json::from_str(id).unwrap();
        let key = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
        let row = if by_row { id.as_u64() } else { expected.rows.get(node).copied() };
        let ways = [(Some(key.as_str()).filter(|_| !by_row), None), (None, row)];
        for (way, (key, row)) in ways.into_iter().enumerate().filter(|(_, way)| *way != (None, None)) {
            let name = key.map_or_else(|| NodeId::Row(row.unwrap_or_default()), NodeId::Key);
            let asked = tables.neighbors(Some(ty), name).unwrap();
            for (sides, parts) in [
                (Sides::Out, vec![leave, undirected]),
                (Sides::In, vec![reach, undirected]),
                (Sides::Both, vec![leave, reach, undirected]),
            ] {
                let asked = asked.clone().sides(sides);
                let found = match found_by(&asked) {
                    // Not every format supports both ways.
                    Err(error) if error.kind() == Kind::Unsupported => {
                        refused[way] = true;
                        break;
                    }
                    found => found.unwrap_or_else(|error| panic!("{}: {ty} {id} {row:?}: {error:?}", path.display())),
                };
                let what = format!("{} {ty} {id} {row:?} {sides:?}", path.display());
                assert_eq!(found.1, Some(0), "{what}");
                // It reads a node four times, so not every node is checked.
                if compared % 8 == 0 {
                    check_less(&asked, &found.0, &what);
                }
                let mut found = found.0;
                let mut wanted: Vec<String> = parts.into_iter().flatten().cloned().collect();
                found.sort();
                wanted.sort();
                assert_eq!(found, wanted, "{what}");
            }
            asked.hyperedges().unwrap();
        }
        if refused == [true, true] {
            return None;
        }
        // Where ids are rows, keys are a feature. Triples are not searched through other formats.
        let is_found =
            opened.format == Format::DEEPGNN && ![Format::GRAPHLAKE, Format::RDF].contains(&opened.format_of_graph());
        assert!(!refused[0] || !is_found, "{}: {ty} {id}", path.display());
        compared += 1;
    }
    Some(compared)
}

/// Compares all nodes of all graphs at and below `path`; there must be at least `least` graphs.
fn compare_all(path: &Path, least: usize) {
    let resources = Resources::of_this_machine().unwrap();
    let mut all = Vec::new();
    graphs(path, &mut all);
    let mut counts = BTreeMap::new();
    for (path, opened) in &all {
        counts.insert(path, compare(path, opened, MOST_NODES, &resources));
    }
    assert!(counts.values().flatten().count() >= least, "{counts:?}");
}

#[test]
fn every_node_of_the_fixtures_of_annnet() {
    compare_all(&fixture("annnet"), 15);
}

#[test]
fn every_node_of_the_fixtures_of_deepgnn() {
    compare_all(&fixture("deepgnn"), 5);
}

#[test]
fn every_node_of_the_fixtures_of_graphlake() {
    compare_all(&fixture("graphlake"), 3);
}

#[test]
fn every_node_of_the_fixtures_of_nock() {
    compare_all(&fixture("nock"), 5);
}

#[test]
fn every_node_of_the_graphs_that_older_versions_wrote() {
    compare_all(&fixture("sidecars"), 40);
    compare_all(&fixture("reifiers"), 1);
}

/// Nodes with labels, without, and without edges; edges in both directions, parallel edges and loops; nodes without a
/// row.
const LABELS: &str = "src_name,edge_id,rel_name,dst_name,truth,shadow,is_rdf,labels,props
\"a\",-1,\"\",\"\",1.0,-1,False,\"P,Q\",\"{\"\"x\"\":1}\"
\"a\",0,\"r\",\"b\",1.0,-1,False,\"\",\"\"
\"a\",1,\"r\",\"b\",0.5,-1,False,\"\",\"{\"\"y\"\":2.5}\"
\"b\",-1,\"\",\"\",1.0,-1,False,\"Q\",\"\"
\"b\",0,\"r\",\"c\",1.0,-1,False,\"\",\"\"
\"b\",1,\"s\",\"b\",1.0,-1,False,\"\",\"\"
\"c\",-1,\"\",\"\",1.0,-1,False,\"\",\"\"
\"c\",0,\"s\",\"a\",1.0,-1,False,\"\",\"\"
\"c\",1,\"s\",\"e\",1.0,-1,False,\"\",\"\"
\"d\",-1,\"\",\"\",1.0,-1,False,\"R\",\"\"
";

#[test]
fn every_node_of_what_conversions_write() {
    let resources = Resources::of_this_machine().unwrap();
    let home = tempfile::tempdir().unwrap();
    let labels = home.path().join("labels.csv");
    std::fs::write(&labels, LABELS).unwrap();
    let social = fixture("../examples/social");
    let sources = [
        labels,
        social,
        fixture("nock/01_tiny/tiny.parq"),
        fixture("sidecars/heterogeneous/graphar"),
        fixture("sidecars/bags/nock.parq"),
        fixture("deepgnn/hetero/bin_json_p1"),
        fixture("graphlake/tiny"),
    ];
    let types = [None, Some(TypesFrom::Label), Some(TypesFrom::Property("type".to_owned()))];
    let targets = [Format::GRAPHAR, Format::NOCK, Format::ANNNET, Format::DEEPGNN, Format::GRAPHLAKE];
    let (mut asked, mut compared) = (0, BTreeMap::new());
    for source in sources.iter().filter(|source| source.exists()) {
        let from = opened(source).unwrap();
        for (to, types) in targets.iter().flat_map(|to| types.iter().map(move |types| (*to, types))) {
            asked += 1;
            let name = format!("{asked}{}", if to == Format::NOCK { ".parq" } else { "" });
            let place = Location::from_path(&home.path().join(&name));
            let node_types = types.clone().map(NodeTypes::of);
            let options = ConvertOptions { to: Some(to), node_types, ..ConvertOptions::default() };
            let plan = Plan::new(&from, &place, &options, &resources, &Silent);
            let written = plan.and_then(|plan| convert(&from, &plan, &place, &options, &resources, &Silent));
            // Not every graph can be written in every format, or has types to separate.
            if written.is_err() {
                continue;
            }
            let path = home.path().join(&name);
            let copy = opened(&path).unwrap();
            let what = format!("{} to {to}, {types:?}", source.display());
            if let Some(count) = compare(&path, &copy, MOST_OF_COPY, &resources) {
                compared.insert(what, count);
            }
        }
    }
    assert!(compared.len() >= 30, "{} of {asked}: {compared:#?}", compared.len());
}

#[test]
fn every_node_of_the_example() {
    compare_all(&fixture("../examples/social"), 1);
}

#[test]
fn every_node_of_the_public_graphs_of_graphar() {
    let Some(path) = public_data("graphar-testing") else { return };
    compare_all(&path, 10);
}

/// A graph that counts the look-ups of edges.
struct Counting(Arc<dyn Source>, Arc<AtomicUsize>);

impl Source for Counting {
    fn graph(&self) -> &Graph {
        self.0.graph()
    }

    fn scan(&self, request: &Request) -> isomorph_error::Result<Vec<Box<dyn Part + '_>>> {
        self.0.scan(request)
    }

    fn end_form(&self, ty: usize) -> EndForm {
        self.0.end_form(ty)
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> isomorph_error::Result<Box<dyn Part + '_>> {
        self.1.fetch_add(1, Relaxed);
        self.0.neighbors(edge, node, side)
    }
}

#[test]
fn the_last_neighbour_that_is_wanted_ends_the_look_ups() {
    let social = fixture("../examples/social");
    let opened = opened(&social).unwrap();
    let resources = Resources::of_this_machine().unwrap();
    let asked = |limit| {
        let counted = Arc::new(AtomicUsize::new(0));
        let counting = Counting(Arc::clone(&opened.graph), Arc::clone(&counted));
        let tables = Dataset::new(Arc::new(counting), resources.clone());
        let mut batches = tables.neighbors(Some("person"), NodeId::Row(0)).unwrap().limit(limit).batches();
        let found: usize = batches.by_ref().map(|batch| batch.unwrap().rows()).sum();
        (found, batches.more().is_none(), counted.load(Relaxed))
    };
    let (all, ended, look_ups) = asked(usize::MAX);
    assert!(all > 3 && !ended && look_ups > 2, "{all} neighbours by {look_ups} look-ups");
    let (some, ended, fewer) = asked(1);
    assert!(some == 1 && ended && fewer < look_ups, "{fewer} of {look_ups} look-ups");
}

#[test]
fn properties_that_nobody_asked_for_are_not_read() {
    let resources = Resources::of_this_machine().unwrap();
    let home = tempfile::tempdir().unwrap();
    let edges = home.path().join("edges.csv");
    std::fs::write(
        &edges,
        r#"src_name,edge_id,rel_name,dst_name,truth,shadow,is_rdf,labels,props
"a",-1,"","",1.0,-1,False,"",""
"a",0,"r","b",0.25,-1,False,"","{""x"":7}"
"b",-1,"","",1.0,-1,False,"",""
"#,
    )
    .unwrap();
    let (from, path) = (opened(&edges).unwrap(), home.path().join("graph"));
    let (place, options) =
        (Location::from_path(&path), ConvertOptions { to: Some(Format::GRAPHAR), ..ConvertOptions::default() });
    let plan = Plan::new(&from, &place, &options, &resources, &Silent).unwrap();
    convert(&from, &plan, &place, &options, &resources, &Silent).unwrap();
    // The data without its sidecar: its own columns, in the files of GraphAr.
    let native = || {
        let options = OpenOptions { sidecar: SidecarUse::Ignore, ..OpenOptions::default() };
        Dataset::new(Opened::open(&place, &options).unwrap().graph, resources.clone())
    };
    let asked = |tables: &Dataset, columns: &[&str]| -> isomorph_error::Result<Vec<usize>> {
        let asked = tables.neighbors(None, NodeId::Key("a"))?.columns(columns.iter().copied())?;
        asked.batches().map(|batch| Ok(batch?.to_record_batch()?.num_columns())).collect()
    };
    assert_eq!(asked(&native(), &["truth", "x"]).unwrap(), [5]);
    // Without the files of properties, everything except these can be read.
    std::fs::remove_dir_all(path.join("edge/node_r_node/ordered_by_source/truth_x")).unwrap();
    assert!(asked(&native(), &["x"]).is_err());
    assert_eq!(asked(&native(), &[]).unwrap(), [3]);
    assert!(asked(&native(), &["since"]).is_err(), "there is no such property");
}
