//! What formats of databases do not tell apart by themselves: nodes of types whose names are labels, keys of several types, tables in
//! several files, and values that change.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use isomorph_convert::{ConvertOptions, Format, Opened, Plan, Silent, convert};
use isomorph_error::{Error, Findings, Kind};
use isomorph_storage::{Budget, Location, Resources};

use super::flat_tables::{digests, directory, lines, open, opened};

fn write(opened: &Opened, to: Format, place: &Path, lossy: bool) -> Result<Plan, Error> {
    let place = Location::from_path(place);
    let resources = Resources { threads: 2, budget: Budget::new(1 << 28), ..Resources::of_this_machine().unwrap() };
    let options = ConvertOptions { to: Some(to), lossy, ..ConvertOptions::default() };
    let plan = Plan::new(opened, &place, &options, &resources, &Silent)?;
    convert(opened, &plan, &place, &options, &resources, &Silent)?;
    Ok(plan)
}

/// A database that runs the statements of a script literally: `MERGE` and `MATCH` find whatever has the label and the key.
#[derive(Default, Debug)]
struct Database {
    nodes: Vec<(BTreeSet<String>, BTreeMap<String, String>)>,
    edges: Vec<[usize; 2]>,
    constraints: Vec<(String, String)>,
}

fn between<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
    let rest = text.split_once(from).unwrap_or_else(|| panic!("no {from} in {text}")).1;
    rest.split_once(to).unwrap_or_else(|| panic!("no {to} in {rest}")).0
}

impl Database {
    fn found(&self, label: &str, key: &str, value: &str) -> Vec<usize> {
        let is = |(labels, own): &(BTreeSet<String>, BTreeMap<String, String>)| {
            labels.contains(label) && own.get(key).is_some_and(|own| own == value)
        };
        (0..self.nodes.len()).filter(|at| is(&self.nodes[*at])).collect()
    }

    fn run(script: &str) -> Database {
        let mut own = Database::default();
        for statement in script
            .split(";\n")
            .map(str::trim)
            .filter(|text| !text.is_empty() && !text.starts_with("// A graph for Neo4j: cypher-shell -f FILE\n//"))
        {
            own.statement(statement);
            for (label, key) in &own.constraints {
                let mut seen = BTreeSet::new();
                for (labels, properties) in &own.nodes {
                    if labels.contains(label) {
                        assert!(
                            properties.get(key).is_none_or(|value| seen.insert(value)),
                            "{label}.{key}: {statement}"
                        );
                    }
                }
            }
        }
        own
    }

    fn statement(&mut self, text: &str) {
        if text.contains("CREATE CONSTRAINT") {
            return self
                .constraints
                .push((between(text, "(n:`", "`").to_owned(), between(text, "REQUIRE n.", " ").to_owned()));
        }
        if text.contains("DROP CONSTRAINT") {
            let name = between(text, "CONSTRAINT `", "`");
            return self.constraints.retain(|(label, _)| label != name);
        }
        if text.starts_with("MATCH") {
            let label = between(text, "REMOVE n:`", "`");
            for (labels, _) in &mut self.nodes {
                labels.remove(label);
            }
            return;
        }
        let rows = between(text, "[", "]");
        if text.contains("AS key") {
            let (label, key) = (between(text, "(n:`", "`"), between(text, "` {", ":"));
            for value in rows.split(", ") {
                for at in self.found(label, key, value) {
                    self.nodes[at].0.insert(between(text, "SET n:`", "`").to_owned());
                }
            }
            return;
        }
        for row in rows.lines().filter(|row| !row.trim().is_empty()) {
            if text.contains("MERGE") {
                let (label, key) = (between(text, "MERGE (n:`", "`"), between(text, "` {", ":"));
                let value = between(row, "key: ", ",");
                let mut found = self.found(label, key, value);
                if found.is_empty() {
                    self.nodes.push(([label.to_owned()].into(), [(key.to_owned(), value.to_owned())].into()));
                    found.push(self.nodes.len() - 1);
                }
                let given = between(row, "properties: {", "}");
                for at in found {
                    if text.contains("SET n:`") {
                        self.nodes[at].0.insert(between(text, "SET n:`", "`").to_owned());
                    }
                    let given = given.split(", ").filter_map(|one| one.split_once(": "));
                    self.nodes[at].1.extend(given.map(|(name, value)| (name.to_owned(), value.to_owned())));
                }
            } else {
                let end = |letter: &str, role: &str| {
                    let pattern = between(text, &format!("({letter}:`"), ")");
                    let (label, rest) = pattern.split_once("` {").unwrap();
                    let value = row.split_once(&format!("{role}: ")).unwrap().1.split(", ").next().unwrap();
                    self.found(label, rest.split(':').next().unwrap(), value)
                };
                let (sources, targets) = (end("a", "source"), end("b", "target"));
                for from in sources {
                    self.edges.extend(targets.iter().map(|to| [from, *to]));
                }
            }
        }
    }
}

