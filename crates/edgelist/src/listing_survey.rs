//! The pass over a text when it is opened: properties, numbers of nodes and edges, and the nodes of texts that name them.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use isomorph_error::{Error, Findings, Result, Rule};
use isomorph_storage::{Budget, Scratch};
use isomorph_tables::PackedFile;
use xxhash_rust::xxh3::xxh3_64;

use crate::columns::{Kind, Properties};
use crate::grammar::{Cell, Cells, End, Grammar, Item, State};
use crate::line::integer;
use crate::nodes::{Collector, Nodes};
use crate::pieces::Piece;
use crate::survey::{Wrong, passed};

/// Maximum number of different names of properties.
const NAMES: usize = 10_000;

/// The position of a piece in the file, and what is in it.
#[derive(Debug, Clone)]
pub(crate) struct Extent {
    pub line: u64,
    pub range: Range<u64>,
    pub state: State,
    pub nodes: u64,
    pub edges: u64,
    /// Number of nodes before.
    pub first_node: u64,
}

/// How often the text states an undirected edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mentions {
    /// Once, at either end.
    #[default]
    Once,
    /// At each of its ends, where the other one follows; a loop, once.
    AtBothEnds,
}

impl Mentions {
    /// Returns whether this mention of an edge is the one that counts.
    pub fn counts(self, source: End<'_>, target: End<'_>) -> bool {
        self == Mentions::Once || !is_upper(source, target)
    }
}

/// Returns whether the source is after the target, by number or name.
pub(crate) fn is_upper(source: End<'_>, target: End<'_>) -> bool {
    match (source, target) {
        (End::Row(source), End::Row(target)) => source > target,
        (End::Name(source), End::Name(target)) => source > target,
        _ => false,
    }
}

/// What is found in one piece, or in all.
#[derive(Default)]
pub(crate) struct Found {
    pub nodes: u64,
    pub edges: u64,
    /// Numbers of directed and undirected edges.
    pub directed: [u64; 2],
    pub loops: u64,
    /// Number of edges whose source is after the target.
    pub upper: u64,
    /// Sums of hashes of the edges that are stated at the lower and at the upper end: equal if each is stated at both.
    pub sums: [u64; 2],
    /// Whether a node or an end is not an integer.
    pub has_words: bool,
    pub of_nodes: Properties,
    pub of_edges: Properties,
    pub findings: Vec<(&'static Rule, &'static str, u64, usize)>,
    /// The state after the last piece.
    pub end: State,
}

impl Found {
    fn see(&mut self, item: &Item<'_, '_>, at: usize, line_hash: bool) {
        match item {
            Item::Node(end, cells) => {
                self.nodes += 1;
                self.has_words |= is_word(*end);
                see_cells(&mut self.of_nodes, cells);
            }
            Item::Edge(source, target, directed, cells) => {
                self.edges += 1;
                self.directed[usize::from(!directed)] += 1;
                self.has_words |= is_word(*source) || is_word(*target);
                if source == target {
                    self.loops += 1;
                } else {
                    let is_upper = is_upper(*source, *target);
                    self.upper += u64::from(is_upper);
                    if line_hash {
                        let ends = if is_upper { (target, source) } else { (source, target) };
                        let sum = &mut self.sums[usize::from(is_upper)];
                        *sum = sum.wrapping_add(xxh3_64(format!("{ends:?}{cells:?}").as_bytes()));
                    }
                }
                see_cells(&mut self.of_edges, cells);
            }
            Item::Odd(rule, message) => match self.findings.iter_mut().find(|own| own.0.id == rule.id) {
                Some(own) => own.2 += 1,
                None => self.findings.push((rule, message, 1, at)),
            },
        }
    }

    fn merge(&mut self, other: &Found, otherwise: Kind) {
        self.nodes += other.nodes;
        self.edges += other.edges;
        for (own, other) in self.directed.iter_mut().zip(other.directed) {
            *own += other;
        }
        for (own, other) in self.sums.iter_mut().zip(other.sums) {
            *own = own.wrapping_add(other);
        }
        self.loops += other.loops;
        self.upper += other.upper;
        self.has_words |= other.has_words;
        self.of_nodes.merge(&other.of_nodes, otherwise);
        self.of_edges.merge(&other.of_edges, otherwise);
    }
}

fn is_word(end: End<'_>) -> bool {
    matches!(end, End::Name(name) if integer(name).is_none())
}

fn see_cells(properties: &mut Properties, cells: &Cells<'_>) {
    for (name, cell) in cells {
        let at = properties.place(name);
        let Some(seen) = properties.at(at) else { continue };
        match cell {
            Cell::Field(text) => seen.field(Some(text)),
            Cell::Text(_) => seen.text(),
            Cell::Value(value) => seen.value(value),
        }
    }
}

