//! Graphs to test with, and what to do to them.
//!
//! - [`five`] are the graphs that settled the model, one for each format.
//! - [`property_graphs`] and [`bundled_graphs`] are small awkward graphs in the two shapes of property graphs: what a
//!   format cannot hold and bring back, one of them shows.
//! - [`same`] gives a graph in other clothes: batches, encodings, widths. Nothing of it is content.
//! - [`mutations`] gives a graph with one thing changed: each must be noticed.
//! - [`arbitrary`] generates graphs for property tests, [`multilayer`] one with hyperedges, slices and layers from a number.
//!
//! Only tests use this module; it is behind the feature `zoo`.

pub mod arbitrary;
mod arrays;
mod build;
mod bundled;
mod cells;
mod five;
mod groups;
mod json;
mod multilayer;
mod mutate;
mod rows;
mod same;
#[cfg(test)]
mod tests;
mod typed;

pub use arrays::*;
pub use build::{Build, Edges, Nodes, columns, label_column};
pub use bundled::{BundledEdge, BundledNode, bundled, bundled_graphs, many_members, many_relations};
pub use five::{annnet, deepgnn, five, graphar, nock, rdf};
pub use multilayer::multilayer;
pub use mutate::{Mutation, mutations};
pub use same::same;
pub use typed::{property_graphs, wide_property_graphs};
