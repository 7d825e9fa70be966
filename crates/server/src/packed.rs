//! Encodes replies that consist of long lists of numbers: most of the bytes that a server sends.
//!
//! The bytes are those of `prost`, which measures each list number by number, twice, and appends each number to a buffer of its own kind.
//! Here a list is measured once and written into a buffer that is large enough: a third of the time. Values of features, which are bytes, are
//! sent as they are.

use bytes::Bytes;
use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint, encoded_len_varint};

use crate::wire::{
    CreateReply, FeaturesReply, HealthReply, MetadataReply, NeighborCountsReply, NeighborsReply, NodeTypesReply,
    SampleReply, SparseFeaturesReply, StringFeaturesReply, UniformNeighborsReply, WeightedNeighborsReply,
};

/// A message in parts, which are sent one after another.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    first: Vec<u8>,
    /// Bytes that are sent without being copied.
    middle: Vec<u8>,
    last: Vec<u8>,
}

/// Bytes before a message in a body: whether it is compressed, and its length.
const PREFIX: usize = 5;

impl Parts {
    /// Encodes a reply.
    pub fn of(reply: impl Reply) -> Parts {
        let mut parts = Parts::default();
        reply.write(&mut parts);
        parts
    }

    /// Encodes a reply as the body of a response; `None` if it is too long for one.
    pub fn framed(reply: impl Reply) -> Option<Parts> {
        let mut parts = Parts { first: vec![0; PREFIX], ..Parts::default() };
        reply.write(&mut parts);
        let length = u32::try_from(parts.lengths().iter().sum::<usize>() - PREFIX).ok()?;
        parts.first[1..PREFIX].copy_from_slice(&length.to_be_bytes());
        Some(parts)
    }

    fn lengths(&self) -> [usize; 3] {
        [self.first.len(), self.middle.len(), self.last.len()]
    }

    /// Returns the parts that have bytes.
    pub fn into_chunks(self) -> impl Iterator<Item = Bytes> + Send + 'static {
        [self.first, self.middle, self.last].into_iter().filter(|part| !part.is_empty()).map(Bytes::from)
    }

    /// Returns the whole message.
    pub fn into_vec(self) -> Vec<u8> {
        [self.first, self.middle, self.last].concat()
    }
}

/// A reply of a call.
pub(crate) trait Reply: Message + Sized {
    /// Appends the message.
    fn write(self, out: &mut Parts) {
        self.encode_raw(&mut out.first);
    }
}

/// A number in a packed list.
trait Number: Copy {
    /// The number as it is written: negative numbers have ten bytes.
    fn wide(self) -> u64;
}

impl Number for i64 {
    fn wide(self) -> u64 {
        self.cast_unsigned()
    }
}

impl Number for u64 {
    fn wide(self) -> u64 {
        self
    }
}

impl Number for i32 {
    fn wide(self) -> u64 {
        i64::from(self).cast_unsigned()
    }
}

impl Number for u32 {
    fn wide(self) -> u64 {
        self.into()
    }
}

/// Below this, a number has at most four bytes.
const SHORT: u64 = 1 << 28;

/// Appends a packed list of variable-length numbers; nothing if it is empty.
fn numbers<N: Number>(out: &mut Vec<u8>, tag: u32, list: &[N]) {
    if list.is_empty() {
        return;
    }
    encode_key(tag, WireType::LengthDelimited, out);
    // Types of nodes and edges nearly always have one byte each.
    if list.iter().fold(0, |all, number| all | number.wide()) < 0x80 {
        encode_varint(list.len() as u64, out);
        out.extend(list.iter().map(|number| number.wide().to_le_bytes()[0]));
        return;
    }
    let length: usize = list.iter().map(|number| encoded_len_varint(number.wide())).sum();
    encode_varint(length as u64, out);
    let start = out.len();
    // Four bytes are written for each short number, and the next one overwrites those that it does not need.
    out.resize(start + length + 4, 0);
    let mut at = start;
    for number in list {
        at += put(out, at, number.wide());
    }
    out.truncate(start + length);
}

/// Writes a number at a position, before which there is room, and returns its length.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "a short number has 28 bits, and a byte of a longer one seven and a mark"
)]
fn put(out: &mut [u8], at: usize, number: u64) -> usize {
    if number < SHORT {
        let short = number as u32;
        let spread = short & 0x7f | (short & 0x3f80) << 1 | (short & 0x1f_c000) << 2 | (short & 0xfe0_0000) << 3;
        let length = encoded_len_varint(number);
        let marks = 0x0080_8080 & ((1u32 << (8 * (length - 1))) - 1);
        if let Some(room) = out.get_mut(at..at + 4) {
            room.copy_from_slice(&(spread | marks).to_le_bytes());
        }
        return length;
    }
    let (mut rest, mut end) = (number, at);
    while rest >= 0x80 {
        out[end] = rest as u8 | 0x80;
        rest >>= 7;
        end += 1;
    }
    out[end] = rest as u8;
    end + 1 - at
}

/// Appends a packed list of 32-bit floats; nothing if it is empty.
fn floats(out: &mut Vec<u8>, tag: u32, list: &[f32]) {
    if list.is_empty() {
        return;
    }
    encode_key(tag, WireType::LengthDelimited, out);
    encode_varint(4 * list.len() as u64, out);
    let start = out.len();
    out.resize(start + 4 * list.len(), 0);
    for (room, number) in out[start..].chunks_exact_mut(4).zip(list) {
        room.copy_from_slice(&number.to_le_bytes());
    }
}

