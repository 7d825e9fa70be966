//! `match`: finds triples by patterns in a graph of any format.

mod searched;
mod solutions;

use std::io::Write;

use isomorph::Result;
use isomorph::convert::Registry;
use isomorph::convert::matching::{Matches, Prefixes, QuadPattern, Query, Triple, Triples};
use isomorph::error::{Findings, RuleFindings};
use serde::Serialize;

use self::searched::Source;
use super::{Answer, without_remedy};
use crate::args::{MatchArgs, OpenArgs};
use crate::console::{Console, Output};
use crate::interrupt::Interrupt;
use crate::progress::Bars;
use crate::render::{Cell, Column, Table, bytes, of};

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    /// `None` if ids were given.
    pattern: Option<&'a str>,
    triples: &'a [Triple],
    /// Number of further results, if known.
    more: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<RuleFindings<'a>>,
}

/// With `--count`.
#[derive(Debug, Serialize)]
struct Count<'a> {
    path: &'a str,
    pattern: Option<&'a str>,
    count: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<RuleFindings<'a>>,
}

/// With `--estimate`.
#[derive(Debug, Serialize)]
struct Plan<'a> {
    path: &'a str,
    pattern: &'a str,
    steps: Vec<Step>,
    /// What must be read before the order and the numbers are known, in bytes; `None` if nothing.
    pass_bytes: Option<u64>,
}

/// A pattern, in the order in which the patterns would be evaluated.
#[derive(Debug, Serialize)]
struct Step {
    /// Index of the pattern, from 0.
    pattern: usize,
    /// Whether the rows are per row of the previous patterns.
    per_row: bool,
    rows: Option<f64>,
    low: u64,
    high: Option<u64>,
}

/// The request: what to find, and where.
struct Asking<'a> {
    args: &'a MatchArgs,
    matches: &'a Matches<'a>,
    text: &'a str,
    prefixes: &'a Prefixes,
    source: &'a Source,
}

/// Prints what matches the patterns.
///
/// # Errors
/// Any error of reading, writing or printing.
pub fn run(args: &MatchArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    let resources = args.resources.resources()?;
    // Namespaces apply to the patterns for every format, so they are not checked as flags of a format; the base applies
    // to generated IRIs.
    let open = OpenArgs { namespaces: Vec::new(), base_of_result: true, ..args.open.clone() };
    let (location, options) = open.place(&args.path, formats, &resources)?;
    let namespaces = args.open.namespaces.iter().cloned().collect();
    let prefixes = Prefixes::new(&namespaces);
    let query = match args.id.as_slice() {
        [] => Query::parse(&args.pattern, args.graph.as_deref(), &prefixes)?,
        _ => Query::default(),
    };
    if args.nquads && query.patterns.len() > 1 {
        return Err(isomorph::Error::usage("solutions of several patterns cannot be printed as quads").hint("--json"));
    }
    let source = Source::open(args, &location, &options, &query, &resources, console)?;
    // A temporary copy is to be removed. A store has none, so that the system's signals may end the command.
    let bars = Bars::new(if source.is_store() { Interrupt::default() } else { Interrupt::listen()? });
    let text = if query.patterns.len() == 1 { args.pattern.join(" ") } else { args.pattern.join(" . ") };
    let searched = source.searched(args.open.base.as_deref(), &resources, &bars);
    let matches = Matches::new(searched, query, &resources, &bars).with_ids(args.ids);
    let asking = Asking { args, matches: &matches, text: &text, prefixes: &prefixes, source: &source };
    match matches.query().patterns.as_slice() {
        [] => asking.by_id(console),
        _ if args.estimate => asking.plan(console),
        [_] if args.nquads => asking.lines(console),
        [_] if args.count => asking.counted("triple", console),
        [_] => {
            let found = matches.triples(limit(args)).map_err(without_remedy)?;
            shown(args, Some(&text), &prefixes, &found, &source.findings(console), console)
        }
        _ if args.count => asking.counted("solution", console),
        _ => solutions::run(&asking, console),
    }
}

