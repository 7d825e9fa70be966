//! Shows several typed tables as one of nodes and one of edges.
//!
//! Nodes follow each other type after type. If there are several types, keys are prefixed with the type of their node.

use std::fmt::Write;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, StringArray, UInt64Array};
use arrow_schema::DataType;
use isomorph_dataset::must_exist;
use isomorph_error::{Error, Kind, Result};
use isomorph_model::batch::GroupBatch;
use isomorph_model::part::shown;
use isomorph_model::{
    About, Batch, EdgeBatch, EdgeOrder, EndForm, Ends, Graph, NodeBatch, NodeId, Part, Request, Run, Side, Source,
    Tables, part,
};

use super::Layout;
use super::columns::EdgeColumns;
use crate::mapping::view::{edges_as, near, of_types};
use crate::mapping::{declared, forward};

/// Shows a typed source as one table of nodes and one of edges.
pub struct Merged {
    inner: Arc<dyn Source>,
    layout: Layout,
    /// The first row of each node type in the one table.
    bases: Vec<u64>,
    /// Whether some ends are keys. In that case, ends that are rows of a type without keys become names, like the
    /// nodes.
    names_rows: bool,
}

impl Merged {
    /// Shows `inner`, which is `layout.typed`, as `layout.merged`. Reads nothing.
    ///
    /// # Errors
    /// If the row count of a node type is unknown, or the source is not the graph of the layout.
    pub fn of(inner: Arc<dyn Source>, mut layout: Layout) -> Result<Self> {
        // The layout has the column positions at the time of its creation; files can have another order.
        let inner = declared(inner, &layout.typed)?;
        let found = inner.graph();
        layout.merged.nodes.iter_mut().for_each(|ty| ty.rows = found.node_rows());
        layout.merged.edges.iter_mut().for_each(|ty| ty.rows = found.edge_rows());
        let bases = bases(found)?;
        let names_rows = (0..layout.typed.edges.len()).any(|ty| inner.end_form(ty) == EndForm::Keys);
        Ok(Merged { inner, layout, bases, names_rows })
    }

    fn nodes(&self, batch: NodeBatch) -> Result<NodeBatch> {
        let start = self.base(batch.ty) + batch.start;
        let Some(prefix) = self.layout.prefix(batch.ty) else {
            return Ok(NodeBatch { ty: 0, start, numbers: None, ..batch });
        };
        let (properties, labels) = self.layout.nodes_merged(&batch)?;
        let keys = Some(names(prefix, batch.keys.as_ref(), batch.start, batch.rows)?);
        Ok(NodeBatch { keys, labels, properties, ..NodeBatch::of(0, start, batch.rows) })
    }

    fn edges(&self, batch: EdgeBatch) -> Result<EdgeBatch> {
        let ty = self.layout.typed.edges.get(batch.ty).ok_or_else(|| Error::usage("no such edge type"))?;
        let EdgeColumns { relations, directed, properties } = self.layout.edges_merged(&batch)?;
        Ok(EdgeBatch {
            relations,
            layers: batch.layers,
            directed,
            properties,
            ..EdgeBatch::between(0, self.ends(ty.source, batch.source)?, self.ends(ty.target, batch.target)?)
        })
    }

    fn base(&self, ty: usize) -> u64 {
        self.bases.get(ty).copied().unwrap_or_default()
    }