#[test]
fn scripts_keep_nodes_apart_whose_labels_are_names_of_types() {
    let home = tempfile::tempdir().unwrap();
    let labelled = [
        ("a.csv", "id:ID(Boss),:LABEL\n1,Boss;Person\n"),
        ("b.csv", "id:ID(Person),name,:LABEL\n1,Ann,Person\n2,Bo,Person\n"),
        ("r.csv", ":START_ID(Person),:END_ID(Boss),:TYPE\n1,1,K\n2,1,K\n"),
    ];
    // The other way round, and a key of another name beside an ordinary property `id`.
    let turned = [
        ("a.csv", "id:ID(A),:LABEL\n1,A\n"),
        ("b.csv", "key:ID(B),id,:LABEL\n1,1,B;A\n2,7,B\n"),
        ("r.csv", ":START_ID(A),:END_ID(B),:TYPE\n1,1,K\n1,2,K\n"),
    ];
    for (number, files) in [&labelled, &turned].into_iter().enumerate() {
        let files = directory(files);
        let source = open(files.path());
        let place = home.path().join(format!("{number}.cypher"));
        write(&source, Format::CYPHER, &place, false).unwrap();
        let script = std::fs::read_to_string(&place).unwrap();
        let database = Database::run(&script);
        assert_eq!((database.nodes.len(), database.edges.len()), (3, 2), "{script}\n{database:?}");
        for (labels, _) in &database.nodes {
            assert!(labels.iter().all(|label| !label.contains("isomorph")), "{database:?}");
        }
        assert!(database.edges.iter().all(|[from, to]| from != to), "{database:?}");
        // And without the sidecar, the script says the same.
        assert_eq!(digests(&super::databases::alone(&place)).unwrap().content, digests(&source).unwrap().content);
    }
    let names = |at: usize| {
        let database = Database::run(&std::fs::read_to_string(home.path().join(format!("{at}.cypher"))).unwrap());
        let named = database.nodes.iter().filter(|(_, own)| own.contains_key("name"));
        named.map(|(labels, _)| labels.iter().cloned().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(names(0), ["Person", "Person"], "the boss has no name");
}

#[test]
fn keys_of_two_types_that_would_be_one_id_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let files = directory(&[("a.csv", "id:ID(A),:LABEL\nb/c,A\n"), ("b.pgq", "")]);
    std::fs::remove_file(files.path().join("b.pgq")).unwrap();
    std::fs::write(files.path().join("b.csv"), "id:ID(A/b),:LABEL\nc,A/b\n").unwrap();
    for (number, (to, lossy)) in
        [(Format::APOC, false), (Format::APOC, true), (Format::PSL, true)].into_iter().enumerate()
    {
        let error = write(&open(files.path()), to, &home.path().join(number.to_string()), lossy).unwrap_err();
        assert_eq!(error.kind(), Kind::WouldLose, "{to}: {error:?}");
        assert!(error.message().contains("A/b/c"), "{to}: {error:?}");
    }
    // Keys that only look alike are written.
    std::fs::write(files.path().join("a.csv"), "id:ID(A),:LABEL\nbc,A\nc/b,A\n").unwrap();
    write(&open(files.path()), Format::APOC, &home.path().join("all.json"), false).unwrap();
}

#[test]
fn lines_nested_too_deep_are_an_error() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("deep.json");
    let text = |depth: usize, of: &str| match of {
        "x" => format!(
            r#"{{"type":"node","id":"0","labels":["A"],"properties":{{"x":{}{}}}}}"#,
            "[".repeat(depth),
            "]".repeat(depth)
        ),
        _ => format!(r#"{{"type":"node","id":{}{}}}"#, "[".repeat(depth), "]".repeat(depth)),
    };
    for (depth, of) in [(600, "x"), (15_000, "x"), (1_000_000, "x"), (1_000_000, "id")] {
        std::fs::write(&place, text(depth, of)).unwrap();
        let error = opened(&place).err().unwrap_or_else(|| panic!("{depth}"));
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some("NEO4J-RECORD"), "{error:?}");
    }
    std::fs::write(&place, text(100, "x")).unwrap();
    assert_eq!(lines(&open(&place)).len(), 1);
}

