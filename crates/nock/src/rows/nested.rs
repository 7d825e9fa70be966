//! The nested layout: edge rows as a list inside their node row. Also the reverse: joins node rows and edge rows into one
//! sequence.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::new_null_array;
use arrow_array::{
    Array, ArrayRef, Int32Array, ListArray, RecordBatch, RecordBatchOptions, StringArray, StructArray, UInt32Array,
};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{DataType, Field, Schema};
use arrow_select::interleave::interleave;
use arrow_select::take::take;
use isomorph_error::{Error, Place, Result};

use super::numbers::Numbers;
use super::props_map::from_map;
use super::shape::cast_strict;
use super::split::arrow_error;
use crate::columns::{Column, ColumnSet};
use crate::layout::{EDGES, is_text};
use crate::rules;

/// The column of the flat form for the edge numbers of a nested file, null on node rows; no column of
/// a file has this name. `edge_id` only distinguishes the two kinds of rows: the stated numbers may be null or negative.
pub(crate) const STATED_ID: &str = "\u{0}edge_id";

/// A sequence of rows: each node row followed by its edge rows.
pub(crate) struct Sequence {
    /// The node of each row.
    pub owners: UInt32Array,
    /// The origin of each row: (0, node) for node rows, (1, edge) for edge rows.
    pub cells: Vec<(usize, usize)>,
    /// For each row, -1 or the number of the edge among those of its node.
    pub edge_ids: Int32Array,
}

/// Arranges `nodes` node rows and their edge rows in sequence. `sources` are the nodes of the edges, ascending. The first edge
/// of the first node gets the number `next`: earlier ones are in an earlier batch.
///
/// # Errors
/// Returns an error if the sources are not ascending or not among the nodes.
pub(crate) fn sequence(nodes: usize, sources: &[u32], with_first_node: bool, next: i32) -> Result<Sequence> {
    let rows = nodes + sources.len();
    let mut owners = Vec::with_capacity(rows);
    let mut cells = Vec::with_capacity(rows);
    let mut edge_ids = Vec::with_capacity(rows);
    let mut edge = 0;
    for (node, number) in (0..nodes).zip(0u32..) {
        let mut id = next;
        if node > 0 || with_first_node {
            owners.push(number);
            cells.push((0, node));
            edge_ids.push(-1);
            id = 0;
        }
        while sources.get(edge).is_some_and(|&source| source as usize == node) {
            owners.push(number);
            cells.push((1, edge));
            edge_ids.push(id);
            id = id.checked_add(1).ok_or_else(|| Error::unsupported("a node has more than 2^31 edges"))?;
            edge += 1;
        }
    }
    if edge < sources.len() {
        return Err(Error::usage("edges must be sorted by source row and follow their nodes"));
    }
    Ok(Sequence { owners: owners.into(), cells, edge_ids: edge_ids.into() })
}

impl Sequence {
    /// Returns a column of the sequence, with node rows from one array and edge rows from another.
    ///
    /// # Errors
    /// Returns an error if the arrays have different types.
    pub fn column(&self, nodes: &dyn Array, edges: &dyn Array) -> Result<ArrayRef> {
        interleave(&[nodes, edges], &self.cells).map_err(|error| arrow_error(&error))
    }

    /// Returns a column of the sequence in which edge rows repeat the value of their node.
    ///
    /// # Errors
    /// Returns an error if the array is shorter than the number of nodes.
    pub fn repeated(&self, nodes: &dyn Array) -> Result<ArrayRef> {
        take(nodes, &self.owners, None).map_err(|error| arrow_error(&error))
    }
}

