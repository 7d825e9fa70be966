//! openCypher, SPARQL and statistics: the same answers as one machine gives, from files and from an object store.

use std::process::Output;

use super::answers::questions;
use super::process::{Machines, alone_in, asking_in, error, executor_of, isomorph, root, rows, scheduler};
use super::store::Store;

/// Compares what the cluster and one process answer, and returns what is wrong.
fn compared(machines: &Machines, language: &str, all: &[(String, String)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (graph, question) in all {
        let (found, expected) = (machines.asked_in(language, graph, question), alone_in(language, &[graph], question));
        let right = found.status.success() && rows(&found) == rows(&expected);
        if !right {
            let text = String::from_utf8_lossy(&found.stdout).into_owned();
            wrong.push(format!("{graph} {question}\n  {}{text}  expected {:?}", error(&found), rows(&expected)));
        }
    }
    wrong
}

fn none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} wrong answers\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_cluster_answers_the_questions_in_cypher() {
    let machines = Machines::start();
    none(&compared(&machines, "cypher", &questions("cypher")));
}

#[test]
fn a_cluster_answers_the_questions_in_sparql() {
    let machines = Machines::start();
    let names = [
        ("g", "urn:x-isomorph:"),
        ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
        ("xsd", "http://www.w3.org/2001/XMLSchema#"),
        ("person", "urn:x-isomorph:person/"),
        ("city", "urn:x-isomorph:city/"),
        ("place", "urn:x-isomorph:place/"),
    ];
    // The page has them as flags.
    let prefixes: String = names.iter().map(|(name, iri)| format!("PREFIX {name}: <{iri}>\n")).collect();
    let mut all = questions("sparql");
    all.iter_mut().for_each(|(_, question)| question.insert_str(0, &prefixes));
    none(&compared(&machines, "sparql", &all));
}

/// The second number of `cluster  5 parts`.
fn parts(answer: &Output) -> String {
    let said = error(answer);
    said.lines().find_map(|line| line.strip_prefix("cluster")).unwrap_or_default().trim().to_owned()
}

#[test]
fn patterns_are_divided_where_they_can_be() {
    let machines = Machines::start();
    let social = "examples/social";
    for (question, expected) in [
        ("MATCH (a:person)-[:knows]->(b) RETURN a.gender AS g, count(*) AS n", "5 parts"),
        ("MATCH (a)-[:knows]->(b)-[:livesIn]->(c) RETURN c, count(*) AS n, avg(a.id) AS m", "5 parts"),
        ("MATCH (a:person) RETURN a.id AS id ORDER BY a.birthday, id SKIP 2 LIMIT 9", "5 parts"),
        ("MATCH (a:person {id: 1007})-[k:knows]->(b) RETURN a, k, b", "1 part"),
        ("MATCH p = shortestPath((a:person {id: 1007})-[:knows*]-(b:person {id: 1300})) RETURN p", "1 part"),
        ("UNWIND [datetime('2020-06-01T12:00[Europe/Stockholm]'), {a: [1, null]}] AS x RETURN x", "1 part"),
    ] {
        let found = machines.asked_in("cypher", social, question);
        assert_eq!(rows(&found), rows(&alone_in("cypher", &[social], question)), "{question}");
        assert_eq!(parts(&found), expected, "{question}");
    }
    // In every form of an answer, values are what they are on one machine.
    let all =
        "MATCH (a:person)-[k:knows]->(b) WHERE a.id < 1010 RETURN a, k, b.birthday AS d ORDER BY a.id, k.since, b.id";
    for format in ["table", "json", "jsonl"] {
        let cluster = ["--cluster", &machines.scheduler.address];
        let here = ["cypher", social, all, "--format", format];
        let found = isomorph(&[&here[..], &cluster].concat());
        assert_eq!(
            String::from_utf8_lossy(&found.stdout),
            String::from_utf8_lossy(&isomorph(&here).stdout),
            "{format}"
        );
        assert!(found.status.success(), "{}", error(&found));
    }
}

