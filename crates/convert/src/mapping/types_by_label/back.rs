//! Shows a graph of several node types as a graph of one.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, Int32Array, UInt64Array};
use isomorph_error::{Error, Kind, Result};
use isomorph_model::{
    About, EdgeBatch, EndForm, Ends, Graph, NodeBatch, NodeId, Part, Progress, Request, Side, Source, Tables,
};

use super::{By, Parting, labels};
use crate::counted::node_rows;
use crate::mapping::CARRY_FITS;
use crate::mapping::declared;
use crate::mapping::view::{edges_as, near, of_types, rows_as};
use crate::progress::Silent;
use crate::read_once::ReadOnce;
use isomorph_dataset::must_exist;

/// Shows node types as the values of a property, or as labels.
pub struct Unparted {
    inner: Arc<dyn Source>,
    record: Parting,
    shown: Graph,
    /// The first row of each node type, and the end of the last: counted on first use, if nothing states it.
    bases: ReadOnce<Vec<u64>>,
    /// Whether nodes have row numbers: if that costs nothing, and if edges refer to rows.
    by_row: bool,
    /// The key that was looked up last, and the type of its node: it is requested once for each edge type and side.
    home: Mutex<Option<(String, usize)>>,
}

impl Unparted {
    /// Shows `inner`, which is `record.typed`, as `record.single`. Reads nothing.
    ///
    /// # Errors
    /// Returns [`CARRY_FITS`] if types or columns of the record are missing.
    pub fn new(inner: Arc<dyn Source>, record: &Parting) -> Result<Self> {
        let inner = declared(inner, &record.typed)?;
        let found = inner.graph();
        let mut shown = record.single.clone();
        shown.nodes.iter_mut().for_each(|ty| ty.rows = found.node_rows());
        for (at, ty) in shown.edges.iter_mut().enumerate() {
            let rows = found.edges.iter().zip(&record.edges).filter(|(_, of)| **of == at).map(|(part, _)| part.rows);
            ty.rows = rows.sum();
        }
        let by_row = found.nodes.iter().all(|ty| ty.rows.is_some())
            || (0..found.edges.len()).any(|ty| inner.end_form(ty) == EndForm::Rows);
        let (record, bases) = (record.clone(), ReadOnce::default());
        Ok(Unparted { inner, record, shown, bases, by_row, home: Mutex::new(None) })
    }

    /// The first row of each node type, and the end of the last.
    fn bases(&self, threads: usize, progress: &dyn Progress) -> Result<&[u64]> {
        let read = || {
            let (mut bases, mut next) = (vec![0], 0u64);
            for rows in node_rows(self.inner.as_ref(), threads, progress)? {
                next = next.saturating_add(rows);
                bases.push(next);
            }
            Ok(bases)
        };
        self.bases.get(read).map(Vec::as_slice)
    }

    /// The first row of a node type.
    fn base(&self, ty: usize) -> Result<u64> {
        self.bases(1, &Silent)?.get(ty).copied().ok_or_else(|| Error::usage("no such node type"))
    }

    fn nodes(&self, batch: NodeBatch) -> Result<NodeBatch> {
        let misfit = || Error::broken(&CARRY_FITS, "the types of the data differ from those in the sidecar");
        let (properties, labels) = match &self.record.by {
            By::Property { property, values } => {
                let column: ArrayRef = match values.get(batch.ty).ok_or_else(misfit)? {
                    Some(value) => Arc::new(Int32Array::from_value(*value, batch.rows)),
                    None => Arc::new(Int32Array::new_null(batch.rows)),
                };
                let mut properties = batch.properties;
                properties.insert((*property).min(properties.len()), Some(column));
                (properties, batch.labels)
            }
            By::Label { labels, columns } => {
                let own = labels.get(batch.ty).ok_or_else(misfit)?;
                let mut properties = vec![None; self.shown.nodes.first().map_or(0, |ty| ty.properties.len())];
                for (at, column) in columns.get(batch.ty).ok_or_else(misfit)?.iter().zip(batch.properties) {
                    *properties.get_mut(*at).ok_or_else(misfit)? = column;
                }
                let labels = match own {
                    Some(own) => Some(labels::with(batch.labels.as_ref(), own, batch.rows)),
                    None => batch.labels,
                };
                (properties, labels)
            }
        };
        let base = if self.by_row { self.base(batch.ty)? } else { 0 };
        let start = base.saturating_add(batch.start);
        Ok(NodeBatch { keys: batch.keys, labels, properties, ..NodeBatch::of(0, start, batch.rows) })
    }

    fn edges(&self, batch: EdgeBatch) -> Result<EdgeBatch> {
        let (Some(of), Some(ty)) = (self.record.edges.get(batch.ty), self.record.typed.edges.get(batch.ty)) else {
            return Err(Error::usage("no such edge type"));
        };
        let ends = |ends: Ends, node: usize| -> Result<Ends> {
            let Ends::Rows(rows) = ends else { return Ok(ends) };
            let base = self.base(node)?;
            let rows = rows.values().iter().map(|row| row.saturating_add(base));
            Ok(Ends::Rows(UInt64Array::from_iter_values(rows)))
        };
        let (source, target) = (ends(batch.source, ty.source)?, ends(batch.target, ty.target)?);
        Ok(EdgeBatch { ty: *of, source, target, ..batch })
    }

