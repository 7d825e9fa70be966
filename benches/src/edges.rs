//! An edge table, and writing it as GraphAr.

use std::fs::File;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Float64Array, Int64Array, RecordBatch, UInt64Array};
use arrow_schema::DataType;
use isomorph_convert::{Silent, bring};
use isomorph_error::{Error, Result};
use isomorph_graphar::{GraphArWriter, WriteOptions};
use isomorph_model::{
    Batch, EdgeBatch, EdgeType, EndForm, Ends, Graph, Key, NodeBatch, NodeType, Part, Property, Request, Source,
    Tables, Written, part,
};
use isomorph_storage::{Blob, Location, Mode, Resources, Staging};
use isomorph_tables::{Encoding, ReadOptions, Selection, TableReader};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use serde_json::{Value, json};

use crate::draw::Draw;
use crate::measure::{Measured, failed};

const PIECE: u64 = 1 << 17;

/// Writes `edges` edges between `vertices` vertices: skewed and unordered ends, weights with a thousand different
/// values.
pub(crate) fn make(edges: u64, vertices: u64, file: &str) -> Result<Value> {
    let mut draw = Draw::new(2);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .set_max_row_group_row_count(Some(1 << 20))
        .build();
    let mut writer = None;
    for from in (0..edges).step_by(PIECE as usize) {
        let rows = PIECE.min(edges - from) as usize;
        let ends = |draw: &mut Draw| Int64Array::from_iter_values((0..rows).map(|_| draw.skewed(vertices) as i64));
        let (src, dst) = (ends(&mut draw), ends(&mut draw));
        let weight = Float64Array::from_iter_values((0..rows).map(|_| draw.below(1000) as f64 / 8.0));
        let batch = RecordBatch::try_from_iter([
            ("src", Arc::new(src) as _),
            ("dst", Arc::new(dst) as _),
            ("weight", Arc::new(weight) as _),
        ])
        .map_err(failed)?;
        let writer = match &mut writer {
            Some(writer) => writer,
            none => none.insert(
                ArrowWriter::try_new(File::create(file)?, batch.schema(), Some(properties.clone())).map_err(failed)?,
            ),
        };
        writer.write(&batch).map_err(failed)?;
    }
    writer.ok_or_else(|| Error::usage("an edge table has edges"))?.close().map_err(failed)?;
    Ok(json!({ "edges": edges, "vertices": vertices, "bytes": std::fs::metadata(file)?.len() }))
}

/// An edge table as a graph: the keys of the vertices are their numbers.
struct EdgeTable {
    graph: Graph,
    reader: TableReader,
    vertices: u64,
}

impl EdgeTable {
    fn open(file: &str, vertices: u64) -> Result<Self> {
        let reader =
            TableReader::open(Blob::open(&Location::parse(file)?)?, Encoding::Parquet, &ReadOptions::default())?;
        let mut person = NodeType::new("person", Key::int64().named("id"));
        person.ordered = true;
        person.rows = Some(vertices);
        let mut knows = EdgeType::new(0, "knows", 0);
        knows.properties = vec![Property::new("weight", DataType::Float64)];
        knows.rows = reader.row_count();
        let graph = Graph { name: Some("edges".into()), nodes: vec![person], edges: vec![knows], ..Graph::default() };
        Ok(EdgeTable { graph, reader, vertices })
    }
}

impl Source for EdgeTable {
    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let nodes = matches!(request.tables, Tables::All | Tables::AllNodes | Tables::Nodes(_) | Tables::NodeKeys(_));
        let edges = matches!(request.tables, Tables::All | Tables::AllEdges | Tables::Edges(_) | Tables::EdgeEnds(_));
        let count = if nodes { self.vertices } else { 0 };
        let mut parts: Vec<Box<dyn Part + '_>> = Vec::new();
        for start in (0..count).step_by(PIECE as usize) {
            let batch = move || Ok(vertices(start, count.min(start + PIECE)));
            parts.push(part::of(None, std::iter::once_with(batch)));
        }
        let groups = if edges { self.reader.row_groups() } else { 0 };
        for rows in (0..groups).filter_map(|group| self.reader.rows_of_group(group)) {
            let selection = Selection::all().rows([rows]).batch_rows(request.batch_rows);
            let open = move || self.reader.batches(&selection);
            parts.push(part::opened(None, open, |batches| {
                batches.next().transpose()?.map(|batch| edge_batch(&batch)).transpose()
            }));
        }
        Ok(parts)
    }

    fn end_form(&self, _ty: usize) -> EndForm {
        EndForm::Rows
    }
}

/// Returns vertices, with their numbers as keys.
fn vertices(start: u64, end: u64) -> Batch {
    let keys = Int64Array::from_iter_values(start as i64..end as i64);
    let rows = keys.len();
    let keys: Option<arrow_array::ArrayRef> = Some(Arc::new(keys));
    Batch::Nodes(NodeBatch { ty: 0, start, numbers: None, rows, keys, labels: None, properties: Vec::new() })
}

/// Converts rows of the edge table.
fn edge_batch(batch: &RecordBatch) -> Result<Batch> {
    let ends = |name: &str| {
        let column = batch.column_by_name(name).and_then(|column| column.as_primitive_opt::<Int64Type>());
        let column = column.ok_or_else(|| Error::malformed(format!("no integers {name}")))?;
        Ok::<_, Error>(Ends::Rows(UInt64Array::from_iter_values(column.values().iter().map(|end| end.unsigned_abs()))))
    };
    Ok(Batch::Edges(EdgeBatch {
        ty: 0,
        rows: batch.num_rows(),
        relations: None,
        source: ends("src")?,
        target: ends("dst")?,
        layers: None,
        directed: None,
        keys: None,
        properties: vec![batch.column_by_name("weight").cloned()],
    }))
}

/// Writes the table as GraphAr to `directory`, and replaces its content.
pub(crate) fn write(file: &str, vertices: u64, directory: &str, runs: usize, threads: usize) -> Result<Value> {
    let mut ours = Measured::new();
    for _ in 0..runs {
        ours.run(|| write_once(file, vertices, directory, threads))?;
    }
    let (seconds, processor) = (ours.seconds(), ours.processor());
    let (edges, written) = ours.answer()?;
    let bytes: u64 = written.bytes();
    Ok(
        json!({ "seconds": seconds, "edges": edges, "bytes": bytes, "files": written.files.len(), "processor": processor }),
    )
}

fn write_once(file: &str, vertices: u64, directory: &str, threads: usize) -> Result<(u64, Written)> {
    let table = EdgeTable::open(file, vertices)?;
    let resources = Resources { threads, ..Resources::of_this_machine()? };
    let options = WriteOptions { threads: Some(threads), ..WriteOptions::default() };
    let staging = Staging::directory(&Location::parse(directory)?, Mode::Replace)?;
    let info = GraphArWriter::plan(&table.graph, &options)?;
    let mut sink = GraphArWriter::create(&staging, &table.graph, &options)?;
    bring(&table, sink.as_mut(), &resources, &Silent)?;
    let written = sink.finish()?;
    let manifests = GraphArWriter::manifests(&info);
    staging.commit(&manifests.iter().map(String::as_str).collect::<Vec<_>>())?;
    Ok((table.reader.row_count().unwrap_or_default(), written))
}
