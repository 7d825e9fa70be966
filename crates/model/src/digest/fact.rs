//! Hashes of facts.
//!
//! The hash of a fact is XXH3-128 over its *stem* (16 bytes: the hash of kind, type and property), the hash of its owner
//! (16 bytes) and the encoded value. All parts but the last have a fixed length, so that no two facts have the same encoding.

use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use isomorph_error::{Error, Place, Result};
use xxhash_rust::xxh3::xxh3_128;

use super::cells::Cells;
use super::columns::Integers;
use super::encode::Buffer;
use super::table::push_text;
use crate::type_name::type_name;
use crate::{EdgeBatch, Graph, Key, KeyKind};

/// Returns the stem of the facts of one line.
pub(super) fn stem(kind: &str, ty: &[&str], property: &str) -> u128 {
    let mut bytes = Vec::with_capacity(64);
    push_text(&mut bytes, kind);
    bytes.extend_from_slice(&(ty.len() as u64).to_le_bytes());
    ty.iter().for_each(|part| push_text(&mut bytes, part));
    push_text(&mut bytes, property);
    xxh3_128(&bytes)
}

/// Returns the hash of fixed parts.
pub(super) fn of_parts<const N: usize>(parts: [u128; N]) -> u128 {
    let mut bytes = [[0u8; 16]; N];
    for (slot, part) in bytes.iter_mut().zip(parts) {
        *slot = part.to_le_bytes();
    }
    xxh3_128(bytes.as_flattened())
}

/// Returns the hash of an element without a key: of its type and position.
pub(super) fn row_hash(stem: u128, row: u64) -> u128 {
    of_parts([stem, u128::from(row)])
}

/// How the keys of a type are hashed.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyStem {
    pub stem: u128,
    pub kind: KeyKind,
}

impl KeyStem {
    /// Creates the stem of the keys of a type from its kind of element, its name, and the kind of its keys.
    pub fn new(kind: &str, ty: &[&str], key: KeyKind) -> Self {
        let word = match key {
            KeyKind::Int => "int",
            KeyKind::Utf8 => "utf8",
            KeyKind::Term => "term",
            KeyKind::Tuple => "tuple",
            KeyKind::Row => "row",
        };
        KeyStem { stem: stem(kind, ty, word), kind: key }
    }

    /// Appends the hashes of keys, none of which may be null.
    pub fn hash(&self, keys: &dyn Array, buffer: &mut Buffer, out: &mut Vec<u128>) -> Result<()> {
        if !fits(self.kind, keys.data_type()) {
            let name = type_name(keys.data_type());
            return Err(Error::usage(format!("the type of the key, {name}, does not match its kind")));
        }
        if let Some(row) = keys.logical_nulls().and_then(|nulls| nulls.iter().position(|valid| !valid)) {
            return Err(Error::malformed("key is null").at(Place::default().row(row as u64)));
        }
        out.reserve(keys.len());
        if self.kind == KeyKind::Row {
            let rows = Integers::new(keys)?;
            for at in 0..keys.len() {
                let row = u64::try_from(rows.get(at)).map_err(|_| Error::malformed("row number is negative"))?;
                out.push(row_hash(self.stem, row));
            }
            return Ok(());
        }
        Cells::plain(keys)?.hash_all(buffer, |_| [self.stem], |_, hash| out.push(hash))
    }
}

/// Whether a type can represent keys of a kind.
fn fits(kind: KeyKind, data_type: &DataType) -> bool {
    use DataType as T;
    match (kind, data_type) {
        (KeyKind::Row, data_type) => data_type.is_integer(),
        (kind, T::Dictionary(_, values)) => fits(kind, values),
        (KeyKind::Int, data_type) => data_type.is_integer(),
        (KeyKind::Utf8 | KeyKind::Term, data_type) => matches!(data_type, T::Utf8 | T::LargeUtf8 | T::Utf8View),
        (KeyKind::Tuple, T::List(item) | T::LargeList(item)) => fits(KeyKind::Utf8, item.data_type()),
        (KeyKind::Tuple, _) => false,
    }
}

/// Returns the hashes of the keys of nodes of type `ty`, in order, as [`super::RowHashes`] must return them for their rows.
///
/// # Errors
/// Returns an error if a key is null or does not match the kind of the key.
pub fn key_hashes(ty: &str, key: &Key, keys: &ArrayRef, out: &mut Vec<u128>) -> Result<()> {
    KeyStem::new("nodes", &[ty], key.kind).hash(keys.as_ref(), &mut Buffer::default(), out)
}

/// Returns the hashes of the keys of the edges of a batch, in order; empty if the type has no key.
///
/// # Errors
/// Returns an error if a key is null or does not match the kind of the key.
pub fn edge_keys(graph: &Graph, batch: &EdgeBatch) -> Result<Vec<u128>> {
    let mut hashes = Vec::new();
    if let (Some(ty), Some(keys)) = (graph.edges.get(batch.ty), &batch.keys)
        && let Some(key) = &ty.key
    {
        let (source, relation, target) = graph.edge_name(ty);
        let stem = KeyStem::new("edges", &[&source, &relation, &target], key.kind);
        stem.hash(keys.as_ref(), &mut Buffer::default(), &mut hashes)?;
    }
    Ok(hashes)
}
