//! Ids of graphs, predicates and files.

use isomorph_error::{Error, Kind, Result};
use sha2::{Digest, Sha256};

/// An id derived from what it names, so that equal input gives equal stores: a UUID of version 8, whose bits are a
/// hash.
pub(crate) fn of(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    let mut bytes: [u8; 16] = [0; 16];
    bytes.iter_mut().zip(hash.finalize()).for_each(|(byte, hash)| *byte = hash);
    written(bytes, 8)
}

/// A unique id: a UUID of version 4, from the system's randomness.
///
/// # Errors
/// Returns an error if the system provides no random numbers.
pub fn fresh() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::new(Kind::Io, "the system provides no random numbers").caused_by(error))?;
    Ok(written(bytes, 4))
}

fn written(mut bytes: [u8; 16], version: u8) -> String {
    bytes[6] = bytes[6] & 0x0f | version << 4;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}
