//! `manifest.json`.

use isomorph_error::{Error, Findings, Place, Result};
use isomorph_model::json::{Value, value as json_value};
use isomorph_storage::limits;

use super::json;
use crate::layout::file;
use crate::members::Members;
use crate::rules;

/// Keys that some version writes. Other keys are kept for a rewrite.
const KNOWN: [&str; 16] = [
    "format",
    "version",
    "created",
    "annnet_version",
    "graph_version",
    "directed",
    "matrix_shape",
    "incidence_stored",
    "counts",
    "slices",
    "active_slice",
    "default_slice",
    "compression",
    "encoding",
    "schema_version",
    "checksum",
];

/// The content of the manifest.
#[derive(Debug, Clone, Default)]
pub(crate) struct Manifest {
    /// Direction of edges that state none; `None` means directed.
    pub directed: Option<bool>,
    /// Counter of changes, as JSON.
    pub graph_version: Option<String>,
    pub active_slice: Option<String>,
    pub default_slice: Option<String>,
    pub annnet_version: Option<String>,
    pub version: Option<String>,
    /// The checksum of all files.
    pub checksum: Option<String>,
    pub created: Option<String>,
    pub compression: Option<String>,
    /// Counts by name.
    pub counts: Vec<(String, u64)>,
    /// Keys that no version writes, with their JSON. A rewrite keeps them.
    pub unknown: Vec<(String, String)>,
}

/// Returns the beginning of a JSON value, for an error message.
fn shown(value: &str) -> String {
    value.trim().chars().take(40).collect()
}

impl Manifest {
    /// Reads the manifest; missing keys become findings.
    ///
    /// # Errors
    /// Returns an error if it is missing, or is not a JSON object.
    pub fn read(members: &Members, findings: &mut Findings) -> Result<Manifest> {
        members.file(file::MANIFEST)?;
        let text = members.text(file::MANIFEST, limits::MANIFEST_BYTES)?.unwrap_or_default();
        let mut manifest = Manifest::default();
        let mut missing = vec!["directed", "graph_version", "active_slice", "default_slice"];
        json::members(&text, file::MANIFEST, |name, value| {
            missing.retain(|key| *key != name);
            let mut wrong = |key: &str, wanted: &str, value: &str| {
                let what = format!("{} is not {wanted}", shown(value));
                findings.push(&rules::MANIFEST, what, Place::file(file::MANIFEST).in_field(key));
            };
            let text = || json::string(value).map(|text| text.into_owned());
            match name {
                "directed" => {
                    manifest.directed = json::boolean(value);
                    // Any other value has no clear meaning.
                    if manifest.directed.is_none() && value.trim() != "null" {
                        let what = format!("directed is {}, expected true, false or null", shown(value));
                        let place = Place::file(file::MANIFEST).in_field(name);
                        return Err(Error::broken(&rules::MANIFEST, what).at(place));
                    }
                }
                "graph_version" => {
                    manifest.graph_version = Some(value.trim().to_owned());
                    if !matches!(json_value(value), Ok(Value::Integer(_) | Value::Null)) {
                        wrong(name, "a whole number", value);
                    }
                }
                "active_slice" | "default_slice" => {
                    match name {
                        "active_slice" => manifest.active_slice = text(),
                        _ => manifest.default_slice = text(),
                    }
                    if text().is_none() && value.trim() != "null" {
                        wrong(name, "the id of a slice", value);
                    }
                }
                "annnet_version" => manifest.annnet_version = text(),
                "version" => manifest.version = text(),
                "checksum" => manifest.checksum = text(),
                "created" => manifest.created = text(),
                "compression" => manifest.compression = text(),
                "counts" if value.trim_start().starts_with('{') => {
                    json::members(value, file::MANIFEST, |name, value| {
                        manifest.counts.extend(json::count(value).map(|count| (name.to_owned(), count)));
                        Ok(())
                    })?;
                }
                name if !KNOWN.contains(&name) => manifest.unknown.push((name.to_owned(), value.to_owned())),
                _ => {}
            }
            Ok(())
        })?;
        for key in missing {
            findings.push(&rules::MANIFEST, "the key is missing", Place::file(file::MANIFEST).in_field(key));
        }
        Ok(manifest)
    }

    /// Returns whether the files follow the specification's text, which no published library has written. Such files
    /// are complete, so nothing that a writer omitted must be reconstructed.
    pub fn is_specified(&self) -> bool {
        self.version.as_deref().is_some_and(|version| version.starts_with("1.1"))
    }

    /// Returns whether an edge that states no direction is directed.
    pub fn is_directed(&self) -> bool {
        self.directed.unwrap_or(true)
    }
}
