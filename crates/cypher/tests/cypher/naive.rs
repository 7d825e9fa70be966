//! Random patterns over random graphs, against all assignments by brute force.
//!
//! `ISOMORPH_CYPHER_CASES` sets how many, `ISOMORPH_CYPHER_SEED` where they begin.

use std::collections::{BTreeMap, BTreeSet};

use isomorph_cypher::{Map, Value};

use crate::memory_graph::{Edge, MemoryGraph};
use crate::setup::rows;

pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most as u64).unwrap()
    }

    pub fn one_in(&mut self, chance: usize) -> bool {
        self.below(chance) == 0
    }
}

pub fn random_graph(random: &mut Random) -> MemoryGraph {
    let mut graph = MemoryGraph::default();
    for _ in 0..1 + random.below(5) {
        let labels: BTreeSet<String> =
            ["A", "B"].iter().filter(|_| random.one_in(2)).map(|label| (*label).to_owned()).collect();
        let mut map = Map::new();
        if !random.one_in(3) {
            map.insert("x".into(), Value::Int(random.below(3) as i64));
        }
        graph.nodes.push((labels, map));
    }
    for _ in 0..random.below(8) {
        let (source, target) = (random.below(graph.nodes.len()), random.below(graph.nodes.len()));
        let ty = ["R", "S"][random.below(2)].to_owned();
        graph.edges.push(Edge { source, target, ty, properties: Map::new(), deleted: false });
    }
    graph
}

/// A relationship of a pattern, between two variables.
pub struct Step {
    pub left: usize,
    pub right: usize,
    /// 0 forward, 1 back, 2 both.
    pub direction: usize,
    pub types: Vec<&'static str>,
    pub length: Option<(usize, usize)>,
}

pub struct Case {
    pub labels: Vec<Option<&'static str>>,
    pub values: Vec<Option<i64>>,
    pub steps: Vec<Step>,
    /// `a.x = b.x` of two variables.
    pub equal: Option<(usize, usize)>,
    /// The pattern, without its condition.
    pub pattern: String,
    pub text: String,
    /// Relationships of this type have no direction.
    pub undirected: Option<&'static str>,
    /// A match may have a relationship several times.
    pub repeats: bool,
}

/// The nodes of a match, and the edges of each relationship.
pub type Match = (Vec<usize>, Vec<Vec<usize>>);

pub fn random_case(random: &mut Random) -> Case {
    let count = 1 + random.below(4);
    let labels = (0..count).map(|_| [None, None, Some("A"), Some("B")][random.below(4)]).collect::<Vec<_>>();
    let values = (0..count).map(|_| random.one_in(5).then(|| random.below(3) as i64)).collect::<Vec<_>>();
    let mut seen = BTreeSet::new();
    let mut node = |at: usize| {
        let mut text = format!("n{at}");
        if seen.insert(at) {
            if let Some(label) = labels[at] {
                text.push_str(&format!(":{label}"));
            }
            if let Some(value) = values[at] {
                text.push_str(&format!(" {{x: {value}}}"));
            }
        }
        format!("({text})")
    };
    let (mut steps, mut parts): (Vec<Step>, Vec<String>) = (Vec::new(), Vec::new());
    for _ in 0..1 + random.below(2) {
        let mut left = random.below(count);
        let mut text = node(left);
        for _ in 0..random.below(3) {
            if steps.len() == 3 {
                break;
            }
            let right = random.below(count);
            let direction = random.below(3);
            let types: Vec<&str> = [vec![], vec!["R"], vec!["R", "S"]][random.below(3)].clone();
            let length = random.one_in(3).then(|| {
                let least = random.below(3);
                (least, least + random.below(2))
            });
            let of_types = if types.is_empty() { String::new() } else { format!(":{}", types.join("|")) };
            let of_length = length.map(|(least, most)| format!("*{least}..{most}")).unwrap_or_default();
            let inside = format!("[r{}{of_types}{of_length}]", steps.len());
            let (open, close) = [("-", "->"), ("<-", "-"), ("-", "-")][direction];
            text.push_str(&format!("{open}{inside}{close}{}", node(right)));
            steps.push(Step { left, right, direction, types, length });
            left = right;
        }
        parts.push(text);
    }
    // Every variable is used, so that all columns exist.
    parts.extend(
        (0..count)
            .filter(|at| !parts.iter().any(|part| part.contains(&format!("(n{at}"))))
            .map(&mut node)
            .collect::<Vec<_>>(),
    );
    let equal = random.one_in(3).then(|| (random.below(count), random.below(count)));
    let condition = equal.map(|(a, b)| format!(" WHERE n{a}.x = n{b}.x")).unwrap_or_default();
    let ids = (0..count).map(|at| format!("id(n{at})"));
    let ids = ids.chain(steps.iter().enumerate().map(|(at, step)| match step.length {
        None => format!("[id(r{at})]"),
        Some(_) => format!("[x IN r{at} | id(x)]"),
    }));
    let pattern = parts.join(", ");
    let text = format!("MATCH {pattern}{condition} RETURN {}", ids.collect::<Vec<_>>().join(", "));
    Case { labels, values, steps, equal, pattern, text, undirected: None, repeats: false }
}

