//! What a view was built from.

use isomorph_error::Result;
use isomorph_storage::{TAIL_BYTES, limits};
use serde_json::{Map, Value, json};
use xxhash_rust::xxh3::xxh3_64;

use crate::layout::{Words, file};
use crate::members::Members;

/// The attribute that says it.
pub(super) const BUILT_FROM: &str = "built_from";
/// The attribute that says what a look-up may rely on.
pub(super) const FACTS: &str = "facts";
/// The attribute for the sizes of the matrix: entities, edges.
pub(super) const SHAPE: &str = "shape";

/// The counter of changes, and sizes and hashes of the ends of all files that a view follows from. The end of a Parquet file
/// has the places, sizes and bounds of everything in it, so that it differs when the rest does, as good as always.
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
        // A table that has grown is several files.
        for (name, blob) in members.named_parts(name)? {
            let tail = blob.read(blob.size().saturating_sub(TAIL_BYTES as u64)..blob.size())?;
            let tail = format!("{:016x}", xxh3_64(&tail));
            files.insert(name, json!({ "size": blob.size(), "tail": tail }));
        }
    }
    Ok(json!({ "graph_version": graph_version.unwrap_or("null"), "files": files }))
}

/// The attributes of a group; nothing when there is none, or no sound one.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub(super) fn attributes(members: &Members, group: &str) -> Result<Option<Map<String, Value>>> {
    let Some(text) = members.text(&format!("{group}/zarr.json"), limits::MANIFEST_BYTES)? else { return Ok(None) };
    // The parser refuses what is nested more than 128 times.
    let Ok(Value::Object(mut described)) = serde_json::from_str::<Value>(&text) else { return Ok(None) };
    Ok(match described.remove("attributes") {
        Some(Value::Object(attributes)) => Some(attributes),
        _ => None,
    })
}
