//! Graphs, and answers as text.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use isomorph::storage::Resources;
use isomorph::{Error, Result};
use isomorph_query::{Engine, Parameters};

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The example graph.
pub fn social() -> String {
    root().join("examples/social").display().to_string()
}

/// Two threads, and enough memory.
pub fn resources() -> Resources {
    Resources { threads: 2, ..Resources::of_this_machine().unwrap() }
}

/// An engine with one graph.
pub fn engine_of(place: &str) -> Engine {
    let mut engine = Engine::new(resources()).unwrap();
    engine.add_graph("graph", Arc::new(isomorph::open(place).unwrap())).unwrap();
    engine
}

/// The rows of an answer as text.
pub fn rows(engine: &Engine, question: &str) -> Result<Vec<String>> {
    with(engine, question, &Parameters::new())
}

pub fn with(engine: &Engine, question: &str, parameters: &Parameters) -> Result<Vec<String>> {
    let batches: Vec<RecordBatch> = engine.query(question, parameters)?.collect::<Result<_>>()?;
    Ok(texts(&batches))
}

/// The same, in an order that does not depend on that of the rows.
pub fn sorted(engine: &Engine, question: &str) -> Result<Vec<String>> {
    let mut rows = rows(engine, question)?;
    rows.sort();
    Ok(rows)
}

/// The plan of a question.
pub fn plan(engine: &Engine, question: &str) -> String {
    let explained = engine.explain(question, &Parameters::new(), false, &mut || Ok(())).unwrap();
    explained.plans.into_iter().map(|(_, text)| text).collect()
}

/// The error of a question.
#[track_caller]
pub fn error(engine: &Engine, question: &str) -> Error {
    match rows(engine, question) {
        Ok(rows) => panic!("{question}: {rows:?}"),
        Err(error) => error,
    }
}

/// Rows as text; floats with all their digits.
pub fn texts(batches: &[RecordBatch]) -> Vec<String> {
    let options = FormatOptions::default().with_null("null");
    let mut rows = Vec::new();
    for batch in batches {
        let columns: Vec<ArrayFormatter<'_>> =
            batch.columns().iter().map(|column| ArrayFormatter::try_new(column.as_ref(), &options).unwrap()).collect();
        for row in 0..batch.num_rows() {
            let mut text = String::new();
            for (at, column) in columns.iter().enumerate() {
                write!(text, "{}{}", if at == 0 { "" } else { "|" }, column.value(row)).unwrap();
            }
            rows.push(text);
        }
    }
    rows
}
