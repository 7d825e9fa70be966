//! Replacing attribute tables.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};
use isomorph_error::{Error, Place, Result};
use isomorph_model::well_known;

use super::append::Tables;
use super::columns::name;
use super::ends::Ends;
use super::input::Input;
use super::{AttributeTable, names};
use crate::layout::{Layout, column, file, word};
use crate::read::ids::{self, IdMap};
use crate::read::{Annnet, check_json};
use crate::rules;
use crate::write::json::object;

/// Replaces a table.
///
/// # Errors
/// Returns an error if it names something that does not exist, names something twice, or cannot be written.
pub(super) fn replace(annnet: &Annnet, table: AttributeTable, input: &Input, tables: &mut Tables<'_>) -> Result<()> {
    let words = &annnet.words;
    match table {
        AttributeTable::Nodes => {
            let is_node = |id: &str| annnet.entities.row(id).is_some_and(|row| !annnet.entities.is_edge[row as usize]);
            let ids = unique(input, &name::VERTEX_IDS, "node", is_node)?;
            let mut columns = input.attributes(&name::VERTEX_IDS)?;
            names::as_in_file(annnet, well_known::ENTITY, &mut columns);
            put(tables, words.node_table, words.node_id, ids, columns)
        }
        AttributeTable::Edges => {
            let ids = unique(input, &name::EDGE_IDS, "edge", |_| true)?;
            known_edges(annnet, &ids, input)?;
            if input.has(column::WEIGHT) {
                return Err(names::reserved(annnet, input, column::WEIGHT, "weight is the weight of the edge"));
            }
            let mut columns = input.attributes(&name::EDGE_IDS)?;
            names::as_in_file(annnet, column::WEIGHT, &mut columns);
            put(tables, words.edge_table, column::EDGE_ID, ids, columns)
        }
        AttributeTable::Slices => {
            let ids = unique(input, &name::SLICE_IDS, "slice", |id| annnet.slices.find(id).is_some())?;
            if annnet.layout() == Layout::V1 {
                registry(annnet, &ids, input, tables)?;
            }
            put(tables, file::SLICE_ATTRIBUTES, column::SLICE_ID, ids, input.attributes(&name::SLICE_IDS)?)
        }
        AttributeTable::EdgeSlices => edge_slices(annnet, input, tables),
        AttributeTable::Layers => layers(annnet, input, tables),
    }
}

