//! The tests of this crate, in one program: linking one takes less time than linking 3.

mod selected;
mod streams;
mod zoo;
