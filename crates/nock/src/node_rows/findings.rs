//! Findings of settling.

use isomorph_error::{Findings, Place};

use super::Position;
use super::resolve::Piece;
use crate::rules;

/// Number of places that are kept for each rule.
const KEEP: usize = 8;

/// A node row that is not the chosen row of its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Breach {
    /// There is another row of the node in the same partition.
    Repeated(Position),
    /// Another partition owns the node too.
    Owners(Position),
    /// It is a shadow row with values that the chosen row does not have.
    Differs(Position),
}

/// Returns the findings, with places in the order of rows. `absent` are mentions of nodes that have a row in other partitions only.
pub(super) fn findings(
    implicit: &[Position],
    absent: &[Position],
    unresolved: &[Position],
    mut breaches: Vec<Breach>,
    place_of: &dyn Fn(Position) -> Place,
) -> Findings {
    let mut findings = Findings::keeping(KEEP);
    breaches.sort_unstable();
    let (mut repeated, mut owners, mut differing) = (Vec::new(), Vec::new(), Vec::new());
    for breach in breaches {
        match breach {
            Breach::Repeated(row) => repeated.push(row),
            Breach::Owners(row) => owners.push(row),
            Breach::Differs(row) => differing.push(row),
        }
    }
    let mut push = |rule, message: &str, rows: &mut dyn Iterator<Item = Position>| {
        // Computing places costs more than counting, and only the first few are kept.
        for (index, row) in rows.enumerate() {
            findings.push(rule, message, if index < KEEP { place_of(row) } else { Place::default() });
        }
    };
    push(&rules::NODE_IMPLICIT, "this end of an edge has no node row", &mut implicit.iter().copied());
    push(&rules::SHADOW_MISSING, "this end of an edge has no row in this partition", &mut absent.iter().copied());
    push(&rules::SHADOW_OWNER, "this node belongs to a partition that is not here", &mut unresolved.iter().copied());
    push(&rules::NODE_REPEATED, "another row of the same node takes precedence", &mut repeated.into_iter());
    push(&rules::NODE_OWNERS, "another partition also owns this node", &mut owners.into_iter());
    let message = "this shadow row has values that the chosen row does not have";
    push(&rules::SHADOW_VALUES, message, &mut differing.into_iter());
    findings
}

/// Returns the findings for edge rows that do not follow the row of their node.
pub(super) fn out_of_sequence(
    pieces: &[Piece],
    partition_of: &dyn Fn(usize) -> usize,
    place_of: &dyn Fn(Position) -> Place,
) -> Findings {
    let mut findings = Findings::keeping(KEEP);
    let mut last: Option<(usize, u128)> = None;
    for (index, piece) in pieces.iter().enumerate() {
        let partition = partition_of(index);
        let mut strays = piece.strays;
        let mut first = piece.first_stray;
        if let Some((head, count)) = piece.head
            && last != Some((partition, head))
        {
            strays += count;
            first = Some(0);
        }
        for stray in 0..strays {
            // Only the first place is known; the others are only counted.
            let place = if stray == 0 { first } else { None };
            let place = place.map(|row| place_of(Position::new(index, row, false))).unwrap_or_default();
            findings.push(&rules::EDGE_SEQUENCE, "this edge row does not follow the row of its node", place);
        }
        if let Some((hash, _)) = piece.last {
            last = Some((partition, hash));
        } else if last.is_some_and(|(before, _)| before != partition) {
            last = None;
        }
    }
    findings
}
