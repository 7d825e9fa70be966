//! The dataset as a [`Source`] of model batches.

use isomorph_error::{Error, Findings, Result};
use isomorph_model::statistics::{ColumnStatistics, Known, Statistics};
use isomorph_model::{
    About, Cost, EdgeOrder, Graph, Narrowing, NodeId, Part, Progress, Request, Side, Source, Tables, Way,
};

use super::Nock;
use super::description::about;
use super::part::{ImplicitPart, RowPart};
use crate::node_rows::Settled;
use crate::rows::Depth;
use crate::{Tolerance, validate};

/// Returns how much of nodes and edges a request needs.
fn depths(request: &Request) -> (Depth, Depth) {
    match request.tables {
        Tables::AllNodes if request.is_of_keys() => (Depth::Keys, Depth::None),
        Tables::All => (Depth::Full, Depth::Full),
        Tables::AllNodes | Tables::Nodes(0) => (Depth::Full, Depth::None),
        Tables::NodeKeys(0) => (Depth::Keys, Depth::None),
        Tables::AllEdges | Tables::Edges(0) => (Depth::None, Depth::Full),
        Tables::EdgeEnds(0) => (Depth::None, Depth::Keys),
        Tables::Nodes(_) | Tables::NodeKeys(_) | Tables::Edges(_) | Tables::EdgeEnds(_) | Tables::Rest => {
            (Depth::None, Depth::None)
        }
    }
}

impl Source for Nock {
    fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Compares all names: chooses a row for each node, and finds nodes without a row.
    fn prepare(&self, threads: usize, progress: &dyn Progress) -> Result<()> {
        if self.settled().is_some() {
            return Ok(());
        }
        progress.begin("names", self.partitions.iter().map(|partition| partition.rows).sum());
        let settled = self.settle_for(threads, &|rows| progress.advance(rows));
        progress.end();
        settled.map(|_| ())
    }

    /// Returns one part for each piece, followed by the nodes that only edge rows mention. Edges are in file
    /// order: after their source's row, if the file is in sequence.
    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        if request.order == EdgeOrder::Target || request.order == EdgeOrder::Source && self.edge_orders(0).is_empty() {
            return Err(Error::unsupported("the edges of this file are not in that order"));
        }
        if self.options.tolerance == Tolerance::Strict && self.approved.get().is_none() {
            validate::refuse(self)?;
            let _ = self.approved.set(());
        }
        let (nodes, edges) = depths(request);
        if (nodes, edges) == (Depth::None, Depth::None) {
            return Ok(Vec::new());
        }
        if [nodes, edges].contains(&Depth::Full) {
            self.check_extras()?;
        }
        let unsettled = Settled::default();
        let settled = if nodes == Depth::None { None } else { Some(self.settle()?) };
        let parts = (0..self.pieces.len()).map(|piece| {
            let part = RowPart {
                nock: self,
                piece,
                nodes,
                edges,
                narrowing: request.narrowing().cloned(),
                start: settled.and_then(|settled| settled.starts.get(piece).copied()).unwrap_or_default(),
                dropped: settled.map_or(&[], |settled| settled.dropped_in(piece)),
                batch_rows: request.batch_rows.max(1),
            };
            part.part()
        });
        let mut parts: Vec<Box<dyn Part + '_>> = parts.collect();
        let settled = settled.unwrap_or(&unsettled);
        let mut start = settled.nodes - settled.implicit_nodes;
        for piece in 0..self.pieces.len() {
            if let Some(settled) = self.settled().filter(|_| nodes != Depth::None) {
                let mentions = settled.implicit_in(piece);
                if !mentions.is_empty() {
                    let batch_rows = request.batch_rows.max(1);
                    parts.push(ImplicitPart { nock: self, piece, mentions, start, batch_rows }.part());
                    start += mentions.len() as u64;
                }
            }
        }
        Ok(parts)
    }

    /// Returns the order by source if every edge row follows the row of its node, which is verified by comparing names.
    fn edge_orders(&self, _ty: usize) -> Vec<EdgeOrder> {
        match self.settle() {
            Ok(settled) if settled.in_sequence => vec![EdgeOrder::Source],
            // If names cannot be compared, no order is known and the edges are sorted, which gives the same result;
            // the error is reported when the graph is prepared or its nodes are read.
            Ok(_) | Err(_) => Vec::new(),
        }
    }

    fn about(&self) -> About {
        about(self)
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        crate::lookup::neighbors(self, edge, node, side)
    }

    /// Names are found by the bounds of pages, in a file that is sorted by them; which row speaks for a node takes a look at all names, once.
    fn look_up_cost(&self, tables: Tables, column: &str) -> Cost {
        let rows = self.partitions.iter().map(|partition| partition.rows).sum();
        let is_told = self.partitions.iter().all(|partition| partition.has_bounds());
        match (tables, column) {
            (Tables::Nodes(_) | Tables::NodeKeys(_), Narrowing::KEY) if is_told => {
                Cost { way: Way::Sorted, rows: if self.settled().is_some() { Some(0) } else { rows } }
            }
            (Tables::Edges(_) | Tables::EdgeEnds(_), Narrowing::SOURCE) if is_told => {
                Cost { way: Way::Sorted, rows: None }
            }
            _ => Cost::pass(rows),
        }
    }

    /// Rows are counted where names were compared: which row speaks for a node, and which nodes have none, is not known before.
    fn statistics(&self, tables: Tables) -> Result<Statistics> {
        let Some(settled) = self.settled() else { return Ok(Statistics::default()) };
        Ok(match tables {
            Tables::Nodes(0) | Tables::NodeKeys(0) => {
                let rows = Known::Exact(settled.nodes);
                Statistics { rows, columns: vec![(Narrowing::KEY.to_owned(), ColumnStatistics::of_keys(rows))] }
            }
            Tables::Edges(0) | Tables::EdgeEnds(0) => {
                Statistics { rows: Known::Exact(settled.edges), columns: Vec::new() }
            }
            _ => Statistics::default(),
        })
    }

    fn validate(&self, findings: &mut Findings) -> Result<()> {
        validate::validate(self, findings)
    }
}
