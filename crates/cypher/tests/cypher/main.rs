//! Tests of openCypher: its technology compatibility kit, random patterns against a naive matcher, bounds.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, missing_docs)]

mod bounds;
mod cells;
mod expand;
mod formats;
mod gherkin;
mod memory_graph;
mod naive;
mod parts;
mod passes;
mod setup;
mod spelled;
mod tck;
mod zones;
