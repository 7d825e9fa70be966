//! A sink for a typed graph in front of a sink for the numbered graph.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, Int32Array, UInt8Array, UInt64Array};
use arrow_schema::DataType;
use isomorph_error::{Error, Place, Result};
use isomorph_model::{
    Batch, Columns, Delivery, Direction, EdgeBatch, EdgeOrder, Ends, LabelColumn, NodeBatch, Property, Sink, Written,
};
use isomorph_tables::lookup::{KeyRowsBuilder, LookupOptions};

use super::cells::{featured, weights};
use super::{Ids, Numbering, labels, rest};
use crate::mapping::arrays::{label_lists, malformed, same_bits, same_relation};
use crate::mapping::json_out::JsonCells;
use crate::mapping::view::Rows;
use crate::pipeline::REPEATED_KEY;
use isomorph_storage::Resources;

/// Converts the rows of a typed graph to numbers, and passes them to a sink.
pub struct Numberer<'a> {
    inner: Box<dyn Sink + 'a>,
    record: Numbering,
    /// Keys that are ids, until all nodes were delivered: nodes with the same key would become one node.
    keys: Option<KeyRowsBuilder>,
}

impl<'a> Numberer<'a> {
    /// Creates a numberer in front of `inner`, a sink of `record.numbered` that takes nodes first, then edges in any
    /// order.
    pub fn new(inner: Box<dyn Sink + 'a>, record: &Numbering, resources: &Resources) -> Self {
        let options = LookupOptions::new(&resources.budget, &resources.scratch).memory(resources.budget.limit() / 4);
        let keys = (record.ids == Ids::Keys).then(|| KeyRowsBuilder::new(options.threads(resources.threads)));
        Numberer { inner, record: record.clone(), keys }
    }

    /// Ends the nodes.
    fn nodes_done(&mut self) -> Result<()> {
        let Some(keys) = self.keys.take() else { return Ok(()) };
        let lookup = keys.finish()?;
        let Some(repeat) = lookup.repeats().shown().first() else { return Ok(()) };
        let name = self.record.typed.nodes.first().map(|ty| ty.name.clone()).unwrap_or_default();
        let message = format!("rows {} and {} have the same key", repeat.first, repeat.row);
        Err(Error::broken(&REPEATED_KEY, message).at(Place::file(name).row(repeat.row)))
    }

    /// The position of the inner delivery `wanted`.
    fn inner(&self, wanted: Delivery) -> Result<usize> {
        let at = self.inner.deliveries().iter().position(|delivery| *delivery == wanted);
        at.ok_or_else(|| Error::usage("the format does not accept nodes and edges in any order"))
    }

    fn nodes(&self, batch: &NodeBatch) -> Result<NodeBatch> {
        let (Some(own), Some(ty), Some(numbered)) = (
            self.record.nodes.get(batch.ty),
            self.record.typed.nodes.get(batch.ty),
            self.record.numbered.nodes.first(),
        ) else {
            return Err(Error::usage("no such node type"));
        };
        let mut properties: Columns = vec![None; numbered.properties.len()];
        let mut set = |at: usize, column: ArrayRef| {
            if let Some(slot) = properties.get_mut(at) {
                *slot = Some(column);
            }
        };
        let number = i32::try_from(batch.ty).map_err(|_| Error::usage("too many node types"))?;
        set(0, Arc::new(Int32Array::from_value(number, batch.rows)));
        let weight = own.weight.and_then(|at| batch.properties.get(at)?.as_ref());
        set(1, weights(weight, batch.rows)?.column);
        let elsewhere = features(&ty.properties, &own.properties, &batch.properties, &mut set)
            .map_err(|error| error.at(Place::field(ty.name.clone())))?;
        if let (Some(at), Some(keys)) = (own.key, &batch.keys) {
            // Only the empty text is a key without a feature: keys are never null.
            set(at, featured(&Property::new("key", ty.key.data_type.clone()), keys)?.column);
        }
        let rows = || UInt64Array::from_iter_values(batch.start..batch.start + batch.rows as u64);
        if let Some(at) = own.row {
            let rows: ArrayRef = Arc::new(rows());
            set(at, featured(&Property::new("row", DataType::UInt64), &rows)?.column);
        }
        if let (Some(at), Some(labels)) = (own.labels, &batch.labels) {
            set(at, label_texts(labels)?);
        }
        if let Some(at) = self.record.rest[0]
            && let Some(column) = rest::written(elsewhere, &ty.properties, &batch.properties, batch.rows)?
        {
            set(at, column);
        }
        let start = own.base.saturating_add(batch.start);
        let keys = match (self.record.ids, &batch.keys) {
            (Ids::Keys, Some(keys)) => ids_of(keys)?,
            (Ids::Keys, None) => return Err(Error::usage("nodes have no keys, which are their ids")),
            (Ids::Rows, _) => UInt64Array::from_iter_values(start..start + batch.rows as u64),
        };
        Ok(NodeBatch { keys: Some(Arc::new(keys)), properties, ..NodeBatch::of(0, start, batch.rows) })
    }

