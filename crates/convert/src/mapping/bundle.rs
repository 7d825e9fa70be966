//! A typed source shown as its bundled graph.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float32Array, Float64Array, StringArray, UInt32Array, UInt64Array, new_null_array,
};
use arrow_buffer::ArrowNativeType;
use arrow_schema::DataType;
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::label::LabelBuilder;
use isomorph_model::{
    About, Batch, Columns, Direction, EdgeBatch, EdgeOrder, EndForm, Ends, Graph, KeyKind, LabelColumn, NodeBatch,
    NodeId, Part, Progress, Property, Relations, Request, Run, Side, Source, Tables, ValueKind, json, well_known,
};

use super::declare::declared;
use super::json_out::JsonCells;
use super::{Bundling, EdgeSlots, NodeSlots, Slot};
use crate::mapping::reify::as_type;
use crate::mapping::view::{edges_as, of_types};
use crate::narrow::narrow;
use isomorph_dataset::must_exist;
use isomorph_model::part::shown;

/// Shows a typed source as one table of nodes and one of edges.
pub struct Bundled {
    inner: Arc<dyn Source>,
    bundling: Bundling,
    /// Where the rows of each node type begin in the one table.
    bases: Vec<u64>,
}

impl Bundled {
    /// Shows `inner` as `bundling.bundled`.
    ///
    /// # Errors
    /// When the number of rows of a node type is not known, or the source is another graph than the mapping's.
    pub fn new(inner: Arc<dyn Source>, bundling: &Bundling) -> Result<Self> {
        // The record counts columns as they were when it was made; files may have them in another order.
        let inner = declared(inner, &bundling.typed)?;
        let bases = bases(inner.graph())?;
        Ok(Bundled { inner, bundling: bundling.clone(), bases })
    }

    fn nodes(&self, batch: NodeBatch) -> Result<NodeBatch> {
        let (Some(slots), Some(ty), Some(base), Some(target)) = (
            self.bundling.nodes.get(batch.ty),
            self.bundling.typed.nodes.get(batch.ty),
            self.bases.get(batch.ty),
            self.bundling.bundled.nodes.first(),
        ) else {
            return Err(Error::usage("no such node type"));
        };
        let keys = names(&slots.prefix, batch.keys.as_ref(), batch.start, batch.rows)?;
        let properties =
            columns(&target.properties, &ty.properties, &batch.properties, &slots.properties, batch.rows, None)
                .map_err(|error| error.at(Place::field(ty.name.clone())))?;
        Ok(NodeBatch {
            ty: 0,
            start: base + batch.start,
            numbers: None,
            rows: batch.rows,
            keys: Some(keys),
            labels: Some(labels(slots, &batch)?),
            properties,
        })
    }

    fn edges(&self, batch: EdgeBatch) -> Result<EdgeBatch> {
        let (Some(slots), Some(ty), Some(target)) = (
            self.bundling.edges.get(batch.ty),
            self.bundling.typed.edges.get(batch.ty),
            self.bundling.bundled.edges.first(),
        ) else {
            return Err(Error::usage("no such edge type"));
        };
        let directed = undirected_rows(slots, ty.direction, &batch);
        let properties =
            columns(&target.properties, &ty.properties, &batch.properties, &slots.properties, batch.rows, directed)?;
        let relations = match column_of(&Slot::Relation, &slots.properties, &batch.properties) {
            Some(column) => relations_of(column)?,
            None => Relations {
                names: StringArray::from_iter_values([slots.relation.as_str()]),
                index: UInt32Array::from_value(0, batch.rows),
            },
        };
        Ok(EdgeBatch {
            ty: 0,
            rows: batch.rows,
            relations: Some(relations),
            source: self.ends(ty.source, batch.source)?,
            target: self.ends(ty.target, batch.target)?,
            layers: batch.layers,
            directed: None,
            keys: None,
            properties,
        })
    }

