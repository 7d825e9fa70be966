#![doc = include_str!("README.md")]

mod copy;
mod lake;
mod local;
mod matches;
mod pattern;
mod prefixes;
mod solutions;
mod stream;
mod term;
mod triple;

pub use matches::{Matches, Searched, Step};
pub use pattern::{QuadPattern, Query};
pub use prefixes::Prefixes;
pub use solutions::Solutions;
pub use triple::{Triple, Triples, push_line};
