//! Formats of databases: Neo4j's headers, APOC, Cypher and PSL.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use isomorph_convert::{ConvertOptions, Format, OpenOptions, Opened, Plan, SidecarUse, Silent, convert};
use isomorph_error::{Error, Findings, Kind};
use isomorph_fixtures::fixture;
use isomorph_storage::{Budget, Location, Resources};
use serde_json::{Value, json};

use super::flat_tables::{columns, digests, directory, lines, open, opened};

fn resources() -> Resources {
    Resources { threads: 2, budget: Budget::new(1 << 28), ..Resources::of_this_machine().unwrap() }
}

pub(super) fn write(opened: &Opened, to: Format, place: &Path, lossy: bool) -> Result<Plan, Error> {
    let place = Location::from_path(place);
    let options = ConvertOptions { to: Some(to), lossy, ..ConvertOptions::default() };
    let plan = Plan::new(opened, &place, &options, &resources(), &Silent)?;
    convert(opened, &plan, &place, &options, &resources(), &Silent)?;
    Ok(plan)
}

pub(super) fn alone(place: &Path) -> Opened {
    let options = OpenOptions { sidecar: SidecarUse::Ignore, ..OpenOptions::default() };
    Opened::open(&Location::from_path(place), &options).unwrap_or_else(|error| panic!("{error:?}"))
}

#[test]
fn tables_for_neo4j_have_the_headers_of_its_manual() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("out");
    let plan = write(&open(&fixture("inout/neo4j")), Format::NEO4J, &place, false).unwrap();
    let head = |name: &str| {
        let text = std::fs::read_to_string(place.join(name)).unwrap();
        text.lines().next().unwrap().to_owned()
    };
    assert_eq!(head("Person.csv"), "personId:ID(Person),:LABEL,name:string,age:long,tags:string[]");
    assert_eq!(head("KNOWS.csv"), ":START_ID(Person),:END_ID(Person),:TYPE,since:date,weight:double");
    let command = plan.lines.iter().find(|line| line.subject == "load it with").unwrap();
    assert_eq!(
        command.becomes,
        "neo4j-admin database import full neo4j --nodes=City.csv --nodes=Person.csv --relationships=KNOWS.csv \
         --relationships=LIVES_IN.csv --multiline-fields=true"
    );
    // What headers say alone is the same content, with the type among the labels, and ids as text.
    std::fs::remove_file(place.join("graph.pgq")).unwrap();
    let _ = std::fs::remove_dir_all(place.join(".isomorph"));
    let by_headers = alone(&place);
    assert_eq!(by_headers.format, Format::NEO4J);
    assert_eq!(columns(by_headers.graph.graph()), columns(open(&fixture("inout/neo4j")).graph.graph()));
    assert_eq!(
        digests(&by_headers).unwrap().content,
        digests(&open(&fixture("inout/neo4j"))).unwrap().content,
        "each of these nodes had its type as a label before"
    );
}

#[test]
fn what_admin_import_cannot_tell_apart_is_refused() {
    let home = tempfile::tempdir().unwrap();
    for (number, (list, words)) in
        [("[\"a;b\"]", "divides items"), ("[null]", "is null"), ("[\"\"]", "one empty text")].into_iter().enumerate()
    {
        let mapping = "CREATE EXTERNAL TABLE p (id BIGINT, t VARCHAR[]) STORED AS JSON LOCATION 'p.jsonl';
CREATE PROPERTY GRAPH g VERTEX TABLES (p KEY (id));";
        let files = directory(&[("graph.pgq", mapping), ("p.jsonl", &format!("{{\"id\":1,\"t\":{list}}}\n"))]);
        let error =
            write(&open(files.path()), Format::NEO4J, &home.path().join(number.to_string()), false).unwrap_err();
        assert_eq!(error.kind(), Kind::WouldLose, "{error:?}");
        assert!(error.message().contains(words), "{error:?}");
    }
}

