//! `cypher`: asks a graph in openCypher.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use isomorph::convert::{Registry, Silent, TypedOptions};
use isomorph::dataset::{Cancel, Dataset};
use isomorph::storage::{Mode, Staging};
use isomorph::{Error, Kind, Result};
use isomorph_cypher::{Options, PropertyGraph, Query, Rows, TableGraph, Value, to_json, to_text, value_of_json};
use serde_json::{Map, Value as Json};

use super::{Answer, open_at};
use crate::args::cypher::{CypherArgs, Form};
use crate::args::file_place;
use crate::console::{Console, Output};
use crate::interrupt::Interrupt;
use crate::render::{Cell, Column, Table, of};

/// How often a query that writes a file looks for an interruption.
const PAUSE: Duration = Duration::from_millis(50);

/// The longest query that is read, bytes; the parser refuses more than 256 KiB.
const LONGEST: u64 = 1 << 20;

/// Answers a query.
///
/// # Errors
/// Any error of the query, of reading, writing or printing.
pub fn run(args: &CypherArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    let text = text(args)?;
    let parameters = args.param.iter().map(|one| parameter(one)).collect::<Result<BTreeMap<_, _>>>()?;
    // A query that is wrong is refused before anything is opened.
    let query = Query::parse(&text, &parameters).map_err(|fault| fault.into_error(&text))?;
    let resources = args.resources.resources()?;
    let (location, options) = args.open.place(&args.path, formats, &resources)?;
    let opened = open_at(&location, &options, console)?;
    console.warn(&opened.cautions()?);
    let source = opened.typed(&TypedOptions::default(), &resources, &Silent)?;
    let dataset = Dataset::new(source, resources.clone());
    let aside = Console { aside: true, ..*console };
    let mut notes = aside.screen();
    for text in query.names().unknown(dataset.source().graph()) {
        notes.line("note", &text);
    }
    aside.show(&notes)?;
    let cancel = Cancel::new();
    let graph = TableGraph::new(&dataset, &resources.budget, cancel.clone())?;
    let options =
        Options { parameters, timeout: args.timeout, cancel: cancel.clone(), ..Options::new(resources.budget.clone()) };
    let rows = query.run(&graph, &options).map_err(|fault| fault.into_error(&text))?;
    let asked = Asked { text: &text, query: &query, graph: &graph };
    let form = form(args, console);
    match &args.output {
        None if form == Form::Table => asked.table(rows, console)?,
        None => {
            let mut out = Output::new();
            asked.write(rows, form, &mut out)?;
            out.flush()?;
        }
        Some(_) if form == Form::Table => {
            return Err(Error::usage("a table is for people, not for files").hint("--format csv|json|jsonl"));
        }
        Some(file) => {
            let location = file_place(file)?;
            let interrupt = Interrupt::listen()?;
            let staging = Staging::file(&location, if args.replace { Mode::Replace } else { Mode::CreateNew })?;
            let mut out = staging.create("")?;
            let count = interrupt.outcome(watched(&interrupt, &cancel, || asked.write(rows, form, &mut out)))?;
            out.finish()?;
            staging.commit(&[])?;
            let mut screen = console.screen();
            screen.line("wrote", &format!("{file} ({})", of(count, "row")));
            console.show(&screen)?;
            console.document(&serde_json::json!({ "wrote": file, "rows": count }))?;
        }
    }
    Ok(Answer::Yes)
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

/// The text of the query.
fn text(args: &CypherArgs) -> Result<String> {
    let mut text = String::new();
    match (&args.query, &args.file) {
        (Some(query), _) if query != "-" => return Ok(query.clone()),
        (_, Some(file)) if file != "-" => {
            let opened = std::fs::File::open(file).map_err(|error| Error::from(error).at(file.as_str()))?;
            opened.take(LONGEST).read_to_string(&mut text).map_err(|error| Error::from(error).at(file.as_str()))?;
        }
        _ if args.path == "-" => return Err(Error::usage("the graph and the query cannot both be standard input")),
        _ => {
            std::io::stdin().lock().take(LONGEST).read_to_string(&mut text)?;
        }
    }
    Ok(text)
}

fn parameter(text: &str) -> Result<(String, Value)> {
    let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.is_empty()) else {
        return Err(Error::usage(format!("expected NAME=VALUE, found {text}")));
    };
    let json: Option<Json> = serde_json::from_str(value).ok();
    let value = json.map_or_else(|| Value::text(value), |json| value_of_json(&json));
    Ok((name.trim_start_matches('$').to_owned(), value))
}

/// The form of the answer: the one that is asked for, else what the name of the output says.
fn form(args: &CypherArgs, console: &Console) -> Form {
    let ending = |name: &String| name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let of_name = || match args.output.as_ref().and_then(ending).as_deref() {
        Some("csv") => Some(Form::Csv),
        Some("json") => Some(Form::Json),
        Some("jsonl" | "ndjson") => Some(Form::Jsonl),
        _ => None,
    };
    args.format.or_else(of_name).unwrap_or(if console.json { Form::Json } else { Form::Table })
}

/// A running query.
struct Asked<'a> {
    text: &'a str,
    query: &'a Query,
    graph: &'a dyn PropertyGraph,
}

impl Asked<'_> {
    fn table(&self, rows: Rows<'_, '_>, console: &Console) -> Result<()> {
        let columns = self.query.columns();
        let all = columns.iter().map(|_| Column::text(1));
        let mut table = Table::new(std::iter::once(Column::stage()).chain(all).collect::<Vec<_>>());
        table.row(std::iter::once(Cell::from("")).chain(columns.iter().map(|name| Cell::from(name.as_str()))));
        let mut count = 0_u64;
        for row in rows {
            let row = row.map_err(|fault| fault.into_error(self.text))?;
            let mut cells = vec![Cell::from("")];
            for value in &row {
                let text = to_text(value, self.graph).map_err(|fault| fault.into_error(self.text))?;
                cells.push(Cell::from(&text));
            }
            table.row(cells);
            count += 1;
        }
        let mut screen = console.screen();
        screen.line("cypher", &of(count, "row"));
        screen.table(&table);
        console.show(&screen)
    }

    /// Writes the rows one after another; returns their number.
    fn write(&self, rows: Rows<'_, '_>, form: Form, out: &mut dyn Write) -> Result<u64> {
        let columns = self.query.columns();
        let mut count = 0_u64;
        match form {
            Form::Csv => out.write_all(line(columns.iter().map(|name| Some(name.clone()))).as_bytes())?,
            Form::Json => out.write_all(b"[")?,
            Form::Jsonl | Form::Table => {}
        }
        for row in rows {
            let row = row.map_err(|fault| fault.into_error(self.text))?;
            let mut values = Vec::with_capacity(row.len());
            for value in &row {
                values.push(to_json(value, self.graph).map_err(|fault| fault.into_error(self.text))?);
            }
            if form == Form::Csv {
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
                    (Form::Json, 0) => b"\n",
                    (Form::Json, _) => b",\n",
                    _ => b"",
                };
                out.write_all(before)?;
                let text = serde_json::to_string(&object)
                    .map_err(|error| Error::new(Kind::Io, format!("a row cannot be written as JSON: {error}")))?;
                out.write_all(text.as_bytes())?;
                if form == Form::Jsonl {
                    out.write_all(b"\n")?;
                }
            }
            count += 1;
        }
        if form == Form::Json {
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
