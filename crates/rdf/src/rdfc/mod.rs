//! RDFC-1.0: the same labels for the same graph, whatever labels its blank nodes have.
//!
//! The algorithm is that of the W3C recommendation "RDF Dataset Canonicalization" (May 2024) with SHA-256. Section
//! numbers refer to it. Blank nodes inside triple terms, which it does not define, are treated like objects, at
//! separate positions.

mod issuer;
mod pieces;

use std::collections::{BTreeMap, HashMap};

use isomorph_error::{Error, Kind, Result};
use isomorph_model::faces::Quad;
use isomorph_storage::{Budget, Reservation};
use sha2::{Digest, Sha256};

use self::issuer::Issuer;
use self::pieces::{Line, Piece};

pub use self::pieces::relabelled;

/// Number of steps that are allowed in addition to those for each blank node; a step is one order of neighbours that is
/// tried.
const STEPS: u64 = 1 << 16;

/// Number of steps for each blank node.
const STEPS_EACH: u64 = 64;

/// Maximum length of a path of similar blank nodes.
const DEPTH: usize = 256;

/// Bytes of the budget for a line, apart from its text.
const EACH: u64 = 160;

/// Collects the quads with blank nodes.
pub struct Canonicalizer {
    numbers: HashMap<String, u32>,
    labels: Vec<String>,
    lines: Vec<Line>,
    memory: Reservation,
}

/// Canonical labels of blank nodes.
#[derive(Debug, Clone, Default)]
pub struct CanonicalLabels(HashMap<String, String>);

impl Canonicalizer {
    /// Creates an empty canonicalizer; its memory counts in `budget`.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn new(budget: &Budget) -> Result<Self> {
        let memory = budget.reserve(0)?;
        Ok(Canonicalizer { numbers: HashMap::new(), labels: Vec::new(), lines: Vec::new(), memory })
    }

    /// Adds a quad. Each must be added once.
    ///
    /// # Errors
    /// Returns [`Kind::TooLarge`] if the quads with blank nodes do not fit into the budget.
    pub fn push(&mut self, quad: &Quad<'_>) -> Result<()> {
        let (numbers, labels) = (&mut self.numbers, &mut self.labels);
        let line = Line::of(quad, &mut |label| match numbers.get(label) {
            Some(number) => *number,
            None => {
                let number = narrow(labels.len());
                labels.push(label.to_owned());
                numbers.insert(label.to_owned(), number);
                number
            }
        });
        if let Some(line) = line {
            self.memory.grow(EACH + 2 * line.bytes() as u64)?;
            self.lines.push(line);
        }
        Ok(())
    }

    /// The labels (section 4.4).
    ///
    /// # Errors
    /// Returns [`Kind::TooLarge`] if the blank nodes are so similar that distinguishing them would take too long.
    pub fn finish(self) -> Result<CanonicalLabels> {
        let count = self.labels.len();
        // 2: the quads of each blank node.
        let mut quads = vec![Vec::new(); count];
        for (at, line) in self.lines.iter().enumerate() {
            for node in line.nodes() {
                let of: &mut Vec<usize> = &mut quads[node as usize];
                if of.last() != Some(&at) {
                    of.push(at);
                }
            }
        }
        let mut state = State {
            lines: &self.lines,
            quads,
            first: Vec::with_capacity(count),
            canonical: Issuer::new("c14n"),
            steps: STEPS.saturating_add(STEPS_EACH.saturating_mul(count as u64)),
        };
        // 3: hashes of nodes by their quads.
        let mut by_hash: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for node in 0..narrow(count) {
            let hash = state.first_degree(node);
            by_hash.entry(hash.clone()).or_default().push(node);
            state.first.push(hash);
        }
        // 4: nodes with a unique hash.
        for nodes in by_hash.values().filter(|nodes| nodes.len() == 1) {
            nodes.iter().for_each(|node| drop(state.canonical.issue(*node)));
        }
        // 5: the others, by their neighbours.
        for nodes in by_hash.values().filter(|nodes| nodes.len() > 1) {
            let mut paths = Vec::new();
            for node in nodes {
                if state.canonical.get(*node).is_none() {
                    let mut issuer = Issuer::new("b");
                    issuer.issue(*node);
                    paths.push(state.n_degree(*node, issuer, DEPTH)?);
                }
            }
            paths.sort_by(|one, other| one.0.cmp(&other.0));
            for (_, issuer) in paths {
                issuer.in_order().for_each(|node| drop(state.canonical.issue(node)));
            }
        }
        let canonical = state.canonical;
        let named = |(number, label): (usize, String)| Some((label, canonical.get(narrow(number))?.to_owned()));
        Ok(CanonicalLabels(self.labels.into_iter().enumerate().filter_map(named).collect()))
    }
}

