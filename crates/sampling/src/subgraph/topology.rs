//! The edges of a graph by their target, in files of a directory.

use std::ops::Range;

use bytes::Bytes;
use isomorph_error::{Error, Place, Result, index};
use isomorph_storage::{Blob, Location, Root, Scratch, limits};
use serde::{Deserialize, Serialize};

use crate::map::{Hold, bytes_of, prefetch};

/// Name of the document, which is written last.
pub(super) const DOCUMENT: &str = "topology.json";

/// The version of the files.
pub(super) const VERSION: u32 = 2;

/// The nodes of a type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodesOf {
    /// The type.
    pub name: String,
    /// Number of nodes. They are numbered by their rows.
    pub nodes: u64,
}

/// The edges of one relation between two node types.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelationOf {
    /// Index of the node type of the sources.
    pub source: usize,
    /// The relation; `rev_` is before the name of the edges without a direction of another relation, from target to source.
    pub name: String,
    /// Index of the node type of the targets.
    pub target: usize,
    /// Index of the edge type in the description of the graph.
    pub edge_type: usize,
    /// Number of edges.
    pub edges: u64,
    /// Number of edges that lead from the source to the target of their row: they have its number. The others are those without a
    /// direction, a second time, from target to source.
    pub forward: u64,
    /// Whether the file of edge numbers exists; otherwise an edge's number is its position.
    pub numbered: bool,
}

/// What is in a directory.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Document {
    pub version: u32,
    pub written_by: String,
    pub input: String,
    pub nodes: Vec<NodesOf>,
    pub relations: Vec<RelationOf>,
}

/// Numbers of 24, 32 or 64 bits.
pub(super) enum Numbers {
    Short(Bytes),
    Narrow(Bytes),
    Wide(Bytes),
}

/// Number of bytes that a number below `limit` takes in a file.
pub(super) fn width_of(limit: u64) -> usize {
    match limit {
        0..=0x0100_0000 => 3,
        0x0100_0001..=0xFFFF_FFFF => 4,
        _ => 8,
    }
}

impl Numbers {
    /// The numbers below `limit` of a file.
    fn new(bytes: Bytes, limit: u64) -> Self {
        match width_of(limit) {
            3 => Numbers::Short(bytes),
            4 => Numbers::Narrow(bytes),
            _ => Numbers::Wide(bytes),
        }
    }

    /// Returns number `at`.
    #[inline]
    pub fn get(&self, at: usize) -> Option<u64> {
        match self {
            Numbers::Short(bytes) => {
                let [low, middle, high] = *bytes.as_chunks().0.get(at)?;
                Some(u32::from_le_bytes([low, middle, high, 0]).into())
            }
            Numbers::Narrow(bytes) => bytes.as_chunks().0.get(at).map(|word| u32::from_le_bytes(*word).into()),
            Numbers::Wide(bytes) => bytes.as_chunks().0.get(at).map(|word| u64::from_le_bytes(*word)),
        }
    }

    /// Prefetches number `at`.
    #[inline]
    pub fn fetch(&self, at: usize) {
        match self {
            Numbers::Short(bytes) => prefetch(bytes, at.saturating_mul(3)),
            Numbers::Narrow(bytes) => prefetch(bytes, at.saturating_mul(4)),
            Numbers::Wide(bytes) => prefetch(bytes, at.saturating_mul(8)),
        }
    }

    fn len(&self) -> usize {
        match self {
            Numbers::Short(bytes) => bytes.len() / 3,
            Numbers::Narrow(bytes) => bytes.len() / 4,
            Numbers::Wide(bytes) => bytes.len() / 8,
        }
    }
}

/// Maximum number of edge numbers that one read of a draw covers.
const SPAN: usize = 512;

/// Number of edge numbers that are read at once where all of them are needed.
const BLOCK: usize = 1 << 16;

/// The numbers of edges. They are read by position: a subgraph needs a few of them at the end, so that they need not be in the memory of
/// the process.
pub(super) struct EdgeNumbers {
    blob: Blob,
    limit: u64,
}

impl EdgeNumbers {
    /// Reads the numbers at positions from `start` on, up to `end`.
    fn read(&self, start: usize, end: usize) -> Result<Numbers> {
        let byte = |at: usize| at.saturating_mul(width_of(self.limit)) as u64;
        Ok(Numbers::new(self.blob.read(byte(start)..byte(end))?, self.limit))
    }

    /// Appends the numbers at some positions, in any order. Those near each other are read together.
    pub fn append(&self, mut positions: &[usize], numbers: &mut Vec<i64>) -> Result<()> {
        while let Some(first) = positions.first().copied() {
            let mut range = first..first;
            let is_near = |at: &&usize| {
                let wider = range.start.min(**at)..range.end.max(at.saturating_add(1));
                let fits = wider.len() <= SPAN;
                if fits {
                    range = wider;
                }
                fits
            };
            let count = positions.iter().take_while(is_near).count();
            let (these, others) = positions.split_at(count);
            positions = others;
            let read = self.read(range.start, range.end)?;
            for at in these {
                let number = read.get(at - range.start).ok_or_else(|| damaged(self.blob.name(), *at))?;
                numbers.push(number.cast_signed());
            }
        }
        Ok(())
    }
}

