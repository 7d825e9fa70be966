//! The table of sums from which a digest is computed.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use isomorph_error::Error;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::VERSION;
use super::fact::stem;

/// The kind of the facts of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LineKind {
    /// Nodes and their values.
    Nodes,
    /// Edges and their values.
    Edges,
    /// Hyperedges and their values.
    Hyperedges,
    /// Members of hyperedges.
    Members,
    /// Groups and their values.
    Groups,
    /// Memberships in groups.
    Memberships,
    /// Documents.
    Documents,
}

impl LineKind {
    /// Returns the word for messages.
    pub fn word(self) -> &'static str {
        match self {
            LineKind::Nodes => "nodes",
            LineKind::Edges => "edges",
            LineKind::Hyperedges => "hyperedges",
            LineKind::Members => "members",
            LineKind::Groups => "groups",
            LineKind::Memberships => "memberships",
            LineKind::Documents => "documents",
        }
    }
}

/// The name of a sum, which says which facts it adds up.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Line {
    /// The kind of the facts.
    pub kind: LineKind,
    /// The parts of the type's name: one for nodes; source, relation, target for edges.
    pub ty: Vec<String>,
    /// The property; empty for the existence of elements, and for edges without keys, each of which is one fact.
    pub property: String,
}

impl Line {
    /// Creates the name of a line.
    pub fn new(kind: LineKind, ty: &[&str], property: &str) -> Self {
        Line { kind, ty: ty.iter().map(|part| (*part).to_owned()).collect(), property: property.to_owned() }
    }

    /// Returns the stem of its facts.
    pub(super) fn stem(&self) -> u128 {
        let ty: Vec<&str> = self.ty.iter().map(String::as_str).collect();
        stem(self.kind.word(), &ty, &self.property)
    }
}

/// A sum of fact hashes modulo 2^128, and their number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sum {
    /// The sum.
    pub hash: u128,
    /// The number of facts.
    pub count: u64,
}

impl Sum {
    /// Adds one fact.
    pub fn add(&mut self, hash: u128) {
        self.hash = self.hash.wrapping_add(hash);
        self.count = self.count.wrapping_add(1);
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: Sum) {
        self.hash = self.hash.wrapping_add(other.hash);
        self.count = self.count.wrapping_add(other.count);
    }
}

/// Receives facts one by one: the line, the hashes of added facts, and the hashes of facts that are replaced by
/// others.
pub type FactTaker = std::sync::Arc<dyn Fn(&Line, &[u128], &[u128]) + Send + Sync>;

/// A sum in progress. If facts are passed to a receiver, their hashes are kept until the line is merged.
#[derive(Debug, Default)]
pub(super) struct Tally {
    sum: Sum,
    keeps: bool,
    facts: Vec<u128>,
    withdrawn: Vec<u128>,
}

impl Tally {
    /// Adds one fact.
    pub fn add(&mut self, hash: u128) {
        self.sum.add(hash);
        if self.keeps {
            self.facts.push(hash);
        }
    }

    /// Replaces a fact by another one.
    pub fn replace(&mut self, hash: u128, by: u128) {
        self.sum.hash = self.sum.hash.wrapping_add(by).wrapping_sub(hash);
        if self.keeps {
            self.facts.push(by);
            self.withdrawn.push(hash);
        }
    }
}

/// The sums of a graph in progress, and the receiver of its facts.
#[derive(Default)]
pub(super) struct Tallies {
    pub table: Table,
    pub taker: Option<FactTaker>,
}

impl std::fmt::Debug for Tallies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tallies").field("table", &self.table).field("taken", &self.taker.is_some()).finish()
    }
}

impl Tallies {
    /// Starts a sum, to be merged with [`Tallies::merge_line`].
    pub fn begin(&self) -> Tally {
        Tally { keeps: self.taker.is_some(), ..Tally::default() }
    }

