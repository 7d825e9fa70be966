//! A graph in memory, for tests, small inputs, and users who build a graph by hand.

mod near;

use std::collections::BTreeMap;

use isomorph_error::{Error, Result};

use crate::digest::{ContentDigest, Digest, LineKind, OrderDigest, RowHashes, Table, edge_keys};
use crate::{Batch, EndForm, Ends, Graph, NodeId, Part, Request, Side, Source, Tables, part};

/// A [`Graph`] with its batches.
#[derive(Debug, Clone, Default)]
pub struct MemoryGraph {
    /// The description.
    pub graph: Graph,
    /// The batches. Tables may be in any order; the rows of a table are in their own order.
    pub batches: Vec<Batch>,
}

impl MemoryGraph {
    /// Reads a source into memory.
    ///
    /// # Errors
    /// Returns an error if `source` cannot be read.
    pub fn read(source: &dyn Source) -> Result<Self> {
        let mut batches = Vec::new();
        for part in source.scan(&Request::of(Tables::All))? {
            for batch in part {
                batches.push(batch?);
            }
        }
        Ok(MemoryGraph { graph: source.graph().clone(), batches })
    }
}

/// Key hashes of all elements to which rows refer.
#[derive(Default)]
struct Hashes(BTreeMap<(LineKind, usize), Vec<u128>>);

impl RowHashes for Hashes {
    fn gather(&self, ty: usize, rows: &[u64], out: &mut Vec<u128>) -> Result<()> {
        self.gather_of(LineKind::Nodes, ty, rows, out)
    }

    fn gather_of(&self, kind: LineKind, ty: usize, rows: &[u64], out: &mut Vec<u128>) -> Result<()> {
        let hashes = self.0.get(&(kind, ty)).map(Vec::as_slice).unwrap_or_default();
        for &row in rows {
            let hash = usize::try_from(row).ok().and_then(|row| hashes.get(row));
            out.push(*hash.ok_or_else(|| Error::malformed(format!("row {row} of {} does not exist", kind.word())))?);
        }
        Ok(())
    }
}

impl Hashes {
    /// Stores the hashes of rows from `start` on; batches may come in any order.
    fn keep(&mut self, kind: LineKind, ty: usize, start: u64, keys: &[u128]) -> Result<()> {
        let all = self.0.entry((kind, ty)).or_default();
        let start = usize::try_from(start).map_err(|_| Error::malformed("row number is too large"))?;
        all.resize(all.len().max(start + keys.len()), 0);
        all.iter_mut().skip(start).zip(keys).for_each(|(slot, key)| *slot = *key);
        Ok(())
    }
}

impl MemoryGraph {
    /// Returns the content digest.
    ///
    /// # Errors
    /// Returns an error if a batch is invalid.
    pub fn digest(&self) -> Result<Digest> {
        self.digest_table().map(|table| table.digest())
    }

    /// Returns the sums from which the content digest is computed.
    ///
    /// # Errors
    /// Returns an error if a batch is invalid.
    pub fn digest_table(&self) -> Result<Table> {
        let mut digest = ContentDigest::default();
        let mut hashes = Hashes::default();
        let mut edges = BTreeMap::<usize, u64>::new();
        for batch in &self.batches {
            match batch {
                Batch::Nodes(nodes) => {
                    let keys = digest.nodes(&self.graph, nodes)?;
                    hashes.keep(LineKind::Nodes, nodes.ty, nodes.start, keys)?;
                }
                Batch::Hyperedges(batch) => {
                    let keys = digest.hyperedges(&self.graph, batch)?;
                    hashes.keep(LineKind::Hyperedges, batch.ty, batch.start, &keys)?;
                }
                Batch::Groups(batch) => {
                    let keys = digest.groups(&self.graph, batch)?;
                    hashes.keep(LineKind::Groups, batch.kind, batch.start, &keys)?;
                }
                Batch::Edges(batch) => {
                    let keys = edge_keys(&self.graph, batch)?;
                    let start = edges.entry(batch.ty).or_default();
                    hashes.keep(LineKind::Edges, batch.ty, *start, &keys)?;
                    *start += keys.len() as u64;
                }
                _ => {}
            }
        }
        for batch in &self.batches {
            match batch {
                Batch::Edges(edges) => digest.edges(&self.graph, edges, &hashes)?,
                Batch::Members(_) | Batch::Values(_) | Batch::Memberships(_) => {
                    digest.rest(&self.graph, batch, &hashes)?;
                }
                Batch::Nodes(_) | Batch::Hyperedges(_) | Batch::Groups(_) => {}
            }
        }
        digest.documents(&self.graph)?;
        Ok(digest.into_table())
    }

    /// Returns the order digest.
    ///
    /// # Errors
    /// Returns an error if a batch is invalid.
    pub fn order_digest(&self) -> Result<Digest> {
        let (mut order, mut content) = (OrderDigest::default(), ContentDigest::default());
        for batch in &self.batches {
            match batch {
                Batch::Nodes(nodes) => order.nodes(&self.graph, nodes, content.nodes(&self.graph, nodes)?)?,
                Batch::Groups(groups) => order.groups(&self.graph, groups, &content.groups(&self.graph, groups)?)?,
                _ => {}
            }
        }
        Ok(order.digest())
    }
}

impl Source for MemoryGraph {
    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn end_form(&self, ty: usize) -> EndForm {
        let rows = |batch: &Batch| matches!(batch, Batch::Edges(edges) if edges.ty == ty && matches!(edges.source, Ends::Rows(_)));
        if self.batches.iter().any(rows) { EndForm::Rows } else { EndForm::Keys }
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        if request.order != crate::EdgeOrder::Any {
            return Err(Error::unsupported("a graph in memory has only one order of edges"));
        }
        let wanted = |batch: &&Batch| match (request.tables, *batch) {
            (Tables::All, _) => true,
            (Tables::AllNodes, batch) => matches!(batch, Batch::Nodes(_)),
            (Tables::AllEdges, batch) => matches!(batch, Batch::Edges(_)),
            (Tables::Nodes(ty) | Tables::NodeKeys(ty), Batch::Nodes(batch)) => batch.ty == ty,
            (Tables::Edges(ty) | Tables::EdgeEnds(ty), Batch::Edges(batch)) => batch.ty == ty,
            (Tables::Rest, Batch::Nodes(_) | Batch::Edges(_)) => false,
            (Tables::Rest, _) => true,
            _ => false,
        };
        Ok(self.batches.iter().filter(wanted).map(one).collect())
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        self.near(edge, node, side).map(part::edges)
    }
}

fn one(batch: &Batch) -> Box<dyn Part + '_> {
    part::of(Some(batch.rows() as u64), std::iter::once_with(|| Ok(batch.clone())))
}
