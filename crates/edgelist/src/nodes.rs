//! The nodes of an edge list: every distinct end, in the order of its first occurrence. The position of a name is twice the byte offset of its
//! line, plus one for the target.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int64Array};
use isomorph_error::Result;
use isomorph_model::{Batch, NodeBatch, Part, part};
use isomorph_storage::{Budget, Scratch};
use isomorph_tables::distinct::{Distinct, DistinctBuilder, DistinctPiece, DistinctValues};

use crate::grammar::{End, Item};
use crate::line::integer;
use crate::pieces::Piece;

/// Collects names from several threads.
pub(crate) struct Collector(DistinctBuilder);

impl Collector {
    /// Creates a collector for integers, or for names of any kind.
    ///
    /// # Errors
    /// Returns an error if the budget is almost exhausted.
    pub fn new(integers: bool, budget: &Budget, scratch: &Scratch) -> Result<Collector> {
        Ok(Collector(DistinctBuilder::new(integers, budget, scratch)?))
    }

    /// Returns a collector for the names of one piece.
    pub fn of_piece<'c>(&'c self, piece: &Piece) -> Own<'c> {
        Own { values: self.0.piece(), offset: piece.offset }
    }

    /// Returns the nodes.
    ///
    /// # Errors
    /// Returns an error if temporary files cannot be written or read.
    pub fn finish(self) -> Result<Nodes> {
        Ok(Nodes(self.0.finish()?))
    }
}

/// The names of one piece, each at its first position.
pub(crate) struct Own<'c> {
    values: DistinctPiece<'c>,
    offset: u64,
}

impl Own<'_> {
    /// Adds the ends of an edge whose line begins at this byte of the piece.
    pub fn see(&mut self, at: usize, source: &str, target: &str) {
        let at = 2 * (self.offset + at as u64);
        self.add(at, source);
        self.add(at + 1, target);
    }

    /// Adds the names in an item that is stated at this byte of the piece.
    pub fn name(&mut self, at: usize, item: &Item<'_, '_>) {
        let at = 2 * (self.offset + at as u64);
        let ends = match item {
            Item::Node(end, _) => [Some(*end), None],
            Item::Edge(source, target, ..) => [Some(*source), Some(*target)],
            Item::Odd(..) => [None, None],
        };
        for (end, at) in ends.into_iter().zip([at, at + 1]) {
            if let Some(End::Name(name)) = end {
                self.add(at, name);
            }
        }
    }

    fn add(&mut self, at: u64, name: &str) {
        if !self.values.has_integers() {
            self.values.text(at, name);
        } else if let Some(id) = integer(name) {
            self.values.integer(at, id.cast_unsigned());
        }
    }

    /// Passes the names on.
    ///
    /// # Errors
    /// Returns an error if a temporary file cannot be written.
    pub fn push(mut self) -> Result<()> {
        self.values.push()
    }
}

/// The nodes, in the order of their first occurrence.
pub(crate) struct Nodes(Distinct);

impl Nodes {
    /// Returns their number.
    pub fn rows(&self) -> u64 {
        self.0.rows()
    }

    /// Returns all of them, as one part.
    pub fn part(&self, at_once: usize) -> Box<dyn Part + '_> {
        let mut start = 0;
        part::stepped(
            Some(self.rows()),
            || self.0.stream(),
            move |stream, take| {
                let Some(values) = stream.next_values()? else { return Ok(false) };
                let keys: ArrayRef = match values {
                    DistinctValues::Integers(all) => {
                        Arc::new(all.into_iter().map(|id| Some(id.cast_signed())).collect::<Int64Array>())
                    }
                    DistinctValues::Texts(texts) => texts,
                };
                for from in (0..keys.len()).step_by(at_once.max(1)) {
                    let rows = at_once.min(keys.len() - from);
                    let keys = Some(keys.slice(from, rows));
                    let node =
                        NodeBatch { ty: 0, start, numbers: None, rows, keys, labels: None, properties: Vec::new() };
                    start += rows as u64;
                    take(Batch::Nodes(node))?;
                }
                Ok(true)
            },
        )
    }
}