    /// Adds to one line.
    pub fn merge_line(&mut self, line: Line, tally: Tally) {
        if let Some(taker) = &self.taker {
            taker(&line, &tally.facts, &tally.withdrawn);
        }
        self.table.merge_line(line, tally.sum);
    }
}

/// All sums of a graph.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table(BTreeMap<Line, Sum>);

impl Table {
    /// Adds to one line.
    pub fn merge_line(&mut self, line: Line, sum: Sum) {
        if sum != Sum::default() {
            self.0.entry(line).or_default().merge(sum);
        }
    }

    /// Adds another table.
    pub fn merge(&mut self, other: Table) {
        for (line, sum) in other.0 {
            self.merge_line(line, sum);
        }
    }

    /// Returns the lines in order; none is empty.
    pub fn lines(&self) -> impl Iterator<Item = (&Line, &Sum)> {
        self.0.iter().filter(|(_, sum)| **sum != Sum::default())
    }

    /// Returns the sum of one line.
    pub fn get(&self, line: &Line) -> Sum {
        self.0.get(line).copied().unwrap_or_default()
    }

    /// Returns the lines that differ, with both sums.
    pub fn differences<'a>(&'a self, other: &'a Table) -> Vec<(&'a Line, Sum, Sum)> {
        let mut lines: Vec<&Line> = self.lines().chain(other.lines()).map(|(line, _)| line).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
            .into_iter()
            .map(|line| (line, self.get(line), other.get(line)))
            .filter(|(_, left, right)| left != right)
            .collect()
    }

    /// Returns the digest: the hash of the version and of the sorted table.
    pub fn digest(&self) -> Digest {
        let mut bytes = Vec::new();
        push_text(&mut bytes, VERSION);
        for (line, sum) in self.lines() {
            push_text(&mut bytes, line.kind.word());
            bytes.extend_from_slice(&(line.ty.len() as u64).to_le_bytes());
            line.ty.iter().for_each(|part| push_text(&mut bytes, part));
            push_text(&mut bytes, &line.property);
            bytes.extend_from_slice(&sum.hash.to_le_bytes());
            bytes.extend_from_slice(&sum.count.to_le_bytes());
        }
        Digest(xxh3_128(&bytes))
    }
}

/// Appends a text, preceded by its length, so that encodings stay unambiguous.
pub(super) fn push_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
}

/// A 128-bit digest of a graph, displayed as eight groups of four hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Digest(pub u128);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for group in (0..8).rev() {
            write!(f, "{:04x}", self.0 >> (16 * group) & 0xffff)?;
            if group > 0 {
                f.write_str(" ")?;
            }
        }
        Ok(())
    }
}

impl FromStr for Digest {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let digits: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        match u128::from_str_radix(&digits, 16) {
            Ok(value) if digits.len() == 32 && !digits.starts_with('+') => Ok(Digest(value)),
            _ => Err(Error::malformed(format!("expected a digest of 32 hexadecimal digits, found {text:?}"))),
        }
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{:032x}", self.0))
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_digest_reads_back_what_it_shows() {
        let digest = Digest(0x0123_4567_89ab_cdef_0011_2233_4455_6677);
        assert_eq!(digest.to_string(), "0123 4567 89ab cdef 0011 2233 4455 6677");
        assert_eq!(digest.to_string().parse::<Digest>().unwrap(), digest);
        assert!("0123".parse::<Digest>().is_err());
        assert!("+0000000000000000000000000000001".parse::<Digest>().is_err());
    }

    #[test]
    fn empty_lines_leave_no_trace() {
        let line = |ty: &str| Line { kind: LineKind::Nodes, ty: vec![ty.into()], property: String::new() };
        let mut one = Table::default();
        one.merge_line(line("a"), Sum { hash: 7, count: 1 });
        let mut two = one.clone();
        two.merge_line(line("b"), Sum::default());
        assert_eq!(one.digest(), two.digest());
        assert!(one.differences(&two).is_empty());
        two.merge_line(line("a"), Sum { hash: 0, count: 1 });
        assert_eq!(one.differences(&two).len(), 1);
    }
}
