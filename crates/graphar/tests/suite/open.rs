//! Opening: locations, prefixes, detection, and input that must be refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::support;

use std::fs;
use std::path::Path;

use isomorph_error::{Error, Kind};
use isomorph_graphar::{GraphAr, OpenOptions, detect};
use isomorph_model::{MemoryGraph, Narrowing, Request, Source, Tables};
use isomorph_storage::Location;

const GRAPH: &str = "name: g\nvertices:\n  - v.vertex.yml\nversion: gar/v1\n";
const VERTEX: &str = "type: v\nchunk_size: 10\nprefix: vertex/v/\nproperty_groups:\n  - prefix: id/\n    file_type: csv\n    properties:\n      - name: id\n        data_type: int64\n        is_primary: true\nversion: gar/v1\n";
const CHUNK: &str = "_graphArVertexIndex,id\n0,7\n1,8\n";

/// Writes a graph of two vertices in `home`, with its data in `data` below it.
fn graph(home: &Path, data: &str) {
    fs::write(home.join("g.graph.yml"), GRAPH).unwrap();
    fs::write(home.join("v.vertex.yml"), VERTEX).unwrap();
    let vertex = home.join(data).join("vertex/v");
    fs::create_dir_all(vertex.join("id")).unwrap();
    fs::write(vertex.join("vertex_count"), 2u64.to_le_bytes()).unwrap();
    fs::write(vertex.join("id/chunk0"), CHUNK).unwrap();
}

fn read(home: &Path, options: &OpenOptions) -> Result<usize, Error> {
    let graph = GraphAr::open(&Location::from_path(home), options)?;
    Ok(MemoryGraph::read(&graph)?.batches.iter().map(|batch| batch.rows()).sum())
}

fn rule(result: Result<usize, Error>) -> &'static str {
    result.unwrap_err().broken_rule().map_or("no rule", |rule| rule.id)
}

#[test]
fn a_graph_is_found_by_its_file_or_its_directory() {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| Location::from_path(&home.path().join(name));
    assert_eq!(read(home.path(), &OpenOptions::default()).unwrap_err().kind(), Kind::NotFound);
    assert!(!detect(&at("")).unwrap());
    graph(home.path(), "");
    assert_eq!(read(home.path(), &OpenOptions::default()).unwrap(), 2);
    assert_eq!(read(&home.path().join("g.graph.yml"), &OpenOptions::default()).unwrap(), 2);
    assert!(detect(&at("")).unwrap() && detect(&at("g.graph.yml")).unwrap());
    assert!(!detect(&at("v.vertex.yml")).unwrap());
    fs::write(home.path().join("graph.yml"), GRAPH).unwrap();
    assert!(detect(&at("graph.yml")).unwrap());
    fs::write(home.path().join("data.csv"), CHUNK).unwrap();
    assert!(!detect(&at("data.csv")).unwrap());
    assert!(detect(&at("absent.graph.yml")).is_err());
    fs::write(home.path().join("h.graph.yml"), GRAPH).unwrap();
    let several = read(home.path(), &OpenOptions::default()).unwrap_err();
    assert_eq!((several.kind(), several.hints().count()), (Kind::Usage, 2));
}

#[test]
fn prefixes_lead_into_the_directory_of_the_graph_file_and_nowhere_else() {
    let home = tempfile::tempdir().unwrap();
    let with = |prefix: &str| {
        fs::write(home.path().join("g.graph.yml"), format!("{GRAPH}prefix: {prefix}\n")).unwrap();
        let graph = GraphAr::open(&Location::from_path(home.path()), &OpenOptions::default())?;
        let warned = graph.findings().by_rule().any(|(_, kept)| kept[0].rule.id == "GAR-META-PREFIX-ELSEWHERE");
        Ok((MemoryGraph::read(&graph)?.batches.len(), warned))
    };
    graph(home.path(), "");
    let absolute = home.path().canonicalize().unwrap();
    for prefix in ["./".to_owned(), format!("{}/", absolute.display()), format!("file://{}/", absolute.display())] {
        assert_eq!(with(&prefix).unwrap(), (1, false), "{prefix}");
    }
    for prefix in ["/tmp/graphar/nebula2graphar/", "s3://bucket/graph/", "/", "hdfs://host/x/?y=1"] {
        assert_eq!(with(prefix).unwrap(), (1, true), "{prefix}");
    }
    let escape: Error = with("../").unwrap_err();
    assert_eq!(escape.broken_rule().unwrap().id, "STO-PATH-ESCAPE");
    let home = tempfile::tempdir().unwrap();
    graph(home.path(), "data/here");
    fs::write(home.path().join("g.graph.yml"), format!("{GRAPH}prefix: ./data//here\n")).unwrap();
    assert_eq!(read(home.path(), &OpenOptions::default()).unwrap(), 2);
    fs::write(home.path().join("g.graph.yml"), GRAPH).unwrap();
    assert_eq!(rule(read(home.path(), &OpenOptions::default())), "GAR-FILE-MISSING");
    let root = Some(Location::from_path(&home.path().join("data/here")));
    assert_eq!(read(home.path(), &OpenOptions { root, ..OpenOptions::default() }).unwrap(), 2);
}