    /// The edges of a batch; undirected edges also in the other direction.
    fn edges(&self, batch: &EdgeBatch) -> Result<(EdgeBatch, Option<EdgeBatch>)> {
        let (Some(own), Some(ty), Some(numbered)) = (
            self.record.edges.get(batch.ty),
            self.record.typed.edges.get(batch.ty),
            self.record.numbered.edges.first(),
        ) else {
            return Err(Error::usage("no such edge type"));
        };
        let mut properties: Columns = vec![None; numbered.properties.len()];
        let mut set = |at: usize, column: ArrayRef| {
            if let Some(slot) = properties.get_mut(at) {
                *slot = Some(column);
            }
        };
        let mut elsewhere = features(&ty.properties, &own.properties, &batch.properties, &mut set)
            .map_err(|error| error.at(Place::field(ty.relation.fixed().unwrap_or_default())))?;
        let drawn = match own.weight {
            Some(at) => {
                let drawn = weights(batch.properties.get(at).and_then(Option::as_ref), batch.rows)?;
                if own.properties.get(at) == Some(&0) {
                    elsewhere.extend(drawn.elsewhere.iter().map(|row| (*row, at)));
                }
                drawn
            }
            None => weights(None, batch.rows)?,
        };
        set(0, drawn.column);
        if let Some(at) = self.record.rest[1]
            && let Some(column) = rest::written(elsewhere, &ty.properties, &batch.properties, batch.rows)?
        {
            set(at, column);
        }
        let (source, target) = (self.ends(ty.source, &batch.source)?, self.ends(ty.target, &batch.target)?);
        let edges = EdgeBatch {
            relations: Some(same_relation(&own.number.to_string(), batch.rows)),
            properties,
            ..EdgeBatch::between(0, Ends::Keys(Arc::new(source.clone())), Ends::Keys(Arc::new(target.clone())))
        };
        let Some(mirror) = own.mirror else { return Ok((edges, None)) };
        let directed =
            own.directed.and_then(|at| batch.properties.get(at)?.as_ref()).and_then(|all| all.as_boolean_opt());
        let is_undirected = |row: usize| match ty.direction {
            Direction::Undirected => true,
            _ => directed.is_some_and(|directed| directed.is_valid(row) && !directed.value(row)),
        };
        // A loop is the same in both directions.
        let rows = Rows::that(batch.rows, |row| source.value(row) != target.value(row) && is_undirected(row));
        let mirrored = mirrored(&edges, &rows, mirror)?;
        Ok((edges, Some(mirrored)))
    }

    /// The ids of ends of type `ty`.
    fn ends(&self, ty: usize, ends: &Ends) -> Result<UInt64Array> {
        match (self.record.ids, ends) {
            (Ids::Keys, Ends::Keys(keys)) => ids_of(keys),
            (Ids::Rows, Ends::Rows(rows)) => {
                let base = self.record.nodes.get(ty).map(|own| own.base).unwrap_or_default();
                Ok(UInt64Array::from_iter_values(rows.values().iter().map(|row| row.saturating_add(base))))
            }
            _ => Err(Error::usage("ends cannot be converted to ids")),
        }
    }
}

