//! Random patterns of several relationships over random graphs of tables, against all assignments by brute force: what a search over lists
//! of neighbours finds, and what matching from node to node finds.
//!
//! `ISOMORPH_CYPHER_CASES` sets how many, `ISOMORPH_CYPHER_SEED` where they begin.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use isomorph::dataset::{Cancel, Dataset};
use isomorph::storage::{Budget, Resources};
use isomorph_cypher::{Map, Options, Query, TableGraph, Value};
use isomorph_zoo::{Build, Edges, Nodes, int64};

use crate::memory_graph::{Edge, MemoryGraph};
use crate::naive::{Case, Match, Random, matches, random_case, random_graph};
use crate::parts;

/// The key of a node.
fn key(node: usize) -> i64 {
    node as i64 * 7 - 3
}

/// The graph as tables: a type for each first label, and for each type of relationship between two of these.
fn dataset(graph: &MemoryGraph, undirected: Option<&str>) -> Dataset {
    let type_of = |node: usize| graph.nodes[node].0.iter().next().map_or("N", String::as_str);
    let mut build = Build::default();
    let mut types = BTreeMap::new();
    for name in ["A", "B", "N"] {
        let own: Vec<usize> = (0..graph.nodes.len()).filter(|node| type_of(*node) == name).collect();
        let labels: Vec<Vec<&str>> =
            own.iter().map(|node| graph.nodes[*node].0.iter().skip(1).map(String::as_str).collect()).collect();
        let labels: Vec<&[&str]> = labels.iter().map(Vec::as_slice).collect();
        let x = own.iter().map(|node| match graph.nodes[*node].1.get("x") {
            Some(Value::Int(int)) => Some(*int),
            _ => None,
        });
        let nodes = Nodes::keyed(name, int64(own.iter().map(|node| key(*node)))).column("x", int64(x));
        let nodes = if name == "A" { nodes.open_labels(&labels) } else { nodes };
        types.insert(name, build.nodes(nodes));
    }
    for relation in ["R", "S"] {
        for from in ["A", "B", "N"] {
            for to in ["A", "B", "N"] {
                let own: Vec<usize> = (0..graph.edges.len())
                    .filter(|at| {
                        let edge = &graph.edges[*at];
                        edge.ty == relation && type_of(edge.source) == from && type_of(edge.target) == to
                    })
                    .collect();
                let ends = |end: fn(&Edge) -> usize| int64(own.iter().map(|at| key(end(&graph.edges[*at]))));
                let edges =
                    Edges::keys(types[from], relation, types[to], ends(|edge| edge.source), ends(|edge| edge.target));
                let edges = edges.column("eid", int64(own.iter().map(|at| *at as i64)));
                build.edges(if undirected == Some(relation) { edges.undirected() } else { edges });
            }
        }
    }
    Dataset::new(Arc::new(build.finish()), Resources::of_this_machine().unwrap())
}

/// A condition besides those of the pattern.
#[derive(Debug, Clone, Copy)]
enum Condition {
    Differ(usize, usize),
    Same(usize, usize),
    EdgeAbove(usize, i64),
    Above(usize, i64),
    Either(usize, usize, i64),
    Less(usize, usize),
}

impl Condition {
    fn random(random: &mut Random, case: &Case) -> Option<Condition> {
        let count = case.labels.len();
        let (a, b) = (random.below(count), random.below(count));
        let limit = random.below(4) as i64 - 1;
        let single: Vec<usize> = (0..case.steps.len()).filter(|at| case.steps[*at].length.is_none()).collect();
        Some(match random.below(8) {
            0 => Condition::Differ(a, b),
            1 => Condition::Same(a, b),
            2 if !single.is_empty() => Condition::EdgeAbove(single[random.below(single.len())], limit),
            3 => Condition::Above(a, limit),
            4 => Condition::Either(a, b, limit),
            5 => Condition::Less(a, b),
            _ => return None,
        })
    }

    fn text(self) -> String {
        match self {
            Condition::Differ(a, b) => format!("n{a} <> n{b}"),
            Condition::Same(a, b) => format!("n{a} = n{b}"),
            Condition::EdgeAbove(at, limit) => format!("r{at}.eid > {limit}"),
            Condition::Above(a, limit) => format!("n{a}.x > {limit}"),
            Condition::Either(a, b, limit) => format!("(n{a}.x > {limit} OR n{b}.x > $limit)"),
            Condition::Less(a, b) => format!("n{a}.id < n{b}.id"),
        }
    }

    fn holds(self, (nodes, edges): &Match, graph: &MemoryGraph) -> bool {
        let above = |node: usize, limit: i64| matches!(graph.nodes[nodes[node]].1.get("x"), Some(Value::Int(int)) if *int > limit);
        match self {
            Condition::Differ(a, b) => nodes[a] != nodes[b],
            Condition::Same(a, b) => nodes[a] == nodes[b],
            Condition::EdgeAbove(at, limit) => edges[at][0] as i64 > limit,
            Condition::Above(a, limit) => above(a, limit),
            Condition::Either(a, b, limit) => above(a, limit) || above(b, 1),
            Condition::Less(a, b) => nodes[a] < nodes[b],
        }
    }
}

