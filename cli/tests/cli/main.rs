//! Runs the real binary on real files, in a directory of its own.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod algorithms;
mod annnet;
mod bad_graphs;
mod bad_input;
mod compare;
mod convert;
mod cookbook;
mod dash;
mod deepgnn;
mod deepgnn_texts;
mod destinations;
mod extend;
mod folders;
mod graphlake;
mod help;
mod info;
#[cfg(unix)]
mod interrupt;
mod json;
mod lake;
mod lake_apply;
mod lake_damaged;
mod lake_input;
mod matching;
mod neighbors;
mod nock_places;
mod query;
mod rdf;
mod rdf_limits;
mod reproducible;
mod sample;
mod sample_features;
mod sample_values;
mod selection;
mod serve;
mod shell;
mod sidecar;
mod sidecar_parts;
#[cfg(feature = "query")]
mod sparql;
mod streams;
mod support;
mod tables;
mod usage;
mod validate;
mod wrong_ids;
