//! The triples that leave or reach one resource.

use isomorph_error::{Error, Kind, Result};
use isomorph_model::faces::Object;
use isomorph_model::{Batch, NodeId, Part, Side, part};

use super::Pattern;
use super::matches::Matches;
use crate::read::quoted::Quoted;
use crate::read::{Collector, GraphLake};
use crate::term;

/// Rows of a batch.
const ROWS: usize = 1 << 14;

/// Returns the triples that leave or reach a node and have a resource at the other end, with their graphs.
///
/// # Errors
/// [`Kind::NotFound`] if no triple has such a node; returns an error if a file cannot be read.
pub(crate) fn neighbors<'l>(
    lake: &'l GraphLake,
    edge: usize,
    node: NodeId<'_>,
    side: Side,
) -> Result<Box<dyn Part + 'l>> {
    if edge != 0 {
        return Err(Error::usage("a GraphLake store has only one edge type"));
    }
    let NodeId::Key(key) = node else {
        return Err(Error::usage("resources have no row numbers").hint("give an IRI or a blank node"));
    };
    let mut names = lake.names(key)?;
    if names.is_empty() {
        names.push(key.to_owned());
    }
    let mut near = Near {
        lake,
        quoted: lake.quoted()?,
        names: names.clone().into_iter(),
        side,
        matches: None,
        mentioned: false,
        collected: Collector::default(),
        of: None,
    };
    let first = near.next()?;
    if !near.mentioned {
        let other = if side == Side::Out { Side::In } else { Side::Out };
        let mut mentioned = false;
        for name in &names {
            let mut matches = lake.matches(&pattern(name, other))?;
            while let Some((graph, ..)) = matches.next()?.filter(|_| !mentioned) {
                mentioned = graph.name != term::QUOTED_GRAPH;
            }
        }
        if !mentioned {
            return Err(Error::new(Kind::NotFound, format!("no triple has the node {key:?}")));
        }
    }
    let rest = std::iter::from_fn(move || near.next().transpose());
    Ok(part::of(None, first.map(Ok).into_iter().chain(rest)))
}

fn pattern(name: &str, side: Side) -> Pattern<'_> {
    match side {
        Side::Out => Pattern { subject: Some(name), ..Pattern::default() },
        Side::In => Pattern { object: Some(Object::Term(name)), ..Pattern::default() },
    }
}

/// The triples on one side of a node that are being read.
struct Near<'l> {
    lake: &'l GraphLake,
    quoted: &'l Quoted,
    /// The IRIs of the node in the files that were not looked up yet.
    names: std::vec::IntoIter<String>,
    side: Side,
    matches: Option<Matches<'l>>,
    /// Whether any triple has the node, including those with literals.
    mentioned: bool,
    collected: Collector,
    /// Graph and predicate of what is collected.
    of: Option<(&'l str, &'l str)>,
}

impl Near<'_> {
    fn next(&mut self) -> Result<Option<Batch>> {
        loop {
            let Some(matches) = &mut self.matches else {
                let Some(name) = self.names.next() else { return Ok(self.give()) };
                self.matches = Some(self.lake.matches(&pattern(&name, self.side))?);
                continue;
            };
            let Some((graph, predicate, triple)) = matches.next()? else {
                self.matches = None;
                continue;
            };
            if graph.name == term::QUOTED_GRAPH {
                continue;
            }
            self.mentioned = true;
            if triple.literal {
                continue;
            }
            let before = self.of.replace((graph.name.as_str(), predicate));
            let given = match before.filter(|of| Some(*of) != self.of || self.collected.is_full(ROWS)) {
                Some((graph, predicate)) => take(&mut self.collected, graph, predicate),
                None => None,
            };
            self.collected.push(triple, self.quoted)?;
            if given.is_some() {
                return Ok(given);
            }
        }
    }

    fn give(&mut self) -> Option<Batch> {
        let (graph, predicate) = self.of?;
        take(&mut self.collected, graph, predicate)
    }
}

/// Returns what was collected of a predicate in a graph; `None` if that is empty.
fn take(collected: &mut Collector, graph: &str, predicate: &str) -> Option<Batch> {
    (!collected.is_empty()).then(|| collected.edges(predicate, term::graph_name(graph)))
}
