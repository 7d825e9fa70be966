//! Shows one table of nodes and one of edges as several types.
//!
//! The prefix of a key identifies the type of a node; the relation identifies the type of an edge, together with the
//! types of its ends if several types have the relation.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::{Int64Builder, StringBuilder, UInt64Builder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_schema::DataType;
use isomorph_error::{Error, Kind, Result};
use isomorph_model::part::shown;
use isomorph_model::{
    About, Batch, Cost, EdgeBatch, EndForm, Ends, Graph, Key, KeyKind, Narrowing, NodeBatch, NodeId, Part, Predicate,
    Relation, Relations, Request, Set, Side, Source, Tables,
};

use super::columns::Stored;
use super::{CARRY_FITS, Layout};
use crate::mapping::arrays::{relations_of, same_relation};
use crate::mapping::forward;
use crate::mapping::narrowed::{Asked, TypeByType, alike, only};
use crate::mapping::view::{Rows, edges_shown, near, one_table, properties_of, rows_by_type, within};
use crate::mapping::without_row_counts::Places;

/// Shows one table of nodes and one of edges as a typed graph.
pub struct Divided {
    inner: Arc<dyn Source>,
    layout: Layout,
    /// Where the source has the columns of the two tables.
    of_nodes: Stored,
    of_edges: Stored,
    bases: Vec<u64>,
    /// The positions of the nodes of each type, if they were determined from the keys instead of the row counts.
    places: Option<Places>,
    /// For each relation, the edge types that have it.
    relations: HashMap<String, Vec<usize>>,
    /// The edge type of all other relations, if there is one.
    any_relation: Vec<usize>,
}

impl Divided {
    /// Shows `inner`, whose columns are found by name, as `layout.typed`. Reads nothing.
    ///
    /// # Errors
    /// If there is not one table of nodes and one of edges. Returns [`CARRY_FITS`] if the source has hyperedges, or lacks
    /// a column that identifies types.
    pub fn of(inner: Arc<dyn Source>, mut layout: Layout) -> Result<Self> {
        let found = inner.graph();
        let ([node], [edge]) = (found.nodes.as_slice(), found.edges.as_slice()) else {
            return Err(Error::usage("the mapping is of another graph"));
        };
        if let Some(other) = found.hyperedges.first() {
            return Err(Error::broken(&CARRY_FITS, format!("type {} is not in the sidecar", other.name)));
        }
        let of_nodes = Stored::of(properties_of(&layout.merged, Tables::Nodes(0)), &node.properties);
        let of_edges = Stored::of(properties_of(&layout.merged, Tables::Edges(0)), &edge.properties);
        if [layout.relation, layout.unweighted()].into_iter().flatten().any(|at| of_edges.place(at).is_none()) {
            return Err(Error::broken(&CARRY_FITS, "the attribute with the types of edges is missing"));
        }
        // A single type has as many nodes as are stored: nodes that only edges imply may have been added after those
        // that the record counts.
        if let ([ty], false) = (layout.typed.nodes.as_mut_slice(), layout.nodes.is_empty())
            && (ty.implied || node.rows.is_some())
        {
            ty.rows = node.rows;
        }
        let (mut bases, mut next) = (Vec::new(), 0u64);
        for ty in &layout.typed.nodes {
            bases.push(next);
            next = next.saturating_add(ty.rows.unwrap_or_default());
        }
        let mut relations: HashMap<String, Vec<usize>> = HashMap::new();
        let mut any_relation = Vec::new();
        for (number, slots) in layout.edges.iter().enumerate() {
            match layout.has_relations_in_column(number) {
                true => any_relation.push(number),
                false => relations.entry(slots.relation.clone()).or_default().push(number),
            }
        }
        Ok(Divided { inner, layout, of_nodes, of_edges, bases, places: None, relations, any_relation })
    }

    /// The same with row counts and positions of nodes that are determined from the keys, if there are several types.
    ///
    /// # Errors
    /// If keys cannot be read, or a key belongs to no type.
    pub fn placed(mut self, threads: usize) -> Result<Self> {
        if self.layout.typed.nodes.len() > 1 {
            let places = Places::of(self.inner.as_ref(), threads, |name| self.type_of(name))?;
            places.count(&mut self.layout.typed.nodes);
            self.places = Some(places);
        }
        Ok(self)
    }

    /// Whether nodes of several types are known to alternate.
    pub(in crate::mapping) fn alternate(&self) -> bool {
        self.places.as_ref().is_some_and(Places::alternate)
    }