const APOC: &str = r#"{"type":"node","id":"0","labels":["User","Admin"],"properties":{"name":"Ann","age":42,"score":1.5,"tags":["a","b"],"born":"2015-07-04"}}
{"type":"node","id":"1","labels":["User"],"properties":{"name":"Bo","age":12,"mixed":[1,"x"]}}
{"type":"node","id":"2","labels":["User"]}
{"id":"0","type":"relationship","label":"KNOWS","properties":{"since":1993},"start":{"id":"0","labels":["User"]},"end":{"id":"1","labels":["User"]}}
{"id":"1","type":"relationship","label":"KNOWS","start":{"id":"1","labels":["User"]},"end":{"id":"2","labels":["User"]}}
"#;

#[test]
fn exports_of_apoc_are_read_as_they_are() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("all.json");
    std::fs::write(&place, APOC).unwrap();
    let source = open(&place);
    assert_eq!(source.format, Format::APOC);
    let expected = [
        "node( Utf8): name string, age int64, score double, tags list<string>, born string, mixed string",
        "node KNOWS node: since int64",
    ];
    assert_eq!(columns(source.graph.graph()), expected);
    let nodes: Vec<Value> = lines(&source).into_iter().filter(|line| line.get("node").is_some()).collect();
    assert_eq!(nodes[0]["labels"], json!(["Admin", "User"]));
    assert_eq!(nodes[1]["properties"]["mixed"], json!([1, "x"]));
    assert_eq!(nodes[2].get("properties"), None);
    let mut findings = Findings::keeping(5);
    source.native.validate(&mut findings).unwrap();
    assert!(findings.is_empty(), "{findings:?}");
    for (at, to) in [Format::GRAPHAR, Format::NOCK, Format::CYPHER, Format::APOC, Format::NEO4J].into_iter().enumerate()
    {
        let name = home.path().join(format!("{at}{}", if to == Format::NOCK { ".parq" } else { "" }));
        write(&source, to, &name, false).unwrap_or_else(|error| panic!("{to}: {error:?}"));
        assert_eq!(digests(&open(&name)).unwrap(), digests(&source).unwrap(), "{to}");
    }
}

#[test]
fn an_export_of_apoc_is_known_by_its_first_line() {
    let home = tempfile::tempdir().unwrap();
    for name in ["a.json", "b.jsonl", "c.ndjson", "d.txt", "e"] {
        std::fs::write(home.path().join(name), APOC).unwrap();
        assert_eq!(open(&home.path().join(name)).format, Format::APOC, "{name}");
    }
}

#[test]
fn times_and_infinities_are_spelled_as_neo4j_reads_them() {
    let home = tempfile::tempdir().unwrap();
    let mapping = "CREATE EXTERNAL TABLE p (id BIGINT, t TIMESTAMP(3), z TIMESTAMP(3) WITH TIME ZONE, f DOUBLE) STORED AS CSV LOCATION 'p.csv';
CREATE PROPERTY GRAPH g VERTEX TABLES (p KEY (id));";
    let cells = "id,t,z,f\n1,2020-01-02 03:04:05.678,2020-01-02T03:04:05Z,inf\n2,,,-inf\n3,,,NaN\n4,,,0.5\n";
    let files = directory(&[("graph.pgq", mapping), ("p.csv", cells)]);
    let source = open(files.path());
    write(&source, Format::NEO4J, &home.path().join("out"), false).unwrap();
    let text = std::fs::read_to_string(home.path().join("out/p.csv")).unwrap();
    let expected = "id:ID(p){id-type:long},:LABEL,t:localdatetime,z:datetime,f:double
1,p,2020-01-02T03:04:05.678,2020-01-02T03:04:05Z,Infinity
2,p,,,-Infinity
3,p,,,NaN
4,p,,,0.5
";
    assert_eq!(text, expected);
    assert_eq!(digests(&open(&home.path().join("out"))).unwrap(), digests(&source).unwrap());
}

