//! Limits, and errors with their places.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use isomorph::Kind;
use isomorph::storage::Budget;
use isomorph_cypher::{Fault, Map, Options, Query, Value};

use crate::memory_graph::{Edge, MemoryGraph};
use crate::setup::rows;

/// A graph in which every node knows every other one.
fn complete(count: usize) -> MemoryGraph {
    let nodes = vec![(BTreeSet::new(), Map::new()); count];
    let mut graph = MemoryGraph { nodes, ..MemoryGraph::default() };
    for source in 0..count {
        for target in (0..count).filter(|target| *target != source) {
            graph.edges.push(Edge { source, target, ty: "KNOWS".to_owned(), properties: Map::new(), deleted: false });
        }
    }
    graph
}

/// The error of a query, as the command reports it.
fn error(graph: &MemoryGraph, text: &str, options: &Options) -> isomorph::Error {
    let ran = Query::parse(text, &options.parameters)
        .and_then(|query| query.run(graph, options)?.collect::<isomorph_cypher::Result<Vec<_>>>());
    match ran {
        Ok(rows) => panic!("{text}: {} rows", rows.len()),
        Err(fault) => fault.into_error(text),
    }
}

fn options() -> Options {
    Options::new(Budget::new(1 << 30))
}

/// So many paths that no test would see the end.
const EXPLODING: &str = "MATCH (a)-[*]->(b) RETURN count(*)";

#[test]
fn a_cancelled_query_ends_at_once() {
    let cancelled = options();
    cancelled.cancel.cancel();
    assert_eq!(error(&complete(30), EXPLODING, &cancelled).kind(), Kind::Cancelled);
    let inside = "RETURN reduce(s = 0, x IN range(1, 100000) | s + x) AS s";
    assert_eq!(error(&complete(1), inside, &cancelled).kind(), Kind::Cancelled);
}

#[test]
fn a_query_ends_at_its_time_limit() {
    let limited = Options { timeout: Some(Duration::from_millis(1)), ..options() };
    let error = error(&complete(30), EXPLODING, &limited);
    assert_eq!(error.kind(), Kind::Cancelled, "as for SPARQL");
    assert_eq!(error.hints().collect::<Vec<_>>(), ["--timeout"]);
}

#[test]
fn a_query_that_needs_more_memory_than_it_has_is_refused() {
    let small = Options::new(Budget::new(1 << 20));
    for text in [
        "UNWIND range(1, 1000000) AS x RETURN x",
        "MATCH (a), (b), (c), (d) RETURN collect([a, b, c, d])",
        "MATCH (a), (b), (c), (d) RETURN DISTINCT a, b, c, d",
        "MATCH (a), (b), (c), (d) RETURN a, b, c, d ORDER BY id(a)",
        "MATCH (a), (b), (c), (d) RETURN id(a) * 27000 + id(b) * 900 + id(c) * 30 + id(d) AS k, count(*)",
    ] {
        let error = error(&complete(30), text, &small);
        assert_eq!(error.kind(), Kind::TooLarge, "{text}: {error:?}");
    }
    assert_eq!(small.budget.used(), 0, "all memory is given back");
}

#[test]
fn a_limit_ends_the_work() {
    // Without it, these have 30^9 rows.
    let nodes: Vec<String> = (0..9).map(|at| format!("(n{at})")).collect();
    let text = format!("MATCH {} RETURN id(n0) AS first LIMIT 3", nodes.join(", "));
    let (_, found) = rows(&complete(30), &text, &BTreeMap::new()).unwrap();
    assert_eq!(found.len(), 3);
    let exists = format!("RETURN EXISTS {{ MATCH {} }} AS any", nodes.join(", "));
    let (_, found) = rows(&complete(30), &exists, &BTreeMap::new()).unwrap();
    assert!(matches!(found[0][0], Value::Bool(true)));
}

#[test]
fn deep_and_long_queries_are_refused() {
    let graph = MemoryGraph::default();
    for text in [
        format!("RETURN {}1{}", "(".repeat(5000), ")".repeat(5000)),
        format!("RETURN {}1", "1 + ".repeat(5000)),
        format!("RETURN {}1{} AS x", "[".repeat(5000), "]".repeat(5000)),
        format!("RETURN {}true", "NOT ".repeat(5000)),
        format!("RETURN '{}'", "x".repeat(1 << 19)),
    ] {
        let error = error(&graph, &text, &options());
        assert!(matches!(error.kind(), Kind::TooLarge | Kind::Usage), "{error:?}");
    }
}

