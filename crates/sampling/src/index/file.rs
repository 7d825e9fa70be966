//! The index file: what is known about the ids of a graph, either their order or a hash table, in a file next to the graph.
//!
//! The file can be recreated at any time, and no graph needs it. It is valid for maps with certain sizes, times of the last change, and
//! records at certain positions; for other maps it is ignored, and ids are read as without it. Format, little-endian: a signature of eight
//! bytes; how ids are found (u32: 0 by order, 1 by the table), number of partitions (u32); XXH3 of everything that follows up to the table
//! (u64); for each partition, the size of its map (u64), the time of its last change (i64 seconds, u32 nanoseconds), the order of its ids
//! (u32: 0 equal steps, 1 ascending, 2 unordered), the first id and the step (u64 each), XXH3 of some records (u64); for the table, its key
//! (u64), the maximum number of slots per look-up (u64), bytes of its slots and links (u64 each). Then slots (u64 each) and links (u32
//! each), as in [`Table`].

use std::fs;
use std::io::Write;
use std::time::{Duration, UNIX_EPOCH};

use isomorph_deepgnn::{BESIDE, BinaryFiles};
use isomorph_error::{Error, Result};
use isomorph_storage::{Blob, Location, Mode, Root, Staging};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::table::{REACH, Table};
use super::{Index, Order};
use crate::graph::GraphOptions;
use crate::map::bytes_of;
use crate::partition::Partition;

/// Name of the file in its directory.
const NAME: &str = "node_ids";

const MAGIC: &[u8; 8] = b"ISOIDS\x00\x01";

/// Size of the header before the partitions, in bytes.
const HEAD: usize = 24;

/// Size of a partition's record, in bytes.
const OF_MAP: usize = 48;

/// Size of the table's record, in bytes.
const OF_TABLE: usize = 32;

/// Number of records of a map that are compared.
const SOME: usize = 64;

/// Minimum number of entries for keeping a table: fewer are hashed within milliseconds.
const TABLE_FROM: usize = 1 << 16;

/// Minimum number of entries for keeping an order: fewer are compared within milliseconds.
const ORDER_FROM: usize = 1 << 22;

/// A map that was changed this recently may change again without a new time: clocks of file systems are coarse.
const RECENT: Duration = Duration::from_secs(2);

/// How the index file of a graph, `_isomorph/node_ids`, is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IndexFile {
    /// Not at all: ids are read each time.
    Ignore,
    /// It is used if it exists and matches the current graph. Nothing is written.
    #[default]
    Use,
    /// It is also written if reading the ids takes long and there is no file, provided that the directory is writable.
    Keep,
}

/// The origin of the index of an opened graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexOrigin {
    /// The ids were read.
    Ids,
    /// The ids were read, and the index was written to a file.
    Kept,
    /// The index file was read.
    File,
}

/// The index file of a graph.
pub(crate) struct NodeIdsFile<'a> {
    location: &'a Location,
    maps: Vec<&'a Blob>,
    options: &'a GraphOptions,
}

impl<'a> NodeIdsFile<'a> {
    /// Returns the index file of an opened graph.
    pub fn of(location: &'a Location, files: &'a BinaryFiles, options: &'a GraphOptions) -> Self {
        NodeIdsFile { location, maps: files.partitions.iter().map(|partition| &partition.map).collect(), options }
    }

    /// Returns the index and its origin: from the file if it matches the graph, otherwise a new one.
    ///
    /// # Errors
    /// As [`Index::of`]. A damaged file is not an error, nor is a failure to write it.
    pub fn index(&self, partitions: &[Partition]) -> Result<(Index, IndexOrigin)> {
        let wanted = self.options.index != IndexFile::Ignore && self.location.as_path().is_some();
        if wanted && let Ok(Some(index)) = self.read(partitions) {
            return Ok((index, IndexOrigin::File));
        }
        let index = Index::of(partitions, &self.options.budget)?;
        let entries = partitions.iter().map(|partition| partition.nodes().len()).sum();
        let keeps = wanted && self.options.index == IndexFile::Keep && is_worth_keeping(&index, entries);
        let kept = keeps && self.keep(&index, partitions).is_ok_and(|kept| kept);
        Ok((index, if kept { IndexOrigin::Kept } else { IndexOrigin::Ids }))
    }

