//! `match`: what patterns describe, straight from the files of a GraphLake store; or what one describes of an RDF text.

mod local;
mod pattern;
mod solutions;
mod term;
#[cfg(test)]
mod tests;
mod text;

use std::io::Write;
use std::sync::Arc;

use isomorph::convert::{Format, Registry, sound};
use isomorph::error::Findings;
use isomorph::formats::graphlake::{self, Bindings, GraphLake, Join, QUOTED_GRAPH, Solutions, TripleId, push_quad};
use isomorph::formats::rdf;
use isomorph::model::Source;
use isomorph::model::faces::{Object, Quad};
use isomorph::{Error, Result};
use serde::Serialize;

use self::pattern::Asked;
pub use self::pattern::{Prefixes, Query};
use super::Answer;
use crate::args::{MatchArgs, OpenArgs};
use crate::console::{Console, Output};
use crate::render::{Cell, Column, Table, of};
use crate::report::RuleDocument;

/// Lines of N-Quads that are handed over at once, bytes.
const PIECE: usize = 512 << 10;

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    /// None where ids were asked for.
    pattern: Option<&'a str>,
    triples: &'a [Found],
    /// How many more there are, if that is known.
    more: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<RuleDocument<'a>>,
}

/// Triples that are shown.
struct Shown<'a> {
    triples: &'a [Found],
    /// How many more there are, if that is known.
    more: Option<u64>,
    /// What was found while they were read.
    findings: &'a Findings,
}

/// With `--count`.
#[derive(Debug, Serialize)]
struct Count<'a> {
    path: &'a str,
    pattern: Option<&'a str>,
    count: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<RuleDocument<'a>>,
}

/// A triple; its terms as in N-Triples.
#[derive(Debug, Serialize)]
struct Found {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    subject: String,
    predicate: String,
    object: String,
    /// None in the default graph.
    graph: Option<String>,
    /// Whether it is in no graph, and others quote it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    only_quoted: bool,
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
    findings: &'a Findings,
}

/// Shows what fits patterns.
///
/// # Errors
/// Whatever keeps it from doing so.
pub fn run(args: &MatchArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    let resources = args.resources.resources()?;
    // Prefixes are for the pattern as well, whatever it is asked of.
    let open = OpenArgs { namespaces: Vec::new(), ..args.open.clone() };
    let (location, options) = open.place(&args.path, formats, &resources)?;
    let namespaces = args.open.namespaces.iter().cloned().collect();
    let prefixes = Prefixes::new(&namespaces);
    let mut query = match args.id.as_slice() {
        [] => Query::parse(&args.pattern, args.graph.as_deref(), &prefixes)?,
        _ => Query::default(),
    };
    if let Some(other) = args.open.from.filter(|from| ![Format::GRAPHLAKE, Format::RDF].contains(from)) {
        return Err(Error::usage(format!("patterns are matched in graphlake and rdf, not in {}", other.id())));
    }
    let is_lake = options.from == Some(Format::GRAPHLAKE);
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
            [] => elsewhere("ids of triples are looked up in stores of GraphLake"),
            _ if args.ids => elsewhere("ids of triples are those of stores of GraphLake"),
            [asked] if !args.estimate => {
                let mut options = options.get::<rdf::OpenOptions>().into_owned();
                options.read.budget = resources.budget.clone();
                (options.scratch, options.threads) = (Some(resources.scratch.clone()), resources.threads);
                text::run(args, &location, &options, asked, &prefixes, console)
            }
            _ => elsewhere("a text is asked for one pattern, which is read off it; joins and estimates are for stores"),
        };
    }
    // What a description needs to know, a look-up does not.
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
    query.patterns.iter_mut().try_for_each(|asked| asked.store(|term| lake.stored(term)))?;
    let text = if query.patterns.len() == 1 { args.pattern.join(" ") } else { args.pattern.join(" . ") };
    let (lake, query, prefixes, threads) = (&lake, &query, &prefixes, resources.threads);
    let asking = Asking { args, lake, query, text: &text, prefixes, threads, findings: &findings };
    match query.patterns.as_slice() {
        [] => asking.by_id(console),
        _ if args.estimate => asking.plan(console),
        [asked] if args.nquads => asking.lines(asked, &mut Output::new()).map(|()| Answer::Yes),
        [asked] if args.count => asking.counted(asking.count(asked)?, "triple", console),
        [asked] => asking.triples(asked, console),
        _ if args.nquads => Err(Error::usage("solutions of several patterns are no quads").hint("--json")),
        _ => solutions::run(&asking, console),
    }
}

