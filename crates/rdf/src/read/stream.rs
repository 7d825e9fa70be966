//! Reading what comes once and has no name: a pipe, standard input.

use std::io::{BufReader, Cursor, Read};

use isomorph_error::{Error, Place, Result};
use isomorph_model::faces::Quad;

use super::remaining::{read_part, sharing};
use super::{LOOK, ReadOptions, Reading, read_of, untold};
use crate::Syntax;
use crate::lines::{self, Part};
use crate::packing::Packing;

/// First bytes that tell how something is packed.
const MAGIC: u64 = 4;

/// Bytes of what is packed that are read at once.
const ROOM: usize = 64 << 10;

/// Reads a text that can be read once only, and hands it to `takers` as [`super::Text::read_shared`] does. Its first bytes tell
/// how it is packed, and without a `syntax` those that are unpacked tell which it is. `name` is what errors call it.
///
/// # Errors
/// [`crate::rules::SYNTAX`] with line and column where the text is broken, for a mistake in JSON-LD that is none of JSON without them;
/// [`crate::rules::LIMIT`] where it is too much; [`isomorph_error::Kind::Unsupported`] when nothing tells the syntax; and the errors of `take`.
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
    let syntax = told.ok_or_else(|| untold("its beginning does not tell which syntax of RDF this is"))?;
    let mut text = Cursor::new(begin).chain(text);
    if lines::is_of_lines(syntax) {
        let takers = sharing(options, takers);
        let part = Part::all(place);
        return read_part(&mut text, syntax, options, &part, takers, take, &|_, _| Ok(())).map(|(reading, _)| reading);
    }
    let Some(taker) = takers.first_mut() else { return Err(Error::usage("nobody takes what is read")) };
    read_of(&mut text, syntax, options, place, &mut |quad| take(taker, quad))
}

/// The first bytes, `count` of them where there are so many.
fn beginning(input: &mut dyn Read, count: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(count).read_to_end(&mut bytes)?;
    Ok(bytes)
}
