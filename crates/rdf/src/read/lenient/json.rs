//! JSON-LD in pieces: the members of the array that is the text, or its `@graph`.

use std::io::{Cursor, Read};
use std::ops::Range;

use isomorph_error::Result;
use isomorph_model::json::{self, Members, push_string};

use super::super::guard::{CHUNK, JsonGuard, Start, Watch};
use super::{Cut, Frame, Piece, Pieces};

const GRAPH: &str = "@graph";

/// Splits a text of at most `largest` bytes, which is held in memory. A text that is not such an array, or not JSON, is
/// one piece.
///
/// # Errors
/// If it is longer, its frame is invalid, or a piece cannot be read.
pub(super) fn cut<'a>(
    input: &'a mut dyn Read,
    watch: &Watch,
    largest: u64,
    pieces: &mut Pieces<'_, '_>,
) -> Result<Cut<'a>> {
    let mut guard = JsonGuard::new(largest);
    let (mut text, mut buffer) = (Vec::new(), vec![0; CHUNK]);
    let mut held = pieces.options.budget.reserve(0)?;
    let mut here = Start::of_text(watch.before);
    loop {
        let read = input.read(&mut buffer)?;
        let bytes = buffer.get(..read).unwrap_or_default();
        if bytes.is_empty() {
            break;
        }
        if let Some(seen) = &watch.seen {
            seen.borrow_mut().look(bytes)?;
        }
        guard.look(bytes).map_err(|(at, error)| error.at(here.behind(bytes, at).place()))?;
        here.pass(bytes);
        held.grow(read as u64)?;
        text.extend_from_slice(bytes);
    }
    // Text that is not UTF-8, or has no frame, goes to the parser as a whole, which reports the error.
    let Some((frame, ranges)) = std::str::from_utf8(&text).ok().and_then(frame) else {
        return Ok(Cut::Whole(Box::new(Cursor::new(text))));
    };
    pieces.begin(frame)?;
    let mut start = Start::of_text(watch.before);
    let mut passed = 0;
    for range in ranges {
        start.pass(text.get(passed..range.start).unwrap_or_default());
        passed = range.start;
        pieces.push(Piece::new(text.get(range).unwrap_or_default().to_vec(), start))?;
    }
    Ok(Cut::Framed)
}

/// The text around the pieces, and their positions; `None` if there is no frame.
fn frame(text: &str) -> Option<(Frame, Vec<Range<usize>>)> {
    let inside = text.trim_start();
    let mut ranges = Vec::new();
    let mut range = |item: &str| {
        // Items are parts of the text.
        let at = (item.as_ptr() as usize).checked_sub(text.as_ptr() as usize);
        ranges.extend(at.map(|at| at..at + item.len()));
        Ok(())
    };
    if inside.starts_with('[') {
        json::items(inside, &mut range).ok()?;
        return Some((Frame { before: b"[".to_vec(), between: b",", after: b"]".to_vec() }, ranges));
    }
    let (mut before, mut graph) = (String::from("{"), None);
    let mut is_frame = inside.starts_with('{');
    Members::default()
        .read(inside, |name, value| {
            match name {
                GRAPH => graph = Some(value),
                "@context" | "@id" | "@index" => {
                    push_string(&mut before, name);
                    before.push(':');
                    before.push_str(value);
                    before.push(',');
                }
                // Statements about the graph itself would be repeated with each piece.
                _ => is_frame = false,
            }
            Ok(())
        })
        .ok()?;
    let graph = graph.filter(|graph| is_frame && graph.starts_with('['))?;
    json::items(graph, &mut range).ok()?;
    before.push_str("\"@graph\":[");
    Some((Frame { before: before.into_bytes(), between: b",", after: b"]}".to_vec() }, ranges))
}
