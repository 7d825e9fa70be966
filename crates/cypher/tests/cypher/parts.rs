//! Queries that several processes answer: each part has a graph of its own, and only messages pass.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use isomorph::dataset::{Cancel, Dataset};
use isomorph::storage::{Budget, Resources};
use isomorph_cypher::{
    AnswerGraph, Options, Part, PropertyGraph, Query, Rows, Share, TableGraph, Value, to_json, value_of_bytes,
    value_to_bytes,
};

fn options(parameters: &BTreeMap<String, Value>) -> Options {
    Options { parameters: parameters.clone(), ..Options::new(Budget::new(1 << 30)) }
}

/// The rows as JSON, in their order; an error is a text.
fn shown(rows: Rows<'_, '_>, graph: &dyn PropertyGraph) -> Result<Vec<String>, String> {
    let one = |row: isomorph_cypher::Result<Vec<Value>>| {
        let values = row?.iter().map(|value| to_json(value, graph)).collect::<isomorph_cypher::Result<Vec<_>>>()?;
        Ok(serde_json::Value::Array(values).to_string())
    };
    rows.map(|row| one(row).map_err(|fault: isomorph_cypher::Fault| format!("{fault:?}"))).collect()
}

/// What one process answers.
pub fn alone(dataset: &Dataset, query: &Query, parameters: &BTreeMap<String, Value>) -> Result<Vec<String>, String> {
    let options = options(parameters);
    let graph = TableGraph::new(dataset, &options.budget, Cancel::new()).unwrap();
    shown(query.run(&graph, &options).unwrap(), &graph)
}

/// Whether the query can be divided.
fn is_divisible(dataset: &Dataset, query: &Query, parameters: &BTreeMap<String, Value>) -> bool {
    let options = options(parameters);
    let graph = TableGraph::new(dataset, &options.budget, Cancel::new()).unwrap();
    query.is_divisible(&graph, &options).unwrap()
}

/// What so many processes answer, if the query can be divided.
pub fn in_parts(
    dataset: &Dataset,
    query: &Query,
    parameters: &BTreeMap<String, Value>,
    of: u32,
) -> Option<Result<Vec<String>, String>> {
    let shares = (0..of).map(|number| Share::Part(Part { number, of }));
    is_divisible(dataset, query, parameters).then(|| shared(dataset, query, parameters, shares))
}

/// What is made of shares.
fn shared(
    dataset: &Dataset,
    query: &Query,
    parameters: &BTreeMap<String, Value>,
    shares: impl Iterator<Item = Share>,
) -> Result<Vec<String>, String> {
    let mut messages = Vec::new();
    let mut is_divided = false;
    for share in shares {
        is_divided |= share != Share::Whole;
        let options = options(parameters);
        let graph = TableGraph::new(dataset, &options.budget, Cancel::new()).unwrap();
        let sent = query.send(&graph, &options, share, &mut |message| {
            messages.push(message);
            Ok(true)
        });
        sent.map_err(|fault| format!("{fault:?}"))?;
    }
    let options = options(parameters);
    let graph = AnswerGraph::new(&options.budget).unwrap();
    let messages = Box::new(messages.into_iter().map(Ok));
    shown(query.received(&graph, &options, is_divided, messages).unwrap(), &graph)
}

fn social() -> Dataset {
    let graph = isomorph::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/social")).unwrap();
    Dataset::new(Arc::clone(graph.source()), Resources::of_this_machine().unwrap())
}

