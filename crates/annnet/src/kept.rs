//! What a rewrite keeps although nothing here understands it: keys of the manifest, files and folders that no layout names, and
//! the names of attributes that reading had to change.
//!
//! Keys and names travel as metadata of the graph, which is no content. Files have no place there: whoever rewrites a graph
//! takes them from the place it was opened at.

use std::collections::BTreeMap;

use isomorph_error::{Error, Result};
use isomorph_model::Graph;
use isomorph_model::json::{self, push_string};
use isomorph_storage::{Blob, Location};

use crate::OpenOptions;
use crate::layout::{Layout, file};
use crate::members::Members;
use crate::read::json::members;

/// Metadata: an object of the unknown keys of the manifest.
const KEYS: &str = "annnet.manifest";
/// Metadata: an object of names that properties have, with those of their columns.
const NAMES: &str = "annnet.names";
/// Folders of which every file is known: arrays, what is made anew, what lies beside a graph.
const FOLDERS: [&str; 3] = [file::INCIDENCE, "cache", "_isomorph"];
/// A table that only 0.2.0 writes, and which follows from the ends.
const ML_KIND: &str = "layers/edge_ml_kind.parquet";

/// Lets unknown keys and changed names travel with a graph.
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

/// The unknown keys that travel with a graph, each with its JSON. What cannot be understood is nothing.
pub(crate) fn keys(graph: &Graph) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let text = graph.metadata.get(KEYS).map(String::as_str).unwrap_or("{}");
    let read = members(text, KEYS, |name, value| {
        found.push((name.to_owned(), value.to_owned()));
        Ok(())
    });
    if read.is_ok() { found } else { Vec::new() }
}

/// The names of columns by those of their properties, where they differ.
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

/// What of a graph's files a rewrite keeps as it is, by names relative to the root.
#[derive(Debug, Clone, Default)]
pub struct Unknown {
    /// Files that no layout names, byte for byte.
    pub files: Vec<(String, Blob)>,
    /// Directories in which nothing is, of any name: the published library makes some.
    pub folders: Vec<String>,
}

/// What no layout names at `location`, and empty directories. What is hidden is not among it, nor are caches, which are made
/// anew. Nothing on a web server, which lists nothing.
///
/// # Errors
/// When the place cannot be listed or opened.
pub fn unknown(location: &Location, options: &OpenOptions) -> Result<Unknown> {
    let members = Members::open(location, options)?;
    let listed = match members.list() {
        Err(error) if error.kind() == isomorph_error::Kind::Unsupported => return Ok(Unknown::default()),
        listed => listed?,
    };
    let unknown = listed.into_iter().map(|(name, _)| name).filter(|name| !is_known(name));
    let files = unknown.map(|name| members.file(&name).map(|blob| (name, blob))).collect::<Result<_, Error>>()?;
    let mut folders = members.empty_folders()?;
    folders.retain(|name| !is_made_anew(name));
    Ok(Unknown { files, folders })
}

/// Whether a folder is hidden or holds what follows from other files.
fn is_made_anew(folder: &str) -> bool {
    let own = |known: &str| folder.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    folder.split('/').any(|part| part.starts_with('.')) || FOLDERS.into_iter().any(own)
}

/// Whether some layout names a file, or it is nobody's to keep.
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