#[test]
fn errors_name_line_and_column() {
    let graph = MemoryGraph::default();
    for (text, expected) in [
        ("MATCH (n)\nRETURN m", "variable m is not defined at line 2, column 8"),
        ("RETURN 1 +", "line 1, column"),
        ("MATCH (n) RETURN foo(n)", "there is no function foo at line 1, column 18"),
        ("MATCH (n) DELETE n", "DELETE changes data; it is not supported at line 1, column 11"),
        ("RETURN $who", "parameter $who has no value at line 1, column 8"),
        ("CALL db.labels()", "there is no procedure db.labels at line 1, column 6"),
        ("LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line", "line 1, column 1"),
    ] {
        let found = error(&graph, text, &options()).to_string();
        assert!(found.contains(expected), "{text}: {found}");
    }
}

#[test]
fn numbers_that_do_not_fit_are_errors() {
    let graph = MemoryGraph::default();
    for text in [
        "RETURN 9223372036854775807 + 1",
        "RETURN -9223372036854775808 - 1",
        "RETURN 9223372036854775807 * 2",
        "RETURN -(-9223372036854775808)",
        "RETURN abs(-9223372036854775808)",
        "RETURN 1 / 0",
        "RETURN 1 % 0",
        "UNWIND [9223372036854775807, 1] AS x RETURN sum(x)",
        "RETURN 9223372036854775808",
    ] {
        let ran = rows(&graph, text, &BTreeMap::new());
        assert!(matches!(ran, Err(Fault::Query { .. })), "{text}: {ran:?}");
    }
    let (_, found) =
        rows(&graph, "RETURN -9223372036854775808 AS least, 7 / -2 AS q, -7 % 3 AS r", &BTreeMap::new()).unwrap();
    assert!(matches!(found[0][..], [Value::Int(i64::MIN), Value::Int(-3), Value::Int(-1)]), "{found:?}");
}

#[test]
fn only_the_end_of_a_sum_need_have_room() {
    let graph = MemoryGraph::default();
    for (text, expected) in [
        ("UNWIND [9223372036854775807, 1, -1] AS x RETURN sum(x) AS s", Value::Int(i64::MAX)),
        (
            "UNWIND [9223372036854775807, 9223372036854775807, -9223372036854775807] AS x RETURN sum(x) AS s",
            Value::Int(i64::MAX),
        ),
        (
            "UNWIND [9223372036854775807, 9223372036854775807, 0.0] AS x RETURN sum(x) AS s",
            Value::Float(2.0_f64.powi(64)),
        ),
        (
            "UNWIND [0.5, 9223372036854775807, 9223372036854775807] AS x RETURN sum(x) AS s",
            Value::Float(2.0_f64.powi(64)),
        ),
        ("UNWIND [1, null, 2.5] AS x RETURN sum(x) AS s", Value::Float(3.5)),
        ("UNWIND [1, 1, 2] AS x RETURN sum(DISTINCT x) AS s", Value::Int(3)),
        ("UNWIND [] AS x RETURN sum(x) AS s", Value::Int(0)),
    ] {
        let (_, found) = rows(&graph, text, &BTreeMap::new()).unwrap();
        assert_eq!(format!("{:?}", found[0]), format!("{:?}", [expected]), "{text}");
    }
    let mixed = rows(&graph, "UNWIND [1, duration('PT1S')] AS x RETURN sum(x)", &BTreeMap::new());
    assert!(matches!(mixed, Err(Fault::Query { .. })), "{mixed:?}");
}

#[test]
fn means_of_infinite_and_far_numbers_are_those_of_their_sums() {
    let graph = MemoryGraph::default();
    for (values, expected) in [
        ("[1.0/0.0, 1.0]", f64::INFINITY),
        ("[1, 1.0/0.0, 2.5, 1.0/0.0]", f64::INFINITY),
        ("[-1.0/0.0, 3.0, 4]", f64::NEG_INFINITY),
        ("[1.0/0.0, -1.0/0.0, 1.0]", f64::NAN),
        ("[1.5e308, -1.5e308]", 0.0),
        ("[1.5e308, 1.5e308]", 1.5e308),
        ("[1.0, 2.0, 4.5]", 2.5),
    ] {
        let text = format!("UNWIND {values} AS x RETURN avg(x) AS a");
        let (_, found) = rows(&graph, &text, &BTreeMap::new()).unwrap();
        let Value::Float(mean) = found[0][0] else { panic!("{text}: {found:?}") };
        assert!(mean == expected || mean.is_nan() && expected.is_nan(), "{text}: {mean}");
    }
}
