//! ZIP archives (PKWARE, APPNOTE 6.3) of members that are stored or deflated, without encryption.
//!
//! This is a reader of its own, because the published crate keeps only the last of several members with the same name, and two readers
//! must never see two different contents in one file. Callers decide which names are allowed.

mod read;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
mod write;

pub use read::{ZipArchive, ZipMember, ZipReader};
pub use write::{ZipPacked, ZipPacker, ZipWriter};

/// Signatures of the records.
const END: [u8; 4] = *b"PK\x05\x06";
const END_64: [u8; 4] = *b"PK\x06\x06";
const LOCATOR_64: [u8; 4] = *b"PK\x06\x07";
const CENTRAL: [u8; 4] = *b"PK\x01\x02";
const LOCAL: [u8; 4] = *b"PK\x03\x04";

/// How members are packed.
const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// Stands for a value that is in the 64-bit extension, and the id of that.
const IN_64: u32 = u32::MAX;
const EXTENSION_64: u16 = 1;
