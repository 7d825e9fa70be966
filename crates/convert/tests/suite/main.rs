//! The tests of this crate, in one program: it takes less time to link than one for each file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod annnet;
mod annnet_written;
mod common;
mod conditions;
mod databases;
mod datasets;
mod deepgnn_beside;
mod deepgnn_mapped;
mod diff_counts;
mod digests;
mod extended;
mod flat_foreign;
mod flat_tables;
mod hubs;
mod hyperedges;
mod inout;
mod lake_diff;
mod limits;
mod matching;
mod merged_nodes;
mod neighbors;
mod nock_columns;
mod rdf_1_1;
mod rdf_faces;
mod rebound;
mod reifiers;
mod round_trip;
mod selected_files;
mod selections;
mod shown_names;
mod sidecars;
mod spilled_keys;
mod statistics;
mod typed;
mod unions;
