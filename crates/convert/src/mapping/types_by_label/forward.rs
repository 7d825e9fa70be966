//! Shows a graph of one node type with several.

use std::collections::HashMap;
use std::sync::Arc;

use isomorph_error::{Error, Kind, Result};
use isomorph_model::label::{LabelBuilder, LabelColumn};
use isomorph_model::{
    About, Batch, Cost, EdgeBatch, EndForm, Graph, Narrowing, NodeBatch, NodeId, Part, Request, Side, Source, Tables,
};

use super::{By, Parting, labels};
use crate::mapping::view::{
    Asked, Rows, alike, columns_alone, edges_shown, near, one_table, properties_of, rows_by_type, with_filters,
};
use crate::mapping::{declared, forward};
use isomorph_model::part::shown;

/// Shows a graph with a node type for each value of a property, or each label.
pub struct Parted {
    inner: Arc<dyn Source>,
    record: Parting,
    /// Edge types by the one of the inner graph and the types of their ends.
    edges: HashMap<(usize, usize, usize), usize>,
}

impl Parted {
    /// Shows `inner`, which is `record.single`, as `record.typed`. Reads nothing.
    ///
    /// # Errors
    /// If it is not the graph of the record.
    pub fn new(inner: Arc<dyn Source>, record: &Parting) -> Result<Self> {
        let inner = declared(inner, &record.single)?;
        let edges = record.typed.edges.iter().zip(&record.edges).enumerate();
        let edges = edges.map(|(at, (ty, of))| ((*of, ty.source, ty.target), at)).collect();
        Ok(Parted { inner, record: record.clone(), edges })
    }

    /// Nodes of all types, or of one.
    fn nodes(&self, batch: &NodeBatch, only: Option<usize>, give: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        let types = self.record.types.of_nodes(batch)?;
        let type_of = |row: usize| {
            types.get(row).map(|ty| Some(usize::from(*ty))).ok_or_else(|| Error::usage("a node of an unknown type"))
        };
        for (ty, rows) in rows_by_type(self.record.typed.nodes.len(), batch.rows, type_of)? {
            if only.is_some_and(|only| only != ty) {
                continue;
            }
            let all = rows.of_columns(&batch.properties)?;
            let keys = batch.keys.as_ref().map(|keys| rows.of(keys)).transpose()?;
            let (properties, labels) = match &self.record.by {
                By::Property { property, .. } => {
                    let others = all.into_iter().enumerate().filter(|(at, _)| at != property);
                    (others.map(|(_, column)| column).collect(), None)
                }
                By::Label { labels, columns } => {
                    let kept = columns.get(ty).map(Vec::as_slice).unwrap_or_default().iter();
                    let kept = kept.map(|at| all.get(*at).cloned().flatten()).collect();
                    let own = labels.get(ty).and_then(Option::as_deref);
                    (kept, self.labels(batch, ty, own, &rows))
                }
            };
            give(Batch::Nodes(NodeBatch {
                ty,
                start: batch.start,
                numbers: None,
                rows: rows.len(),
                keys,
                labels,
                properties,
            }))?;
        }
        Ok(())
    }

    /// The labels of some rows, without the label that is their type.
    fn labels(&self, batch: &NodeBatch, ty: usize, own: Option<&str>, rows: &Rows) -> Option<LabelColumn> {
        self.record.typed.nodes.get(ty).filter(|ty| labels::has_labels(ty))?;
        let column = batch.labels.as_ref()?;
        let mut builder = LabelBuilder::default();
        for row in rows.numbers() {
            builder.push(column.row(row).filter(|label| own != Some(*label)));
        }
        Some(builder.finish())
    }

    /// What of the one node type is read: keys or labels, which tell types, always are.
    fn wanted_of_nodes(&self, ty: usize, wanted: &Narrowing) -> Narrowing {
        let labels = wanted.labels || matches!(self.record.by, By::Label { .. });
        let places = wanted.properties.iter().filter_map(|at| self.place_in_nodes(ty, *at));
        let is_ordered = self.record.typed.nodes.get(ty).is_none_or(|ty| ty.ordered);
        let own = properties_of(&self.record.typed, Tables::Nodes(ty));
        let stored = properties_of(self.inner.graph(), Tables::Nodes(0));
        with_filters(columns_alone(true, labels, places), wanted, own, |asked| match asked {
            // Rows that are left out are not counted.
            _ if is_ordered => None,
            Asked::Name(name) => (name == Narrowing::KEY).then(|| name.to_owned()),
            Asked::Property(at) => alike(own.get(at)?, stored.get(self.place_in_nodes(ty, at)?)?),
        })
    }

    /// Where the one node type has a property of node type `ty`.
    fn place_in_nodes(&self, ty: usize, at: usize) -> Option<usize> {
        match &self.record.by {
            By::Property { property, .. } => Some(at + usize::from(at >= *property)),
            By::Label { columns, .. } => columns.get(ty)?.get(at).copied(),
        }
    }