#[test]
fn paths_that_leave_the_directory_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let inside = home.path().join("inside");
    fs::create_dir(&inside).unwrap();
    graph(home.path(), "");
    graph(&inside, "");
    for prefix in ["../vertex/v/", "vertex/../../vertex/v/", "a/%2e%2e/vertex/v/"] {
        fs::write(inside.join("v.vertex.yml"), VERTEX.replace("vertex/v/", prefix)).unwrap();
        assert_eq!(rule(read(&inside, &OpenOptions::default())), "STO-PATH-ESCAPE", "{prefix}");
    }
    fs::write(inside.join("v.vertex.yml"), VERTEX.replace("prefix: id/", "prefix: ../../../vertex/v/id/")).unwrap();
    assert_eq!(rule(read(&inside, &OpenOptions::default())), "STO-PATH-ESCAPE");
    fs::write(inside.join("g.graph.yml"), GRAPH.replace("v.vertex.yml", "../v.vertex.yml")).unwrap();
    assert_eq!(rule(read(&inside, &OpenOptions::default())), "STO-PATH-ESCAPE");
}

#[cfg(unix)]
#[test]
fn links_that_leave_the_directory_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let inside = home.path().join("inside");
    fs::create_dir(&inside).unwrap();
    graph(home.path(), "");
    fs::write(inside.join("g.graph.yml"), GRAPH).unwrap();
    fs::write(inside.join("v.vertex.yml"), VERTEX).unwrap();
    std::os::unix::fs::symlink(home.path().join("vertex"), inside.join("vertex")).unwrap();
    let error = read(&inside, &OpenOptions::default()).unwrap_err();
    assert_eq!(error.broken_rule().unwrap().id, "STO-PATH-ESCAPE");
    assert!(error.message().contains("vertex is a link to "), "{error}");
    assert!(error.hints().any(|hint| hint.contains("--follow-links")));
    let root = Some(Location::from_path(home.path()));
    assert_eq!(read(&inside, &OpenOptions { root, ..OpenOptions::default() }).unwrap(), 2);
}

#[cfg(unix)]
#[test]
fn links_are_followed_below_a_directory_that_is_named() {
    use std::os::unix::fs::symlink;
    let home = tempfile::tempdir().unwrap();
    let (data, inside) = (home.path().join("all/data"), home.path().join("all/graphs/inside"));
    fs::create_dir_all(&data).unwrap();
    fs::create_dir_all(&inside).unwrap();
    graph(&data, "");
    fs::write(inside.join("g.graph.yml"), GRAPH).unwrap();
    symlink("../../data/v.vertex.yml", inside.join("v.vertex.yml")).unwrap();
    symlink("../../data/vertex", inside.join("vertex")).unwrap();
    let error = read(&inside, &OpenOptions::default()).unwrap_err();
    assert!(error.message().contains("v.vertex.yml is a link to ../../data/v.vertex.yml"), "{error}");
    assert!(error.hints().any(|hint| hint.contains("--follow-links")), "{error:?}");
    let following = |bounds: &str| OpenOptions {
        follow_links: Some(Location::from_path(&home.path().join(bounds))),
        ..OpenOptions::default()
    };
    assert_eq!(read(&inside, &following("all")).unwrap(), 2);
    // A graph file that is such a link is detected: opening it reports what to do.
    symlink("../../data/g.graph.yml", inside.join("link.graph.yml")).unwrap();
    assert!(detect(&Location::from_path(&inside.join("link.graph.yml"))).unwrap());
    fs::remove_file(inside.join("link.graph.yml")).unwrap();
    assert_eq!(rule(read(&inside, &following("all/graphs"))), "STO-PATH-ESCAPE");
    assert_eq!(read(&inside, &following("all/data")).unwrap_err().kind(), Kind::Usage);
    let graph = GraphAr::open(&Location::from_path(&inside), &following("all")).unwrap();
    let mut findings = isomorph_error::Findings::default();
    graph.validate(&mut findings).unwrap();
    assert!(findings.worst() < Some(isomorph_error::Severity::Error), "{findings:#?}");
    // The targets of links are not written to.
    let rank = isomorph_model::Property::new("rank", arrow_schema::DataType::Int64);
    let group = isomorph_graphar::extend::NewGroup::new([rank]);
    assert_eq!(graph.add_vertex_group(0, &group, &mut |_| Ok(Vec::new())).unwrap_err().kind(), Kind::Unsupported);
}

