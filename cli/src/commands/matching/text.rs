//! `match` in an RDF text, which is read from the beginning to its end, or to the last triple that is needed.

use std::io::Write;

use isomorph::convert::matching::{Prefixes, QuadPattern, Triple, Triples, first_of_text, push_line};
use isomorph::formats::rdf::{OpenOptions, RdfText};
use isomorph::model::faces::Quad;
use isomorph::{Location, Result};

use super::{Answer, counted, limit, shown};
use crate::args::MatchArgs;
use crate::console::{Console, Output};

/// Prints what matches.
///
/// # Errors
/// Returns an error if the text cannot be read, or if the part that was read is invalid.
pub fn run(
    args: &MatchArgs,
    location: &Location,
    options: &OpenOptions,
    asked: &QuadPattern,
    prefixes: &Prefixes,
    console: &Console,
) -> Result<Answer> {
    let (mut out, mut line) = (Output::new(), String::new());
    let mut print = |out: &mut Output, quad: &Quad<'_>| -> Result<()> {
        line.clear();
        push_line(&mut line, quad, None);
        Ok(out.write_all(line.as_bytes())?)
    };
    let pattern = args.pattern.join(" ");
    if args.count || args.nquads && args.limit.is_none() {
        let mut count = 0;
        let text = RdfText::open(location, options)?;
        let skipped = &text.reading().findings;
        console.warn(skipped);
        text.quads(&mut |quad| {
            if !asked.fits(&quad) {
                return Ok(());
            }
            count += 1;
            if args.nquads { print(&mut out, &quad) } else { Ok(()) }
        })?;
        if args.count {
            return counted(args, Some(&pattern), count, "triple", skipped, console);
        }
        out.flush()?;
        return Ok(Answer::Yes);
    }
    let most = limit(args);
    let mut found = Vec::new();
    let (all, skipped) = first_of_text(location, options, asked, most, &mut |quad| {
        match args.nquads {
            true => print(&mut out, quad)?,
            false => found.push(Triple::of(quad, None)),
        }
        Ok(())
    })?;
    out.flush()?;
    drop(out);
    console.warn(&skipped);
    match args.nquads {
        true => Ok(Answer::Yes),
        false => {
            let found = Triples { triples: found, more: Some(0).filter(|_| all) };
            shown(args, Some(&pattern), prefixes, &found, &skipped, console)
        }
    }
}
