//! What views were built from.

use isomorph_error::Result;
use isomorph_storage::{TAIL_BYTES, limits};
use serde_json::{Map, Value, json};
use xxhash_rust::xxh3::xxh3_64;

use crate::layout::{Words, file};
use crate::members::Members;

/// The attribute with the files that a view was built from.
pub(super) const BUILT_FROM: &str = "built_from";
/// The attribute with facts that look-ups rely on.
pub(super) const FACTS: &str = "facts";
/// The attribute with the shape of the matrix: entities, edges.
pub(super) const SHAPE: &str = "shape";

/// Returns the counter of changes, and the sizes and hashes of the ends of all files from which a view is derived. The
/// end of a Parquet file contains the positions, sizes and bounds of all its data, so that it nearly always differs if
/// the data does.
///
/// # Errors
/// Returns an error if a file cannot be read.
pub(super) fn built_from(members: &Members, words: &Words, graph_version: Option<&str>) -> Result<Value> {
    let mut files = Map::new();
    for name in [
        file::LAYER_DICT,
        file::ENTITY_INDEX,
        file::ENTITY_TO_IDX,
        file::ENTITY_TYPES,
        file::EDGES,
        file::EDGE_DEFINITIONS,
        file::EDGE_WEIGHTS,
        file::EDGE_DIRECTED,
        file::EDGE_KIND,
        file::EDGE_TO_IDX,
        file::EDGE_LAYERS,
        file::HYPEREDGES,
        file::COEFFICIENTS,
        file::LAYERS,
        words.presence,
        words.edge_table,
    ] {
        // A table that has grown consists of several files.
        for (name, blob) in members.named_parts(name)? {
            let tail = blob.read(blob.size().saturating_sub(TAIL_BYTES as u64)..blob.size())?;
            let tail = format!("{:016x}", xxh3_64(&tail));
            files.insert(name, json!({ "size": blob.size(), "tail": tail }));
        }
    }
    Ok(json!({ "graph_version": graph_version.unwrap_or("null"), "files": files }))
}

/// Reads the attributes of a group; `None` if the group is missing or malformed.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub(super) fn attributes(members: &Members, group: &str) -> Result<Option<Map<String, Value>>> {
    let Some(text) = members.text(&format!("{group}/zarr.json"), limits::MANIFEST_BYTES)? else { return Ok(None) };
    // The parser refuses more than 128 levels of nesting.
    let Ok(Value::Object(mut described)) = serde_json::from_str::<Value>(&text) else { return Ok(None) };
    Ok(match described.remove("attributes") {
        Some(Value::Object(attributes)) => Some(attributes),
        _ => None,
    })
}
