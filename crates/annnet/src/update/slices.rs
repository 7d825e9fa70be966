//! Creating a slice, or replacing its members.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, UInt32Array};
use arrow_select::filter::filter_record_batch;
use isomorph_error::{Error, Result};

use super::append::Tables;
use super::columns::name::{EDGE, NODE};
use super::input::Input;
use crate::layout::{Layout, column, file};
use crate::read::Annnet;
use crate::read::ids::{self, IdMap};
use crate::rules;
use crate::table::Table;
use crate::write::columns::{arrow, gather, same};

/// Rows that are copied at a time.
const BATCH_ROWS: usize = 1 << 16;

/// Creates a slice with the members in `input`, or replaces the members of the slice of this name. Attributes of the
/// slice, and of edges that stay in it, are kept.
///
/// # Errors
/// Returns an error if a member does not exist or is named twice, or the slice is the default slice, which lists
/// everything.
pub(super) fn put(
    annnet: &Annnet,
    name: &str,
    input: Option<&Input>,
    default: &str,
    tables: &mut Tables<'_>,
) -> Result<()> {
    if name == default {
        return Err(Error::usage(format!("{name:?} is the default slice, which contains everything")));
    }
    let nodes = input.map(|input| members(input, NODE)).transpose()?.flatten();
    let edges = input.map(|input| members(input, EDGE)).transpose()?.flatten();
    check_nodes(annnet, input, nodes.as_ref())?;
    check_edges(annnet, input, edges.as_ref())?;
    let is_new = annnet.slices.find(name).is_none();
    if is_new {
        let id: ArrayRef = same(name, 1);
        let mut row = vec![(column::SLICE_ID, Arc::clone(&id))];
        if annnet.layout() == Layout::V1 {
            row.extend([(column::NAME, id), (column::ATTRIBUTES, same("{}", 1))]);
        }
        tables.grow(file::REGISTRY, &batch(row)?)?;
    } else {
        for path in [annnet.words.memberships, file::EDGE_MEMBERSHIPS, file::EDGE_SLICE_ATTRIBUTES] {
            // If there are new rows, the table is rewritten below.
            let rows = match path {
                path if path == annnet.words.memberships => node_rows(annnet, name, nodes.as_ref())?,
                file::EDGE_MEMBERSHIPS => edge_rows(name, input, edges.as_ref())?,
                _ => attribute_rows(annnet, name, input, edges.as_ref())?,
            };
            rewrite(tables, path, name, rows)?;
        }
        return Ok(());
    }
    if let Some(rows) = node_rows(annnet, name, nodes.as_ref())? {
        tables.grow(annnet.words.memberships, &rows)?;
    }
    if let Some(rows) = edge_rows(name, input, edges.as_ref())? {
        tables.grow(file::EDGE_MEMBERSHIPS, &rows)?;
    }
    if let Some(rows) = attribute_rows(annnet, name, input, edges.as_ref())? {
        tables.grow(file::EDGE_SLICE_ATTRIBUTES, &rows)?;
    }
    Ok(())
}

/// Ids of members, with their rows.
type Members = (StringArray, UInt32Array);

fn members(input: &Input, name: &str) -> Result<Option<Members>> {
    if !input.has(name) {
        return Ok(None);
    }
    let all = input.cells.text(name)?;
    let rows: UInt32Array = (0..all.len() as u32).filter(|row| all.is_valid(*row as usize)).map(Some).collect();
    let ids = all.iter().flatten().map(Some).collect::<StringArray>();
    let mut seen: HashSet<u128> = HashSet::with_capacity(ids.len());
    for (at, id) in ids.iter().flatten().enumerate() {
        if !seen.insert(ids::hash(id)) {
            let message = format!("{id:?} is listed twice");
            return Err(Error::broken(&rules::SLICE_MEMBER, message).at(input.place(rows.value(at) as usize, name)));
        }
    }
    Ok(Some((ids, rows)))
}

fn check_nodes(annnet: &Annnet, input: Option<&Input>, nodes: Option<&Members>) -> Result<()> {
    let (Some(input), Some((ids, rows))) = (input, nodes) else { return Ok(()) };
    match ids.iter().flatten().position(|id| annnet.entities.row(id).is_none()) {
        None => Ok(()),
        Some(at) => Err(Error::broken(&rules::SLICE_MEMBER, format!("there is no node {:?}", ids.value(at)))
            .at(input.place(rows.value(at) as usize, NODE))),
    }
}