    /// The same of an edge type, which has the columns of the one that it is a part of.
    fn wanted_of_edges(&self, ty: usize, of: usize, wanted: &Narrowing) -> Narrowing {
        let own = properties_of(&self.record.typed, Tables::Edges(ty));
        let stored = properties_of(self.inner.graph(), Tables::Edges(of));
        let columns = columns_alone(true, false, wanted.properties.iter().copied());
        with_filters(columns, wanted, own, |asked| match asked {
            Asked::Name(name) => Some(name.to_owned()),
            Asked::Property(at) => alike(own.get(at)?, stored.get(at)?),
        })
    }

    /// Checks that a node is of the type that the edges of type `edge` have on this side.
    ///
    /// # Errors
    /// [`Kind::NotFound`] if there is no such node; [`Kind::Unsupported`] if it is named by its row, because the rows of a type are not those of the one
    /// table.
    fn must_be_near(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<()> {
        let ty = self.record.typed.edges.get(edge).ok_or_else(|| Error::usage("no such edge type"))?;
        let NodeId::Key(key) = node else {
            return Err(Error::unsupported("nodes of several types in one table are found by key, not by row"));
        };
        match self.record.types.of_key(key)? {
            Some(found) if usize::from(found) == near(ty, side) => Ok(()),
            _ => Err(Error::new(Kind::NotFound, format!("there is no node {key:?}"))),
        }
    }

    /// Edges of all types, or of one.
    fn edges(&self, batch: &EdgeBatch, only: Option<usize>, give: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        let (sources, targets) = (self.record.types.of_ends(&batch.source)?, self.record.types.of_ends(&batch.target)?);
        let type_of = |row: usize| {
            let ends = sources.get(row).zip(targets.get(row));
            let ty = ends
                .and_then(|(source, target)| self.edges.get(&(batch.ty, usize::from(*source), usize::from(*target))));
            ty.map(|ty| Some(*ty))
                .ok_or_else(|| Error::malformed("the data has changed while it was read: an edge connects other types"))
        };
        for (ty, rows) in rows_by_type(self.record.typed.edges.len(), batch.rows, type_of)? {
            if only.is_none_or(|only| only == ty) {
                give(Batch::Edges(EdgeBatch { ty, ..rows.of_edges(batch)? }))?;
            }
        }
        Ok(())
    }
}

impl Source for Parted {
    forward!(inner: prepare);

    fn graph(&self) -> &Graph {
        &self.record.typed
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let of = |ty: usize| self.record.edges.get(ty).copied().unwrap_or_default();
        let (tables, nodes, edges) = match request.tables {
            Tables::Nodes(ty) | Tables::NodeKeys(ty) => (Tables::Nodes(0), Some(ty), None),
            Tables::Edges(ty) => (Tables::Edges(of(ty)), None, Some(ty)),
            Tables::EdgeEnds(ty) => (Tables::EdgeEnds(of(ty)), None, Some(ty)),
            other => (other, None, None),
        };
        let inner = request.for_tables(tables);
        let inner = match (request.tables, request.narrowing()) {
            (Tables::Nodes(ty) | Tables::NodeKeys(ty), Some(wanted)) => {
                inner.narrowed(self.wanted_of_nodes(ty, wanted))
            }
            (Tables::Edges(ty) | Tables::EdgeEnds(ty), Some(wanted)) => {
                inner.narrowed(self.wanted_of_edges(ty, of(ty), wanted))
            }
            _ => inner,
        };
        let parts = self.inner.scan(&inner)?;
        let parted = |inner| {
            shown(inner, move |batch, give| match batch {
                Batch::Nodes(batch) => self.nodes(&batch, nodes, give),
                Batch::Edges(batch) => self.edges(&batch, edges, give),
                other => give(other),
            })
        };
        Ok(parts.into_iter().map(parted).collect())
    }

    fn is_one_table(&self, _tables: Tables) -> bool {
        true
    }

    fn end_form(&self, _ty: usize) -> EndForm {
        EndForm::Keys
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        let of = self.record.edges.get(edge).copied().ok_or_else(|| Error::usage("no such edge type"))?;
        self.must_be_near(edge, node, side)?;
        let found = self.inner.neighbors(of, node, side)?;
        Ok(edges_shown(found, move |batch, give| self.edges(batch, Some(edge), give)))
    }

    fn look_up_cost(&self, tables: Tables, column: &str) -> Cost {
        match (tables, column) {
            (Tables::Nodes(_) | Tables::NodeKeys(_), Narrowing::KEY) => {
                self.inner.look_up_cost(Tables::Nodes(0), column)
            }
            (Tables::Edges(ty) | Tables::EdgeEnds(ty), Narrowing::SOURCE | Narrowing::TARGET) => {
                let of = self.record.edges.get(ty).copied().unwrap_or_default();
                self.inner.look_up_cost(Tables::Edges(of), column)
            }
            _ => Cost::pass(None),
        }
    }

    fn about(&self) -> About {
        one_table(self.inner.about(), self.record.typed.edges.len())
    }
}
