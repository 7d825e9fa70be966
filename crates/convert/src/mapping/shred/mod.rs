//! A bundled source shown as its typed graph.

mod columns;
mod source;

use crate::narrow::narrow;
use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, StringArray, UInt32Array};
use arrow_select::take::take;
use isomorph_error::{Error, Kind, Result, Rule, Severity};
use isomorph_model::{
    Batch, Columns, Direction, EdgeBatch, Ends, KeyKind, LabelColumn, LabelVocabulary, NodeBatch, NodeId, Source,
};

use super::anew::Places;
use super::view::{node_rows_of_one, within};
use super::{Bundling, Slot};
use columns::columns_of;
pub(super) use columns::keys;
pub(crate) use columns::label_lists;

/// Data that its carry no longer describes.
pub static CARRY_FITS: Rule = Rule {
    id: "CARRY-FITS",
    severity: Severity::Error,
    says: "every name, relation and value fits the types that travel beside the data",
    remedy: "use --carry ignore, to read the data as what it is",
};

/// Shows one table of nodes and one of edges as a typed source.
pub struct Shredded {
    inner: Arc<dyn Source>,
    bundling: Bundling,
    bases: Vec<u64>,
    /// Where the nodes of each type lie, where that was looked up and is not told by the numbers of rows.
    places: Option<Places>,
    /// For each relation, the edge types that have it.
    relations: HashMap<String, Vec<usize>>,
    /// The edge type of all other relations, if there is one.
    any_relation: Vec<usize>,
}

impl Shredded {
    /// Shows `inner` as `bundling.typed`.
    ///
    /// # Errors
    /// When the source is no bundled graph.
    pub fn new(inner: Arc<dyn Source>, bundling: &Bundling) -> Result<Self> {
        if inner.graph().nodes.len() != 1 || inner.graph().edges.len() != 1 {
            return Err(Error::usage("the mapping is of another graph"));
        }
        let mut bundling = bundling.clone();
        node_rows_of_one(&mut bundling.typed, inner.graph().node_rows());
        let mut bases = Vec::new();
        let mut next = 0u64;
        for ty in &bundling.typed.nodes {
            bases.push(next);
            next = next.saturating_add(ty.rows.unwrap_or_default());
        }
        let mut relations: HashMap<String, Vec<usize>> = HashMap::new();
        let mut any_relation = Vec::new();
        for (ty, slots) in bundling.edges.iter().enumerate() {
            match slots.properties.contains(&Slot::Relation) {
                true => any_relation.push(ty),
                false => relations.entry(slots.relation.clone()).or_default().push(ty),
            }
        }
        // The inner columns stand where the source has them, not where the record says.
        bundling.bundled = inner.graph().clone();
        Ok(Shredded { inner, bundling, bases, places: None, relations, any_relation })
    }

    /// The same with numbers of rows and places of nodes that are looked up in the keys, where there are several types.
    ///
    /// # Errors
    /// When keys cannot be read, or one is that of no type.
    pub fn placed(mut self, threads: usize) -> Result<Self> {
        if self.bundling.nodes.len() > 1 {
            let type_of = |name: &str| self.type_of(name).ok_or_else(|| self.stranger(name));
            let places = Places::of(self.inner.as_ref(), threads, type_of)?;
            places.count(&mut self.bundling.typed.nodes);
            self.places = Some(places);
        }
        Ok(self)
    }

    /// Whether nodes of several types are known to alternate.
    pub(in crate::mapping) fn alternate(&self) -> bool {
        self.places.as_ref().is_some_and(Places::alternate)
    }

    /// The type of a name: the one whose prefix it has.
    fn type_of(&self, name: &str) -> Option<usize> {
        match self.bundling.nodes.as_slice() {
            [only] => name.starts_with(&only.prefix).then_some(0),
            many => {
                let prefix = name.find('/').and_then(|slash| name.get(..=slash))?;
                many.iter().position(|slots| slots.prefix == prefix)
            }
        }
    }

    fn stranger(&self, name: &str) -> Error {
        Error::broken(&CARRY_FITS, format!("{name:?} belongs to none of the node types"))
    }

    /// The bundled name of a node of type `ty`, or its row there.
    fn bundled_id(&self, ty: usize, node: NodeId<'_>) -> Result<BundledId> {
        let (Some(slots), Some(typed)) = (self.bundling.nodes.get(ty), self.bundling.typed.nodes.get(ty)) else {
            return Err(Error::usage("no such node type"));
        };
        match node {
            NodeId::Key(key) => Ok(BundledId::Name(format!("{}{key}", slots.prefix))),
            NodeId::Row(row) if typed.key.kind == KeyKind::Row => Ok(BundledId::Name(format!("{}{row}", slots.prefix))),
            NodeId::Row(row) => {
                if let Some(places) = &self.places {
                    let missing = || Error::new(Kind::NotFound, format!("there is no row {row} of {}", typed.name));
                    return places.at(ty, row).map(BundledId::Row).ok_or_else(missing);
                }
                within(&self.bundling.typed.nodes, ty, node)?;
                Ok(BundledId::Row(self.bases.get(ty).copied().unwrap_or_default().saturating_add(row)))
            }
        }
    }