/// The edges of a relation by their target.
pub(super) struct Incoming {
    /// Where the edges of each target start, one more than there are targets.
    starts: Numbers,
    pub sources: Numbers,
    /// The number of each edge; `None` if it is its position.
    pub numbers: Option<EdgeNumbers>,
    /// The rows of the edges that are there a second time.
    reversed: Numbers,
    name: String,
}

impl Incoming {
    /// Returns the positions of the edges of a target.
    ///
    /// # Errors
    /// Returns an error if the file is damaged.
    #[inline]
    pub fn of(&self, target: usize) -> Result<Range<usize>> {
        match (self.starts.get(target), self.starts.get(target.saturating_add(1))) {
            (Some(start), Some(end)) if start <= end && end <= self.sources.len() as u64 => {
                Ok(index(start)..index(end))
            }
            _ => Err(self.damaged(target)),
        }
    }

    /// Prefetches what [`Incoming::of`] reads.
    #[inline]
    pub fn fetch(&self, target: usize) {
        self.starts.fetch(target);
        self.starts.fetch(target.saturating_add(1));
    }

    /// Returns the error for a file that does not have what it should.
    #[cold]
    pub fn damaged(&self, row: usize) -> Error {
        damaged(&self.name, row)
    }
}

fn damaged(name: &str, row: usize) -> Error {
    let error = Error::malformed("the files of a prepared graph do not match").at(Place::file(name).row(row as u64));
    error.hint("remove the directory, and prepare the graph again")
}

/// The edges of a graph by their target. Can be shared by threads, and its files by processes.
pub struct Topology {
    nodes: Vec<NodesOf>,
    relations: Vec<RelationOf>,
    pub(super) incoming: Vec<Incoming>,
}

/// All edges of a relation, in the order of their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listed {
    /// Rows of their sources.
    pub sources: Vec<i64>,
    /// Rows of their targets.
    pub targets: Vec<i64>,
}

/// All edges of a relation, in the order of their targets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ByTarget {
    /// Where the edges of each target start, one more than there are targets.
    pub starts: Vec<i64>,
    /// Rows of their sources.
    pub sources: Vec<i64>,
    /// Their numbers; `None` if these are their positions.
    pub numbers: Option<Vec<i64>>,
}

