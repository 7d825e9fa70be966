//! The triples that leave or reach one resource.

use isomorph_error::{Error, Kind, Result};
use isomorph_model::faces::Object;
use isomorph_model::{Batch, EdgeBatch, NodeId, Side};

use super::Pattern;
use crate::read::{Collector, GraphLake};
use crate::term;

/// The triples with a resource at both ends that leave or reach a node, with their graphs.
///
/// # Errors
/// [`Kind::NotFound`] when nothing speaks of such a node; when a file cannot be read.
pub(crate) fn neighbors(lake: &GraphLake, edge: usize, node: NodeId<'_>, side: Side) -> Result<Vec<EdgeBatch>> {
    if edge != 0 {
        return Err(Error::usage("a store has one edge type"));
    }
    let NodeId::Key(key) = node else {
        return Err(Error::usage("resources have no rows").hint("name an IRI or a blank node"));
    };
    let quoted = lake.quoted()?;
    let mut names = lake.names(key)?;
    if names.is_empty() {
        names.push(key.to_owned());
    }
    let pattern = |name, side| match side {
        Side::Out => Pattern { subject: Some(name), ..Pattern::default() },
        Side::In => Pattern { object: Some(Object::Term(name)), ..Pattern::default() },
    };
    let mut found: Vec<EdgeBatch> = Vec::new();
    let mut collected = Collector::default();
    let mut of: Option<(&str, &str)> = None;
    let mut give = |collected: &mut Collector, of: Option<(&str, &str)>| {
        if let Some((graph, predicate)) = of.filter(|_| !collected.is_empty())
            && let Batch::Edges(edges) = collected.edges(predicate, term::graph_name(graph))
        {
            found.push(edges);
        }
    };
    let mut mentioned = false;
    for name in &names {
        lake.each_match(&pattern(name, side), &mut |graph, predicate, triple| {
            if graph.name == term::QUOTED_GRAPH {
                return Ok(());
            }
            mentioned = true;
            if triple.literal {
                return Ok(());
            }
            let here = (graph.name.as_str(), predicate);
            if of.is_some_and(|of| of != here) {
                give(&mut collected, of);
            }
            of = Some(here);
            collected.push(triple, quoted)
        })?;
    }
    give(&mut collected, of);
    let other = if side == Side::Out { Side::In } else { Side::Out };
    for name in &names {
        if mentioned {
            break;
        }
        lake.each_match(&pattern(name, other), &mut |graph, _, _| {
            mentioned |= graph.name != term::QUOTED_GRAPH;
            Ok(())
        })?;
    }
    if mentioned { Ok(found) } else { Err(Error::new(Kind::NotFound, format!("nothing speaks of {key:?}"))) }
}
