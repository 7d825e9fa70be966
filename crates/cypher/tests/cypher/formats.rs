//! The same questions of the same graph in all formats.

use std::collections::BTreeMap;

use isomorph::dataset::Cancel;
use isomorph::storage::Budget;
use isomorph_cypher::{Options, Query, TableGraph, to_json};

const QUESTIONS: &[&str] = &[
    "MATCH (n) RETURN count(*) AS nodes",
    "MATCH ()-[r]->() RETURN type(r) AS type, count(*) AS edges ORDER BY type",
    "MATCH (p:person)-[:knows]-(q:person) RETURN count(*) AS n, count(DISTINCT p) AS people",
    "MATCH (c:city)<-[:livesIn]-(p:person) RETURN c.name AS city, count(*) AS people ORDER BY people DESC, city LIMIT 7",
    "MATCH (p:person)-[:wrote]->(post) WHERE p.firstName = 'Zoë' RETURN p.lastName AS name, post.content AS content",
    "MATCH (a:person)-[:knows]-(b:person)-[:knows]-(c:person) WHERE a.lastName = 'Andersson' AND a.firstName = 'Zoë' RETURN count(*) AS n, count(DISTINCT c.email) AS emails",
    "MATCH (p:person)-[l:likes]->(post) WHERE l.weight > 0.5 RETURN count(*) AS n, sum(l.weight) AS weight",
    "MATCH (p:Teacher) RETURN count(*) AS teachers",
    "MATCH (p:person) WHERE NOT (p)-[:wrote]->() RETURN count(*) AS silent",
    "MATCH (a:person)-[:livesIn]->(c:city)<-[:livesIn]-(b:person) WHERE (a)-[:knows]-(b) RETURN c.name AS city, count(*) AS n ORDER BY n DESC, city LIMIT 5",
];

fn answers(place: &str) -> Vec<Vec<String>> {
    let graph = isomorph::open(place).unwrap_or_else(|error| panic!("{place}: {error:?}"));
    let dataset = graph.dataset().unwrap_or_else(|error| panic!("{place}: {error:?}"));
    let options = Options::new(Budget::new(1 << 30));
    QUESTIONS
        .iter()
        .map(|text| {
            let tables = TableGraph::new(dataset, &options.budget, Cancel::new()).unwrap();
            let query = Query::parse(text, &BTreeMap::new()).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
            let rows = query.run(&tables, &options).unwrap();
            let mut lines: Vec<String> = rows
                .map(|row| {
                    let row = row.unwrap_or_else(|fault| panic!("{place}: {text}: {}", fault.into_error(text)));
                    row.iter().map(|value| to_json(value, &tables).unwrap().to_string()).collect::<Vec<_>>().join(" ")
                })
                .collect();
            lines.sort();
            lines
        })
        .collect()
}

#[test]
fn ten_questions_have_one_answer_in_all_formats() {
    let social = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/social");
    let home = tempfile::tempdir().unwrap();
    let graph = isomorph::open(social).unwrap();
    let expected = answers(social);
    assert!(expected.iter().all(|lines| !lines.is_empty() && lines[0] != "0"), "{expected:#?}");
    let places = ["social.parq", "social.annnet", "social.lake", "social.ttl", "social.graphml", "social.cypher"];
    for name in places {
        let place = home.path().join(name).display().to_string();
        graph.convert(&place).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        for (question, (found, wanted)) in QUESTIONS.iter().zip(answers(&place).iter().zip(&expected)) {
            assert_eq!(found, wanted, "{name}: {question}");
        }
    }
}

