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

/// A piece of a text, with the numbers of lines and of quads before it.
pub(super) struct Numbered {
    piece: Piece,
    lines: u64,
    quads: u64,
}

/// The pieces of a text in order; empty if they are not the whole text, because something was skipped.
pub(super) fn of_all(mut pieces: Vec<Piece>, size: u64) -> Vec<Numbered> {
    pieces.sort_unstable_by_key(|piece| piece.begin);
    let (mut end, mut lines, mut quads) = (0, 0, 0);
    let mut numbered = Vec::with_capacity(pieces.len());
    for piece in pieces {
        if piece.begin != end {
            return Vec::new();
        }
        numbered.push(Numbered { piece, lines, quads });
        (end, lines, quads) = (piece.end, lines + piece.lines, quads + piece.quads);
    }
    if end == size { numbered } else { Vec::new() }
}

/// The numbers of quads at these positions, both ascending: a position is the start of its piece and the quads before it
/// in the piece.
pub(super) fn numbers(positions: &[u64], pieces: &[Numbered]) -> Vec<u64> {
    let mut pieces = pieces.iter().peekable();
    let number = |position: &u64| {
        while pieces.next_if(|of| of.piece.end <= *position).is_some() {}
        pieces.peek().map(|of| of.quads + position.saturating_sub(of.piece.begin))
    };
    positions.iter().filter_map(number).collect()
}

/// Tells for one quad after another whether it is a duplicate of an earlier one.
pub(super) struct Again<'a> {
    left: &'a [u64],
    number: u64,
}

impl<'a> Again<'a> {
    /// From the quad with this number on; `again` are the numbers of all duplicates.
    pub(super) fn from(again: &'a [u64], number: u64) -> Self {
        let first = again.partition_point(|again| *again < number);
        Again { left: again.get(first..).unwrap_or_default(), number }
    }

    /// Whether the next quad is one.
    pub(super) fn next(&mut self) -> bool {
        let is_one = self.left.first() == Some(&self.number);
        if is_one {
            self.left = self.left.get(1..).unwrap_or_default();
        }
        self.number += 1;
        is_one
    }
}

/// The parts that consist of these pieces.
pub(super) fn of<'a>(once: &'a Once, graph: &Graph, wanted: Wanted) -> Vec<Box<dyn Part + 'a>> {
    let part = |pieces: &'a [Numbered]| {
        let (mut left, mut collectors) = (pieces.iter(), Collectors::new(graph, wanted));
        let (start, quads) =
            (pieces.first().map_or(0, |first| first.quads), pieces.iter().map(|of| of.piece.quads).sum::<u64>());
        let mut again = Again::from(&once.again, start);
        let fewer = again.left.partition_point(|again| *again < start + quads);
        part::stepped(
            Some(quads.saturating_sub(fewer as u64)),
            || Ok(()),
            move |(), take| -> Result<bool> {
                let Some(Numbered { piece, lines, .. }) = left.next() else {
                    once.text.blob().check_unchanged()?;
                    collectors.finish(take)?;
                    return Ok(false);
                };
                once.text.read_piece(&once.options, (piece, *lines), &mut |quad| match again.next() {
                    true => Ok(()),
                    false => collectors.push(&quad, take),
                })?;
                Ok(true)
            },
        )
    };
    once.pieces.chunks(PIECES).map(part).collect()
}
