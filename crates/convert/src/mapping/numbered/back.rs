//! Shows a numbered graph as the original typed graph.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, StringArray, UInt64Array, new_null_array};
use arrow_schema::DataType;
use isomorph_error::{Error, Kind, Result};
use isomorph_model::batch::slice_columns;
use isomorph_model::{
    Batch, Columns, EdgeBatch, EndForm, Ends, Graph, Key, LabelVocabulary, NodeBatch, NodeId, Part, Property, Request,
    Run, Side, Source, Tables,
};
use isomorph_storage::Budget;

use super::cells::original;
use super::forward::ids_of;
use super::order::{self, InOrder};
use super::{Ids, Numbering, labels, rest};
use crate::mapping::arrays::{labels_of, same_bits};
use crate::mapping::declare::cast;
use crate::mapping::json_in::JsonColumn;
use crate::mapping::narrowed::columns_alone;
use crate::mapping::view::{Rows, edges_shown, near, positions, properties_of, rows_by_type, rows_shown, within};
use crate::mapping::{CARRY_FITS, forward};
use crate::parallel;
use crate::read_once::ReadOnce;

/// Shows what a [`super::Numberer`] wrote as the typed graph.
pub struct Unnumbered {
    inner: Arc<dyn Source>,
    record: Numbering,
    /// For each property of the numbered nodes and edges, its index in the inner graph.
    node_columns: Vec<Option<usize>>,
    edge_columns: Vec<Option<usize>>,
    /// Edge types by the number of their relation.
    types: HashMap<String, usize>,
    budget: Budget,
    /// The nodes in the order of their rows, if they are stored in another order.
    ordered: ReadOnce<Option<InOrder>>,
    /// The last node that was looked up by a key that is a feature: its edges are asked for type by type.
    looked_up: Mutex<Option<LookedUp>>,
}

/// A node that was looked up by its key.
struct LookedUp {
    ty: usize,
    key: String,
    /// Its id, if there is such a node.
    id: Option<u64>,
}

impl Unnumbered {
    /// Shows `inner`, which is `record.numbered`, as `record.typed`. Reads nothing; nodes that must be sorted later are
    /// sorted within `budget`.
    ///
    /// # Errors
    /// Returns [`CARRY_FITS`] if it is not a numbered graph.
    pub fn new(inner: Arc<dyn Source>, record: &Numbering, budget: &Budget) -> Result<Self> {
        let found = inner.graph();
        let ([node], [edge]) = (found.nodes.as_slice(), found.edges.as_slice()) else {
            return Err(Error::broken(&CARRY_FITS, "nodes and edges are not in one table each"));
        };
        let node_columns = positions(properties_of(&record.numbered, Tables::Nodes(0)), &node.properties);
        let edge_columns = positions(properties_of(&record.numbered, Tables::Edges(0)), &edge.properties);
        let types = record.edges.iter().enumerate().map(|(at, own)| (own.number.to_string(), at)).collect();
        let (record, budget, ordered, looked_up) =
            (record.clone(), budget.clone(), ReadOnce::default(), Mutex::default());
        Ok(Unnumbered { node_columns, edge_columns, types, budget, ordered, looked_up, record, inner })
    }

    /// The node type of an id, and its row in the type, if ids are rows.
    fn place_of(&self, id: u64) -> Result<(usize, u64)> {
        let nodes = &self.record.nodes;
        let ty = nodes.partition_point(|own| own.base <= id).checked_sub(1);
        let place = ty.and_then(|ty| Some((ty, id - nodes.get(ty)?.base)));
        let rows = |ty: usize| self.record.typed.nodes.get(ty).and_then(|ty| ty.rows);
        let place = place.filter(|(ty, row)| rows(*ty).is_none_or(|rows| *row < rows));
        place.ok_or_else(|| Error::broken(&CARRY_FITS, format!("id {id} does not belong to any node")))
    }