/// Converts a batch of the nested layout to the flat one. Edge rows have all their members; `wanted` are the columns
/// that are needed: with `edge_id`, the stated numbers are in [`STATED_ID`].
///
/// # Errors
/// Returns an error if the list of edges cannot be read.
pub(crate) fn explode(
    batch: &RecordBatch,
    first: u64,
    wanted: ColumnSet,
    map_of_json: bool,
) -> Result<(RecordBatch, Numbers)> {
    let refused =
        || Error::broken(&rules::FILE_COLUMN_TYPE, "column edges is not a list of edge rows").at(Place::field(EDGES));
    let edges = batch.column_by_name(EDGES).ok_or_else(refused)?;
    let edges = match edges.data_type() {
        DataType::LargeList(item) => cast_strict(edges, &DataType::List(item.clone()), EDGES)?,
        _ => edges.clone(),
    };
    let list: &ListArray = edges.as_list_opt().ok_or_else(refused)?;
    let members: &StructArray = list.values().as_struct_opt().ok_or_else(refused)?;
    let (sources, members) = sources_of(list, members)?;
    let sequence = sequence(batch.num_rows(), &sources, true, 0)?;

    let mut fields = vec![Field::new(Column::EdgeId.name(), DataType::Int32, false)];
    let mut columns: Vec<ArrayRef> = vec![Arc::new(sequence.edge_ids.clone())];
    let mut push = |name: &str, column: ArrayRef| {
        fields.push(Field::new(name, column.data_type().clone(), true));
        columns.push(column);
    };
    let as_text = |column: &ArrayRef| match column.data_type() {
        DataType::Map(_, _) => from_map(column.as_map(), map_of_json).map(|texts| Arc::new(texts) as ArrayRef),
        _ => Ok(Arc::clone(column)),
    };
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        let name = field.name().as_str();
        let column = &as_text(column)?;
        match (Column::named(name), members.column_by_name(name)) {
            _ if name == EDGES => {}
            // These are values of the node; readers of flat files repeat or ignore them on edge rows.
            (Some(Column::SrcName | Column::IsRdf | Column::Shadow), _) => push(name, sequence.repeated(column)?),
            (_, Some(of_edges)) => {
                let of_edges = cast_strict(&as_text(of_edges)?, column.data_type(), name)?;
                push(name, sequence.column(column, &of_edges)?);
            }
            (_, None) => {
                let of_edges = missing(name, column.data_type(), sources.len())?;
                push(name, sequence.column(column, &of_edges)?);
            }
        }
    }
    let stated = members.column_by_name(Column::EdgeId.name()).filter(|_| wanted.has(Column::EdgeId));
    if let Some(stated) = stated {
        let stated = cast_strict(stated, &DataType::Int64, Column::EdgeId.name())?;
        let of_nodes = new_null_array(&DataType::Int64, batch.num_rows());
        push(STATED_ID, sequence.column(&of_nodes, &stated)?);
    }
    for (field, column) in members.fields().iter().zip(members.columns()) {
        let name = field.name().as_str();
        let asked = Column::named(name).is_none_or(|column| wanted.has(column) && column != Column::EdgeId);
        if asked && batch.column_by_name(name).is_none() {
            let column = as_text(column)?;
            let of_nodes = missing(name, column.data_type(), batch.num_rows())?;
            push(name, sequence.column(&of_nodes, &column)?);
        }
    }
    let options = RecordBatchOptions::new().with_row_count(Some(sequence.cells.len()));
    let flat = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
        .map_err(|error| arrow_error(&error))?;
    let numbers = sequence.owners.values().iter().map(|&owner| first + u64::from(owner)).collect();
    Ok((flat, Numbers::Listed(numbers)))
}

/// Returns the cells of rows that lack a column: the empty text in the format's own columns, null in further ones.
fn missing(name: &str, data_type: &DataType, rows: usize) -> Result<ArrayRef> {
    if Column::named(name).is_none() || !is_text(data_type) {
        return Ok(new_null_array(data_type, rows));
    }
    let blank: ArrayRef = Arc::new(StringArray::from_iter_values(std::iter::repeat_n("", rows)));
    cast_strict(&blank, data_type, name)
}

/// Returns the list row of each member, in order, and the members that are in a list.
fn sources_of(list: &ListArray, members: &StructArray) -> Result<(Vec<u32>, StructArray)> {
    let mut sources = Vec::with_capacity(members.len());
    let mut ranges: Vec<u32> = Vec::new();
    let offsets = list.value_offsets();
    let dense = list.null_count() == 0;
    for ((row, ends), number) in offsets.windows(2).enumerate().zip(0u32..) {
        if dense || list.is_valid(row) {
            sources.extend(std::iter::repeat_n(number, (ends[1] - ends[0]).as_usize()));
            if !dense {
                ranges.extend(ends[0].unsigned_abs()..ends[1].unsigned_abs());
            }
        }
    }
    if dense {
        let (from, to) = (offsets.first().copied().unwrap_or(0), offsets.last().copied().unwrap_or(0));
        return Ok((sources, members.slice(from.as_usize(), (to - from).as_usize())));
    }
    let members = take(members, &UInt32Array::from(ranges), None).map_err(|error| arrow_error(&error))?;
    Ok((sources, members.as_struct().clone()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn edges_follow_their_nodes() {
        let sequence = sequence(3, &[0, 0, 2], true, 0).unwrap();
        assert_eq!(sequence.owners.values(), &[0, 0, 0, 1, 2, 2]);
        assert_eq!(sequence.cells, [(0, 0), (1, 0), (1, 1), (0, 1), (0, 2), (1, 2)]);
        assert_eq!(sequence.edge_ids.values(), &[-1, 0, 1, -1, -1, 0]);
    }

    #[test]
    fn a_node_goes_on_in_the_next_batch() {
        let sequence = sequence(2, &[0, 1], false, 7).unwrap();
        assert_eq!(sequence.edge_ids.values(), &[7, -1, 0]);
    }

    #[test]
    fn edges_out_of_order_are_refused() {
        assert!(super::sequence(2, &[1, 0], true, 0).is_err());
        assert!(super::sequence(1, &[5], true, 0).is_err());
    }
}