fn answer(dataset: &Dataset, text: &str, case: &Case, node_by_node: bool) -> Vec<String> {
    let parameters = BTreeMap::from([("limit".to_owned(), Value::Int(1))]);
    let options = Options { node_by_node, parameters, ..Options::new(Budget::new(1 << 30)) };
    let graph = TableGraph::new(dataset, &options.budget, Cancel::new()).unwrap();
    let query = match case.repeats {
        false => Query::parse(text, &options.parameters),
        true => Query::of_graph_table(text, &options.parameters),
    };
    let query = query.unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
    let rows = query.run(&graph, &options).unwrap();
    let mut lines: Vec<String> =
        rows.map(|row| format!("{:?}", row.unwrap_or_else(|fault| panic!("{text}: {fault:?}")))).collect();
    lines.sort();
    drop(graph);
    assert_eq!(options.budget.used(), 0, "all memory is given back: {text}");
    lines
}

fn lines(rows: impl IntoIterator<Item = Vec<Value>>) -> Vec<String> {
    let mut lines: Vec<String> = rows.into_iter().map(|row| format!("{row:?}")).collect();
    lines.sort();
    lines
}

#[test]
fn random_patterns_over_tables_match_what_brute_force_finds() {
    let set = |name: &str, default: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (cases, seed) = (set("ISOMORPH_CYPHER_CASES", 300), set("ISOMORPH_CYPHER_SEED", 70));
    let (mut matched, mut divided) = (0, 0);
    for number in 0..cases {
        let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ (seed + number).wrapping_mul(0xD134_2543_DE82_EF95) | 1);
        let mut graph = random_graph(&mut random);
        if random.one_in(2) {
            // With more edges more patterns match.
            for _ in 0..4 + random.below(8) {
                let (source, target) = (random.below(graph.nodes.len()), random.below(graph.nodes.len()));
                let ty = ["R", "S"][random.below(2)].to_owned();
                graph.edges.push(Edge { source, target, ty, properties: Map::new(), deleted: false });
            }
        }
        let mut case = random_case(&mut random);
        if case.steps.is_empty() {
            continue;
        }
        case.undirected = random.one_in(3).then_some("S");
        case.repeats = random.one_in(4);
        let condition = Condition::random(&mut random, &case);
        let dataset = dataset(&graph, case.undirected);
        let mut found = matches(&graph, &case);
        found.retain(|one| condition.is_none_or(|condition| condition.holds(one, &graph)));
        matched += usize::from(!found.is_empty());
        let equal = case.equal.map(|(a, b)| format!("n{a}.x = n{b}.x"));
        let conditions: Vec<String> = equal.into_iter().chain(condition.map(Condition::text)).collect();
        let condition =
            if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) };
        let count = case.labels.len();
        let (first, last) = (random.below(count), random.below(count));
        let int = |node: usize| Value::Int(key(node));
        let x = |node: usize| graph.nodes[node].1.get("x").cloned().unwrap_or_default();
        let ids: Vec<String> = (0..count).map(|at| format!("n{at}.id AS k{at}")).collect();
        let edges: Vec<usize> = (0..case.steps.len()).filter(|at| case.steps[*at].length.is_none()).collect();
        let eids: Vec<String> = edges.iter().map(|at| format!("r{at}.eid AS e{at}")).collect();
        let all = ids.iter().chain(&eids).cloned().collect::<Vec<_>>().join(", ");
        let whole = |(nodes, taken): &Match| -> Vec<Value> {
            let edges = edges.iter().map(|at| Value::Int(taken[*at][0] as i64));
            nodes.iter().map(|node| int(*node)).chain(edges).collect()
        };
        let mut questions: Vec<(String, Vec<String>)> = vec![
            (ids.join(", "), lines(found.iter().map(|(nodes, _)| nodes.iter().map(|node| int(*node)).collect()))),
            (all, lines(found.iter().map(whole))),
            ("1 AS one".to_owned(), lines(found.iter().map(|_| vec![Value::Int(1)]))),
            (
                format!("n{first}.id AS a, n{last}.x AS b"),
                lines(found.iter().map(|(nodes, _)| vec![int(nodes[first]), x(nodes[last])])),
            ),
        ];
        // GRAPH_TABLE has no aggregates.
        if !case.repeats {
            let mut counts: BTreeMap<usize, i64> = BTreeMap::new();
            found.iter().for_each(|(nodes, _)| *counts.entry(nodes[first]).or_default() += 1);
            let distinct: BTreeSet<usize> = found.iter().map(|(nodes, _)| nodes[last]).collect();
            questions.extend([
                ("count(*) AS n".to_owned(), lines([vec![Value::Int(found.len() as i64)]])),
                (
                    format!("n{first}.id AS a, count(*) AS n"),
                    lines(counts.iter().map(|(node, n)| vec![int(*node), Value::Int(*n)])),
                ),
                (format!("DISTINCT n{last}.id AS a"), lines(distinct.iter().map(|node| vec![int(*node)]))),
                (
                    format!("count(DISTINCT n{last}) AS n, count(n{first}) AS m"),
                    lines([vec![Value::Int(distinct.len() as i64), Value::Int(found.len() as i64)]]),
                ),
            ]);
        }
        for (columns, expected) in questions {
            let text = format!("MATCH {}{condition} RETURN {columns}", case.pattern);
            for node_by_node in [false, true] {
                let found = answer(&dataset, &text, &case, node_by_node);
                assert_eq!(found, expected, "case {}, {node_by_node}: {text} over {graph:?}", seed + number);
            }
            let parameters = BTreeMap::from([("limit".to_owned(), Value::Int(1))]);
            if let Some(query) = (!case.repeats).then(|| Query::parse(&text, &parameters).unwrap())
                && let Some(in_parts) = parts::in_parts(&dataset, &query, &parameters, 3)
            {
                divided += 1;
                let mut answers = [in_parts.unwrap(), parts::alone(&dataset, &query, &parameters).unwrap()];
                answers.iter_mut().for_each(|rows| rows.sort());
                assert_eq!(answers[0], answers[1], "case {}, in parts: {text} over {graph:?}", seed + number);
            }
        }
    }
    assert!(divided > cases, "only {divided} queries are divided");
    assert!(matched * 10 >= usize::try_from(cases).unwrap(), "only {matched} of {cases} patterns match anything");
}

