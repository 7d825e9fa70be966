//! The edge sort.

use std::sync::Arc;
use std::time::Instant;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Float64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use isomorph_storage::{Budget, Scratch};
use isomorph_tables::sort::{EdgeSorter, SortOptions, SortedEdges};

use super::{BATCH, Outcome, scrambled};

/// The content of a row's column.
fn value(source: u64, target: u64) -> f64 {
    (source * 3 + target) as f64
}

/// Sorts `count` edges between `count / 10` vertices, in one direction or in both.
pub fn sort(count: u64, with_column: bool, directions: u64, budget: &Budget, scratch: &Scratch) -> Outcome {
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
