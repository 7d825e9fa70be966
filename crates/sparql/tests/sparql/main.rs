//! SPARQL: the suites of the W3C, random queries against an evaluation without our index, and hostile queries.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod columnar;
mod common;
mod graphs;
mod hostile;
mod manifest;
mod oracle;
mod params;
mod results;
mod shares;
mod stores;
mod w3c;
