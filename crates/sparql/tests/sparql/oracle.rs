//! Random queries over random graphs: the answers from what the query can read, from the whole graph, and from
//! Oxigraph's own dataset, in which nothing is indexed as here, are equal.

use std::collections::HashSet;

use isomorph_sparql::Wanted;
use isomorph_sparql::oxrdf::Triple;
use spareval::{QueryEvaluator, QueryResults};
use spargebra::SparqlParser;

use crate::common::{Answered, ask, dataset, index, parse, texts};

/// How many queries, unless `ISOMORPH_ORACLE_QUERIES` states another number.
const QUERIES: u64 = 300;

/// A small generator of numbers: the same in every run.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end.max(1)
    }

    pub fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

const NODES: [&str; 6] = ["<urn:n0>", "<urn:n1>", "<urn:n2>", "<urn:n3>", "_:b0", "_:b1"];
/// Graphs have no triple of the last one.
const PREDICATES: [&str; 5] = ["<urn:p0>", "<urn:p1>", "<urn:p2>", "<urn:p3>", "<urn:none>"];
const GRAPHS: [&str; 3] = ["<urn:g0>", "<urn:g1>", "_:g2"];
const LITERALS: [&str; 12] = [
    "\"a\"",
    "\"b\"@en",
    "\"b\"@EN",
    "\"b\"@en--rtl",
    "\"1\"^^<http://www.w3.org/2001/XMLSchema#integer>",
    "\"01\"^^<http://www.w3.org/2001/XMLSchema#integer>",
    "\"1.0\"^^<http://www.w3.org/2001/XMLSchema#decimal>",
    "\"2\"^^<http://www.w3.org/2001/XMLSchema#integer>",
    "\"true\"^^<http://www.w3.org/2001/XMLSchema#boolean>",
    "\"2020-01-01T00:00:00Z\"^^<http://www.w3.org/2001/XMLSchema#dateTime>",
    "\"a\"^^<http://www.w3.org/2001/XMLSchema#string>",
    "\"x\\ty\\\"\"",
];
const QUOTED: [&str; 2] = ["<<( <urn:n0> <urn:p0> <urn:n1> )>>", "<<( _:b0 <urn:p1> \"b\"@en )>>"];
const VARIABLES: [&str; 4] = ["?a", "?b", "?c", "?d"];

pub fn graph(random: &mut Random) -> String {
    let mut lines = String::new();
    for _ in 0..5 + random.below(30) {
        let object = match random.below(10) {
            0..5 => random.one(&NODES),
            5..9 => random.one(&LITERALS),
            _ => random.one(&QUOTED),
        };
        let graph = if random.chance(30) { random.one(&GRAPHS) } else { "" };
        lines.push_str(&format!("{} {} {object} {graph} .\n", random.one(&NODES), random.one(&PREDICATES[..4])));
    }
    lines
}

fn term(random: &mut Random, literals: bool) -> String {
    match random.below(10) {
        0..6 => random.one(&VARIABLES).to_owned(),
        6..8 => random.one(&NODES[..4]).to_owned(),
        8 if literals => random.one(&LITERALS).to_owned(),
        9 if literals => random.one(&["<<( ?a ?p ?b )>>", QUOTED[0], "_:x"]).to_owned(),
        _ => random.one(&VARIABLES).to_owned(),
    }
}

/// A path over some predicates, also over what are none of some others if `negates`.
pub fn path(random: &mut Random, depth: usize, negates: bool) -> String {
    if depth == 0 {
        return random.one(&PREDICATES).to_owned();
    }
    match random.below(8) {
        0 => format!("({}/{})", path(random, depth - 1, negates), path(random, depth - 1, negates)),
        1 => format!("({}|{})", path(random, depth - 1, negates), path(random, depth - 1, negates)),
        2 => format!("(^{})", path(random, depth - 1, negates)),
        3 => format!("({}*)", path(random, depth - 1, negates)),
        4 => format!("({}?)", path(random, depth - 1, negates)),
        5 if negates => format!("!({}|^{})", random.one(&PREDICATES), random.one(&PREDICATES)),
        5 | 6 => format!("({}+)", path(random, depth - 1, negates)),
        _ => random.one(&PREDICATES).to_owned(),
    }
}

fn triple(random: &mut Random) -> String {
    let predicate = match random.below(10) {
        0..6 => random.one(&PREDICATES).to_owned(),
        6..8 => random.one(&["?p", "?q"]).to_owned(),
        _ => path(random, 2, true),
    };
    format!("{} {predicate} {} . ", term(random, false), term(random, true))
}

fn expression(random: &mut Random) -> String {
    let (left, right) = (random.one(&VARIABLES), random.one(&VARIABLES));
    match random.below(12) {
        0 => format!("{left} = {right}"),
        1 => format!("{left} != {}", random.one(&NODES[..4])),
        2 => format!("{left} < {}", random.one(&LITERALS)),
        3 => format!("BOUND({left})"),
        4 => format!("!BOUND({left}) || {right} > 1"),
        5 => format!("isLiteral({left}) && STRLEN(STR({left})) >= 1"),
        6 => format!("LANG({left}) = \"en\""),
        7 => format!("REGEX(STR({left}), \"^urn:n[0-2]\")"),
        8 => format!("EXISTS {{ {left} {} ?z }}", random.one(&PREDICATES)),
        9 => format!("NOT EXISTS {{ ?z ?y {left} . FILTER(?z != {right}) }}"),
        10 => format!("{left} IN ({}, 1, \"a\")", random.one(&NODES[..4])),
        _ => format!("sameTerm({left}, {right}) || isTriple({left})"),
    }
}

