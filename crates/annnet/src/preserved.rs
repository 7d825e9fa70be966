//! What a rewrite keeps although isomorph does not interpret it: keys of the manifest, files and folders that belong to
//! no layout, and the original names of attributes that were renamed on reading.
//!
//! Keys, names, provenance and small files are stored in the metadata of the graph, which is not content. Large files
//! are not stored there; a rewrite copies them from the location that was opened.

use std::collections::BTreeMap;
use std::fmt::Write;

use isomorph_error::{Error, Kind, Result};
use isomorph_model::Graph;
use isomorph_model::json::{self, push_string};
use isomorph_storage::{Blob, Location};

use crate::OpenOptions;
use crate::layout::{Layout, file};
use crate::members::Members;
use crate::read::json::{members, strings};

/// Metadata key: an object with the unknown keys of the manifest.
const KEYS: &str = "annnet.manifest";
/// Metadata key: an object that maps names of properties to names of columns.
const NAMES: &str = "annnet.names";
/// Folders whose files are all known: arrays, derived files, the sidecar.
const FOLDERS: [&str; 3] = [file::INCIDENCE, "cache", "_isomorph"];
/// A table that only 0.2.0 writes, and that follows from the ends.
const ML_KIND: &str = "layers/edge_ml_kind.parquet";

/// Metadata key: an object with the files that belong to no layout: their text, or, in a list, their bytes in
/// hexadecimal.
const FILES: &str = "annnet.files";
/// Metadata key: the provenance of the input.
const PROVENANCE: &str = "annnet.provenance";
/// Maximum number of bytes of files, and of the provenance, in the metadata.
const FILES_BYTES: u64 = 1 << 20;
const PROVENANCE_BYTES: u64 = 1 << 16;
/// The key in isomorph's provenance that holds the provenance of the published library.
pub(crate) const ORIGINAL: &str = "original";

/// Stores small files that belong to no layout, and the provenance, in the metadata of a graph. Returns the names of
/// the files that are too large.
///
/// # Errors
/// Returns an error if a file cannot be read.
pub(crate) fn note_files(graph: &mut Graph, found: &Members) -> Result<Vec<String>> {
    let (mut object, mut left, mut room) = (String::from("{"), Vec::new(), FILES_BYTES);
    for (name, size) in listed(found)?.into_iter().filter(|(name, _)| !is_known(name)) {
        let Some(rest) = room.checked_sub(size) else {
            left.push(name);
            continue;
        };
        room = rest;
        let bytes = found.file(&name)?.read_all(FILES_BYTES)?;
        object.push_str(if object.len() == 1 { "" } else { "," });
        push_string(&mut object, &name);
        object.push(':');
        match std::str::from_utf8(&bytes) {
            Ok(text) => push_string(&mut object, text),
            Err(_) => {
                object.push_str("[\"");
                // Writing to a string does not fail.
                for byte in &bytes {
                    let _ = write!(object, "{byte:02x}");
                }
                object.push_str("\"]");
            }
        }
    }
    if object.len() > 1 {
        graph.metadata.insert(FILES.to_owned(), format!("{object}}}"));
    }
    if let Some(text) = provenance_of(found)? {
        graph.metadata.insert(PROVENANCE.to_owned(), text);
    }
    Ok(left)
}

/// Returns the provenance of a graph. If isomorph wrote the graph, this is the provenance of the graph that it was
/// converted from.
fn provenance_of(found: &Members) -> Result<Option<String>> {
    // A provenance that is too large or not a JSON object is ignored.
    if !found.has(file::PROVENANCE)? || found.file(file::PROVENANCE)?.size() > PROVENANCE_BYTES {
        return Ok(None);
    }
    let Some(text) = found.text(file::PROVENANCE, PROVENANCE_BYTES)? else { return Ok(None) };
    let (mut original, mut is_ours) = (None, false);
    let read = members(&text, file::PROVENANCE, |name, value| {
        match (name, json::value(value)) {
            (ORIGINAL, Ok(json::Value::Object(_))) => original = Some(value.to_owned()),
            ("annnet_version", Ok(json::Value::Text(version))) => is_ours = version.starts_with("isomorph "),
            _ => {}
        }
        Ok(())
    });
    if read.is_err() || crate::read::check_json(&text, file::PROVENANCE).is_err() {
        return Ok(None);
    }
    Ok(if is_ours { original } else { Some(text.trim().to_owned()) })
}

/// Returns the provenance stored in the metadata of a graph.
pub(crate) fn provenance(graph: &Graph) -> Option<String> {
    let text = graph.metadata.get(PROVENANCE)?;
    // It may come from the sidecar of another format, where anybody can have changed it.
    crate::read::check_json(text, PROVENANCE).is_ok().then(|| text.clone())
}

/// Returns the files stored in the metadata of a graph. Entries that cannot be parsed are ignored.
pub(crate) fn files(graph: &Graph) -> Vec<(String, Blob)> {
    let mut found = Vec::new();
    let text = graph.metadata.get(FILES).map(String::as_str).unwrap_or("{}");
    let read = members(text, FILES, |name, value| {
        let bytes = match json::value(value) {
            Ok(json::Value::Text(text)) => Some(text.into_owned().into_bytes()),
            Ok(json::Value::Array(digits)) => strings(digits, FILES)?.first().and_then(|digits| of_hex(digits)),
            _ => None,
        };
        if let Some(bytes) = bytes.filter(|_| !is_known(name)) {
            found.push((name.to_owned(), Blob::from_bytes(name, &bytes.into())));
        }
        Ok(())
    });
    if read.is_ok() { found } else { Vec::new() }
}