#[test]
fn names_without_text_and_numbers_that_no_float_holds() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("a.json");
    for line in [
        r#"{"type":"node","id":"0","labels":["A"],"properties":{"":"w"}}"#,
        r#"{"type":"node","id":"0","labels":[""]}"#,
    ] {
        std::fs::write(&place, line).unwrap();
        assert!(opened(&place).err().unwrap().message().contains("empty"), "{line}");
    }
    std::fs::write(&place, r#"{"type":"node","id":"0","labels":["A"],"properties":{"x":1.5,"y":1e400}}"#).unwrap();
    let source = open(&place);
    assert_eq!(source.graph.graph().nodes[0].properties[1].data_type, arrow_schema::DataType::Utf8);
    let mut findings = Findings::keeping(5);
    source.native.validate(&mut findings).unwrap();
    assert!(findings.is_empty(), "{findings:?}");
    let place = home.path().join("a.cypher");
    std::fs::write(
        &place,
        "// A graph for Neo4j: cypher-shell -f FILE\nUNWIND [\n{key: 1, properties: {id: 7}}\n] AS row\nMERGE (n:`A` {id: row.key})\nSET n += row.properties;\n",
    )
    .unwrap();
    assert!(opened(&place).err().unwrap().message().contains("has another id"));
}

#[test]
fn types_of_neo4j_come_back_in_its_headers() {
    let home = tempfile::tempdir().unwrap();
    let head = "id:ID(P){id-type:long},:LABEL,t:localtime,du:duration,p:point{crs:WGS-84},da:date[]";
    let files = directory(&[
        ("n.csv", &format!("{head}\n007,P,12:30,P1D,\"{{latitude:1.5,longitude:2}}\",2020-01-01;2020-01-02\n")),
        ("r.csv", ":START_ID(P),:END_ID(P),:TYPE\n7,007,K\n"),
    ]);
    let source = open(files.path());
    assert_eq!(source.graph.graph().nodes[0].key.data_type, arrow_schema::DataType::Int64, "as {{id-type}} says");
    let place = home.path().join("out");
    let plan = write(&source, Format::NEO4J, &place, false).unwrap();
    let written = std::fs::read_to_string(place.join("P.csv")).unwrap();
    assert!(written.starts_with(&format!("{head}\n7,P;P,12:30,P1D,")), "{written}");
    assert_eq!(digests(&open(&place)).unwrap(), digests(&source).unwrap());
    assert!(plan.losses.iter().any(|loss| loss.subject == "node type P"), "{:?}", plan.losses);
    let plan = write(&source, Format::CYPHER, &home.path().join("out.cypher"), true).unwrap();
    let of = |subject: &str| plan.losses.iter().find(|loss| loss.subject == subject).map(|loss| loss.becomes.as_str());
    assert_eq!((of("P.t"), of("P.da")), (Some("localtime: text"), Some("date[]: text")));
    // A relationship without a type is none.
    std::fs::write(files.path().join("r.csv"), ":START_ID(P),:END_ID(P),:TYPE\n7,7,\n").unwrap();
    assert_eq!(opened(files.path()).err().unwrap().broken_rule().map(|rule| rule.id), Some("FLAT-RELATION"));
}

#[test]
fn what_changes_in_neo4j_is_listed() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("m.json");
    let mixed = "{\"type\":\"node\",\"id\":\"0\",\"labels\":[\"A\"],\"properties\":{\"x\":1}}\n{\"type\":\"node\",\"id\":\"1\",\"labels\":[\"A\"],\"properties\":{\"x\":1.5}}\n";
    std::fs::write(&place, mixed).unwrap();
    let subjects = |plan: &Plan| plan.losses.iter().map(|loss| loss.subject.clone()).collect::<Vec<_>>();
    for (number, to) in [Format::APOC, Format::CYPHER, Format::NEO4J].into_iter().enumerate() {
        let plan = write(&open(&place), to, &home.path().join(number.to_string()), true).unwrap();
        assert_eq!(subjects(&plan), ["node type node", "ids of node", "node.x"], "{to}");
        assert!(plan.lines.iter().any(|line| line.subject == "node.x"), "{to}: {:?}", plan.lines);
    }
    let mapping = "CREATE EXTERNAL TABLE p (id BIGINT, born DATE) STORED AS CSV LOCATION 'p.csv';
CREATE EXTERNAL TABLE m (a BIGINT, b BIGINT) STORED AS CSV LOCATION 'm.csv' OPTIONS ('isomorph.direction' 'undirected');
CREATE PROPERTY GRAPH g VERTEX TABLES (p KEY (id)) EDGE TABLES (m SOURCE KEY (a) REFERENCES p (id) DESTINATION KEY (b) REFERENCES p (id));";
    let files = directory(&[("graph.pgq", mapping), ("p.csv", "id,born\n1,2000-01-02\n"), ("m.csv", "a,b\n1,1\n")]);
    let plan = write(&open(files.path()), Format::APOC, &home.path().join("p.json"), true).unwrap();
    assert_eq!(subjects(&plan), ["ids of p", "p.born", "p ─m─ p"]);
    let plan = write(&open(files.path()), Format::CYPHER, &home.path().join("p.cypher"), true).unwrap();
    assert_eq!(subjects(&plan), ["p ─m─ p"]);
}
