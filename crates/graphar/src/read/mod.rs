//! Reads rows: one part for each vertex chunk and each edge chunk.

mod edges;
mod ends;
mod filter;
mod in_step;
mod labels;
mod offsets;
mod selected;
mod vertices;

pub(crate) use edges::{Asked, EdgePart, EdgeScan, Spans, edge_batch};
pub(crate) use ends::{Bounds, as_index, first_descent, first_outside, indexes, indexes_from};
pub(crate) use filter::{Ranges, add_rows};
pub(crate) use in_step::Steps;
pub(crate) use labels::{LabelFile, label_column};
pub(crate) use offsets::{PartOffsets, empty_part};
pub(crate) use vertices::{VertexPart, check_index};