/// Queries that are divided; the order of those with an order is compared.
const DIVIDED: [&str; 38] = [
    "MATCH (a)-[:knows]->(b) WITH {of: a, to: b.id} AS m RETURN m.of AS a, count(*) AS n",
    "MATCH (a)-[:knows]->(b) WITH a AS c, b.id AS i RETURN c.id AS d, i, elementId(c) AS e ORDER BY e, i LIMIT 9",
    "MATCH (p:person) RETURN count(*) AS n",
    "MATCH (p:person) WHERE p.id < 1100 RETURN p.id AS id, p.firstName AS name",
    "MATCH (p:person) RETURN p.gender AS g, count(*) AS n, min(p.birthday) AS a, max(p.birthday) AS b ORDER BY n, g",
    "MATCH (p:person) RETURN avg(p.id) AS a, sum(p.id) AS s, count(DISTINCT p.firstName) AS n",
    "MATCH (p:person) RETURN sum(9223372036854775807 * (1 - 2 * (p.id % 2))) AS s",
    "MATCH (p:person) RETURN sum(CASE WHEN p.id % 5 = 0 THEN p.id + 0.5 ELSE p.id END) AS s",
    "MATCH (p:person) RETURN stDev(p.id) AS a, stDevP(p.id) AS b",
    "MATCH (p:person) RETURN percentileCont(p.id, 0.3) AS a, percentileDisc(p.id, 0.7) AS b",
    "MATCH (p:person) RETURN p.gender AS g, percentileDisc(DISTINCT p.id % 7, 0.5) AS b, avg(DISTINCT p.id % 5) AS a",
    "MATCH (p:person) RETURN p.gender AS g, size(collect(p.id)) AS n, size(collect(DISTINCT p.firstName)) AS m",
    "MATCH (p:person) RETURN p.id AS id ORDER BY p.birthday DESC, id SKIP 3 LIMIT 20",
    "MATCH (p:person) RETURN DISTINCT p.gender AS g",
    "MATCH (p:person) RETURN DISTINCT p.firstName AS n ORDER BY n DESC SKIP 5 LIMIT 7",
    "MATCH (p:person) WITH p.gender AS g, p.id AS id WHERE id > 1200 WITH g, count(*) AS n RETURN sum(n) AS s, max(g) AS m",
    "MATCH (p:person) WITH p.id AS id ORDER BY id LIMIT 10 WHERE id > 1003 RETURN sum(id) AS s",
    "MATCH (p:person) WITH p.gender AS g, collect(p.id) AS ids UNWIND ids AS id RETURN g, id",
    "MATCH (p:person) UNWIND [1, 2] AS i RETURN i, p.gender AS g, sum(p.id * i) AS s",
    "MATCH (p:person) RETURN count(*) + 1 AS n, p.gender + '!' AS g",
    "MATCH (p:person) WHERE p.id < 0 RETURN count(*) AS n, sum(p.id) AS s, avg(p.id) AS a, max(p.id) AS m, collect(p.id) AS c",
    "MATCH (p:person) WHERE p.id < 0 RETURN p.gender AS g, count(*) AS n",
    "MATCH (p:person) RETURN date() = date(datetime()) AS one, count(*) AS n",
    "MATCH (a)-[k:knows]->(b) RETURN count(k) AS n",
    "MATCH (a)-[k:knows]->(b) RETURN a, count(*) AS n ORDER BY n DESC, elementId(a) LIMIT 5",
    "MATCH (a)-[k:knows]->(b) WHERE k.since > localdatetime('2024-06-01T00:00') RETURN a.gender AS x, b.gender AS y, count(*) AS n, min(k.since) AS s",
    "MATCH (a)-[k:knows]-(b) WHERE a.id < 1050 RETURN a.id AS a, b.id AS b, k.since AS s, type(k) AS t",
    "MATCH (a:person)-[k:knows]->(b) WHERE a.id < 1020 RETURN a, labels(b) AS l, properties(b) AS p",
    "MATCH (a:person)-[:livesIn]->(c) RETURN c AS city, count(DISTINCT a) AS n",
    "MATCH (a:person)-[:livesIn]->(c) WITH c, count(*) AS n WHERE n > 10 RETURN c.name AS name, n, keys(c) AS k",
    "MATCH (a:person)-[:livesIn]->(c) RETURN DISTINCT c",
    "MATCH (a)-[:knows]->(b)-[:livesIn]->(c) RETURN c.name AS c, count(*) AS n, avg(a.id) AS m",
    "MATCH (a)-[:knows]->(b)-[:knows]->(c) WHERE a.id < c.id RETURN count(*) AS n",
    "MATCH (a)-[:knows]->(b)-[:knows]->(c) WHERE a.id < 1050 RETURN a, c, count(*) AS n",
    "MATCH (a)-[k:knows]->(b)-[l:knows]->(c) WHERE k.since < l.since RETURN a.id AS a, k.since AS s, l.since AS t",
    "MATCH (a)-[:knows*1..2]->(b) WHERE a.id < 1100 RETURN b.gender AS g, count(DISTINCT b) AS n",
    "MATCH (a)-[:knows]->(b)-[:livesIn]->(c) RETURN DISTINCT c.name AS name ORDER BY name LIMIT 4",
    "MATCH (a)-[k:knows]->(b) RETURN k.since AS s, collect(DISTINCT a.gender) <> [] AS c, count(*) AS n ORDER BY s LIMIT 6",
];

