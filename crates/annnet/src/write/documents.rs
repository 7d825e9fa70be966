//! Files that belong to the graph as a whole: manifest, history, snapshots, policies, attributes of the graph.

use std::time::{SystemTime, UNIX_EPOCH};

use arrow_array::{RecordBatch, TimestampMicrosecondArray};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::DataType;
use isomorph_error::{Error, Result};
use isomorph_model::Document;
use isomorph_model::json::{self, Members, Value};
use isomorph_model::schema::DocumentBody;

use super::columns::{arrow, lost};
use super::json::{ascii, string};
use super::layers::list;
use super::output::Output;
use super::table::TableOut;
use super::{WriteLayout, WriteOptions};
use crate::checksum;
use crate::layout::{document, file, word};
use crate::{preserved, provenance};

/// The program that wrote the files.
pub(crate) const WRITER: &str = concat!("isomorph ", env!("CARGO_PKG_VERSION"));

/// The version of the specification's layout, and of its schema.
const VERSION: &str = "1.1.0";
const SCHEMA_VERSION: &str = "1.0";

/// The counts for the manifest.
pub(crate) struct Counts {
    pub entities: u64,
    pub nodes: u64,
    /// Number of columns of the incidence matrix.
    pub edges: u64,
    pub hyperedges: u64,
    pub aspects: usize,
}

/// Writes everything except the manifest. `earlier` are earlier conversions of the graph, from its description, and
/// `original` is the provenance of the input.
///
/// # Errors
/// Returns an error if a document has another kind than its file, or cannot be written.
pub(super) fn write(
    documents: &[Document],
    (earlier, original): (Option<&str>, Option<&str>),
    output: &mut Output<'_>,
    options: &WriteOptions,
) -> Result<()> {
    let wrong = |name: &str| Error::usage(format!("the document {name} has another kind than in annnet"));
    let files =
        [(document::POLICIES, file::POLICIES), (document::SNAPSHOTS, file::SNAPSHOTS), (document::UNS, file::UNS)];
    let mut history: Option<&RecordBatch> = None;
    for own in documents {
        if write_parts(own, output, options)? {
            continue;
        }
        match (&own.body, files.iter().find(|(name, _)| *name == own.name)) {
            (DocumentBody::Json(text), Some((_, path))) => output.put(path, &ascii(text))?,
            (DocumentBody::Table(table), None) if own.name == document::HISTORY => history = Some(table),
            (DocumentBody::Json(_), None) if own.name != document::HISTORY => {}
            _ => return Err(wrong(&own.name)),
        }
    }
    let mut conversions = earlier.map_or_else(|| Ok(Vec::new()), provenance::of_metadata)?;
    let mut provenance = vec![("created", string(&created(options)?)), ("annnet_version", string(WRITER))];
    if let Some(conversion) = &options.conversion {
        let time = created(options)?.replace("+00:00", "Z");
        conversions.push(conversion.to_json(WRITER, &time, &stated(documents, document::GRAPH_VERSION, "0")));
        provenance.extend(conversions.last().map(|own| ("conversion", own.clone())));
    }
    provenance.extend(original.map(|own| (preserved::ORIGINAL, own.to_owned())));
    let with_conversions = match conversions.is_empty() {
        true => None,
        false => Some(provenance::with(history, &conversions)?),
    };
    if let Some(history) = with_conversions.as_ref().or(history) {
        let schema = history.schema();
        let columns: Vec<(&str, DataType)> =
            schema.fields().iter().map(|field| (field.name().as_str(), field.data_type().clone())).collect();
        let mut table = TableOut::create(output, file::HISTORY, &columns, options)?;
        table.push(history.num_rows(), history.columns().iter().cloned().map(Some).collect())?;
        table.finish(output)?;
    }
    let provenance: Vec<String> = provenance.iter().map(|(name, value)| format!("  \"{name}\": {value}")).collect();
    output.put(file::PROVENANCE, &ascii(&format!("{{\n{}\n}}", provenance.join(",\n"))))
}

/// Returns whether edges that state no direction are directed.
pub(super) fn is_directed(documents: &[Document]) -> bool {
    stated(documents, document::DIRECTED, "null") != "false"
}

/// Returns the JSON of a document.
fn stated(documents: &[Document], name: &str, otherwise: &str) -> String {
    let own = documents.iter().find(|own| own.name == name);
    match own.map(|own| &own.body) {
        Some(DocumentBody::Json(text)) => text.trim().to_owned(),
        _ => otherwise.to_owned(),
    }
}