impl Asking<'_> {
    /// Hands over a quad that was found as it is meant, with quoted triples as triple terms, where it fits; with its id, where that is
    /// wanted. Gives what `take` gives.
    fn meant<T>(
        &self,
        asked: &Asked,
        quad: &Quad<'_>,
        take: impl FnOnce(&Quad<'_>, Option<TripleId>) -> Result<T>,
    ) -> Result<Option<T>> {
        if asked.agrees(quad) { self.spelt(quad, take).map(Some) } else { Ok(None) }
    }

    /// Hands over a quad as it is meant.
    fn spelt<T>(&self, quad: &Quad<'_>, take: impl FnOnce(&Quad<'_>, Option<TripleId>) -> Result<T>) -> Result<T> {
        // Ids are of triples as the store has them.
        let id = (self.args.ids || !self.args.id.is_empty())
            .then(|| TripleId::of(quad.subject, quad.predicate, &quad.object));
        let object = if let Object::Term(term) = quad.object { self.lake.spelt(term)? } else { None };
        let quad = Quad { object: object.as_deref().map_or(quad.object, Object::Term), ..*quad };
        take(&quad, id)
    }

    /// Hands over what fits one pattern until `take` says that it wants no more.
    fn each(&self, asked: &Asked, take: &mut dyn FnMut(&Quad<'_>, Option<TripleId>) -> Result<bool>) -> Result<()> {
        let pattern = asked.pattern();
        let solutions = Solutions::new(self.lake, &asked.question(), Arc::new(Bindings::unit()))?;
        let mut solutions = solutions.with_small_batches();
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
        let estimate = self.lake.estimate(&asked.question());
        (estimate.is_exact() && self.query.is_free()).then_some(estimate.high)
    }

    /// How many triples fit, on all threads.
    fn count(&self, asked: &Asked) -> Result<u64> {
        if let Some(known) = self.known(asked) {
            return Ok(known);
        }
        let pattern = asked.pattern();
        if self.query.is_free() {
            return self.lake.ask_count(&asked.question(), Arc::new(Bindings::unit()), self.threads);
        }
        self.lake.matching_count(self.threads, &pattern, |quad| asked.agrees(quad))
    }

    /// The first triples that fit, and how many more there are, if that is known. The others are not looked for; what files tell of
    /// their number is told.
    fn first(&self, asked: &Asked) -> Result<(Vec<Found>, Option<u64>)> {
        let limit = limit(self.args);
        let (mut found, mut ended) = (Vec::new(), false);
        self.each(asked, &mut |quad, id| {
            found.push(Found::of(quad, id));
            ended = found.len() as u64 >= limit;
            Ok(!ended)
        })?;
        let more = match self.known(asked) {
            Some(known) => Some(known.saturating_sub(found.len() as u64)),
            None => Some(0).filter(|_| !ended),
        };
        Ok((found, more))
    }

    fn triples(&self, asked: &Asked, console: &Console) -> Result<Answer> {
        let (found, more) = self.first(asked)?;
        let found = Shown { triples: &found, more, findings: self.findings };
        shown(self.args, Some(self.text), self.prefixes, &found, console)
    }

    /// The triples that have the ids, once for each graph that they are in, and the same as lines of N-Quads. One that is in no graph and
    /// that others quote comes once: it is no statement, and its line is a comment.
    fn of_ids(&self) -> Result<(Vec<Found>, String)> {
        let (mut found, mut lines) = (Vec::new(), String::new());
        for id in &self.args.id {
            let (before, mut quoted) = (found.len(), None);
            self.lake.by_id(id, &mut |quad| {
                self.spelt(&quad, |quad, id| {
                    if quad.graph == Some(QUOTED_GRAPH) {
                        let meant = Quad { graph: None, ..*quad };
                        let mut line = "# only quoted: ".to_owned();
                        push_line(&mut line, &meant, id.filter(|_| self.args.ids));
                        quoted = Some((Found { only_quoted: true, ..Found::of(&meant, id) }, line));
                        return Ok(());
                    }
                    push_line(&mut lines, quad, id.filter(|_| self.args.ids));
                    found.push(Found::of(quad, id));
                    Ok(())
                })
            })?;
            if let (true, Some((triple, line))) = (found.len() == before, quoted) {
                found.push(triple);
                lines.push_str(&line);
            }
        }
        Ok((found, lines))
    }

    fn by_id(&self, console: &Console) -> Result<Answer> {
        let (mut found, lines) = self.of_ids()?;
        let count = found.len() as u64;
        if self.args.count {
            return counted(self.args, None, count, "triple", self.findings, console);
        }
        if self.args.nquads {
            let limit = self.args.limit.map_or(usize::MAX, |limit| usize::try_from(limit.get()).unwrap_or(usize::MAX));
            let mut lines = lines.split_inclusive('\n').take(limit);
            console.write(|out| lines.try_for_each(|line| out.write_all(line.as_bytes())))?;
            return Ok(Answer::Yes);
        }
        found.truncate(usize::try_from(limit(self.args)).unwrap_or(usize::MAX));
        let more = Some(count - found.len() as u64);
        let found = Shown { triples: &found, more, findings: self.findings };
        shown(self.args, None, self.prefixes, &found, console)
    }

    /// Prints what fits as lines of N-Quads, as it comes. Where all of it is wanted, the threads that read write lines as well.
    fn lines(&self, asked: &Asked, out: &mut dyn Write) -> Result<()> {
        match self.args.limit {
            Some(limit) => {
                let (mut left, mut line) = (limit.get(), String::new());
                self.each(asked, &mut |quad, id| {
                    left -= 1;
                    print(out, &mut line, quad, id)?;
                    Ok(left > 0)
                })?;
            }
            None => {
                let pattern = asked.pattern();
                let worded = |found: graphlake::Found, give: &mut dyn FnMut(String) -> Result<()>| {
                    let mut lines = String::new();
                    for row in 0..found.rows.len() {
                        self.meant(asked, &found.quad(row, &pattern), |quad, id| {
                            push_line(&mut lines, quad, id);
                            Ok(())
                        })?;
                        if lines.len() >= PIECE {
                            give(std::mem::take(&mut lines))?;
                        }
                    }
                    if lines.is_empty() { Ok(()) } else { give(lines) }
                };
                let (question, bindings) = (asked.question(), Arc::new(Bindings::unit()));
                let mut write = |lines: String| Ok(out.write_all(lines.as_bytes())?);
                self.lake.ask_as(&question, bindings, self.threads, worded, &mut write)?;
            }
        }
        Ok(out.flush()?)
    }

    fn counted(&self, count: u64, what: &str, console: &Console) -> Result<Answer> {
        counted(self.args, Some(self.text), count, what, self.findings, console)
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

/// How many there are, as far as it is known, and how to see more; with `--count`, where the command has it.
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

/// Shows triples, and says how many more there are.
fn shown(
    args: &MatchArgs,
    pattern: Option<&str>,
    prefixes: &Prefixes,
    found: &Shown<'_>,
    console: &Console,
) -> Result<Answer> {
    let (triples, more) = (found.triples, found.more);
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
    let findings = RuleDocument::all(found.findings);
    console.document(&Document { path: &args.path, pattern, triples, more, findings })?;
    Ok(Answer::Yes)
}

/// What was asked for: patterns, or ids.
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
    let findings = RuleDocument::all(findings);
    console.document(&Count { path: &args.path, pattern, count, findings })?;
    Ok(Answer::Yes)
}

/// Appends a quad as a line of N-Quads, with its id as a comment behind it.
fn push_line(lines: &mut String, quad: &Quad<'_>, id: Option<TripleId>) {
    push_quad(lines, quad);
    if let Some(id) = id {
        lines.push_str(" # ");
        lines.push_str(&id.to_string());
    }
    lines.push('\n');
}

/// Prints a quad as a line of N-Quads; `line` is a buffer.
fn print(out: &mut dyn Write, line: &mut String, quad: &Quad<'_>, id: Option<TripleId>) -> Result<()> {
    line.clear();
    push_line(line, quad, id);
    Ok(out.write_all(line.as_bytes())?)
}

impl Found {
    fn of(quad: &Quad<'_>, id: Option<TripleId>) -> Self {
        let term = |text: &str| isomorph::model::term::ntriples(text);
        Found {
            id: id.map(|id| id.to_string()),
            subject: term(quad.subject),
            predicate: term(quad.predicate),
            object: solutions::text(&quad.object),
            graph: quad.graph.map(term),
            only_quoted: false,
        }
    }
}