/// Returns the ids of a table, from the first of `names` that is a column. Each must be known and unique.
fn unique(input: &Input, names: &[&'static str], what: &str, is_known: impl Fn(&str) -> bool) -> Result<StringArray> {
    let name = input.first_of(names).ok_or_else(|| input.cells.missing(name::ID))?;
    let ids = input.cells.ids(name, &rules::ENTITY_ID)?;
    let mut seen: HashSet<u128> = HashSet::with_capacity(ids.len());
    for (row, own) in ids.iter().flatten().enumerate() {
        if !is_known(own) {
            return Err(Error::malformed(format!("there is no {what} {own:?}")).at(input.place(row, name)));
        }
        if !seen.insert(ids::hash(own)) {
            return Err(Error::malformed(format!("{own:?} is listed twice")).at(input.place(row, name)));
        }
    }
    Ok(ids)
}

/// Checks that every id is that of an edge.
fn known_edges(annnet: &Annnet, wanted: &StringArray, input: &Input) -> Result<()> {
    let mut left: IdMap<u32> =
        wanted.iter().flatten().enumerate().map(|(row, id)| (ids::hash(id), row as u32)).collect();
    let table = &annnet.edges.table;
    for cells in table.batches(&[column::EDGE_ID], 0..table.rows(), 1 << 15)? {
        for id in cells?.text(column::EDGE_ID)?.iter().flatten() {
            left.remove(&ids::hash(id));
        }
    }
    match left.into_values().min() {
        None => Ok(()),
        Some(row) => Err(Error::malformed(format!("there is no edge {:?}", wanted.value(row as usize)))
            .at(input.place(row as usize, column::EDGE_ID))),
    }
}

/// Replaces a table with ids and attributes.
fn put(
    tables: &mut Tables<'_>,
    name: &str,
    id: &str,
    ids: StringArray,
    attributes: Vec<(String, ArrayRef)>,
) -> Result<()> {
    let mut columns: Vec<(String, ArrayRef)> = vec![(id.to_owned(), Arc::new(ids))];
    columns.extend(attributes);
    write(tables, name, columns)
}

fn write(tables: &mut Tables<'_>, name: &str, columns: Vec<(String, ArrayRef)>) -> Result<()> {
    let fields = columns.iter().map(|(name, column)| Field::new(name.clone(), column.data_type().clone(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns)
        .map_err(|error| Error::malformed(error.to_string()).at(Place::file(name)).caused_by(error))?;
    let parts = tables.members.parts(name)?;
    tables.replace(name, &parts, &schema, None, [Ok(batch)])
}

/// Writes the registry of the specification's layout, which repeats the attributes of slices as JSON.
fn registry(annnet: &Annnet, ids: &StringArray, input: &Input, tables: &mut Tables<'_>) -> Result<()> {
    let (names, said): (Vec<String>, Vec<Option<ArrayRef>>) =
        input.attributes(&name::SLICE_IDS)?.into_iter().map(|(name, column)| (name, Some(column))).unzip();
    let mut objects = Vec::with_capacity(annnet.slices.names.len());
    for slice in &annnet.slices.names {
        let row = ids.iter().position(|id| id == Some(slice));
        objects.push(match row {
            Some(row) => object(names.iter(), &said, row)?,
            None => "{}".to_owned(),
        });
    }
    let slices: ArrayRef = Arc::new(StringArray::from_iter_values(&annnet.slices.names));
    let columns: Vec<(String, ArrayRef)> = vec![
        (column::SLICE_ID.to_owned(), Arc::clone(&slices)),
        (column::NAME.to_owned(), slices),
        (column::ATTRIBUTES.to_owned(), Arc::new(StringArray::from(objects))),
    ];
    write(tables, file::REGISTRY, columns)
}

/// Replaces the attributes of edges in slices. Their weights belong to the memberships and are kept.
fn edge_slices(annnet: &Annnet, input: &Input, tables: &mut Tables<'_>) -> Result<()> {
    if input.has(column::WEIGHT) {
        return Err(Error::usage("the weight of an edge in a slice belongs to its membership")
            .at(input.place(0, column::WEIGHT))
            .hint("replace the slice: its members have weights"));
    }
    let slices = input.cells.ids(column::SLICE_ID, &rules::SLICE_UNKNOWN)?;
    let edges = input.cells.ids(column::EDGE_ID, &rules::EDGE_ID)?;
    known_edges(annnet, &edges, input)?;
    let mut given: HashSet<u128> = HashSet::with_capacity(edges.len());
    let mut weights: Vec<Option<f64>> = Vec::with_capacity(edges.len());
    let pairs = &annnet.slices.pairs;
    let weight_of = |slice: &str, edge: &str| {
        let (row, weights) = (pairs.row(ids::hash(slice), ids::hash(edge))? as usize, pairs.weights.as_ref()?);
        weights.is_valid(row).then(|| weights.value(row))
    };
    for row in 0..edges.len() {
        let (slice, edge) = (slices.value(row), edges.value(row));
        if annnet.slices.find(slice).is_none() {
            let message = format!("there is no slice {slice:?}");
            return Err(Error::broken(&rules::SLICE_UNKNOWN, message).at(input.place(row, column::SLICE_ID)));
        }
        if !given.insert(pair(slice, edge)) {
            let message = format!("edge {edge:?} is listed twice in slice {slice:?}");
            return Err(Error::malformed(message).at(input.place(row, column::EDGE_ID)));
        }
        weights.push(weight_of(slice, edge));
    }
    // Pairs that have a weight but no attributes any more.
    let mut rest: (Vec<String>, Vec<String>) = Default::default();
    if let (Some(cells), Some(own)) = (&pairs.cells, &pairs.weights) {
        let (old_slices, old_edges) = (cells.text(column::SLICE_ID)?, cells.text(column::EDGE_ID)?);
        for row in (0..cells.rows()).filter(|row| own.is_valid(*row)) {
            let (slice, edge) = (old_slices.value(row), old_edges.value(row));
            if !given.contains(&pair(slice, edge)) {
                rest.0.push(slice.to_owned());
                rest.1.push(edge.to_owned());
                weights.push(Some(own.value(row)));
            }
        }
    }
    let behind = |own: &StringArray, rest: &[String]| -> ArrayRef {
        Arc::new(own.iter().flatten().chain(rest.iter().map(String::as_str)).map(Some).collect::<StringArray>())
    };
    let mut columns: Vec<(String, ArrayRef)> = vec![
        (column::SLICE_ID.to_owned(), behind(&slices, &rest.0)),
        (column::EDGE_ID.to_owned(), behind(&edges, &rest.1)),
        (column::WEIGHT.to_owned(), Arc::new(Float64Array::from(weights))),
    ];
    for (name, own) in input.attributes(&[column::SLICE_ID, column::EDGE_ID])? {
        let nulls = arrow_array::new_null_array(own.data_type(), rest.0.len());
        let all = arrow_select::concat::concat(&[own.as_ref(), nulls.as_ref()]);
        columns.push((name, all.map_err(crate::write::columns::arrow)?));
    }
    write(tables, file::EDGE_SLICE_ATTRIBUTES, columns)
}

/// Returns the hash of an edge in a slice.
fn pair(slice: &str, edge: &str) -> u128 {
    ids::pair(ids::hash(slice), ids::hash(edge))
}

/// Replaces the attributes of layers: JSON objects.
fn layers(annnet: &Annnet, input: &Input, tables: &mut Tables<'_>) -> Result<()> {
    let labels = input.lists(word::LAYER)?;
    let texts = input.cells.text(word::ATTRIBUTES)?;
    let mut ends = Ends::of(annnet);
    let mut numbers = Vec::with_capacity(labels.len());
    for row in 0..labels.len() {
        let layer = ends.layer_of(input, &labels, row, word::LAYER)?;
        let at = || input.place(row, word::LAYER);
        let number = layer.and_then(|layer| annnet.layers.position(layer));
        let number = number.ok_or_else(|| Error::broken(&rules::LAYER, "this layer has no elements").at(at()))?;
        if numbers.contains(&number) {
            return Err(Error::malformed("the layer is listed twice").at(at()));
        }
        let text = if texts.is_valid(row) { texts.value(row) } else { "" };
        check_json(text, &input.cells.name).map_err(|error| error.at(input.place(row, word::ATTRIBUTES)))?;
        numbers.push(number);
    }
    let layer: (String, ArrayRef) = match annnet.layout() {
        Layout::V1 => (column::LAYER.to_owned(), Arc::new(labels)),
        _ => (column::LAYER_ID.to_owned(), Arc::new(Int64Array::from(numbers))),
    };
    write(tables, file::LAYER_ATTRIBUTES, vec![layer, (column::ATTRIBUTES.to_owned(), Arc::new(texts))])
}