/// A graph of so many edges that several threads search.
fn large() -> Dataset {
    let mut state = 11_u64;
    let mut below = |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % most) as i64
    };
    let (sources, targets): (Vec<i64>, Vec<i64>) = (0..30_000).map(|_| (below(3000), below(3000))).unzip();
    let mut build = Build::default();
    let node = build.nodes(Nodes::keyed("n", int64(0..3000)).column("x", int64((0..3000).map(|at| at % 10))));
    build.edges(Edges::keys(node, "e", node, int64(sources), int64(targets)));
    Dataset::new(Arc::new(build.finish()), Resources::of_this_machine().unwrap())
}

fn run(dataset: &Dataset, text: &str, options: &Options) -> isomorph_cypher::Result<Vec<Vec<Value>>> {
    let graph = TableGraph::new(dataset, &options.budget, options.cancel.clone()).unwrap().with_threads(3);
    let query = Query::parse(text, &options.parameters).unwrap();
    let rows = query.run(&graph, options)?;
    rows.collect()
}

#[test]
fn several_threads_find_what_one_finds() {
    let dataset = large();
    let options = Options::new(Budget::new(1 << 30));
    let node_by_node = Options { node_by_node: true, ..Options::new(Budget::new(1 << 30)) };
    for text in [
        "MATCH (a)-[:e]->(b)-[:e]->(c), (a)-[:e]->(c) RETURN count(*) AS n",
        "MATCH (a)-[:e]->(b)-[:e]->(c)-[:e]->(a) WHERE a.x < 5 RETURN a.x AS x, count(*) AS n ORDER BY x",
        "MATCH (a {x: 3})-[:e]->(b)-[:e]->(c {x: 4}) RETURN a.id AS a, c.id AS c",
        "MATCH (a {x: 1})-[:e*1..2]->(c) RETURN c.id AS c, count(*) AS n",
        "MATCH (a {x: 1})<-[:e]-(b)-[:e]-(c {x: 9}) RETURN DISTINCT a.id AS a",
    ] {
        let found = lines(run(&dataset, text, &options).unwrap());
        assert!(!found.is_empty(), "{text}");
        assert_eq!(found, lines(run(&dataset, text, &node_by_node).unwrap()), "{text}");
    }
}

#[test]
fn a_search_is_left_when_nobody_wants_more() {
    let dataset = large();
    let options = Options::new(Budget::new(1 << 30));
    // All matches of this would not be found in a day.
    let text =
        "MATCH (a)-[:e]->(b)-[:e]->(c)-[:e]->(d)-[:e]->(f)-[:e]->(g)-[:e]->(h)-[:e]->(i) RETURN a.id, i.id LIMIT 5";
    assert_eq!(run(&dataset, text, &options).unwrap().len(), 5);
    let all = text.replace("RETURN a.id, i.id LIMIT 5", "WHERE a.id = i.id RETURN count(*) AS n");
    let limited =
        Options { timeout: Some(std::time::Duration::from_millis(300)), ..Options::new(Budget::new(1 << 30)) };
    let error = run(&dataset, &all, &limited).unwrap_err().into_error(&all);
    assert_eq!(error.kind(), isomorph::Kind::Cancelled);
    let small = Options::new(Budget::new(200 << 10));
    let error = run(&dataset, &all, &small).unwrap_err().into_error(&all);
    assert_eq!(error.kind(), isomorph::Kind::TooLarge, "{error:?}");
    assert_eq!(small.budget.used(), 0);
}