fn check_edges(annnet: &Annnet, input: Option<&Input>, edges: Option<&Members>) -> Result<()> {
    let (Some(input), Some((own, rows))) = (input, edges) else { return Ok(()) };
    let mut left: IdMap<u32> = own.iter().flatten().enumerate().map(|(at, id)| (ids::hash(id), at as u32)).collect();
    let table = &annnet.edges.table;
    for cells in table.batches(&[column::EDGE_ID], 0..table.rows(), BATCH_ROWS)? {
        for id in cells?.text(column::EDGE_ID)?.iter().flatten() {
            left.remove(&ids::hash(id));
        }
    }
    match left.into_values().min() {
        None => Ok(()),
        Some(at) => {
            let message = format!("there is no edge {:?}", own.value(at as usize));
            Err(Error::broken(&rules::SLICE_MEMBER, message).at(input.place(rows.value(at as usize) as usize, EDGE)))
        }
    }
}

fn node_rows(annnet: &Annnet, name: &str, nodes: Option<&Members>) -> Result<Option<RecordBatch>> {
    let Some((ids, _)) = nodes.filter(|(ids, _)| !ids.is_empty()) else { return Ok(None) };
    let layers: ArrayRef = Arc::new(Int64Array::new_null(ids.len()));
    let ids: ArrayRef = Arc::new(ids.clone());
    let slices = same(name, ids.len());
    let words = &annnet.words;
    batch(vec![(column::SLICE_ID, slices), (words.node_id, ids), (words.node_layer_id, layers)]).map(Some)
}

/// Returns rows of edges in the slice, with their weights there.
fn edge_rows(name: &str, input: Option<&Input>, edges: Option<&Members>) -> Result<Option<RecordBatch>> {
    let (Some(input), Some((ids, rows))) = (input, edges) else { return Ok(None) };
    let weights: ArrayRef = gather(&input.cells.floats(column::WEIGHT)?, rows)?;
    let ids: ArrayRef = Arc::new(ids.clone());
    let all =
        batch(vec![(column::SLICE_ID, same(name, ids.len())), (column::EDGE_ID, ids), (column::WEIGHT, weights)])?;
    Ok((all.num_rows() > 0).then_some(all))
}

/// Returns rows of the edges that have a weight in the slice (which is stored twice) or attributes there. The input has
/// no columns for these attributes: edges that stay keep theirs.
fn attribute_rows(
    annnet: &Annnet,
    name: &str,
    input: Option<&Input>,
    edges: Option<&Members>,
) -> Result<Option<RecordBatch>> {
    let (Some(all), Some((ids, _))) = (edge_rows(name, input, edges)?, edges) else { return Ok(None) };
    let fields = all.schema();
    let mut columns: Vec<(&str, ArrayRef)> =
        fields.fields().iter().map(|field| field.name().as_str()).zip(all.columns().iter().cloned()).collect();
    let pairs = &annnet.slices.pairs;
    if let Some(cells) = &pairs.cells {
        let slice = ids::hash(name);
        let rows: UInt32Array = ids.iter().flatten().map(|id| pairs.row(slice, ids::hash(id))).collect();
        for own in pairs.attributes.names() {
            if let Some(column) = cells.raw(own) {
                columns.push((own, gather(column, &rows)?));
            }
        }
    }
    let nulls: Vec<_> = columns.iter().skip(2).map(|(_, column)| column.logical_nulls()).collect();
    let says = |row: usize| nulls.iter().any(|nulls| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)));
    let said = BooleanArray::from_iter((0..all.num_rows()).map(|row| Some(says(row))));
    let said = filter_record_batch(&batch(columns)?, &said).map_err(arrow)?;
    Ok((said.num_rows() > 0).then_some(said))
}

/// Rewrites a table without the rows of a slice, and with new rows.
fn rewrite(tables: &mut Tables<'_>, path: &str, slice: &str, rows: Option<RecordBatch>) -> Result<()> {
    let parts = tables.members.parts(path)?;
    if parts.is_empty() {
        return rows.map_or(Ok(()), |rows| tables.grow(path, &rows));
    }
    let old = Table::open(path, parts)?;
    let schema = old.schema();
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let kept = old.batches(&names, 0..old.rows(), BATCH_ROWS)?.map(|cells| {
        let cells = cells?;
        let slices = cells.text(column::SLICE_ID)?;
        let others = BooleanArray::from_iter(slices.iter().map(|own| Some(own != Some(slice))));
        filter_record_batch(&cells.batch, &others).map_err(arrow)
    });
    tables.rewrite(path, &schema, kept, rows.as_ref())
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> Result<RecordBatch> {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)))
        .map_err(arrow)
}
