//! Shows several typed tables as one of nodes and one of edges.
//!
//! Nodes follow each other type after type. If there are several types, keys are prefixed with the type of their node.
//! The mapping of the other columns is defined by the kind of merge: [`Merge`].

use std::fmt::Write;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, UInt64Array};
use arrow_schema::DataType;
use isomorph_error::{Error, Kind, Result};
use isomorph_model::part::shown;
use isomorph_model::{
    About, Batch, Columns, EdgeBatch, EdgeOrder, EdgeType, EndForm, Ends, Graph, KeyKind, LabelColumn, NodeBatch,
    NodeId, NodeType, Part, Relations, Request, Run, Side, Source, Tables,
};

use super::declared;
use super::view::{edges_as, of_types};
use crate::mapping::forward;
use isomorph_dataset::must_exist;

/// How the rows of several types are written to one table.
pub trait Merge: Send + Sync {
    /// The typed graph.
    fn typed(&self) -> &Graph;

    /// The graph with one node type and one edge type.
    fn merged(&self) -> &Graph;

    /// The prefix of the keys of a node type; `None` if keys are unchanged.
    fn prefix(&self, ty: usize) -> Option<&str>;

    /// Columns and labels of nodes of a type.
    fn nodes(&self, ty: &NodeType, batch: &NodeBatch) -> Result<(Columns, Option<LabelColumn>)>;

    /// The columns of edges of a type, apart from their ends.
    fn edges(&self, ty: &EdgeType, batch: &EdgeBatch) -> Result<MergedEdges>;

    /// Whether an edge type has its relations in a column.
    fn names_relations(&self, _ty: usize) -> bool {
        false
    }

    /// What is neither nodes nor edges.
    fn rest(&self) -> Option<Box<dyn Part>> {
        None
    }
}

/// The columns of edges, apart from their ends.
pub struct MergedEdges {
    pub relations: Option<Relations>,
    pub directed: Option<BooleanArray>,
    pub properties: Columns,
}

/// Shows a typed source as one table of nodes and one of edges.
pub struct Merged<R> {
    inner: Arc<dyn Source>,
    record: R,
    /// The first row of each node type in the one table.
    bases: Vec<u64>,
    /// Whether some ends are keys. In that case, ends that are rows of a type without keys become names, like the
    /// nodes.
    names_rows: bool,
}

impl<R: Merge> Merged<R> {
    /// Shows `inner` as the merged graph of `record`. Reads nothing.
    ///
    /// # Errors
    /// If the row count of a node type is unknown, or the source is not the graph of the record.
    pub fn of(inner: Arc<dyn Source>, record: R) -> Result<Self> {
        // The record uses the column positions at the time of its creation; files can have another order.
        let inner = declared(inner, record.typed())?;
        let bases = bases(inner.graph())?;
        let names_rows = (0..record.typed().edges.len()).any(|ty| inner.end_form(ty) == EndForm::Keys);
        Ok(Merged { inner, record, bases, names_rows })
    }

    fn nodes(&self, batch: &NodeBatch) -> Result<NodeBatch> {
        let ty = self.record.typed().nodes.get(batch.ty).ok_or_else(|| Error::usage("no such node type"))?;
        let (properties, labels) = self.record.nodes(ty, batch)?;
        Ok(NodeBatch {
            ty: 0,
            start: self.base(batch.ty) + batch.start,
            numbers: None,
            rows: batch.rows,
            keys: match self.record.prefix(batch.ty) {
                Some(prefix) => Some(names(prefix, batch.keys.as_ref(), batch.start, batch.rows)?),
                None => batch.keys.clone(),
            },
            labels,
            properties,
        })
    }

