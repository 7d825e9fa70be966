//! What formats of edges cannot store of nodes and edges, in tables of the sidecar; and JSON lines of KGX.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::path::{Path, PathBuf};

use isomorph_convert::sidecar::{rebind, remove, verify};
use isomorph_convert::{
    Certificate, ConvertOptions, Digests, Format, OpenOptions, Opened, Plan, Registry, SidecarUse, Silent, convert,
    digest,
};
use isomorph_error::{Error, Kind, Result};
use isomorph_model::{Batch, NodeId, Side};
use isomorph_storage::{Budget, Location, Resources, Scratch};

/// Everything that an edge list lacks: types, labels, properties of many types, nodes without edges, an order, directions by row, keys that are no
/// numbers, parallel edges and loops.
const MAPPING: &str = "CREATE EXTERNAL TABLE person (name VARCHAR NOT NULL, age INTEGER, born DATE, tags VARCHAR[], json JSON, exact DECIMAL(10, 2), labels VARCHAR[])
STORED AS JSON LOCATION 'person.jsonl' OPTIONS ('isomorph.labels' 'labels');
CREATE EXTERNAL TABLE place (nr BIGINT NOT NULL, at TIMESTAMP(6) WITH TIME ZONE) STORED AS CSV LOCATION 'place.csv' OPTIONS ('format.has_header' 'true');
CREATE EXTERNAL TABLE knows (a VARCHAR NOT NULL, b VARCHAR NOT NULL, since INTEGER, weight DOUBLE, why VARCHAR, both BOOLEAN) STORED AS CSV LOCATION 'knows.csv'
OPTIONS ('format.has_header' 'true', 'isomorph.directed' 'both');
CREATE EXTERNAL TABLE lives (a VARCHAR NOT NULL, b BIGINT NOT NULL, since DATE) STORED AS CSV LOCATION 'lives.csv' OPTIONS ('format.has_header' 'true');
CREATE PROPERTY GRAPH social VERTEX TABLES (person KEY (name), place KEY (nr))
EDGE TABLES (knows SOURCE KEY (a) REFERENCES person (name) DESTINATION KEY (b) REFERENCES person (name),
lives SOURCE KEY (a) REFERENCES person (name) DESTINATION KEY (b) REFERENCES place (nr));
";

fn social() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("graph.pgq", &MAPPING.replace(", exact DECIMAL(10, 2)", "")),
        (
            "person.jsonl",
            &"{\"name\": \"zoe\", \"age\": 7, \"tags\": [\"x\", \"\"], \"labels\": [\"A\", \"B\"]}\n{\"name\": \"ann\", \"born\": \"1990-02-28\", \"json\": {\"a\": [1]}}\n{\"name\": \"1\", \"age\": -1, \"tags\": [], \"labels\": [\"B\"]}\n{\"name\": \"alone\"}\n".to_owned(),
        ),
        ("place.csv", &"nr,at\n9223372036854775807,2020-01-01T00:00:00.000001Z\n3,\n-4,1969-12-31T23:59:59Z\n".to_owned()),
        (
            "knows.csv",
            &"a,b,since,weight,why,both\nann,zoe,2019,0.5,\"a b, #{c}\",true\nann,zoe,,1.5,,false\nzoe,ann,2020,-2,x,true\n1,1,1,0,y,\n".to_owned(),
        ),
        ("lives.csv", &"a,b,since\nann,3,2001-02-03\nzoe,9223372036854775807,\n".to_owned()),
    ] {
        std::fs::write(home.path().join(name), text).unwrap();
    }
    home
}

fn open_with(path: &Path, sidecar: SidecarUse) -> Result<Opened> {
    Opened::open(&Location::from_path(path), &OpenOptions { sidecar, ..OpenOptions::default() })
}

fn open(path: &Path) -> Opened {
    open_with(path, SidecarUse::Auto).unwrap_or_else(|error| panic!("{}: {error:?}", path.display()))
}

fn digests(opened: &Opened, resources: &Resources) -> Digests {
    digest(opened.graph.as_ref(), resources, &Silent).unwrap().digests
}