fn of_hex(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

/// Lists the files of a graph with their sizes. Returns none on a web server, which has no listing.
fn listed(members: &Members) -> Result<Vec<(String, u64)>> {
    match members.list() {
        Err(error) if error.kind() == Kind::Unsupported => Ok(Vec::new()),
        listed => listed,
    }
}

/// Stores unknown keys and changed names in the metadata of a graph.
pub(crate) fn note(graph: &mut Graph, keys: &[(String, String)], names: &[(String, String)]) {
    let mut object = String::from("{");
    for (name, value) in keys {
        object.push_str(if object.len() == 1 { "" } else { "," });
        push_string(&mut object, name);
        object.push(':');
        object.push_str(value);
    }
    if !keys.is_empty() {
        graph.metadata.insert(KEYS.to_owned(), format!("{object}}}"));
    }
    let mut object = String::from("{");
    for (shown, own) in names {
        object.push_str(if object.len() == 1 { "" } else { "," });
        push_string(&mut object, shown);
        object.push(':');
        push_string(&mut object, own);
    }
    if !names.is_empty() {
        graph.metadata.insert(NAMES.to_owned(), format!("{object}}}"));
    }
}

/// Copies the changed names of another graph to `graph`, so that its properties go into the same columns.
pub(crate) fn same_names(graph: &mut Graph, as_in: &Graph) {
    if let Some(names) = as_in.metadata.get(NAMES) {
        graph.metadata.insert(NAMES.to_owned(), names.clone());
    }
}

/// Returns the unknown keys stored in the metadata of a graph, each with its JSON. Entries that cannot be parsed are
/// ignored.
pub(crate) fn keys(graph: &Graph) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let text = graph.metadata.get(KEYS).map(String::as_str).unwrap_or("{}");
    let read = members(text, KEYS, |name, value| {
        found.push((name.to_owned(), value.to_owned()));
        Ok(())
    });
    if read.is_ok() { found } else { Vec::new() }
}

/// Maps names of properties to names of columns where they differ.
pub(crate) fn names(graph: &Graph) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let text = graph.metadata.get(NAMES).map(String::as_str).unwrap_or("{}");
    let read = members(text, NAMES, |shown, own| {
        if let Ok(json::Value::Text(own)) = json::value(own) {
            found.insert(shown.to_owned(), own.into_owned());
        }
        Ok(())
    });
    if read.is_ok() { found } else { BTreeMap::new() }
}

/// Files and directories that a rewrite keeps unchanged, by names relative to the root.
#[derive(Debug, Clone, Default)]
pub struct Unknown {
    /// Files that belong to no layout, byte for byte.
    pub files: Vec<(String, Blob)>,
    /// Empty directories with any name: the published library creates some.
    pub folders: Vec<String>,
}

/// Returns the files at `location` that belong to no layout, and empty directories. Hidden files and derived caches are
/// not included. Returns nothing on a web server, which has no listing.
///
/// # Errors
/// Returns an error if the location cannot be listed or opened.
pub fn unknown(location: &Location, options: &OpenOptions) -> Result<Unknown> {
    let members = Members::open(location, options)?;
    let unknown = listed(&members)?.into_iter().map(|(name, _)| name).filter(|name| !is_known(name));
    let files = unknown.map(|name| members.file(&name).map(|blob| (name, blob))).collect::<Result<_, Error>>()?;
    let mut folders = members.empty_folders()?;
    folders.retain(|name| !is_made_anew(name));
    Ok(Unknown { files, folders })
}

/// Returns whether a folder is hidden or holds files derived from others.
fn is_made_anew(folder: &str) -> bool {
    let own = |known: &str| folder.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    folder.split('/').any(|part| part.starts_with('.')) || FOLDERS.into_iter().any(own)
}

/// Returns whether a file belongs to some layout, or must not be kept.
fn is_known(name: &str) -> bool {
    let within = |folder: &str| name.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    let of_words = |layout: Layout| {
        let words = layout.words();
        [words.node_table, words.edge_table, words.presence, words.memberships, words.node_layer_attributes]
    };
    let is_document =
        |folder: &str| name.strip_prefix(folder).is_some_and(|own| own.ends_with(".json") && !own.contains('/'));
    let mut words = [Layout::V2, Layout::V2Vertex, Layout::V2Early, Layout::V1].into_iter().flat_map(of_words);
    // A table that has grown is a directory of files.
    let same = |known: &str| name == known || known.ends_with(".parquet") && within(known);
    name.split('/').any(|part| part.starts_with('.'))
        || FOLDERS.into_iter().any(within)
        || file::ALL.into_iter().any(same)
        || words.any(same)
        || name == ML_KIND
        || [file::SNAPSHOT_FOLDER, file::RESULT_FOLDER].into_iter().any(is_document)
}

#[cfg(test)]
mod tests {
    use super::is_known;

    #[test]
    fn files_of_every_layout_are_known() {
        for name in [
            "manifest.json",
            "structure/edges.parquet",
            "structure/edges.parquet/00001.parquet",
            "structure/edge_kind.parquet",
            "structure/incidence.zarr/row/c/0",
            "tables/_vertex_table.parquet",
            "tables/vertex_attributes.parquet",
            "cache/csr.zarr/zarr.json",
            "audit/snapshots/0.json",
            "uns/results/x.json",
            "_isomorph/carry.json",
            ".git/config",
        ] {
            assert!(is_known(name), "{name}");
        }
        for name in [
            "README",
            "structure/edges.parquet.bak",
            "structure/incidence.zarr.bak/0",
            "uns/results/x.parquet",
            "uns/results/deep/x.json",
            "audit/notes.json",
        ] {
            assert!(!is_known(name), "{name}");
        }
    }
}
