//! `cypher`: asks a graph in openCypher.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use isomorph::convert::Registry;
use isomorph::dataset::{Cancel, Ran};
use isomorph::error::Place;
use isomorph::storage::Resources;
use isomorph::{Error, Kind, Result};
use isomorph_cypher::{
    Options, PropertyGraph, Query, Rows, TableGraph, Value, explained, rows_as_columns, to_json, to_text, value_of_json,
};
use serde_json::{Map, Value as Json};

use super::Answer;
use super::session::Session;
use crate::answer::{AnswerFormat, AnswerWriter, Sink};
use crate::args::cypher::CypherArgs;
use crate::console::Console;
use crate::input;
use crate::interrupt::Interrupt;
use crate::progress::Bars;
use crate::render::{Cell, Column, Palette, Table};

/// How often a query looks for an interruption.
const PAUSE: Duration = Duration::from_millis(50);

/// Answers a query.
///
/// # Errors
/// Any error of the query, of reading, writing or printing.
pub fn run(args: &CypherArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    answer(args, formats, console, &mut Session::default())
}

/// The same in a session.
///
/// # Errors
/// As [`run`].
pub fn answer(args: &CypherArgs, formats: &Registry, console: &Console, session: &mut Session) -> Result<Answer> {
    // Until rows are written to a file, the system's signals end the program, but for those of a session.
    let interrupt = session.interrupt(|| Ok(Interrupt::default()))?;
    let others = std::iter::once(args.path.as_str());
    let text = input::query(args.query.as_deref(), args.file.as_deref(), others, &interrupt)?;
    let (text, explains) = args.explained.of(text, explained);
    let parameters = args.param.iter().map(|one| parameter(one)).collect::<Result<BTreeMap<_, _>>>()?;
    // A query that is wrong is refused before anything is opened.
    let query = Query::parse(&text, &parameters).map_err(|fault| fault.into_error(&text))?;
    let resources = session.resources(&args.resources)?;
    let opened = session.graph(&args.path, &args.open, formats, &resources, console)?;
    let dataset = opened.survey(&Bars::new(interrupt.clone()))?;
    let aside = Console { aside: true, ..*console };
    let mut notes = aside.screen();
    for text in query.names().unknown(dataset.source().graph()) {
        notes.line("note", &text);
    }
    aside.show(&notes)?;
    let cancel = Cancel::new();
    let graph = TableGraph::new(dataset, &resources.budget, cancel.clone())?.with_threads(resources.threads);
    let options =
        Options { parameters, timeout: args.timeout, cancel: cancel.clone(), ..Options::new(resources.budget.clone()) };
    if let Some(runs) = explains {
        let told = |fault: isomorph_cypher::Fault| fault.into_error(&text);
        let mut shown = query.explain(&graph, &options).map_err(told)?;
        if runs {
            let (started, before) = (Instant::now(), isomorph::storage::bytes_read());
            let count = || {
                let mut rows = query.run(&graph, &options).map_err(told)?;
                rows.try_fold(0, |count, row| row.map(|_| count + 1)).map_err(told)
            };
            let rows = interrupt.outcome(watched(&interrupt, &cancel, count))?;
            let bytes = isomorph::storage::bytes_read().saturating_sub(before);
            shown.ran = Some(Ran { rows, bytes, time: started.elapsed() });
        }
        return super::explained::show(&shown, console);
    }
    #[cfg(feature = "cluster")]
    if let Some(cluster) = super::elsewhere::cluster(&args.cluster, &args.open)? {
        use isomorph_cluster::{CypherQuestion, Place};
        let told = |fault: isomorph_cypher::Fault| fault.into_error(&text);
        let parts = query.is_divisible(&graph, &options).map_err(told)?.then(|| cluster.parts());
        let mut notes = aside.screen();
        notes.line("cluster", &crate::render::of(u64::from(parts.unwrap_or(1)), "part"));
        aside.show(&notes)?;
        let interrupt = session.interrupt(Interrupt::listen)?;
        let question = CypherQuestion::new(&text, &options, parts)?;
        let messages = cluster.cypher(question, Place::of_graph(&opened)?, interrupt.within(args.timeout))?;
        let graph = isomorph_cypher::AnswerGraph::new(&resources.budget)?;
        let rows = query.received(&graph, &options, parts.is_some(), Box::new(messages)).map_err(told)?;
        let asked = Asked { text: &text, query: &query, graph: &graph };
        return asked.deliver(rows, args, &interrupt, &cancel, &resources, console);
    }
    let rows = query.run(&graph, &options).map_err(|fault| fault.into_error(&text))?;
    let asked = Asked { text: &text, query: &query, graph: &graph };
    let interrupt = match &args.answer.output {
        None => interrupt,
        Some(_) => session.interrupt(Interrupt::listen)?,
    };
    asked.deliver(rows, args, &interrupt, &cancel, &resources, console)
}

