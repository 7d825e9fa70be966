//! The groups that an edge is in, by the key of the edge.

use std::collections::HashMap;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray, UInt32Array};
use arrow_schema::DataType;
use arrow_select::concat::concat;
use isomorph_error::{Error, Result};
use isomorph_model::batch::MembershipBatch;
use isomorph_model::{Batch, Columns, Ends, Property, Request, Source, Tables};
use isomorph_storage::{Budget, Reservation};
use xxhash_rust::xxh3::xxh3_128;

use super::EdgeMemberships;
use super::columns::{key_text, lists};
use crate::arrow_limits::narrow;
use crate::mapping::arrays::{as_type, malformed, pick};

/// Bytes of a membership: hash of the edge, number of the group, and its share of the first rows.
const ROW_BYTES: u64 = 24;

/// Approximate bytes of a group, apart from its key.
const GROUP_BYTES: u64 = 64;

/// The memberships of edges in one kind of groups.
///
/// They are held in memory, within the budget: edges are looked up by key, in any order. Groups that contain every edge
/// are not listed in the model, so these are memberships that are listed one by one. Edges are identified by the hashes
/// of their keys; verification proves that no two of them collide.
pub(super) struct ByEdge {
    /// Hashes of the edges, ascending; the memberships of one edge in their original order.
    edges: Vec<u128>,
    /// The first row for each prefix of hashes, and the end.
    starts: Vec<u32>,
    /// The number of bits of these prefixes.
    bits: u32,
    /// Keys of the groups, without duplicates.
    groups: ArrayRef,
    /// For each row the number of its group.
    numbers: Vec<u32>,
    /// For each property a value for each row; `None` if all are null.
    properties: Columns,
    _held: Reservation,
}

impl ByEdge {
    /// Reads the memberships of each table in `wanted` from `source`, in one pass over what is neither nodes nor edges.
    ///
    /// # Errors
    /// If they cannot be read, ends are rows, or they do not fit the budget.
    pub fn read(source: &dyn Source, wanted: &[&EdgeMemberships], budget: &Budget) -> Result<Vec<ByEdge>> {
        let mut found: Vec<Found> = wanted.iter().map(|_| Found::new(budget)).collect::<Result<_>>()?;
        for mut part in source.scan(&Request::of(Tables::Rest))? {
            part.read(&mut |batch| {
                let Batch::Memberships(batch) = batch else { return Ok(()) };
                let at = wanted.iter().position(|table| (table.kind, table.table) == (batch.kind, batch.table));
                match at.and_then(|at| found.get_mut(at)) {
                    Some(found) => found.add(batch),
                    None => Ok(()),
                }
            })?;
        }
        let declared = |table: &EdgeMemberships| {
            let kind = source.graph().groups.get(table.kind);
            kind.and_then(|kind| kind.memberships.get(table.table)).map(|table| table.properties.as_slice())
        };
        wanted.iter().zip(found).map(|(table, found)| found.settle(declared(table).unwrap_or_default())).collect()
    }

    /// The rows of an edge.
    fn rows(&self, key: &str) -> std::ops::Range<usize> {
        let hash = hash(key);
        let bucket = first_bits(hash, self.bits);
        let place = |at: usize| self.starts.get(at).map_or(0, |start| *start as usize);
        let (start, end) = (place(bucket), place(bucket + 1));
        let edges = self.edges.get(start..end).unwrap_or_default();
        start + edges.partition_point(|edge| *edge < hash)..start + edges.partition_point(|edge| *edge <= hash)
    }

    /// For edges with these keys: the lists of groups, and of each property. `None` if none of them is in a group.
    ///
    /// # Errors
    /// If a batch has more than 2^31 memberships.
    pub fn lists(&self, keys: &StringArray) -> Result<Option<(ArrayRef, Columns)>> {
        let mut offsets = Vec::with_capacity(keys.len() + 1);
        let mut rows: Vec<u32> = Vec::new();
        offsets.push(0);
        for key in keys {
            rows.extend(key.map_or(0..0, |key| self.rows(key)).map(narrow));
            offsets.push(i32::try_from(rows.len()).map_err(malformed)?);
        }
        if rows.is_empty() {
            return Ok(None);
        }
        let numbers = rows.iter().map(|row| self.numbers.get(*row as usize).copied().unwrap_or_default());
        let groups = lists(&self.groups, &offsets, &UInt32Array::from_iter_values(numbers))?;
        let rows = UInt32Array::from(rows);
        let property =
            |column: &Option<ArrayRef>| column.as_ref().map(|column| lists(column, &offsets, &rows)).transpose();
        Ok(Some((groups, self.properties.iter().map(property).collect::<Result<_>>()?)))
    }
}