/// Queries that one process answers.
const WHOLE: [&str; 21] = [
    "MATCH (a)-[:knows]->(b) WITH a AS c, b ORDER BY c, b.id LIMIT 3 RETURN c.id >= 1000 AS yes",
    "MATCH (a)-[:knows]->(b) WITH {of: a} AS m ORDER BY m.of LIMIT 3 RETURN m.of.id >= 1000 AS yes",
    "MATCH (a)-[:knows]->(b) RETURN min(a) = max(a) AS one, b.gender AS g",
    "MATCH (a)-[:knows]->(b) WITH min([a, 1]) AS m, b.gender AS g RETURN size(m) AS two, g",
    "MATCH (p:person {id: 1007}) RETURN p",
    "MATCH (p:person) RETURN p ORDER BY p.id LIMIT 3",
    "MATCH (a:person)-[k:knows]->(b) RETURN k ORDER BY k.since, a.id, b.id LIMIT 10",
    "MATCH (a:person)-[k:knows]->(b) WITH k AS l RETURN count(DISTINCT l) AS n",
    "MATCH (a:person {id: 1007})-[k:knows*1..2]->(b) RETURN k, b.id AS b",
    "MATCH p = (a:person {id: 1007})-[:knows]->(b) RETURN p",
    "MATCH p = shortestPath((a:person {id: 1007})-[:knows*]-(b:person {id: 1021})) RETURN nodes(p) AS n, length(p) AS l",
    "OPTIONAL MATCH (a:nobody) RETURN a",
    "UNWIND [1, 2.5, 'x', null, [1], {a: date('2020-01-01')}, duration('P1Y2DT3.5S')] AS x RETURN x",
    "UNWIND [localtime('12:00:00.5'), time('12:00+01:00'), localdatetime('2020-01-01T00:00'), datetime('2020-06-01T12:00[Europe/Stockholm]')] AS x RETURN x",
    "MATCH (a:person) WHERE EXISTS { MATCH (a)-[:knows]->(b) WHERE b.id = 1007 } RETURN a.id AS id",
    "MATCH (a:person) RETURN count(DISTINCT id(a)) AS n",
    "MATCH (a:person) WITH a ORDER BY a.id LIMIT 2 MATCH (a)-[:knows]->(b) RETURN a.id AS a, b.id AS b",
    "MATCH (a:person) RETURN a.gender AS g UNION MATCH (c:city) RETURN c.name AS g",
    "MATCH (a:person) WITH count(*) AS n MATCH (c:city) RETURN n, count(c) AS m",
    "MATCH (a)-[k:knows]->(b) RETURN k.since AS s, collect(k)[0] IS NULL AS n",
    "RETURN 1 AS one",
];

fn sorted(mut rows: Vec<String>, text: &str) -> Vec<String> {
    if !text.contains("ORDER BY") {
        rows.sort();
    }
    // Sums of floats depend on the order of rows.
    rows.iter_mut().for_each(|row| {
        let cells = row.split(',').map(|cell| match cell.trim_matches(['[', ']']).parse::<f64>() {
            Ok(float) if cell.contains('.') => format!("{float:.10e}"),
            _ => cell.to_owned(),
        });
        *row = cells.collect::<Vec<_>>().join(",");
    });
    rows
}

#[test]
fn parts_together_find_what_one_process_finds() {
    let (dataset, none) = (social(), BTreeMap::new());
    for text in DIVIDED {
        let query = Query::parse(text, &none).unwrap();
        let expected = sorted(alone(&dataset, &query, &none).unwrap(), text);
        assert!(!expected.is_empty() || text.contains("id < 0"), "{text}");
        for of in [1, 2, 3, 16] {
            let found = in_parts(&dataset, &query, &none, of).unwrap_or_else(|| panic!("not divided: {text}"));
            assert_eq!(sorted(found.unwrap(), text), expected, "{of} parts: {text}");
        }
    }
}

