//! The tests of this crate, in one program: linking one takes less time than linking 2.

mod known;
mod repeated_property;