/// The number of a blank node.
#[expect(clippy::cast_possible_truncation, reason = "a text is held for each, so there are fewer than 2^32")]
fn narrow(number: usize) -> u32 {
    number as u32
}

impl CanonicalLabels {
    /// The canonical label of a blank node, both without `_:`.
    pub fn get(&self, label: &str) -> Option<&str> {
        self.0.get(label).map(String::as_str)
    }

    /// Number of blank nodes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no blank nodes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A term with the canonical labels of its blank nodes; `None` if it has none.
    pub fn term(&self, text: &str) -> Option<String> {
        relabelled(text, &mut |label| self.get(label))
    }
}

struct State<'a> {
    lines: &'a [Line],
    quads: Vec<Vec<usize>>,
    first: Vec<String>,
    canonical: Issuer,
    steps: u64,
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl State<'_> {
    /// Hash first degree quads (section 4.6).
    fn first_degree(&self, node: u32) -> String {
        let of = self.quads.get(node as usize).map(Vec::as_slice).unwrap_or_default();
        let mut lines: Vec<String> = of.iter().map(|at| self.lines[*at].seen_from(node)).collect();
        lines.sort_unstable();
        sha256(&lines.concat())
    }

    /// Hash related blank node (section 4.7).
    fn related(&self, related: u32, line: &Line, issuer: &Issuer, position: &str) -> String {
        let mut input = position.to_owned();
        if position != "g" {
            input.push('<');
            input.push_str(&line.predicate);
            input.push('>');
        }
        match self.canonical.get(related).or_else(|| issuer.get(related)) {
            Some(label) => {
                input.push_str("_:");
                input.push_str(label);
            }
            None => input.push_str(&self.first[related as usize]),
        }
        sha256(&input)
    }

    /// Hash n-degree quads (section 4.8): the hash, and the labels that were issued for it.
    fn n_degree(&mut self, node: u32, mut issuer: Issuer, depth: usize) -> Result<(String, Issuer)> {
        let deeper = depth.checked_sub(1).ok_or_else(too_alike)?;
        // 3: related nodes by hash.
        let mut related: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for at in &self.quads[node as usize] {
            let line = &self.lines[*at];
            for piece in &line.pieces {
                if let Piece::Node(other, position) = piece
                    && *other != node
                {
                    let nodes = related.entry(self.related(*other, line, &issuer, position)).or_default();
                    if !nodes.contains(other) {
                        nodes.push(*other);
                    }
                }
            }
        }
        let mut data = String::new();
        for (hash, mut nodes) in related {
            data.push_str(&hash);
            let mut chosen: Option<(String, Issuer)> = None;
            nodes.sort_unstable();
            let mut orders = Orders::new(nodes);
            while let Some(order) = orders.next() {
                self.steps = self.steps.checked_sub(1).ok_or_else(too_alike)?;
                let longer = |path: &str, chosen: &Option<(String, Issuer)>| {
                    chosen.as_ref().is_some_and(|(least, _)| path.len() >= least.len() && path > least.as_str())
                };
                let mut copy = issuer.clone();
                let mut path = String::new();
                let mut recursion = Vec::new();
                let mut worse = false;
                for node in order {
                    path.push_str("_:");
                    match self.canonical.get(*node) {
                        Some(label) => path.push_str(label),
                        None => {
                            if copy.get(*node).is_none() {
                                recursion.push(*node);
                            }
                            path.push_str(&copy.issue(*node));
                        }
                    }
                    if longer(&path, &chosen) {
                        worse = true;
                        break;
                    }
                }
                for node in recursion {
                    if worse {
                        break;
                    }
                    let (hash, issued) = self.n_degree(node, copy.clone(), deeper)?;
                    path.push_str("_:");
                    path.push_str(&copy.issue(node));
                    path.push('<');
                    path.push_str(&hash);
                    path.push('>');
                    copy = issued;
                    worse = longer(&path, &chosen);
                }
                if !worse && chosen.as_ref().is_none_or(|(least, _)| path < *least) {
                    chosen = Some((path, copy));
                }
            }
            if let Some((path, chosen)) = chosen {
                data.push_str(&path);
                issuer = chosen;
            }
        }
        Ok((sha256(&data), issuer))
    }
}

fn too_alike() -> Error {
    Error::new(Kind::TooLarge, "the blank nodes of this graph are so similar that distinguishing them takes too long")
        .hint("without --rdfc, labels are compared unchanged")
}

/// All orders of some nodes, one after another (Heap's algorithm, without recursion).
struct Orders {
    nodes: Vec<u32>,
    counters: Vec<usize>,
    at: usize,
    begun: bool,
}

