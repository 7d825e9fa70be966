//! Matches a pattern in an RDF text, which is read from the beginning to the end, or to the last triple that is needed.

use std::collections::HashSet;

use isomorph_error::{Error, Findings, Kind, Result};
use isomorph_model::faces::Quad;
use isomorph_rdf::{OpenOptions, Text};
use isomorph_storage::Location;

use super::pattern::QuadPattern;
use super::triple::push_line;

/// Passes the first `most` matching triples on, each once, and then stops reading. If broken statements are skipped, it
/// reads to the end of the text and reports all of them. Returns whether these are all matches, and what was skipped.
///
/// # Errors
/// If the text cannot be read, or is malformed in the part that is read; and errors of `take`.
/// When the text cannot be read or is broken, as far as it is read; those of `take`.
pub fn first_of_text(
    location: &Location,
    options: &OpenOptions,
    pattern: &QuadPattern,
    most: u64,
    take: &mut dyn FnMut(&Quad<'_>) -> Result<()>,
) -> Result<(bool, Findings)> {
    let text = Text::open_as(location, options.syntax, options.packing)?;
    let (mut seen, mut line, mut ended) = (HashSet::new(), String::new(), false);
    let read = text.read(&options.read, &mut |quad| {
        if ended || !pattern.fits(&quad) {
            return Ok(());
        }
        line.clear();
        push_line(&mut line, &quad, None);
        if seen.insert(line.clone()) {
            take(&quad)?;
            ended = seen.len() as u64 >= most;
        }
        if ended && !options.read.lenient {
            Err(Error::new(Kind::Cancelled, "the limit of triples is reached"))
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
