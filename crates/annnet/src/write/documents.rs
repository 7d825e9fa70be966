//! What belongs to the graph and to no element: manifest, history, snapshots, policies, attributes of the graph.

use std::time::{SystemTime, UNIX_EPOCH};

use arrow_array::{RecordBatch, TimestampMicrosecondArray};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::DataType;
use isomorph_error::{Error, Result};
use isomorph_model::Document;
use isomorph_model::schema::DocumentBody;

use super::WriteOptions;
use super::columns::arrow;
use super::json::{ascii, string};
use super::layers::list;
use super::output::Output;
use super::table::TableOut;
use crate::layout::{document, file, word};
use crate::trail;

/// Who wrote the files.
pub(crate) const WRITER: &str = concat!("isomorph ", env!("CARGO_PKG_VERSION"));

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
/// description has them.
///
/// # Errors
/// When a document is of another kind than its file, or cannot be written.
pub(super) fn write(
    documents: &[Document],
    earlier: Option<&str>,
    output: &mut Output<'_>,
    options: &WriteOptions,
) -> Result<()> {
    let wrong = |name: &str| Error::usage(format!("the document {name} is of another kind than annnet's"));
    let files =
        [(document::POLICIES, file::POLICIES), (document::SNAPSHOTS, file::SNAPSHOTS), (document::UNS, file::UNS)];
    let mut history: Option<&RecordBatch> = None;
    for own in documents {
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

/// What a document of JSON says.
fn stated(documents: &[Document], name: &str, otherwise: &str) -> String {
    let own = documents.iter().find(|own| own.name == name);
    match own.map(|own| &own.body) {
        Some(DocumentBody::Json(text)) => text.trim().to_owned(),
        _ => otherwise.to_owned(),
    }
}

/// Writes the manifest.
///
/// # Errors
/// When it cannot be written.
pub(super) fn write_manifest(
    documents: &[Document],
    slices: &[String],
    counts: &Counts,
    output: &mut Output<'_>,
    options: &WriteOptions,
) -> Result<()> {
    let stated = |name: &str, otherwise: &str| stated(documents, name, otherwise);
    let default = string(word::DEFAULT);
    let numbers = [
        ("nodes", counts.nodes),
        ("edges", counts.edges),
        ("entities", counts.entities),
        ("slices", slices.len() as u64),
        ("hyperedges", counts.hyperedges),
        ("aspects", counts.aspects as u64),
    ];
    let numbers: Vec<String> = numbers.iter().map(|(name, number)| format!("    \"{name}\": {number}")).collect();
    let members = [
        ("format", string("annnet")),
        ("created", string(&created(options)?)),
        ("annnet_version", string(WRITER)),
        ("graph_version", stated(document::GRAPH_VERSION, "0")),
        ("directed", stated(document::DIRECTED, "null")),
        ("matrix_shape", format!("[{}, {}]", counts.entities, counts.edges)),
        ("incidence_stored", options.matrix.to_string()),
        ("counts", format!("{{\n{}\n  }}", numbers.join(",\n"))),
        ("slices", list(slices)),
        ("active_slice", stated(document::ACTIVE_SLICE, &default)),
        ("default_slice", stated(document::DEFAULT_SLICE, &default)),
        ("compression", string(options.compression_name())),
        ("encoding", "{\"zarr\": \"v3\", \"parquet\": \"1.0\"}".to_owned()),
    ];
    let members: Vec<String> = members.iter().map(|(name, value)| format!("  \"{name}\": {value}")).collect();
    output.put(file::MANIFEST, &ascii(&format!("{{\n{}\n}}", members.join(",\n"))))
}

/// When the graph was written, as Python says it.
pub(crate) fn created(options: &WriteOptions) -> Result<String> {
    let time = options.created.unwrap_or_else(SystemTime::now);
    let micros = match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_micros()).ok(),
        Err(before) => i64::try_from(before.duration().as_micros()).ok().map(|micros| -micros),
    };
    let micros = micros.ok_or_else(|| Error::usage("the time is out of range"))?;
    let column = TimestampMicrosecondArray::from(vec![micros]);
    let options = FormatOptions::new().with_timestamp_format(Some("%Y-%m-%dT%H:%M:%S%.6f+00:00"));
    let text = ArrayFormatter::try_new(&column, &options).map_err(arrow)?.value(0).try_to_string();
    text.map_err(arrow)
}
