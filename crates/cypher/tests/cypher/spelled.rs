//! What can be parsed alone can be parsed together.

use std::collections::{BTreeMap, BTreeSet};

use isomorph_cypher::{Map, Query, Value};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::memory_graph::{Edge, MemoryGraph};
use crate::setup::rows;

/// Expressions about `n`, `r` and `m`: with words that are names or syntax, and with patterns inside.
const ITEMS: [&str; 46] = [
    "n",
    "n.count",
    "n.end",
    "-n.p",
    "$p",
    "{count: 2, end: 3, in: n.p}",
    "CASE WHEN true THEN 1 END",
    "CASE n.p WHEN 1 THEN 2 ELSE 3 END",
    "CASE WHEN n.p IS NULL THEN 1 ELSE CASE WHEN n:B THEN 1 END END",
    "collect(1)",
    "collect(DISTINCT n.p)",
    "collect(n)[0]",
    "size(collect(3))",
    "count(*)",
    "count(n)",
    "count(DISTINCT n)",
    "sum(1)",
    "exists(n.p)",
    "exists((n)-->())",
    "NOT exists(n.p)",
    "COUNT { (n)-->(:B) }",
    "COUNT { (n:B)-[:r]->(:B) }",
    "COUNT { MATCH (n)-->(x) WHERE x.p > 1 RETURN x }",
    "COLLECT { MATCH (n)-->(x) RETURN x.p }",
    "EXISTS { (n)-->(:B) }",
    "EXISTS { MATCH (n)-[:r|s]->(x:B|C) }",
    "EXISTS { (n:A|B)-->(x) WHERE x.p > 1 }",
    "[x IN [1, 2] | x]",
    "[x IN [1] WHERE x > 1 | x + 1]",
    "[(n)-->(x) | x.p]",
    "[(n)-[:r]->(x:B) WHERE x.p > 1 | x.p]",
    "all(x IN [1] WHERE x > 0)",
    "none(x IN [1] WHERE x > 0)",
    "reduce(a = 0, x IN [1] | a + x)",
    "n:B",
    "n:A|B",
    "(n:B)",
    "n IS NOT NULL",
    "n.p IN [1, 2]",
    "n.p STARTS WITH 'a'",
    "1 < 2 < 3",
    "n {.p, q: 1}",
    "labels(n)[0]",
    "[1, 2][..1]",
    "duration.between(date(), date()).days",
    "n.p AND true OR false XOR true",
];

const CONDITIONS: [&str; 6] = [
    "",
    "WHERE n:B",
    "WHERE (n)-->()",
    "WHERE EXISTS { (n)-->(:B) }",
    "WHERE exists(n.p)",
    "WHERE CASE WHEN n:B THEN true END",
];

const PATTERNS: [&str; 5] = [
    "(n)-[r]->(m)",
    "(n:A|B)-[r]->(m:B|C)",
    "(n:A)-[r:r|s]->(m:B)",
    "(n {p: 1})-[r]->(m:Count)",
    "q = (n)-[r:IN]->(m:X)",
];

const NAMES: [&str; 8] = ["x1", "c", "end", "count", "collect", "match", "case", "order"];

fn parsed(text: &str) -> Result<(), String> {
    let parameters = BTreeMap::from([("p".to_owned(), Value::Int(1))]);
    Query::parse(text, &parameters).map(|_| ()).map_err(|fault| fault.into_error(text).to_string())
}

#[test]
fn what_parses_alone_parses_together() {
    for item in ITEMS {
        let text = format!("MATCH (n)-[r]->(m) RETURN {item}");
        assert_eq!(parsed(&text), Ok(()), "{text}");
    }
    let items = prop::collection::vec(select(&ITEMS[..]), 4);
    let names = subsequence(&NAMES[..], 4).prop_shuffle();
    let query = (select(&PATTERNS[..]), select(&CONDITIONS[..]), items, names, 0..=4_usize, any::<bool>());
    let config = Config { cases: 400, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let outcome = runner.run(&query, |(pattern, condition, items, names, before, is_distinct)| {
        let item = |(item, name): (&&str, &&str)| format!("{item} AS {name}");
        let all: Vec<String> = items.iter().zip(&names).map(item).collect();
        let (first, second) = all.split_at(before.min(all.len()));
        let mut text = format!("MATCH {pattern} {condition} ");
        if !first.is_empty() {
            text.push_str(&format!("WITH n, r, m, {} {condition} ", first.join(", ")));
        }
        let distinct = if is_distinct { "DISTINCT " } else { "" };
        let second = if second.is_empty() { "1 AS one".to_owned() } else { second.join(", ") };
        text.push_str(&format!("RETURN {distinct}{second}"));
        prop_assert_eq!(parsed(&text), Ok(()), "{}", text);
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn an_error_beside_other_spellings_is_where_it_is() {
    let text = "RETURN CASE WHEN true THEN 1 END AS c, collect(1) AS l, 1 +";
    let error = Query::parse(text, &BTreeMap::new()).unwrap_err().into_error(text);
    assert!(error.message().contains("end of input"), "{error}");
}

#[test]
fn match_may_follow_optional_match() {
    // Of three nodes in a line, with one relationship each but the last.
    let mut graph = MemoryGraph { nodes: vec![(BTreeSet::new(), Map::new()); 3], ..MemoryGraph::default() };
    for source in 0..2 {
        let (target, ty) = (source + 1, "r".to_owned());
        graph.edges.push(Edge { source, target, ty, properties: Map::new(), deleted: false });
    }
    for (before, after, count) in [
        ("MATCH (a) OPTIONAL MATCH (a)-[:r]->(b)", "MATCH (b)-->(c) RETURN id(a), id(b), id(c)", 1),
        ("MATCH (a) OPTIONAL MATCH (a)-[:r]->(b)", "MATCH (c) RETURN id(a), id(b), id(c)", 9),
        ("OPTIONAL MATCH (a:None)", "MATCH (b) RETURN a, id(b)", 3),
    ] {
        let (query, with) = (format!("{before} {after}"), format!("{before} WITH * {after}"));
        let sorted = |text: &str| {
            let (_, mut found) = rows(&graph, text, &BTreeMap::new()).unwrap();
            found.sort_by_key(|row| format!("{row:?}"));
            format!("{found:?}")
        };
        let (_, found) = rows(&graph, &query, &BTreeMap::new()).unwrap();
        assert_eq!((found.len(), sorted(&query)), (count, sorted(&with)), "{query}");
    }
}
