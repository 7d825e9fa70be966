//! The tests of this crate, in one program: it takes less time to link than one for each file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod ask;
mod bounds;
mod cold;
mod common;
mod compacting;
mod counts;
mod damaged;
mod ends;
mod fixtures;
mod foreign;
mod hostile;
mod joined_graphs;
mod left_loads;
mod limits;
mod listed_twice;
mod lookup;
mod model;
mod narrowed_lake;
mod one_order;
mod quoted;
mod refused;
mod repeated;
mod schema;
mod sidecars;
mod stretches;
mod times;
mod transactions;
mod written;