    /// The type of a node of the one table, and the node in it.
    fn typed_id<'n>(&self, node: NodeId<'n>) -> Result<(usize, NodeId<'n>)> {
        let missing = |node: String| Error::new(Kind::NotFound, format!("there is no node {node}"));
        let (ty, node) = match node {
            NodeId::Row(row) => {
                let ty = self.bases.partition_point(|base| *base <= row).checked_sub(1);
                let ty = ty.ok_or_else(|| missing(format!("in row {row}")))?;
                return Ok((ty, NodeId::Row(row - self.bases.get(ty).copied().unwrap_or_default())));
            }
            NodeId::Key(name) => {
                let own = |(ty, slots): (usize, &NodeSlots)| Some((ty, name.strip_prefix(slots.prefix.as_str())?));
                self.bundling.nodes.iter().enumerate().find_map(own).ok_or_else(|| missing(format!("{name:?}")))?
            }
        };
        let keyless = self.bundling.typed.nodes.get(ty).is_some_and(|ty| ty.key.kind == KeyKind::Row);
        // A row has one spelling, without the sign that the parser of numbers takes.
        match (keyless, node.parse().ok().filter(|_| !node.starts_with('+'))) {
            (true, Some(row)) => Ok((ty, NodeId::Row(row))),
            (true, None) => Err(missing(format!("{node:?}"))),
            (false, _) => Ok((ty, NodeId::Key(node))),
        }
    }

    fn ends(&self, ty: usize, ends: Ends) -> Result<Ends> {
        match ends {
            Ends::Rows(rows) => Ok(Ends::Rows(with_base(rows, self.bases.get(ty).copied().unwrap_or_default()))),
            Ends::Keys(keys) => {
                let prefix = self.bundling.nodes.get(ty).map(|slots| slots.prefix.as_str()).unwrap_or_default();
                Ok(Ends::Keys(names(prefix, Some(&keys), 0, keys.len())?))
            }
        }
    }

    /// Whether the relations of a type's edges lie in a column.
    fn names_relations(&self, ty: usize) -> bool {
        self.bundling.edges.get(ty).is_some_and(|slots| slots.properties.contains(&Slot::Relation))
    }

    fn part<'a>(&'a self, inner: Box<dyn Part + 'a>) -> Box<dyn Part + 'a> {
        shown(inner, |batch, take| match batch {
            Batch::Nodes(nodes) => take(Batch::Nodes(self.nodes(nodes)?)),
            Batch::Edges(edges) => take(Batch::Edges(self.edges(edges)?)),
            _ => Err(Error::unsupported("only nodes and edges can be bundled")),
        })
    }
}

impl Source for Bundled {
    fn graph(&self) -> &Graph {
        &self.bundling.bundled
    }

    fn prepare(&self, threads: usize, progress: &dyn Progress) -> Result<()> {
        self.inner.prepare(threads, progress)
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        if request.order != EdgeOrder::Any {
            return Err(Error::usage("edges of several types come in several runs"));
        }
        let nodes = 0..self.bundling.nodes.len();
        let edges = 0..self.bundling.edges.len();
        let requests: Vec<Tables> = match request.tables {
            Tables::Nodes(_) => nodes.map(Tables::Nodes).collect(),
            Tables::NodeKeys(_) => nodes.map(Tables::NodeKeys).collect(),
            Tables::Edges(_) => vec![Tables::AllEdges],
            // A column with the relation is no end.
            Tables::EdgeEnds(_) => edges
                .map(|ty| if self.names_relations(ty) { Tables::Edges(ty) } else { Tables::EdgeEnds(ty) })
                .collect(),
            other => vec![other],
        };
        let mut parts = Vec::new();
        for tables in requests {
            let request = request.for_tables(tables);
            for inner in self.inner.scan(&request)? {
                parts.push(self.part(inner));
            }
        }
        Ok(parts)
    }

    fn runs(&self, _ty: usize, order: EdgeOrder) -> Result<Option<Vec<Run<'_>>>> {
        let mut runs = Vec::new();
        for ty in 0..self.bundling.edges.len() {
            let Some(inner) = self.inner.runs(ty, order)? else { return Ok(None) };
            for run in inner {
                runs.push(run.into_iter().map(|inner| self.part(inner)).collect());
            }
        }
        Ok(Some(runs))
    }

    fn end_form(&self, _ty: usize) -> EndForm {
        let rows = (0..self.bundling.edges.len()).all(|ty| self.inner.end_form(ty) == EndForm::Rows);
        if rows { EndForm::Rows } else { EndForm::Keys }
    }

    /// The edges of the node, of every type that has it on this side.
    fn neighbors(&self, _edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        let (ty, node) = self.typed_id(node)?;
        let near = |edge: &isomorph_model::EdgeType| if side == Side::Out { edge.source } else { edge.target };
        let types = self.bundling.typed.edges.iter().enumerate().filter(|(_, edge)| near(edge) == ty);
        let types: Vec<usize> = types.map(|(number, _)| number).collect();
        // Where the type has no edges on this side nobody looks for the node.
        if types.is_empty() {
            must_exist(self.inner.as_ref(), ty, node)?;
        }
        Ok(edges_as(of_types(self.inner.as_ref(), types.into_iter(), node, side)?, |batch| self.edges(batch)))
    }

    fn about(&self) -> About {
        self.inner.about()
    }
}

