//! Code that the views of a source share: converting the batches of parts, and look-ups in one table for several types.

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, UInt32Array};
use isomorph_error::{Error, Kind, Result};
use isomorph_model::part::shown;
use isomorph_model::{
    About, Batch, Columns, EdgeBatch, EdgeType, Ends, Graph, NodeBatch, NodeId, NodeType, Part, Property, Relations,
    Run, Side, Source, Tables, Take, part,
};

use super::arrays::pick;
use crate::arrow_limits::narrow;

/// Converts each batch of edges in `inner` by `show`, to one, several or no batches.
pub(crate) fn edges_shown<'a>(
    inner: Box<dyn Part + 'a>,
    show: impl Fn(&EdgeBatch, Take<'_>) -> Result<()> + Send + 'a,
) -> Box<dyn Part + 'a> {
    shown(inner, move |batch, take| match batch {
        Batch::Edges(edges) => show(&edges, take),
        other => take(other),
    })
}

/// Converts each batch of edges in `inner` to the batch that `show` returns.
pub(crate) fn edges_as<'a>(
    inner: Box<dyn Part + 'a>,
    show: impl Fn(EdgeBatch) -> Result<EdgeBatch> + Send + 'a,
) -> Box<dyn Part + 'a> {
    shown(inner, move |batch, take| match batch {
        Batch::Edges(edges) => take(Batch::Edges(show(edges)?)),
        other => take(other),
    })
}

/// Converts the batches of nodes and of edges in `parts`, each to one, several or no batches.
pub(super) fn rows_shown<'a>(
    parts: Run<'a>,
    nodes: impl Fn(NodeBatch, Take<'_>) -> Result<()> + Copy + Send + 'a,
    edges: impl Fn(EdgeBatch, Take<'_>) -> Result<()> + Copy + Send + 'a,
) -> Run<'a> {
    let one = |inner| {
        shown(inner, move |batch, take| match batch {
            Batch::Nodes(batch) => nodes(batch, take),
            Batch::Edges(batch) => edges(batch, take),
            other => take(other),
        })
    };
    parts.into_iter().map(one).collect()
}

/// Converts each batch of nodes and of edges in `parts` to another one.
pub(super) fn rows_as<'a>(
    parts: Run<'a>,
    nodes: impl Fn(NodeBatch) -> Result<NodeBatch> + Copy + Send + 'a,
    edges: impl Fn(EdgeBatch) -> Result<EdgeBatch> + Copy + Send + 'a,
) -> Run<'a> {
    rows_shown(
        parts,
        move |batch, take| take(Batch::Nodes(nodes(batch)?)),
        move |batch, take| take(Batch::Edges(edges(batch)?)),
    )
}

/// The edges of several types from (or to) a node, type by type.
///
/// # Errors
/// As [`Source::neighbors`].
pub(crate) fn of_types<'a>(
    source: &'a dyn Source,
    types: impl Iterator<Item = usize> + Send + 'a,
    node: NodeId<'_>,
    side: Side,
) -> Result<Box<dyn Part + 'a>> {
    let (key, row) = match node {
        NodeId::Key(key) => (Some(key.to_owned()), 0),
        NodeId::Row(row) => (None, row),
    };
    part::chained(types.map(move |ty| {
        let node = key.as_deref().map_or(NodeId::Row(row), NodeId::Key);
        source.neighbors(ty, node, side)
    }))
}

/// Checks that a row number of a node is within the rows of node type `ty`: in one table of several types, the next row
/// is a node of another type. After the last type there is none, and the table itself reports this.
///
/// # Errors
/// Returns [`Kind::NotFound`] if it is not.
pub(crate) fn within(types: &[NodeType], ty: usize, node: NodeId<'_>) -> Result<()> {
    let Some(ty) = types.get(ty).filter(|_| ty + 1 < types.len()) else { return Ok(()) };
    match (node, ty.rows) {
        (NodeId::Row(row), Some(rows)) if row >= rows => {
            Err(Error::new(Kind::NotFound, format!("there is no row {row} of {}", ty.name)))
        }
        _ => Ok(()),
    }
}

/// Describes a source whose one table of edges is shown as `types` types.
pub(crate) fn one_table(mut about: About, types: usize) -> About {
    if let Some(layout) = about.edge_layouts.first().cloned() {
        about.edge_layouts = vec![layout; types];
    }
    about
}

/// The position of each property of `wanted` in `found`, by name.
pub(super) fn positions(wanted: &[Property], found: &[Property]) -> Vec<Option<usize>> {
    let find = |property: &Property| found.iter().position(|other| other.name == property.name);
    wanted.iter().map(find).collect()
}

