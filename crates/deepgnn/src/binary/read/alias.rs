//! Checking the tables for weighted sampling against their elements.

use bytes::Bytes;
use isomorph_error::{Findings, Place, Result};
use isomorph_storage::Root;

use super::Binary;
use crate::binary::layout::{DUMMY, alias};
use crate::block::Depth;
use crate::feature::FeatureColumns;
use crate::rules;

/// Bytes of a table that are read at a time.
const BUFFER: u64 = 64 << 10;

/// Checks every table: it exists if any does, its records are those of the elements of its type in their order,
/// probabilities are from 0 to 1, and a table of edges, whose weights are known, gives each edge its share.
///
/// # Errors
/// Returns an error if a file cannot be read.
pub(crate) fn check(binary: &Binary, findings: &mut Findings) -> Result<()> {
    let names = binary.root.list_dir("")?;
    let has =
        |element: &str| names.iter().any(|entry| entry.name.starts_with(element) && entry.name.ends_with(".alias"));
    let (of_nodes, of_edges) = (has("node_"), has("edge_"));
    let none = FeatureColumns::default();
    for (number, partition) in (0..).zip(&binary.partitions) {
        if of_nodes {
            let mut tables = Tables::open(&binary.root, "node", binary.meta.node_types.number, number, 8, findings)?;
            partition.nodes(0..partition.entries, &none, Depth::Bare, &mut |block| {
                for (id, ty) in block.nodes.ids.iter().zip(&block.nodes.types).filter(|(_, ty)| **ty != DUMMY) {
                    tables.take(*ty, &id.to_le_bytes(), None, findings)?;
                }
                Ok(())
            })?;
            tables.finish(findings);
        }
        if of_edges {
            let mut tables = Tables::open(&binary.root, "edge", binary.meta.edge_types.number, number, 16, findings)?;
            partition.edges(0..partition.entries, &none, Depth::Bare, &mut |_, block| {
                let edges = &block.edges;
                let ends = edges.sources.iter().zip(&edges.targets);
                for ((ends, ty), weight) in ends.zip(&edges.types).zip(&edges.weights) {
                    let mut ids = [0; 16];
                    ids[..8].copy_from_slice(&ends.0.to_le_bytes());
                    ids[8..].copy_from_slice(&ends.1.to_le_bytes());
                    tables.take(*ty, &ids, Some(*weight), findings)?;
                }
                Ok(())
            })?;
            tables.finish(findings);
        }
    }
    Ok(())
}

/// The tables of all types of one partition. Their files are opened for each run of records, because there may be more
/// types than files that a process can have open.
struct Tables<'a> {
    root: &'a Root,
    tables: Vec<Option<Table>>,
    /// Bytes of the ids of an element.
    id: usize,
}

struct Table {
    name: String,
    size: u64,
    /// Position of the next record that is not in the buffer.
    next: u64,
    buffer: Bytes,
    /// Number of records that have been read.
    count: u64,
    /// Whether a record has the probability 1, as at least one has with Vose's method.
    has_whole: bool,
    /// A table that is wrong is reported only once.
    is_wrong: bool,
    /// Shares according to the table, and weights, each multiplied by two numbers that are derived from the ids: equal
    /// shares have equal sums.
    shares: [f64; 2],
    weights: [f64; 2],
    total: f64,
}

impl Table {
    fn wrong(&mut self, what: impl Into<String>, findings: &mut Findings) {
        if !std::mem::replace(&mut self.is_wrong, true) {
            findings.push(&rules::ALIAS, what.into(), Place::file(self.name.as_str()).row(self.count));
        }
    }

    /// Returns the next record.
    fn record(&mut self, root: &Root, size: usize) -> Result<Option<Bytes>> {
        if self.buffer.is_empty() {
            let end = self.size.min(self.next + BUFFER / size as u64 * size as u64);
            if self.next < end {
                self.buffer = root.file(&self.name)?.read(self.next..end)?;
                self.next = end;
            }
        }
        if self.buffer.len() < size {
            return Ok(None);
        }
        self.count += 1;
        Ok(Some(self.buffer.split_to(size)))
    }
}