    /// Checks that ids are still rows, if they were: adding or removing a node changes the rows after it.
    ///
    /// # Errors
    /// Returns [`CARRY_FITS`] if a type has fewer nodes than before, or an id belongs to no node; also if ids cannot be
    /// read.
    pub fn check_rows(&self, threads: usize) -> Result<()> {
        if self.record.ids != Ids::Rows {
            return Ok(());
        }
        let types = &self.record.typed.nodes;
        let parts = self.inner.scan(&Request::of(Tables::NodeKeys(0)))?;
        let new = || vec![0u64; types.len()];
        let counts = parallel::fold(parts, threads, new, |counts: &mut Vec<u64>, _, batch| {
            let Batch::Nodes(nodes) = batch else { return Ok(()) };
            let keys = nodes.keys.as_ref().ok_or_else(|| Error::unsupported("nodes have no ids"))?;
            for id in ids_of(keys)?.values() {
                let (ty, _) = self.place_of(*id)?;
                counts.get_mut(ty).into_iter().for_each(|count| *count += 1);
            }
            Ok(())
        })?;
        for (at, ty) in types.iter().enumerate() {
            let found: u64 = counts.iter().filter_map(|counts| counts.get(at)).sum();
            if let Some(rows) = ty.rows.filter(|rows| found < *rows) {
                let what = format!(
                    "{} had {rows} nodes and has {found} now; ids are row numbers, so these have changed",
                    ty.name
                );
                return Err(Error::broken(&CARRY_FITS, what));
            }
        }
        Ok(())
    }

