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
//! Only tests use this crate. It is not a feature of `isomorph-model`: with such a feature, every crate above the model would be
//! compiled once for tests and once for programs. The model's own tests compile these files as a module, because in its unit tests
//! the types of the model are not those that this crate knows.

#![cfg_attr(
    not(test),
    allow(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss,
        reason = "small graphs for tests"
    )
)]

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