    /// The type of a name: the one whose prefix it has.
    fn type_of(&self, name: &str) -> Result<usize> {
        let found = match self.layout.typed.nodes.len() {
            1 => name.starts_with(self.layout.prefix(0).unwrap_or_default()).then_some(0),
            many => {
                let prefix = name.find('/').and_then(|slash| name.get(..=slash));
                prefix.and_then(|prefix| (0..many).find(|ty| self.layout.prefix(*ty) == Some(prefix)))
            }
        };
        found.ok_or_else(|| Error::broken(&CARRY_FITS, format!("{name:?} does not belong to any node type")))
    }

    /// Nodes of all types, or of one.
    fn nodes(&self, batch: &NodeBatch, only: Option<usize>, give: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        if self.layout.keeps_nodes() {
            return give(Batch::Nodes(batch.clone()));
        }
        let names = batch.keys.as_ref().and_then(|keys| keys.as_string_opt::<i32>());
        let names = names.ok_or_else(|| Error::unsupported("nodes must have text keys"))?;
        let mut row = 0;
        while row < batch.rows {
            let ty = self.type_of(names.value(row))?;
            let prefix = self.layout.prefix(ty).unwrap_or_default();
            let end = match self.layout.typed.nodes.len() {
                1 => batch.rows,
                _ => (row + 1..batch.rows).find(|next| !names.value(*next).starts_with(prefix)).unwrap_or(batch.rows),
            };
            if only.is_none_or(|only| only == ty) {
                give(Batch::Nodes(self.run_of_nodes(batch, names, ty, row..end)?))?;
            }
            row = end;
        }
        Ok(())
    }

    fn run_of_nodes(&self, batch: &NodeBatch, names: &StringArray, ty: usize, run: Range<usize>) -> Result<NodeBatch> {
        let own = self.layout.typed.nodes.get(ty).ok_or_else(|| Error::usage("no such node type"))?;
        let (at, rows) = (batch.start + run.start as u64, run.len());
        let mut start = match &self.places {
            Some(places) => places
                .row(at)
                .ok_or_else(|| Error::malformed("the data has changed while it was read: a node was added"))?,
            None => at.saturating_sub(self.bases.get(ty).copied().unwrap_or_default()),
        };
        let keys = match keys(self.layout.prefix(ty).unwrap_or_default(), &own.key, &names.slice(run.start, rows))? {
            Ends::Rows(numbers) => {
                // If several types share one table and their positions were not determined, the row number is part of
                // the name.
                if self.places.is_none() && self.layout.typed.nodes.len() > 1 {
                    start = numbers.values().first().copied().unwrap_or(start);
                }
                in_order(numbers.values(), start)?;
                None
            }
            Ends::Keys(keys) => Some(keys),
        };
        let (properties, labels) = self.layout.nodes_divided(ty, &self.of_nodes, batch, run)?;
        Ok(NodeBatch { keys, labels, properties, ..NodeBatch::of(ty, start, rows) })
    }

    /// Edges of all types, or of one.
    fn edges(&self, batch: &EdgeBatch, only: Option<usize>, give: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        let relations = self.relations_of(batch)?;
        let (sources, targets) = (self.names_of(&batch.source)?, self.names_of(&batch.target)?);
        let type_of =
            |names: Option<&StringArray>, row: usize| names.map_or(Ok(0), |names| self.type_of(names.value(row)));
        let candidates: Vec<&[usize]> = relations
            .names
            .iter()
            .map(|name| self.relations.get(name.unwrap_or_default()).unwrap_or(&self.any_relation).as_slice())
            .collect();
        let type_of_edge = |row: usize| -> Result<Option<usize>> {
            let relation = relations.index.value(row) as usize;
            let candidates = match candidates.get(relation).copied().unwrap_or_default() {
                [only] => return Ok(Some(*only)),
                candidates => candidates,
            };
            let joins = match candidates.is_empty() {
                true => None,
                false => Some((type_of(sources, row)?, type_of(targets, row)?)),
            };
            let fits = |ty: &&usize| {
                let typed = self.layout.typed.edges.get(**ty);
                typed.is_some_and(|typed| joins == Some((typed.source, typed.target)))
            };
            candidates.iter().find(fits).copied().map(Some).ok_or_else(|| {
                let name = relations.names.value(relation);
                Error::broken(&CARRY_FITS, format!("relation {name:?} does not belong to any edge type"))
            })
        };
        for (ty, rows) in rows_by_type(self.layout.typed.edges.len(), batch.rows, type_of_edge)? {
            if only.is_none_or(|only| only == ty) {
                give(Batch::Edges(self.edges_of(batch, ty, &rows)?))?;
            }
        }
        Ok(())
    }