    fn ends(&self, ty: usize, ends: Ends) -> Result<Ends> {
        match (ends, self.layout.prefix(ty)) {
            (Ends::Rows(rows), Some(prefix)) if self.names_rows && self.layout.is_keyless(ty) => {
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
        let (ty, node) = match node {
            NodeId::Row(row) => {
                let ty = self.bases.partition_point(|base| *base <= row).checked_sub(1);
                let ty = ty.ok_or_else(|| missing(format!("in row {row}")))?;
                return Ok((ty, NodeId::Row(row - self.base(ty))));
            }
            NodeId::Key(name) => {
                let own = |ty: usize| Some((ty, name.strip_prefix(self.layout.prefix(ty).unwrap_or_default())?));
                (0..self.layout.typed.nodes.len()).find_map(own).ok_or_else(|| missing(format!("{name:?}")))?
            }
        };
        // A row number has one spelling, without the sign that the number parser accepts.
        match (self.layout.is_keyless(ty), node.parse().ok().filter(|_| !node.starts_with('+'))) {
            (true, Some(row)) => Ok((ty, NodeId::Row(row))),
            (true, None) => Err(missing(format!("{node:?}"))),
            (false, _) => Ok((ty, NodeId::Key(node))),
        }
    }

    fn part<'a>(&'a self, inner: Box<dyn Part + 'a>) -> Box<dyn Part + 'a> {
        shown(inner, |batch, take| match batch {
            Batch::Nodes(nodes) => take(Batch::Nodes(self.nodes(nodes)?)),
            Batch::Edges(edges) => take(Batch::Edges(self.edges(edges)?)),
            _ => Err(Error::unsupported("only nodes and edges of several types can be merged")),
        })
    }

    /// The groups that contain everything.
    fn groups(&self) -> Vec<Box<dyn Part + '_>> {
        let groups = self.layout.merged.groups.iter().enumerate().map(|(kind, group)| {
            let keys = move || -> ArrayRef { Arc::new(StringArray::from_iter_values(&group.all)) };
            let batch = move || Ok(Batch::Groups(GroupBatch { kind, start: 0, keys: keys(), properties: Vec::new() }));
            part::of(Some(group.all.len() as u64), std::iter::once_with(batch))
        });
        groups.collect()
    }
}

impl Source for Merged {
    forward!(inner: prepare);

    fn graph(&self) -> &Graph {
        &self.layout.merged
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        if request.order != EdgeOrder::Any {
            return Err(Error::usage(
                "edges of several types are read in several runs, and cannot be requested in order",
            ));
        }
        let typed = &self.layout.typed;
        let (nodes, edges) = (0..typed.nodes.len(), 0..typed.edges.len());
        let requests: Vec<Tables> = match request.tables {
            Tables::Nodes(_) => nodes.map(Tables::Nodes).collect(),
            Tables::NodeKeys(_) => nodes.map(Tables::NodeKeys).collect(),
            Tables::Edges(_) => vec![Tables::AllEdges],
            // A column with the relation is not an end.
            Tables::EdgeEnds(_) => edges
                .map(|ty| match self.layout.has_relations_in_column(ty) {
                    true => Tables::Edges(ty),
                    false => Tables::EdgeEnds(ty),
                })
                .collect(),
            other => vec![other],
        };
        let mut parts = Vec::new();
        for tables in requests {
            parts.extend(self.inner.scan(&request.for_tables(tables))?.into_iter().map(|inner| self.part(inner)));
        }
        if matches!(request.tables, Tables::All | Tables::Rest) {
            parts.extend(self.groups());
        }
        Ok(parts)
    }

    fn runs(&self, _ty: usize, order: EdgeOrder) -> Result<Option<Vec<Run<'_>>>> {
        let mut runs = Vec::new();
        for ty in 0..self.layout.typed.edges.len() {
            let Some(inner) = self.inner.runs(ty, order)? else { return Ok(None) };
            for run in inner {
                runs.push(run.into_iter().map(|inner| self.part(inner)).collect());
            }
        }
        Ok(Some(runs))
    }

    fn end_form(&self, _ty: usize) -> EndForm {
        let keyless = |node: usize| self.layout.is_keyless(node);
        // If some edge types refer to nodes with keys by row, the keys of the nodes must be kept for all.
        let edges = self.layout.typed.edges.iter().enumerate();
        let mut keyed = edges.filter(|(_, ty)| !(keyless(ty.source) && keyless(ty.target)));
        match self.names_rows && !keyed.any(|(at, _)| self.inner.end_form(at) == EndForm::Rows) {
            true => EndForm::Keys,
            false => EndForm::Rows,
        }
    }

    /// The edges of the node, of every type that has it on this side.
    fn neighbors(&self, _edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        let (ty, node) = self.typed_id(node)?;
        let types = self.layout.typed.edges.iter().enumerate().filter(|(_, edge)| near(edge, side) == ty);
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
pub(in crate::mapping) fn bases(graph: &Graph) -> Result<Vec<u64>> {
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
        other if other.is_integer() => {
            let wide = arrow_cast::cast(keys, &DataType::Int64).map_err(|error| Error::malformed(error.to_string()))?;
            numbered(prefix, wide.as_primitive::<Int64Type>().values().iter())
        }
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