fn write_with(source: &Opened, to: Format, path: &Path, resources: &Resources, lossy: bool) -> Result<Certificate> {
    let (place, options) =
        (Location::from_path(path), ConvertOptions { to: Some(to), lossy, ..ConvertOptions::default() });
    let plan = Plan::new(source, &place, &options, resources, &Silent)?;
    convert(source, &plan, &place, &options, resources, &Silent)
}

fn write(source: &Opened, to: Format, path: &Path) -> Certificate {
    let resources = Resources::of_this_machine().unwrap();
    write_with(source, to, path, &resources, false).unwrap_or_else(|error| panic!("{to}: {error:?}"))
}

/// Pajek cannot hold the graph above: a text with quotation marks.
const FORMATS: [(Format, &str); 5] = [
    (Format::EDGELIST, "a.edges.gz"),
    (Format::MATRIX_MARKET, "a.mtx"),
    (Format::ADJACENCY_LIST, "a.adjlist"),
    (Format::MULTILINE, "a.multiline_adjlist"),
    (Format::GRAPHALYTICS, "a"),
];

#[test]
fn graphs_go_through_formats_of_edges_and_come_back() {
    let (tables, resources) = (social(), Resources::of_this_machine().unwrap());
    let source = open(tables.path());
    let expected = digests(&source, &resources);
    for (to, name) in FORMATS {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(name);
        let certificate = write(&source, to, &path);
        assert_eq!(certificate.result, Some(expected), "{to}");
        let there = open(&path);
        assert_eq!((there.format, digests(&there, &resources)), (to, expected), "{to}");
        assert_eq!(there.graph.graph().nodes.iter().map(|ty| ty.rows).collect::<Vec<_>>(), [Some(4), Some(3)], "{to}");
        // The data alone is an ordinary graph of the format.
        let alone = open_with(&path, SidecarUse::Ignore).unwrap();
        assert_eq!(alone.graph.graph().edge_rows(), Some(6), "{to}");
        let moved = home.path().join("moved");
        write(&there, Format::CSV, &moved);
        assert_eq!(digests(&open(&moved), &resources), expected, "{to}, and back");
        // Into another one of these formats.
        let matrix = home.path().join("other.mtx");
        write(&there, Format::MATRIX_MARKET, &matrix);
        assert_eq!(digests(&open(&matrix), &resources), expected, "{to}, and a matrix");
        // Without a sidecar it is lossy, and says so.
        let lossy = home.path().join(format!("lossy-{name}"));
        if let Ok(certificate) = write_with(&source, to, &lossy, &resources, true) {
            assert!(!certificate.lost.is_empty(), "{to}");
            assert!(!home.path().join(format!("lossy-{name}.isomorph")).exists(), "{to}");
        }
    }
}

#[test]
fn psl_keeps_properties_beside_its_predicates() {
    let (tables, resources) = (social(), Resources::of_this_machine().unwrap());
    let source = open(tables.path());
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("psl");
    write(&source, Format::PSL, &path);
    let mut names: Vec<String> = std::fs::read_dir(path.join("_isomorph"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["carry.json", "edges-0.parquet", "edges-1.parquet", "nodes-0.parquet", "nodes-1.parquet"]);
    assert_eq!(digests(&open(&path), &resources), digests(&source, &resources));
}

#[test]
fn a_damaged_table_of_the_sidecar_is_told_as_that() {
    let tables = social();
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("psl");
    write(&open(tables.path()), Format::PSL, &path);
    let table = path.join("_isomorph/edges-0.parquet");
    let mut bytes = std::fs::read(&table).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&table, bytes).unwrap();
    let error = open_with(&path, SidecarUse::Auto).err().unwrap();
    assert_eq!(error.broken_rule().map(|rule| rule.id), Some("CARRY-TABLE"), "{error:?}");
    assert_eq!(error.message(), "a table of the sidecar is damaged: _isomorph/edges-0.parquet has different bytes");
    assert!(open_with(&path, SidecarUse::Ignore).is_ok());
}

