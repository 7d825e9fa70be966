//! The equality of graphs, computed as digests.
//!
//! A graph is a multiset of *facts*: a keyed node exists, a node has a value, an edge connects two nodes. Each fact is
//! hashed to 128 bits; the hashes of one (kind, type, property) are summed modulo 2^128 and counted; the digest is the hash
//! of the sorted table of sums. Therefore it does not depend on order, chunks, threads or encoding, and if two digests
//! differ, their tables show the kind, type and property.
//!
//! `docs/model.md` defines three digests: [`ContentDigest`] of the content, [`OrderDigest`] of significant
//! positions, [`schema_digest`] of the declarations. The hash is XXH3-128: it detects accidental differences, but is
//! not a signature (a sum of hashes never is).

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

/// The version of the definition, which is part of every digest.
pub const VERSION: &str = "isomorph-xxh3-1";
