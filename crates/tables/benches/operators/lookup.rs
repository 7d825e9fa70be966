//! Keys to rows, in memory and in bulk.

use std::io::Write;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Schema};
use isomorph_storage::{Budget, Scratch};
use isomorph_tables::lookup::{AnswerStream, BulkLookup, KeyRowsBuilder, Lookup, LookupOptions};
use isomorph_tables::sort::{EdgeSorter, SortOptions, SortedEdges};

use super::{BATCH, Outcome, mixed, scrambled};

/// The integer keys of some nodes: sparse, in no order.
pub fn integers(nodes: &[u64]) -> Outcome<ArrayRef> {
    Ok(Arc::new(UInt64Array::from_iter_values(nodes.iter().map(|node| mixed(*node)))))
}

/// The text keys of some nodes: `person/` and 16 digits, in no order.
pub fn texts(nodes: &[u64]) -> Outcome<ArrayRef> {
    let mut bytes = Vec::with_capacity(nodes.len() * 23);
    let mut ends = vec![0i32];
    for node in nodes {
        write!(bytes, "person/{:016x}", mixed(*node))?;
        ends.push(bytes.len() as i32);
    }
    Ok(Arc::new(StringArray::try_new(OffsetBuffer::new(ScalarBuffer::from(ends)), bytes.into(), None)?))
}

fn batches(count: u64) -> impl Iterator<Item = Range<u64>> {
    (0..count).step_by(BATCH as usize).map(move |start| start..count.min(start + BATCH))
}

/// The nodes at both ends of some edges between `nodes` nodes.
fn ends(edges: Range<u64>, nodes: u64) -> (Vec<u64>, Vec<u64>) {
    let end = |side: u64| edges.clone().map(|edge| scrambled(2 * edge + side, nodes)).collect();
    (end(0), end(1))
}

/// Adds up the time spent in the library, without the time for creating data.
#[derive(Default)]
struct Clock(f64);

impl Clock {
    fn time<T, E>(&mut self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let started = Instant::now();
        let result = work();
        self.0 += started.elapsed().as_secs_f64();
        result
    }
}

fn build(count: u64, keys: fn(&[u64]) -> Outcome<ArrayRef>, options: LookupOptions) -> Outcome<Lookup> {
    let (mut pushing, mut finishing) = (Clock::default(), Clock::default());
    let mut builder = KeyRowsBuilder::new(options);
    for rows in batches(count) {
        let keys = keys(&rows.collect::<Vec<u64>>())?;
        pushing.time(|| builder.push(&keys))?;
    }
    let lookup = finishing.time(|| builder.finish())?;
    println!("{count} keys, spilled: {}, repeats: {}", matches!(lookup, Lookup::Spilled(_)), lookup.repeats().count());
    println!("push              {:8.3} s", pushing.0);
    println!("finish            {:8.3} s", finishing.0);
    Ok(lookup)
}

/// `count` keys; both ends of `count` edges looked up on one thread.
pub fn in_memory(count: u64, keys: fn(&[u64]) -> Outcome<ArrayRef>, budget: &Budget, scratch: &Scratch) -> Outcome {
    let Lookup::Memory(lookup) = build(count, keys, LookupOptions::new(budget, scratch))? else {
        return Err("this needs more memory".into());
    };
    let (mut looking, mut rows) = (Clock::default(), Vec::new());
    for edges in batches(count) {
        let (sources, targets) = ends(edges, count);
        for nodes in [sources, targets] {
            let probes = keys(&nodes)?;
            rows.clear();
            looking.time(|| lookup.translate(&probes, &mut rows))?;
            if rows != nodes {
                return Err("a wrong row".into());
            }
        }
    }
    println!("look up           {:8.3} s, {:.1} M/s", looking.0, 2.0 * count as f64 / 1e6 / looking.0);
    Ok(())
}

