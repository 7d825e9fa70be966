//! Solutions of several patterns with common variables.

use isomorph::Result;
use isomorph::convert::matching::Solutions;
use isomorph::error::RuleFindings;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Answer, Asking, without_remedy};
use crate::console::Console;
use crate::render::{Cell, Column, Table};

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    pattern: &'a str,
    variables: &'a [String],
    solutions: &'a [Map<String, Value>],
    /// For each solution, the id of the triple that each pattern matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    ids: Option<Vec<Vec<String>>>,
    /// 0 if there are no more; `None` if the search ended at the limit.
    more: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<RuleFindings<'a>>,
}

/// Prints the first solutions.
///
/// # Errors
/// Returns an error if the graph cannot be read, or standard output cannot be written.
pub fn run(asking: &Asking<'_>, console: &Console) -> Result<Answer> {
    let Solutions { variables: names, rows: found, ids, all } =
        asking.matches.solutions(super::limit(asking.args)).map_err(without_remedy)?;
    let findings = asking.source.findings(console);
    let more = Some(0).filter(|_| all);
    let (count, rest) = super::extent(found.len() as u64, more, "solution", true);
    let mut screen = console.screen();
    screen.line("match", &format!("{}   {count}", asking.text));
    let shown_ids = if asking.args.ids { asking.matches.query().patterns.len() } else { 0 };
    let mut columns = vec![Column::stage()];
    columns.extend((0..names.len() + shown_ids).map(|at| Column::text(u8::try_from(at).unwrap_or(u8::MAX))));
    let mut table = Table::new(columns);
    let head = names.iter().map(|name| Cell::from(format!("?{name}")));
    let ids_head = (1..=shown_ids).map(|number| Cell::from(format!("id {number}")));
    table.row(std::iter::once(Cell::from("")).chain(head).chain(ids_head));
    for (at, row) in found.iter().enumerate() {
        let cells = row.iter().map(|term| Cell::from(asking.prefixes.shorten(term)));
        let own = ids.get(at).into_iter().flatten().map(Cell::from);
        table.row(std::iter::once(Cell::from("")).chain(cells).chain(own));
    }
    screen.table(&table);
    if let Some(rest) = rest {
        screen.line("", &rest);
    }
    console.show(&screen)?;
    let solutions: Vec<Map<String, Value>> =
        found.into_iter().map(|row| names.iter().cloned().zip(row.into_iter().map(Value::from)).collect()).collect();
    let path = &asking.args.path;
    let ids = asking.args.ids.then_some(ids);
    let (pattern, findings) = (asking.text, findings.documents());
    console.document(&Document { path, pattern, variables: &names, solutions: &solutions, ids, more, findings })?;
    Ok(Answer::Yes)
}