/// Memberships in order of arrival.
struct Found {
    edges: Vec<u128>,
    numbers: Vec<u32>,
    groups: StringBuilder,
    known: HashMap<u128, u32>,
    /// Property columns of each batch, with its rows.
    properties: Vec<(usize, Columns)>,
    /// Bytes of the property columns.
    bytes: u64,
    held: Reservation,
}

impl Found {
    fn new(budget: &Budget) -> Result<Self> {
        Ok(Found {
            edges: Vec::new(),
            numbers: Vec::new(),
            groups: StringBuilder::new(),
            known: HashMap::new(),
            properties: Vec::new(),
            bytes: 0,
            held: budget.reserve(0)?,
        })
    }

    fn add(&mut self, batch: MembershipBatch) -> Result<()> {
        let (Ends::Keys(group), Ends::Keys(member)) = (&batch.group, &batch.member) else {
            return Err(Error::unsupported("memberships of edges that are given by row are not supported"));
        };
        let (groups, members) = (key_text(group)?, as_type(member, &DataType::Utf8)?);
        let groups = groups.as_string_opt::<i32>().ok_or_else(|| malformed("keys of groups are not text"))?;
        let mut bytes = 0;
        for column in batch.properties.iter().flatten() {
            bytes += column.to_data().get_slice_memory_size().map_err(malformed)? as u64;
        }
        self.held.grow(bytes + members.len() as u64 * ROW_BYTES)?;
        self.bytes += bytes;
        self.edges.extend(members.as_string::<i32>().iter().map(|key| hash(key.unwrap_or_default())));
        for key in groups {
            let key = key.unwrap_or_default();
            let next = narrow(self.known.len());
            let number = match self.known.entry(hash(key)) {
                std::collections::hash_map::Entry::Occupied(entry) => *entry.get(),
                std::collections::hash_map::Entry::Vacant(entry) => {
                    self.held.grow(key.len() as u64 + GROUP_BYTES)?;
                    self.groups.append_value(key);
                    *entry.insert(next)
                }
            };
            self.numbers.push(number);
        }
        self.properties.push((members.len(), batch.properties));
        Ok(())
    }

