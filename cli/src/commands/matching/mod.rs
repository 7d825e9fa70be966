//! `match`: what patterns describe, straight from the files of a GraphLake store; or what one describes of an RDF text.

mod pattern;
mod solutions;
mod text;

use std::io::Write;
use std::sync::Arc;

use isomorph::convert::{Format, sound};
use isomorph::formats::graphlake::{self, Bindings, GraphLake, Join, Question, Solutions, push_quad};
use isomorph::formats::rdf;
use isomorph::model::Source;
use isomorph::model::faces::{Object, Quad};
use isomorph::{Error, Result};
use serde::Serialize;

pub use self::pattern::Prefixes;
use self::pattern::{Asked, Query};
use super::Answer;
use crate::args::{MatchArgs, OpenArgs, SelectArgs};
use crate::console::{Console, Output};
use crate::render::{Cell, Column, Table, of};

/// Lines of N-Quads that are handed over at once, bytes.
const PIECE: usize = 512 << 10;

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    pattern: &'a str,
    triples: &'a [Found],
    /// How many more there are.
    more: u64,
}

/// With `--count`.
#[derive(Debug, Serialize)]
struct Count<'a> {
    path: &'a str,
    pattern: &'a str,
    count: u64,
}

/// A triple; its terms as in N-Triples.
#[derive(Debug, Serialize)]
struct Found {
    subject: String,
    predicate: String,
    object: String,
    /// None in the default graph.
    graph: Option<String>,
}

/// With `--estimate`.
#[derive(Debug, Serialize)]
struct Plan<'a> {
    path: &'a str,
    pattern: &'a str,
    steps: Vec<Step>,
}

/// A pattern in the order in which they would be asked.
#[derive(Debug, Serialize)]
struct Step {
    /// Which of the patterns, counted from 0.
    pattern: usize,
    /// Whether rows are counted for each row before.
    per_row: bool,
    rows: f64,
    low: u64,
    high: u64,
}

/// What was asked, and of what.
struct Asking<'a> {
    args: &'a MatchArgs,
    lake: &'a GraphLake,
    query: &'a Query,
    text: &'a str,
    prefixes: &'a Prefixes,
    threads: usize,
}

/// Shows what fits patterns.
///
/// # Errors
/// Whatever keeps it from doing so.
pub fn run(args: &MatchArgs, console: &Console) -> Result<Answer> {
    let resources = args.resources.resources()?;
    // Prefixes are for the pattern as well, whatever it is asked of.
    let open = OpenArgs { namespaces: Vec::new(), ..args.open.clone() };
    let (location, mut options) = open.place(&args.path, &SelectArgs::default(), &resources)?;
    options.graphlake.namespaces = args.open.namespaces.iter().cloned().collect();
    let prefixes = Prefixes::new(&options.graphlake.namespaces);
    let mut query = Query::parse(&args.pattern, args.graph.as_deref(), &prefixes)?;
    if let Some(other) = args.open.from.filter(|from| !matches!(from, Format::GraphLake | Format::Rdf)) {
        return Err(Error::usage(format!("patterns are matched in graphlake and rdf, not in {}", other.id())));
    }
    let is_lake = options.from == Some(Format::GraphLake);
    if !is_lake {
        let elsewhere = |what: &str| {
            Err(Error::unsupported(what.to_owned())
                .at(location.to_string())
                .hint(format!("isomorph convert {} NAME.lake, and then isomorph match NAME.lake", args.path)))
        };
        return match query.patterns.as_slice() {
            _ if !rdf::detect(&location)? => {
                elsewhere("patterns are matched in stores of GraphLake and in RDF texts only")
            }
            [asked] if !args.estimate => text::run(args, &location, &options.rdf, asked, &prefixes, console),
            _ => elsewhere("a text is asked for one pattern, which is read off it; joins and estimates are for stores"),
        };
    }
    // What a description needs to know, a look-up does not.
    let options = graphlake::OpenOptions { survey_up_to: 0, ..options.graphlake };
    let lake = GraphLake::open(&location, &options)?;
    let findings = lake.about().findings;
    if !args.open.lenient {
        sound(&findings)?;
    }
    console.warn(&findings);
    query.patterns.iter_mut().try_for_each(|asked| asked.store(|term| lake.stored(term)))?;
    let text = if query.patterns.len() == 1 { args.pattern.join(" ") } else { args.pattern.join(" . ") };
    let asking =
        Asking { args, lake: &lake, query: &query, text: &text, prefixes: &prefixes, threads: resources.threads };
    match query.patterns.as_slice() {
        _ if args.estimate => asking.plan(console),
        [asked] if args.nquads => asking.lines(asked),
        [asked] if args.count => {
            let count = asking.known(asked).map_or_else(|| asking.count(asked), Ok)?;
            asking.counted(count, "triple", console)
        }
        [asked] => asking.triples(asked, console),
        _ if args.nquads => Err(Error::usage("solutions of several patterns are no quads").hint("--json")),
        _ => solutions::run(&asking, console),
    }
}

