//! Equality as code.
//!
//! A graph is a bag of *facts*: a keyed node exists, a node has a value, an edge joins two nodes. Each fact is hashed to
//! 128 bits; the hashes of one (kind, type, property) are summed modulo 2^128 and counted; the digest is the hash of
//! the sorted table of sums. So it does not depend on order, chunks, threads or encoding, and two digests that differ
//! say which kind, type and property differs.
//!
//! The three digests of `docs/model.md`: [`ContentDigest`] of what the graph says, [`OrderDigest`] of positions that mean
//! something, [`schema_digest`] of what is declared. The hash is XXH3-128: it finds every accidental difference; it is
//! no signature (a sum of hashes never is).

mod cells;
mod columns;
mod content;
mod encode;
#[cfg(test)]
mod example;
mod fact;
mod json;
mod order;
mod rest;
mod schema;
mod table;
mod tensor;
#[cfg(test)]
mod tests;
mod values;

pub(crate) use content::is_directed;
pub use content::{ContentDigest, RowHashes};
pub use fact::{edge_keys, key_hashes};
pub use order::OrderDigest;
pub use schema::{schema_digest, schema_json};
pub use table::{Digest, FactTaker, Line, LineKind, Sum, Table};

/// Version of the definition; part of every digest and named beside it.
pub const VERSION: &str = "isomorph-xxh3-1";
