#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

pub mod adjacency;
mod capability;
mod columns;
mod directions;
mod grammar;
pub mod graphalytics;
mod layout;
mod line;
mod listing;
mod listing_survey;
pub mod matrix_market;
pub mod metis;
mod nodes;
mod notation;
mod numbers;
mod options;
pub mod pajek;
mod pieces;
mod python;
pub mod rules;
mod source;
mod survey;
mod write;

pub use capability::{CAPABILITY, holds, stored, unheld};
pub use layout::detect;
pub use listing::Listing;
pub use notation::Notation;
pub use options::{Column, EdgeData, OpenOptions, WriteOptions};
pub use source::EdgeList;
pub use write::EdgeListWriter;

use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::{EdgeType, Graph, Sink};
use isomorph_storage::Staging;

/// Starts the text of a graph of one node type and one edge type in `notation`.
///
/// # Errors
/// Returns an error if the graph has another shape, or something would be lost without permission.
pub fn create<'a>(
    notation: Notation,
    staging: &'a Staging,
    graph: &Graph,
    options: &WriteOptions,
) -> Result<Box<dyn Sink + 'a>> {
    Ok(match notation {
        Notation::MatrixMarket => Box::new(matrix_market::MatrixWriter::create(staging, graph, options)?),
        Notation::AdjacencyList | Notation::MultilineAdjacencyList => {
            Box::new(adjacency::AdjacencyWriter::create(notation, staging, graph, options)?)
        }
        Notation::Metis => Box::new(metis::MetisWriter::create(staging, graph, options)?),
        Notation::Pajek => Box::new(pajek::PajekWriter::create(staging, graph, options)?),
        Notation::Graphalytics => Box::new(graphalytics::GraphalyticsWriter::create(staging, graph, options)?),
    })
}

/// Returns the edge type of a graph that a notation can store.
fn checked<'g>(notation: Notation, graph: &'g Graph, options: &WriteOptions) -> Result<&'g EdgeType> {
    let ([_], [edge]) = (graph.nodes.as_slice(), graph.edges.as_slice()) else {
        return Err(Error::unsupported(format!("{} has nodes and edges of one type", notation.name())));
    };
    if edge.key.is_some() || edge.layered || edge.relation.fixed().is_none() {
        let message = format!("{} cannot store such edges", notation.name());
        return Err(Error::unsupported(message).at(Place::field(source::EDGE)));
    }
    if let Some((what, why)) = notation.unheld(graph).first().filter(|_| !options.without_unheld) {
        return Err(Error::new(Kind::WouldLose, format!("{what} would be lost: {why}")));
    }
    Ok(edge)
}