impl Asking<'_> {
    /// Hands over a quad that was found as it is meant, with quoted triples as triple terms, where it fits. Gives what `take` gives.
    fn meant<T>(&self, asked: &Asked, quad: &Quad<'_>, take: impl FnOnce(&Quad<'_>) -> Result<T>) -> Result<Option<T>> {
        if !asked.agrees(quad) {
            return Ok(None);
        }
        let subject = self.lake.spelt(quad.subject)?;
        let object = if let Object::Term(term) = quad.object { self.lake.spelt(term)? } else { None };
        let quad = Quad {
            subject: subject.as_deref().unwrap_or(quad.subject),
            object: object.as_deref().map_or(quad.object, Object::Term),
            ..*quad
        };
        take(&quad).map(Some)
    }

    /// Hands over what fits one pattern until `take` says that it wants no more.
    fn each(&self, asked: &Asked, take: &mut dyn FnMut(&Quad<'_>) -> Result<bool>) -> Result<()> {
        let pattern = asked.pattern();
        let mut solutions = Solutions::new(self.lake, &Question::from(&pattern), Arc::new(Bindings::unit()))?;
        while let Some(found) = solutions.next_batch()? {
            for row in 0..found.rows.len() {
                if self.meant(asked, &found.quad(row, &pattern), &mut *take)? == Some(false) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// How many triples fit, where files tell without being read.
    fn known(&self, asked: &Asked) -> Option<u64> {
        let estimate = self.lake.estimate(&Question::from(&asked.pattern()));
        (estimate.is_exact() && self.query.is_free()).then_some(estimate.high)
    }

    /// How many triples fit, on all threads.
    fn count(&self, asked: &Asked) -> Result<u64> {
        let pattern = asked.pattern();
        if self.query.is_free() {
            return self.lake.ask_count(&Question::from(&pattern), Arc::new(Bindings::unit()), self.threads);
        }
        self.lake.matching_count(self.threads, &pattern, |quad| asked.agrees(quad))
    }

    fn triples(&self, asked: &Asked, console: &Console) -> Result<Answer> {
        let limit = limit(self.args);
        let known = self.known(asked);
        let (mut found, mut done) = (Vec::new(), true);
        self.each(asked, &mut |quad| {
            done = (found.len() as u64) < limit;
            found.extend(done.then(|| Found::of(quad)));
            Ok(done && (known.is_none() || (found.len() as u64) < limit))
        })?;
        // Those that are shown come first, and soon; the others are counted.
        let all = match known {
            Some(known) => known,
            None if done => found.len() as u64,
            None => self.count(asked)?,
        };
        let more = all.saturating_sub(found.len() as u64);
        let (args, text, prefixes) = (self.args, self.text, self.prefixes);
        shown(args, text, prefixes, &found, more, console)
    }

    /// Prints what fits as lines of N-Quads, as it comes. Where all of it is wanted, the threads that read write lines as well.
    fn lines(&self, asked: &Asked) -> Result<Answer> {
        let mut out = Output::new();
        match self.args.limit {
            Some(limit) => {
                let (mut left, mut line) = (limit.get(), String::new());
                self.each(asked, &mut |quad| {
                    left -= 1;
                    print(&mut out, &mut line, quad)?;
                    Ok(left > 0)
                })?;
            }
            None => {
                let pattern = asked.pattern();
                let worded = |found: graphlake::Found, give: &mut dyn FnMut(String) -> Result<()>| {
                    let mut lines = String::new();
                    for row in 0..found.rows.len() {
                        self.meant(asked, &found.quad(row, &pattern), |quad| {
                            push_quad(&mut lines, quad);
                            lines.push('\n');
                            Ok(())
                        })?;
                        if lines.len() >= PIECE {
                            give(std::mem::take(&mut lines))?;
                        }
                    }
                    if lines.is_empty() { Ok(()) } else { give(lines) }
                };
                let (question, bindings) = (Question::from(&pattern), Arc::new(Bindings::unit()));
                let mut write = |lines: String| Ok(out.write_all(lines.as_bytes())?);
                self.lake.ask_as(&question, bindings, self.threads, worded, &mut write)?;
            }
        }
        out.flush()?;
        Ok(Answer::Yes)
    }

    fn counted(&self, count: u64, what: &str, console: &Console) -> Result<Answer> {
        counted(self.args, self.text, count, what, console)
    }

    /// Says in which order patterns would be asked, and what is expected, without reading a triple.
    fn plan(&self, console: &Console) -> Result<Answer> {
        let (patterns, variables) = self.query.joined();
        let join = Join::new(self.lake, &patterns, variables)?;
        let mut screen = console.screen();
        let mut table = Table::new([Column::stage(), Column::text(1), Column::number(), Column::text(0)]);
        let mut steps = Vec::new();
        for (at, step) in join.plan().iter().enumerate() {
            let estimate = step.estimate;
            let text = self.query.patterns.get(step.pattern).map(Asked::text).unwrap_or_default();
            let mut bounds = match estimate.is_exact() {
                true => "exactly".to_owned(),
                false => format!("{} to {}", estimate.low, estimate.high),
            };
            if step.per_row {
                bounds.push_str(" for each row before");
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

/// How many are shown, where nobody says so.
fn limit(args: &MatchArgs) -> u64 {
    args.limit.map_or(100, |limit| limit.get())
}

/// Shows triples, and says how many more there are.
fn shown(
    args: &MatchArgs,
    text: &str,
    prefixes: &Prefixes,
    found: &[Found],
    more: u64,
    console: &Console,
) -> Result<Answer> {
    let total = found.len() as u64 + more;
    let mut screen = console.screen();
    screen.line("match", &format!("{text}   {}", of(total, "triple")));
    let mut table = Table::new([Column::stage(), Column::text(1), Column::text(2), Column::text(3), Column::text(0)]);
    for triple in found {
        let short = |term: &str| prefixes.shorten(term);
        let graph = triple.graph.as_deref().map(short).unwrap_or_default();
        let cells = [String::new(), short(&triple.subject), short(&triple.predicate), short(&triple.object), graph];
        table.row(cells.iter().map(Cell::from));
    }
    screen.table(&table);
    if more > 0 {
        screen.line("", &format!("and {}; --limit {total} shows them", of(more, "more triple")));
    }
    console.show(&screen)?;
    console.document(&Document { path: &args.path, pattern: text, triples: found, more })?;
    Ok(Answer::Yes)
}

fn counted(args: &MatchArgs, text: &str, count: u64, what: &str, console: &Console) -> Result<Answer> {
    let mut screen = console.screen();
    screen.line("match", &format!("{text}   {}", of(count, what)));
    console.show(&screen)?;
    console.document(&Count { path: &args.path, pattern: text, count })?;
    Ok(Answer::Yes)
}

/// Prints a quad as a line of N-Quads; `line` is a buffer.
fn print(out: &mut Output, line: &mut String, quad: &Quad<'_>) -> Result<()> {
    line.clear();
    push_quad(line, quad);
    line.push('\n');
    Ok(out.write_all(line.as_bytes())?)
}

impl Found {
    fn of(quad: &Quad<'_>) -> Self {
        let term = |text: &str| isomorph::model::term::ntriples(text);
        Found {
            subject: term(quad.subject),
            predicate: term(quad.predicate),
            object: solutions::text(&quad.object),
            graph: quad.graph.map(term),
        }
    }
}
