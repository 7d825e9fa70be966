//! Which groups an edge is in, by the edge's key.

use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray, UInt32Array};
use arrow_select::concat::concat;
use isomorph_error::{Error, Result};
use isomorph_model::{Batch, Ends, Request, Source, Tables};

use super::EdgeMemberships;
use super::columns::{as_type, key_text, lists, malformed};

/// The memberships of edges in one kind of groups.
///
/// Held in memory: an edge is asked for by its key, whenever it comes. Groups that hold every edge are not listed in the
/// model, so these are the memberships that somebody stated one by one.
pub(super) struct ByEdge {
    groups: Option<ArrayRef>,
    properties: Vec<Option<ArrayRef>>,
    /// For each edge key the first of its rows; the others follow in `next`.
    first: HashMap<Box<str>, u32>,
    next: Vec<u32>,
}

/// No further row.
const END: u32 = u32::MAX;

impl ByEdge {
    /// Reads the memberships of each table in `wanted` from `source`, in one pass over what is neither nodes nor edges.
    ///
    /// # Errors
    /// When they cannot be read, or ends are rows.
    pub fn read(source: &dyn Source, wanted: &[&EdgeMemberships]) -> Result<Vec<ByEdge>> {
        type Found = (Vec<ArrayRef>, Vec<ArrayRef>, Vec<Vec<Option<ArrayRef>>>);
        let mut found: Vec<Found> = wanted.iter().map(|_| Found::default()).collect();
        for part in source.scan(&Request::of(Tables::Rest))? {
            part.read(&mut |batch| {
                let Batch::Memberships(batch) = batch else { return Ok(()) };
                let at = wanted.iter().position(|table| (table.kind, table.table) == (batch.kind, batch.table));
                let Some((groups, members, properties)) = at.and_then(|at| found.get_mut(at)) else { return Ok(()) };
                let (Ends::Keys(group), Ends::Keys(member)) = (&batch.group, &batch.member) else {
                    return Err(Error::unsupported("memberships of edges that are told by rows"));
                };
                groups.push(key_text(group)?);
                members.push(as_type(member, &arrow_schema::DataType::Utf8)?);
                properties.push(batch.properties);
                Ok(())
            })?;
        }
        wanted.iter().zip(found).map(|(table, found)| ByEdge::of(source, table, found)).collect()
    }

    fn of(
        source: &dyn Source,
        table: &EdgeMemberships,
        (groups, members, properties): (Vec<ArrayRef>, Vec<ArrayRef>, Vec<Vec<Option<ArrayRef>>>),
    ) -> Result<ByEdge> {
        let all = |arrays: &[ArrayRef]| match arrays {
            [] => Ok(None),
            arrays => {
                let arrays: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
                concat(&arrays).map(Some).map_err(malformed)
            }
        };
        let declared = source.graph().groups.get(table.kind).and_then(|kind| kind.memberships.get(table.table));
        let declared = declared.map(|table| table.properties.as_slice()).unwrap_or_default();
        let column = |(at, property): (usize, &isomorph_model::Property)| {
            let pieces: Vec<ArrayRef> = properties
                .iter()
                .zip(&members)
                .map(|(columns, members)| match columns.get(at).and_then(Option::as_ref) {
                    Some(column) => as_type(column, &property.data_type),
                    None => Ok(arrow_array::new_null_array(&property.data_type, members.len())),
                })
                .collect::<Result<_>>()?;
            all(&pieces)
        };
        let columns: Vec<Option<ArrayRef>> = declared.iter().enumerate().map(column).collect::<Result<_>>()?;
        let members = all(&members)?;
        let names: Option<&StringArray> = members.as_ref().and_then(|members| members.as_string_opt::<i32>());
        let rows = names.map_or(0, Array::len);
        if rows >= END as usize {
            return Err(Error::unsupported("more than 4 thousand million memberships of edges, one by one"));
        }
        let mut by_edge =
            ByEdge { groups: all(&groups)?, properties: columns, first: HashMap::new(), next: vec![END; rows] };
        // From the back, so that each chain is in the order of the rows.
        for row in (0..rows).rev() {
            let key = names.map(|names| names.value(row)).unwrap_or_default();
            let next = match by_edge.first.get_mut(key) {
                Some(first) => std::mem::replace(first, row as u32),
                None => {
                    by_edge.first.insert(key.into(), row as u32);
                    END
                }
            };
            if let Some(place) = by_edge.next.get_mut(row) {
                *place = next;
            }
        }
        Ok(by_edge)
    }

    /// For edges of these keys: the lists of groups, and of each property. Nothing when none of them is in a group.
    ///
    /// # Errors
    /// When a batch has more than 2^31 memberships.
    pub fn lists(&self, keys: &StringArray) -> Result<Option<(ArrayRef, Vec<Option<ArrayRef>>)>> {
        let Some(groups) = &self.groups else { return Ok(None) };
        let mut offsets = Vec::with_capacity(keys.len() + 1);
        let mut rows: Vec<u32> = Vec::new();
        offsets.push(0);
        for key in keys {
            let mut row = key.and_then(|key| self.first.get(key)).copied().unwrap_or(END);
            while row != END {
                rows.push(row);
                row = self.next.get(row as usize).copied().unwrap_or(END);
            }
            offsets.push(i32::try_from(rows.len()).map_err(malformed)?);
        }
        if rows.is_empty() {
            return Ok(None);
        }
        let rows = UInt32Array::from(rows);
        let property = |column: &Option<ArrayRef>| {
            let has_values = column.as_ref().filter(|column| column.null_count() < column.len());
            has_values.map(|column| lists(column, &offsets, &rows)).transpose()
        };
        Ok(Some((lists(groups, &offsets, &rows)?, self.properties.iter().map(property).collect::<Result<_>>()?)))
    }
}
