//! Tables in every encoding: reading back what was written, selections, pruning, and refusals.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::single_range_in_vec_init)]

mod arrow;
mod bombs;
mod csv;
mod damage;
mod indexes;
mod json;
mod orc;
mod parquet;
mod point;
mod samples;
mod selection;
mod twins;
