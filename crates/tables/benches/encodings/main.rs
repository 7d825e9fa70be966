//! Speed of the encodings: writing, scanning and looking up the adjacency of a graph, and reading text.
//!
//! `cargo bench -p isomorph-tables --bench encodings` prints medians. The peer is the published Parquet reader on the
//! same file; both print the sum of what they read, so that a faster wrong answer is seen.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, clippy::single_range_in_vec_init)]

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Float64Array, Int64Array, RecordBatch, StringArray};
use isomorph_storage::{Blob, Location};
use isomorph_tables::{
    ColumnEncoding, Compression, Encoding, PageCache, ReadOptions, Selection, TableReader, TableWriter, WriteOptions,
};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression as Codec, ZstdLevel};
use parquet::file::properties::WriterProperties;

const EDGES: i64 = 5_000_000;
const VERTICES: i64 = 500_000;

fn main() {
    let directory = tempfile::tempdir().unwrap();
    let edges = edges();
    println!("{EDGES} edges of {VERTICES} vertices, sorted by both ends, with a weight");
    let ids = |options: WriteOptions| {
        ["src", "dst"].into_iter().fold(options, |options, name| options.encoding(name, ColumnEncoding::Delta))
    };
    let plain_weight = |options: WriteOptions| options.encoding("weight", ColumnEncoding::Plain);
    for (name, compression) in
        [("none", Compression::None), ("snappy", Compression::Snappy), ("zstd1", Compression::Zstd(1))]
    {
        let options = plain_weight(ids(WriteOptions::default().compression(compression)));
        let path = directory.path().join(name);
        let time = median(3, || write(&edges, &path, Encoding::Parquet, &options));
        let size = std::fs::metadata(&path).unwrap().len();
        println!("\nparquet, ours, {name}: {:.1} MB, written {}", size as f64 / 1e6, rate(EDGES, time));
        scan(&path);
        lookups(&path);
    }
    for (name, codec) in
        [("as C++ writes it, none", Codec::UNCOMPRESSED), ("as C++ writes it, zstd", Codec::ZSTD(ZstdLevel::default()))]
    {
        let path = directory.path().join("foreign");
        foreign(&edges, &path, codec);
        println!("\nparquet, {name}: {:.1} MB", std::fs::metadata(&path).unwrap().len() as f64 / 1e6);
        scan(&path);
        lookups(&path);
    }
    text(directory.path());
}

fn edges() -> RecordBatch {
    let mut state = 1u64;
    let mut random = move |below: i64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as i64).rem_euclid(below)
    };
    let mut pairs: Vec<(i64, i64)> = (0..EDGES).map(|_| (random(VERTICES), random(VERTICES))).collect();
    pairs.sort_unstable();
    let src = Int64Array::from_iter_values(pairs.iter().map(|pair| pair.0));
    let dst = Int64Array::from_iter_values(pairs.iter().map(|pair| pair.1));
    let weight = Float64Array::from_iter_values((0..EDGES).map(|edge| (edge % 1000) as f64 / 8.0));
    RecordBatch::try_from_iter([
        ("src", Arc::new(src) as _),
        ("dst", Arc::new(dst) as _),
        ("weight", Arc::new(weight) as _),
    ])
    .unwrap()
}

fn write(batch: &RecordBatch, path: &Path, encoding: Encoding, options: &WriteOptions) {
    let out = std::io::BufWriter::new(File::create(path).unwrap());
    let mut writer = TableWriter::create(out, encoding, &batch.schema(), options).unwrap();
    for start in (0..batch.num_rows()).step_by(65_536) {
        writer.write(&batch.slice(start, 65_536.min(batch.num_rows() - start))).unwrap();
    }
    writer.finish().unwrap();
}

