//! The records of the log of a load, as JSON.

use isomorph_error::{Error, Kind, Result};
use serde::{Deserialize, Serialize};

use crate::write::run::{PartitionRun, Run};

/// A part of a text that was read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// The number of the text, counted from 0.
    pub text: u64,
    /// Where it begins, in the unit of the text: bytes or quads.
    pub begin: u64,
    /// Where it ends.
    pub end: u64,
    /// Number of lines in it, if the text is counted in bytes.
    pub lines: u64,
    /// Number of quads in it.
    pub quads: u64,
    /// Whether it is the last part of the text.
    pub last: bool,
}

/// A record of the log.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Record {
    /// What is loaded, and how: the first record.
    Job(String),
    /// The prefix of new labels of blank nodes; `None` if labels stay.
    Import(Option<String>),
    /// Names, in the order of their numbers, continuing those of earlier records.
    Names { graphs: Vec<String>, partitions: Vec<(u32, String)>, datatypes: Vec<String> },
    /// Labels of blank nodes that were replaced, each with its text.
    Labels(Vec<(u64, String)>),
    /// A complete run.
    Run(RunRecord),
    /// What is about to be published, in the format of the caller.
    Publishing(String),
}

/// A run in a file with several.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RunRecord {
    /// The number of the file.
    pub(super) file: u32,
    pub(super) terms_at: u64,
    pub(super) terms_end: u64,
    pub(super) terms: u32,
    /// Partition, position and number of triples.
    pub(super) partitions: Vec<(u32, u64, u64)>,
    /// Where it ends.
    pub(super) end: u64,
    /// XXH3 of its bytes.
    pub(super) checksum: u64,
    /// The pieces that were read to their end since the previous run of the same file.
    pub(super) pieces: Vec<Piece>,
}

impl Record {
    pub(super) fn text(&self) -> Result<Vec<u8>> {
        serde_json::to_vec(self)
            .map_err(|error| Error::new(Kind::Io, "a record in the log of the load cannot be written").caused_by(error))
    }
}

impl RunRecord {
    pub(super) fn new(file: u32, run: &Run, end: u64, checksum: u64, pieces: Vec<Piece>) -> Self {
        let Run { terms_at, terms_end, terms, ref partitions } = *run;
        let partitions = partitions.iter().map(|part| (part.partition, part.at, part.count)).collect();
        RunRecord { file, terms_at, terms_end, terms, partitions, end, checksum, pieces }
    }

    /// Returns the run, if all its positions are within it.
    pub(super) fn run(&self) -> Option<Run> {
        let within = |&(_, at, count): &(u32, u64, u64)| {
            let end = count.checked_mul(16).and_then(|bytes| bytes.checked_add(at));
            at >= self.terms_end && end.is_some_and(|end| end <= self.end)
        };
        let ordered = self.partitions.windows(2).all(|pair| matches!(pair, [one, next] if one.0 < next.0));
        if self.terms_at > self.terms_end
            || self.terms_end > self.end
            || !ordered
            || !self.partitions.iter().all(within)
        {
            return None;
        }
        let part = |&(partition, at, count): &(u32, u64, u64)| PartitionRun { partition, at, count };
        let partitions = self.partitions.iter().map(part).collect();
        Some(Run { terms_at: self.terms_at, terms_end: self.terms_end, terms: self.terms, partitions })
    }
}