    /// The column of property `at` of the numbered nodes or edges.
    fn column<'a>(columns: &'a Columns, places: &[Option<usize>], at: usize) -> Option<&'a ArrayRef> {
        columns.get(places.get(at).copied().flatten()?)?.as_ref()
    }

    /// Nodes of all types, or of one, as runs of consecutive rows.
    fn nodes(&self, batch: &NodeBatch, only: Option<usize>, give: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        let keys = batch.keys.as_ref().ok_or_else(|| Error::unsupported("nodes have no ids"))?;
        let ids = ids_of(keys)?;
        let rows = self.rows_of(batch)?;
        let position = |row: usize| -> Result<(usize, u64)> {
            match self.record.ids {
                Ids::Rows => self.place_of(ids.value(row)),
                Ids::Keys => Ok((0, rows.as_ref().map_or(batch.start + row as u64, |rows| rows.value(row)))),
            }
        };
        let mut from = 0;
        while from < batch.rows {
            let (ty, start) = position(from)?;
            let mut to = from + 1;
            while to < batch.rows && position(to)? == (ty, start + (to - from) as u64) {
                to += 1;
            }
            if only.is_none_or(|only| only == ty) {
                give(Batch::Nodes(self.run(batch, &ids, from..to, ty, start)?))?;
            }
            from = to;
        }
        Ok(())
    }

    /// The row numbers that nodes have as a feature.
    fn rows_of(&self, batch: &NodeBatch) -> Result<Option<UInt64Array>> {
        let Some(at) = self.record.nodes.first().and_then(|own| own.row) else { return Ok(None) };
        let column = Self::column(&batch.properties, &self.node_columns, at);
        let rows = column.map(|column| original(&Property::new("row", DataType::UInt64), column)).transpose()?;
        let rows = rows.filter(|rows| rows.null_count() == 0);
        let rows = rows.ok_or_else(|| Error::broken(&CARRY_FITS, "nodes do not state their rows"))?;
        Ok(Some(rows.as_primitive::<UInt64Type>().clone()))
    }

    fn run(&self, batch: &NodeBatch, ids: &UInt64Array, run: Range<usize>, ty: usize, start: u64) -> Result<NodeBatch> {
        let (Some(own), Some(typed)) = (self.record.nodes.get(ty), self.record.typed.nodes.get(ty)) else {
            return Err(Error::usage("no such node type"));
        };
        let rows = run.len();
        let columns = slice_columns(&batch.properties, run.start, rows);
        let column = |at: usize| Self::column(&columns, &self.node_columns, at);
        let keys = match (self.record.ids, own.key) {
            (Ids::Keys, _) => Some(keys_of(&ids.slice(run.start, rows), &typed.key)?),
            (Ids::Rows, Some(at)) => Some(key_column(column(at), &typed.key, rows)?),
            (Ids::Rows, None) => None,
        };
        let lists = own.labels.and_then(column).filter(|_| typed.labels != LabelVocabulary::None);
        let labels = lists.map(|texts| labels_of(&label_lists(texts)?)).transpose()?;
        let mut properties = restored(&typed.properties, &own.properties, column)?;
        if let Some(objects) = self.record.rest[0].and_then(column) {
            rest::restored(objects, &typed.properties, &mut properties)?;
        }
        Ok(NodeBatch { keys, labels, properties, ..NodeBatch::of(ty, start, rows) })
    }

    /// Edges of all types, or of one.
    fn edges(&self, batch: &EdgeBatch, only: Option<usize>, give: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        let relations = batch.relations.as_ref();
        let relations = relations.ok_or_else(|| Error::unsupported("edges that do not name their relations"))?;
        let types: Vec<Option<usize>> =
            relations.names.iter().map(|name| self.types.get(name.unwrap_or_default()).copied()).collect();
        let marks: Vec<Option<&ArrayRef>> = self
            .record
            .edges
            .iter()
            .map(|own| Self::column(&batch.properties, &self.edge_columns, own.mirror?))
            .collect();
        let type_of = |row: usize| {
            let ty = types.get(relations.index.value(row) as usize).copied().flatten();
            let ty = ty.ok_or_else(|| Error::broken(&CARRY_FITS, "an edge has an unknown type"))?;
            let is_mirrored = marks.get(ty).copied().flatten().is_some_and(|marks| marks.is_valid(row));
            Ok((!is_mirrored).then_some(ty))
        };
        for (ty, rows) in rows_by_type(self.record.edges.len(), batch.rows, type_of)? {
            if only.is_none_or(|only| only == ty) {
                give(Batch::Edges(self.edges_of(batch, ty, &rows)?))?;
            }
        }
        Ok(())
    }

    /// Some rows of a batch as edges of type `ty`.
    fn edges_of(&self, batch: &EdgeBatch, ty: usize, rows: &Rows) -> Result<EdgeBatch> {
        let (Some(own), Some(typed)) = (self.record.edges.get(ty), self.record.typed.edges.get(ty)) else {
            return Err(Error::usage("no such edge type"));
        };
        let ends = |ends: &Ends, node: usize| -> Result<Ends> {
            let Ends::Keys(keys) = ends else { return Err(Error::unsupported("the ends of edges must be ids")) };
            let ids = ids_of(&rows.of(keys.as_ref())?)?;
            if self.record.ids == Ids::Keys {
                let key = self.record.typed.nodes.get(node).map(|ty| &ty.key);
                return Ok(Ends::Keys(keys_of(&ids, key.ok_or_else(|| Error::usage("no such node type"))?)?));
            }
            let row = |id: &u64| match self.place_of(*id)? {
                (ty, row) if ty == node => Ok(row),
                _ => Err(Error::broken(&CARRY_FITS, format!("id {id} belongs to a node of another type"))),
            };
            Ok(Ends::Rows(ids.values().iter().map(row).collect::<Result<Vec<u64>>>()?.into()))
        };
        let mut wanted: Vec<bool> = vec![false; batch.properties.len()];
        for at in own.properties.iter().chain(&self.record.rest[1]) {
            if let Some(wanted) = self.edge_columns.get(*at).copied().flatten().and_then(|at| wanted.get_mut(at)) {
                *wanted = true;
            }
        }
        let columns = batch.properties.iter().zip(wanted);
        let columns = rows.of_columns(&columns.map(|(column, wanted)| column.clone().filter(|_| wanted)).collect())?;
        let column = |at: usize| Self::column(&columns, &self.edge_columns, at);
        let mut properties = restored(&typed.properties, &own.properties, column)?;
        if let Some(objects) = self.record.rest[1].and_then(column) {
            rest::restored(objects, &typed.properties, &mut properties)?;
        }
        Ok(EdgeBatch {
            properties,
            ..EdgeBatch::between(ty, ends(&batch.source, typed.source)?, ends(&batch.target, typed.target)?)
        })
    }

    /// The nodes sorted by row, if they are stored in another order.
    fn in_order(&self) -> Result<Option<&InOrder>> {
        let by_id = self.record.ids == Ids::Rows;
        let read = || match self.record.nodes.first() {
            // Positions of nodes without an order have no meaning.
            Some(own) if !by_id && own.row.is_none() => Ok(None),
            _ => {
                let position = |batch: &NodeBatch| match self.rows_of(batch)? {
                    Some(rows) if !by_id => Ok(rows),
                    _ => ids_of(batch.keys.as_ref().ok_or_else(|| Error::unsupported("nodes have no ids"))?),
                };
                order::sorted(self.inner.as_ref(), by_id, &position, &self.budget)
            }
        };
        self.ordered.get(read).map(Option::as_ref)
    }

    /// The id of the node of type number `ty` with this key, where ids are rows. Keys are a feature, which is read until the key is found; a
    /// node of a type without keys is named by its row.
    fn id_of(&self, ty: usize, key: &str) -> Result<Option<u64>> {
        let Some(own) = self.record.nodes.get(ty) else { return Err(Error::usage("no such node type")) };
        let Some(feature) = own.key else {
            let row = key.parse::<u64>().ok().filter(|row| row.to_string() == key);
            let rows = self.record.typed.nodes.get(ty).and_then(|ty| ty.rows).unwrap_or(u64::MAX);
            return Ok(row.filter(|row| *row < rows).map(|row| own.base.saturating_add(row)));
        };
        let mut last = self.looked_up.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = last.as_ref().filter(|known| known.ty == ty && known.key == key) {
            return Ok(known.id);
        }
        let wanted = columns_alone(true, false, self.node_columns.get(feature).copied().flatten().into_iter());
        let request = Request::of(Tables::Nodes(0)).narrowed(wanted);
        let mut id = None;
        for batch in self.inner.scan(&request)?.into_iter().flatten() {
            let Batch::Nodes(nodes) = batch? else { continue };
            self.nodes(&nodes, Some(ty), &mut |batch| {
                let Batch::Nodes(NodeBatch { start, keys: Some(keys), .. }) = batch else { return Ok(()) };
                let keys = cast(&keys, &DataType::Utf8)?;
                let at = (0u64..).zip(keys.as_string::<i32>()).find(|(_, own)| *own == Some(key));
                id = id.or(at.map(|(at, _)| own.base.saturating_add(start).saturating_add(at)));
                Ok(())
            })?;
            if id.is_some() {
                break;
            }
        }
        *last = Some(LookedUp { ty, key: key.to_owned(), id });
        Ok(id)
    }

    fn parts<'a>(&'a self, inner: Run<'a>, only: Option<usize>) -> Run<'a> {
        rows_shown(
            inner,
            move |nodes, take| self.nodes(&nodes, only, take),
            move |edges, take| self.edges(&edges, only, take),
        )
    }
}

