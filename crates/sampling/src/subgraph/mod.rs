//! Subgraphs around nodes, for mini-batches of a trainer: the neighbours of some nodes, their neighbours, and so on.
//!
//! A [`Topology`] has the edges of a graph by their target, in mapped files that several processes share; a [`Subgraphs`] draws from
//! it. Edges are followed from target to source, because a trainer passes messages from source to target.

mod build;
mod draw;
mod local;
mod topology;

pub use build::edges_of;
pub use draw::{Seeds, Subgraph, SubgraphOf, Subgraphs};
pub use topology::{ByTarget, Listed, NodesOf, RelationOf, Topology};