fn group(random: &mut Random, depth: usize) -> String {
    let mut text = String::from("{ ");
    for _ in 0..1 + random.below(2) {
        text.push_str(&triple(random));
    }
    if depth > 0 {
        for _ in 0..random.below(3) {
            let inner = group(random, depth - 1);
            text.push_str(&match random.below(9) {
                0 => format!("OPTIONAL {inner} "),
                1 => format!("{inner} UNION {} ", group(random, depth - 1)),
                2 => format!("MINUS {inner} "),
                3 => format!("FILTER({}) ", expression(random)),
                4 => format!("GRAPH {} {inner} ", random.one(&["<urn:g0>", "<urn:g1>", "?g", "<urn:none>"])),
                5 => format!("BIND(STR({}) AS ?e{}) ", random.one(&VARIABLES), random.below(1_000_000)),
                6 => format!(
                    "VALUES (?a ?b) {{ ({} UNDEF) (<urn:n1> {}) }} ",
                    random.one(&NODES[..4]),
                    random.one(&LITERALS)
                ),
                7 => format!(
                    "{{ SELECT DISTINCT ?a (COUNT(*) AS ?n{}) WHERE {inner} GROUP BY ?a }} ",
                    random.below(1_000_000)
                ),
                _ => inner,
            });
        }
    }
    text + "} "
}

pub fn query(random: &mut Random) -> String {
    let body = group(random, 2);
    let from = match random.below(12) {
        0 => "FROM <urn:g0> ",
        1 => "FROM <urn:g0> FROM <urn:g1> FROM NAMED <urn:g1> ",
        _ => "",
    };
    match random.below(10) {
        0 => format!("ASK {from}{body}"),
        1 => format!("CONSTRUCT {{ ?a <urn:made> ?b . ?b ?p ?c }} {from}WHERE {body}"),
        2 => format!("DESCRIBE ?a {from}WHERE {body}"),
        3 => format!(
            "SELECT ?a (COUNT(DISTINCT ?b) AS ?n) (MIN(?c) AS ?m) {from}WHERE {body} GROUP BY ?a HAVING(COUNT(*) > 1)"
        ),
        4 => format!("SELECT DISTINCT ?a ?b {from}WHERE {body} ORDER BY ?a DESC(?b) "),
        5 => {
            format!("SELECT (SUM(?b) AS ?s) (SAMPLE(1) AS ?one) (GROUP_CONCAT(DISTINCT ?z) AS ?all) {from}WHERE {body}")
        }
        _ => format!("SELECT * {from}WHERE {body}"),
    }
}

/// The answer of an evaluator that has Oxigraph's own dataset.
pub fn naive(query: &str, nquads: &str) -> Result<Answered, String> {
    let parsed = SparqlParser::new().parse_query(query).map_err(|error| error.to_string())?;
    let dataset = dataset(nquads);
    let evaluator = QueryEvaluator::new().without_optimizations();
    let results = evaluator.prepare(&parsed).execute(&dataset).map_err(|error| error.to_string())?;
    Ok(match results {
        QueryResults::Boolean(answer) => Answered::Boolean(answer),
        QueryResults::Graph(triples) => {
            // The library passes triples with blank nodes on several times.
            let triples: HashSet<Triple> = triples.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
            Answered::Graph(triples.into_iter().collect())
        }
        QueryResults::Solutions(solutions) => {
            let names = solutions.variables().iter().map(|name| name.as_str().to_owned()).collect();
            let rows = solutions.map(|row| row.map(|row| row.values().to_vec()).map_err(|error| error.to_string()));
            Answered::Solutions(names, rows.collect::<Result<_, _>>()?)
        }
    })
}

#[test]
fn answers_do_not_depend_on_the_index() {
    let queries = std::env::var("ISOMORPH_ORACLE_QUERIES").ok().map_or(QUERIES, |text| text.parse().unwrap());
    let (mut answered, mut rows, mut filtered) = (0, 0, 0);
    for seed in 0..queries {
        let mut random = Random::new(seed + 1);
        let nquads = graph(&mut random);
        let query = query(&mut random);
        let expected = match naive(&query, &nquads) {
            Ok(expected) => expected,
            Err(why) => {
                // A variable may be assigned twice: then it is no query for anyone.
                let refused = isomorph_sparql::Question::parse(&query, &Default::default()).is_err();
                assert!(refused, "{seed}: {query}\n{why}");
                continue;
            }
        };
        let question = parse(&query);
        let whole = ask(&question, &index(&nquads, Wanted::all())).unwrap();
        let wanted = index(&nquads, question.wanted());
        let part = ask(&question, &wanted).unwrap();
        for (found, of) in [(&whole, "the whole graph"), (&part, "what the query can read")] {
            assert_eq!(texts(found), texts(&expected), "{seed}, {of}: {query}\n{nquads}");
        }
        answered += 1;
        rows += texts(&expected).len();
        filtered += usize::from(question.wanted() != Wanted::all());
    }
    println!("{answered} of {queries} queries, {rows} solutions, {filtered} read a part of the graph");
    assert!(answered * 10 >= queries * 8 && rows as u64 > queries && filtered > 10, "{answered} {rows} {filtered}");
}
