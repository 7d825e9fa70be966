//! The screen of an explained query, the same in SQL, openCypher and SPARQL.

use std::io::Write;

use isomorph::Result;
use isomorph::dataset::Explanation;
use serde::Serialize;

use super::Answer;
use crate::console::Console;
use crate::render::{Cell, Column, Table, bytes, duration, of};

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'e> {
    plans: Vec<DocumentPlan<'e>>,
    reads: Vec<DocumentRead<'e>>,
    predicted_bytes: Option<u64>,
    at_most: bool,
    ran: Option<DocumentRun>,
}

#[derive(Debug, Serialize)]
struct DocumentPlan<'e> {
    name: &'e str,
    text: &'e str,
}

#[derive(Debug, Serialize)]
struct DocumentRead<'e> {
    table: &'e str,
    columns: &'e [String],
    way: &'e str,
    predicted_bytes: Option<u64>,
    at_most: bool,
}

#[derive(Debug, Serialize)]
struct DocumentRun {
    rows: u64,
    bytes: u64,
    seconds: f64,
}

/// Prints plans as they are indented, what is read, and what was.
///
/// # Errors
/// If standard output cannot be written.
pub fn show(explained: &Explanation, console: &Console) -> Result<Answer> {
    let (sum, is_most) = explained.predicted();
    if console.json {
        let plans = explained.plans.iter().map(|(name, text)| DocumentPlan { name, text });
        let reads = explained.reads.iter().map(|read| DocumentRead {
            table: &read.table,
            columns: &read.columns,
            way: &read.way,
            predicted_bytes: read.bytes,
            at_most: read.is_most,
        });
        let ran =
            explained.ran.map(|ran| DocumentRun { rows: ran.rows, bytes: ran.bytes, seconds: ran.time.as_secs_f64() });
        let document =
            Document { plans: plans.collect(), reads: reads.collect(), predicted_bytes: sum, at_most: is_most, ran };
        console.document(&document)?;
        return Ok(Answer::Yes);
    }
    let mut screen = console.screen();
    if !explained.reads.is_empty() {
        let mut table = Table::new([Column::text(3), Column::text(1), Column::text(2), Column::number()]);
        table.row(["reads", "columns", "by", "predicted"].map(Cell::from));
        for read in &explained.reads {
            let columns = read.columns.join(", ");
            let predicted = predicted(read.bytes, read.is_most);
            table.row([read.table.as_str(), &columns, &read.way, &predicted].map(Cell::from));
        }
        screen.table(&table);
        screen.line("predicted", &predicted(sum, is_most));
    }
    if let Some(ran) = explained.ran {
        let (read, rows, time) = (bytes(ran.bytes), of(ran.rows, "row"), duration(ran.time.as_secs_f64()));
        screen.line("read", &format!("{read} · {rows} in {time}"));
    }
    console.write(|out| {
        for (name, text) in &explained.plans {
            writeln!(out, "{name}")?;
            text.trim_end().lines().try_for_each(|line| writeln!(out, "  {line}"))?;
        }
        out.write_all(screen.as_str().as_bytes())
    })?;
    Ok(Answer::Yes)
}

fn predicted(number: Option<u64>, is_most: bool) -> String {
    match number {
        None => "unknown".to_owned(),
        Some(number) if is_most => format!("at most {}", bytes(number)),
        Some(number) => bytes(number),
    }
}
