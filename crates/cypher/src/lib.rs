#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod aggregate;
mod columnar;
mod columns;
mod eval;
mod exec;
mod fault;
mod functions;
mod graph;
mod json;
mod lower;
mod matching;
mod names;
mod operators;
mod parts;
mod plan;
mod query;
mod respelled;
mod shapes;
mod shortest;
mod sort;
mod tables;
mod temporal;
mod value;

pub use columns::{Columns, rows_as_columns};
pub use fault::{Class, Fault, Result};
pub use graph::{Direction, Nodes, PropertyGraph};
pub use json::{to_json, to_text, value_of_json};
pub use names::Names;
pub use parts::{AnswerGraph, Messages, Part, Share, Take, value_of_bytes, value_to_bytes};
pub use query::{Options, Query, Rows, explained};
pub use tables::{Found, Joined, JoinedEdges, JoinedLink, JoinedMatches, TableGraph};
pub use temporal::{Duration, Temporal, Zone, Zoned};
pub use value::{Map, Node, Path, Relationship, Value, equal, equivalent, order};