/// The properties of a type, from their features.
fn restored<'a>(
    properties: &[Property],
    places: &[usize],
    column: impl Fn(usize) -> Option<&'a ArrayRef>,
) -> Result<Columns> {
    let of = |(property, at): (&Property, &usize)| match (column(*at), *at) {
        (Some(column), 0) => Ok(Some(Arc::clone(column))),
        (column, _) => column.map(|column| original(property, column)).transpose(),
    };
    properties.iter().zip(places).map(of).collect()
}

/// Converts ids to keys of their type.
fn keys_of(ids: &UInt64Array, key: &Key) -> Result<ArrayRef> {
    if key.data_type == DataType::UInt64 {
        return Ok(Arc::new(ids.clone()));
    }
    let ids: ArrayRef = Arc::new(ids.clone());
    cast(&same_bits(&ids, &DataType::Int64)?, &key.data_type)
}

/// Keys from a feature; a missing key is the empty text.
fn key_column(column: Option<&ArrayRef>, key: &Key, rows: usize) -> Result<ArrayRef> {
    let property = Property::new("key", key.data_type.clone());
    let keys = match column {
        Some(column) => original(&property, column)?,
        None => new_null_array(&key.data_type, rows),
    };
    match keys.as_string_opt::<i32>() {
        Some(texts) if texts.null_count() > 0 => {
            Ok(Arc::new(StringArray::from_iter_values(texts.iter().map(Option::unwrap_or_default))))
        }
        _ if keys.null_count() > 0 => Err(Error::broken(&CARRY_FITS, "a node does not state its key")),
        _ => Ok(keys),
    }
}