/// Where the rows of each node type begin, when all lie one after another.
///
/// # Errors
/// When the number of rows of a type is not known.
pub(super) fn bases(graph: &Graph) -> Result<Vec<u64>> {
    let mut bases = Vec::with_capacity(graph.nodes.len());
    let mut next = 0u64;
    for ty in &graph.nodes {
        bases.push(next);
        let rows = match ty.rows {
            Some(rows) => rows,
            // The last type may be of any size.
            None if bases.len() == graph.nodes.len() => 0,
            None => {
                return Err(Error::unsupported(format!("the number of nodes of type {} is not known", ty.name)));
            }
        };
        next = next.checked_add(rows).ok_or_else(|| Error::malformed("more than 2^64 nodes"))?;
    }
    Ok(bases)
}

/// Rows that count from `base` on.
pub(super) fn with_base(rows: UInt64Array, base: u64) -> UInt64Array {
    match base {
        0 => rows,
        base => UInt64Array::from_iter_values(rows.values().iter().map(|row| row.saturating_add(base))),
    }
}

/// Names of nodes: the prefix and the key's text, or the row's number where there is no key.
pub(super) fn names(prefix: &str, keys: Option<&ArrayRef>, start: u64, rows: usize) -> Result<ArrayRef> {
    let Some(keys) = keys else {
        return Ok(numbered(prefix, (0..rows as u64).map(|row| start + row)));
    };
    Ok(match keys.data_type() {
        DataType::Utf8 if prefix.is_empty() => Arc::clone(keys),
        DataType::Utf8 => {
            let mut builder = StringBuilder::with_capacity(keys.len(), keys.get_array_memory_size());
            for key in keys.as_string::<i32>() {
                let _ = builder.write_str(prefix);
                builder.append_value(key.unwrap_or_default());
            }
            Arc::new(builder.finish())
        }
        DataType::Int64 => numbered(prefix, keys.as_primitive::<Int64Type>().values().iter()),
        DataType::Int32 => numbered(prefix, keys.as_primitive::<Int32Type>().values().iter()),
        DataType::UInt64 => numbered(prefix, keys.as_primitive::<UInt64Type>().values().iter()),
        other => return Err(Error::unsupported(format!("keys of type {other}"))),
    })
}

fn numbered<N: std::fmt::Display>(prefix: &str, keys: impl Iterator<Item = N>) -> ArrayRef {
    let mut builder = StringBuilder::new();
    for key in keys {
        let _ = write!(builder, "{prefix}{key}");
        builder.append_value("");
    }
    Arc::new(builder.finish())
}

/// The column that a slot stands for.
fn column_of<'a>(slot: &Slot, slots: &[Slot], columns: &'a Columns) -> Option<&'a ArrayRef> {
    columns.get(slots.iter().position(|other| other == slot)?)?.as_ref()
}

/// Relations that lie in a column.
pub(super) fn relations_of(column: &ArrayRef) -> Result<Relations> {
    let column = column.as_string_opt::<i32>().ok_or_else(|| Error::malformed("relations are no text"))?;
    let mut known: HashMap<&str, u32> = HashMap::new();
    let index = UInt32Array::from_iter_values((0..column.len()).map(|row| {
        // A null relation is the empty one.
        let name = if column.is_null(row) { "" } else { column.value(row) };
        let next = narrow(known.len());
        *known.entry(name).or_insert(next)
    }));
    let mut names: Vec<(&str, u32)> = known.into_iter().collect();
    names.sort_unstable_by_key(|(_, index)| *index);
    Ok(Relations { names: StringArray::from_iter_values(names.into_iter().map(|(name, _)| name)), index })
}

/// Labels that lie in a column of lists.
pub(crate) fn labels_of(column: &ArrayRef) -> Result<LabelColumn> {
    let refused = || Error::malformed("labels are no lists of text");
    let lists = column.as_list_opt::<i32>().ok_or_else(refused)?;
    let items = lists.values().as_string_opt::<i32>().ok_or_else(refused)?;
    let mut builder = LabelBuilder::default();
    for row in 0..lists.len() {
        let range = lists.value_offsets().get(row..row + 2).filter(|_| !lists.is_null(row));
        let range = range.map_or(0..0, |ends| ends[0].as_usize()..ends[1].as_usize());
        builder.push(range.filter(|item| !items.is_null(*item)).map(|item| items.value(item)));
    }
    Ok(builder.finish())
}