/// A look-up and a scan have one answer: from one node by its key, and from all nodes with a condition.
#[test]
fn selective_questions_answer_as_scans_do() {
    let social = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/social");
    let graph = isomorph::open(social).unwrap();
    let options = Options::new(Budget::new(1 << 30));
    let ask = |text: &str| {
        let tables = TableGraph::new(graph.dataset().unwrap(), &options.budget, Cancel::new()).unwrap();
        let query = Query::parse(text, &BTreeMap::new()).unwrap();
        let mut lines: Vec<String> = query
            .run(&tables, &options)
            .unwrap()
            .map(|row| {
                row.unwrap()
                    .iter()
                    .map(|value| to_json(value, &tables).unwrap().to_string())
                    .collect::<Vec<_>>()
                    .join(" ")
            })
            .collect();
        lines.sort();
        lines
    };
    for id in [1000, 1007, 1014, 1021, 1700, 999_999] {
        for rest in [
            "-[r]-(b) RETURN a, r, b",
            "-[r:knows]->(b)-[s:knows]-(c) RETURN a.id, r.since, b.id, s.since, c.id",
            "-[r:knows*1..2]-(b) RETURN [x IN r | x.since] AS s, b.id",
            "-[:knows]-(b)-[:wrote]->(p)<-[l:likes]-(c) RETURN b.id, p.id, l.weight, c.id",
            "--(b)--(c) RETURN count(*), count(DISTINCT b), count(DISTINCT c)",
        ] {
            let by_key = ask(&format!("MATCH (a:person {{id: {id}}}){rest}"));
            // A sum is no look-up.
            let by_scan = ask(&format!(
                "MATCH (all:person) WITH count(*) AS n MATCH (a:person) WHERE a.id + 0 = {id} WITH a MATCH (a){rest}"
            ));
            assert_eq!(by_key, by_scan, "{id}: {rest}");
        }
    }
}

/// The scripts that are written for Neo4j are openCypher, whatever the names and texts are.
#[test]
fn scripts_are_accepted_by_the_grammar() {
    let home = tempfile::tempdir().unwrap();
    let nodes = "id,a `b`,type,text\n1,x,\"q\"\"uote\",\"back\\slash \\u0041\"\n2,,\"semi;colon\",\"line\nend\"\n";
    std::fs::write(home.path().join("nodes.csv"), nodes).unwrap();
    std::fs::write(home.path().join("edges.csv"), "source,target,true\n1,2,0.5\n2,2,1e300\n").unwrap();
    let social = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/social").to_owned();
    let made = tempfile::tempdir().unwrap();
    for (number, source) in [home.path().display().to_string(), social].into_iter().enumerate() {
        let place = made.path().join(format!("{number}.cypher"));
        isomorph::open(&source).unwrap().convert(&place.display().to_string()).unwrap();
        let script = std::fs::read_to_string(&place).unwrap();
        let mut statements = 0;
        // Every statement is followed by an empty line; constraints are no part of openCypher.
        for statement in script.split("\n\n").skip(1).filter(|statement| !statement.trim().is_empty()) {
            open_cypher::parse(statement.trim_end_matches(';'))
                .unwrap_or_else(|errors| panic!("{statement}: {errors:?}"));
            statements += 1;
        }
        assert!(statements >= 2, "{script}");
    }
}

#[test]
fn a_null_that_was_written_is_a_value() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("mixed.json");
    let nodes = r#"{"id":"a","m":5},{"id":"b","m":"5"},{"id":"c","m":null},{"id":"d"}"#;
    std::fs::write(&file, format!(r#"{{"directed":true,"multigraph":false,"nodes":[{nodes}],"edges":[]}}"#)).unwrap();
    let graph = isomorph::open(&file.display().to_string()).unwrap();
    let options = Options::new(Budget::new(1 << 30));
    let tables = TableGraph::new(graph.dataset().unwrap(), &options.budget, Cancel::new()).unwrap();
    for (question, expected) in [
        ("MATCH (n) RETURN count(n.m) AS n", "3"),
        ("MATCH (n) WHERE n.m IS NULL RETURN n.key AS k", "\"d\""),
        ("MATCH (n {key: 'c'}) RETURN [n.m, n.m IS NULL, n.m = n.m, toString(n.m)] AS l", "[null,false,true,\"null\"]"),
        ("MATCH (n) RETURN count(DISTINCT n.m) AS n", "3"),
        ("MATCH (n) WHERE n.m IS NOT NULL RETURN count(*) AS n", "3"),
    ] {
        let query = Query::parse(question, &BTreeMap::new()).unwrap();
        let rows =
            query.run(&tables, &options).unwrap().map(|row| to_json(&row.unwrap()[0], &tables).unwrap().to_string());
        assert_eq!(rows.collect::<Vec<_>>(), [expected], "{question}");
    }
}