/// The layout of the C++ library for GraphAr: dictionaries, pages of 1 MiB, one row group.
fn foreign(batch: &RecordBatch, path: &Path, codec: Codec) {
    let properties = WriterProperties::builder()
        .set_compression(codec)
        .set_data_page_row_count_limit(usize::MAX)
        .set_max_row_group_row_count(Some(1 << 23))
        .build();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

fn open(path: &Path, encoding: Encoding, options: &ReadOptions) -> TableReader {
    let blob = Blob::open(&Location::parse(path.to_str().unwrap()).unwrap()).unwrap();
    TableReader::open(blob, encoding, options).unwrap()
}

fn sum(batch: &RecordBatch) -> i64 {
    let column = |at: usize| {
        batch.column(at).as_primitive::<Int64Type>().values().iter().fold(0i64, |sum, v| sum.wrapping_add(*v))
    };
    column(0).wrapping_mul(3).wrapping_add(column(1))
}

fn scan(path: &Path) {
    let mut answers = (0, 0);
    let ours = median(5, || {
        let reader = open(path, Encoding::Parquet, &ReadOptions::default());
        let batches = reader.batches(&Selection::all().columns(["src", "dst"])).unwrap();
        answers.0 = batches.map(|batch| sum(&batch.unwrap())).fold(0, i64::wrapping_add);
    });
    let peer = median(5, || {
        let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
        let mask = parquet::arrow::ProjectionMask::leaves(builder.parquet_schema(), [0, 1]);
        let batches = builder.with_projection(mask).with_batch_size(8192).build().unwrap();
        answers.1 = batches.map(|batch| sum(&batch.unwrap())).fold(0, i64::wrapping_add);
    });
    println!(
        "  scan of src and dst: {}, parquet crate {}; sums {} {}",
        rate(EDGES, ours),
        rate(EDGES, peer),
        answers.0,
        answers.1
    );
}

fn lookups(path: &Path) {
    let mut state = 7u64;
    let rows: Vec<Range<u64>> = (0..2000)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let start = (state >> 33) % (EDGES as u64 - 100);
            start..start + 10 + (state >> 20) % 91
        })
        .collect();
    for (name, pages) in [("no cache", PageCache::new(0)), ("32 MiB cache", PageCache::new(32 << 20))] {
        let reader = open(path, Encoding::Parquet, &ReadOptions { pages, ..ReadOptions::default() });
        reader.read_rows(&["dst"], &[0..1]).unwrap();
        let mut times = Vec::with_capacity(rows.len());
        let mut total = 0i64;
        for range in &rows {
            let start = Instant::now();
            let batch = reader.read_rows(&["dst"], std::slice::from_ref(range)).unwrap();
            times.push(start.elapsed());
            total =
                batch.column(0).as_primitive::<Int64Type>().values().iter().fold(total, |sum, v| sum.wrapping_add(*v));
        }
        times.sort_unstable();
        println!(
            "  look-up of 10 to 100 rows of dst, {name}: p50 {:.1?}, p99 {:.1?}; sum {total}",
            times[times.len() / 2],
            times[times.len() * 99 / 100]
        );
    }
}

/// A million rows of the usual types, as text and as ORC.
fn text(directory: &Path) {
    const ROWS: i64 = 1_000_000;
    let batch = RecordBatch::try_from_iter([
        ("id", Arc::new(Int64Array::from_iter_values(0..ROWS)) as _),
        ("name", Arc::new(StringArray::from_iter_values((0..ROWS).map(|row| format!("name of {row}")))) as _),
        ("score", Arc::new(Float64Array::from_iter_values((0..ROWS).map(|row| row as f64 / 7.0))) as _),
        ("ok", Arc::new(arrow_array::BooleanArray::from_iter((0..ROWS).map(|row| Some(row % 3 == 0)))) as _),
    ])
    .unwrap();
    println!("\n{ROWS} rows of id, name, score, ok");
    for encoding in [Encoding::Csv, Encoding::JsonLines, Encoding::Orc, Encoding::Parquet] {
        let path = directory.join(encoding.name());
        let written = median(3, || write(&batch, &path, encoding, &WriteOptions::default()));
        let options = ReadOptions::declared(batch.schema());
        let mut rows = 0;
        let read = median(3, || {
            let reader = open(&path, encoding, &options);
            rows = reader.batches(&Selection::all()).unwrap().map(|batch| batch.unwrap().num_rows()).sum();
        });
        let size = std::fs::metadata(&path).unwrap().len() as f64 / 1e6;
        let speed = |time: Duration| format!("{:.0} MB/s", size / time.as_secs_f64());
        println!(
            "  {encoding}: {size:.1} MB, written {} ({}), read {} ({}), {rows} rows",
            rate(ROWS, written),
            speed(written),
            rate(ROWS, read),
            speed(read)
        );
    }
}

fn median(times: usize, mut work: impl FnMut()) -> Duration {
    let mut taken: Vec<Duration> = (0..times)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    taken.sort_unstable();
    taken[times / 2]
}

fn rate(rows: i64, time: Duration) -> String {
    format!("{:.1} M/s", rows as f64 / time.as_secs_f64() / 1e6)
}