    fn edges(&self, batch: EdgeBatch) -> Result<EdgeBatch> {
        let ty = self.record.typed().edges.get(batch.ty).ok_or_else(|| Error::usage("no such edge type"))?;
        let MergedEdges { relations, directed, properties } = self.record.edges(ty, &batch)?;
        Ok(EdgeBatch {
            ty: 0,
            rows: batch.rows,
            relations,
            source: self.ends(ty.source, batch.source)?,
            target: self.ends(ty.target, batch.target)?,
            layers: batch.layers,
            directed,
            keys: None,
            properties,
        })
    }

    fn base(&self, ty: usize) -> u64 {
        self.bases.get(ty).copied().unwrap_or_default()
    }

    fn ends(&self, ty: usize, ends: Ends) -> Result<Ends> {
        let has_keys = self.record.typed().nodes.get(ty).is_none_or(|ty| ty.key.kind != KeyKind::Row);
        match (ends, self.record.prefix(ty)) {
            (Ends::Rows(rows), Some(prefix)) if self.names_rows && !has_keys => {
                Ok(Ends::Keys(numbered(prefix, rows.values().iter())))
            }
            (Ends::Rows(rows), _) => Ok(Ends::Rows(with_base(rows, self.base(ty)))),
            (Ends::Keys(keys), Some(prefix)) => Ok(Ends::Keys(names(prefix, Some(&keys), 0, keys.len())?)),
            (Ends::Keys(keys), None) => Ok(Ends::Keys(keys)),
        }
    }

    /// The type of a node of the one table, and the node in it.
    fn typed_id<'n>(&self, node: NodeId<'n>) -> Result<(usize, NodeId<'n>)> {
        let missing = |node: String| Error::new(Kind::NotFound, format!("there is no node {node}"));
        let types = &self.record.typed().nodes;
        let (ty, node) = match node {
            NodeId::Row(row) => {
                let ty = self.bases.partition_point(|base| *base <= row).checked_sub(1);
                let ty = ty.ok_or_else(|| missing(format!("in row {row}")))?;
                return Ok((ty, NodeId::Row(row - self.base(ty))));
            }
            NodeId::Key(name) => {
                let own = |ty: usize| Some((ty, name.strip_prefix(self.record.prefix(ty).unwrap_or_default())?));
                (0..types.len()).find_map(own).ok_or_else(|| missing(format!("{name:?}")))?
            }
        };
        let keyless = types.get(ty).is_some_and(|ty| ty.key.kind == KeyKind::Row);
        // A row number has one spelling, without the sign that the number parser accepts.
        match (keyless, node.parse().ok().filter(|_| !node.starts_with('+'))) {
            (true, Some(row)) => Ok((ty, NodeId::Row(row))),
            (true, None) => Err(missing(format!("{node:?}"))),
            (false, _) => Ok((ty, NodeId::Key(node))),
        }
    }

    fn part<'a>(&'a self, inner: Box<dyn Part + 'a>) -> Box<dyn Part + 'a> {
        shown(inner, |batch, take| match batch {
            Batch::Nodes(nodes) => take(Batch::Nodes(self.nodes(&nodes)?)),
            Batch::Edges(edges) => take(Batch::Edges(self.edges(edges)?)),
            _ => Err(Error::unsupported("only nodes and edges of several types can be merged")),
        })
    }
}

impl<R: Merge> Source for Merged<R> {
    forward!(inner: prepare);

