#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

pub mod answers;
mod divide;
mod elements;
mod faults;
mod features;
mod graph;
mod hubs;
mod index;
mod map;
mod neighbors;
mod occurrences;
mod pagerank;
mod partition;
mod prefetch;
mod random;
mod reference;
mod request;
mod sampler;
mod segments;
mod source;
mod stop;
pub mod subgraph;
mod summary;
mod walk;

pub use elements::{Choice, EdgeSampler, NodeSampler};
pub use features::{Dense, Edges, Sparse, Stated, Strings, Value, Values};
pub use graph::{Graph, GraphOptions};
pub use index::{IndexFile, IndexOrigin};
pub use map::Hold;
pub use neighbors::NeighborLists;
pub use pagerank::Push;
pub use request::{Ask, Draw, Generator, Missing, NO_TIME, Picks, TypeSet};
pub use sampler::Sampler;
pub use source::{Clock, KeptGraph, LABELS, Names, is_json_feature};
pub use stop::{Beat, Stop, Why};
pub use summary::Summary;
pub use walk::Bias;
