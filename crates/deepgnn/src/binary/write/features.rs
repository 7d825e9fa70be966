//! Features of nodes or edges: the start of each, and their bytes.

use isomorph_error::{Result, index};
use isomorph_storage::Staging;

use super::buffered::Gathered;
use crate::block::Features;

/// A writer of features.
pub(super) struct FeatureFiles {
    index: Gathered,
    data: Gathered,
    /// Number of features written, including holes.
    pub slots: u64,
    /// Number of bytes written.
    bytes: u64,
    /// The largest number of features of an element.
    pub most: u64,
}

impl FeatureFiles {
    pub fn create(staging: &Staging, [index, data]: [&str; 2], partitions: u32) -> Result<Self> {
        let (index, data) =
            (Gathered::create(staging, index, partitions)?, Gathered::create(staging, data, partitions)?);
        Ok(FeatureFiles { index, data, slots: 0, bytes: 0, most: 0 })
    }

    /// Appends the features of the elements in a range of a block.
    pub fn append(&mut self, features: &Features, elements: std::ops::Range<usize>) -> Result<()> {
        let (Some(first), false) = (elements.clone().next(), elements.is_empty()) else { return Ok(()) };
        let start = features.of(first).start;
        let end = features.of(elements.end - 1).end;
        for element in elements {
            self.most = self.most.max(features.of(element).len() as u64);
        }
        if start == end {
            return Ok(());
        }
        let from = features.start_of(start);
        for slot in start..end {
            let offset = self.bytes + (features.start_of(slot) - from);
            self.index.push(&offset.to_le_bytes())?;
        }
        let to = features.start_of(end);
        self.data.push(&features.bytes[index(from)..index(to)])?;
        self.slots += (end - start) as u64;
        self.bytes += to - from;
        Ok(())
    }

    pub fn finish(mut self) -> Result<()> {
        self.index.push(&self.bytes.to_le_bytes())?;
        self.index.finish()?;
        self.data.finish()?;
        Ok(())
    }
}
