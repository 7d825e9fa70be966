//! The graph model: a description that can express everything that any of the formats can store.
//!
//! - [`Graph`] describes a graph without its rows: node, edge and hyperedge types, values, groups, documents.
//! - [`Batch`] contains rows as Arrow columns.
//! - [`Source`] and [`Sink`] are the interfaces of formats for reading and writing; a scan is a list of independent [`Part`]s.
//! - [`predicate`] contains conditions on columns: which rows match, and what statistics exclude.
//! - [`digest`] implements equality: a graph has the same digest in every encoding.
//!
//! This crate does no I/O and is independent of the formats. `docs/model.md` is its specification.

#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

pub mod batch;
pub mod capability;
pub mod digest;
pub mod duration;
pub mod faces;
pub mod flow;
pub mod json;
pub mod key;
pub mod label;
pub mod memory;
pub mod ntriples;
pub mod part;
pub mod predicate;
pub mod property;
pub mod schema;
pub mod statistics;
mod table_text;
pub mod term;
pub mod type_name;
pub mod xsd;
/// The graphs of `isomorph-zoo`, made of the types of this crate as its unit tests see them.
#[cfg(test)]
#[path = "../../zoo/src/lib.rs"]
pub mod zoo;

/// The name by which the files of `isomorph-zoo` know this crate.
#[cfg(test)]
extern crate self as isomorph_model;

pub use batch::{Batch, Columns, EdgeBatch, Ends, NodeBatch, Relations};
pub use flow::{
    About, Cost, Delivery, EdgeOrder, EndForm, Incidents, Narrowing, NodeId, Progress, Request, Run, Side, Sink,
    Source, Tables, Way, Written,
};
pub use key::{Key, KeyKind};
pub use label::LabelColumn;
pub use memory::MemoryGraph;
pub use part::{Part, Take};
pub use predicate::{Comparison, DynamicFilter, Filter, Literal, Predicate, Set};
pub use property::{Cardinality, Property, ValueKind, well_known};
pub use schema::{Direction, Document, EdgeType, Graph, LabelVocabulary, NodeType, Relation};
