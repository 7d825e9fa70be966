//! Tables of graphs and files as those of the engine: their columns, filters, statistics, and how they are read.

pub(crate) mod catalog;
pub(crate) mod columns;
pub(crate) mod estimate;
pub(crate) mod file;
pub(crate) mod filter;
pub(crate) mod graph_table;
pub(crate) mod look_up;
pub(crate) mod matched;
pub(crate) mod narrowed;
pub(crate) mod narrowing;
pub(crate) mod parts;
pub(crate) mod quads;
pub(crate) mod scan;
pub(crate) mod table;