    /// Nodes of all types, or of one.
    fn nodes(
        &self,
        batch: &NodeBatch,
        only: Option<usize>,
        take_batch: &mut dyn FnMut(Batch) -> Result<()>,
    ) -> Result<()> {
        let names = batch.keys.as_ref().and_then(|keys| keys.as_string_opt::<i32>());
        let names = names.ok_or_else(|| Error::unsupported("bundled nodes without text names"))?;
        let mut row = 0;
        while row < batch.rows {
            let ty = self.type_of(names.value(row)).ok_or_else(|| self.stranger(names.value(row)))?;
            let mut end = row + 1;
            if let Some(slots) = self.bundling.nodes.get(ty) {
                let same = |name: &str| self.bundling.nodes.len() == 1 || name.starts_with(&slots.prefix);
                while end < batch.rows && same(names.value(end)) {
                    end += 1;
                }
            }
            if only.is_none_or(|only| only == ty) {
                take_batch(Batch::Nodes(self.run_of_nodes(batch, names, ty, row, end)?))?;
            }
            row = end;
        }
        Ok(())
    }

    fn run_of_nodes(
        &self,
        batch: &NodeBatch,
        names: &StringArray,
        ty: usize,
        from: usize,
        to: usize,
    ) -> Result<NodeBatch> {
        let (Some(slots), Some(node_type)) = (self.bundling.nodes.get(ty), self.bundling.typed.nodes.get(ty)) else {
            return Err(Error::usage("no such node type"));
        };
        let rows = to - from;
        let names = names.slice(from, rows);
        let base = self.bases.get(ty).copied().unwrap_or_default();
        let at = batch.start + from as u64;
        let mut start = match &self.places {
            Some(places) => places.row(at).ok_or_else(|| Error::malformed("a node that was not there before"))?,
            None => at.saturating_sub(base),
        };
        let keys = keys(&slots.prefix, &node_type.key, &names)?;
        let keys = match (&keys, node_type.key.kind) {
            (Ends::Rows(numbers), KeyKind::Row) => {
                // Where several types lie in one table and their places were not looked up, the numbers tell the rows.
                if self.places.is_none() && self.bundling.nodes.len() > 1 {
                    start = numbers.values().first().copied().unwrap_or(start);
                }
                in_order(numbers.values(), start)?;
                None
            }
            (Ends::Keys(keys), _) => Some(Arc::clone(keys)),
            (Ends::Rows(_), _) => None,
        };
        let columns = isomorph_model::batch::slice_columns(&batch.properties, from, rows);
        let inner = self.bundling.bundled.nodes.first().map(|ty| ty.properties.as_slice()).unwrap_or_default();
        let of_slot = batch.labels.as_ref().filter(|_| slots.properties.contains(&Slot::Labels));
        let of_slot = of_slot.map(|labels| label_lists(&labels.slice(from, rows)));
        let (properties, _) =
            columns_of(inner, &columns, &node_type.properties, &slots.properties, None, of_slot, rows)?;
        let labels = match node_type.labels {
            LabelVocabulary::None => None,
            _ => batch.labels.as_ref().map(|labels| self.labels(ty, &labels.slice(from, rows))),
        };
        Ok(NodeBatch { ty, start, numbers: None, rows, keys, labels, properties })
    }

    fn labels(&self, ty: usize, labels: &LabelColumn) -> LabelColumn {
        let Some(slots) = self.bundling.nodes.get(ty) else { return labels.clone() };
        labels.map_sets(|names| {
            let kept = names.into_iter().filter(|name| slots.label.as_deref() != Some(*name));
            kept.map(|name| {
                let renamed = slots.labels.iter().find(|(_, bundled)| bundled == name);
                renamed.map_or_else(|| name.to_owned(), |(typed, _)| typed.clone())
            })
            .collect()
        })
    }