#[test]
fn an_edge_without_truth_is_refused_for_psl() {
    let tables = tempfile::tempdir().unwrap();
    std::fs::write(tables.path().join("nodes.csv"), "id\na\nb\n").unwrap();
    std::fs::write(tables.path().join("edges.csv"), "source,target,truth\na,b,0.5\nb,a,\n").unwrap();
    let (source, resources) = (open(tables.path()), Resources::of_this_machine().unwrap());
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("psl");
    let error = write_with(&source, Format::PSL, &path, &resources, false).err().unwrap();
    assert_eq!(error.kind(), Kind::WouldLose, "{error:?}");
    assert!(error.message().contains("has no truth"), "{error:?}");
    assert!(!path.exists());
    write_with(&source, Format::PSL, &path, &resources, true).unwrap();
}

#[test]
fn neighbours_are_those_of_the_graph() {
    let tables = social();
    let source = open(tables.path());
    let count = |opened: &Opened, key: &str, side| -> std::result::Result<usize, Kind> {
        let found = opened.graph.neighbors(0, NodeId::Key(key), side).map_err(|error| error.kind())?;
        Ok(found.map(|batch| if let Batch::Edges(edges) = batch.unwrap() { edges.rows } else { 0 }).sum())
    };
    for (to, name) in FORMATS {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(name);
        write(&source, to, &path);
        let there = open(&path);
        for key in ["ann", "zoe", "1", "alone", "nobody"] {
            for side in [Side::Out, Side::In] {
                assert_eq!(count(&there, key, side), count(&source, key, side), "{to} {key} {side:?}");
            }
        }
    }
}

/// A table belongs to exactly the files that it was written for.
#[test]
fn changes_are_noticed() {
    let tables = social();
    let source = open(tables.path());
    let stale = |result: Result<Opened>, rule: &str| {
        let error = result.err().unwrap();
        assert_eq!(
            (error.kind(), error.broken_rule().map(|rule| rule.id)),
            (Kind::StaleSidecar, Some(rule)),
            "{error:?}"
        );
    };
    for (to, name, folder) in
        [(Format::EDGELIST, "a.edges", "a.edges.isomorph"), (Format::GRAPHALYTICS, "g", "g/_isomorph")]
    {
        let home = tempfile::tempdir().unwrap();
        let (path, folder) = (home.path().join(name), home.path().join(folder));
        write(&source, to, &path);
        let data = if path.is_dir() { path.join("g.e") } else { path.clone() };
        let table = folder.join("nodes-0.parquet");
        let formats = Registry::default();
        assert!(verify(&Location::from_path(&path), &formats).unwrap().1.is_empty());
        // Unchanged, names and types alone are the whole.
        open_with(&path, SidecarUse::Schema).unwrap();
        for (changed, rule) in [(&data, "CARRY-STALE"), (&table, "CARRY-TABLE")] {
            let kept = std::fs::read(changed).unwrap();
            let mut longer = kept.clone();
            longer.push(b'\n');
            std::fs::write(changed, &longer).unwrap();
            stale(open_with(&path, SidecarUse::Auto), rule);
            stale(open_with(&path, SidecarUse::Schema), rule);
            let mut other = kept.clone();
            *other.last_mut().unwrap() ^= 1;
            std::fs::write(changed, &other).unwrap();
            stale(open_with(&path, SidecarUse::Auto), rule);
            assert!(!verify(&Location::from_path(&path), &formats).unwrap().1.is_empty());
            std::fs::write(changed, &kept).unwrap();
        }
        let resources = Resources::of_this_machine().unwrap();
        let error = rebind(&Location::from_path(&path), &formats, &resources, &Silent).unwrap_err();
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some("CARRY-STALE"), "{error:?}");
        let kept = std::fs::read(&table).unwrap();
        std::fs::remove_file(&table).unwrap();
        stale(open_with(&path, SidecarUse::Auto), "CARRY-TABLE");
        std::fs::write(&table, kept).unwrap();
        // Dropping the sidecar drops its tables.
        remove(&Location::from_path(&path), &formats).unwrap();
        assert!(!folder.exists());
        open(&path);
    }
}