    /// Reads the file; `None` if it does not exist or belongs to other maps.
    pub fn read(&self, partitions: &[Partition]) -> Result<Option<Index>> {
        let Some(blob) = Root::open(self.location)?.try_file(&format!("{BESIDE}/{NAME}"))? else { return Ok(None) };
        let head = HEAD + partitions.len() * OF_MAP + OF_TABLE;
        if blob.size() < head as u64 {
            return Ok(None);
        }
        let bytes = bytes_of(&blob, self.options.hold, &self.options.scratch)?;
        let (Some(about), Some(described)) = (bytes.get(HEAD..head), self.described(partitions, None)) else {
            return Ok(None);
        };
        let sound = bytes.starts_with(MAGIC)
            && u32_at(&bytes, 12).is_some_and(|number| number as usize == partitions.len())
            && u64_at(&bytes, 16) == Some(xxh3_64(about));
        if !sound {
            return Ok(None);
        }
        let mut orders = Vec::with_capacity(partitions.len());
        for ((stated, found), partition) in about.chunks(OF_MAP).zip(described.chunks(OF_MAP)).zip(partitions) {
            // Compares size, time and records, but not the order of ids, which is to be read.
            if stated[..20] != found[..20] || stated[40..] != found[40..] {
                return Ok(None);
            }
            let count = partition.nodes().len() as u64;
            orders.push(match (u32_at(stated, 20), u64_at(stated, 24), u64_at(stated, 32)) {
                (Some(0), Some(first), Some(step)) if step > 0 => {
                    Some(Order::Steps { first, step, count, proven: false })
                }
                (Some(1), ..) => Some(Order::Ascending),
                _ => None,
            });
        }
        if u32_at(&bytes, 8) == Some(0) {
            return Ok(orders.into_iter().collect::<Option<_>>().map(Index::Each));
        }
        let number = |at: usize| u64_at(about, partitions.len() * OF_MAP + 8 * at).unwrap_or(0);
        let length = |at: usize| usize::try_from(number(at)).unwrap_or(usize::MAX);
        let slots = head..head.saturating_add(length(2));
        let next = slots.end..slots.end.saturating_add(length(3));
        if next.end != bytes.len() {
            return Ok(None);
        }
        let table = Table::kept(partitions, number(0), length(1), bytes.slice(slots), bytes.slice(next));
        Ok(table.map(Index::Table))
    }

    /// Writes the file atomically. Returns false if it should not be written.
    pub fn keep(&self, index: &Index, partitions: &[Partition]) -> Result<bool> {
        let recent = |map: &&Blob| {
            let age = map.opened_as().modified.map(|time| time.elapsed());
            !matches!(age, Some(Ok(age)) if age >= RECENT)
        };
        let Some(path) = self.location.as_path().filter(|_| !self.maps.iter().any(recent)) else { return Ok(false) };
        let Some(mut about) = self.described(partitions, Some(index)) else { return Ok(false) };
        let (kind, parts): (u32, [&[u8]; 2]) = match index {
            Index::Each(_) => (0, [&[], &[]]),
            Index::Table(table) => (1, [table.slots.all().as_flattened(), table.next.all().as_flattened()]),
        };
        let [key, reach] = match index {
            Index::Each(_) => [0, 0],
            Index::Table(table) => [table.key, table.reach as u64],
        };
        for number in [key, reach, parts[0].len() as u64, parts[1].len() as u64] {
            about.extend_from_slice(&number.to_le_bytes());
        }
        let number = u32::try_from(partitions.len()).map_err(|_| Error::unsupported("more than 2³² partitions"))?;
        let folder = path.join(BESIDE);
        let made = fs::create_dir(&folder).is_ok();
        let write = || -> Result<()> {
            let staging = Staging::file(&self.location.join(BESIDE)?.join(NAME)?, Mode::Replace)?;
            let mut file = staging.create("")?;
            file.write_all(MAGIC)?;
            file.write_all(&kind.to_le_bytes())?;
            file.write_all(&number.to_le_bytes())?;
            file.write_all(&xxh3_64(&about).to_le_bytes())?;
            for part in [&about[..], parts[0], parts[1]] {
                file.write_all(part)?;
            }
            file.finish()?;
            staging.commit(&[]).map(|_| ())
        };
        let written = write();
        if written.is_err() && made {
            // Only if the file does not exist by now.
            let _ = fs::remove_dir(&folder);
        }
        written.map(|()| true)
    }

    /// Returns the records of these maps in their current state, with the order of their ids if it is known. `None` if a location does not
    /// report when a file was changed.
    fn described(&self, partitions: &[Partition], index: Option<&Index>) -> Option<Vec<u8>> {
        let mut about = Vec::with_capacity(partitions.len() * OF_MAP + OF_TABLE);
        for (number, (map, partition)) in self.maps.iter().zip(partitions).enumerate() {
            // A time of change before 1970 cannot identify a file, just like a missing time.
            let time = map.opened_as().modified?.duration_since(UNIX_EPOCH).ok()?;
            let (lies, first, step) = match index {
                Some(Index::Each(orders)) => match orders.get(number)? {
                    Order::Steps { first, step, .. } => (0u32, *first, *step),
                    Order::Ascending => (1, 0, 0),
                },
                _ => (2, 0, 0),
            };
            about.extend_from_slice(&map.size().to_le_bytes());
            about.extend_from_slice(&time.as_secs().to_le_bytes());
            about.extend_from_slice(&time.subsec_nanos().to_le_bytes());
            about.extend_from_slice(&lies.to_le_bytes());
            about.extend_from_slice(&first.to_le_bytes());
            about.extend_from_slice(&step.to_le_bytes());
            about.extend_from_slice(&some_of(partition).to_le_bytes());
        }
        Some(about)
    }
}

/// Returns whether an index of `entries` entries takes longer to create than to read.
fn is_worth_keeping(index: &Index, entries: usize) -> bool {
    match index {
        Index::Each(_) => entries >= ORDER_FROM,
        Index::Table(table) => entries >= TABLE_FROM && table.reach <= REACH,
    }
}

/// Returns a hash of records spread over a map, including the first and the last.
fn some_of(partition: &Partition) -> u64 {
    let (nodes, mut hash) = (partition.nodes(), Xxh3::new());
    let last = nodes.len().saturating_sub(1);
    for number in 0..SOME {
        if let Some(node) = nodes.get(last / (SOME - 1) * number + last % (SOME - 1) * number / (SOME - 1)) {
            hash.update(node);
        }
    }
    hash.digest()
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests;