#[cfg(unix)]
#[test]
fn a_chunk_that_is_a_link_out_of_the_graph_is_not_called_missing() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("g")).unwrap();
    graph(&home.path().join("g"), "");
    let chunk = home.path().join("g/vertex/v/id/chunk0");
    fs::rename(&chunk, home.path().join("chunk0")).unwrap();
    std::os::unix::fs::symlink("../../../../chunk0", &chunk).unwrap();
    let graph = GraphAr::open(&Location::from_path(&home.path().join("g")), &OpenOptions::default()).unwrap();
    let mut findings = isomorph_error::Findings::keeping(10);
    graph.validate(&mut findings).unwrap();
    let rules: Vec<&str> = findings.by_rule().map(|(_, kept)| kept[0].rule.id).collect();
    assert!(rules.contains(&"STO-PATH-ESCAPE") && !rules.contains(&"GAR-FILE-MISSING"), "{findings:#?}");
}

#[test]
fn what_claims_too_much_is_refused_at_once() {
    let home = tempfile::tempdir().unwrap();
    graph(home.path(), "");
    let count = home.path().join("vertex/v/vertex_count");
    fs::write(&count, (1u64 << 31).to_le_bytes()).unwrap();
    assert_eq!(rule(read(home.path(), &OpenOptions::default())), "GAR-COUNT-RANGE");
    // A count of 2^31 rows in one chunk is legal, but wrong.
    fs::write(home.path().join("v.vertex.yml"), VERTEX.replace("chunk_size: 10", "chunk_size: 9223372036854775807"))
        .unwrap();
    assert_eq!(rule(read(home.path(), &OpenOptions::default())), "GAR-COUNT-ROWS");
    fs::write(&count, i64::MAX.to_le_bytes()).unwrap();
    assert_eq!(rule(read(home.path(), &OpenOptions::default())), "GAR-COUNT-ROWS");
    let graph = GraphAr::open(&Location::from_path(home.path()), &OpenOptions::default()).unwrap();
    let mut findings = isomorph_error::Findings::default();
    graph.validate(&mut findings).unwrap();
    assert!(findings.worst().is_some());
    fs::write(&count, [0; 9]).unwrap();
    assert_eq!(rule(read(home.path(), &OpenOptions::default())), "GAR-COUNT-SIZE");
}

#[test]
fn text_that_is_not_what_it_says_is_refused_with_its_line() {
    let home = tempfile::tempdir().unwrap();
    graph(home.path(), "");
    let chunk = home.path().join("vertex/v/id/chunk0");
    let broken = |text: &[u8]| {
        fs::write(&chunk, text).unwrap();
        read(home.path(), &OpenOptions::default()).unwrap_err()
    };
    for (text, id) in [
        (&b"_graphArVertexIndex,id\n0,7\n1,\xff\n"[..], "TEXT-VALUE"),
        (b"_graphArVertexIndex,id\n0,7\n1,8.5\n", "TEXT-VALUE"),
        (b"_graphArVertexIndex,id\n0,7\n1\n", "CSV-RECORD"),
        (b"_graphArVertexIndex,id\n0,7\n1,\"8\n", "CSV-RECORD"),
        (b"id2\n7\n8\n", "CSV-HEADER"),
        (b"", "CSV-HEADER"),
        (b"_graphArVertexIndex,id\n0,7\n1,8\n2,9\n", "GAR-COUNT-ROWS"),
    ] {
        let error = broken(text);
        let shown = String::from_utf8_lossy(text).into_owned();
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some(id), "{shown:?}: {error:?}");
        assert_eq!(error.place().file.as_deref(), Some("vertex/v/id/chunk0"), "{error:?}");
        assert_eq!(error.kind().exit_code(), 3);
    }
    // Without an index column, the position is the index.
    fs::write(&chunk, "id\n7\n8\n").unwrap();
    assert_eq!(read(home.path(), &OpenOptions::default()).unwrap(), 2);
}

