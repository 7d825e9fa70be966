//! Triple patterns as users type them, and their matches in a GraphLake store or an RDF text.
//!
//! [`Query::parse`] reads patterns (`?s a ex:Person . ?s ex:name ?n`) with [`Prefixes`]. [`LakeMatches`] matches them
//! in a store: it returns triples, solutions, their number, or only the plan. [`first_of_text`] reads a text as far as
//! needed, and [`solutions`] works for both.

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
