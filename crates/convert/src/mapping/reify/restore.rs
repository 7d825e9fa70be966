//! Shows nodes and edges as the graph that they represent.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, StringArray, UInt32Array};
use arrow_buffer::ArrowNativeType;
use arrow_schema::DataType;
use isomorph_error::{Error, Result};
use isomorph_model::batch::{GroupBatch, HyperedgeBatch, MemberBatch, MembershipBatch};
use isomorph_model::{
    About, Batch, Columns, EdgeBatch, EdgeOrder, Ends, Graph, KeyKind, NodeBatch, NodeId, Part, Request, Side, Source,
    Tables,
};

use super::columns::{key_of_text, said};
use super::{EdgeMemberships, ROLES, Reification};
use crate::arrow_limits::narrow;
use crate::mapping::arrays::{as_type, pick};
use crate::mapping::view::edges_as;
use crate::mapping::{CARRY_FITS, declared, forward};
use isomorph_model::part::shown;

/// Shows nodes and edges as the graph that they were made from.
pub struct Restored {
    inner: Arc<dyn Source>,
    record: Reification,
    rich: Graph,
}

/// The role of a table of nodes or edges in the graph.
#[derive(Clone, Copy)]
enum Is {
    Same,
    Hyperedges(usize),
    Groups(usize),
    Members(usize, usize),
    Memberships(usize, usize),
}

impl Restored {
    /// Shows `inner` as `record.rich`. Reads nothing.
    ///
    /// # Errors
    /// Returns [`CARRY_FITS`] if types or columns of the record are missing.
    pub fn new(inner: Arc<dyn Source>, record: &Reification) -> Result<Self> {
        let inner = declared(inner, &record.plain)?;
        let mut rich = record.rich.clone();
        let plain = inner.graph();
        for (ty, found) in rich.nodes.iter_mut().zip(&plain.nodes) {
            ty.rows = found.rows;
        }
        for (ty, found) in rich.edges.iter_mut().zip(&plain.edges) {
            ty.rows = found.rows;
        }
        for (ty, tables) in rich.hyperedges.iter_mut().zip(&record.hyperedges) {
            ty.rows = plain.nodes.get(tables.node).and_then(|ty| ty.rows);
        }
        Ok(Restored { inner, record: record.clone(), rich })
    }

    fn node_table(&self, ty: usize) -> Is {
        let hyperedges = self.record.hyperedges.iter().position(|tables| tables.node == ty).map(Is::Hyperedges);
        let groups = || self.record.groups.iter().position(|tables| tables.node == ty).map(Is::Groups);
        hyperedges.or_else(groups).unwrap_or(Is::Same)
    }

    fn edge_table(&self, ty: usize) -> Is {
        for (at, tables) in self.record.hyperedges.iter().enumerate() {
            if let Some(role) = tables.roles.iter().position(|role| *role == Some(ty)) {
                return Is::Members(at, role);
            }
        }
        for (at, tables) in self.record.groups.iter().enumerate() {
            if let Some(table) = tables.memberships.iter().position(|table| *table == Some(ty)) {
                return Is::Memberships(at, table);
            }
        }
        Is::Same
    }

    fn edges(&self, batch: EdgeBatch) -> Result<EdgeBatch> {
        let (Some(columns), Some(ty)) = (self.record.edges.get(batch.ty), self.rich.edges.get(batch.ty)) else {
            return Err(Error::usage("no such edge type"));
        };
        let column = |at: Option<usize>| batch.properties.get(at?)?.as_ref();
        let keys = match (&ty.key, column(columns.key)) {
            (Some(key), Some(keys)) => Some(as_type(keys, &key.data_type)?),
            _ => None,
        };
        let of = |at: Option<[usize; 2]>, side: usize| at.and_then(|at| at.get(side).copied());
        let end =
            |side: usize| said(column(of(columns.layers, side)), column(of(columns.coefficients, side)), batch.rows);
        let layers = if ty.layered { Some((end(0)?, end(1)?)) } else { None };
        let directed = column(columns.directed).map(booleans).transpose()?;
        let mut properties = batch.properties;
        properties.truncate(ty.properties.len());
        Ok(EdgeBatch { layers, directed, keys, properties, ..batch })
    }

    fn hyperedges(&self, batch: NodeBatch, at: usize) -> Result<HyperedgeBatch> {
        let (Some(tables), Some(ty)) = (self.record.hyperedges.get(at), self.rich.hyperedges.get(at)) else {
            return Err(Error::usage("no such hyperedge type"));
        };
        let directed = tables.directed.and_then(|at| batch.properties.get(at)?.as_ref()).map(booleans).transpose()?;
        let keys = as_type(&keys_of(&batch)?, &ty.key.data_type)?;
        let mut properties = batch.properties;
        properties.truncate(ty.properties.len());
        Ok(HyperedgeBatch { ty: at, start: batch.start, rows: batch.rows, keys, directed, properties })
    }

