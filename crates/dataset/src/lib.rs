#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod arrays;
mod cancel;
mod condition;
mod dataset;
mod explained;
mod keys;
mod kinds;
mod lazy_keys;
mod look_up;
mod names;
mod neighbors;
mod partition;
mod push_down;
mod rows;
mod scan;
mod schema;
mod selected;
mod statistics;
mod stream;
mod table;
mod wanted_keys;

pub use cancel::Cancel;
pub use condition::{parse_condition, parse_predicate};
pub use dataset::Dataset;
pub use explained::{Explanation, PlannedRead, Ran};
pub use keys::{KeysByRow, KeysByRowBuilder};
pub use neighbors::{HyperedgeOf, HyperedgesOf, NeighborBatch, NeighborBatches, Neighbors, Sides, must_exist};
pub use partition::{Batches, Partition};
pub use scan::Scan;
pub use schema::{KIND, ROLE, Role};
pub use selected::{EdgesLeft, Sample, Selected, Selection, has_column, is_stored};
pub use statistics::TableStatistics;
pub use stream::BatchStream;
pub use table::{Table, TableKind};