impl Topology {
    /// Opens what [`Topology::write`] wrote; `None` if there is nothing of this version that was read from `input`. No `input` takes
    /// whatever there is.
    ///
    /// # Errors
    /// Returns an error if files are missing, have another length, or cannot be mapped.
    pub fn open(directory: &Location, input: Option<&str>, scratch: &Scratch) -> Result<Option<Topology>> {
        let root = match Root::open(directory) {
            Ok(root) => root,
            Err(error) if error.kind() == isomorph_error::Kind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let Some(file) = root.try_file(DOCUMENT)? else { return Ok(None) };
        // A document of another version may have any members.
        let Ok(document) = serde_json::from_slice::<Document>(&file.read_all(limits::MANIFEST_BYTES)?) else {
            return Ok(None);
        };
        let is_own = document.version == VERSION && document.written_by == env!("CARGO_PKG_VERSION");
        if !is_own || input.is_some_and(|input| input != document.input) {
            return Ok(None);
        }
        let mut incoming = Vec::new();
        for (at, relation) in document.relations.iter().enumerate() {
            let count = |ty: usize| document.nodes.get(ty).map(|ty| ty.nodes);
            let (Some(sources), Some(targets)) = (count(relation.source), count(relation.target)) else {
                return Err(
                    Error::malformed("a relation of a prepared graph has no node type").at(directory.to_string())
                );
            };
            let find = |what: &str, rows: u64, limit: u64| -> Result<Blob> {
                let name = file_of(at, what);
                let blob = root.file(&name)?;
                if Some(blob.size()) != rows.checked_mul(width_of(limit) as u64) {
                    let error = Error::malformed(format!("expected {rows} numbers, found {} bytes", blob.size()));
                    return Err(error.at(blob.place()).hint("remove the directory, and prepare the graph again"));
                }
                Ok(blob)
            };
            let open = |what: &str, rows: u64, limit: u64| -> Result<Numbers> {
                Ok(Numbers::new(bytes_of(&find(what, rows, limit)?, Hold::Mapped, scratch)?, limit))
            };
            let edges = relation.edges;
            let again = edges.checked_sub(relation.forward).ok_or_else(|| {
                Error::malformed("a relation of a prepared graph has fewer edges than rows").at(directory.to_string())
            })?;
            incoming.push(Incoming {
                starts: open(STARTS, targets.saturating_add(1), edges.saturating_add(1))?,
                sources: open(SOURCES, edges, sources)?,
                numbers: match relation.numbered {
                    true => Some(EdgeNumbers { blob: find(NUMBERS, edges, edges)?, limit: edges }),
                    false => None,
                },
                reversed: open(REVERSED, again, u64::MAX)?,
                name: format!("{directory}/{}", file_of(at, SOURCES)),
            });
        }
        Ok(Some(Topology { nodes: document.nodes, relations: document.relations, incoming }))
    }

    /// Returns the node types.
    pub fn nodes(&self) -> &[NodesOf] {
        &self.nodes
    }

    /// Returns the relations.
    pub fn relations(&self) -> &[RelationOf] {
        &self.relations
    }

    fn relation(&self, relation: usize) -> Result<(&RelationOf, &Incoming)> {
        let found = self.relations.get(relation).zip(self.incoming.get(relation));
        found.ok_or_else(|| Error::usage(format!("there is no relation number {relation}")))
    }

    /// Returns the rows in the table of edges that edges of a relation have, by their numbers.
    ///
    /// # Errors
    /// Returns [`Kind::Usage`](isomorph_error::Kind::Usage) for a number that no edge has.
    pub fn rows_of(&self, relation: usize, numbers: &[i64]) -> Result<Vec<i64>> {
        let (relation, incoming) = self.relation(relation)?;
        let row = |number: &i64| -> Result<i64> {
            let unsigned = u64::try_from(*number).ok().filter(|number| *number < relation.edges);
            let unsigned = unsigned.ok_or_else(|| Error::usage(format!("there is no edge number {number}")))?;
            match unsigned.checked_sub(relation.forward) {
                None => Ok(*number),
                Some(again) => {
                    let row = incoming.reversed.get(index(again)).ok_or_else(|| incoming.damaged(index(again)))?;
                    Ok(row.cast_signed())
                }
            }
        };
        numbers.iter().map(row).collect()
    }

    /// Lists all edges of a relation, in the order of their numbers.
    ///
    /// # Errors
    /// Returns an error if the files are damaged.
    pub fn list(&self, relation: usize) -> Result<Listed> {
        let (of, incoming) = self.relation(relation)?;
        let edges = index(of.edges);
        let mut listed = Listed { sources: vec![0; edges], targets: vec![0; edges] };
        let mut block = (0..0, Numbers::Short(Bytes::new()));
        for target in 0..self.nodes.get(of.target).map_or(0, |ty| ty.nodes) {
            for at in incoming.of(index(target))? {
                let damaged = || incoming.damaged(at);
                let source = incoming.sources.get(at).ok_or_else(damaged)?;
                let number = match &incoming.numbers {
                    None => at,
                    Some(numbers) => {
                        if !block.0.contains(&at) {
                            let range = at..edges.min(at.saturating_add(BLOCK));
                            block = (range.clone(), numbers.read(range.start, range.end)?);
                        }
                        index(block.1.get(at - block.0.start).ok_or_else(damaged)?)
                    }
                };
                let slots = listed.sources.get_mut(number).zip(listed.targets.get_mut(number));
                let (one, other) = slots.ok_or_else(damaged)?;
                (*one, *other) = (source.cast_signed(), target.cast_signed());
            }
        }
        Ok(listed)
    }

    /// Lists all edges of a relation in the order of their targets.
    ///
    /// # Errors
    /// Returns an error if the files are damaged.
    pub fn by_target(&self, relation: usize) -> Result<ByTarget> {
        let (_, incoming) = self.relation(relation)?;
        let all = |numbers: &Numbers| -> Result<Vec<i64>> {
            let number = |at: usize| numbers.get(at).map(u64::cast_signed).ok_or_else(|| incoming.damaged(at));
            (0..numbers.len()).map(number).collect()
        };
        let (starts, sources) = (all(&incoming.starts)?, all(&incoming.sources)?);
        let read = |numbers: &EdgeNumbers| all(&numbers.read(0, sources.len())?);
        let numbers = incoming.numbers.as_ref().map(read).transpose()?;
        Ok(ByTarget { starts, sources, numbers })
    }
}

pub(super) const STARTS: &str = "starts";
pub(super) const SOURCES: &str = "sources";
pub(super) const NUMBERS: &str = "numbers";
pub(super) const REVERSED: &str = "reversed";

/// Name of a file of a relation.
pub(super) fn file_of(relation: usize, what: &str) -> String {
    format!("{relation}.{what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_below_a_limit_fit_into_its_width() {
        for (limit, width) in [(1, 3), (1 << 24, 3), ((1 << 24) + 1, 4), (0xFFFF_FFFF, 4), (1 << 32, 8), (u64::MAX, 8)]
        {
            assert_eq!(width_of(limit), width);
            let numbers = [limit - 1, 0, limit / 2];
            let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()[..width].to_vec()).collect();
            let read = Numbers::new(bytes.into(), limit);
            assert_eq!(read.len(), 3);
            assert_eq!([0, 1, 2, 3].map(|at| read.get(at)), [Some(numbers[0]), Some(0), Some(numbers[2]), None]);
        }
    }
}
