#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod adjacency;
mod answer;
mod arcs;
mod array;
mod clustering;
mod communities;
mod components;
mod distances;
mod jobs;
mod nodes;
mod pagerank;
mod paths;
mod read;
mod statistics;

pub use answer::{Components, NodeRows, NodeValues, Order, ReadOf};
pub use jobs::{Job, clustering, communities, components, distances, page_rank};
pub use nodes::Nodes;
pub use pagerank::PageRank;
pub use paths::{Paths, PathsBetween, shortest_paths};
pub use read::{RelationOf, Relations};
pub use statistics::{
    ColumnStatistics, ComponentStatistics, Degrees, Distinct, EdgeTypeStatistics, GraphStatistics, HistogramBar,
    NodeTypeStatistics, TableColumns, statistics,
};