/// Stores the features of properties; returns the rows and properties that cannot be represented.
fn features(
    properties: &[Property],
    places: &[usize],
    columns: &Columns,
    set: &mut impl FnMut(usize, ArrayRef),
) -> Result<Vec<(u32, usize)>> {
    let mut elsewhere = Vec::new();
    for (at, ((property, place), column)) in properties.iter().zip(places).zip(columns).enumerate() {
        // A property that is the weight itself is not a feature.
        let Some(column) = column.as_ref().filter(|_| *place > 0) else { continue };
        let found = featured(property, column).map_err(|error| error.at(Place::field(property.name.clone())))?;
        elsewhere.extend(found.elsewhere.iter().map(|row| (*row, at)));
        set(*place, found.column);
    }
    Ok(elsewhere)
}

/// Integer keys as 64 bits.
pub(super) fn ids_of(keys: &ArrayRef) -> Result<UInt64Array> {
    if let Some(ids) = keys.as_primitive_opt::<UInt64Type>() {
        return Ok(ids.clone());
    }
    let signed = arrow_cast::cast(keys, &DataType::Int64).map_err(malformed)?;
    if signed.null_count() > keys.null_count() {
        return Err(Error::usage("keys are not 64-bit integers"));
    }
    Ok(same_bits(&signed, &DataType::UInt64)?.as_primitive::<UInt64Type>().clone())
}

/// Labels as JSON arrays; null if there are none.
fn label_texts(column: &LabelColumn) -> Result<ArrayRef> {
    let lists = label_lists(column);
    Ok(Arc::new(JsonCells::new(&labels(), lists.as_ref())?.texts()))
}

/// Some rows of edges in the other direction, marked.
fn mirrored(edges: &EdgeBatch, rows: &Rows, mirror: usize) -> Result<EdgeBatch> {
    let mut mirrored = rows.of_edges(edges)?;
    std::mem::swap(&mut mirrored.source, &mut mirrored.target);
    if let Some(slot) = mirrored.properties.get_mut(mirror) {
        let marks: ArrayRef = Arc::new(UInt8Array::from_value(1, rows.len()));
        *slot = Some(featured(&Property::new("mirror", DataType::UInt8), &marks)?.column);
    }
    Ok(mirrored)
}

impl Sink for Numberer<'_> {
    fn deliveries(&self) -> Vec<Delivery> {
        let nodes = (0..self.record.typed.nodes.len()).map(Delivery::Nodes);
        let edges = (0..self.record.typed.edges.len()).map(|ty| match self.record.ids {
            Ids::Keys => Delivery::EdgesAsTheyCome(ty),
            Ids::Rows => Delivery::Edges { ty, order: EdgeOrder::Any },
        });
        nodes.chain(edges).collect()
    }

    fn write(&mut self, _delivery: usize, batch: Batch) -> Result<()> {
        match batch {
            Batch::Nodes(nodes) => {
                let nodes = self.nodes(&nodes)?;
                if let (Some(builder), Some(keys)) = (&mut self.keys, &nodes.keys) {
                    builder.push(keys.as_ref())?;
                }
                let at = self.inner(Delivery::Nodes(0))?;
                self.inner.write(at, Batch::Nodes(nodes))
            }
            Batch::Edges(edges) => {
                self.nodes_done()?;
                let (edges, mirrored) = self.edges(&edges)?;
                let at = self.inner(Delivery::EdgesAsTheyCome(0))?;
                self.inner.write(at, Batch::Edges(edges))?;
                match mirrored.filter(|mirrored| mirrored.rows > 0) {
                    Some(mirrored) => self.inner.write(at, Batch::Edges(mirrored)),
                    None => Ok(()),
                }
            }
            _ => Err(Error::usage("only nodes and edges can be numbered")),
        }
    }

    fn finish(mut self: Box<Self>) -> Result<Written> {
        self.nodes_done()?;
        self.inner.finish()
    }
}
