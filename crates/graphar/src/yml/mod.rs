//! YAML as GraphAr uses it: a tree of texts on the way in, a small safe subset on the way out.
//!
//! Scalars stay texts: a type named `1.10` or `no` is not a number or a truth value. What a text means is decided by
//! the key that it belongs to, see [`crate::info`].

mod fields;
mod parse;
mod reference;
mod write;

pub(crate) use fields::Fields;
pub(crate) use parse::{Map, Node, parse};
pub(crate) use write::{Emitter, check_text, is_written_again};
