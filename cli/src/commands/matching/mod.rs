//! `match`: the triples that a pattern describes, straight from the files of a GraphLake store.

mod pattern;

use std::io::Write;

use isomorph::formats::graphlake::{self, GraphLake, push_quad};
use isomorph::model::faces::Quad;
use isomorph::{Error, Result};
use serde::Serialize;

use self::pattern::{Asked, Prefixes};
use super::Answer;
use crate::args::{MatchArgs, ResourceArgs, SelectArgs};
use crate::console::{Console, Output};
use crate::render::{Cell, Column, Table, of};

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    pattern: &'a str,
    triples: &'a [Found],
    /// How many more there are.
    more: u64,
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

/// Shows what fits a pattern.
///
/// # Errors
/// Whatever keeps it from doing so.
pub fn run(args: &MatchArgs, console: &Console) -> Result<Answer> {
    let resources = ResourceArgs::default().resources()?;
    let (location, options) = args.open.place(&args.path, &SelectArgs::default(), &resources)?;
    if !graphlake::detect(&location)? {
        return Err(Error::unsupported("patterns are matched in stores of GraphLake only").at(location.to_string()));
    }
    let text = args.pattern.join(" ");
    let prefixes = Prefixes::new(&options.graphlake.namespaces);
    let asked = Asked::parse(&text, &prefixes)?;
    // What a description needs to know, a look-up does not.
    let options = graphlake::OpenOptions { survey_up_to: 0, ..options.graphlake };
    let lake = GraphLake::open(&location, &options)?;
    if args.nquads {
        return lines(args, &lake, &asked);
    }
    let limit = args.limit.map_or(100, |limit| limit.get());
    let (mut found, mut more) = (Vec::new(), 0);
    lake.matching(&asked.pattern(), &mut |quad| {
        if asked.agrees(&quad) {
            if (found.len() as u64) < limit { found.push(Found::of(&quad)) } else { more += 1 }
        }
        Ok(())
    })?;
    let total = found.len() as u64 + more;
    let mut screen = console.screen();
    screen.line("match", &format!("{text}   {}", of(total, "triple")));
    let mut table = Table::new([Column::stage(), Column::text(1), Column::text(2), Column::text(3), Column::text(0)]);
    for triple in &found {
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
    console.document(&Document { path: &args.path, pattern: &text, triples: &found, more })?;
    Ok(Answer::Yes)
}

/// Prints what fits as lines of N-Quads, as it comes.
fn lines(args: &MatchArgs, lake: &GraphLake, asked: &Asked) -> Result<Answer> {
    let mut left = args.limit.map_or(u64::MAX, |limit| limit.get());
    let mut out = Output::new();
    let mut line = String::new();
    lake.matching(&asked.pattern(), &mut |quad| {
        if left > 0 && asked.agrees(&quad) {
            left -= 1;
            line.clear();
            push_quad(&mut line, &quad);
            line.push('\n');
            out.write_all(line.as_bytes())?;
        }
        Ok(())
    })?;
    out.flush()?;
    Ok(Answer::Yes)
}

impl Found {
    fn of(quad: &Quad<'_>) -> Self {
        let term = |text: &str| isomorph::model::term::ntriples(text);
        let object = match quad.object {
            isomorph::model::faces::Object::Term(text) => term(text),
            literal => {
                let mut text = String::new();
                isomorph::model::ntriples::push_object(&mut text, &literal);
                text
            }
        };
        Found { subject: term(quad.subject), predicate: term(quad.predicate), object, graph: quad.graph.map(term) }
    }
}
