//! The checksum that the specification names and does not define.
//!
//! `audit/checksums.sha256` has one line for each file of the graph, in the order of their names: the SHA-256 of its bytes in
//! hexadecimal digits, two blanks, its name relative to the root, as `sha256sum` writes and checks them. Not listed are that
//! file, the views below `cache/`, which say themselves what they were built from, and `manifest.json`, whose `checksum` is
//! `sha256:` and the SHA-256 of the list. So one number stands for every byte of the graph but those of the manifest, and a file
//! that was changed is known by its name.

use std::collections::BTreeMap;
use std::fmt::Write;

use isomorph_error::{Error, Findings, Place, Result};
use isomorph_storage::{Blob, limits};
use sha2::{Digest, Sha256};

use crate::cache;
use crate::layout::file;
use crate::members::Members;
use crate::rules;

/// What the manifest writes before the digits.
const PREFIX: &str = "sha256:";
/// Bytes that are hashed at once.
const PIECE: u64 = 1 << 20;

/// A hash as hexadecimal digits.
pub(crate) fn hex(hasher: Sha256) -> String {
    let mut out = String::with_capacity(64);
    for byte in hasher.finalize() {
        // Writing into a text does not fail.
        let _ = write!(out, "{byte:02x}");
    }
    out
}

/// The list of files with their hashes.
pub(crate) fn list<'a>(files: impl IntoIterator<Item = (&'a String, &'a String)>) -> String {
    files.into_iter().map(|(name, hash)| format!("{hash}  {name}\n")).collect()
}

/// What the manifest says of a list.
pub(crate) fn of_list(list: &str) -> String {
    format!("{PREFIX}{}", hex(Sha256::new_with_prefix(list)))
}

/// The hash of a file.
///
/// # Errors
/// Returns an error if it cannot be read.
pub(crate) fn of_blob(blob: &Blob) -> Result<String> {
    let mut hasher = Sha256::new();
    for start in (0..blob.size()).step_by(PIECE as usize) {
        hasher.update(blob.read(start..(start + PIECE).min(blob.size()))?);
    }
    Ok(hex(hasher))
}

/// Whether a file is one that the list names: not the manifest, the list itself, views for look-ups, and what lies beside a graph.
pub(crate) fn is_listed(name: &str) -> bool {
    name != file::MANIFEST
        && name != file::CHECKSUMS
        && !name.starts_with(cache::FOLDER)
        && !name.starts_with("_isomorph/")
}

/// The hash of each file by its name, if the checksum that the manifest states is of this kind.
///
/// # Errors
/// Returns [`rules::CHECKSUM`] if the list is not the one that the manifest states.
pub(crate) fn listed(members: &Members, stated: &str) -> Result<Option<BTreeMap<String, String>>> {
    let list = members.text(file::CHECKSUMS, 16 * limits::MANIFEST_BYTES)?;
    let Some(list) = list.filter(|_| stated.starts_with(PREFIX)) else { return Ok(None) };
    if of_list(&list) != stated {
        return Err(differs(file::CHECKSUMS, "its checksum is not the one that the manifest states"));
    }
    let mut listed = BTreeMap::new();
    for (row, line) in list.lines().enumerate() {
        let pair = line.split_once("  ").filter(|(hash, name)| hash.len() == 64 && !name.is_empty());
        let broken =
            || differs(file::CHECKSUMS, "this is no hash and name").at(Place::file(file::CHECKSUMS).row(row as u64));
        let (hash, name) = pair.ok_or_else(broken)?;
        listed.insert(name.to_owned(), hash.to_owned());
    }
    Ok(Some(listed))
}

/// The error for a file that is not what it was.
fn differs(name: &str, what: &str) -> Error {
    Error::broken(&rules::CHECKSUM, what).at(Place::file(name))
}

/// Compares every file with the checksum that the manifest states; nothing is compared when it states none. A checksum that
/// is not defined as here is noticed.
///
/// # Errors
/// Returns [`rules::CHECKSUM`] with the name of the file if one is missing or was changed, and an error if a file
/// cannot be read.
pub(crate) fn verify(members: &Members, stated: Option<&str>, noticed: &mut Findings) -> Result<()> {
    let Some(stated) = stated else { return Ok(()) };
    let Some(listed) = listed(members, stated)? else {
        let place = Place::file(file::MANIFEST).in_field("checksum");
        noticed.push(&rules::CHECKSUM_UNKNOWN, format!("{stated:?} is defined by nothing that is here"), place);
        return Ok(());
    };
    for (name, hash) in listed {
        let blob = members.files().try_file(&name)?;
        let blob = blob.ok_or_else(|| differs(&name, "the file is missing, and a checksum stands for it"))?;
        if of_blob(&blob)? != hash {
            return Err(differs(&name, "the file was changed: its checksum is not the one that was written"));
        }
    }
    Ok(())
}
