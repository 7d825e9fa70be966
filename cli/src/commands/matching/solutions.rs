//! Solutions of several patterns that share variables.

use isomorph::Result;
use isomorph::formats::graphlake::Join;
use isomorph::model::faces::Object;
use isomorph::model::{ntriples, term};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Answer, Asking};
use crate::console::Console;
use crate::render::{Cell, Column, Table, of};

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    pattern: &'a str,
    variables: &'a [String],
    solutions: &'a [Map<String, Value>],
    /// How many more there are.
    more: u64,
}

/// Shows the solutions, or how many there are.
pub fn run(asking: &Asking<'_>, console: &Console) -> Result<Answer> {
    let (patterns, variables) = asking.query.joined();
    let join = Join::new(asking.lake, &patterns, variables)?;
    if asking.args.count {
        return asking.counted(join.count(asking.threads)?, "solution", console);
    }
    let limit = super::limit(asking.args);
    let names = &asking.query.variables;
    let columns: Vec<Option<usize>> = (0..names.len()).map(|variable| join.column(variable)).collect();
    let (mut found, mut more): (Vec<Vec<String>>, u64) = (Vec::new(), 0);
    join.each(asking.threads, &mut |batch| {
        let shown = (limit - found.len() as u64).min(batch.rows() as u64);
        more += batch.rows() as u64 - shown;
        for row in 0..shown as usize {
            let cell = |column: &Option<usize>| -> Result<String> {
                let column = column.and_then(|column| batch.columns().get(column));
                Ok(match column.and_then(|column| column.get(row)) {
                    Some(Object::Term(stored)) => {
                        let spelt = asking.lake.spelt(stored)?;
                        text(&Object::Term(spelt.as_deref().unwrap_or(stored)))
                    }
                    Some(literal) => text(&literal),
                    None => String::new(),
                })
            };
            found.push(columns.iter().map(cell).collect::<Result<_>>()?);
        }
        Ok(())
    })?;
    let total = found.len() as u64 + more;
    let mut screen = console.screen();
    screen.line("match", &format!("{}   {}", asking.text, of(total, "solution")));
    let mut columns = vec![Column::stage()];
    columns.extend((0..names.len()).map(|at| Column::text(u8::try_from(at).unwrap_or(u8::MAX))));
    let mut table = Table::new(columns);
    let head = names.iter().map(|name| Cell::from(format!("?{name}")));
    table.row(std::iter::once(Cell::from("")).chain(head));
    for row in &found {
        let cells = row.iter().map(|term| Cell::from(asking.prefixes.shorten(term)));
        table.row(std::iter::once(Cell::from("")).chain(cells));
    }
    screen.table(&table);
    if more > 0 {
        screen.line("", &format!("and {}; --limit {total} shows them", of(more, "more solution")));
    }
    console.show(&screen)?;
    let solutions: Vec<Map<String, Value>> =
        found.into_iter().map(|row| names.iter().cloned().zip(row.into_iter().map(Value::from)).collect()).collect();
    let path = &asking.args.path;
    console.document(&Document { path, pattern: asking.text, variables: names, solutions: &solutions, more })?;
    Ok(Answer::Yes)
}

/// A term as in N-Triples.
pub fn text(object: &Object<'_>) -> String {
    match object {
        Object::Term(text) => term::ntriples(text),
        literal => {
            let mut text = String::new();
            ntriples::push_object(&mut text, literal);
            text
        }
    }
}
