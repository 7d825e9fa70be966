//! Reads a GraphAr graph: all edges, and neighbours.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Instant;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use isomorph_error::{Error, Result};
use isomorph_graphar::{GraphAr, OpenOptions};
use isomorph_model::{Batch, EdgeOrder, Ends, Request, Side, Source, Tables};
use isomorph_storage::Location;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};

use crate::draw::Draw;
use crate::measure::{Measured, failed, median};

const BATCH_ROWS: usize = 65_536;
/// Number of look-ups whose results are printed individually.
const PEER_LOOKUPS: usize = 100;

/// Reads both ends of all edges of the first edge type, ordered by source, on one thread; and, alternately, the same
/// files with the parquet crate.
pub(crate) fn scan(graph: &str, runs: usize) -> Result<Value> {
    let location = Location::parse(graph)?;
    let files = adjacency_files(Path::new(graph))?;
    let (mut ours, mut bare) = (Measured::new(), Measured::new());
    for _ in 0..runs {
        ours.run(|| {
            let graph = GraphAr::open(&location, &OpenOptions::default())?;
            let mut sum = Sum::default();
            let request = Request::of(Tables::EdgeEnds(0)).in_batches_of(BATCH_ROWS);
            for mut part in graph.scan(&request.in_order(EdgeOrder::Source))? {
                part.read(&mut |batch| sum.batch(&batch))?;
            }
            Ok(sum)
        })?;
        bare.run(|| {
            let mut sum = Sum::default();
            for file in &files {
                let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(file)?).map_err(failed)?;
                let mask = ProjectionMask::columns(builder.parquet_schema(), ["_graphArSrcIndex", "_graphArDstIndex"]);
                let batches = builder.with_projection(mask).with_batch_size(BATCH_ROWS).build().map_err(failed)?;
                for batch in batches {
                    sum.record(&batch.map_err(failed)?);
                }
            }
            Ok(sum)
        })?;
    }
    let (seconds, bare_seconds) = (ours.seconds(), bare.seconds());
    let processor = [ours.processor(), bare.processor()];
    Ok(json!({
        "seconds": seconds,
        "answer": ours.answer()?.json(),
        "bare_seconds": bare_seconds,
        "bare_answer": bare.answer()?.json(),
        "processor": processor,
    }))
}

/// Returns the adjacency chunks, ordered by source, of the first edge type that has them.
fn adjacency_files(graph: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut waiting = vec![graph.join("edge")];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.components().any(|part| part.as_os_str() == "ordered_by_source")
                && path.components().any(|part| part.as_os_str() == "adj_list")
            {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The sums of both ends of edges.
#[derive(Default)]
struct Sum {
    edges: u64,
    source: u64,
    target: u64,
}

impl Sum {
    fn add(&mut self, source: impl Iterator<Item = u64>, target: impl Iterator<Item = u64>, edges: usize) {
        self.edges += edges as u64;
        self.source = source.fold(self.source, u64::wrapping_add);
        self.target = target.fold(self.target, u64::wrapping_add);
    }

    fn batch(&mut self, batch: &Batch) -> Result<()> {
        if let Batch::Edges(edges) = batch
            && let (Ends::Rows(source), Ends::Rows(target)) = (&edges.source, &edges.target)
        {
            self.add(source.values().iter().copied(), target.values().iter().copied(), edges.rows);
        }
        Ok(())
    }

    fn record(&mut self, batch: &RecordBatch) {
        let column = |at: usize| batch.column(at).as_primitive::<Int64Type>().values();
        let (source, target) = (column(0), column(1));
        self.add(
            source.iter().map(|end| end.cast_unsigned()),
            target.iter().map(|end| end.cast_unsigned()),
            batch.num_rows(),
        );
    }

    fn json(&self) -> Value {
        json!({ "edges": self.edges, "sources": self.source, "targets": self.target })
    }
}

/// Looks up the out-neighbours of `lookups` random vertices with all properties and warm caches; and determines the
/// bytes that the first look-up of a new process reads after the metadata of the files.
pub(crate) fn neighbours(graph: &str, lookups: usize) -> Result<Value> {
    let location = Location::parse(graph)?;
    let graph = GraphAr::open(&location, &OpenOptions::default())?;
    let rows = graph.graph().nodes.first().and_then(|ty| ty.rows).unwrap_or_default();
    let mut draw = Draw::new(3);
    let vertices: Vec<u64> = (0..lookups).map(|_| draw.below(rows)).collect();
    let mut measured = serde_json::Map::new();
    // The first round warms the caches.
    look_up(&graph, &vertices)?;
    measured.insert("with_properties".to_owned(), look_up(&graph, &vertices)?);
    measured.insert("cold_bytes".to_owned(), json!(cold_bytes(&location, &vertices)?));
    // For the same look-ups by a peer: vertex, number of edges, sum of their targets.
    let graph = GraphAr::open(&location, &OpenOptions::default())?;
    let first = vertices.iter().take(PEER_LOOKUPS).map(|vertex| {
        let found = look_up(&graph, &[*vertex])?;
        Ok(json!([vertex, found["edges"], found["sum"]]))
    });
    measured.insert("first".to_owned(), Value::Array(first.collect::<Result<_>>()?));
    Ok(Value::Object(measured))
}

/// Looks up the vertices one by one.
fn look_up(graph: &GraphAr, vertices: &[u64]) -> Result<Value> {
    let mut times = Vec::with_capacity(vertices.len());
    let (mut edges, mut sum) = (0, 0u64);
    for vertex in vertices {
        let start = Instant::now();
        let found = graph.neighbors_batch(0, &[*vertex], Side::Out)?;
        times.push(start.elapsed());
        edges += found.edges.rows;
        if let Ends::Rows(targets) = &found.edges.target {
            sum = targets.values().iter().fold(sum, |sum, target| sum.wrapping_add(*target));
        }
    }
    let p50 = median(&mut times).as_secs_f64();
    let p99 = times.get(times.len() * 99 / 100).copied().unwrap_or_default().as_secs_f64();
    Ok(json!({ "p50": p50, "p99": p99, "edges": edges, "sum": sum }))
}

/// Returns the maximum number of bytes that a look-up reads from files of which only the metadata is known: before it,
/// a distant vertex of the same chunk is looked up.
fn cold_bytes(location: &Location, vertices: &[u64]) -> Result<u64> {
    let mut most = 0;
    for pair in vertices.chunks(2).take(50) {
        let [vertex, other] = pair else { break };
        let graph = GraphAr::open(location, &OpenOptions::default())?;
        let chunk = graph.info().vertices.first().map_or(1, |info| info.chunk_size);
        let rows = graph.graph().nodes.first().and_then(|ty| ty.rows).unwrap_or_default();
        let near = vertex / chunk * chunk + other % chunk.min(rows - vertex / chunk * chunk);
        if near.abs_diff(*vertex) < chunk / 4 {
            continue;
        }
        graph.neighbors_batch(0, &[near], Side::Out)?;
        let before = graph.root().bytes_read();
        graph.neighbors_batch(0, &[*vertex], Side::Out)?;
        most = most.max(graph.root().bytes_read() - before);
    }
    if vertices.is_empty() { Err(Error::usage("no vertices")) } else { Ok(most) }
}