/// Runs `work`, which is cancelled when the user interrupts the program.
fn watched<T>(interrupt: &Interrupt, cancel: &Cancel, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                if interrupt.check().is_err() {
                    cancel.cancel();
                    break;
                }
                std::thread::park_timeout(PAUSE);
            }
        });
        let outcome = work();
        done.store(true, Ordering::Relaxed);
        watcher.thread().unpark();
        outcome
    })
}

fn parameter(text: &str) -> Result<(String, Value)> {
    let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.is_empty()) else {
        return Err(Error::usage(format!("expected NAME=VALUE, found {text}")));
    };
    let too_large = || {
        let error = Error::usage(format!("{value} has a number that is no 64-bit integer or float"));
        error.at(Place::field(name)).hint(format!("--param '{name}=\"{value}\"'    as a text"))
    };
    let value = match serde_json::from_str::<Json>(value) {
        Ok(json) if exceeds(&json) => return Err(too_large()),
        Ok(json) => value_of_json(&json),
        Err(error) if error.to_string().starts_with("number out of range") => return Err(too_large()),
        Err(_) => Value::text(value),
    };
    Ok((name.trim_start_matches('$').to_owned(), value))
}

/// Whether an integer is beyond those of openCypher.
fn exceeds(json: &Json) -> bool {
    match json {
        Json::Number(number) => number.is_u64() && !number.is_i64(),
        Json::Array(items) => items.iter().any(exceeds),
        Json::Object(map) => map.values().any(exceeds),
        Json::Null | Json::Bool(_) | Json::String(_) => false,
    }
}

/// A running query.
struct Asked<'a> {
    text: &'a str,
    query: &'a Query,
    graph: &'a dyn PropertyGraph,
}

