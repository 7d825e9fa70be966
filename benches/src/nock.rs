//! NOCK: generating a file, and reading it.

use std::fmt::Write;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::builder::{BooleanBuilder, Float32Builder, Int32Builder, StringBuilder};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use isomorph_convert::parallel;
use isomorph_error::{Error, Result};
use isomorph_model::{Batch, Request, Source, Tables};
use isomorph_nock::{Nock, OpenOptions};
use isomorph_storage::Location;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use serde_json::{Value, json};

use crate::draw::Draw;
use crate::measure::{Measured, failed};

/// Number of edges of each node.
const EDGES: u64 = 3;
/// Number of rows in a row group.
const GROUP: usize = 1 << 17;
const LABELS: [&str; 4] = ["Person", "Person,Author", "City", ""];
const RELATIONS: [&str; 3] = ["knows", "livesIn", "likes"];

/// Rows with the types of the specification.
struct Rows {
    src_name: StringBuilder,
    edge_id: Int32Builder,
    rel_name: StringBuilder,
    dst_name: StringBuilder,
    truth: Float32Builder,
    shadow: Int32Builder,
    is_rdf: BooleanBuilder,
    labels: StringBuilder,
    props: StringBuilder,
}

impl Rows {
    fn new() -> Self {
        Rows {
            src_name: StringBuilder::new(),
            edge_id: Int32Builder::new(),
            rel_name: StringBuilder::new(),
            dst_name: StringBuilder::new(),
            truth: Float32Builder::new(),
            shadow: Int32Builder::new(),
            is_rdf: BooleanBuilder::new(),
            labels: StringBuilder::new(),
            props: StringBuilder::new(),
        }
    }

    fn push(&mut self, name: &str, edge: Option<(i32, &str, &str)>, labels: &str, props: &str) {
        let (number, relation, target) = edge.unwrap_or((-1, "", ""));
        self.src_name.append_value(name);
        self.edge_id.append_value(number);
        self.rel_name.append_value(relation);
        self.dst_name.append_value(target);
        self.truth.append_value(1.0);
        self.shadow.append_value(-1);
        self.is_rdf.append_value(false);
        self.labels.append_value(labels);
        self.props.append_value(props);
    }

    fn len(&self) -> usize {
        self.edge_id.values_slice().len()
    }

    fn take(&mut self, schema: &Arc<Schema>) -> Result<RecordBatch> {
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.src_name.finish()),
            Arc::new(self.edge_id.finish()),
            Arc::new(self.rel_name.finish()),
            Arc::new(self.dst_name.finish()),
            Arc::new(self.truth.finish()),
            Arc::new(self.shadow.finish()),
            Arc::new(self.is_rdf.finish()),
            Arc::new(self.labels.finish()),
            Arc::new(self.props.finish()),
        ];
        RecordBatch::try_new(Arc::clone(schema), columns).map_err(failed)
    }
}

fn schema() -> Arc<Schema> {
    let field = |name: &str, data_type| Field::new(name, data_type, name != "src_name");
    Arc::new(Schema::new(vec![
        field("src_name", DataType::Utf8),
        field("edge_id", DataType::Int32),
        field("rel_name", DataType::Utf8),
        field("dst_name", DataType::Utf8),
        field("truth", DataType::Float32),
        field("shadow", DataType::Int32),
        field("is_rdf", DataType::Boolean),
        field("labels", DataType::Utf8),
        field("props", DataType::Utf8),
    ]))
}

