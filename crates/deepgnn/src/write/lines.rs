//! Sorted records as blocks of lines: a node with its edges, or the edges of an id that is not a node.

use isomorph_error::Result;

use super::encode;
use super::records::{Key, Records};
use crate::block::{Block, Life};

/// Maximum number of elements of a block.
const ELEMENTS: usize = 32_768;

/// Number of bytes of the features of a block, unless one element has more.
const BYTES: usize = 4 << 20;

/// Lines of a block. The last one may continue in the next block, with the same number.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub block: Block,
    /// The number of each line.
    pub numbers: Vec<u64>,
}

impl Lines {
    fn is_full(&self) -> bool {
        let (nodes, edges) = (&self.block.nodes, &self.block.edges);
        nodes.ids.len() + edges.sources.len() >= ELEMENTS
            || nodes.features.bytes.len() + edges.features.bytes.len() >= BYTES
    }

    fn end_line(&mut self, number: u64) {
        self.block.end_record(0);
        self.numbers.push(number);
    }
}

/// The requested times.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    pub nodes: bool,
    pub edges: bool,
}

/// Delivers all records as lines, in their order.
///
/// # Errors
/// Returns the errors of `take`, and an error if temporary files cannot be read.
pub(super) fn each(records: Records, times: Times, mut take: impl FnMut(&Lines) -> Result<()>) -> Result<()> {
    let mut lines = Lines::default();
    lines.block.edges.settled = true;
    // The current line: its number and its node.
    let mut open: Option<(u64, u64)> = None;
    // Whether it has any elements in this block.
    let mut begun = false;
    records.each(|key, record| {
        let next = match open {
            Some((number, id)) if key.rank > 0 && id == key.id => number,
            Some((number, _)) => {
                if begun {
                    lines.end_line(number);
                }
                number + 1
            }
            None => 0,
        };
        open = Some((next, key.id));
        begun = true;
        let Block { nodes, edges, .. } = &mut lines.block;
        let (weight, life) = (encode::weight(record), life(key));
        if key.rank == 0 {
            encode::features(record, &mut nodes.features);
            #[expect(clippy::cast_possible_truncation, reason = "a type, from 0 to 65535")]
            let ty = key.other as i32;
            lines.block.node(key.id, ty, weight, times.nodes.then_some(life));
        } else {
            encode::features(record, &mut edges.features);
            lines.block.edge(key.id, key.other, key.rank.cast_signed() - 1, weight);
            lines.block.edge_says(false, times.edges.then_some(life));
        }
        if lines.is_full() {
            lines.end_line(next);
            begun = false;
            take(&lines)?;
            lines.block.clear();
            lines.numbers.clear();
        }
        Ok(())
    })?;
    if let Some((number, _)) = open.filter(|_| begun) {
        lines.end_line(number);
    }
    take(&lines)
}

fn life(key: Key) -> Life {
    Life { created: Some(key.created), removed: Some(key.removed.time()) }
}