    /// Sorts the memberships by edge.
    fn settle(mut self, declared: &[Property]) -> Result<ByEdge> {
        let count = u32::try_from(self.edges.len())
            .map_err(|_| Error::unsupported("more than 2^32 memberships of edges that are listed one by one"))?;
        // Everything is in memory twice while it is sorted.
        let twice = self.bytes + u64::from(count) * ROW_BYTES;
        self.held.grow(twice)?;
        let mut order: Vec<u32> = (0..count).collect();
        order.sort_unstable_by_key(|row| (self.edges[*row as usize], *row));
        let edges: Vec<u128> = order.iter().map(|row| self.edges[*row as usize]).collect();
        let numbers: Vec<u32> = order.iter().map(|row| self.numbers[*row as usize]).collect();
        self.edges = Vec::new();
        let bits = count.checked_ilog2().unwrap_or_default();
        let mut starts = vec![0; (1usize << bits) + 1];
        for edge in &edges {
            starts[first_bits(*edge, bits) + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let order = UInt32Array::from(order);
        let mut properties = Columns::new();
        for (at, property) in declared.iter().enumerate() {
            let column = |(_, columns): &(usize, Columns)| columns.get(at).is_some_and(Option::is_some);
            properties.push(match self.properties.iter().any(column) {
                true => Some(pick(&self.column(at, property)?, &order)?).filter(has_values),
                false => None,
            });
        }
        self.held.shrink(twice);
        let groups = std::sync::Arc::new(self.groups.finish());
        Ok(ByEdge { edges, starts, bits, groups, numbers, properties, _held: self.held })
    }

    /// A property of all batches.
    fn column(&self, at: usize, property: &Property) -> Result<ArrayRef> {
        let piece = |(rows, columns): &(usize, Columns)| match columns.get(at).and_then(Option::as_ref) {
            Some(column) => as_type(column, &property.data_type),
            None => Ok(arrow_array::new_null_array(&property.data_type, *rows)),
        };
        let pieces: Vec<ArrayRef> = self.properties.iter().map(piece).collect::<Result<_>>()?;
        let pieces: Vec<&dyn Array> = pieces.iter().map(AsRef::as_ref).collect();
        concat(&pieces).map_err(malformed)
    }
}

fn has_values(column: &ArrayRef) -> bool {
    column.null_count() < column.len()
}

fn hash(key: &str) -> u128 {
    xxh3_128(key.as_bytes())
}

/// The first bits of a hash, as a number.
fn first_bits(hash: u128, bits: u32) -> usize {
    hash.checked_shr(u128::BITS - bits).unwrap_or_default() as usize
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::types::Int64Type;
    use arrow_array::{Int64Array, StringArray};
    use isomorph_error::Kind;

    use super::*;

    /// Memberships number 0 to `count`: edge `e{n % edges}` in group `g{n % 3}` with the value n.
    fn found(count: i64, edges: i64, budget: &Budget) -> Result<Found> {
        let mut found = Found::new(budget)?;
        for rows in (0..count).collect::<Vec<_>>().chunks(7) {
            let text = |of: &dyn Fn(i64) -> String| -> ArrayRef {
                Arc::new(StringArray::from_iter_values(rows.iter().map(|row| of(*row))))
            };
            found.add(MembershipBatch {
                kind: 0,
                table: 0,
                group: Ends::Keys(text(&|row| format!("g{}", row % 3))),
                member: Ends::Keys(text(&|row| format!("e{}", row % edges))),
                properties: vec![Some(Arc::new(Int64Array::from(rows.to_vec()))), None],
            })?;
        }
        Ok(found)
    }

    fn properties() -> [Property; 2] {
        ["n", "nothing"].map(|name| Property::new(name, DataType::Int64))
    }

    #[test]
    fn every_edge_has_its_memberships_in_their_order() {
        for (count, edges) in [(0, 1), (1, 1), (100, 1), (1_000, 300), (300, 1_000)] {
            let by_edge = found(count, edges, &Budget::new(1 << 20)).unwrap().settle(&properties()).unwrap();
            let keys: Vec<String> = (0..edges + 2).map(|edge| format!("e{edge}")).collect();
            let Some((groups, values)) = by_edge.lists(&StringArray::from(keys)).unwrap() else {
                assert_eq!(count, 0);
                continue;
            };
            assert!(values[1].is_none());
            let (groups, values) = (groups.as_list::<i32>(), values[0].as_ref().unwrap().as_list::<i32>().clone());
            for edge in 0..edges + 2 {
                let expected: Vec<i64> = (0..count).filter(|row| row % edges == edge).collect();
                assert_eq!(groups.is_valid(edge as usize), !expected.is_empty());
                let own = values.value(edge as usize);
                assert_eq!(own.as_primitive::<Int64Type>().values().as_ref(), expected, "{count} {edges} {edge}");
                let own = groups.value(edge as usize);
                let own: Vec<&str> = own.as_string::<i32>().iter().flatten().collect();
                assert_eq!(own, expected.iter().map(|row| format!("g{}", row % 3)).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn they_are_counted_and_refused_when_there_is_too_little_memory() {
        let budget = Budget::new(1 << 20);
        let by_edge = found(1_000, 300, &budget).unwrap().settle(&properties()).unwrap();
        assert!(budget.used() > 1_000 * 24 && budget.peak() > 2 * 1_000 * 24, "{budget:?}");
        drop(by_edge);
        assert_eq!(budget.used(), 0);
        let refused = found(1_000, 300, &Budget::new(40_000)).and_then(|found| found.settle(&properties()));
        assert_eq!(refused.err().map(|error| error.kind()), Some(Kind::TooLarge));
    }
}