#[test]
fn every_form_of_sparql_is_answered() {
    let machines = Machines::start();
    let cluster = ["--cluster", &machines.scheduler.address];
    for words in [
        ["ask", "ASK { ?s <urn:x-isomorph:knows> ?o }", "--format", "json"],
        ["ask", "ASK { ?s <urn:x-isomorph:nothing> ?o }", "--format", "xml"],
        ["construct", "CONSTRUCT { ?o <urn:of> ?s } { ?s <urn:x-isomorph:livesIn> ?o }", "--format", "nt"],
        ["select", "SELECT ?s ?none { ?s <urn:x-isomorph:livesIn> ?o } ORDER BY ?s LIMIT 9", "--format", "json"],
        ["select", "SELECT (1/3 AS ?x) (\"a\"@en AS ?y) (<urn:a> AS ?z) {}", "--format", "tsv"],
    ] {
        let here = [&["sparql", "examples/social"][..], &words[1..]].concat();
        let (found, expected) = (isomorph(&[&here[..], &cluster].concat()), isomorph(&here));
        assert_eq!(found.status.code(), expected.status.code(), "{words:?}: {}", error(&found));
        let sorted = |answer: &Output| {
            let text = String::from_utf8_lossy(&answer.stdout).into_owned();
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(sorted(&found), sorted(&expected), "{words:?}");
    }
}

#[test]
fn a_cluster_counts_what_one_machine_counts() {
    let machines = Machines::start();
    let cluster = ["--cluster", &machines.scheduler.address];
    for words in [
        &["stats", "examples/social", "--json"][..],
        &["stats", "examples/social", "--edge", "knows"],
        &["stats", "examples/people.ttl", "--json"],
    ] {
        let (found, expected) = (isomorph(&[words, &cluster].concat()), isomorph(words));
        assert!(found.status.success(), "{}", error(&found));
        assert_eq!(String::from_utf8_lossy(&found.stdout), String::from_utf8_lossy(&expected.stdout), "{words:?}");
    }
    let part = isomorph(&[&["stats", "examples/social", "--types", "person"][..], &cluster].concat());
    assert_eq!(part.status.code(), Some(3), "{}", error(&part));
    assert!(error(&part).contains("a selection does not travel"), "{}", error(&part));
}

#[test]
fn errors_of_queries_are_those_of_one_machine() {
    let machines = Machines::start();
    for (language, question) in [
        ("cypher", "MATCH (p:person) RETURN p.id + true AS x"),
        ("cypher", "MATCH (p:person) RETURN sum(p.id * 9223372036854775807) AS x"),
        ("cypher", "MATCH (p:person RETURN p"),
        ("sparql", "SELECT ?x { ?x }"),
    ] {
        let (found, expected) = (
            machines.asked_in(language, "examples/social", question),
            alone_in(language, &["examples/social"], question),
        );
        assert!(!found.status.success(), "{question}");
        assert_eq!(found.status.code(), expected.status.code(), "{question}: {}", error(&found));
        let message = |answer: &Output| {
            let said = error(answer);
            let lines: Vec<&str> = said.lines().filter(|line| !line.starts_with("cluster")).collect();
            lines.join("\n").replace(|sign: char| sign.is_ascii_digit(), "")
        };
        assert_eq!(message(&found), message(&expected), "{question}");
    }
    let refused = isomorph(&["cypher", "examples/social", "RETURN 1", "--key", "row", "--cluster", "127.0.0.1:1"]);
    assert!(error(&refused).contains("--key does not travel"), "{}", error(&refused));
}

#[test]
fn a_query_survives_an_executor_that_is_killed() {
    const LONG: &str =
        "MATCH (a)-[:knows]-(b)-[:knows]-(c)-[:knows]-(d) RETURN a.gender AS a, d.gender AS d, count(*) AS n";
    let mut machines = Machines::start();
    let expected = rows(&alone_in("cypher", &["examples/social"], LONG));
    let found = std::thread::scope(|scope| {
        let address = machines.scheduler.address.clone();
        let asking = scope.spawn(move || asking_in("cypher", &address, &["examples/social"], LONG).output().unwrap());
        // In the middle: it has begun to write a part of the answer.
        let home = machines.homes[0].path().to_owned();
        while !super::faults::has_results(&home) && !asking.is_finished() {
            std::thread::yield_now();
        }
        machines.executors.remove(0).kill();
        asking.join().unwrap()
    });
    match found.status.success() {
        true => assert_eq!(rows(&found), expected),
        false => assert!(error(&found).contains("ask again"), "{}", error(&found)),
    }
    // The other one goes on.
    let again = machines.asked_in("cypher", "examples/social", LONG);
    assert_eq!(rows(&again), expected);
}

#[test]
fn executors_read_graphs_from_an_object_store() {
    let store = Store::of(&root().join("examples"), "graphs");
    let (scheduler, homes) = (scheduler(), [0, 1].map(|_| tempfile::tempdir().unwrap()));
    let allow = ["s3://graphs/social".to_owned()];
    let executors = homes.each_ref().map(|home| executor_of(&scheduler, home.path(), &allow, &store.environment()));
    let place = "s3://graphs/social";
    for (language, question) in [
        ("sql", "select gender, count(*) as n from person group by gender"),
        ("sql", "select p.gender, count(*) as n from person p join knows k on k._source = p.id group by p.gender"),
        ("cypher", "MATCH (a:person)-[:knows]->(b) RETURN b.gender AS g, count(*) AS n"),
        ("sparql", "SELECT ?c (COUNT(*) AS ?n) { ?p <urn:x-isomorph:livesIn> ?c } GROUP BY ?c"),
    ] {
        let mut client = asking_in(language, &scheduler.address, &[place], question);
        let found = client.envs(store.environment()).output().unwrap();
        assert!(found.status.success(), "{question}: {}", error(&found));
        assert_eq!(rows(&found), rows(&alone_in(language, &["examples/social"], question)), "{question}");
    }
    // The client has opened it; executors do not, unless they may.
    let mut client = asking_in("cypher", &scheduler.address, &["s3://graphs/town"], "MATCH (n) RETURN count(n) AS n");
    let refused = client.envs(store.environment()).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{}", error(&refused));
    assert!(error(&refused).contains("does not open this graph"), "{}", error(&refused));
    executors.into_iter().for_each(super::process::Running::kill);
}
