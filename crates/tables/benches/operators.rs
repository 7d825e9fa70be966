//! Rates, memory and temporary space of the spilling sort and the look-ups.
//!
//! `cargo bench -p isomorph-tables --bench operators -- WORK [COUNT [MEMORY_MIB]]`, where WORK is `sort` (edges without
//! columns), `sort-column` (with one f64) or `both-ways` (sorted by source and by target side by side). COUNT is in
//! thousands. Every answer is checked.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Float64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use isomorph_storage::{Budget, Scratch};
use isomorph_tables::sort::{EdgeSorter, SortOptions, SortedEdges};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const BATCH: u64 = 1 << 16;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let number = |at: usize, default| arguments.get(at).map_or(Ok(default), |text| text.parse::<u64>());
    let count = number(1, 1_000)? * 1_000;
    let budget = Budget::new(number(2, 4_096)? << 20);
    let scratch = Scratch::new(None)?;
    let started = Instant::now();
    match arguments.first().map_or("both-ways", String::as_str) {
        "sort" => sort(count, false, 1, &budget, &scratch)?,
        "sort-column" => sort(count, true, 1, &budget, &scratch)?,
        "both-ways" => sort(count, true, 2, &budget, &scratch)?,
        other => return Err(format!("no such work: {other}").into()),
    }
    let seconds = started.elapsed().as_secs_f64();
    println!("all in all        {seconds:8.3} s");
    println!("budget, peak      {:8.1} MiB", mib(budget.peak()));
    println!(
        "temporary, peak   {:8.1} MiB, {:.1} bytes a row",
        mib(scratch.peak()),
        scratch.peak() as f64 / count as f64
    );
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        status
            .lines()
            .filter(|line| line.starts_with("VmHWM") || line.starts_with("RssAnon"))
            .for_each(|line| println!("{line}"));
    }
    Ok(())
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / (1 << 20) as f64
}

/// A number below `limit` that depends on `n` in no simple way.
fn scrambled(n: u64, limit: u64) -> u64 {
    let mut x = n.wrapping_add(0x9E37_79B9_7F4A_7C15).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x ^= x >> 31;
    x = x.wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^= x >> 29;
    ((u128::from(x) * u128::from(limit)) >> 64) as u64
}

/// What a row's column holds.
fn value(source: u64, target: u64) -> f64 {
    (source * 3 + target) as f64
}

/// Sorts `count` edges between `count / 10` vertices, in one direction or in both.
fn sort(count: u64, with_column: bool, directions: u64, budget: &Budget, scratch: &Scratch) -> Outcome {
    let schema = Arc::new(Schema::new(vec![Field::new("value", DataType::Float64, false)]));
    let mut options = SortOptions::new(budget, scratch).memory(budget.limit() * 7 / 8 / directions);
    if with_column {
        options = options.payload(schema.clone());
    }
    let by_source = EdgeSorter::new(options.clone())?;
    let by_target = if directions == 2 { Some(EdgeSorter::new(options)?) } else { None };
    let (mut making, mut pushing) = (0.0, 0.0);
    for start in (0..count).step_by(BATCH as usize) {
        let clock = Instant::now();
        let rows = start..count.min(start + BATCH);
        let sources: Vec<u64> = rows.clone().map(|n| scrambled(2 * n, count / 10)).collect();
        let targets: Vec<u64> = rows.map(|n| scrambled(2 * n + 1, count / 10)).collect();
        let values = sources.iter().zip(&targets).map(|(source, target)| value(*source, *target));
        let columns = RecordBatch::try_new(schema.clone(), vec![Arc::new(Float64Array::from_iter_values(values))])?;
        let columns = with_column.then_some(&columns);
        making += clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        by_source.push(&sources, &targets, columns, start)?;
        if let Some(sorter) = &by_target {
            sorter.push(&targets, &sources, columns, start)?;
        }
        pushing += clock.elapsed().as_secs_f64();
    }
    let clock = Instant::now();
    let by_source = by_source.finish()?;
    let by_target = by_target.map(EdgeSorter::finish).transpose()?;
    let finishing = clock.elapsed().as_secs_f64();
    let clock = Instant::now();
    read(&by_source, with_column, value)?;
    if let Some(sorted) = &by_target {
        read(sorted, with_column, |aligned, other| value(other, aligned))?;
    }
    let reading = clock.elapsed().as_secs_f64();
    let rate = (count * directions) as f64 / 1e6 / (pushing + finishing + reading);
    println!("{count} edges, {directions} direction(s), column: {with_column}, spilled: {}", by_source.is_spilled());
    println!("making them       {making:8.3} s (not counted)");
    println!("push, spill       {pushing:8.3} s");
    println!("finish            {finishing:8.3} s");
    println!("read back, check  {reading:8.3} s");
    println!("                  {rate:8.1} M sorted rows/s");
    Ok(())
}

/// Reads on two threads, checks order and columns.
fn read(sorted: &SortedEdges, with_column: bool, value: impl Fn(u64, u64) -> f64 + Sync) -> Outcome {
    let mut bounds = vec![0];
    bounds.extend(sorted.splits(2, 1));
    bounds.push(u64::MAX);
    let part = |from: u64, to: u64| -> Outcome<u64> {
        let (mut rows, mut last) = (0, (0, 0));
        for batch in sorted.range(from..to)? {
            let batch = batch?;
            let (aligned, other) = (batch.aligned.values(), batch.other.values());
            for (aligned, other) in aligned.iter().zip(other.iter()) {
                if (*aligned, *other) < last {
                    return Err("not sorted".into());
                }
                last = (*aligned, *other);
            }
            if with_column {
                let values = batch.payload.column(0).as_primitive::<Float64Type>().values();
                let right = |at: usize| values[at] == value(aligned[at], other[at]);
                if !(0..values.len()).all(right) {
                    return Err("a column does not belong to its edge".into());
                }
            }
            rows += aligned.len() as u64;
        }
        Ok(rows)
    };
    let counts = std::thread::scope(|scope| {
        let threads: Vec<_> = bounds
            .windows(2)
            .map(|pair| scope.spawn(|| part(pair[0], pair[1]).map_err(|error| error.to_string())))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err("panic".into()))).collect::<Vec<_>>()
    });
    let rows = counts.into_iter().sum::<Result<u64, String>>()?;
    if rows == sorted.rows() { Ok(()) } else { Err(format!("{rows} rows of {}", sorted.rows()).into()) }
}
