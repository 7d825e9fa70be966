//! Reads streams that have no name: a pipe, standard input.

use std::io::{BufReader, Cursor, Read};

use isomorph_error::{Error, Place, Result};
use isomorph_model::faces::Quad;

use super::remaining::{read_part, sharing};
use super::{LOOK, ReadOptions, Reading, read_of, untold};
use crate::Syntax;
use crate::lines::{self, Part};
use crate::packing::Packing;

/// Number of first bytes that show the compression.
const MAGIC: u64 = 4;

/// Number of compressed bytes that are read at once.
const ROOM: usize = 64 << 10;

/// Reads a text that can be read only once, and passes it to `takers` as [`super::Text::read_shared`] does. Its first
/// bytes determine the compression and, without a `syntax`, the first decompressed bytes determine the syntax. `name`
/// is its name in errors.
///
/// # Errors
/// Returns [`crate::rules::SYNTAX`] if the text is malformed, with line and column, except for errors in JSON-LD that
/// are not errors of JSON; [`crate::rules::LIMIT`] if it exceeds a limit; [`isomorph_error::Kind::Unsupported`] if the
/// syntax cannot be determined; and the errors of `take`.
pub fn read_stream<T: Send>(
    name: &str,
    input: &mut (dyn Read + Send),
    syntax: Option<Syntax>,
    options: &ReadOptions,
    takers: &mut [T],
    take: &(dyn Fn(&mut T, Quad<'_>) -> Result<()> + Sync),
) -> Result<Reading> {
    let place = Place::file(name);
    read_unpacked(&place, input, syntax, options, takers, take).map_err(|error| error.at(place))
}

fn read_unpacked<T: Send>(
    place: &Place,
    input: &mut (dyn Read + Send),
    syntax: Option<Syntax>,
    options: &ReadOptions,
    takers: &mut [T],
    take: &(dyn Fn(&mut T, Quad<'_>) -> Result<()> + Sync),
) -> Result<Reading> {
    let first = beginning(input, MAGIC)?;
    let packing = Packing::of_bytes(&first);
    let whole = BufReader::with_capacity(ROOM, Cursor::new(first).chain(input));
    let mut text = packing.unpacked(whole)?;
    let begin = if syntax.is_some() { Vec::new() } else { beginning(&mut text, LOOK)? };
    let told = syntax.or_else(|| Syntax::of_bytes(&begin));
    let syntax = told.ok_or_else(|| untold("the RDF syntax cannot be determined from the beginning"))?;
    let mut text = Cursor::new(begin).chain(text);
    if lines::is_of_lines(syntax) {
        let takers = sharing(options, takers);
        let part = Part::all(place);
        return read_part(&mut text, syntax, options, &part, takers, take, &|_, _| Ok(())).map(|(reading, _)| reading);
    }
    let Some(taker) = takers.first_mut() else { return Err(Error::usage("there must be at least one taker")) };
    read_of(&mut text, syntax, options, place, &mut |quad| take(taker, quad))
}

/// The first bytes, up to `count` of them.
fn beginning(input: &mut dyn Read, count: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(count).read_to_end(&mut bytes)?;
    Ok(bytes)
}
