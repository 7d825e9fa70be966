//! Reading a binary.

mod alias;
mod blocks;
mod ends;
mod files;
mod meta;
mod partition;
mod sums;
mod weights;
mod workers;

use isomorph_error::{Error, Findings, Place, Result, index};
use isomorph_storage::{Location, Root};

pub(crate) use alias::check as check_tables;
pub(crate) use ends::check as check_ends;
pub use files::{BinaryFiles, PartitionFiles};
pub use meta::{Meta, Types};
pub(crate) use partition::{Partition, Passed};
pub(crate) use sums::Sums;
pub(crate) use weights::{Lost, Weights, recover};
pub(crate) use workers::worker;

use super::layout::{META, OLD_META};
use super::supplement::Asked;
use crate::rules;

/// Entries of the map that are read as one piece.
const ENTRIES: u64 = 16_384;

/// An opened directory of partitions.
pub(crate) struct Binary {
    pub root: Root,
    pub meta: Meta,
    pub partitions: Vec<Partition>,
    /// Findings made while opening.
    pub noticed: Findings,
    /// Why weights of nodes are not shown, if recovery was attempted.
    pub lost: Option<Lost>,
    pub files: u64,
    pub bytes: u64,
}

/// A run of entries of one partition.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    pub partition: usize,
    pub entries: std::ops::Range<u64>,
}

/// Reads the metadata of several workers that was not merged.
fn of_workers(root: &Root, location: &Location) -> Result<Meta> {
    let names = root.list_dir("")?.into_iter().filter(|entry| !entry.is_dir).map(|entry| entry.name);
    let mut found: Vec<(u32, String)> = names.filter_map(|name| Some((worker(&name)?, name))).collect();
    if found.is_empty() {
        return Err(Error::broken(&rules::FILE, "meta.json not found").at(location.to_string()));
    }
    found.sort_unstable();
    let read =
        |(_, name): (u32, String)| Ok((name.clone(), root.read(&name, isomorph_storage::limits::MANIFEST_BYTES)?));
    let files = found.into_iter().map(read).collect::<Result<Vec<_>>>()?;
    Meta::of_value(&workers::merged(&files)?)
}

/// Reads the metadata of a directory.
///
/// # Errors
/// Returns an error if it is missing or cannot be read.
fn metadata(root: &Root, location: &Location) -> Result<Meta> {
    let limit = isomorph_storage::limits::MANIFEST_BYTES;
    match (root.try_file(META)?, root.try_file(OLD_META)?) {
        (Some(file), _) => Meta::of_json(&file.read_all(limit)?),
        (None, Some(file)) => Meta::of_lines(&file.read_all(limit)?),
        (None, None) => of_workers(root, location),
    }
}

impl Binary {
    /// Opens a directory: reads its metadata and the lengths of its files, and the requested files of its sidecar.
    ///
    /// # Errors
    /// Returns an error if files are missing, or their lengths do not match.
    pub fn open(location: &Location, asked: Asked) -> Result<Binary> {
        let root = Root::open(location)?;
        let mut noticed = Findings::keeping(8);
        let meta = metadata(&root, location)?;
        let (mut files, mut bytes) = (0, 0);
        for entry in root.list_dir("")?.iter().filter(|entry| !entry.is_dir) {
            files += 1;
            bytes += entry.size;
        }
        let partition = |number: &u32| Partition::open(&root, *number, meta.watermark >= 0, asked);
        let partitions = meta.partitions.iter().map(partition).collect::<Result<Vec<_>>>()?;
        let edges: u64 = partitions.iter().map(|partition| partition.edges).sum();
        if edges != meta.edges {
            let message = format!("{} states {} edges, but the partitions have {edges}", meta.file, meta.edges);
            noticed.push(&rules::COUNTS, message, Place::file(meta.file).in_field("edge_count"));
        }
        for (place, what) in &meta.faults {
            noticed.push(&rules::META, what.clone(), place.clone());
        }
        Ok(Binary { root, meta, partitions, noticed, lost: None, files, bytes })
    }

    /// Returns the number of entries, including those that only stand for edges.
    pub fn entries(&self) -> u64 {
        self.partitions.iter().map(|partition| partition.entries).sum()
    }

    /// Returns the number of edges.
    pub fn edges(&self) -> u64 {
        self.partitions.iter().map(|partition| partition.edges).sum()
    }

    /// Returns the entries of all partitions in pieces.
    pub fn pieces(&self) -> impl Iterator<Item = Piece> {
        self.partitions.iter().enumerate().flat_map(|(at, partition)| {
            let count = partition.entries;
            let starts = (0..count).step_by(index(ENTRIES));
            starts.map(move |start| Piece { partition: at, entries: start..count.min(start + ENTRIES) })
        })
    }
}