/// All walks between two nodes that repeat no edge, unless they may.
fn walks(
    graph: &MemoryGraph,
    case: &Case,
    step: &Step,
    from: usize,
    to: usize,
    taken: &mut Vec<usize>,
    found: &mut Vec<Vec<usize>>,
) {
    let (least, most) = step.length.unwrap_or((1, 1));
    if from == to && taken.len() >= least {
        found.push(taken.clone());
    }
    if taken.len() == most {
        return;
    }
    for (at, edge) in graph.edges.iter().enumerate() {
        if !case.repeats && taken.contains(&at) || !(step.types.is_empty() || step.types.contains(&edge.ty.as_str())) {
            continue;
        }
        let is_undirected = case.undirected == Some(edge.ty.as_str());
        let forward = (step.direction != 1 || is_undirected) && edge.source == from;
        let back =
            (step.direction != 0 || is_undirected) && edge.target == from && !(forward && edge.source == edge.target);
        for (goes, end) in [(forward, edge.target), (back, edge.source)] {
            if goes {
                taken.push(at);
                walks(graph, case, step, end, to, taken, found);
                taken.pop();
            }
        }
    }
}

fn brute_force(graph: &MemoryGraph, case: &Case) -> Vec<String> {
    let mut found: Vec<String> =
        matches(graph, case).into_iter().map(|(nodes, edges)| format!("{nodes:?} {edges:?}")).collect();
    found.sort();
    found
}

pub fn matches(graph: &MemoryGraph, case: &Case) -> Vec<Match> {
    let (count, nodes) = (case.labels.len(), graph.nodes.len());
    let x = |node: usize| graph.nodes[node].1.get("x").map(|value| format!("{value:?}"));
    let mut found = Vec::new();
    for code in 0..nodes.pow(u32::try_from(count).unwrap()) {
        let chosen: Vec<usize> = (0..count).map(|at| code / nodes.pow(u32::try_from(at).unwrap()) % nodes).collect();
        let fits = (0..count).all(|at| {
            let (labels, _) = &graph.nodes[chosen[at]];
            case.labels[at].is_none_or(|label| labels.contains(label))
                && case.values[at].is_none_or(|value| x(chosen[at]) == Some(format!("{:?}", Value::Int(value))))
        });
        let equal = case.equal.is_none_or(|(a, b)| x(chosen[a]).is_some() && x(chosen[a]) == x(chosen[b]));
        if !fits || !equal {
            continue;
        }
        let mut rows: Vec<Vec<Vec<usize>>> = vec![Vec::new()];
        for step in &case.steps {
            let mut options = Vec::new();
            walks(graph, case, step, chosen[step.left], chosen[step.right], &mut Vec::new(), &mut options);
            rows = rows
                .iter()
                .flat_map(|row| options.iter().map(move |option| row.iter().cloned().chain([option.clone()]).collect()))
                .filter(|row: &Vec<Vec<usize>>| {
                    let all: Vec<usize> = row.iter().flatten().copied().collect();
                    case.repeats || all.iter().collect::<BTreeSet<_>>().len() == all.len()
                })
                .collect();
        }
        found.extend(rows.into_iter().map(|row| (chosen.clone(), row)));
    }
    found
}

#[test]
fn random_patterns_match_what_brute_force_finds() {
    let set = |name: &str, default: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (cases, seed) = (set("ISOMORPH_CYPHER_CASES", 100), set("ISOMORPH_CYPHER_SEED", 20));
    let mut matched = 0;
    for number in 0..cases {
        let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ (seed + number).wrapping_mul(0xD134_2543_DE82_EF95) | 1);
        let graph = random_graph(&mut random);
        let case = random_case(&mut random);
        let (_, rows) =
            rows(&graph, &case.text, &BTreeMap::new()).unwrap_or_else(|fault| panic!("{}: {fault:?}", case.text));
        let count = case.labels.len();
        let id = |value: &Value| match value {
            Value::Int(int) => usize::try_from(*int).unwrap(),
            other => panic!("{other:?}"),
        };
        let list = |value: &Value| match value {
            Value::List(items) => items.iter().map(id).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        };
        let mut found: Vec<String> = rows
            .iter()
            .map(|row| {
                let (nodes, edges) = row.split_at(count);
                format!(
                    "{:?} {:?}",
                    nodes.iter().map(id).collect::<Vec<_>>(),
                    edges.iter().map(list).collect::<Vec<_>>()
                )
            })
            .collect();
        found.sort();
        matched += usize::from(!found.is_empty());
        assert_eq!(found, brute_force(&graph, &case), "case {}: {} over {graph:?}", seed + number, case.text);
    }
    assert!(matched * 10 >= usize::try_from(cases).unwrap(), "only {matched} of {cases} patterns match anything");
}