impl<'a> Tables<'a> {
    fn open(
        root: &'a Root,
        element: &str,
        types: u32,
        partition: u32,
        id: usize,
        findings: &mut Findings,
    ) -> Result<Tables<'a>> {
        let mut tables = Vec::new();
        for ty in 0..types as usize {
            let name = alias(element, ty, partition);
            let size = root.try_file(&name)?.map(|blob| blob.size());
            if size.is_none() {
                findings.push(
                    &rules::FILE,
                    "the sampling table is missing, but others exist: DeepGNN's engine cannot open such a binary",
                    Place::file(name.as_str()),
                );
            }
            tables.push(size.map(|size| Table {
                name,
                size,
                next: 0,
                buffer: Bytes::new(),
                count: 0,
                has_whole: false,
                is_wrong: false,
                shares: [0.0; 2],
                weights: [0.0; 2],
                total: 0.0,
            }));
        }
        Ok(Tables { root, tables, id })
    }

    /// Compares the next record of a type with the element that it must belong to.
    fn take(&mut self, ty: i32, ids: &[u8], weight: Option<f64>, findings: &mut Findings) -> Result<()> {
        let id = self.id;
        let Some(Some(table)) = usize::try_from(ty).ok().and_then(|ty| self.tables.get_mut(ty)) else { return Ok(()) };
        if table.is_wrong {
            return Ok(());
        }
        let Some(record) = table.record(self.root, 2 * id + 4)? else {
            table.wrong("the table ends before the elements of its type", findings);
            return Ok(());
        };
        if record[..id] != *ids {
            table.wrong("the record belongs to another element than the one at its position", findings);
            return Ok(());
        }
        let chance = record[2 * id..].first_chunk().map_or(0.0, |bytes| f64::from(f32::from_le_bytes(*bytes)));
        if !(0.0..=1.0).contains(&chance) {
            table.wrong(format!("{chance} is not a probability"), findings);
            return Ok(());
        }
        if chance == 1.0 && record[id..2 * id].iter().any(|byte| *byte != 0) {
            table.wrong("the record names another element but never chooses it", findings);
            return Ok(());
        }
        table.has_whole |= chance == 1.0;
        if let Some(weight) = weight {
            let (own, other) = (factors(ids), factors(&record[id..2 * id]));
            for at in 0..2 {
                table.shares[at] += own[at] * chance + other[at] * (1.0 - chance);
                table.weights[at] += own[at] * weight;
            }
            table.total += weight;
        }
        Ok(())
    }

    fn finish(self, findings: &mut Findings) {
        let size = 2 * self.id as u64 + 4;
        for mut table in self.tables.into_iter().flatten() {
            if table.size != table.count * size {
                let message = format!("{} bytes for {} elements of {size} bytes each", table.size, table.count);
                table.wrong(message, findings);
            }
            if table.count > 0 && !table.has_whole {
                table.wrong("no record has the probability 1, which at least one must have", findings);
            }
            let count = table.count as f64;
            let (shares, expected) = (table.shares, table.weights.map(|weights| weights / table.total * count));
            // Shares are rounded to 32 bits, each by a small amount.
            let differs =
                |at: usize| expected[at].is_finite() && (shares[at] - expected[at]).abs() > 1e-5 * count + 1e-3;
            if differs(0) || differs(1) {
                table.wrong("the shares of its elements are not those of their weights", findings);
            }
        }
    }
}

/// Returns two numbers from 0 to 1 that are derived from ids.
fn factors(ids: &[u8]) -> [f64; 2] {
    let mut hash = 0x9e37_79b9_7f4a_7c15u64;
    for id in ids.as_chunks::<8>().0 {
        hash = (hash ^ u64::from_le_bytes(*id)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ (hash >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb);
        hash ^= hash >> 32;
    }
    [hash >> 32, hash & 0xffff_ffff].map(|half| half as f64 / (1u64 << 32) as f64)
}