    fn groups(&self, batch: NodeBatch, kind: usize) -> Result<GroupBatch> {
        let keys = self.group_keys(kind, &keys_of(&batch)?)?;
        Ok(GroupBatch { kind, start: batch.start, keys, properties: batch.properties })
    }

    fn group_keys(&self, kind: usize, keys: &ArrayRef) -> Result<ArrayRef> {
        match self.rich.groups.get(kind).map(|kind| kind.key.kind) {
            Some(KeyKind::Tuple) => key_of_text(keys),
            _ => Ok(Arc::clone(keys)),
        }
    }

    fn members(&self, batch: EdgeBatch, at: usize, role: usize) -> Result<MemberBatch> {
        let layered = self.record.hyperedges.get(at).is_some_and(|tables| tables.layered);
        let column = |at: usize| batch.properties.get(at).cloned().flatten();
        let coefficients =
            column(usize::from(layered)).map(|column| as_type(&column, &DataType::Float64)).transpose()?;
        Ok(MemberBatch {
            ty: at,
            roles: StringArray::from_iter_values(std::iter::repeat_n(
                ROLES.get(role).copied().unwrap_or_default(),
                batch.rows,
            )),
            layers: if layered { column(0) } else { None },
            coefficients: coefficients.map(|column| column.as_primitive::<Float64Type>().clone()),
            owner: batch.source,
            member: batch.target,
        })
    }

    fn memberships(&self, batch: EdgeBatch, kind: usize, table: usize) -> Result<MembershipBatch> {
        let group = match &batch.source {
            Ends::Keys(keys) => Ends::Keys(self.group_keys(kind, keys)?),
            rows => rows.clone(),
        };
        Ok(MembershipBatch { kind, table, group, member: batch.target, properties: batch.properties })
    }

    /// The groups that edges are in; `None` if none of them is in a group.
    fn groups_of_edges(&self, batch: &EdgeBatch, table: &EdgeMemberships) -> Result<Option<MembershipBatch>> {
        let columns = self.record.edges.get(batch.ty).ok_or_else(|| Error::usage("no such edge type"))?;
        let column = |at: usize| batch.properties.get(at)?.as_ref();
        let Some(groups) = column(table.groups) else { return Ok(None) };
        let ty = self.rich.groups.get(table.kind).and_then(|kind| kind.memberships.get(table.table));
        let ty = ty.ok_or_else(|| Error::usage("no such memberships"))?;
        let mut edges: Vec<u32> = Vec::new();
        let (items, group) = flat(groups, |row, items| edges.extend(std::iter::repeat_n(row, items)))?;
        if items == 0 {
            return Ok(None);
        }
        let edges = UInt32Array::from(edges);
        let keys =
            columns.key.and_then(column).ok_or_else(|| Error::broken(&CARRY_FITS, "edges in groups have no keys"))?;
        let mut properties = Columns::new();
        for (at, property) in table.properties.iter().zip(&ty.properties) {
            let Some(values) = column(*at) else {
                properties.push(None);
                continue;
            };
            let mut lengths = 0;
            let (count, values) = flat(values, |_, items| lengths += items)?;
            // A column without any values may be missing; otherwise it has one value for each group.
            if count != items && count != 0 {
                let what = format!("{} has {count} values for {items} memberships", property.name);
                return Err(Error::broken(&CARRY_FITS, what));
            }
            properties.push(if count == 0 { None } else { Some(as_type(&values, &property.data_type)?) });
        }
        Ok(Some(MembershipBatch {
            kind: table.kind,
            table: table.table,
            group: Ends::Keys(self.group_keys(table.kind, &group)?),
            member: Ends::Keys(pick(keys, &edges)?),
            properties,
        }))
    }

    fn batch(&self, batch: Batch, only_groups: bool, take: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        match batch {
            Batch::Nodes(nodes) => match self.node_table(nodes.ty) {
                Is::Hyperedges(at) => take(Batch::Hyperedges(self.hyperedges(nodes, at)?)),
                Is::Groups(kind) => take(Batch::Groups(self.groups(nodes, kind)?)),
                _ => take(Batch::Nodes(nodes)),
            },
            Batch::Edges(edges) => match self.edge_table(edges.ty) {
                Is::Members(at, role) => take(Batch::Members(self.members(edges, at, role)?)),
                Is::Memberships(kind, table) => take(Batch::Memberships(self.memberships(edges, kind, table)?)),
                _ if only_groups => {
                    let tables = self.record.edges.get(edges.ty).map(|columns| columns.memberships.as_slice());
                    tables.unwrap_or_default().iter().try_for_each(|table| {
                        match self.groups_of_edges(&edges, table)? {
                            Some(memberships) => take(Batch::Memberships(memberships)),
                            None => Ok(()),
                        }
                    })
                }
                _ => take(Batch::Edges(self.edges(edges)?)),
            },
            _ => Err(Error::usage("a reified graph consists of nodes and edges only")),
        }
    }

