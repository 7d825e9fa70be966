//! A line-based text in parts that are read independently.

use isomorph_error::Result;
use isomorph_model::{Graph, Part, part};

use super::Once;
use super::batches::{Collectors, Wanted};
use crate::{Packing, Piece, Text, lines};

/// Number of pieces in a part, about 8 MiB of text: the division of a text depends only on this.
const PIECES: usize = 8;

/// Whether the pieces of a text can be read independently.
pub(super) fn has_pieces(text: &Text) -> bool {
    lines::is_of_lines(text.syntax()) && text.packing() == Packing::None
}

/// The pieces of a text in order, with the number of lines before each; empty if they are not the whole text, because
/// something was skipped.
pub(super) fn of_all(mut pieces: Vec<Piece>, size: u64) -> Vec<(Piece, u64)> {
    pieces.sort_unstable_by_key(|piece| piece.begin);
    let (mut end, mut lines) = (0, 0);
    let mut numbered = Vec::with_capacity(pieces.len());
    for piece in pieces {
        if piece.begin != end {
            return Vec::new();
        }
        numbered.push((piece, lines));
        (end, lines) = (piece.end, lines + piece.lines);
    }
    if end == size { numbered } else { Vec::new() }
}

/// The parts that consist of these pieces.
pub(super) fn of<'a>(once: &'a Once, graph: &Graph, wanted: Wanted) -> Vec<Box<dyn Part + 'a>> {
    let part = |pieces: &'a [(Piece, u64)]| {
        let (mut left, mut collectors) = (pieces.iter(), Collectors::new(graph, wanted));
        let rows = pieces.iter().map(|(piece, _)| piece.quads).sum();
        part::stepped(
            Some(rows),
            || Ok(()),
            move |(), take| -> Result<bool> {
                let Some((piece, lines)) = left.next() else {
                    once.text.blob().check_unchanged()?;
                    collectors.finish(take)?;
                    return Ok(false);
                };
                once.text.read_piece(&once.options, (piece, *lines), &mut |quad| collectors.push(&quad, take))?;
                Ok(true)
            },
        )
    };
    once.pieces.chunks(PIECES).map(part).collect()
}
