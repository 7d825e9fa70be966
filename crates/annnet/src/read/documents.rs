//! Content that belongs to the graph as a whole.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, new_null_array};
use arrow_schema::{DataType, Field, Schema};
use isomorph_error::{Error, Findings, Kind, Place, Result};
use isomorph_model::Document;
use isomorph_model::json::push_string;
use isomorph_model::schema::DocumentBody;
use isomorph_storage::{Budget, Reservation};

use super::json;
use super::manifest::Manifest;
use crate::layout::{document, file};
use crate::members::{DOCUMENT_BYTES, Members};
use crate::provenance;
use crate::rules;
use crate::table::Table;

/// The documents of a graph, and what is read with them.
pub(crate) struct Found {
    pub documents: Vec<Document>,
    /// Conversions recorded in its history, which are not content.
    pub conversions: Vec<String>,
    /// The memory that the history takes.
    pub held: Option<Reservation>,
}

/// Reads the JSON files of a folder, by their names without `.json`, in their order. Returns none if files cannot be
/// listed.
fn parts(members: &Members, folder: &str) -> Result<Vec<(String, String)>> {
    let listed = match members.list() {
        Err(error) if error.kind() == Kind::Unsupported => return Ok(Vec::new()),
        listed => listed?,
    };
    let mut found = Vec::new();
    let mut left = DOCUMENT_BYTES;
    for (file, size) in listed {
        let name = file.strip_prefix(folder).and_then(|name| name.strip_suffix(".json"));
        let Some(name) = name.filter(|name| !name.contains('/')) else { continue };
        let too_large =
            || Error::new(Kind::TooLarge, "the files in this directory are too large").at(Place::file(folder));
        left = left.checked_sub(size).ok_or_else(too_large)?;
        let Some(text) = members.text(&file, DOCUMENT_BYTES)? else { continue };
        json::check(&text, &file)?;
        found.push((name.to_owned(), text));
    }
    Ok(found)
}

/// Reads the documents of a graph.
///
/// # Errors
/// Returns an error if a file is malformed or too large.
pub(crate) fn read(
    members: &Members,
    manifest: &Manifest,
    (active, default): (&str, &str),
    budget: &Budget,
    findings: &mut Findings,
) -> Result<Found> {
    let mut documents = Vec::new();
    let mut add = |name: &str, body| documents.push(Document { name: name.to_owned(), body });
    let quoted = |text: &str| {
        let mut out = String::new();
        push_string(&mut out, text);
        DocumentBody::Json(out)
    };
    let word = |value: Option<bool>| value.map_or("null".to_owned(), |value| value.to_string());
    add(document::DIRECTED, DocumentBody::Json(word(manifest.directed)));
    add(document::GRAPH_VERSION, DocumentBody::Json(manifest.graph_version.clone().unwrap_or("null".to_owned())));
    add(document::ACTIVE_SLICE, quoted(active));
    add(document::DEFAULT_SLICE, quoted(default));
    let files =
        [(document::POLICIES, file::POLICIES), (document::SNAPSHOTS, file::SNAPSHOTS), (document::UNS, file::UNS)];
    for (name, file) in files {
        if let Some(text) = members.text(file, DOCUMENT_BYTES)? {
            json::check(&text, file)?;
            let (begins, wanted) = match name {
                document::SNAPSHOTS => ('[', "expected a JSON array"),
                _ => ('{', "expected a JSON object"),
            };
            // The published library accepts nothing else as direction policies and snapshots, so other values are
            // not passed on.
            if name != document::UNS && !text.trim_start().starts_with(begins) {
                findings.push(&rules::JSON, wanted, Place::file(file));
                continue;
            }
            add(name, DocumentBody::Json(text));
        }
    }
    if !members.has(file::SNAPSHOTS)? {
        let texts = parts(members, file::SNAPSHOT_FOLDER)?;
        if !texts.is_empty() {
            let all: Vec<&str> = texts.iter().map(|(_, text)| text.trim()).collect();
            add(document::SNAPSHOTS, DocumentBody::Json(format!("[{}]", all.join(", "))));
        }
    }
    let results = parts(members, file::RESULT_FOLDER)?;
    if !results.is_empty() {
        let mut object = String::from("{");
        for (name, text) in &results {
            object.push_str(if object.len() == 1 { "" } else { ", " });
            push_string(&mut object, name);
            object.push_str(": ");
            object.push_str(text.trim());
        }
        object.push('}');
        add(document::RESULTS, DocumentBody::Json(object));
    }
    let Some(table) = Table::find(members, file::HISTORY)? else {
        return Ok(Found { documents, conversions: Vec::new(), held: None });
    };
    let (cells, held) = table.read(&[], budget)?;
    let typed = |column: &ArrayRef| match column.data_type() {
        // A column with only nulls has lost its type.
        DataType::Null => new_null_array(&DataType::Utf8, column.len()),
        _ => Arc::clone(column),
    };
    let columns: Vec<ArrayRef> = cells.batch.columns().iter().map(typed).collect();
    let fields = cells
        .batch
        .schema()
        .fields()
        .iter()
        .zip(&columns)
        .map(|(field, column)| Field::new(field.name(), column.data_type().clone(), true))
        .collect::<Vec<_>>();
    let history = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
        .map_err(|error| Error::malformed(error.to_string()).at(Place::file(file::HISTORY)))?;
    let (history, conversions) = provenance::without(history)?;
    let body = history.map(DocumentBody::Table);
    documents.extend(body.map(|body| Document { name: document::HISTORY.to_owned(), body }));
    Ok(Found { documents, conversions, held: Some(held) })
}