#[test]
fn bombs_in_information_files_are_refused() {
    let home = tempfile::tempdir().unwrap();
    graph(home.path(), "");
    let with = |text: &str| {
        fs::write(home.path().join("g.graph.yml"), text).unwrap();
        read(home.path(), &OpenOptions::default())
    };
    let laughs = format!("{GRAPH}a: &a [x]\nb: [*a, *a]\n");
    assert_eq!(rule(with(&laughs)), "GAR-META-ANCHOR");
    assert_eq!(rule(with(&format!("{GRAPH}a: {}", "[".repeat(1000)))), "GAR-META-YAML");
    assert_eq!(rule(with("- a\n")), "GAR-META-YAML");
    let long = format!("{GRAPH}a: {}\n", "x".repeat(17 << 20));
    assert_eq!(with(&long).unwrap_err().kind(), Kind::TooLarge);
}

#[test]
fn unknown_keys_and_types_are_kept() {
    let home = tempfile::tempdir().unwrap();
    graph(home.path(), "");
    fs::write(home.path().join("g.graph.yml"), format!("{GRAPH}owner: me\nextra_info:\n  - key: a\n    value: 1.0\n"))
        .unwrap();
    fs::write(
        home.path().join("v.vertex.yml"),
        VERTEX.replace(
            "        is_primary: true\n",
            "        is_primary: true\n      - name: took\n        data_type: duration\n",
        ),
    )
    .unwrap();
    fs::write(home.path().join("vertex/v/id/chunk0"), "_graphArVertexIndex,id,took\n0,7,PT1H\n1,8,\n").unwrap();
    let graph = GraphAr::open(&Location::from_path(home.path()), &OpenOptions::default()).unwrap();
    assert_eq!(graph.info().unknown, [("owner".to_owned(), "me".to_owned())]);
    let property = &graph.graph().nodes[0].properties[0];
    assert_eq!(property.declared.get("type").map(String::as_str), Some("duration"));
    assert_eq!(property.data_type, arrow_schema::DataType::Utf8);
    assert!(graph.graph().metadata["graphar.layout"].contains("owner"));
    assert_eq!(graph.graph().metadata["version"], "gar/v1");
    let isomorph_model::schema::DocumentBody::Json(extra) = &graph.graph().documents[0].body else { panic!() };
    assert_eq!(extra, r#"{"a":"1.0"}"#);
    assert_eq!(MemoryGraph::read(&graph).unwrap().batches.len(), 1);
}

#[test]
fn of_a_key_of_extra_info_that_comes_again_the_first_value_counts() {
    let home = tempfile::tempdir().unwrap();
    graph(home.path(), "");
    let pairs = "extra_info:\n  - key: a\n    value: one\n  - key: b\n    value: x\n  - key: a\n    value: two\n";
    fs::write(home.path().join("g.graph.yml"), format!("{GRAPH}{pairs}")).unwrap();
    let graph = GraphAr::open(&Location::from_path(home.path()), &OpenOptions::default()).unwrap();
    let isomorph_model::schema::DocumentBody::Json(extra) = &graph.graph().documents[0].body else { panic!() };
    assert_eq!(extra, r#"{"a":"one","b":"x"}"#);
    let findings = graph.about().findings;
    let said: Vec<_> =
        findings.by_rule().flat_map(|(_, kept)| kept).map(|said| (said.rule.id, said.place.line)).collect();
    assert_eq!(said, [("GAR-META-EXTRA-TWICE", Some(GRAPH.lines().count() as u64 + 6))]);
}

#[test]
fn unknown_keys_are_written_again_or_said_to_be_dropped() {
    let home = tempfile::tempdir().unwrap();
    graph(home.path(), "");
    let unknown = "owner: me\ncity: K\u{f6}ln\ntags:\n  - a\nlabels:\n  - x\n";
    fs::write(home.path().join("g.graph.yml"), format!("{GRAPH}{unknown}")).unwrap();
    fs::write(home.path().join("v.vertex.yml"), format!("{VERTEX}team: blue\n")).unwrap();
    let graph = GraphAr::open(&Location::from_path(home.path()), &OpenOptions::default()).unwrap();
    let said: Vec<(String, bool)> = graph
        .findings()
        .by_rule()
        .flat_map(|(_, kept)| kept)
        .filter(|finding| finding.rule.id == "GAR-META-KEY-UNKNOWN")
        .map(|finding| (finding.place.field.clone().unwrap(), finding.message.contains("keeps it")))
        .collect();
    let expected = [("owner", true), ("city", false), ("tags", false), ("team", true)];
    assert_eq!(said, expected.map(|(key, kept)| (key.to_owned(), kept)));
    // With and without the rest of its layout.
    for hints in [false, true] {
        let to = Location::from_path(&home.path().join(format!("again{hints}")));
        let write = isomorph_graphar::WriteOptions { hints, ..Default::default() };
        support::pump::write_as(&graph, graph.graph(), &write, &to, 10).unwrap();
        let again = GraphAr::open(&to, &OpenOptions::default()).unwrap();
        assert_eq!(again.info().unknown, [("owner".to_owned(), "me".to_owned())]);
        assert_eq!(again.info().vertices[0].unknown, [("team".to_owned(), "blue".to_owned())]);
        assert_eq!(again.info().labels, ["x"]);
    }
}

#[test]
fn what_is_no_key_and_no_known_type_comes_back_as_it_was() {
    let home = tempfile::tempdir().unwrap();
    graph(home.path(), "");
    let primaries = "        is_primary: true\n      - name: took\n        data_type: duration\n      - name: other\n        data_type: string\n        is_primary: true\n";
    fs::write(home.path().join("v.vertex.yml"), VERTEX.replace("        is_primary: true\n", primaries)).unwrap();
    fs::write(home.path().join("vertex/v/id/chunk0"), "_graphArVertexIndex,id,took,other\n0,7,PT1H,a\n1,8,,b\n")
        .unwrap();
    fs::write(home.path().join("g.graph.yml"), GRAPH.replace("gar/v1", "gar/v1 (duration)")).unwrap();
    let graph = GraphAr::open(&Location::from_path(home.path()), &OpenOptions::default()).unwrap();
    assert_eq!(graph.graph().nodes[0].key.kind, isomorph_model::KeyKind::Row);
    let to = Location::from_path(&home.path().join("again"));
    let write = isomorph_graphar::WriteOptions { hints: true, ..Default::default() };
    support::pump::write_as(&graph, graph.graph(), &write, &to, 10).unwrap();
    let again = GraphAr::open(&to, &OpenOptions::default()).unwrap();
    assert_eq!(again.graph().nodes, graph.graph().nodes);
    assert_eq!(again.graph().metadata["version"], "gar/v1 (duration)");
    assert_eq!(support::digest::digests(&again), support::digest::digests(&graph));
    // By default, the types are those of the published library.
    let to = Location::from_path(&home.path().join("plain"));
    support::pump::write_as(&graph, graph.graph(), &Default::default(), &to, 10).unwrap();
    let plain = GraphAr::open(&to, &OpenOptions::default()).unwrap();
    assert!(plain.graph().nodes[0].properties.iter().all(|property| !property.declared.contains_key("type")));
    // A single primary property that must not be the key does not become it.
    let by_row = OpenOptions { key_row: true, ..OpenOptions::default() };
    let graph = GraphAr::open(&Location::from_path(home.path()), &by_row).unwrap();
    let to = Location::from_path(&home.path().join("row"));
    support::pump::write_as(&graph, graph.graph(), &Default::default(), &to, 10).unwrap();
    let row = GraphAr::open(&to, &OpenOptions::default()).unwrap();
    assert_eq!(row.graph().nodes[0].key.kind, isomorph_model::KeyKind::Row);
}

#[test]
fn counts_that_no_file_bears_out_cost_nothing() {
    let home = tempfile::tempdir().unwrap();
    let source = support::social::social(20);
    let at = Location::from_path(&home.path().join("social"));
    support::pump::write_as(&source, &source.graph, &Default::default(), &at, 100).unwrap();
    let huge = "chunk_size: 9223372036854775807";
    for name in ["person", "city"] {
        let yml = home.path().join(format!("social/{name}.vertex.yml"));
        let text = fs::read_to_string(&yml).unwrap();
        fs::write(&yml, text.replace("chunk_size: 65536", huge)).unwrap();
        fs::write(home.path().join(format!("social/vertex/{name}/vertex_count")), (1u64 << 61).to_le_bytes()).unwrap();
    }
    let few = Narrowing {
        keys: true,
        filter: Some(isomorph_model::Predicate::equal(Narrowing::KEY, 1000)),
        ..Narrowing::least()
    };
    let graph = GraphAr::open(&at, &OpenOptions::default()).unwrap();
    for request in [
        Request::of(Tables::Nodes(0)).narrowed(few),
        Request::of(Tables::Nodes(0)),
        Request::of(Tables::Nodes(1)),
        Request::of(Tables::NodeKeys(1)),
    ] {
        let parts = graph.scan(&request).unwrap();
        let error = parts.into_iter().try_for_each(|mut part| part.read(&mut |_| Ok(()))).unwrap_err();
        assert_eq!(error.broken_rule().unwrap().id, "GAR-COUNT-ROWS", "{request:?}");
    }
    let mut findings = isomorph_error::Findings::default();
    graph.validate(&mut findings).unwrap();
    assert_eq!(findings.worst(), Some(isomorph_error::Severity::Error));
}
