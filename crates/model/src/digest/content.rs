//! The content digest of nodes and edges. Everything else is in [`super::rest`].

use arrow_array::Array;
use isomorph_error::{Error, Result};

use super::encode::Buffer;
use super::fact::{KeyStem, of_parts, row_hash, stem};
use super::table::{Digest, FactTaker, Line, LineKind, Table, Tallies, Tally};
use super::values::{add_values, same_length, sum_row_values};
use crate::schema::Owner;
use crate::{Direction, EdgeBatch, EdgeType, Ends, Graph, KeyKind, LabelColumn, NodeBatch, well_known};

/// The key hashes of elements by row, which are needed where ends or owners are rows of a type with keys.
pub trait RowHashes {
    /// Appends the hashes of the keys of the given rows of node type `ty`.
    ///
    /// # Errors
    /// Returns an error if a row does not exist.
    fn gather(&self, ty: usize, rows: &[u64], out: &mut Vec<u128>) -> Result<()>;

    /// Appends the hashes of the keys of the given rows of type `ty` of another kind of elements: edges, hyperedges or
    /// groups. Sources that refer to those by key need no such look-up.
    ///
    /// # Errors
    /// Returns an error if a row does not exist, or rows of this kind were not declared.
    fn gather_of(&self, kind: LineKind, ty: usize, rows: &[u64], out: &mut Vec<u128>) -> Result<()> {
        match kind {
            LineKind::Nodes => self.gather(ty, rows, out),
            _ => Err(Error::usage(format!("{} are referred to by row, but declared as keys", kind.word()))),
        }
    }
}

/// Hashes in memory, by node type and row.
impl RowHashes for Vec<Vec<u128>> {
    fn gather(&self, ty: usize, rows: &[u64], out: &mut Vec<u128>) -> Result<()> {
        let hashes = self.get(ty).map(Vec::as_slice).unwrap_or_default();
        for &row in rows {
            let hash = usize::try_from(row).ok().and_then(|row| hashes.get(row));
            out.push(*hash.ok_or_else(|| Error::malformed(format!("row {row} has no node")))?);
        }
        Ok(())
    }
}

/// A content digest in progress. Add batches in any order, on any thread, and merge the digests.
#[derive(Debug, Default)]
pub struct ContentDigest {
    pub(super) tallies: Tallies,
    pub(super) buffer: Buffer,
    pub(super) hashes: [Vec<u128>; 3],
}

impl ContentDigest {
    /// Creates a digest that also passes each fact to `taker`.
    pub fn with_taker(taker: FactTaker) -> Self {
        let tallies = Tallies { taker: Some(taker), ..Tallies::default() };
        ContentDigest { tallies, ..ContentDigest::default() }
    }

    /// Adds the sums of another thread.
    pub fn merge(&mut self, other: ContentDigest) {
        self.tallies.table.merge(other.tallies.table);
    }

    /// Returns the table of sums so far.
    pub fn table(&self) -> &Table {
        &self.tallies.table
    }

    /// Returns the table of sums.
    pub fn into_table(self) -> Table {
        self.tallies.table
    }

    /// Returns the digest of the table so far.
    pub fn digest(&self) -> Digest {
        self.tallies.table.digest()
    }

    /// Adds nodes; returns the hashes of their keys, in order.
    ///
    /// # Errors
    /// Returns an error if a key is null, a JSON cell is not JSON, or the model does not support a type.
    pub fn nodes(&mut self, graph: &Graph, batch: &NodeBatch) -> Result<&[u128]> {
        let ty = graph.nodes.get(batch.ty).ok_or_else(|| Error::usage("no such node type"))?;
        let key_stem = node_key_stem(graph, batch.ty);
        let mut hashes = std::mem::take(&mut self.hashes[0]);
        hashes.clear();
        match &batch.keys {
            Some(keys) => {
                same_length(keys, batch.rows, "key")?;
                key_stem.hash(keys.as_ref(), &mut self.buffer, &mut hashes)?;
            }
            None if key_stem.kind == KeyKind::Row => {
                hashes.extend((0..batch.rows as u64).map(|row| row_hash(key_stem.stem, batch.start + row)));
            }
            None => return Err(Error::usage(format!("the keys of nodes of type {} are missing", ty.name))),
        }
        let names = [ty.name.as_str()];
        if !ty.implied {
            let stem = stem(LineKind::Nodes.word(), &names, "");
            let mut sum = self.tallies.begin();
            hashes.iter().for_each(|hash| sum.add(of_parts([stem, *hash])));
            self.tallies.merge_line(Line::new(LineKind::Nodes, &names, ""), sum);
            self.all_groups(graph, Owner::Nodes(batch.ty), &hashes)?;
        }
        if let Some(labels) = &batch.labels {
            self.labels(&names, labels, &hashes)?;
        }
        let (table, buffer) = (&mut self.tallies, &mut self.buffer);
        add_values(table, buffer, (LineKind::Nodes, &names), &ty.properties, &batch.properties, &hashes)?;
        self.hashes[0] = hashes;
        Ok(&self.hashes[0])
    }

    fn labels(&mut self, ty: &[&str], labels: &LabelColumn, hashes: &[u128]) -> Result<()> {
        if labels.len() != hashes.len() {
            return Err(Error::usage("the number of rows of the labels differs from the batch"));
        }
        let stem = stem(LineKind::Nodes.word(), ty, well_known::LABELS);
        let names: Vec<u128> = labels
            .names()
            .iter()
            .map(|name| {
                self.buffer.bytes.clear();
                self.buffer.text(name);
                self.buffer.hash()
            })
            .collect();
        let mut sum = self.tallies.begin();
        for (hash, &set) in hashes.iter().zip(labels.rows()) {
            for name in labels.sets().get(set as usize).into_iter().flatten() {
                let name = names.get(*name as usize).copied().unwrap_or_default();
                sum.add(of_parts([stem, *hash, name]));
            }
        }
        self.tallies.merge_line(Line::new(LineKind::Nodes, ty, well_known::LABELS), sum);
        Ok(())
    }