impl Asking<'_> {
    fn by_id(&self, console: &Console) -> Result<Answer> {
        let (mut triples, lines) = self.matches.by_ids(&self.args.id).map_err(without_remedy)?;
        let findings = self.source.findings(console);
        let count = triples.len() as u64;
        if self.args.count {
            return counted(self.args, None, count, "triple", &findings, console);
        }
        if self.args.nquads {
            let limit = self.args.limit.map_or(usize::MAX, |limit| usize::try_from(limit.get()).unwrap_or(usize::MAX));
            let mut lines = lines.split_inclusive('\n').take(limit);
            console.write(|out| lines.try_for_each(|line| out.write_all(line.as_bytes())))?;
            return Ok(Answer::Yes);
        }
        triples.truncate(usize::try_from(limit(self.args)).unwrap_or(usize::MAX));
        let more = Some(count - triples.len() as u64);
        shown(self.args, None, self.prefixes, &Triples { triples, more }, &findings, console)
    }

    fn lines(&self, console: &Console) -> Result<Answer> {
        let limit = self.args.limit.map(|limit| limit.get());
        self.matches.lines(limit, &mut Output::new()).map_err(without_remedy)?;
        self.source.findings(console);
        Ok(Answer::Yes)
    }

    fn counted(&self, what: &str, console: &Console) -> Result<Answer> {
        let count = self.matches.count().map_err(without_remedy)?;
        counted(self.args, Some(self.text), count, what, &self.source.findings(console), console)
    }

    /// Prints the order in which the patterns would be evaluated, and the estimates, without reading any triple.
    fn plan(&self, console: &Console) -> Result<Answer> {
        let plan = self.matches.plan()?;
        let pass_bytes = self.source.pass_bytes();
        let mut screen = console.screen();
        let mut table = Table::new([Column::stage(), Column::text(1), Column::number(), Column::text(0)]);
        let mut steps = Vec::new();
        for (at, step) in plan.iter().enumerate() {
            let estimate = step.estimate;
            let text = self.matches.query().patterns.get(step.pattern).map(QuadPattern::text).unwrap_or_default();
            let mut bounds = match estimate {
                None => "unknown before the pass".to_owned(),
                Some(estimate) if estimate.is_exact() => "exactly".to_owned(),
                Some(estimate) => format!("{} to {}", estimate.low, estimate.high),
            };
            if step.per_row {
                bounds.push_str(" per row of the patterns above");
            }
            let rows = estimate.map(|estimate| format!("{:.0}", estimate.rows.ceil())).unwrap_or_default();
            let word = match at {
                0 => "match",
                _ if estimate.is_some() => "then",
                _ => "and",
            };
            table.row([word, text, rows.as_str(), bounds.as_str()].map(Cell::from));
            steps.push(Step {
                pattern: step.pattern,
                per_row: step.per_row,
                rows: estimate.map(|estimate| estimate.rows),
                low: estimate.map_or(0, |estimate| estimate.low),
                high: estimate.map(|estimate| estimate.high),
            });
        }
        screen.table(&table);
        if let Some(pass) = pass_bytes {
            let copied = if plan.len() > 1 { ", and a sorted temporary copy of the triples that fit" } else { "" };
            screen.line("reads", &format!("all of {}{copied}", bytes(pass)));
        }
        console.show(&screen)?;
        console.document(&Plan { path: &self.args.path, pattern: self.text, steps, pass_bytes })?;
        Ok(Answer::Yes)
    }
}

/// Returns the limit; the default depends on the output.
fn limit(args: &MatchArgs) -> u64 {
    args.limit.map_or(100, |limit| limit.get())
}

/// Returns the number of results, as far as it is known, and how to see more; `counts` tells whether the command has
/// `--count`.
pub fn extent(shown: u64, more: Option<u64>, what: &str, counts: bool) -> (String, Option<String>) {
    match more {
        Some(0) => (of(shown, what), None),
        Some(more) => {
            let total = shown + more;
            let rest = of(more, &format!("more {what}"));
            (of(total, what), Some(format!("and {rest}; --limit {total} shows them")))
        }
        None => (
            format!("the first {}", of(shown, what)),
            Some(format!(
                "there may be more: {}--limit {} shows more",
                if counts { "--count counts them, " } else { "" },
                shown.saturating_mul(10)
            )),
        ),
    }
}

/// Prints triples, and the number of further ones.
fn shown(
    args: &MatchArgs,
    pattern: Option<&str>,
    prefixes: &Prefixes,
    found: &Triples,
    findings: &Findings,
    console: &Console,
) -> Result<Answer> {
    let (triples, more) = (&found.triples, found.more);
    let (count, rest) = extent(triples.len() as u64, more, "triple", true);
    let mut screen = console.screen();
    screen.line("match", &format!("{}   {count}", title(args, pattern)));
    let mut columns = vec![Column::stage(), Column::text(1), Column::text(2), Column::text(3), Column::text(0)];
    columns.extend(args.ids.then(|| Column::text(0)));
    let mut table = Table::new(columns);
    for triple in triples {
        let short = |term: &str| prefixes.shorten(term);
        let graph = match triple.only_quoted {
            true => "only quoted".to_owned(),
            false => triple.graph.as_deref().map(short).unwrap_or_default(),
        };
        let mut cells =
            vec![String::new(), short(&triple.subject), short(&triple.predicate), short(&triple.object), graph];
        cells.extend(triple.id.clone().filter(|_| args.ids));
        table.row(cells.iter().map(Cell::from));
    }
    screen.table(&table);
    if let Some(rest) = rest {
        screen.line("", &rest);
    }
    console.show(&screen)?;
    let findings = findings.documents();
    console.document(&Document { path: &args.path, pattern, triples, more, findings })?;
    Ok(Answer::Yes)
}

/// Returns the title: patterns, or ids.
fn title(args: &MatchArgs, pattern: Option<&str>) -> String {
    match pattern {
        Some(text) => text.to_owned(),
        None => args.id.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
    }
}

fn counted(
    args: &MatchArgs,
    pattern: Option<&str>,
    count: u64,
    what: &str,
    findings: &Findings,
    console: &Console,
) -> Result<Answer> {
    let mut screen = console.screen();
    screen.line("match", &format!("{}   {}", title(args, pattern), of(count, what)));
    console.show(&screen)?;
    let findings = findings.documents();
    console.document(&Count { path: &args.path, pattern, count, findings })?;
    Ok(Answer::Yes)
}
