//! What belongs to the graph and to no element: manifest, history, snapshots, policies, attributes of the graph.

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
use crate::{kept, trail};

/// Who wrote the files.
pub(crate) const WRITER: &str = concat!("isomorph ", env!("CARGO_PKG_VERSION"));

/// The version of the specification's layout, and of its schema.
const VERSION: &str = "1.1.0";
const SCHEMA_VERSION: &str = "1.0";

/// The numbers that the manifest names.
pub(crate) struct Counts {
    pub entities: u64,
    pub nodes: u64,
    /// Columns of the incidence matrix.
    pub edges: u64,
    pub hyperedges: u64,
    pub aspects: usize,
}

/// Writes everything but the manifest. `earlier` are the conversions that the graph has been through before, as its
/// description has them, and `original` is the provenance that it came with.
///
/// # Errors
/// Returns an error if a document is of another kind than its file, or cannot be written.
pub(super) fn write(
    documents: &[Document],
    (earlier, original): (Option<&str>, Option<&str>),
    output: &mut Output<'_>,
    options: &WriteOptions,
) -> Result<()> {
    let wrong = |name: &str| Error::usage(format!("the document {name} is of another kind than annnet's"));
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
    let mut conversions = earlier.map_or_else(|| Ok(Vec::new()), trail::of_metadata)?;
    let mut provenance = vec![("created", string(&created(options)?)), ("annnet_version", string(WRITER))];
    if let Some(conversion) = &options.conversion {
        let time = created(options)?.replace("+00:00", "Z");
        conversions.push(conversion.to_json(WRITER, &time, &stated(documents, document::GRAPH_VERSION, "0")));
        provenance.extend(conversions.last().map(|own| ("conversion", own.clone())));
    }
    provenance.extend(original.map(|own| (kept::ORIGINAL, own.to_owned())));
    let with_conversions = match conversions.is_empty() {
        true => None,
        false => Some(trail::with(history, &conversions)?),
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

/// Whether edges have a direction that state none.
pub(super) fn is_directed(documents: &[Document]) -> bool {
    stated(documents, document::DIRECTED, "null") != "false"
}

/// What a document of JSON says.
fn stated(documents: &[Document], name: &str, otherwise: &str) -> String {
    let own = documents.iter().find(|own| own.name == name);
    match own.map(|own| &own.body) {
        Some(DocumentBody::Json(text)) => text.trim().to_owned(),
        _ => otherwise.to_owned(),
    }
}

/// Writes a document that has a file for each of its parts. Says whether it is one.
fn write_parts(own: &Document, output: &mut Output<'_>, options: &WriteOptions) -> Result<bool> {
    let DocumentBody::Json(text) = &own.body else { return Ok(false) };
    let is = |open: char| text.trim_start().starts_with(open);
    match own.name.as_str() {
        document::RESULTS if is('{') => {
            Members::default()
                .read(text, |name, value| output.put(&format!("{}{name}.json", file::RESULT_FOLDER), &ascii(value)))?;
            Ok(true)
        }
        document::RESULTS => Err(lost("results of annnet are JSON values by name")),
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

/// What of a snapshot's label can stand in the name of a file: the label itself is inside.
fn slug(snapshot: &str) -> String {
    let mut slug = String::new();
    // What is no object has no label.
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
    // Keys that nobody here knows stay behind those that are known.
    members.extend(
        unknown.iter().map(|(name, value)| (name.as_str(), value.clone())).filter(|(name, _)| !own.contains(name)),
    );
    let members: Vec<String> = members.iter().map(|(name, value)| format!("  {}: {value}", string(name))).collect();
    output.put(file::MANIFEST, &ascii(&format!("{{\n{}\n}}", members.join(",\n"))))
}

/// When the graph was written, as Python or the specification says it.
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
