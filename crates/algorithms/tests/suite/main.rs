//! The algorithms against reference results, and against naive ones on random graphs.
#![allow(clippy::unwrap_used)]

mod graphalytics;
mod memory;
mod naive;
mod oracle;
mod paths;
mod statistics;
mod support;