    fn parts<'a>(&'a self, tables: Tables, request: &Request, only_groups: bool) -> Result<Vec<Box<dyn Part + 'a>>> {
        let parts = self.inner.scan(&request.for_tables(tables))?;
        let part = |inner| shown(inner, move |batch, take| self.batch(batch, only_groups, take));
        Ok(parts.into_iter().map(part).collect())
    }

    /// The tables of some types of nodes or of edges, as selected by `all`: one after another, or together if they
    /// share one table.
    fn of_types<'a>(
        &'a self,
        all: Tables,
        types: impl Iterator<Item = usize>,
        request: &Request,
        only_groups: bool,
    ) -> Result<Vec<Box<dyn Part + 'a>>> {
        let types: Arc<[usize]> = types.collect();
        if types.len() > 1 && self.inner.is_one_table(all) {
            let parts = self.inner.scan(&request.for_tables(all))?;
            let part = |inner| {
                let types = Arc::clone(&types);
                shown(inner, move |batch, take| match &batch {
                    Batch::Nodes(nodes) if !types.contains(&nodes.ty) => Ok(()),
                    Batch::Edges(edges) if !types.contains(&edges.ty) => Ok(()),
                    _ => self.batch(batch, only_groups, take),
                })
            };
            return Ok(parts.into_iter().map(part).collect());
        }
        let mut parts = Vec::new();
        for ty in types.iter().copied() {
            let tables = if all == Tables::AllNodes { Tables::Nodes(ty) } else { Tables::Edges(ty) };
            parts.extend(self.parts(tables, request, only_groups)?);
        }
        Ok(parts)
    }

    /// Hyperedges, groups, members and memberships: all tables except nodes and edges of the graph.
    fn rest<'a>(&'a self, request: &Request) -> Result<Vec<Box<dyn Part + 'a>>> {
        let request = request.whole().in_order(EdgeOrder::Any);
        let nodes = self.rich.nodes.len()..self.record.plain.nodes.len();
        let edges = self.rich.edges.len()..self.record.plain.edges.len();
        let columns = self.record.edges.iter().enumerate();
        let in_groups = columns.filter(|(_, columns)| !columns.memberships.is_empty()).map(|(ty, _)| ty);
        let mut parts = self.of_types(Tables::AllNodes, nodes, &request, false)?;
        parts.extend(self.of_types(Tables::AllEdges, edges, &request, false)?);
        parts.extend(self.of_types(Tables::AllEdges, in_groups, &request, true)?);
        Ok(parts)
    }
}

fn keys_of(batch: &NodeBatch) -> Result<ArrayRef> {
    batch.keys.clone().ok_or_else(|| Error::broken(&CARRY_FITS, "hyperedges and groups must have keys"))
}

fn booleans(column: &ArrayRef) -> Result<BooleanArray> {
    Ok(as_type(column, &DataType::Boolean)?.as_boolean().clone())
}

/// The items of the lists of a column, concatenated, with their number; `each` gets the number for each row.
fn flat(column: &ArrayRef, mut each: impl FnMut(u32, usize)) -> Result<(usize, ArrayRef)> {
    let lists =
        column.as_list_opt::<i32>().ok_or_else(|| Error::broken(&CARRY_FITS, "groups of edges are not lists"))?;
    let mut items: Vec<u32> = Vec::new();
    for (row, ends) in lists.value_offsets().windows(2).enumerate() {
        if lists.is_valid(row) && ends[0] < ends[1] {
            each(narrow(row), (ends[1] - ends[0]).as_usize());
            items.extend(ends[0].cast_unsigned()..ends[1].cast_unsigned());
        }
    }
    Ok((items.len(), pick(lists.values(), &UInt32Array::from(items))?))
}

impl Source for Restored {
    forward!(inner: is_one_table edge_orders end_form);

    fn graph(&self) -> &Graph {
        &self.rich
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let all_nodes = || self.of_types(Tables::AllNodes, 0..self.rich.nodes.len(), request, false);
        let all_edges = || self.of_types(Tables::AllEdges, 0..self.rich.edges.len(), request, false);
        match request.tables {
            Tables::AllNodes => all_nodes(),
            Tables::AllEdges => all_edges(),
            Tables::Rest => self.rest(request),
            Tables::All => {
                let mut parts = all_nodes()?;
                parts.extend(all_edges()?);
                parts.extend(self.rest(request)?);
                Ok(parts)
            }
            tables => self.parts(tables, request, false),
        }
    }

    fn about(&self) -> About {
        let mut about = self.inner.about();
        about.edge_layouts.truncate(self.rich.edges.len());
        about
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        Ok(edges_as(self.inner.neighbors(edge, node, side)?, |batch| self.edges(batch)))
    }
}
