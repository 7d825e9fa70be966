//! Patterns of triples as people type them, and what they find in a GraphLake store or an RDF text.
//!
//! [`Query::parse`] reads patterns (`?s a ex:Person . ?s ex:name ?n`) with [`Prefixes`]. [`LakeMatches`] asks a store for them: for triples, for
//! solutions, for their number, or for the plan alone. [`first_of_text`] reads a text as far as is wanted, and [`solutions`] serves both.

mod lake;
mod local;
mod pattern;
mod prefixes;
mod solutions;
mod term;
mod text;
mod triple;

pub use lake::LakeMatches;
pub use pattern::{QuadPattern, Query};
pub use prefixes::Prefixes;
pub use solutions::{Solutions, solutions};
pub use text::first_of_text;
pub use triple::{Triple, Triples, push_line};