    /// Adds edges. `rows` provides the key hashes of ends that are rows of a keyed node type.
    ///
    /// # Errors
    /// Same as for nodes; also if an end does not exist.
    pub fn edges(&mut self, graph: &Graph, batch: &EdgeBatch, rows: &dyn RowHashes) -> Result<()> {
        let ty = graph.edges.get(batch.ty).ok_or_else(|| Error::usage("no such edge type"))?;
        let [mut sources, mut targets, mut values] = std::mem::take(&mut self.hashes);
        let done = self
            .end_hashes(graph, ty.source, &batch.source, rows, &mut sources)
            .and_then(|()| self.end_hashes(graph, ty.target, &batch.target, rows, &mut targets))
            .and_then(|()| self.edges_between(graph, ty, batch, &mut sources, &mut targets, &mut values));
        self.hashes = [sources, targets, values];
        done
    }

    fn edges_between(
        &mut self,
        graph: &Graph,
        ty: &EdgeType,
        batch: &EdgeBatch,
        sources: &mut [u128],
        targets: &mut [u128],
        values: &mut Vec<u128>,
    ) -> Result<()> {
        if sources.len() != batch.rows || targets.len() != batch.rows {
            return Err(Error::usage("the number of ends in an edge batch differs from its rows"));
        }
        if let Some((source, target)) = &batch.layers {
            self.with_details(source.as_ref(), sources)?;
            self.with_details(target.as_ref(), targets)?;
        }
        if let Some(directed) = &batch.directed {
            same_length(directed, batch.rows, well_known::DIRECTED)?;
        }
        let (source, fixed, target) = graph.edge_name(ty);
        let names = [source.as_str(), &fixed, &target];
        // Keyed edges are identified by their key; any other edge is one fact that includes its values.
        values.clear();
        match (&ty.key, &batch.keys) {
            (Some(key), Some(keys)) => {
                same_length(keys, batch.rows, "key")?;
                KeyStem::new("edges", &names, key.kind).hash(keys.as_ref(), &mut self.buffer, values)?;
                self.all_groups(graph, Owner::Edges(batch.ty), values)?;
                let (table, buffer) = (&mut self.tallies, &mut self.buffer);
                add_values(table, buffer, (LineKind::Edges, &names), &ty.properties, &batch.properties, values)?;
            }
            (Some(_), None) => return Err(Error::usage("the keys of keyed edges are missing")),
            (None, _) => {
                values.resize(batch.rows, 0);
                sum_row_values(&mut self.buffer, &ty.properties, &batch.properties, values)?;
            }
        }
        let relations: Vec<&str> = match &batch.relations {
            Some(relations) => {
                same_length(&relations.index, batch.rows, "relation")?;
                relations.names.iter().map(Option::unwrap_or_default).collect()
            }
            None => vec![&fixed],
        };
        let mut sums: Vec<(u128, Tally)> = relations
            .iter()
            .map(|relation| (stem("edges", &[&source, relation, &target], ""), self.tallies.begin()))
            .collect();
        let same_type = ty.source == ty.target;
        for row in 0..batch.rows {
            let relation = batch.relations.as_ref().map_or(0, |relations| relations.index.value(row) as usize);
            let Some((stem, sum)) = sums.get_mut(relation) else {
                return Err(Error::usage("an edge refers to a relation that does not exist in its batch"));
            };
            let (from, to) = (sources[row], targets[row]);
            let directed = is_directed(ty.direction, batch.directed.as_ref(), row);
            let (from, to) = if !directed && same_type && to < from { (to, from) } else { (from, to) };
            sum.add(of_parts([*stem, from, to, u128::from(directed), values[row]]));
        }
        for (relation, (_, sum)) in relations.iter().zip(sums) {
            self.tallies.merge_line(Line::new(LineKind::Edges, &[&source, relation, &target], ""), sum);
        }
        Ok(())
    }

    /// Returns the key hashes of the ends of edges, members or owners among the nodes of type `ty`.
    pub(super) fn end_hashes(
        &mut self,
        graph: &Graph,
        ty: usize,
        ends: &Ends,
        rows: &dyn RowHashes,
        out: &mut Vec<u128>,
    ) -> Result<()> {
        out.clear();
        let key_stem = node_key_stem(graph, ty);
        match ends {
            Ends::Rows(ends) if key_stem.kind == KeyKind::Row => {
                out.extend(ends.values().iter().map(|row| row_hash(key_stem.stem, *row)));
                Ok(())
            }
            Ends::Rows(ends) => rows.gather(ty, ends.values(), out),
            Ends::Keys(keys) => key_stem.hash(keys.as_ref(), &mut self.buffer, out),
        }
    }
}

/// Whether a row is directed, which is the default.
pub(crate) fn is_directed(direction: Direction, rows: Option<&arrow_array::BooleanArray>, row: usize) -> bool {
    match direction {
        Direction::Directed => true,
        Direction::Undirected => false,
        Direction::PerRow => rows.is_none_or(|directed| directed.is_null(row) || directed.value(row)),
    }
}

/// Returns how the keys of a node type are hashed.
pub(super) fn node_key_stem(graph: &Graph, ty: usize) -> KeyStem {
    let (name, kind) = graph.nodes.get(ty).map_or(("", KeyKind::Row), |ty| (ty.name.as_str(), ty.key.kind));
    KeyStem::new("nodes", &[name], kind)
}
