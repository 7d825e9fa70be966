//! Reading a graph.

mod attributes;
mod coefficients;
mod documents;
mod edge_part;
mod edges;
mod entities;
mod graph;
mod groups;
mod hyperedges;
pub(crate) mod ids;
pub(crate) mod json;
pub(crate) mod layers;
mod manifest;
mod neighbors;
mod nodes;
mod open;
mod other_part;
mod recover;
mod repeats;
mod shown;
mod slice_part;
pub(crate) mod slices;
mod slots;
mod source;

pub(crate) use attributes::Attributes;
pub(crate) use edge_part::{COLUMNS, directions, ranges_of, weights};
pub(crate) use edges::{Class, Known, resolve};
pub(crate) use entities::{Placement, unlisted};
pub(crate) use graph::describe_edges;
pub(crate) use hyperedges::Role;
pub(crate) use ids::hash;
pub(crate) use json::{check as check_json, check_texts};
pub(crate) use layers::{LayerColumns, Layers, PLACEHOLDER};
pub(crate) use manifest::Manifest;
pub(crate) use neighbors::only_of;
pub use open::Annnet;