    /// The relations of edges, if these are known.
    fn relations_of<'b>(&self, batch: &'b EdgeBatch) -> Result<Cow<'b, Relations>> {
        if self.layout.names_relations() {
            let relations = batch.relations.as_ref().map(Cow::Borrowed);
            return relations.ok_or_else(|| Error::unsupported("edges that do not name their relations"));
        }
        if let [only] = self.layout.edges.as_slice() {
            return Ok(Cow::Owned(same_relation(&only.relation, batch.rows)));
        }
        let relations = self.of_edges.column(&batch.properties, self.layout.relation);
        let relations = relations.filter(|relations| relations.as_string_opt::<i32>().is_some());
        let relations = relations.ok_or_else(|| Error::broken(&CARRY_FITS, "edges do not state their type"))?;
        relations_of(relations).map(Cow::Owned)
    }

    /// Whether the ends of an edge and its relation come where only ends are asked for.
    fn ends_tell_types(&self) -> bool {
        self.layout.names_relations() || self.layout.edges.len() == 1
    }

    /// Ends as names; `None` if they are rows, which is possible only for a single node type.
    fn names_of<'a>(&self, ends: &'a Ends) -> Result<Option<&'a StringArray>> {
        match ends {
            _ if self.layout.keeps_nodes() => Ok(None),
            Ends::Rows(_) if self.layout.typed.nodes.len() == 1 => Ok(None),
            Ends::Rows(_) => Err(Error::unsupported("edges between several node types must refer to nodes by name")),
            Ends::Keys(keys) => match keys.as_string_opt::<i32>() {
                Some(names) => Ok(Some(names)),
                None => Err(Error::unsupported("the ends of edges must be text")),
            },
        }
    }

    fn edges_of(&self, batch: &EdgeBatch, ty: usize, rows: &Rows) -> Result<EdgeBatch> {
        let own = self.layout.typed.edges.get(ty).ok_or_else(|| Error::usage("no such edge type"))?;
        let end = |ends: &Ends, node: usize| -> Result<Ends> {
            let key =
                self.layout.typed.nodes.get(node).map(|ty| &ty.key).ok_or_else(|| Error::usage("no such node type"))?;
            match (rows.of_ends(ends)?, self.layout.prefix(node)) {
                (Ends::Keys(names), Some(prefix)) => keys(prefix, key, names.as_string::<i32>()),
                (ends, _) => Ok(ends),
            }
        };
        let (properties, directed) = self.layout.edges_divided(ty, &self.of_edges, batch, rows)?;
        Ok(EdgeBatch {
            directed,
            properties,
            ..EdgeBatch::between(ty, end(&batch.source, own.source)?, end(&batch.target, own.target)?)
        })
    }

    /// Whether the one table calls the nodes of a type by the keys that the type has.
    fn keeps_keys(&self, ty: usize) -> bool {
        let stored = self.inner.graph().nodes.first().map(|ty| &ty.key);
        let own = self.layout.typed.nodes.get(ty).map(|ty| &ty.key);
        let is_same =
            own.zip(stored).is_some_and(|(own, stored)| (own.kind, &own.data_type) == (stored.kind, &stored.data_type));
        is_same && self.layout.typed.nodes.len() == 1 && self.layout.prefix(ty).is_none_or(str::is_empty)
    }

    /// What the one table calls a column of a node type, if it has the same values and rows may be left out.
    fn column_of_nodes(&self, ty: usize, asked: Asked<'_>) -> Option<String> {
        let (own, stored) = (self.layout.typed.nodes.get(ty)?, self.inner.graph().nodes.first()?);
        // Rows that are left out are not counted, where positions mean something.
        if own.ordered || own.key.kind == KeyKind::Row || self.places.is_some() {
            return None;
        }
        match asked {
            Asked::Name(Narrowing::KEY) if self.keeps_keys(ty) => Some(Narrowing::KEY.to_owned()),
            Asked::Name(_) => None,
            Asked::Property(at) => alike(
                own.properties.get(at)?,
                stored.properties.get(self.layout.place_in_nodes(ty, &self.of_nodes, at)?)?,
            ),
        }
    }

    /// The same of an edge type.
    fn column_of_edges(&self, ty: usize, asked: Asked<'_>) -> Option<String> {
        let (own, stored) = (self.layout.typed.edges.get(ty)?, self.inner.graph().edges.first()?);
        match asked {
            Asked::Name(name @ Narrowing::SOURCE) if self.keeps_keys(own.source) => Some(name.to_owned()),
            Asked::Name(name @ Narrowing::TARGET) if self.keeps_keys(own.target) => Some(name.to_owned()),
            Asked::Name(_) => None,
            Asked::Property(at) => alike(
                own.properties.get(at)?,
                stored.properties.get(self.layout.place_in_edges(ty, &self.of_edges, at)?)?,
            ),
        }
    }

    /// The edges of type `edge` that the one table has of the node.
    fn stored_neighbors(&self, ty: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        let own = self.layout.typed.nodes.get(ty).ok_or_else(|| Error::usage("no such node type"))?;
        let Some(prefix) = self.layout.prefix(ty) else { return self.inner.neighbors(0, node, side) };
        let missing = |node: String| Error::new(Kind::NotFound, format!("there is no {node}"));
        let by_key = |key: &str, node: String| {
            let found = self.inner.neighbors(0, NodeId::Key(&format!("{prefix}{key}")), side);
            // The error names the key as it was given, without the prefix.
            found.map_err(|error| if error.kind() == Kind::NotFound { missing(node) } else { error })
        };
        let row = match node {
            NodeId::Key(key) => return by_key(key, format!("node {key:?} of type {}", own.name)),
            NodeId::Row(row) if own.key.kind == KeyKind::Row => {
                return by_key(&row.to_string(), format!("row {row} of {}", own.name));
            }
            NodeId::Row(row) => row,
        };
        let row = match &self.places {
            Some(places) => places.at(ty, row).ok_or_else(|| missing(format!("row {row} of {}", own.name)))?,
            None => {
                within(&self.layout.typed.nodes, ty, node)?;
                self.bases.get(ty).copied().unwrap_or_default().saturating_add(row)
            }
        };
        self.inner.neighbors(0, NodeId::Row(row), side)
    }
}

