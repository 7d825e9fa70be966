#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod batches;
mod binary;
mod block;
mod by_id;
mod capability;
mod combined;
mod dtype;
mod feature;
mod neighbors;
mod number;
mod options;
pub mod rules;
mod source;
mod survey;
mod text;
mod validate;
mod write;

pub use binary::{BESIDE, BinaryFiles, Built, META, Meta, PartitionFiles, Types, build};
pub use capability::CAPABILITY;
pub use dtype::DType;
pub use feature::{FeatureType, Timed};
pub use options::{BuildOptions, Dispatch, OpenOptions, WriteOptions};
pub use source::{DeepGnn, detect};
pub use text::{Defaults, Text, TextFormat};
pub use write::{DeepGnnWriter, hides_times, several, unheld};
