//! Hashes of facts.
//!
//! A fact's hash is XXH3-128 over its *stem* (16 bytes: the hash of kind, type and property), the hash of its owner
//! (16 bytes) and the encoded value. All parts but the last have a fixed length, so no two facts share an encoding.

use arrow_array::{Array, ArrayRef};
use isomorph_error::Result;
use xxhash_rust::xxh3::xxh3_128;

use super::encode::Cells;
use super::table::push_text;
use crate::{Key, KeyKind, Property, ValueKind};

/// The stem of the facts of one line.
pub(super) fn stem(kind: &str, ty: &[&str], property: &str) -> u128 {
    let mut bytes = Vec::with_capacity(64);
    push_text(&mut bytes, kind);
    bytes.extend_from_slice(&(ty.len() as u64).to_le_bytes());
    ty.iter().for_each(|part| push_text(&mut bytes, part));
    push_text(&mut bytes, property);
    xxh3_128(&bytes)
}

/// The hash of fixed parts.
pub(super) fn of_parts<const N: usize>(parts: [u128; N]) -> u128 {
    let mut bytes = [[0u8; 16]; N];
    for (slot, part) in bytes.iter_mut().zip(parts) {
        *slot = part.to_le_bytes();
    }
    xxh3_128(bytes.as_flattened())
}

/// The hash of an element without a key: its type and position.
pub(super) fn row_hash(stem: u128, row: u64) -> u128 {
    of_parts([stem, u128::from(row)])
}

/// The stem of the keys of a node type, or of any other type that has keys.
pub(super) fn key_stem(kind: &str, ty: &[&str], key: KeyKind) -> u128 {
    let word = match key {
        KeyKind::Int => "int",
        KeyKind::Utf8 => "utf8",
        KeyKind::Term => "term",
        KeyKind::Tuple => "tuple",
        KeyKind::Row => "row",
    };
    stem(kind, ty, word)
}

/// Hashes of the keys of nodes of type `ty`, in order: what [`super::RowHashes`] must return for their rows.
///
/// # Errors
/// When a key is null or of a type that no key has.
pub fn key_hashes(ty: &str, key: &Key, keys: &ArrayRef, out: &mut Vec<u128>) -> Result<()> {
    hash_keys(key_stem("nodes", &[ty], key.kind), keys, out)
}

/// Hashes of keys below a stem; a null key is an error.
pub(super) fn hash_keys(stem: u128, keys: &ArrayRef, out: &mut Vec<u128>) -> Result<()> {
    let kind = Property::new("", keys.data_type().clone()).of_kind(ValueKind::Plain);
    let mut cells = Cells::new(&kind, keys)?;
    let mut bytes = Vec::with_capacity(64);
    out.reserve(keys.len());
    for row in 0..keys.len() {
        bytes.clear();
        bytes.extend_from_slice(&stem.to_le_bytes());
        if !cells.encode(row, &mut bytes)? {
            return Err(
                isomorph_error::Error::malformed("a key is null").at(isomorph_error::Place::default().row(row as u64))
            );
        }
        out.push(xxh3_128(&bytes));
    }
    Ok(())
}