impl TypeByType for Divided {
    fn sides(&self) -> (&Graph, &dyn Source) {
        (&self.layout.typed, self.inner.as_ref())
    }

    fn stored_tables(&self, tables: Tables) -> Tables {
        match tables {
            Tables::Nodes(_) => Tables::Nodes(0),
            Tables::NodeKeys(_) => Tables::NodeKeys(0),
            Tables::EdgeEnds(_) if self.ends_tell_types() => Tables::EdgeEnds(0),
            Tables::Edges(_) | Tables::EdgeEnds(_) => Tables::Edges(0),
            other => other,
        }
    }

    fn stored_name(&self, tables: Tables, asked: Asked<'_>) -> Option<String> {
        match tables {
            Tables::Nodes(ty) | Tables::NodeKeys(ty) => self.column_of_nodes(ty, asked),
            Tables::Edges(ty) | Tables::EdgeEnds(ty) => self.column_of_edges(ty, asked),
            _ => None,
        }
    }

    fn stored_columns(&self, tables: Tables, wanted: &Narrowing) -> Option<Narrowing> {
        Some(match tables {
            Tables::Nodes(ty) | Tables::NodeKeys(ty) => self.layout.wanted_of_nodes(ty, &self.of_nodes, wanted),
            Tables::Edges(ty) | Tables::EdgeEnds(ty) => self.layout.wanted_of_edges(ty, &self.of_edges, wanted),
            _ => Narrowing::least(),
        })
    }

    /// The relation of an edge type. An absent relation is the empty one.
    fn own_condition(&self, tables: Tables) -> Option<Predicate> {
        let (Tables::Edges(ty) | Tables::EdgeEnds(ty)) = tables else { return None };
        let slots = self.layout.edges.get(ty).filter(|slots| !slots.relation.is_empty())?;
        self.inner.graph().edges.first().filter(|stored| stored.relation == Relation::PerRow)?;
        let set = Set::of(&StringArray::from(vec![slots.relation.as_str()])).ok()?;
        Some(Predicate::In { column: Narrowing::RELATION.to_owned(), set })
    }
}

impl Source for Divided {
    forward!(inner: prepare);