    fn graph(&self) -> &Graph {
        self.record.merged()
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        if request.order != EdgeOrder::Any {
            return Err(Error::usage(
                "edges of several types are read in several runs, and cannot be requested in order",
            ));
        }
        let typed = self.record.typed();
        let (nodes, edges) = (0..typed.nodes.len(), 0..typed.edges.len());
        let requests: Vec<Tables> = match request.tables {
            Tables::Nodes(_) => nodes.map(Tables::Nodes).collect(),
            Tables::NodeKeys(_) => nodes.map(Tables::NodeKeys).collect(),
            Tables::Edges(_) => vec![Tables::AllEdges],
            // A column with the relation is not an end.
            Tables::EdgeEnds(_) => edges
                .map(|ty| if self.record.names_relations(ty) { Tables::Edges(ty) } else { Tables::EdgeEnds(ty) })
                .collect(),
            other => vec![other],
        };
        let mut parts = Vec::new();
        for tables in requests {
            parts.extend(self.inner.scan(&request.for_tables(tables))?.into_iter().map(|inner| self.part(inner)));
        }
        if matches!(request.tables, Tables::All | Tables::Rest) {
            parts.extend(self.record.rest().map(|rest| rest as Box<dyn Part + '_>));
        }
        Ok(parts)
    }

    fn runs(&self, _ty: usize, order: EdgeOrder) -> Result<Option<Vec<Run<'_>>>> {
        let mut runs = Vec::new();
        for ty in 0..self.record.typed().edges.len() {
            let Some(inner) = self.inner.runs(ty, order)? else { return Ok(None) };
            for run in inner {
                runs.push(run.into_iter().map(|inner| self.part(inner)).collect());
            }
        }
        Ok(Some(runs))
    }

    fn end_form(&self, _ty: usize) -> EndForm {
        let typed = self.record.typed();
        let keyless = |node: usize| typed.nodes.get(node).is_some_and(|ty| ty.key.kind == KeyKind::Row);
        // If some edge types refer to nodes with keys by row, the keys of the nodes must be kept for all.
        let mut keyed = typed.edges.iter().enumerate().filter(|(_, ty)| !(keyless(ty.source) && keyless(ty.target)));
        match self.names_rows && !keyed.any(|(at, _)| self.inner.end_form(at) == EndForm::Rows) {
            true => EndForm::Keys,
            false => EndForm::Rows,
        }
    }

    /// The edges of the node, of every type that has it on this side.
    fn neighbors(&self, _edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        let (ty, node) = self.typed_id(node)?;
        let near = |edge: &EdgeType| if side == Side::Out { edge.source } else { edge.target };
        let types = self.record.typed().edges.iter().enumerate().filter(|(_, edge)| near(edge) == ty);
        let types: Vec<usize> = types.map(|(number, _)| number).collect();
        // If the type has no edges on this side, the node is not looked up.
        if types.is_empty() {
            must_exist(self.inner.as_ref(), ty, node)?;
        }
        Ok(edges_as(of_types(self.inner.as_ref(), types.into_iter(), node, side)?, |batch| self.edges(batch)))
    }

    fn about(&self) -> About {
        let mut about = self.inner.about();
        // The layouts of all types are those of the one.
        about.edge_layouts.dedup();
        about.edge_layouts.truncate(1);
        about
    }
}

/// The first row of each node type, if all follow each other.
///
/// # Errors
/// If the row count of a type is unknown.
pub(super) fn bases(graph: &Graph) -> Result<Vec<u64>> {
    let mut bases = Vec::with_capacity(graph.nodes.len());
    let mut next = 0u64;
    for ty in &graph.nodes {
        bases.push(next);
        let rows = match ty.rows {
            Some(rows) => rows,
            // The row count of the last type is not needed.
            None if bases.len() == graph.nodes.len() => 0,
            None => {
                return Err(Error::unsupported(format!("the number of nodes of type {} is not known", ty.name)));
            }
        };
        next = next.checked_add(rows).ok_or_else(|| Error::malformed("more than 2^64 nodes"))?;
    }
    Ok(bases)
}

/// Row numbers, counted from `base`.
fn with_base(rows: UInt64Array, base: u64) -> UInt64Array {
    match base {
        0 => rows,
        base => UInt64Array::from_iter_values(rows.values().iter().map(|row| row.saturating_add(base))),
    }
}

/// Names of nodes: the prefix and the key as text, or the row number if there is no key.
fn names(prefix: &str, keys: Option<&ArrayRef>, start: u64, rows: usize) -> Result<ArrayRef> {
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
        other => return Err(Error::unsupported(format!("keys of type {other} are not supported"))),
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