/// What the survey of one text needs to know.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'w> {
    /// The names of nodes are collected; as texts, if the sidecar says so.
    pub names: Option<bool>,
    /// Hashes of edges are summed.
    pub sums: bool,
    /// The type of a property with values of several types.
    pub otherwise: Kind,
    pub memory: (&'w Budget, &'w Scratch),
    pub too_many: &'static Rule,
}

/// Reads a whole text.
///
/// # Errors
/// Returns an error if it cannot be read, or a line is invalid.
pub(crate) fn survey(
    file: &PackedFile,
    grammar: &dyn Grammar,
    wanted: Wanted<'_>,
    findings: &mut Findings,
) -> Result<(Found, Vec<Extent>, Option<Nodes>)> {
    let as_text = wanted.names == Some(true);
    let stays = AtomicBool::new(wanted.names == Some(false));
    let (budget, scratch) = wanted.memory;
    let collector = wanted.names.map(|as_text| Collector::new(!as_text, budget, scratch)).transpose()?;
    let (mut all, mut extents, mut end) = (Found::default(), Vec::new(), State::default());
    passed(
        file,
        following(file, grammar, &mut end),
        |piece, state| {
            let mut found = Found::default();
            let mut own = collector.as_ref().map(|collector| collector.of_piece(piece));
            let seen = grammar.read(piece, state, &mut |at, item| {
                found.see(&item, at, wanted.sums);
                if found.has_words {
                    stays.store(false, Ordering::Relaxed);
                }
                if let Some(own) = own.as_mut().filter(|_| as_text || stays.load(Ordering::Relaxed)) {
                    own.name(at, &item);
                }
                if found.of_nodes.names.len().max(found.of_edges.names.len()) > NAMES {
                    return Err(Wrong::new(wanted.too_many, format!("more than {NAMES} different names"), at));
                }
                Ok(())
            });
            seen.map_err(|wrong| wrong.in_piece(piece, file))?;
            if let Some(own) = own.filter(|_| as_text || stays.load(Ordering::Relaxed)) {
                own.push()?;
            }
            Ok(found)
        },
        |piece, state, found| {
            let range = piece.offset..piece.offset + piece.text.len() as u64;
            let (line, first_node) = (piece.line, all.nodes);
            extents.push(Extent { line, range, state, nodes: found.nodes, edges: found.edges, first_node });
            all.merge(&found, wanted.otherwise);
            for (rule, message, count, at) in &found.findings {
                let error = Wrong::new(rule, *message, *at).in_piece(piece, file);
                (0..*count).for_each(|_| findings.push(rule, *message, error.place().clone()));
            }
            match all.of_nodes.names.len().max(all.of_edges.names.len()) > NAMES {
                true => Err(Error::broken(wanted.too_many, format!("more than {NAMES} different names"))),
                false => Ok(()),
            }
        },
    )?;
    all.end = end;
    let nodes = match collector {
        None => None,
        Some(collector) if as_text || !all.has_words => Some(collector.finish()?),
        Some(collector) => {
            drop(collector);
            Some(names(file, grammar, wanted.memory)?)
        }
    };
    Ok((all, extents, nodes))
}

/// Returns the number of different integers that are nodes or ends in the texts.
///
/// # Errors
/// Returns an error if a text cannot be read.
pub(crate) fn distinct(texts: &[(&PackedFile, &dyn Grammar)], memory: (&Budget, &Scratch)) -> Result<u64> {
    let collector = Collector::new(true, memory.0, memory.1)?;
    for (file, grammar) in texts {
        collect(&collector, file, *grammar)?;
    }
    Ok(collector.finish()?.rows())
}

/// Collects the names of a text whose names are not all integers.
fn names(file: &PackedFile, grammar: &dyn Grammar, (budget, scratch): (&Budget, &Scratch)) -> Result<Nodes> {
    let collector = Collector::new(false, budget, scratch)?;
    collect(&collector, file, grammar)?;
    collector.finish()
}

/// Adds the names of a text.
fn collect(collector: &Collector, file: &PackedFile, grammar: &dyn Grammar) -> Result<()> {
    let mut end = State::default();
    passed(
        file,
        following(file, grammar, &mut end),
        |piece, state| {
            let mut own = collector.of_piece(piece);
            let seen = grammar.read(piece, state, &mut |at, item| {
                own.name(at, &item);
                Ok(())
            });
            seen.map_err(|wrong| wrong.in_piece(piece, file))?;
            own.push()
        },
        |_, _, ()| Ok(()),
    )
}

/// Returns the state before each piece, one after another.
fn following<'f>(
    file: &'f PackedFile,
    grammar: &'f dyn Grammar,
    next: &'f mut State,
) -> impl FnMut(&Piece) -> Result<State> + 'f {
    move |piece| {
        let state = next.clone();
        grammar.skip(piece, next).map_err(|wrong| wrong.in_piece(piece, file))?;
        Ok(state)
    }
}
