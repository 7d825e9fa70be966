//! Neo4j without its files: JSON lines as APOC exports and imports them, and scripts of Cypher that create a graph.
//!
//! See the README of the crate.

#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod apoc;
mod capability;
mod check;
mod cypher;
mod item;
pub mod rules;
mod schema;
mod source;
mod spelled;
mod table;
mod value;
mod write;

use isomorph_error::Result;
use isomorph_model::Graph;
use isomorph_storage::{Budget, Location, Scratch};
use isomorph_tables::PackedFile;

pub use capability::{CAPABILITY, holds, is_label, is_property};
pub use source::Records;
pub use write::RecordsWriter;

/// Number of first bytes that are inspected.
const LOOK: u64 = 4 << 10;

/// A text with the records of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// JSON lines of APOC.
    Apoc,
    /// A script of Cypher.
    Cypher,
}

/// How a text is opened.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// The graph that was written, if a sidecar knows it: its types, keys and columns.
    pub shown: Option<Graph>,
    /// Whether nodes whose id is repeated, and relationships that end in no node, are set aside.
    pub lenient: bool,
    /// Memory for checks.
    pub budget: Option<Budget>,
    /// Temporary files.
    pub scratch: Option<Scratch>,
}

/// Whether the file at `location` begins like a text of this form.
///
/// # Errors
/// If it cannot be read.
pub fn detect(location: &Location, form: Form) -> Result<bool> {
    if location.as_path().is_some_and(std::path::Path::is_dir) {
        return Ok(false);
    }
    let file = PackedFile::open(location)?;
    // A file that cannot be decompressed belongs to another format.
    let Ok(begin) = file.begin(LOOK) else { return Ok(false) };
    Ok(match form {
        Form::Apoc => apoc::begins(&begin),
        Form::Cypher => cypher::begins(&begin),
    })
}
