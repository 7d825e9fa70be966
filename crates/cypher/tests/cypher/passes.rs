//! Random questions over random graphs of tables: going over tables gives what matching from node to node gives.
//!
//! `ISOMORPH_CYPHER_CASES` sets how many graphs.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use isomorph::dataset::{Cancel, Dataset};
use isomorph::storage::{Budget, Resources};
use isomorph_cypher::{Options, Query, TableGraph, Value};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::parts;

fn parameters() -> BTreeMap<String, Value> {
    BTreeMap::from([("one".to_owned(), Value::Int(1)), ("a".to_owned(), Value::text("a"))])
}

/// The sorted rows of an answer; an error is its class.
fn answer(dataset: &Dataset, text: &str, node_by_node: bool) -> Result<Vec<String>, String> {
    let options = Options { node_by_node, parameters: parameters(), ..Options::new(Budget::new(1 << 30)) };
    let graph = TableGraph::new(dataset, &options.budget, Cancel::new()).unwrap();
    let query = Query::parse(text, &options.parameters).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
    let mut rows = Vec::new();
    for row in query.run(&graph, &options).unwrap() {
        rows.push(format!("{:?}", row.map_err(|fault| format!("{fault:?}"))?));
    }
    rows.sort();
    Ok(rows)
}

fn label() -> impl Strategy<Value = &'static str> {
    select(vec!["", "", "", ":n", ":m", ":A", ":B", ":!A", ":n|B", ":n&A", ":%", ":!n&!B", ":nothing"])
}

/// A condition on `name`.
fn condition(name: &'static str) -> impl Strategy<Value = String> {
    let property = select(vec!["p", "q", "`a b,ü`", "key", "id", "none"]);
    let constant =
        select(vec!["0", "1", "-1.0", "0.1", "'a'", "''", "true", "null", "date('1970-01-01')", "$one", "$a"]);
    let operator = select(vec!["=", "<>", "<", "<=", ">", ">="]);
    let compared =
        (property, operator, constant, any::<bool>()).prop_map(move |(property, operator, constant, swap)| {
            if swap {
                format!("{constant} {operator} {name}.{property}")
            } else {
                format!("{name}.{property} {operator} {constant}")
            }
        });
    prop_oneof![
        4 => compared.clone(),
        1 => compared.prop_map(|one| format!("NOT ({one})")),
        1 => Just(format!("{name}.p IS NULL")),
        1 => Just(format!("{name}.q IS NOT NULL OR {name}.p = 1")),
        1 => Just(format!("{name}.p IN [0, 1, 'a', null]")),
        1 => Just(format!("{name}.p IN [0, 1]")),
        1 => Just(format!("NOT {name}.p IN ['', 'a']")),
        1 => Just(format!("{name}.p IN []")),
        1 => Just(format!("toString({name}.q) STARTS WITH '0'")),
        1 => Just(format!("{name}.p = {name}.q")),
    ]
}

/// A question, of one node or of one relationship.
fn question() -> impl Strategy<Value = String> {
    let arrows = select(vec![("-[", "]->"), ("<-[", "]-"), ("-[", "]-")]);
    let types = select(vec!["", "", ":rel", ":near|rel", ":none", ":!rel"]);
    let edge = (
        label(),
        arrows,
        types,
        label(),
        vec_of(prop_oneof![condition("x"), condition("y"), condition("r"), of_both()]),
        of_edge(),
    )
        .prop_map(|(left, (open, close), types, right, conditions, rest)| {
            finish(format!("MATCH (x{left}){open}r{types}{close}(y{right})"), &conditions, rest)
        });
    let node = (
        label(),
        vec_of(prop_oneof![
            condition("x"),
            Just("x:B".to_owned()),
            Just("1 = 2".to_owned()),
            Just("$one = 1".to_owned())
        ]),
        of_node(),
    )
        .prop_map(|(label, conditions, rest)| finish(format!("MATCH (x{label})"), &conditions, rest));
    prop_oneof![3 => edge, 1 => node]
}

fn vec_of(one: impl Strategy<Value = String>) -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec(one, 0..3)
}

fn of_both() -> impl Strategy<Value = String> {
    select(vec![
        "x.p = y.p",
        "type(r) = 'rel'",
        "x:A OR y:B",
        "r:rel",
        "x = y",
        "r.p <> x.q",
        "startNode(r) = x",
        "1 = 2",
        "$one = 1",
        "null",
        "$a = x.p",
    ])
    .prop_map(str::to_owned)
}

fn finish(mut text: String, conditions: &[String], rest: &str) -> String {
    if !conditions.is_empty() {
        let all: Vec<String> = conditions.iter().map(|one| format!("({one})")).collect();
        write!(text, " WHERE {}", all.join(" AND ")).unwrap();
    }
    write!(text, " {rest}").unwrap();
    text
}