#[test]
fn what_cannot_be_divided_travels_as_a_whole() {
    let (dataset, none) = (social(), BTreeMap::new());
    for text in WHOLE {
        let query = Query::parse(text, &none).unwrap();
        assert!(!is_divisible(&dataset, &query, &none), "{text}");
        let expected = sorted(alone(&dataset, &query, &none).unwrap(), text);
        assert!(!expected.is_empty(), "{text}");
        let found = shared(&dataset, &query, &none, std::iter::once(Share::Whole)).unwrap();
        assert_eq!(sorted(found, text), expected, "{text}");
        let part = shared(&dataset, &query, &none, std::iter::once(Share::Part(Part { number: 0, of: 2 })));
        assert!(part.unwrap_err().contains("cannot be divided"), "{text}");
    }
}

#[test]
fn parts_are_parts() {
    let (dataset, none) = (social(), BTreeMap::new());
    let rows = |text: &str, number, of| {
        let query = Query::parse(text, &none).unwrap();
        let share = Share::Part(Part { number, of });
        shared(&dataset, &query, &none, std::iter::once(share)).unwrap().len()
    };
    let search = "MATCH (a)-[:knows]->(b)-[:knows]->(c) RETURN a.id AS a, c.id AS c";
    let counts: Vec<usize> = (0..4).map(|number| rows(search, number, 4)).collect();
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
    assert_eq!(counts.iter().sum::<usize>(), rows(search, 0, 1));
}

#[test]
fn parts_of_other_tables_are_a_conflict() {
    let (dataset, none) = (social(), BTreeMap::new());
    let query = Query::parse("MATCH (p:person) RETURN p.id AS id", &none).unwrap();
    let options = options(&none);
    let graph = TableGraph::new(&dataset, &options.budget, Cancel::new()).unwrap();
    let mut messages = Vec::new();
    for number in 0..2 {
        let share = Share::Part(Part { number, of: 2 });
        let mut take = |message| {
            messages.push(message);
            Ok(true)
        };
        query.send(&graph, &options, share, &mut take).unwrap();
    }
    let answered = |messages: Vec<Vec<u8>>| {
        let graph = AnswerGraph::new(&options.budget).unwrap();
        let messages = Box::new(messages.into_iter().map(Ok));
        shown(query.received(&graph, &options, true, messages).unwrap(), &graph)
    };
    assert_eq!(answered(messages.clone()).unwrap().len(), 500);
    // The last message says into how many partitions the table was divided.
    *messages.last_mut().unwrap().last_mut().unwrap() ^= 1;
    assert!(answered(messages.clone()).unwrap_err().contains("partitions"));
    for broken in [vec![], vec![7], vec![0, 99], vec![0, 6, 255, 255, 255, 255], vec![0, 7, 9, 0, 0, 0]] {
        messages[0] = broken;
        assert!(answered(messages.clone()).unwrap_err().contains("cannot be read"));
    }
}

#[test]
fn nobody_is_sent_more_than_is_wanted() {
    let (dataset, none) = (social(), BTreeMap::new());
    for text in ["MATCH (p:person) RETURN p.id AS id", "MATCH (p:person) RETURN p.id AS id, count(*) AS n"] {
        let query = Query::parse(text, &none).unwrap();
        let options = options(&none);
        let graph = TableGraph::new(&dataset, &options.budget, Cancel::new()).unwrap();
        let taken = Cell::new(0);
        let mut take = |_| {
            taken.set(taken.get() + 1);
            Ok(taken.get() < 3)
        };
        query.send(&graph, &options, Share::Part(Part { number: 0, of: 1 }), &mut take).unwrap();
        assert_eq!(taken.get(), 3, "{text}");
    }
}

#[test]
fn values_come_back_as_they_were() {
    let list = Value::list(vec![Value::Null, Value::JsonNull, Value::Float(f64::NAN), Value::Float(-0.0)]);
    let all = [list, Value::Bool(true), Value::Int(i64::MIN), Value::text("a\"\n€"), Value::Map(Arc::default())];
    for value in all {
        let bytes = value_to_bytes(&value).unwrap();
        assert_eq!(format!("{:?}", value_of_bytes(&bytes).unwrap()), format!("{value:?}"));
        assert!(value_of_bytes(&[&bytes[..], &[0]].concat()).is_err());
        (0..bytes.len()).for_each(|end| assert!(value_of_bytes(&bytes[..end]).is_err(), "{end}"));
    }
    let mut deep = Value::Null;
    (0..600).for_each(|_| deep = Value::list(vec![std::mem::take(&mut deep)]));
    assert!(value_of_bytes(&value_to_bytes(&deep).unwrap()).is_err());
}
