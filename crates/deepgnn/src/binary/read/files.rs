//! The files of a binary, for readers that access records in place: the sampling engine.

use isomorph_error::{Error, Result};
use isomorph_storage::{Blob, Location, Root};

use super::{Binary, Meta, Partition, metadata};
use crate::binary::Asked;
use crate::binary::layout::alias;

/// An opened directory of partitions, as files. All integers are little-endian, and records have no gaps.
pub struct BinaryFiles {
    /// The metadata. It is not trusted: sizes are those of the files.
    pub meta: Meta,
    /// The files of each partition.
    pub partitions: Vec<PartitionFiles>,
    root: Root,
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
        let partitions = partitions.map(|(number, partition)| partition.files(*number)).collect();
        Ok(BinaryFiles { meta: binary.meta, partitions, root: Root::open(location)? })
    }

    /// Opens some partitions of a directory, by their numbers. The files of other partitions may be missing.
    ///
    /// # Errors
    /// Returns the errors of [`BinaryFiles::open`], and [`Kind::Usage`](isomorph_error::Kind::Usage) if a partition
    /// does not exist or its number is given twice.
    pub fn open_some(location: &Location, numbers: &[u32]) -> Result<BinaryFiles> {
        let root = Root::open(location)?;
        let meta = metadata(&root, location)?;
        let mut partitions = Vec::with_capacity(numbers.len());
        for (at, number) in numbers.iter().enumerate() {
            if !meta.partitions.contains(number) {
                let last = meta.partitions.len().saturating_sub(1);
                return Err(Error::usage(format!("partition {number} not found"))
                    .hint(format!("the partitions are 0 to {last}")));
            }
            if numbers[..at].contains(number) {
                return Err(Error::usage(format!("partition {number} is given twice")));
            }
            partitions.push(Partition::open(&root, *number, meta.watermark >= 0, Asked::default())?.files(*number));
        }
        Ok(BinaryFiles { meta, partitions, root })
    }

    /// Opens the table for weighted sampling of the nodes of type `ty` in a partition, 20 bytes for each: `i64` node,
    /// `i64` other node, `f32` probability of the first. Returns `None` if it was not written.
    ///
    /// # Errors
    /// Returns an error if it cannot be opened.
    pub fn node_table(&self, ty: u32, partition: u32) -> Result<Option<Blob>> {
        self.root.try_file(&alias("node", ty as usize, partition))
    }

    /// Opens the table of the edges of type `ty` in a partition, 36 bytes for each: source, target, other source, other
    /// target, probability of the first. Returns `None` if it was not written.
    ///
    /// # Errors
    /// Returns the errors of [`BinaryFiles::node_table`].
    pub fn edge_table(&self, ty: u32, partition: u32) -> Result<Option<Blob>> {
        self.root.try_file(&alias("edge", ty as usize, partition))
    }
}
