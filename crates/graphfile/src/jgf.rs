//! JSON Graph Format, versions 1 and 2.

mod read;
pub mod rules;
mod write;

use isomorph_error::Result;
use isomorph_records::json::first_members;
use isomorph_records::{Form, Reader, RecordRules, Syntax};
use isomorph_storage::Location;
use isomorph_tables::PackedFile;

/// What nodes and edges have beside their metadata.
pub(crate) const OF_NODES: &[&str] = &["label"];
pub(crate) const OF_EDGES: &[&str] = &["id", "label", "relation"];

/// Prefix of properties from metadata whose name is one of those.
pub(crate) const PREFIX: &str = "metadata.";

/// JSON Graph Format.
pub struct Jgf;

impl Syntax for Jgf {
    fn name(&self) -> &'static str {
        "JSON Graph Format"
    }

    fn rules(&self) -> RecordRules {
        RecordRules { id: &rules::ID, end: &rules::END, value: &rules::VALUE, mixed: &rules::ID, hyperedge: None }
    }

    fn reader(&self, file: &PackedFile) -> Result<Box<dyn Reader>> {
        Ok(Box::new(read::JgfReader::new(file)?))
    }
}

impl Jgf {
    /// Returns whether the file at `location` begins like JSON Graph Format: an object `graph` with nodes or edges, or a list of
    /// `graphs`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn detect(location: &Location) -> Result<bool> {
        let begin = crate::detect::beginning(location)?;
        let members = first_members(&begin);
        let Some((_, value)) = members.iter().find(|(name, _)| name == "graph" || name == "graphs") else {
            return Ok(false);
        };
        let graph = value.strip_prefix('[').map_or(*value, str::trim_start);
        let inner = first_members(graph.as_bytes());
        let is_list = |value: &str| value.starts_with('[');
        // The others are node-link JSON and JSON-LD.
        let is_beside =
            members.iter().any(|(name, _)| ["nodes", "links", "@context", "@graph"].contains(&name.as_str()));
        Ok(!is_beside
            && inner.iter().any(|(name, value)| {
                name == "edges" && is_list(value) || name == "nodes" && (is_list(value) || value.starts_with('{'))
            }))
    }

    /// Returns what writes it.
    pub fn form() -> Box<dyn Form> {
        Box::new(write::JgfForm::default())
    }

    /// Returns whether nodes and edges may have a property of this name.
    pub fn is_property(name: &str) -> bool {
        !name.starts_with(PREFIX)
    }
}
