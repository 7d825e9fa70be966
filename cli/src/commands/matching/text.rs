//! What a pattern describes of an RDF text, which is read from its begin to its end: whoever asks often makes a store of it.

use std::io::Write;

use isomorph::formats::rdf::{OpenOptions, RdfText};
use isomorph::{Location, Result};

use super::pattern::{Asked, Prefixes};
use super::{Answer, Found, counted, limit, print, shown};
use crate::args::MatchArgs;
use crate::console::{Console, Output};

/// Shows what fits.
///
/// # Errors
/// When the text cannot be read or is broken.
pub fn run(
    args: &MatchArgs,
    location: &Location,
    options: &OpenOptions,
    asked: &Asked,
    prefixes: &Prefixes,
    console: &Console,
) -> Result<Answer> {
    let text = RdfText::open(location, options)?;
    let most = if args.nquads { args.limit.map_or(u64::MAX, |limit| limit.get()) } else { limit(args) };
    let (mut found, mut count) = (Vec::new(), 0);
    let (mut out, mut line) = (Output::new(), String::new());
    text.quads(&mut |quad| {
        if !asked.fits(&quad) {
            return Ok(());
        }
        count += 1;
        if args.nquads && count <= most {
            print(&mut out, &mut line, &quad)?;
        } else if !args.count && count <= most {
            found.push(Found::of(&quad));
        }
        Ok(())
    })?;
    if args.nquads {
        out.flush()?;
        return Ok(Answer::Yes);
    }
    let pattern = args.pattern.join(" ");
    match args.count {
        true => counted(args, &pattern, count, "triple", console),
        false => shown(args, &pattern, prefixes, &found, count - found.len() as u64, console),
    }
}