/// Bytes to begin with for a list of this many numbers.
fn room(lists: &[usize]) -> usize {
    lists.iter().map(|length| 5 * length + 16).sum()
}

impl Reply for NeighborsReply {
    fn write(self, out: &mut Parts) {
        let out = &mut out.first;
        out.reserve(room(&[self.node_ids.len(), self.edge_weights.len(), self.edge_types.len()]));
        numbers(out, 1, &self.node_ids);
        floats(out, 2, &self.edge_weights);
        numbers(out, 3, &self.edge_types);
        numbers(out, 4, &self.neighbor_counts);
        numbers(out, 5, &self.timestamps);
    }
}

impl Reply for WeightedNeighborsReply {
    fn write(self, out: &mut Parts) {
        let out = &mut out.first;
        out.reserve(room(&[self.neighbor_ids.len(), self.neighbor_weights.len(), self.neighbor_types.len()]));
        numbers(out, 1, &self.neighbor_ids);
        floats(out, 2, &self.neighbor_weights);
        numbers(out, 3, &self.neighbor_types);
        numbers(out, 4, &self.node_ids);
        floats(out, 5, &self.shard_weights);
        numbers(out, 6, &self.timestamps);
    }
}

impl Reply for UniformNeighborsReply {
    fn write(self, out: &mut Parts) {
        let out = &mut out.first;
        out.reserve(room(&[self.neighbor_ids.len(), self.neighbor_types.len()]));
        numbers(out, 1, &self.neighbor_ids);
        numbers(out, 2, &self.neighbor_types);
        numbers(out, 3, &self.shard_counts);
        numbers(out, 4, &self.node_ids);
        numbers(out, 5, &self.timestamps);
    }
}

impl Reply for SampleReply {
    fn write(self, out: &mut Parts) {
        let out = &mut out.first;
        out.reserve(room(&[self.types.len(), self.node_ids.len()]));
        numbers(out, 1, &self.types);
        numbers(out, 2, &self.node_ids);
    }
}

impl Reply for NodeTypesReply {
    fn write(self, out: &mut Parts) {
        let out = &mut out.first;
        out.reserve(room(&[self.types.len(), self.offsets.len()]));
        numbers(out, 1, &self.types);
        numbers(out, 2, &self.offsets);
    }
}

impl Reply for FeaturesReply {
    fn write(self, out: &mut Parts) {
        if !self.feature_values.is_empty() {
            encode_key(1, WireType::LengthDelimited, &mut out.first);
            encode_varint(self.feature_values.len() as u64, &mut out.first);
            out.middle = self.feature_values;
        }
        out.last.reserve(room(&[self.offsets.len(), self.timestamps.len()]));
        numbers(&mut out.last, 2, &self.offsets);
        numbers(&mut out.last, 3, &self.timestamps);
    }
}

impl Reply for MetadataReply {}
impl Reply for SparseFeaturesReply {}
impl Reply for StringFeaturesReply {}
impl Reply for NeighborCountsReply {}
impl Reply for CreateReply {}
impl Reply for HealthReply {}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn same(reply: &(impl Reply + Clone)) {
        let wanted = reply.encode_to_vec();
        assert_eq!(Parts::of(reply.clone()).into_vec(), wanted);
        let framed: Vec<Bytes> = Parts::framed(reply.clone()).unwrap().into_chunks().collect();
        assert!(framed.iter().all(|part| !part.is_empty()));
        let framed = framed.concat();
        assert_eq!((framed[0], &framed[1..PREFIX]), (0, &u32::try_from(wanted.len()).unwrap().to_be_bytes()[..]));
        assert_eq!(framed[PREFIX..], wanted);
    }

    #[test]
    fn the_bytes_are_those_of_the_protocol() {
        // Each length of a number, its borders, negative ones, and lists that end in each of them.
        let mut wide: Vec<i64> = (0..63).flat_map(|bits| [(1i64 << bits) - 1, 1 << bits]).collect();
        wide.extend([-1, i64::MIN, i64::MAX, 5]);
        let types: Vec<i32> = wide.iter().map(|number| *number as i32).collect();
        let weights: Vec<f32> = wide.iter().map(|number| *number as f32 / 3.0).collect();
        for end in 0..=wide.len() {
            let (ids, types, weights) = (wide[..end].to_vec(), types[..end].to_vec(), weights[..end].to_vec());
            let counts: Vec<u64> = ids.iter().map(|number| number.cast_unsigned()).collect();
            same(&NeighborsReply {
                node_ids: ids.clone(),
                edge_weights: weights.clone(),
                edge_types: types.clone(),
                neighbor_counts: counts.clone(),
                timestamps: ids.clone(),
            });
            same(&WeightedNeighborsReply {
                neighbor_ids: ids.clone(),
                neighbor_weights: weights.clone(),
                neighbor_types: vec![0; end],
                node_ids: vec![127; end],
                shard_weights: weights,
                timestamps: Vec::new(),
            });
            same(&UniformNeighborsReply {
                neighbor_ids: ids.clone(),
                neighbor_types: types.clone(),
                shard_counts: counts,
                node_ids: vec![128; end],
                timestamps: vec![-1; end],
            });
            same(&FeaturesReply {
                feature_values: vec![7; 100 * end],
                offsets: (0..end).map(|at| at as u32 * 1000).collect(),
                timestamps: ids.clone(),
            });
            same(&SampleReply { types: types.clone(), node_ids: ids });
            same(&NodeTypesReply { types, offsets: (0..end).map(|at| at as u32 * 1000).collect() });
        }
    }
}