/// Labels as lists of text.
fn label_lists(texts: &ArrayRef) -> Result<ArrayRef> {
    let texts = texts.as_string_opt::<i32>();
    let texts = texts.ok_or_else(|| Error::broken(&CARRY_FITS, "labels are not text"))?;
    let mut lists = JsonColumn::new(&labels())?;
    for text in texts {
        match text {
            Some(text) => lists.push(text)?,
            None => lists.push_null(),
        }
    }
    lists.finish()
}

impl Source for Unnumbered {
    forward!(inner: prepare about);

    fn graph(&self) -> &Graph {
        &self.record.typed
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let (nodes, edges) = match request.tables {
            Tables::All => (Some(None), Some((Tables::AllEdges, None))),
            Tables::AllNodes => (Some(None), None),
            // Keys are features.
            Tables::Nodes(ty) | Tables::NodeKeys(ty) => (Some(Some(ty)), None),
            Tables::AllEdges => (None, Some((Tables::AllEdges, None))),
            // A feature marks the second of two edges.
            Tables::Edges(ty) | Tables::EdgeEnds(ty) => (None, Some((Tables::Edges(0), Some(ty)))),
            Tables::Rest => (None, None),
        };
        let mut parts = Vec::new();
        if let Some(only) = nodes {
            let inner = match self.in_order()? {
                Some(ordered) => vec![ordered.part()],
                None => self.inner.scan(&request.for_tables(Tables::Nodes(0)))?,
            };
            parts.extend(self.parts(inner, only));
        }
        if let Some((tables, only)) = edges {
            let inner = self.inner.scan(&request.for_tables(tables))?;
            parts.extend(self.parts(inner, only));
        }
        Ok(parts)
    }

    fn is_one_table(&self, _tables: Tables) -> bool {
        true
    }

    fn end_form(&self, _ty: usize) -> EndForm {
        match self.record.ids {
            Ids::Keys => EndForm::Keys,
            Ids::Rows => EndForm::Rows,
        }
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        let ty = self.record.typed.edges.get(edge).ok_or_else(|| Error::usage("no such edge type"))?;
        let near = near(ty, side);
        within(&self.record.typed.nodes, near, node)?;
        let missing = || {
            let ty = self.record.typed.nodes.get(near).map_or("", |ty| ty.name.as_str());
            let message = match node {
                NodeId::Key(key) => format!("there is no node {key:?} of type {ty}"),
                NodeId::Row(row) => format!("there is no row {row} of {ty}"),
            };
            Error::new(Kind::NotFound, message)
        };
        let id = match (self.record.ids, node) {
            // Two keys with different signs can have the same id: the type of the keys shows which of them exists.
            (Ids::Keys, NodeId::Key(key)) => {
                let own = self.record.typed.nodes.get(near);
                match own.is_some_and(|ty| ty.key.data_type.is_unsigned_integer()) {
                    true => key.parse::<u64>().ok(),
                    false => key.parse::<i64>().ok().map(i64::cast_unsigned),
                }
            }
            (Ids::Rows, NodeId::Key(key)) => self.id_of(near, key)?,
            (Ids::Rows, NodeId::Row(row)) => self.record.nodes.get(near).map(|own| own.base.saturating_add(row)),
            (Ids::Keys, NodeId::Row(_)) => {
                return Err(Error::unsupported("nodes are found by their keys here")
                    .hint("--id KEY    names the node by its key"));
            }
        };
        let found = self.inner.neighbors(0, NodeId::Key(&id.ok_or_else(missing)?.to_string()), side);
        // The error names the node as it was given, and not by its id.
        let found = found.map_err(|error| if error.kind() == Kind::NotFound { missing() } else { error })?;
        Ok(edges_shown(found, move |batch, take| self.edges(batch, Some(edge), take)))
    }
}
