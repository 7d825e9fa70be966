//! Positions of rows, packed into 64 bits: piece, row in the piece, and a mark of one bit.

use isomorph_error::{Error, Kind, Result};

/// A row of a piece, with a mark. The order is that of the rows in the dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Position(pub u64);

/// Number of bits for the row within a piece.
const ROW_BITS: u32 = 39;

/// Maximum number of pieces in a dataset.
const PIECES: usize = 1 << (63 - ROW_BITS);

impl Position {
    /// Creates the position of a row with its mark.
    pub fn new(piece: usize, row: u64, mark: bool) -> Self {
        Position(((piece as u64) << (ROW_BITS + 1)) | (row << 1) | u64::from(mark))
    }

    /// Returns the piece.
    pub fn piece(self) -> usize {
        (self.0 >> (ROW_BITS + 1)) as usize
    }

    /// Returns the row in the piece.
    pub fn row(self) -> u64 {
        (self.0 >> 1) & ((1 << ROW_BITS) - 1)
    }

    /// Returns the mark.
    pub fn mark(self) -> bool {
        self.0 & 1 == 1
    }

    /// Returns the same position without the mark.
    pub fn unmarked(self) -> Self {
        Position(self.0 & !1)
    }

    /// Returns the positions in `piece` from an ascending list.
    pub fn within(positions: &[Position], piece: usize) -> &[Position] {
        let from = positions.partition_point(|position| position.piece() < piece);
        let to = positions.partition_point(|position| position.piece() <= piece);
        positions.get(from..to).unwrap_or_default()
    }

    /// Checks that the rows of a dataset can be numbered.
    ///
    /// # Errors
    /// Returns [`Kind::TooLarge`] if they cannot.
    pub fn check(pieces: usize, rows: u64) -> Result<()> {
        if pieces > PIECES || rows >= 1 << ROW_BITS {
            return Err(Error::new(Kind::TooLarge, "the dataset has too many pieces or rows"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back() {
        let position = Position::new(PIECES - 1, (1 << ROW_BITS) - 1, true);
        assert_eq!((position.piece(), position.row(), position.mark()), (PIECES - 1, (1 << ROW_BITS) - 1, true));
        assert!(Position::new(0, 5, true) < Position::new(0, 6, false));
        assert!(Position::new(0, 1 << 38, true) < Position::new(1, 0, false));
    }

    #[test]
    fn positions_of_a_piece_are_found() {
        let all: Vec<Position> = [(0, 1), (2, 0), (2, 7), (3, 1)].map(|(p, r)| Position::new(p, r, false)).to_vec();
        assert_eq!(Position::within(&all, 2), &all[1..3]);
        assert!(Position::within(&all, 1).is_empty());
        assert!(Position::within(&all, 9).is_empty());
    }
}
