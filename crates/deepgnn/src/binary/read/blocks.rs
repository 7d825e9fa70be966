//! Entries and edges of a partition as blocks of bounded size.

use std::ops::Range;

use isomorph_error::{Error, Result};

use super::partition::{BYTES, Partition, half_word, numbers, word};
use crate::binary::layout::{DUMMY, EDGE_RECORD, MAP_RECORD, TIME_RECORD};
use crate::block::{Block, Depth, Life};
use crate::feature::FeatureColumns;
use crate::rules;

/// Remaining entries of a map.
pub(crate) struct NodeBlocks<'a> {
    pub(super) partition: &'a Partition,
    pub(super) columns: &'a FeatureColumns,
    pub(super) depth: Depth,
    /// The next range is the last one here.
    pub(crate) pending: Vec<Range<u64>>,
}

impl NodeBlocks<'_> {
    /// Reads the next entries into `block`: the number of the first of them, if there are any.
    ///
    /// # Errors
    /// When something points outside.
    pub fn fill(&mut self, block: &mut Block) -> Result<Option<u64>> {
        let (partition, depth) = (self.partition, self.depth);
        while let Some(range) = self.pending.pop() {
            if range.is_empty() {
                continue;
            }
            let ends = match depth {
                Depth::Bare | Depth::Plain => Vec::new(),
                Depth::Features(_) | Depth::Full => numbers(&partition.node_index, range.clone())?,
            };
            partition.check_counts(&ends, &partition.node_index, range.start)?;
            if let [first, .., last] = ends.as_slice()
                && range.end - range.start > 1
                && partition.node_features.size(*first, *last)? > BYTES
            {
                let middle = range.start + (range.end - range.start) / 2;
                self.pending.push(middle..range.end);
                self.pending.push(range.start..middle);
                continue;
            }
            block.clear();
            // The binary has them in its tables for sampling alone.
            let (weights, lives) = match depth {
                Depth::Plain | Depth::Features(_) | Depth::Full => {
                    (partition.weights(range.clone())?, partition.beside.node_lives(range.clone())?)
                }
                Depth::Bare => Default::default(),
            };
            for (at, record) in partition.entries(&range)?.chunks_exact(MAP_RECORD).enumerate() {
                let ty = half_word(&record[16..]).cast_signed();
                if ty < DUMMY || ty > i32::from(u16::MAX) {
                    let place = partition.place_of_entry(range.start + at as u64);
                    return Err(Error::broken(&rules::TYPE, format!("{ty} is not a valid type")).at(place));
                }
                block.node(
                    word(record),
                    ty,
                    weights.get(at).map_or(0.0, |weight| f64::from(*weight)),
                    lives.get(at).copied(),
                );
            }
            if depth.has_features() {
                let types = partition.beside.node_types.as_ref();
                partition.node_features.read(&ends, depth, self.columns, types, &mut block.nodes.features)?;
            }
            return Ok(Some(range.start));
        }
        Ok(None)
    }
}

/// Remaining edges of entries.
pub(crate) struct EdgeBlocks<'a> {
    pub(super) partition: &'a Partition,
    pub(super) columns: &'a FeatureColumns,
    pub(super) depth: Depth,
    /// The ids of the entries, and where the edges of each begin, with the end of the last.
    pub(super) sources: Vec<u64>,
    pub(super) ends: Vec<u64>,
    /// The next range is the last one here.
    pub(crate) pending: Vec<Range<u64>>,
}

impl EdgeBlocks<'_> {
    /// Reads the next edges into `block`. Returns the number of the first of them, if there are any.
    ///
    /// # Errors
    /// Returns an error if an offset is out of range.
    pub fn fill(&mut self, block: &mut Block) -> Result<Option<u64>> {
        let (partition, ends) = (self.partition, &self.ends);
        while let Some(range) = self.pending.pop() {
            let size = EDGE_RECORD as u64;
            // The record after the last edge states where its features end.
            let records = partition.edge_index.read(range.start * size..(range.end + 1) * size)?;
            let slots: Vec<u64> = records.chunks_exact(EDGE_RECORD).map(|record| word(&record[8..])).collect();
            if let Some(at) = slots.windows(2).position(|pair| pair[0] > pair[1]) {
                let place = partition.place_of_edge(range.start + at as u64 + 1);
                return Err(Error::broken(&rules::BOUNDS, "the features precede those of the previous edge").at(place));
            }
            partition.check_counts(&slots, &partition.edge_index, range.start)?;
            if let [first, .., last] = slots.as_slice()
                && self.depth.has_features()
                && range.end - range.start > 1
                && partition.edge_features.size(*first, *last)? > BYTES
            {
                let middle = range.start + (range.end - range.start) / 2;
                self.pending.push(middle..range.end);
                self.pending.push(range.start..middle);
                continue;
            }
            block.clear();
            let mut entry = ends.partition_point(|end| *end <= range.start).saturating_sub(1);
            for (edge, record) in (range.start..range.end).zip(records.chunks_exact(EDGE_RECORD)) {
                while ends[entry + 1] <= edge {
                    entry += 1;
                }
                if ends[entry] == edge {
                    // The order of edge types starts again with each entry, even of the same node.
                    #[expect(clippy::cast_possible_truncation, reason = "at most EDGES")]
                    block.nodes.edges_before.push((edge - range.start) as u32);
                }
                let ty = half_word(&record[16..]).cast_signed();
                if !(0..=i32::from(u16::MAX)).contains(&ty) {
                    let place = partition.place_of_edge(edge);
                    return Err(Error::broken(&rules::TYPE, format!("{ty} is not a valid type")).at(place));
                }
                let weight = f32::from_bits(half_word(&record[20..]));
                block.edge(self.sources[entry], word(record), ty, f64::from(weight));
            }
            if let Some(times) = &partition.times {
                let size = TIME_RECORD as u64;
                let bytes = times.read(8 + range.start * size..8 + range.end * size)?;
                let time = |bytes: &[u8]| Some(word(bytes).cast_signed());
                let lives = bytes.chunks_exact(TIME_RECORD);
                block.edges.lives = lives.map(|life| Life { created: time(life), removed: time(&life[8..]) }).collect();
            }
            if self.depth != Depth::Bare {
                partition.beside.edge_lives(range.clone(), &mut block.edges.lives)?;
            }
            if self.depth.has_features() {
                let types = partition.beside.edge_types.as_ref();
                partition.edge_features.read(&slots, self.depth, self.columns, types, &mut block.edges.features)?;
            }
            return Ok(Some(range.start));
        }
        Ok(None)
    }
}