/// The properties of one type of nodes or edges.
pub(crate) fn properties_of(graph: &Graph, tables: Tables) -> &[Property] {
    let properties = match tables {
        Tables::Nodes(ty) | Tables::NodeKeys(ty) => graph.nodes.get(ty).map(|ty| &ty.properties),
        Tables::Edges(ty) | Tables::EdgeEnds(ty) => graph.edges.get(ty).map(|ty| &ty.properties),
        Tables::All | Tables::AllNodes | Tables::AllEdges | Tables::Rest => None,
    };
    properties.map_or(&[], Vec::as_slice)
}

/// Some rows of a batch.
pub struct Rows {
    /// Their numbers; `None` if these are all rows.
    picked: Option<UInt32Array>,
    rows: usize,
}

impl Rows {
    /// The rows with these numbers, of a batch with `all` rows.
    pub fn of_batch(numbers: Vec<u32>, all: usize) -> Self {
        Rows { rows: numbers.len(), picked: (numbers.len() < all).then(|| UInt32Array::from(numbers)) }
    }

    /// Those of `all` rows for which this is true.
    pub fn that(all: usize, is: impl Fn(usize) -> bool) -> Self {
        Rows::of_batch((0..all).filter(|row| is(*row)).map(narrow).collect(), all)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Their numbers in the batch.
    pub fn numbers(&self) -> impl Iterator<Item = usize> + '_ {
        let number = move |row: usize| self.picked.as_ref().map_or(row, |picked| picked.value(row) as usize);
        (0..self.rows).map(number)
    }

    /// Selects these rows of a column.
    ///
    /// # Errors
    /// If it has fewer rows than the batch.
    pub fn of(&self, column: &dyn Array) -> Result<ArrayRef> {
        match &self.picked {
            Some(rows) => pick(column, rows),
            None => Ok(column.slice(0, column.len())),
        }
    }

    /// The same for columns.
    ///
    /// # Errors
    /// As [`Rows::of`].
    pub fn of_columns(&self, columns: &Columns) -> Result<Columns> {
        columns.iter().map(|column| column.as_ref().map(|column| self.of(column.as_ref())).transpose()).collect()
    }

    /// The same for ends, unchanged.
    ///
    /// # Errors
    /// As [`Rows::of`].
    pub fn of_ends(&self, ends: &Ends) -> Result<Ends> {
        Ok(match ends {
            Ends::Rows(rows) => Ends::Rows(self.of(rows)?.as_primitive::<UInt64Type>().clone()),
            Ends::Keys(keys) => Ends::Keys(self.of(keys.as_ref())?),
        })
    }

    /// The same for edges.
    ///
    /// # Errors
    /// As [`Rows::of`].
    pub fn of_edges(&self, edges: &EdgeBatch) -> Result<EdgeBatch> {
        let relations = edges.relations.as_ref().map(|all| -> Result<Relations> {
            Ok(Relations { names: all.names.clone(), index: self.of(&all.index)?.as_primitive::<UInt32Type>().clone() })
        });
        let layers = edges.layers.as_ref().map(|(source, target)| Ok::<_, Error>((self.of(source)?, self.of(target)?)));
        Ok(EdgeBatch {
            relations: relations.transpose()?,
            layers: layers.transpose()?,
            directed: self.of_flags(edges.directed.as_ref())?,
            keys: edges.keys.as_ref().map(|keys| self.of(keys)).transpose()?,
            properties: self.of_columns(&edges.properties)?,
            ..EdgeBatch::between(edges.ty, self.of_ends(&edges.source)?, self.of_ends(&edges.target)?)
        })
    }

    /// The same for directions.
    ///
    /// # Errors
    /// As [`Rows::of`].
    pub fn of_flags(&self, flags: Option<&BooleanArray>) -> Result<Option<BooleanArray>> {
        flags.map(|flags| Ok(self.of(flags)?.as_boolean().clone())).transpose()
    }
}

/// The node type of the end of an edge at which a look-up starts.
pub(super) fn near(edge: &EdgeType, side: Side) -> usize {
    if side == Side::Out { edge.source } else { edge.target }
}

/// Groups the rows of a batch by type. There are `types` types; `type_of` returns the type of a row, or `None` for a row
/// that is left out. Types without rows are omitted.
///
/// # Errors
/// Returns the errors of `type_of`.
pub(super) fn rows_by_type(
    types: usize,
    rows: usize,
    type_of: impl Fn(usize) -> Result<Option<usize>>,
) -> Result<Vec<(usize, Rows)>> {
    let mut all: Vec<Vec<u32>> = vec![Vec::new(); types];
    for row in 0..rows {
        let Some(ty) = type_of(row)? else { continue };
        all.get_mut(ty).ok_or_else(|| Error::usage("a row of an unknown type"))?.push(narrow(row));
    }
    let some = all.into_iter().enumerate().filter(|(_, own)| !own.is_empty());
    Ok(some.map(|(ty, own)| (ty, Rows::of_batch(own, rows))).collect())
}