    /// Edges of all types, or of one.
    fn edges(
        &self,
        batch: &EdgeBatch,
        only: Option<usize>,
        take_batch: &mut dyn FnMut(Batch) -> Result<()>,
    ) -> Result<()> {
        let Some(relations) = &batch.relations else {
            return Err(Error::unsupported("bundled edges without relations"));
        };
        let (sources, targets) = (self.names_of(&batch.source)?, self.names_of(&batch.target)?);
        let type_of =
            |names: Option<&StringArray>, row: usize| names.map_or(Some(0), |names| self.type_of(names.value(row)));
        let candidates: Vec<&[usize]> = relations
            .names
            .iter()
            .map(|name| self.relations.get(name.unwrap_or_default()).unwrap_or(&self.any_relation).as_slice())
            .collect();
        let mut rows: Vec<Vec<u32>> = vec![Vec::new(); self.bundling.edges.len()];
        for row in 0..batch.rows {
            let relation = relations.index.value(row) as usize;
            let ty = match candidates.get(relation).copied().unwrap_or_default() {
                [only] => *only,
                many => {
                    let ends = (type_of(sources, row), type_of(targets, row));
                    let fits = |ty: &&usize| {
                        let typed = self.bundling.typed.edges.get(**ty);
                        typed.is_some_and(|typed| ends == (Some(typed.source), Some(typed.target)))
                    };
                    *many.iter().find(fits).ok_or_else(|| {
                        let name = relations.names.value(relation);
                        Error::broken(&CARRY_FITS, format!("relation {name:?} belongs to none of the edge types"))
                    })?
                }
            };
            if let Some(rows) = rows.get_mut(ty) {
                rows.push(narrow(row));
            }
        }
        for (ty, rows) in rows.into_iter().enumerate() {
            if rows.is_empty() || only.is_some_and(|only| only != ty) {
                continue;
            }
            take_batch(Batch::Edges(self.edges_of(batch, ty, rows)?))?;
        }
        Ok(())
    }

    /// Ends as names; nothing where they are rows, which only the rows of the one node type can be.
    fn names_of<'a>(&self, ends: &'a Ends) -> Result<Option<&'a StringArray>> {
        match ends {
            Ends::Rows(_) if self.bundling.nodes.len() == 1 => Ok(None),
            Ends::Rows(_) => Err(Error::unsupported("bundled edges without names")),
            Ends::Keys(keys) => match keys.as_string_opt::<i32>() {
                Some(names) => Ok(Some(names)),
                None => Err(Error::unsupported("bundled edges without text names")),
            },
        }
    }

    fn edges_of(&self, batch: &EdgeBatch, ty: usize, rows: Vec<u32>) -> Result<EdgeBatch> {
        let (Some(slots), Some(edge_type)) = (self.bundling.edges.get(ty), self.bundling.typed.edges.get(ty)) else {
            return Err(Error::usage("no such edge type"));
        };
        let count = rows.len();
        let picked = (count < batch.rows).then(|| UInt32Array::from(rows));
        let pick = |array: &dyn Array| -> Result<ArrayRef> {
            match &picked {
                Some(rows) => take(array, rows, None).map_err(|error| Error::malformed(error.to_string())),
                None => Ok(array.slice(0, array.len())),
            }
        };
        let end = |ends: &Ends, node: usize| -> Result<Ends> {
            let names = match ends {
                Ends::Rows(rows) => return Ok(Ends::Rows(pick(rows)?.as_primitive::<UInt64Type>().clone())),
                Ends::Keys(names) => names,
            };
            let (Some(slots), Some(node_type)) = (self.bundling.nodes.get(node), self.bundling.typed.nodes.get(node))
            else {
                return Err(Error::usage("no such node type"));
            };
            keys(&slots.prefix, &node_type.key, pick(names)?.as_string::<i32>())
        };
        let columns: Columns = batch
            .properties
            .iter()
            .map(|column| column.as_ref().map(|column| pick(column.as_ref())).transpose())
            .collect::<Result<_>>()?;
        let inner = self.bundling.bundled.edges.first().map(|ty| ty.properties.as_slice()).unwrap_or_default();
        let marker = slots.directed.as_deref().filter(|_| edge_type.direction != Direction::Directed);
        let of_slot = batch.relations.as_ref().filter(|_| slots.properties.contains(&Slot::Relation));
        let of_slot = of_slot.map(|relations| {
            let index = pick(&relations.index)?;
            let names: StringArray = relations.names.iter().map(|name| Some(name.unwrap_or_default())).collect();
            take(&names, &index, None).map_err(|error| Error::malformed(error.to_string()))
        });
        let of_slot = of_slot.transpose()?;
        let (properties, directed) =
            columns_of(inner, &columns, &edge_type.properties, &slots.properties, marker, of_slot, count)?;
        Ok(EdgeBatch {
            ty,
            rows: count,
            relations: None,
            source: end(&batch.source, edge_type.source)?,
            target: end(&batch.target, edge_type.target)?,
            layers: None,
            directed: directed.filter(|_| edge_type.direction == Direction::PerRow),
            keys: None,
            properties,
        })
    }
}

/// Makes sure that nodes which are known by their rows have the numbers of these rows, which names and ends of edges state.
///
/// # Errors
/// [`CARRY_FITS`] when somebody has moved them, or taken some out.
pub(super) fn in_order(numbers: &[u64], start: u64) -> Result<()> {
    match numbers.iter().zip(start..).find(|(number, row)| *number != row) {
        None => Ok(()),
        Some((number, row)) => {
            let what = format!("numbered nodes are out of order: node {number} stands where node {row} is expected");
            Err(Error::broken(&CARRY_FITS, what))
        }
    }
}

/// A node of the one table.
enum BundledId {
    Name(String),
    Row(u64),
}