#[test]
fn lines_that_are_no_records_are_named() {
    let home = tempfile::tempdir().unwrap();
    let first = APOC.lines().next().unwrap();
    for (line, words) in [
        ("{", "EOF"),
        (r#"{"type":"edge","id":"1"}"#, "neither node nor relationship"),
        (r#"{"type":"node"}"#, "no id"),
        (r#"{"type":"node","id":"7","properties":{"a":1,"a":2}}"#, "comes twice"),
        (r#"{"type":"node","id":[1]}"#, "neither a text nor a number"),
        (r#"{"type":"relationship","label":"X","start":{"id":"0"}}"#, "no end"),
        (r#"{"type":"relationship","start":{"id":"0"},"end":{"id":"0"}}"#, "no label"),
    ] {
        let place = home.path().join("bad.json");
        std::fs::write(&place, format!("{first}\n{line}\n")).unwrap();
        let error = opened(&place).err().unwrap_or_else(|| panic!("{line}"));
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some("NEO4J-RECORD"), "{error:?}");
        assert!(error.message().contains(words), "{line}: {error:?}");
        assert_eq!(error.place().line, Some(2), "{error:?}");
    }
}

#[test]
fn ends_that_are_no_nodes_are_an_error() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("bad.json");
    std::fs::write(&place, APOC.replace(r#""end":{"id":"2""#, r#""end":{"id":"7""#)).unwrap();
    let error = opened(&place).err().unwrap();
    assert_eq!(error.broken_rule().map(|rule| rule.id), Some("NEO4J-END"), "{error:?}");
    assert!(error.to_string().contains('7'), "{error:?}");
}

#[test]
fn scripts_say_types_keys_and_labels_without_a_sidecar() {
    let home = tempfile::tempdir().unwrap();
    let source = open(&fixture("inout/neo4j"));
    let place = home.path().join("out.cypher");
    write(&source, Format::CYPHER, &place, false).unwrap();
    let script = alone(&place);
    assert_eq!(columns(script.graph.graph()).len(), columns(source.graph.graph()).len());
    assert_eq!(digests(&script).unwrap().content, digests(&source).unwrap().content);
    // Another script is not guessed at.
    std::fs::write(&place, "// A graph for Neo4j: cypher-shell -f FILE\nMATCH (n) DETACH DELETE n;\n").unwrap();
    let options = OpenOptions { sidecar: SidecarUse::Ignore, ..OpenOptions::default() };
    let error = Opened::open(&Location::from_path(&place), &options).err().unwrap();
    assert_eq!(error.broken_rule().map(|rule| rule.id), Some("NEO4J-RECORD"), "{error:?}");
}

#[test]
fn data_of_psl_is_a_graph_with_truth() {
    let home = tempfile::tempdir().unwrap();
    let source = open(&fixture("inout/psl"));
    assert_eq!(source.format, Format::PSL);
    let expected = [
        "constant( Utf8): ",
        "constant Knows constant: truth double",
        "constant Lived constant: truth double",
        "constant Knows:target constant: ",
    ];
    assert_eq!(columns(source.graph.graph()), expected);
    let edges: Vec<Value> = lines(&source).into_iter().filter(|line| line.get("edge").is_some()).collect();
    // Held against the file, line by line.
    let text = std::fs::read_to_string(fixture("inout/psl/knows_obs.txt")).unwrap();
    let wanted: Vec<(String, String, f64)> = text
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split('\t').collect();
            (cells[0].to_owned(), cells[1].to_owned(), cells[2].parse().unwrap())
        })
        .collect();
    let found: Vec<(String, String, f64)> = edges
        .iter()
        .filter(|edge| edge["edge"].to_string().contains("\"Knows\""))
        .map(|edge| {
            let end = |at: usize| edge["ends"][at].as_str().unwrap_or_else(|| panic!("{edge}")).to_owned();
            (end(0), end(1), edge["properties"]["truth"].as_f64().unwrap())
        })
        .collect();
    assert_eq!(found, wanted);
    for (to, name) in
        [(Format::PSL, "psl"), (Format::NOCK, "a.parq"), (Format::GRAPHAR, "graphar"), (Format::APOC, "a.json")]
    {
        write(&source, to, &home.path().join(name), false).unwrap_or_else(|error| panic!("{to}: {error:?}"));
        let there = open(&home.path().join(name));
        assert_eq!(digests(&there).unwrap(), digests(&source).unwrap(), "{to}");
        write(&there, Format::PSL, &home.path().join(format!("{name}_back")), false).unwrap();
        assert_eq!(
            digests(&open(&home.path().join(format!("{name}_back")))).unwrap(),
            digests(&source).unwrap(),
            "{to}"
        );
    }
    let written = std::fs::read_to_string(home.path().join("psl/graph.data")).unwrap();
    assert!(
        written.contains("  Knows/2: open\n") && written.contains("targets:\n  Knows: Knows_targets.txt"),
        "{written}"
    );
}

#[test]
fn psl_refuses_what_is_no_truth() {
    let home = tempfile::tempdir().unwrap();
    // A weight that is no truth is in a table of the sidecar.
    let source = open(&fixture("inout/neo4j"));
    write(&source, Format::PSL, &home.path().join("a"), false).unwrap();
    assert_eq!(digests(&open(&home.path().join("a"))).unwrap(), digests(&source).unwrap());
    let plan = write(&open(&fixture("inout/neo4j")), Format::PSL, &home.path().join("b"), true).unwrap();
    assert!(plan.losses.iter().any(|loss| loss.subject == "property weight of KNOWS"), "{:?}", plan.losses);
    let text = std::fs::read_to_string(home.path().join("b/KNOWS_obs.txt")).unwrap();
    assert!(text.starts_with("Person/1\tPerson/1\n"), "{text}");
    for (atom, words) in
        [("a\n", "fields"), ("a\tb\tc\td\n", "fields"), ("a\tb\t1.5\n", "not a truth"), ("a\t\n", "empty")]
    {
        let files = directory(&[("x.data", "predicates:\n  K/2: open\nobservations:\n  K: k.txt\n"), ("k.txt", atom)]);
        let error = opened(files.path()).err().unwrap_or_else(|| panic!("{atom}"));
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some("PSL-ATOM"), "{error:?}");
        assert!(error.message().contains(words), "{atom}: {error:?}");
    }
    let files =
        directory(&[("x.data", "predicates:\n  K/3: open\nobservations:\n  K: k.txt\n"), ("k.txt", "a\tb\tc\n")]);
    assert_eq!(opened(files.path()).err().unwrap().kind(), Kind::Unsupported);
}

#[test]
fn atoms_of_psl_that_stand_twice_are_findings() {
    let data = "predicates:\n  K/2: open\nobservations:\n  K: k.txt\ntargets:\n  K: t.txt\n";
    for (observed, targets, words) in [
        ("a\tb\na\tb\n", "", vec!["K(a, b) comes twice"]),
        ("a\tb\t1.0\na\tb\t0.5\na\tb\t0.25\n", "", vec!["K(a, b) comes twice, with different truths"]),
        ("a\tb\n", "a\tb\n", vec!["K(a, b) is both observed and a target"]),
        ("a\tb\nb\ta\n", "a\ta\na\ta\n", vec!["K(a, a) comes twice"]),
        ("a\tb\nb\ta\n", "a\ta\n", vec![]),
    ] {
        let files = directory(&[("x.data", data), ("k.txt", observed), ("t.txt", targets)]);
        let mut findings = Findings::keeping(9);
        open(files.path()).native.validate(&mut findings).unwrap();
        let told: Vec<&str> =
            findings.by_rule().flat_map(|(_, kept)| kept).map(|finding| finding.message.as_str()).collect();
        assert_eq!(told, words, "{observed:?} {targets:?}");
    }
}
