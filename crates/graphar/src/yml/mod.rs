//! YAML as GraphAr uses it: a tree of texts is read, a small safe subset is written.
//!
//! Scalars stay texts: a type named `1.10` or `no` is not a number or a boolean. The meaning of a text is decided by
//! the key that it belongs to, see [`crate::info`].

mod fields;
mod parse;
mod reference;
mod write;

pub(crate) use fields::Fields;
pub(crate) use parse::{Map, Node, parse};
pub(crate) use write::{Emitter, check_text, is_written_again};
