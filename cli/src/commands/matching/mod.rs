//! `match`: finds triples by patterns in the files of a GraphLake store, or by one pattern in an RDF text.

mod solutions;
mod text;

use std::io::Write;

use isomorph::convert::matching::{LakeMatches, Prefixes, QuadPattern, Query, Triple, Triples};
use isomorph::convert::{Format, Registry, sound};
use isomorph::error::{Findings, RuleFindings};
use isomorph::formats::graphlake::{self, GraphLake};
use isomorph::formats::rdf;
use isomorph::model::Source;
use isomorph::{Error, Result};
use serde::Serialize;

use super::Answer;
use crate::args::{MatchArgs, OpenArgs};
use crate::console::{Console, Output};
use crate::render::{Cell, Column, Table, of};

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
}

/// A pattern, in the order in which the patterns would be evaluated.
#[derive(Debug, Serialize)]
struct Step {
    /// Index of the pattern, from 0.
    pattern: usize,
    /// Whether the rows are per row of the previous patterns.
    per_row: bool,
    rows: f64,
    low: u64,
    high: u64,
}

/// The request: what to find, and where.
struct Asking<'a> {
    args: &'a MatchArgs,
    matches: &'a LakeMatches<'a>,
    text: &'a str,
    prefixes: &'a Prefixes,
    findings: &'a Findings,
}

/// Prints what matches the patterns.
///
/// # Errors
/// Any error of reading, writing or printing.
pub fn run(args: &MatchArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    let resources = args.resources.resources()?;
    // Namespaces apply to the patterns for every format, so they are not checked as flags of a format.
    let open = OpenArgs { namespaces: Vec::new(), ..args.open.clone() };
    let (location, options) = open.place(&args.path, formats, &resources)?;
    let namespaces = args.open.namespaces.iter().cloned().collect();
    let prefixes = Prefixes::new(&namespaces);
    let query = match args.id.as_slice() {
        [] => Query::parse(&args.pattern, args.graph.as_deref(), &prefixes)?,
        _ => Query::default(),
    };
    if let Some(other) = args.open.from.filter(|from| ![Format::GRAPHLAKE, Format::RDF].contains(from)) {
        return Err(Error::usage(format!("match supports graphlake and rdf, not {}", other.id())));
    }
    let is_lake = options.from == Some(Format::GRAPHLAKE);
    if !is_lake {
        let elsewhere = |what: &str| {
            Err(Error::unsupported(what.to_owned())
                .at(location.to_string())
                .hint(format!("isomorph convert {} NAME.lake, then isomorph match NAME.lake", args.path)))
        };
        // What flags state need not be recognised.
        let is_rdf = options.from == Some(Format::RDF);
        return match query.patterns.as_slice() {
            _ if !is_rdf && !rdf::detect(&location)? => elsewhere("match supports only GraphLake stores and RDF texts"),
            [] => elsewhere("--id requires a GraphLake store"),
            _ if args.ids => elsewhere("--ids requires a GraphLake store"),
            [asked] if !args.estimate => {
                let mut options = options.get::<rdf::OpenOptions>().into_owned();
                options.read.budget = resources.budget.clone();
                (options.scratch, options.threads) = (Some(resources.scratch.clone()), resources.threads);
                text::run(args, &location, &options, asked, &prefixes, console)
            }
            _ => elsewhere("an RDF text supports a single pattern; joins and estimates require a store"),
        };
    }
    // A look-up does not need what a description needs.
    let options = graphlake::OpenOptions {
        survey_up_to: 0,
        namespaces,
        budget: resources.budget.clone(),
        threads: resources.threads,
        ..options.get::<graphlake::OpenOptions>().into_owned()
    };
    let lake = GraphLake::open(&location, &options)?;
    let findings = lake.about().findings;
    if !args.open.lenient {
        sound(&findings)?;
    }
    console.warn(&findings);
    let text = if query.patterns.len() == 1 { args.pattern.join(" ") } else { args.pattern.join(" . ") };
    let matches = LakeMatches::new(&lake, query, resources.threads)?.with_ids(args.ids);
    let asking = Asking { args, matches: &matches, text: &text, prefixes: &prefixes, findings: &findings };
    match matches.query().patterns.as_slice() {
        [] => asking.by_id(console),
        _ if args.estimate => asking.plan(console),
        [_] if args.nquads => {
            matches.lines(args.limit.map(|limit| limit.get()), &mut Output::new()).map(|()| Answer::Yes)
        }
        [_] if args.count => asking.counted("triple", console),
        [_] => shown(args, Some(&text), &prefixes, &matches.triples(limit(args))?, &findings, console),
        _ if args.nquads => {
            Err(Error::usage("solutions of several patterns cannot be printed as quads").hint("--json"))
        }
        _ if args.count => asking.counted("solution", console),
        _ => solutions::run(&asking, console),
    }
}

impl Asking<'_> {
    fn by_id(&self, console: &Console) -> Result<Answer> {
        let (mut triples, lines) = self.matches.by_ids(&self.args.id)?;
        let count = triples.len() as u64;
        if self.args.count {
            return counted(self.args, None, count, "triple", self.findings, console);
        }
        if self.args.nquads {
            let limit = self.args.limit.map_or(usize::MAX, |limit| usize::try_from(limit.get()).unwrap_or(usize::MAX));
            let mut lines = lines.split_inclusive('\n').take(limit);
            console.write(|out| lines.try_for_each(|line| out.write_all(line.as_bytes())))?;
            return Ok(Answer::Yes);
        }
        triples.truncate(usize::try_from(limit(self.args)).unwrap_or(usize::MAX));
        let more = Some(count - triples.len() as u64);
        shown(self.args, None, self.prefixes, &Triples { triples, more }, self.findings, console)
    }

    fn counted(&self, what: &str, console: &Console) -> Result<Answer> {
        counted(self.args, Some(self.text), self.matches.count()?, what, self.findings, console)
    }

    /// Prints the order in which the patterns would be evaluated, and the estimates, without reading any triple.
    fn plan(&self, console: &Console) -> Result<Answer> {
        let plan = self.matches.plan()?;
        let mut screen = console.screen();
        let mut table = Table::new([Column::stage(), Column::text(1), Column::number(), Column::text(0)]);
        let mut steps = Vec::new();
        for (at, step) in plan.iter().enumerate() {
            let estimate = step.estimate;
            let text = self.matches.query().patterns.get(step.pattern).map(QuadPattern::text).unwrap_or_default();
            let mut bounds = match estimate.is_exact() {
                true => "exactly".to_owned(),
                false => format!("{} to {}", estimate.low, estimate.high),
            };
            if step.per_row {
                bounds.push_str(" per row of the patterns above");
            }
            let rows = format!("{:.0}", estimate.rows.ceil());
            let word = if at == 0 { "match" } else { "then" };
            table.row([word, text, rows.as_str(), bounds.as_str()].map(Cell::from));
            let (pattern, per_row) = (step.pattern, step.per_row);
            steps.push(Step { pattern, per_row, rows: estimate.rows, low: estimate.low, high: estimate.high });
        }
        screen.table(&table);
        console.show(&screen)?;
        console.document(&Plan { path: &self.args.path, pattern: self.text, steps })?;
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
