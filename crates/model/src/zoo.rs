//! Test graphs, and modifications of them.
//!
//! - [`five`] are the graphs for which the model was designed, one for each format.
//! - [`property_graphs`] and [`bundled_graphs`] are small graphs with unusual content in the two shapes of property graphs:
//!   whatever a format cannot store losslessly occurs in one of them.
//! - [`same`] returns a graph in other representations: batches, encodings, widths. The content is unchanged.
//! - [`mutations`] returns a graph with one thing changed; each change must be detected.
//! - [`arbitrary`] generates graphs for property tests, [`multilayer`] generates one with hyperedges, slices and layers
//!   from a number.
//!
//! Only tests use this module, which requires the feature `zoo`.

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
