//! Merges pieces of ordered edges into one.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, StringArray, UInt32Array, UInt64Array, new_null_array};
use arrow_select::concat::concat;
use arrow_select::take::take;
use isomorph_error::{Error, Result};
use isomorph_model::{EdgeBatch, Ends, Relations};

use super::as_rows;
use crate::arrow_limits::narrow;

/// One batch of all pieces, each of which is ascending by source row. The result is sorted by source row; edges with
/// equal rows are in the order of the pieces. The pieces are of one type, with rows as sources and keys as targets.
///
/// # Errors
/// If the pieces differ in form, or are too large for one batch.
pub(super) fn merge(pieces: Vec<EdgeBatch>) -> Result<Option<EdgeBatch>> {
    let mut pieces = pieces;
    let Some(first) = pieces.first() else { return Ok(None) };
    if pieces.len() == 1 {
        return Ok(pieces.pop());
    }
    let (ty, width) = (first.ty, first.properties.len());
    if pieces.iter().any(|piece| piece.ty != ty || piece.properties.len() != width || piece.layers.is_some()) {
        return Err(Error::unsupported("edges of several types in one stream are not supported"));
    }
    let mut sources: Vec<u64> = Vec::new();
    for piece in &pieces {
        let rows = as_rows(&piece.source).ok_or_else(|| Error::usage("sources must be rows"))?;
        sources.extend_from_slice(rows.values());
    }
    let total = u32::try_from(sources.len())
        .map_err(|_| Error::unsupported("more than 2^32 edges of a few nodes are not supported"))?;
    let mut order: Vec<u32> = (0..total).collect();
    // A stable sort; the input consists of a few ascending runs, for which this sort is fast.
    order.sort_by_key(|&row| sources.get(row as usize).copied());
    let order = UInt32Array::from(order);
    let gather = |columns: Vec<ArrayRef>| -> Result<ArrayRef> {
        let columns: Vec<&dyn Array> = columns.iter().map(AsRef::as_ref).collect();
        let joined = concat(&columns).and_then(|joined| take(&joined, &order, None));
        joined.map_err(|error| Error::malformed(error.to_string()))
    };
    let targets = pieces.iter().map(|piece| match &piece.target {
        Ends::Keys(keys) => Ok(Arc::clone(keys)),
        Ends::Rows(_) => Err(Error::usage("targets must be keys")),
    });
    let target = Ends::Keys(gather(targets.collect::<Result<_>>()?)?);
    let relations = relations(&pieces, &order)?;
    let mut properties = Vec::with_capacity(width);
    for at in 0..width {
        let columns: Vec<Option<&ArrayRef>> =
            pieces.iter().map(|piece| piece.properties.get(at).and_then(Option::as_ref)).collect();
        let Some(data_type) = columns.iter().flatten().next().map(|column| column.data_type().clone()) else {
            properties.push(None);
            continue;
        };
        let filled = pieces.iter().zip(columns);
        let filled =
            filled.map(|(piece, column)| column.cloned().unwrap_or_else(|| new_null_array(&data_type, piece.rows)));
        properties.push(Some(gather(filled.collect())?));
    }
    let sorted = order.values().iter().filter_map(|&row| sources.get(row as usize).copied());
    Ok(Some(EdgeBatch {
        relations,
        properties,
        ..EdgeBatch::between(ty, Ends::Rows(UInt64Array::from_iter_values(sorted)), target)
    }))
}

/// The relations of all pieces: their names one after another.
fn relations(pieces: &[EdgeBatch], order: &UInt32Array) -> Result<Option<Relations>> {
    let mut names: Vec<&str> = Vec::new();
    let mut index: Vec<u32> = Vec::new();
    for piece in pieces {
        let Some(relations) = &piece.relations else { return Ok(None) };
        let base = narrow(names.len());
        names.extend(relations.names.iter().map(Option::unwrap_or_default));
        index.extend(relations.index.values().iter().map(|at| at + base));
    }
    let index = take(&UInt32Array::from(index), order, None).map_err(|error| Error::malformed(error.to_string()))?;
    let index = arrow_array::cast::AsArray::as_primitive::<arrow_array::types::UInt32Type>(&index).clone();
    Ok(Some(Relations { names: StringArray::from(names), index }))
}