impl Asked<'_> {
    /// Writes the answer, and says what it is.
    fn deliver(
        &self,
        rows: Rows<'_, '_>,
        args: &CypherArgs,
        interrupt: &Interrupt,
        cancel: &Cancel,
        resources: &Resources,
        console: &Console,
    ) -> Result<Answer> {
        let format = args.answer.form(console.json)?;
        let out = Sink::open(&args.answer, format)?;
        let work = || self.answer(rows, format, out, resources, console);
        let (out, count) = interrupt.outcome(watched(interrupt, cancel, work))?;
        out.publish(&args.answer, count, Vec::new(), console)?;
        Ok(Answer::Yes)
    }

    /// Writes the answer, and returns the output, which is not published yet, and the number of rows.
    fn answer(
        &self,
        rows: Rows<'_, '_>,
        format: AnswerFormat,
        mut out: Sink,
        resources: &Resources,
        console: &Console,
    ) -> Result<(Sink, u64)> {
        let count = match format {
            AnswerFormat::Table => self.table(rows, &mut out, console)?,
            AnswerFormat::Csv | AnswerFormat::Json | AnswerFormat::Jsonl => self.write(rows, format, &mut out)?,
            AnswerFormat::Parquet | AnswerFormat::Arrow => {
                let (names, budget) = (self.query.columns(), &resources.budget);
                let batch = rows_as_columns(rows, names, self.text, self.graph, budget)?;
                let mut writer = AnswerWriter::new(&batch.schema(), format, out, None, Palette::Plain)?;
                writer.write(&batch)?;
                return writer.finish();
            }
        };
        Ok((out, count))
    }

    fn table(&self, rows: Rows<'_, '_>, out: &mut dyn Write, console: &Console) -> Result<u64> {
        let names = self.query.columns();
        let mut are_numbers = vec![true; names.len()];
        let mut cells: Vec<Vec<Cell>> = Vec::new();
        for row in rows {
            let row = row.map_err(|fault| fault.into_error(self.text))?;
            let mut texts = Vec::with_capacity(row.len());
            for (value, is_number) in row.iter().zip(&mut are_numbers) {
                *is_number &= matches!(value, Value::Int(_) | Value::Float(_) | Value::Null);
                texts.push(match value {
                    Value::Null => Cell::from("–"),
                    value => Cell::from(&to_text(value, self.graph).map_err(|fault| fault.into_error(self.text))?),
                });
            }
            cells.push(texts);
        }
        let count = cells.len() as u64;
        let columns = are_numbers.iter().enumerate().map(|(at, is_number)| match is_number {
            true if count > 0 => Column::number(),
            _ => Column::text(u8::try_from(at + 1).unwrap_or(u8::MAX)),
        });
        let mut table = Table::new(columns.collect::<Vec<_>>());
        table.row(names.iter().map(|name| Cell::from(name.as_str())));
        for row in cells {
            table.row(row);
        }
        let (palette, width) = Console { aside: false, ..*console }.screen().shape();
        for line in table.lines(width, palette) {
            writeln!(out, "{line}")?;
        }
        Ok(count)
    }

    /// Writes the rows one after another; returns their number.
    fn write(&self, rows: Rows<'_, '_>, form: AnswerFormat, out: &mut dyn Write) -> Result<u64> {
        let columns = self.query.columns();
        let mut count = 0_u64;
        match form {
            AnswerFormat::Csv => out.write_all(line(columns.iter().map(|name| Some(name.clone()))).as_bytes())?,
            AnswerFormat::Json => out.write_all(b"[")?,
            _ => {}
        }
        for row in rows {
            let row = row.map_err(|fault| fault.into_error(self.text))?;
            let mut values = Vec::with_capacity(row.len());
            for value in &row {
                values.push(to_json(value, self.graph).map_err(|fault| fault.into_error(self.text))?);
            }
            if form == AnswerFormat::Csv {
                let texts = row.iter().zip(&values).map(|(value, json)| match (value, json) {
                    (Value::Null, _) => Ok(None),
                    (
                        Value::List(_) | Value::Map(_) | Value::Node(_) | Value::Relationship(_) | Value::Path(_),
                        json,
                    ) => Ok(Some(json.to_string())),
                    _ => to_text(value, self.graph).map(Some),
                });
                let texts = texts.collect::<isomorph_cypher::Result<Vec<_>>>();
                let texts = texts.map_err(|fault| fault.into_error(self.text))?;
                out.write_all(line(texts.into_iter()).as_bytes())?;
            } else {
                let object: Map<String, Json> = columns.iter().cloned().zip(values).collect();
                let before: &[u8] = match (form, count) {
                    (AnswerFormat::Json, 0) => b"\n",
                    (AnswerFormat::Json, _) => b",\n",
                    _ => b"",
                };
                out.write_all(before)?;
                let text = serde_json::to_string(&object)
                    .map_err(|error| Error::new(Kind::Io, format!("a row cannot be written as JSON: {error}")))?;
                out.write_all(text.as_bytes())?;
                if form == AnswerFormat::Jsonl {
                    out.write_all(b"\n")?;
                }
            }
            count += 1;
        }
        if form == AnswerFormat::Json {
            out.write_all(if count > 0 { b"\n]\n" } else { b"]\n" })?;
        }
        Ok(count)
    }
}

/// A line of CSV: null is empty, the empty text is in quotes.
fn line(cells: impl Iterator<Item = Option<String>>) -> String {
    let quoted = |cell: Option<String>| match cell {
        None => String::new(),
        Some(text) if text.is_empty() || text.contains([',', '"', '\n', '\r']) => {
            format!("\"{}\"", text.replace('"', "\"\""))
        }
        Some(text) => text,
    };
    let mut text = cells.map(quoted).collect::<Vec<_>>().join(",");
    text.push('\n');
    text
}