/// `count` text keys and as many edges between them, which end up sorted by both ends.
pub fn bulk(count: u64, budget: &Budget, scratch: &Scratch) -> Outcome {
    let share = budget.limit() / 4;
    let lookup = build(count, texts, LookupOptions::new(budget, scratch).memory(share))?;
    let Lookup::Spilled(keys) = &lookup else { return Err("this fits: give it less memory".into()) };
    let by_target = Schema::new(vec![Field::new("target", DataType::Utf8, false)]);
    let by_source = Schema::new(vec![Field::new("source row", DataType::UInt64, false)]);

    let mut clock = Clock::default();
    let sources = BulkLookup::new(keys, &by_target)?;
    for edges in batches(count) {
        let first = edges.start;
        let (source, target) = ends(edges, count);
        let (source, target) = (texts(&source)?, texts(&target)?);
        let tags = RecordBatch::try_new(Arc::new(by_target.clone()), vec![target])?;
        clock.time(|| sources.add_probes(&source, &tags, first))?;
    }
    let sources = clock.time(|| sources.finish())?;
    println!("sort sources      {:8.3} s", clock.0);

    let mut clock = Clock::default();
    let targets = BulkLookup::new(keys, &by_source)?;
    let schema = Arc::new(by_source);
    clock.time(|| {
        on_threads(sources.streams(2)?, |answers| {
            for batch in answers {
                let batch = batch?;
                let tags = RecordBatch::try_new(schema.clone(), vec![Arc::new(UInt64Array::from(batch.rows))])?;
                targets.add_probes(batch.tags.column(0), &tags, &batch.sequence)?;
            }
            Ok(())
        })
    })?;
    drop(sources);
    let targets = clock.time(|| targets.finish())?;
    println!("find, sort targets{:8.3} s", clock.0);

    let mut clock = Clock::default();
    let options = SortOptions::new(budget, scratch).memory(share);
    let (by_source, by_target) = (EdgeSorter::new(options.clone())?, EdgeSorter::new(options)?);
    clock.time(|| {
        on_threads(targets.streams(2)?, |answers| {
            for batch in answers {
                let batch = batch?;
                let sources = batch.tags.column(0).as_primitive::<UInt64Type>().values();
                by_source.push(sources, &batch.rows, None, &batch.sequence)?;
                by_target.push(&batch.rows, sources, None, &batch.sequence)?;
            }
            Ok(())
        })
    })?;
    drop(targets);
    drop(lookup);
    let (by_source, by_target) = (by_source.finish()?, by_target.finish()?);
    println!("find, sort edges  {:8.3} s", clock.0);

    let mut clock = Clock::default();
    let (sums, expected) = clock.time(|| -> Outcome<_> {
        let expected = batches(count).map(|edges| sum(ends(edges, count))).fold(0, u64::wrapping_add);
        let other_way = checked_sum(&by_target, |target, source| (source, target))?;
        Ok(([checked_sum(&by_source, |source, target| (source, target))?, other_way], expected))
    })?;
    println!("read back, check  {:8.3} s", clock.0);
    if sums == [expected; 2] { Ok(()) } else { Err("the edges are not those that went in".into()) }
}

fn on_threads<'a>(streams: Vec<AnswerStream<'a>>, work: impl Fn(AnswerStream<'a>) -> Outcome + Sync) -> Outcome {
    std::thread::scope(|scope| {
        let threads: Vec<_> = streams.into_iter().map(|stream| scope.spawn(|| work(stream))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| Err("a panic".into())))
    })
}

/// The same for the same edges in any order.
fn sum((sources, targets): (Vec<u64>, Vec<u64>)) -> u64 {
    sources.iter().zip(targets).map(|edge| mixed(edge.0.wrapping_mul(31) ^ mixed(edge.1))).fold(0, u64::wrapping_add)
}

fn checked_sum(sorted: &SortedEdges, edge: fn(u64, u64) -> (u64, u64)) -> Outcome<u64> {
    let (mut total, mut last) = (0u64, (0, 0));
    for batch in sorted.stream()? {
        let batch = batch?;
        let pairs = || batch.aligned.values().iter().copied().zip(batch.other.values().iter().copied());
        for pair in pairs() {
            if pair < last {
                return Err("not sorted".into());
            }
            last = pair;
        }
        total = total.wrapping_add(sum(pairs().map(|pair| edge(pair.0, pair.1)).unzip()));
    }
    Ok(total)
}