    /// The type of the node in this row, and its row there.
    fn place_of(&self, row: u64) -> Result<(usize, u64)> {
        let bases = self.bases(1, &Silent)?;
        let missing = || Error::new(Kind::NotFound, format!("there is no node in row {row}"));
        if bases.last().is_none_or(|all| row >= *all) {
            return Err(missing());
        }
        let ty = bases.partition_point(|base| *base <= row).checked_sub(1).ok_or_else(missing)?;
        Ok((ty, row - bases.get(ty).copied().unwrap_or_default()))
    }

    /// The type that has a node with this key. Edges are looked up to find it; if a type has none, its keys are read.
    fn home_of(&self, key: &str) -> Result<usize> {
        let known = self.home.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, home)) = known.filter(|(known, _)| known == key) {
            return Ok(home);
        }
        let has = |ty: usize| -> Result<bool> {
            let mut looks = self.inner.graph().edges.iter().enumerate().flat_map(|(at, edge)| {
                [Side::Out, Side::In]
                    .into_iter()
                    .filter(move |side| near(edge, *side) == ty)
                    .map(move |side| (at, side))
            });
            let found = match looks.next() {
                Some((edge, side)) => self.inner.neighbors(edge, NodeId::Key(key), side).map(|_| ()),
                None => must_exist(self.inner.as_ref(), ty, NodeId::Key(key)),
            };
            match found {
                Ok(()) => Ok(true),
                Err(error) if error.kind() == Kind::NotFound => Ok(false),
                Err(error) => Err(error),
            }
        };
        // A node belongs to one type. Types whose keys would be read come last.
        let graph = self.inner.graph();
        let has_edges = |ty: &usize| graph.edges.iter().any(|edge| edge.source == *ty || edge.target == *ty);
        let (quick, slow): (Vec<usize>, Vec<usize>) = (0..graph.nodes.len()).partition(has_edges);
        for ty in quick.into_iter().chain(slow) {
            if has(ty)? {
                *self.home.lock().unwrap_or_else(PoisonError::into_inner) = Some((key.to_owned(), ty));
                return Ok(ty);
            }
        }
        Err(Error::new(Kind::NotFound, format!("there is no node {key:?}")))
    }

    /// The edge types that make up one of the single graph.
    fn parts_of(&self, of: usize) -> impl Iterator<Item = usize> + '_ {
        self.record.edges.iter().enumerate().filter(move |(_, own)| **own == of).map(|(at, _)| at)
    }
}

impl Source for Unparted {
    fn graph(&self) -> &Graph {
        &self.shown
    }

    fn prepare(&self, threads: usize, progress: &dyn Progress) -> Result<()> {
        self.inner.prepare(threads, progress)?;
        if self.by_row { self.bases(threads, progress).map(|_| ()) } else { Ok(()) }
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let tables: Vec<Tables> = match request.tables {
            Tables::Nodes(_) => vec![Tables::AllNodes],
            Tables::NodeKeys(_) => (0..self.record.typed.nodes.len()).map(Tables::NodeKeys).collect(),
            Tables::Edges(of) => self.parts_of(of).map(Tables::Edges).collect(),
            Tables::EdgeEnds(of) => self.parts_of(of).map(Tables::EdgeEnds).collect(),
            other => vec![other],
        };
        let mut parts: Vec<Box<dyn Part + '_>> = Vec::new();
        for tables in tables {
            let inner = self.inner.scan(&request.for_tables(tables))?;
            parts.extend(rows_as(inner, |nodes| self.nodes(nodes), |edges| self.edges(edges)));
        }
        Ok(parts)
    }

    fn end_form(&self, of: usize) -> EndForm {
        let rows = self.parts_of(of).all(|ty| self.inner.end_form(ty) == EndForm::Rows);
        if rows { EndForm::Rows } else { EndForm::Keys }
    }

    /// The edges of the node in the type that has it: in another type, the same row or key is another node, or none.
    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        let (home, node) = match node {
            NodeId::Row(row) => self.place_of(row).map(|(home, row)| (home, NodeId::Row(row)))?,
            NodeId::Key(key) => (self.home_of(key)?, node),
        };
        let is_near = move |ty: &usize| self.record.typed.edges.get(*ty).is_some_and(|ty| near(ty, side) == home);
        let types = self.parts_of(edge).filter(is_near);
        Ok(edges_as(of_types(self.inner.as_ref(), types, node, side)?, |batch| self.edges(batch)))
    }

    fn about(&self) -> About {
        let mut about = self.inner.about();
        // The layouts of the parts are those of the whole.
        about.edge_layouts.dedup();
        about.edge_layouts.truncate(self.shown.edges.len());
        about
    }
}