    fn graph(&self) -> &Graph {
        &self.layout.typed
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        // There are only nodes and edges.
        if request.tables == Tables::Rest {
            return Ok(Vec::new());
        }
        let only = only(request.tables);
        let parts = self.inner.scan(&self.stored_request(request))?;
        let divided = |inner| {
            shown(inner, move |batch, take| match batch {
                Batch::Nodes(nodes) => self.nodes(&nodes, only, take),
                Batch::Edges(edges) => self.edges(&edges, only, take),
                // Groups that contain everything are not a part of the typed graph.
                _ if !self.layout.merged.groups.is_empty() => Ok(()),
                _ => Err(Error::unsupported("only nodes and edges can be divided into types")),
            })
        };
        Ok(parts.into_iter().map(divided).collect())
    }

    fn is_one_table(&self, _tables: Tables) -> bool {
        true
    }

    fn end_form(&self, ty: usize) -> EndForm {
        // For types without a key, names contain row numbers.
        let keyless = |node: usize| self.layout.is_keyless(node);
        match self.layout.typed.edges.get(ty) {
            Some(ty) if keyless(ty.source) && keyless(ty.target) => EndForm::Rows,
            _ if self.layout.typed.nodes.len() == 1 => self.inner.end_form(0),
            _ => EndForm::Keys,
        }
    }

    fn look_up_cost(&self, tables: Tables, column: &str) -> Cost {
        self.stored_cost(tables, column)
    }

    /// The edges of the node that the one table has, as far as they are of this type.
    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        let ty = self.layout.typed.edges.get(edge).ok_or_else(|| Error::usage("no such edge type"))?;
        let found = self.stored_neighbors(near(ty, side), node, side)?;
        Ok(edges_shown(found, move |batch, take| self.edges(batch, Some(edge), take)))
    }

    fn about(&self) -> About {
        one_table(self.inner.about(), self.layout.typed.edges.len())
    }
}

/// Keys from names: without the prefix, in the key's own type; rows if the type has no key.
fn keys(prefix: &str, key: &Key, names: &StringArray) -> Result<Ends> {
    let strip = |name: &str| -> Result<usize> {
        name.starts_with(prefix)
            .then_some(prefix.len())
            .ok_or_else(|| Error::broken(&CARRY_FITS, format!("{name:?} does not start with {prefix:?}")))
    };
    let number = |name: &str| -> Result<i128> {
        let text = name.get(strip(name)?..).unwrap_or_default();
        let number = text.parse::<i64>().map(i128::from).or_else(|_| text.parse::<u64>().map(i128::from));
        number.map_err(|_| Error::broken(&CARRY_FITS, format!("{name:?} does not contain a number")))
    };
    let range = || Error::broken(&CARRY_FITS, "a key is out of its type's range");
    let unsigned = || -> Result<_> {
        let mut keys = UInt64Builder::with_capacity(names.len());
        for name in names.iter().flatten() {
            keys.append_value(u64::try_from(number(name)?).map_err(|_| range())?);
        }
        Ok(keys.finish())
    };
    let array: ArrayRef = match (key.kind, &key.data_type) {
        (KeyKind::Row, _) => return Ok(Ends::Rows(unsigned()?)),
        (KeyKind::Int, DataType::UInt64) => Arc::new(unsigned()?),
        (KeyKind::Int, data_type) => {
            let mut keys = Int64Builder::with_capacity(names.len());
            for name in names.iter().flatten() {
                keys.append_value(i64::try_from(number(name)?).map_err(|_| range())?);
            }
            let options = arrow_cast::CastOptions { safe: false, ..Default::default() };
            arrow_cast::cast_with_options(&keys.finish(), data_type, &options).map_err(|_| range())?
        }
        _ if prefix.is_empty() => Arc::new(names.clone()),
        _ => {
            let mut keys = StringBuilder::with_capacity(names.len(), names.values().len());
            for name in names.iter().flatten() {
                keys.append_value(name.get(strip(name)?..).unwrap_or_default());
            }
            Arc::new(keys.finish())
        }
    };
    Ok(Ends::Keys(array))
}

/// Checks that the names of nodes without keys contain their row numbers, which edges refer to.
///
/// # Errors
/// Returns [`CARRY_FITS`] if nodes were moved or removed.
pub(in crate::mapping) fn in_order(numbers: &[u64], start: u64) -> Result<()> {
    match numbers.iter().zip(start..).find(|(number, row)| *number != row) {
        None => Ok(()),
        Some((number, row)) => {
            let what = format!("numbered nodes are out of order: expected node {row}, found node {number}");
            Err(Error::broken(&CARRY_FITS, what))
        }
    }
}
