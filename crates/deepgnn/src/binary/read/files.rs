//! The files of a binary, for readers that access records in place: the sampling engine.

use isomorph_error::{Error, Result};
use isomorph_storage::{Blob, Location, Root};

use super::{Binary, META, Meta, OLD_META, Partition, metadata};
use crate::binary::Asked;
use crate::binary::layout::{Names, alias};

/// An opened directory of partitions, as files. All integers are little-endian, and records have no gaps.
pub struct BinaryFiles {
    /// The metadata. It is not trusted: sizes are those of the files.
    pub meta: Meta,
    /// The files of each partition.
    pub partitions: Vec<PartitionFiles>,
    /// The directory of the metadata, and further ones.
    roots: Vec<Root>,
    /// For each opened partition, which of them has its files.
    homes: Vec<usize>,
}

/// The files of a partition. Their lengths match; offsets inside them are not yet checked.
#[derive(Clone)]
pub struct PartitionFiles {
    /// Number of the partition.
    pub number: u32,
    /// 20 bytes for each entry: `u64` id, `u64` number of the entry, `i32` type, −1 for an entry that only stands for
    /// edges.
    pub map: Blob,
    /// A `u64` for each entry, and one more at the end: its first feature.
    pub node_index: Blob,
    /// A `u64` for each feature, and one more at the end: the start of its bytes.
    pub node_features_index: Blob,
    /// The bytes of features.
    pub node_features_data: Blob,
    /// A `u64` for each entry, and one more at the end: its first edge.
    pub neighbors: Blob,
    /// 24 bytes for each edge, and one more record at the end: `u64` target, `u64` first feature, `i32` type, `f32`
    /// weight.
    pub edge_index: Blob,
    /// The same as for nodes.
    pub edge_features_index: Blob,
    /// The same as for nodes.
    pub edge_features_data: Blob,
    /// The watermark, and two `i64` for each edge: created, removed (−1 if it is not). `None` without times.
    pub times: Option<Blob>,
}

impl BinaryFiles {
    /// Opens a directory: reads its metadata and the lengths of its files.
    ///
    /// # Errors
    /// Returns an error if files are missing, or their lengths do not match.
    pub fn open(location: &Location) -> Result<BinaryFiles> {
        let binary = Binary::open(location, Asked::default())?;
        let partitions = binary.meta.partitions.iter().zip(&binary.partitions);
        let partitions: Vec<_> = partitions.map(|(number, partition)| partition.files(*number)).collect();
        let homes = vec![0; partitions.len()];
        Ok(BinaryFiles { meta: binary.meta, partitions, roots: vec![Root::open(location)?], homes })
    }

    /// Opens partitions that may be in several directories: those with these numbers, or all. The files of other partitions may be
    /// missing. `location` has the metadata; each partition is in it or in one of `further`, and only there.
    ///
    /// # Errors
    /// Returns the errors of [`BinaryFiles::open`], and [`Kind::Usage`](isomorph_error::Kind::Usage) if a partition
    /// does not exist, its number is given twice, several directories have it, or a directory has the metadata of another graph.
    pub fn open_some(location: &Location, further: &[Location], numbers: Option<&[u32]>) -> Result<BinaryFiles> {
        let roots = std::iter::once(location).chain(further).map(Root::open).collect::<Result<Vec<_>>>()?;
        let first = roots.first().ok_or_else(|| Error::usage("no directory"))?;
        let meta = metadata(first, location)?;
        let limit = isomorph_storage::limits::MANIFEST_BYTES;
        for name in [META, OLD_META] {
            let Some(stated) = first.try_file(name)?.map(|file| file.read_all(limit)).transpose()? else { continue };
            for root in &roots[1..] {
                let other = root.try_file(name)?.map(|file| file.read_all(limit)).transpose()?;
                if other.is_some_and(|other| other != stated) {
                    let message = format!("{name} differs from that in {location}: these are two graphs");
                    return Err(Error::usage(message).at(root.location().to_string()));
                }
            }
        }
        let numbers = numbers.unwrap_or(&meta.partitions);
        let (mut partitions, mut homes) = (Vec::with_capacity(numbers.len()), Vec::with_capacity(numbers.len()));
        for (at, number) in numbers.iter().enumerate() {
            if !meta.partitions.contains(number) {
                let last = meta.partitions.len().saturating_sub(1);
                return Err(Error::usage(format!("partition {number} not found"))
                    .hint(format!("the partitions are 0 to {last}")));
            }
            if numbers[..at].contains(number) {
                return Err(Error::usage(format!("partition {number} is given twice")));
            }
            let home = home_of(*number, &roots)?;
            partitions
                .push(Partition::open(&roots[home], *number, meta.watermark >= 0, Asked::default())?.files(*number));
            homes.push(home);
        }
        Ok(BinaryFiles { meta, partitions, roots, homes })
    }

    /// Returns the directory with the files of a partition.
    fn root(&self, partition: u32) -> Option<&Root> {
        let at = self.partitions.iter().position(|files| files.number == partition)?;
        self.roots.get(*self.homes.get(at)?)
    }

    /// Opens the table for weighted sampling of the nodes of type `ty` in a partition, 20 bytes for each: `i64` node,
    /// `i64` other node, `f32` probability of the first. Returns `None` if it was not written.
    ///
    /// # Errors
    /// Returns an error if it cannot be opened.
    pub fn node_table(&self, ty: u32, partition: u32) -> Result<Option<Blob>> {
        self.root(partition).map_or(Ok(None), |root| root.try_file(&alias("node", ty as usize, partition)))
    }

    /// Opens the table of the edges of type `ty` in a partition, 36 bytes for each: source, target, other source, other
    /// target, probability of the first. Returns `None` if it was not written.
    ///
    /// # Errors
    /// Returns the errors of [`BinaryFiles::node_table`].
    pub fn edge_table(&self, ty: u32, partition: u32) -> Result<Option<Blob>> {
        self.root(partition).map_or(Ok(None), |root| root.try_file(&alias("edge", ty as usize, partition)))
    }
}

/// Returns which of the directories has a partition; the first if none has it, where opening it names the missing file.
fn home_of(number: u32, roots: &[Root]) -> Result<usize> {
    let name = Names::of(number).map;
    let mut found = None;
    for (at, root) in roots.iter().enumerate() {
        if roots.len() == 1 || root.try_file(&name)?.is_none() {
            continue;
        }
        if let Some(before) = found.replace(at).and_then(|before| roots.get(before)) {
            let message = format!("partition {number} is also in {}", before.location());
            return Err(Error::usage(message).at(root.location().to_string()));
        }
    }
    Ok(found.unwrap_or(0))
}