/// Writes `rows` rows with the defaults of the parquet crate, and Snappy, the default of PyArrow.
pub(crate) fn make(rows: u64, file: &str) -> Result<Value> {
    let schema = schema();
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(GROUP))
        .build();
    let mut writer =
        ArrowWriter::try_new(File::create(file)?, Arc::clone(&schema), Some(properties)).map_err(failed)?;
    let nodes = rows.div_ceil(EDGES + 1);
    let mut draw = Draw::new(1);
    let mut out = Rows::new();
    let (mut name, mut target, mut props) = (String::new(), String::new(), String::new());
    let mut left = rows;
    for node in 0..nodes {
        spell(&mut name, format_args!("https://example.org/node/{node}"))?;
        let kind = draw.below(4) as usize;
        spell(&mut props, format_args!("{{\"age\":{},\"name\":\"node {node}\",\"active\":true}}", draw.below(90)))?;
        out.push(&name, None, LABELS[kind], &props);
        left -= 1;
        for edge in 0..EDGES.min(left) {
            spell(&mut target, format_args!("https://example.org/node/{}", draw.skewed(nodes)))?;
            spell(&mut props, format_args!("{{\"since\":{},\"weight\":0.5}}", 1990 + draw.below(35)))?;
            let props = if draw.below(4) == 0 { "" } else { &props };
            out.push(&name, Some((edge as i32, RELATIONS[draw.below(3) as usize], &target)), "", props);
            left -= 1;
        }
        if out.len() >= 8192 {
            writer.write(&out.take(&schema)?).map_err(failed)?;
        }
    }
    writer.write(&out.take(&schema)?).map_err(failed)?;
    writer.close().map_err(failed)?;
    Ok(json!({ "rows": rows, "nodes": nodes, "edges": rows - nodes, "bytes": std::fs::metadata(file)?.len() }))
}

fn spell(text: &mut String, content: std::fmt::Arguments<'_>) -> Result<()> {
    text.clear();
    text.write_fmt(content).map_err(failed)
}

/// Reads `file` into the model and, alternately, without the model: with the same batches, threads and columns.
pub(crate) fn read(file: &str, runs: usize, threads: usize) -> Result<Value> {
    let (mut ours, mut bare) = (Measured::new(), Measured::new());
    for _ in 0..runs {
        ours.run(|| into_the_model(file, threads))?;
        bare.run(|| bare_read(file, threads))?;
    }
    let (seconds, bare_seconds) = (ours.seconds(), bare.seconds());
    let processor = [ours.processor(), bare.processor()];
    let ((nodes, edges), rows) = (ours.answer()?, bare.answer()?);
    Ok(json!({
        "seconds": seconds,
        "answer": { "nodes": nodes, "edges": edges },
        "bare_seconds": bare_seconds,
        "bare_answer": { "rows": rows },
        "processor": processor,
    }))
}

fn into_the_model(file: &str, threads: usize) -> Result<(usize, usize)> {
    let nock = Nock::open(&Location::parse(file)?, &OpenOptions::default())?;
    let parts = nock.scan(&Request::of(Tables::All))?;
    let counts = parallel::fold(
        parts,
        threads,
        || (0, 0),
        |counts, _, batch| {
            match &batch {
                Batch::Nodes(nodes) => counts.0 += nodes.rows,
                Batch::Edges(edges) => counts.1 += edges.rows,
                _ => {}
            }
            Ok(())
        },
    )?;
    Ok(counts.into_iter().fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1)))
}

/// The threads take row groups one after another.
fn bare_read(file: &str, threads: usize) -> Result<usize> {
    let metadata = ArrowReaderMetadata::load(&File::open(file)?, ArrowReaderOptions::new()).map_err(failed)?;
    let groups = metadata.metadata().num_row_groups();
    let next = AtomicUsize::new(0);
    let work = || -> Result<usize> {
        let mut rows = 0;
        loop {
            let group = next.fetch_add(1, Ordering::Relaxed);
            if group >= groups {
                return Ok(rows);
            }
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(File::open(file)?, metadata.clone());
            let batches = builder.with_row_groups(vec![group]).with_batch_size(1 << 16).build().map_err(failed)?;
            for batch in batches {
                let batch = batch.map_err(failed)?;
                rows += batch.columns().first().map_or(0, |column| column.len());
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        let broken = || Error::malformed("a thread failed");
        workers.into_iter().map(|worker| worker.join().map_err(|_| broken())?).sum()
    })
}