/// More rows than a row group has, in little memory.
#[test]
fn tables_are_streamed() {
    const NODES: u64 = 300_000;
    let home = tempfile::tempdir().unwrap();
    let tables = home.path().join("tables");
    std::fs::create_dir(&tables).unwrap();
    let nodes: String = (0..NODES).map(|id| format!("n{},{}\n", id * 7919 % NODES, id % 97)).collect();
    std::fs::write(tables.join("nodes.csv"), format!("id,v\n{nodes}")).unwrap();
    let edges: String = (0..NODES).map(|id| format!("n{},n{},{}\n", id, (id * 31 + 7) % NODES, id % 5)).collect();
    std::fs::write(tables.join("edges.csv"), format!("source,target,kind\n{edges}")).unwrap();
    let resources = |memory: u64| {
        let scratch = Scratch::new(Some(home.path())).unwrap();
        Resources { budget: Budget::new(memory), scratch, ..Resources::of_this_machine().unwrap() }
    };
    let open = |path: &Path, memory: u64| {
        let options = OpenOptions { resources: Some(resources(memory)), ..OpenOptions::default() };
        Opened::open(&Location::from_path(path), &options).unwrap_or_else(|error| panic!("{error:?}"))
    };
    let expected = digests(&open(&tables, 1 << 30), &resources(1 << 30));
    for (to, name) in
        [(Format::EDGELIST, "a.edges"), (Format::MATRIX_MARKET, "a.mtx"), (Format::ADJACENCY_LIST, "a.adjlist")]
    {
        let path: PathBuf = home.path().join(name);
        let certificate = write_with(&open(&tables, 48 << 20), to, &path, &resources(48 << 20), false);
        assert_eq!(certificate.unwrap_or_else(|error: Error| panic!("{to}: {error:?}")).result, Some(expected), "{to}");
        assert_eq!(digests(&open(&path, 48 << 20), &resources(48 << 20)), expected, "{to}");
    }
}