fn of_node() -> impl Strategy<Value = &'static str> {
    select(vec![
        "RETURN count(*)",
        "RETURN count(x), count(DISTINCT x.p)",
        "RETURN x.p, count(*), count(x.q)",
        "RETURN min(x.p), max(x.q), sum(CASE WHEN x.p IS NULL THEN 1 ELSE 2 END)",
        "RETURN count(x.p), min(x.q), max(x.p), count(*), count(x)",
        "RETURN x.p AS p, x.q AS q",
        "RETURN x.p AS p ORDER BY p LIMIT 3",
        "RETURN DISTINCT labels(x) AS l",
        "RETURN labels(x) AS l, count(*)",
        "RETURN x",
        "WITH x.p AS p WHERE x.q IS NOT NULL RETURN p, count(*)",
        "WITH x.p AS p ORDER BY p WHERE x.q IS NULL RETURN p",
        "UNWIND [1, 2] AS n RETURN n, x.p, count(*)",
        "RETURN x.key AS k, x.id, `x`.none",
        "RETURN 1 AS one",
        "RETURN count(*) AS n, x.p AS p ORDER BY n, p SKIP 1",
        "RETURN x.p AS p, x.p IS NULL AS n, count(*) AS c",
    ])
}

fn of_edge() -> impl Strategy<Value = &'static str> {
    select(vec![
        "RETURN count(*)",
        "RETURN count(r), count(x), count(y)",
        "RETURN x.p, count(*)",
        "RETURN y.q AS q, count(*), count(y.p), min(y.p)",
        "RETURN x.p, y.p, count(*)",
        "RETURN count(r.p), min(r.q), max(r.p), count(*), count(r), count(y)",
        "RETURN sum(toInteger(r.p)), count(DISTINCT r.q)",
        "RETURN r.p, count(*), max(r.q)",
        "RETURN type(r), count(*), sum(CASE WHEN x.p IS NULL THEN 1 ELSE 2 END)",
        "RETURN count(DISTINCT x), count(DISTINCT y.p), count(DISTINCT r.p)",
        "RETURN x.p AS p, sum(1) AS n, count(y) AS m",
        "RETURN x.p AS a, r.q AS b, y.p AS c",
        "RETURN r.p AS p ORDER BY p LIMIT 3",
        "RETURN elementId(x) AS x, count(*) AS n",
        "RETURN DISTINCT type(r) AS t, labels(x) AS l",
        "RETURN r.p AS p, properties(x) AS x, elementId(y) AS y",
        "RETURN count(DISTINCT r)",
        "RETURN r",
        "WITH x, count(*) AS n RETURN n, count(*)",
        "WITH r.p AS p WHERE r.q IS NOT NULL RETURN p, count(*)",
        "WITH x.p AS p, count(*) AS n ORDER BY n LIMIT 100 RETURN p, n",
        "UNWIND [x.p, y.p] AS p RETURN p, count(*)",
        "RETURN 1 AS one",
        "RETURN min(x.p), max(x.p), count(x.q)",
        "RETURN x.p AS p, x.p IS NULL AS n, count(*) AS c",
        "WITH x.key AS k, y.key AS l MATCH (n) RETURN count(*)",
    ])
}

#[test]
fn passes_find_what_matching_from_node_to_node_finds() {
    let cases = std::env::var("ISOMORPH_CYPHER_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(60_u32);
    let mut runner = TestRunner::new_with_rng(
        Config { cases, failure_persistence: None, ..Config::default() },
        TestRng::deterministic_rng(RngAlgorithm::ChaCha),
    );
    let [found, asked, divided] = [0, 0, 0].map(std::cell::Cell::new);
    let strategy = (isomorph_zoo::arbitrary::property_graph(), proptest::collection::vec(question(), 30));
    let outcome = runner.run(&strategy, |(graph, questions)| {
        let dataset = Dataset::new(Arc::new(graph), Resources::of_this_machine().unwrap());
        for text in questions {
            // `id()` may differ, and nodes are told by their numbers.
            let (by_node, by_pass) = (answer(&dataset, &text, true), answer(&dataset, &text, false));
            asked.set(asked.get() + 1);
            found.set(found.get() + u32::from(by_node.as_ref().is_ok_and(|rows| !rows.is_empty())));
            prop_assert_eq!(by_node, by_pass, "{}", text);
            let parameters = parameters();
            let query = Query::parse(&text, &parameters).unwrap();
            if let Some(in_parts) = parts::in_parts(&dataset, &query, &parameters, 3) {
                divided.set(divided.get() + 1);
                let alone = parts::alone(&dataset, &query, &parameters);
                let sorted = |rows: Result<Vec<String>, String>| {
                    rows.ok().map(|mut rows| {
                        rows.sort();
                        rows
                    })
                };
                prop_assert_eq!(sorted(in_parts), sorted(alone), "in parts: {}", text);
            }
        }
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    assert!(divided.get() * 2 > asked.get(), "only {} of {} questions are divided", divided.get(), asked.get());
    assert!(found.get() * 3 > asked.get(), "only {} of {} questions find anything", found.get(), asked.get());
}
