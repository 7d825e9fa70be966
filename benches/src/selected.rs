//! A scan of some columns with a condition, compared with a scan of the whole table.

use isomorph_convert::{OpenOptions, Opened};
use isomorph_dataset::{Dataset, Scan, parse_predicate};
use isomorph_error::Result;
use isomorph_storage::{Location, Resources};
use serde_json::{Value, json};

use crate::measure::Measured;

/// Scans `columns` of a table, separated by commas, with `condition`, alternating with the whole table, one batch after
/// another on one thread. Returns both times and numbers of rows.
pub(crate) fn selected(path: &str, table: &str, columns: &str, condition: &str, runs: usize) -> Result<Value> {
    let opened = Opened::open(&Location::parse(path)?, &OpenOptions::default())?;
    let dataset = Dataset::new(opened.graph, Resources::of_this_machine()?);
    let condition = parse_predicate(condition)?;
    let (mut some, mut whole) = (Measured::new(), Measured::new());
    for _ in 0..runs.max(1) {
        some.run(|| rows(&dataset.scan(table)?.columns(columns.split(',')).filter(condition.clone())))?;
        whole.run(|| rows(&dataset.scan(table)?))?;
    }
    let side = |mut measured: Measured<u64>| -> Result<Value> {
        let (seconds, processor) = (measured.seconds(), measured.processor());
        Ok(json!({ "seconds": seconds, "processor": processor, "rows": measured.answer()? }))
    };
    Ok(json!({ "selected": side(some)?, "whole": side(whole)? }))
}

fn rows(scan: &Scan<'_>) -> Result<u64> {
    scan.batches()?.map(|batch| Ok(batch?.num_rows() as u64)).sum()
}