/// What is written is what KGX reads: categories in lists, predicates in texts, ids at the ends.
#[test]
fn kgx_lines_are_those_of_kgx() {
    let home = tempfile::tempdir().unwrap();
    let tables = home.path().join("tables");
    std::fs::create_dir(&tables).unwrap();
    for (name, text) in [
        ("graph.pgq", MAPPING_OF_ONE_TYPE),
        (
            "person.jsonl",
            "{\"name\": \"zoe\", \"age\": 7, \"tags\": [\"x\", \"\"], \"labels\": [\"A\", \"B\"]}\n{\"name\": \"ann\"}\n{\"name\": \"alone\"}\n",
        ),
        ("knows.csv", "a,b,since\nann,zoe,2019\nann,zoe,\nzoe,ann,2020\n"),
    ] {
        std::fs::write(tables.join(name), text).unwrap();
    }
    let resources = Resources::of_this_machine().unwrap();
    let source = open(&tables);
    let path = home.path().join("kgx");
    write(&source, Format::KGX_LINES, &path);
    assert_eq!(digests(&open(&path), &resources), digests(&source, &resources));
    let lines = |name: &str| -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(path.join(name)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let (nodes, edges) = (lines("nodes.jsonl"), lines("edges.jsonl"));
    assert_eq!((nodes.len(), edges.len()), (3, 3));
    assert_eq!((&nodes[0]["id"], &nodes[0]["age"]), (&serde_json::json!("zoe"), &serde_json::json!(7)));
    assert_eq!(nodes[0]["tags"], serde_json::json!(["x", ""]));
    assert!(nodes[0]["category"].as_array().unwrap().contains(&serde_json::json!("A")));
    for edge in &edges {
        assert_eq!(edge["predicate"], "knows");
        let is_node = |end: &str| nodes.iter().any(|node| node["id"] == edge[end]);
        assert!(is_node("subject") && is_node("object"), "{edge}");
    }
    // Without the sidecar, it is a graph of KGX: categories are labels, predicates relations.
    let alone = open_with(&path, SidecarUse::Ignore).unwrap();
    assert_eq!(alone.format, Format::KGX_LINES);
    let relations: Vec<&str> = alone.graph.graph().edges.iter().filter_map(|ty| ty.relation.fixed()).collect();
    assert_eq!(relations, ["knows"]);
    let again = home.path().join("again");
    write(&alone, Format::KGX_LINES, &again);
    assert_eq!(digests(&open(&again), &resources).content, digests(&alone, &resources).content);
    // Categories are the node types, where there are several.
    let several = social();
    let source = open(several.path());
    let place = home.path().join("several");
    write(&source, Format::KGX_LINES, &place);
    let there = open(&place);
    assert_eq!(digests(&there, &resources), digests(&source, &resources));
    let count = |opened: &Opened, key: &str| {
        let found = opened.graph.neighbors(0, NodeId::Key(key), Side::Out).unwrap();
        found.map(|batch| if let Batch::Edges(edges) = batch.unwrap() { edges.rows } else { 0 }).sum::<usize>()
    };
    assert_eq!(count(&there, "ann"), count(&source, "ann"));
    let back = home.path().join("back");
    write(&there, Format::PARQUET, &back);
    assert_eq!(digests(&open(&back), &resources), digests(&source, &resources));
    let text = std::fs::read_to_string(place.join("nodes.jsonl")).unwrap();
    let categories: Vec<String> = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|node| format!("{} {}", node["id"], node["category"]))
        .collect();
    assert_eq!(categories.len(), 7);
    assert!(categories.iter().any(|node| node.contains("zoe") && node.contains("person")), "{categories:?}");
    assert!(categories.iter().any(|node| node.contains("-4") && node.contains("place")), "{categories:?}");
}

const MAPPING_OF_ONE_TYPE: &str = "CREATE EXTERNAL TABLE person (name VARCHAR NOT NULL, age INTEGER, tags VARCHAR[], labels VARCHAR[])
STORED AS JSON LOCATION 'person.jsonl' OPTIONS ('isomorph.labels' 'labels');
CREATE EXTERNAL TABLE knows (a VARCHAR NOT NULL, b VARCHAR NOT NULL, since INTEGER) STORED AS CSV LOCATION 'knows.csv' OPTIONS ('format.has_header' 'true');
CREATE PROPERTY GRAPH social VERTEX TABLES (person KEY (name))
EDGE TABLES (knows SOURCE KEY (a) REFERENCES person (name) DESTINATION KEY (b) REFERENCES person (name));
";

#[test]
fn a_byte_far_from_the_end_is_noticed_when_the_data_is_opened() {
    let home = tempfile::tempdir().unwrap();
    let tables = home.path().join("tables");
    std::fs::create_dir(&tables).unwrap();
    let nodes: String = (0..9_000).map(|id| format!("{id},n{id}\n")).collect();
    let edges: String = (0..9_000).map(|row| format!("{row},{},w{row}\n", (row * 7 + 3) % 9_000)).collect();
    std::fs::write(tables.join("nodes.csv"), format!("id,name\n{nodes}")).unwrap();
    std::fs::write(tables.join("edges.csv"), format!("source,target,why\n{edges}")).unwrap();
    let path = home.path().join("a.mtx");
    write(&open(&tables), Format::MATRIX_MARKET, &path);
    open(&path);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.len() > 80_000, "more than the tail that is compared of other data: {}", text.len());
    let mut lines: Vec<&str> = text.lines().collect();
    let first = lines.iter().position(|line| !line.starts_with('%')).unwrap() + 1;
    lines.swap(first, first + 1);
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().len(), text.len() as u64);
    let error = open_with(&path, SidecarUse::Auto).err().unwrap();
    assert_eq!(error.broken_rule().map(|rule| rule.id), Some("CARRY-STALE"), "{error:?}");
}
