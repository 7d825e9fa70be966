//! `explain`: a rule, and what to do if it is broken.

use isomorph::convert::Registry;
use isomorph::error::{Rule, Severity};
use isomorph::{Error, Result};
use serde::Serialize;

use super::Answer;
use crate::args::ExplainArgs;
use crate::console::Console;
use crate::render::{Cell, Column, Table};
use crate::{report, rules};

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct RuleDocument {
    id: &'static str,
    about: &'static str,
    severity: Severity,
    says: &'static str,
    remedy: Option<&'static str>,
}

/// Explains one rule, or lists several.
///
/// # Errors
/// Any error of reading, writing or printing.
pub fn run(args: &ExplainArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    let wanted = args.id.as_deref().unwrap_or_default().to_ascii_uppercase();
    let all = rules::all(formats).into_iter().flat_map(|(about, rules)| rules.iter().map(move |rule| (about, *rule)));
    let mut found: Vec<(&'static str, &'static Rule)> = all.filter(|(_, rule)| rule.id.starts_with(&wanted)).collect();
    if let Some(exact) = found.iter().find(|(_, rule)| rule.id == wanted).copied() {
        found = vec![exact];
    }
    if found.is_empty() {
        return Err(Error::usage(format!("there is no rule {wanted}")).hint("isomorph explain    lists all rules"));
    }
    let mut screen = console.screen();
    match found.as_slice() {
        [(about, rule)] => {
            let severity = report::word(rule.severity);
            screen.marked(severity, report::mark(rule.severity), &format!("{} · {about}", rule.id));
            screen.whole("rule", None, rule.says);
            if !rule.remedy.is_empty() {
                screen.whole("try", None, rule.remedy);
            }
        }
        several => {
            let mut table = Table::new([Column::stage(), Column::text(0), Column::text(1)]);
            for (_, rule) in several {
                let severity = report::word(rule.severity);
                let severity =
                    report::mark(rule.severity).map_or(Cell::from(severity), |mark| Cell::marked(severity, mark));
                table.row([severity, Cell::from(rule.id), Cell::from(rule.says)]);
            }
            screen.table(&table);
        }
    }
    console.show(&screen)?;
    let documents = found.into_iter().map(|(about, rule)| RuleDocument {
        id: rule.id,
        about,
        severity: rule.severity,
        says: rule.says,
        remedy: Some(rule.remedy).filter(|remedy| !remedy.is_empty()),
    });
    console.document(&documents.collect::<Vec<_>>())?;
    Ok(Answer::Yes)
}
