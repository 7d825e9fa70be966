//! Zip archives, as far as annnet writes them.

use isomorph_error::{Error, Kind, Result};
use isomorph_storage::Blob;
use isomorph_storage::zip::ZipArchive;

use super::unpacked::{Unpacked, Unpacking, refused};
use crate::layout::file;
use crate::{OpenOptions, rules};

/// Unpacks an archive.
///
/// # Errors
/// Returns an error if it is truncated or damaged, or must not be unpacked.
pub(super) fn unpack(blob: &Blob, options: &OpenOptions) -> Result<Unpacked> {
    let archive = ZipArchive::open(blob).map_err(ruled)?;
    let mut unpacking = Unpacking::new(blob.size(), options)?;
    for member in archive.members() {
        let member = member.map_err(ruled)?;
        let name = member.name().ok_or_else(|| refused("the name of a member is not UTF-8", ""))?;
        if member.is_link() {
            return Err(refused("the member is a symbolic link", name));
        }
        if unpacking.begin(name)? {
            unpacking.add(name, member.size(), &mut archive.reader(&member).map_err(ruled)?)?;
        }
    }
    unpacking.finish()
}

/// Returns whether the names in an archive are those of a graph.
pub(super) fn names_graph(blob: &Blob) -> bool {
    let Ok(archive) = ZipArchive::open(blob) else { return false };
    archive.members().map_while(Result::ok).any(|member| {
        let below = member.name().and_then(|name| name.split_once('/')).map(|(_, below)| below);
        below.is_some_and(|below| below == file::EDGES || below == file::EDGE_DEFINITIONS)
    })
}

/// A damaged archive breaks the rule of archives.
fn ruled(error: Error) -> Error {
    match error.kind() {
        Kind::Malformed | Kind::TooLarge => error.rule(&rules::ARCHIVE),
        _ => error,
    }
}
