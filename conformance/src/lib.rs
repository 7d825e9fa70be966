#![doc = include_str!("../README.md")]

mod case;
mod manifest;

pub use case::{Outcome, canonical_lines, run};
pub use manifest::{Case, Expected, cases};

/// Where the suites say that they lie; their cases have IRIs below it.
pub const HOME: &str = "https://w3c.github.io/rdf-tests/";

/// The suites, by their folder below `rdf` and the syntax that they test.
pub const SUITES: [&str; 14] = [
    "rdf11/rdf-n-triples",
    "rdf11/rdf-n-quads",
    "rdf11/rdf-turtle",
    "rdf11/rdf-trig",
    "rdf11/rdf-xml",
    "rdf12/rdf-n-triples/syntax",
    "rdf12/rdf-n-triples/c14n",
    "rdf12/rdf-n-quads/syntax",
    "rdf12/rdf-n-quads/c14n",
    "rdf12/rdf-turtle/syntax",
    "rdf12/rdf-turtle/eval",
    "rdf12/rdf-trig/syntax",
    "rdf12/rdf-trig/eval",
    "rdf12/rdf-xml/eval",
];