/// Writes a document that has a file for each of its parts. Returns whether it is such a document.
fn write_parts(own: &Document, output: &mut Output<'_>, options: &WriteOptions) -> Result<bool> {
    let DocumentBody::Json(text) = &own.body else { return Ok(false) };
    let is = |open: char| text.trim_start().starts_with(open);
    match own.name.as_str() {
        document::RESULTS if is('{') => {
            Members::default()
                .read(text, |name, value| output.put(&format!("{}{name}.json", file::RESULT_FOLDER), &ascii(value)))?;
            Ok(true)
        }
        document::RESULTS => Err(lost("results of annnet must be JSON values by name")),
        document::SNAPSHOTS if options.layout == WriteLayout::Specification && is('[') => {
            let mut count = 0;
            json::items(text, |item| {
                let name = format!("{}{count:06}{}.json", file::SNAPSHOT_FOLDER, slug(item));
                count += 1;
                output.put(&name, &ascii(item))
            })?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// Returns the part of a snapshot's label that can be used in a file name; the label itself is in the file.
fn slug(snapshot: &str) -> String {
    let mut slug = String::new();
    // A snapshot that is not an object has no label.
    let _ = Members::default().read(snapshot, |name, value| {
        if let ("label", Ok(Value::Text(label))) = (name, json::value(value)) {
            slug = label.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(40).collect();
            slug.insert(0, '-');
        }
        Ok(())
    });
    slug
}

/// Writes the manifest.
///
/// # Errors
/// Returns an error if it cannot be written.
pub(super) fn write_manifest(
    (documents, unknown): (&[Document], &[(String, String)]),
    slices: &[String],
    counts: &Counts,
    output: &mut Output<'_>,
    options: &WriteOptions,
) -> Result<()> {
    let stated = |name: &str, otherwise: &str| stated(documents, name, otherwise);
    let default = string(word::DEFAULT);
    let (is_text, nodes) = match options.layout {
        WriteLayout::V2 => (false, "nodes"),
        WriteLayout::Specification => (true, "vertices"),
    };
    let numbers = [
        (nodes, counts.nodes),
        ("edges", counts.edges),
        ("entities", counts.entities),
        ("slices", slices.len() as u64),
        ("hyperedges", counts.hyperedges),
        ("aspects", counts.aspects as u64),
    ];
    let numbers: Vec<String> = numbers.iter().map(|(name, number)| format!("    \"{name}\": {number}")).collect();
    let mut members = vec![("format", string("annnet"))];
    if is_text {
        members.push(("version", string(VERSION)));
    }
    members.extend([
        ("created", string(&created(options)?)),
        ("annnet_version", string(WRITER)),
        ("graph_version", stated(document::GRAPH_VERSION, "0")),
        ("directed", stated(document::DIRECTED, "null")),
    ]);
    if !is_text {
        members.push(("matrix_shape", format!("[{}, {}]", counts.entities, counts.edges)));
        members.push(("incidence_stored", options.matrix.to_string()));
    }
    members.extend([
        ("counts", format!("{{\n{}\n  }}", numbers.join(",\n"))),
        ("slices", list(slices)),
        ("active_slice", stated(document::ACTIVE_SLICE, &default)),
        ("default_slice", stated(document::DEFAULT_SLICE, &default)),
    ]);
    if let Some(list) = output.checksum_list() {
        members.push(("schema_version", string(SCHEMA_VERSION)));
        members.push(("checksum", string(&checksum::of_list(list))));
    }
    members.push(("compression", string(options.compression_name())));
    members.push(("encoding", "{\"zarr\": \"v3\", \"parquet\": \"1.0\"}".to_owned()));
    let own: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
    // Unknown keys stay after the known ones.
    members.extend(
        unknown.iter().map(|(name, value)| (name.as_str(), value.clone())).filter(|(name, _)| !own.contains(name)),
    );
    let members: Vec<String> = members.iter().map(|(name, value)| format!("  {}: {value}", string(name))).collect();
    output.put(file::MANIFEST, &ascii(&format!("{{\n{}\n}}", members.join(",\n"))))
}

/// Returns the time of writing, in the format of Python or of the specification.
pub(crate) fn created(options: &WriteOptions) -> Result<String> {
    let time = options.created.unwrap_or_else(SystemTime::now);
    let micros = match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_micros()).ok(),
        Err(before) => i64::try_from(before.duration().as_micros()).ok().map(|micros| -micros),
    };
    let micros = micros.ok_or_else(|| Error::usage("the time is out of range"))?;
    let column = TimestampMicrosecondArray::from(vec![micros]);
    let format = match options.layout {
        WriteLayout::V2 => "%Y-%m-%dT%H:%M:%S%.6f+00:00",
        WriteLayout::Specification => "%Y-%m-%dT%H:%M:%S%.6fZ",
    };
    let options = FormatOptions::new().with_timestamp_format(Some(format));
    let text = ArrayFormatter::try_new(&column, &options).map_err(arrow)?.value(0).try_to_string();
    text.map_err(arrow)
}