impl Orders {
    fn new(nodes: Vec<u32>) -> Self {
        Orders { counters: vec![0; nodes.len()], nodes, at: 0, begun: false }
    }

    fn next(&mut self) -> Option<&[u32]> {
        if !self.begun {
            self.begun = true;
            return Some(&self.nodes);
        }
        while self.at < self.nodes.len() {
            let counter = self.counters[self.at];
            if counter < self.at {
                let other = if self.at.is_multiple_of(2) { 0 } else { counter };
                self.nodes.swap(other, self.at);
                self.counters[self.at] += 1;
                self.at = 0;
                return Some(&self.nodes);
            }
            self.counters[self.at] = 0;
            self.at += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{ReadOptions, Syntax, read};

    /// The lines of a graph with canonical labels, sorted.
    fn canonical(text: &str) -> Result<Vec<String>> {
        let mut canonicalizer = Canonicalizer::new(&Budget::default())?;
        let mut quads = Vec::new();
        read(&mut text.as_bytes(), Syntax::TriG, &ReadOptions::default(), &mut |quad| {
            canonicalizer.push(&quad)?;
            let mut line = String::new();
            isomorph_model::ntriples::push_quad(&mut line, &quad);
            quads.push(line);
            Ok(())
        })?;
        let labels = canonicalizer.finish()?;
        let mut lines: Vec<String> = Vec::new();
        for quad in quads {
            let term = |text: &str| labels.term(text).unwrap_or_else(|| text.to_owned());
            lines.push(quad.split(' ').map(term).collect::<Vec<_>>().join(" "));
        }
        lines.sort();
        Ok(lines)
    }

    #[test]
    fn orders_are_all_there_are() {
        for (count, all) in [(0, 1), (1, 1), (2, 2), (3, 6), (5, 120)] {
            let mut orders = Orders::new((0..count).collect());
            let mut found = std::collections::BTreeSet::new();
            while let Some(order) = orders.next() {
                assert!(found.insert(order.to_vec()));
            }
            assert_eq!(found.len(), all);
        }
    }

    #[test]
    fn labels_do_not_depend_on_names_and_order() {
        let cycle = |names: [&str; 4]| {
            let [a, b, c, d] = names;
            format!("_:{a} <urn:p> _:{b} . _:{b} <urn:p> _:{c} . _:{c} <urn:p> _:{a} . _:{d} <urn:q> _:{a} , \"x\" .")
        };
        let one = canonical(&cycle(["a", "b", "c", "d"])).unwrap();
        assert_eq!(one, canonical(&cycle(["d", "c", "b", "a"])).unwrap());
        assert_eq!(one, canonical(&cycle(["x", "a", "y", "b"])).unwrap());
        assert_ne!(one, canonical(&cycle(["a", "b", "c", "d"]).replace("_:d <urn:q> _:a", "_:d <urn:q> _:d")).unwrap());
        // Two triangles are not a hexagon.
        let edges = |pairs: &[(u8, u8)]| {
            let line = |(a, b): &(u8, u8)| format!("_:n{a} <urn:p> _:n{b} . _:n{b} <urn:p> _:n{a} .\n");
            pairs.iter().map(line).collect::<String>()
        };
        let hexagon = edges(&[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]);
        let triangles = edges(&[(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]);
        assert_ne!(canonical(&hexagon).unwrap(), canonical(&triangles).unwrap());
        assert_eq!(
            canonical(&hexagon).unwrap(),
            canonical(&edges(&[(3, 1), (1, 0), (0, 4), (4, 2), (2, 5), (5, 3)])).unwrap()
        );
        // Inside triple terms, subjects differ from objects.
        let quoted = |s: &str, o: &str| {
            format!("<urn:s> <urn:p> <<( _:{s} <urn:p> _:{o} )>> . _:{s} <urn:p> 1 . _:{o} <urn:p> 1 .")
        };
        assert_eq!(canonical(&quoted("a", "b")).unwrap(), canonical(&quoted("b", "a")).unwrap());
    }

    #[test]
    fn graphs_that_take_for_ever_are_refused() {
        let nodes: Vec<String> = (0..12).map(|n| format!("_:n{n}")).collect();
        let mut clique = String::new();
        for one in &nodes {
            nodes
                .iter()
                .filter(|other| *other != one)
                .for_each(|other| clique.push_str(&format!("{one} <urn:p> {other} .\n")));
        }
        assert_eq!(canonical(&clique).unwrap_err().kind(), Kind::TooLarge);
        let path: String = (0..100_000).map(|n| format!("_:n{n} <urn:p> _:n{} .\n", (n + 1) % 100_000)).collect();
        assert_eq!(canonical(&path).unwrap_err().kind(), Kind::TooLarge);
    }
}
