//! What a pattern describes of an RDF text, which is read from its begin on: to its end, or to the last triple that is wanted.

use std::collections::HashSet;
use std::io::Write;

use isomorph::error::Findings;
use isomorph::formats::rdf::{OpenOptions, RdfText, Text};
use isomorph::model::faces::Quad;
use isomorph::{Error, Kind, Location, Result};

use super::pattern::{Asked, Prefixes};
use super::{Answer, Found, Shown, counted, limit, print, push_line, shown};
use crate::args::MatchArgs;
use crate::console::{Console, Output};

/// Shows what fits.
///
/// # Errors
/// When the text cannot be read or is broken, as far as it is read.
pub fn run(
    args: &MatchArgs,
    location: &Location,
    options: &OpenOptions,
    asked: &Asked,
    prefixes: &Prefixes,
    console: &Console,
) -> Result<Answer> {
    let (mut out, mut line) = (Output::new(), String::new());
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
            if args.nquads { print(&mut out, &mut line, &quad, None) } else { Ok(()) }
        })?;
        if args.count {
            return counted(args, Some(&pattern), count, "triple", skipped, console);
        }
        out.flush()?;
        return Ok(Answer::Yes);
    }
    let most = limit(args);
    let mut found = Vec::new();
    let (all, skipped) = first(location, options, asked, most, &mut |quad| {
        match args.nquads {
            true => print(&mut out, &mut line, quad, None)?,
            false => found.push(Found::of(quad, None)),
        }
        Ok(())
    })?;
    out.flush()?;
    drop(out);
    console.warn(&skipped);
    match args.nquads {
        true => Ok(Answer::Yes),
        false => {
            let found = Shown { triples: &found, more: Some(0).filter(|_| all), findings: &skipped };
            shown(args, Some(&pattern), prefixes, &found, console)
        }
    }
}

/// Hands over the first `most` triples that fit, each once, and reads no further; but to the end of the text, where broken statements
/// are skipped: all of them are told. Returns whether these are all, and what was skipped.
fn first(
    location: &Location,
    options: &OpenOptions,
    asked: &Asked,
    most: u64,
    take: &mut dyn FnMut(&Quad<'_>) -> Result<()>,
) -> Result<(bool, Findings)> {
    let text = Text::open_as(location, options.syntax, options.packing)?;
    let (mut seen, mut line, mut ended) = (HashSet::new(), String::new(), false);
    let read = text.read(&options.read, &mut |quad| {
        if ended || !asked.fits(&quad) {
            return Ok(());
        }
        line.clear();
        push_line(&mut line, &quad, None);
        if seen.insert(line.clone()) {
            take(&quad)?;
            ended = seen.len() as u64 >= most;
        }
        if ended && !options.read.lenient {
            Err(Error::new(Kind::Cancelled, "no more triples are wanted"))
        } else {
            Ok(())
        }
    });
    match read {
        Ok(reading) => Ok((!ended, reading.findings)),
        // Nothing was skipped: the first mistake would have been an error.
        Err(_) if ended && !options.read.lenient => Ok((false, Findings::default())),
        Err(error) => Err(error),
    }
}
