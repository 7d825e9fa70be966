#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod capability;
mod columns;
mod compare;
mod dataset;
mod layout;
mod lookup;
mod node_rows;
mod options;
mod read;
mod rows;
pub mod rules;
mod text;
mod validate;
mod write;

pub use capability::CAPABILITY;
pub use columns::Column;
pub use compare::{CompareOptions, Comparison, Difference, OnlyIn, compare};
pub use dataset::{Format, detect, has_partition_names};
pub use layout::Dialect;
pub use lookup::Found;
pub use node_rows::Settled;
pub use options::{OpenOptions, Tolerance};
pub use read::{NODE, Nock};
pub use write::{By, CreateOptions, NockWriter, Partitioning, Types, partition_of_name};
