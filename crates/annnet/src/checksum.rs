//! The checksum that the specification names but does not define.
//!
//! `audit/checksums.sha256` has one line for each file of the graph, sorted by name: the SHA-256 of its bytes in
//! hexadecimal, two spaces, and its name relative to the root, as `sha256sum` writes and checks them. It does not list
//! itself, the views in `cache/`, which state what they were built from, and `manifest.json`, whose `checksum` is
//! `sha256:` and the SHA-256 of the list. The manifest's checksum therefore covers all files of the graph except the
//! manifest itself, and a changed file can be named.

use std::collections::BTreeMap;
use std::fmt::Write;

use isomorph_error::{Error, Findings, Place, Result};
use isomorph_storage::{Blob, limits};
use sha2::{Digest, Sha256};

use crate::cache;
use crate::layout::file;
use crate::members::Members;
use crate::rules;

/// Prefix of the digits in the manifest.
const PREFIX: &str = "sha256:";
/// Number of bytes that are hashed at a time.
const PIECE: u64 = 1 << 20;

/// Formats a hash in hexadecimal.
pub(crate) fn hex(hasher: Sha256) -> String {
    let mut out = String::with_capacity(64);
    for byte in hasher.finalize() {
        // Writing to a string does not fail.
        let _ = write!(out, "{byte:02x}");
    }
    out
}

/// Returns the list of files with their hashes.
pub(crate) fn list<'a>(files: impl IntoIterator<Item = (&'a String, &'a String)>) -> String {
    files.into_iter().map(|(name, hash)| format!("{hash}  {name}\n")).collect()
}

/// Returns the value for the manifest for a list.
pub(crate) fn of_list(list: &str) -> String {
    format!("{PREFIX}{}", hex(Sha256::new_with_prefix(list)))
}

/// Returns the hash of a file.
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

/// Returns whether the list names a file. It does not name the manifest, the list itself, views for look-ups, and the
/// sidecar.
pub(crate) fn is_listed(name: &str) -> bool {
    name != file::MANIFEST
        && name != file::CHECKSUMS
        && !name.starts_with(cache::FOLDER)
        && !name.starts_with("_isomorph/")
}

/// Returns the hash of each file by its name, if the checksum in the manifest is of this kind.
///
/// # Errors
/// Returns [`rules::CHECKSUM`] if the list is not the one that the manifest states.
pub(crate) fn listed(members: &Members, stated: &str) -> Result<Option<BTreeMap<String, String>>> {
    let list = members.text(file::CHECKSUMS, 16 * limits::MANIFEST_BYTES)?;
    let Some(list) = list.filter(|_| stated.starts_with(PREFIX)) else { return Ok(None) };
    if of_list(&list) != stated {
        return Err(differs(file::CHECKSUMS, "the file does not match the checksum in the manifest"));
    }
    let mut listed = BTreeMap::new();
    for (row, line) in list.lines().enumerate() {
        let pair = line.split_once("  ").filter(|(hash, name)| hash.len() == 64 && !name.is_empty());
        let broken = || {
            differs(file::CHECKSUMS, "expected a hash and a file name").at(Place::file(file::CHECKSUMS).row(row as u64))
        };
        let (hash, name) = pair.ok_or_else(broken)?;
        listed.insert(name.to_owned(), hash.to_owned());
    }
    Ok(Some(listed))
}

/// Returns the error for a file that differs from its checksum.
fn differs(name: &str, what: &str) -> Error {
    Error::broken(&rules::CHECKSUM, what).at(Place::file(name))
}

/// Compares every file with the checksum in the manifest, if there is one. A checksum of another kind is reported as a
/// finding.
///
/// # Errors
/// Returns [`rules::CHECKSUM`] with the name of the file if one is missing or was changed, and an error if a file
/// cannot be read.
pub(crate) fn verify(members: &Members, stated: Option<&str>, noticed: &mut Findings) -> Result<()> {
    let Some(stated) = stated else { return Ok(()) };
    let Some(listed) = listed(members, stated)? else {
        let place = Place::file(file::MANIFEST).in_field("checksum");
        noticed.push(
            &rules::CHECKSUM_UNKNOWN,
            format!("{stated:?} is not a checksum of audit/checksums.sha256"),
            place,
        );
        return Ok(());
    };
    for (name, hash) in listed {
        let blob = members.files().try_file(&name)?;
        let blob = blob.ok_or_else(|| differs(&name, "the file is missing, but audit/checksums.sha256 lists it"))?;
        if of_blob(&blob)? != hash {
            return Err(differs(
                &name,
                "the file was changed: its checksum differs from the one in audit/checksums.sha256",
            ));
        }
    }
    Ok(())
}
