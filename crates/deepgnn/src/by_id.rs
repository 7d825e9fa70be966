//! Nodes, or the edges that leave them, by many ids at once, as parts of a scan of a binary.

use isomorph_model::{Cost, Narrowing, Part, Set, Tables, Way, part};

use crate::binary::{Binary, Partition};
use crate::block::Block;
use crate::source::{DeepGnn, Form, Wanted};

/// The nodes with some ids, and perhaps a few others: those of a partition in one part.
pub(crate) fn nodes<'g>(graph: &'g DeepGnn, binary: &'g Binary, ids: &Set, wanted: Wanted) -> Vec<Box<dyn Part + 'g>> {
    let mut before = 0;
    let of = |partition: &'g Partition| {
        let (ids, first, columns) = (ids.clone(), before, &graph.columns);
        before += partition.entries;
        let open = move || {
            let mut blocks = partition.node_blocks(0..0, &columns.node_features, wanted.depth);
            blocks.pending = partition.entries_of(&ids)?;
            blocks.pending.reverse();
            Ok((blocks, Block::default()))
        };
        part::stepped(None, open, move |(blocks, block), take| match blocks.fill(block)? {
            Some(start) => columns.nodes(block, first + start, wanted.rows, wanted.depth, take).map(|_| true),
            None => Ok(false),
        })
    };
    binary.partitions.iter().map(of).collect()
}

/// The edges that leave nodes with some ids, and perhaps a few others: those of a partition in one part.
pub(crate) fn edges<'g>(graph: &'g DeepGnn, binary: &'g Binary, ids: &Set, wanted: Wanted) -> Vec<Box<dyn Part + 'g>> {
    let of = |partition: &'g Partition| {
        let (ids, columns) = (ids.clone(), &graph.columns);
        let open = move || Ok((partition.entries_of(&ids)?.into_iter(), None, Block::default()));
        part::stepped(None, open, move |(entries, blocks, block), take| {
            let Some(reading) = blocks else {
                let Some(entries) = entries.next() else { return Ok(false) };
                *blocks = Some(partition.edge_blocks(entries, &columns.edge_features, wanted.depth)?);
                return Ok(true);
            };
            match reading.fill(block)? {
                Some(_) => columns.edges(block, wanted.rows, wanted.depth, take)?,
                None => *blocks = None,
            }
            Ok(true)
        })
    };
    binary.partitions.iter().map(of).collect()
}

impl DeepGnn {
    /// What it costs to find rows by a column: nothing says that the map of a binary is sorted, so the first look-up passes over it.
    pub(crate) fn cost_of(&self, tables: Tables, column: &str) -> Cost {
        let graph = isomorph_model::Source::graph(self);
        let is_edges = !matches!(tables, Tables::Nodes(_) | Tables::NodeKeys(_));
        let (is_found, rows) = match is_edges {
            true => (column == Narrowing::SOURCE, graph.edges.first().and_then(|ty| ty.rows)),
            false => (column == Narrowing::KEY, graph.node_rows()),
        };
        let Form::Binary(binary) = &self.form else { return Cost::pass(rows) };
        let sorted: Option<Vec<bool>> = binary.partitions.iter().map(Partition::is_sorted).collect();
        // Whether a node has several statements is found out at the first scan of nodes.
        let united = if is_edges { Some(false) } else { self.is_known_to_be_united() };
        match (sorted, united) {
            _ if !is_found => Cost::pass(rows),
            (Some(sorted), _) if sorted.contains(&false) => Cost::pass(rows),
            (_, Some(true)) => Cost::pass(rows),
            (Some(_), Some(_)) => Cost { way: Way::Sorted, rows: Some(0) },
            (None, _) | (_, None) => Cost { way: Way::Sorted, rows: Some(binary.entries()) },
        }
    }
}