fn labels(slots: &NodeSlots, batch: &NodeBatch) -> Result<LabelColumn> {
    let renamed = |name: &str| {
        let renamed = slots.labels.iter().find(|(typed, _)| typed == name);
        renamed.map_or_else(|| name.to_owned(), |(_, bundled)| bundled.clone())
    };
    if let Some(column) = column_of(&Slot::Labels, &slots.properties, &batch.properties) {
        return labels_of(column);
    }
    Ok(match &batch.labels {
        Some(labels) => labels.map_sets(|names| names.into_iter().map(renamed).chain(slots.label.clone()).collect()),
        None => {
            let mut builder = LabelBuilder::default();
            let set = builder.intern(slots.label.as_deref());
            (0..batch.rows).for_each(|_| builder.push_set(set));
            builder.finish()
        }
    })
}

/// Which rows must say that they have no direction.
enum Undirected<'a> {
    All(&'a str),
    Rows(&'a str, &'a BooleanArray),
}

fn undirected_rows<'a>(slots: &'a EdgeSlots, direction: Direction, batch: &'a EdgeBatch) -> Option<Undirected<'a>> {
    let name = slots.directed.as_deref()?;
    match direction {
        Direction::Directed => None,
        Direction::Undirected => Some(Undirected::All(name)),
        Direction::PerRow => batch.directed.as_ref().map(|directed| Undirected::Rows(name, directed)),
    }
}

/// The bundled columns: typed columns where they are, defaults where nothing is said, the rest as one bag.
fn columns(
    target: &[Property],
    typed: &[Property],
    cells: &Columns,
    slots: &[Slot],
    rows: usize,
    undirected: Option<Undirected<'_>>,
) -> Result<Columns> {
    let mut columns = Vec::with_capacity(target.len());
    for (at, property) in target.iter().enumerate() {
        if property.kind == ValueKind::Bag {
            columns.push(Some(bag(typed, cells, slots, rows, undirected.as_ref())?));
            continue;
        }
        let place = slots.iter().position(|slot| *slot == Slot::Column(at));
        let column = place.and_then(|place| cells.get(place).cloned().flatten());
        columns.push(match column {
            Some(column) => Some(as_type(&column, &property.data_type)?),
            None if place.is_some() => Some(new_null_array(&property.data_type, rows)),
            None => default(property, rows),
        });
    }
    Ok(columns)
}

/// What a well-known column says when the typed graph says nothing.
fn default(property: &Property, rows: usize) -> Option<ArrayRef> {
    match (property.name.as_str(), &property.data_type) {
        (well_known::TRUTH, DataType::Float32) => Some(Arc::new(Float32Array::from_value(1.0, rows))),
        (well_known::TRUTH, DataType::Float64) => Some(Arc::new(Float64Array::from_value(1.0, rows))),
        (well_known::IS_RDF, DataType::Boolean) => Some(Arc::new(BooleanArray::from(vec![false; rows]))),
        _ => None,
    }
}

fn bag(
    typed: &[Property],
    cells: &Columns,
    slots: &[Slot],
    rows: usize,
    undirected: Option<&Undirected<'_>>,
) -> Result<ArrayRef> {
    let mut members = Vec::new();
    let mut rest = None;
    for ((property, column), slot) in typed.iter().zip(cells).zip(slots) {
        let Some(column) = column else { continue };
        match slot {
            Slot::Member(name) => {
                let mut quoted = String::new();
                json::push_string(&mut quoted, name);
                quoted.push(':');
                let cells =
                    JsonCells::new(property, column).map_err(|error| error.at(Place::field(property.name.clone())))?;
                members.push((quoted, cells));
            }
            Slot::Rest => rest = column.as_string_opt::<i32>(),
            Slot::Column(_) | Slot::Labels | Slot::Relation => {}
        }
    }
    let mut builder = StringBuilder::with_capacity(rows, rows * 16 * members.len());
    let mut text = String::new();
    for row in 0..rows {
        text.clear();
        let mut open = '{';
        for (name, cells) in &members {
            let start = text.len();
            text.push(open);
            text.push_str(name);
            if cells.push(row, &mut text) {
                open = ',';
            } else {
                text.truncate(start);
            }
        }
        let undirected = match undirected {
            Some(Undirected::All(name)) => Some(*name),
            Some(Undirected::Rows(name, directed)) if !directed.is_null(row) && !directed.value(row) => Some(*name),
            _ => None,
        };
        if let Some(name) = undirected {
            text.push(open);
            json::push_string(&mut text, name);
            text.push_str(":false");
            open = ',';
        }
        if let Some(rest) = rest.filter(|rest| !rest.is_null(row)) {
            let inside =
                rest.value(row).trim().trim_start_matches('{').trim_end().strip_suffix('}').unwrap_or_default();
            if !inside.trim().is_empty() {
                text.push(open);
                text.push_str(inside);
                open = ',';
            }
        }
        if open == ',' {
            text.push('}');
        }
        builder.append_value(&text);
    }
    Ok(Arc::new(builder.finish()))
}
