//! The union of several graphs: their nodes by key, and all of their edges.

mod merged;
mod source;

use std::sync::Arc;

use isomorph_error::{Error, Result};
use isomorph_model::Source;
use isomorph_storage::Resources;

use self::merged::Merged;
use self::source::{Member, Union};
use crate::ends_by_key::Keying;
use crate::open::Opened;
use crate::options::OpenOptions;
use crate::progress::Progress;
use crate::traits::Shape;

/// What happens to a node that several graphs have with different properties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Clash {
    /// It is an error, which names the node and the graphs.
    #[default]
    Error,
    /// The node of the first graph stays.
    First,
}

/// The union of several graphs, as one graph of the format of the first. Types of the same name are one type, with the properties of
/// all. Nodes of a type with the same key are one node; edges are all kept. All nodes are read once.
///
/// # Errors
/// If a graph is RDF, has hyperedges, groups or nodes without keys, if properties of one name have different types, or nodes clash;
/// also if a graph cannot be read, or the keys do not fit into memory.
pub fn union(graphs: Vec<Opened>, clash: Clash, resources: &Resources, progress: &dyn Progress) -> Result<Opened> {
    let mut shapes = graphs.iter().map(|opened| opened.format_of_graph().shape());
    let first = shapes.next().ok_or_else(|| Error::usage("a union has no graphs"))?;
    let is_alike = shapes.all(|shape| shape == first);
    let mut members = Vec::with_capacity(graphs.len());
    for opened in &graphs {
        opened.check_bytes(resources, progress)?;
        let place = opened.location.to_string();
        if opened.format_of_graph().shape() == Shape::Triples {
            return Err(Error::unsupported("RDF has unions of its own").at(place).hint(
                "isomorph lake load STORE FILE…    load several texts into one store, which keeps each triple once",
            ));
        }
        // Bags of properties are merged as they are; with typed graphs, their members are columns.
        let graph: Arc<dyn Source> = match is_alike {
            true => Arc::clone(&opened.graph),
            false => opened.in_columns(resources, progress)?,
        };
        graph.prepare(resources.threads, progress)?;
        let graph = match Keying::of(graph.as_ref(), resources, progress)? {
            Some(keying) => keying.shown(graph),
            None => graph,
        };
        members.push(Member { graph, place });
    }
    let described: Vec<_> = members.iter().map(|member| (member.graph.graph(), member.place.as_str())).collect();
    let merged = Merged::of(&described)?;
    let union = Union::read(members, merged, clash, resources, progress)?;
    let mut graphs = graphs.into_iter();
    let opened = graphs.next().ok_or_else(|| Error::usage("a union has no graphs"))?;
    let union: Arc<dyn Source> = Arc::new(union);
    let format = match is_alike {
        true => opened.format_of_graph(),
        false => crate::driver::Format::GRAPHAR,
    };
    let options = OpenOptions { from: None, ..opened.options.clone() };
    Ok(Opened { format, native: Arc::clone(&union), sidecar: None, graph: union, is_part: true, options, ..opened })
}
