//! Shows a graph of one node type with several.

use std::collections::HashMap;
use std::sync::Arc;

use isomorph_error::{Error, Kind, Result};
use isomorph_model::label::{LabelBuilder, LabelColumn};
use isomorph_model::{
    About, Batch, Cost, EdgeBatch, EndForm, Graph, Narrowing, NodeBatch, NodeId, Part, Request, Side, Source, Tables,
};

use super::{By, Parting, labels};
use crate::mapping::narrowed::{Asked, TypeByType, alike, columns_alone, only};
use crate::mapping::view::{Rows, edges_shown, near, one_table, properties_of, rows_by_type, rows_shown};
use crate::mapping::{declared, forward};

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
            give(Batch::Nodes(NodeBatch { keys, labels, properties, ..NodeBatch::of(ty, batch.start, rows.len()) }))?;
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

    /// Where the one node type has a property of node type `ty`.
    fn place_in_nodes(&self, ty: usize, at: usize) -> Option<usize> {
        match &self.record.by {
            By::Property { property, .. } => Some(at + usize::from(at >= *property)),
            By::Label { columns, .. } => columns.get(ty)?.get(at).copied(),
        }
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

impl TypeByType for Parted {
    fn sides(&self) -> (&Graph, &dyn Source) {
        (&self.record.typed, self.inner.as_ref())
    }

    fn stored_tables(&self, tables: Tables) -> Tables {
        let of = |ty: usize| self.record.edges.get(ty).copied().unwrap_or_default();
        match tables {
            Tables::Nodes(_) | Tables::NodeKeys(_) => Tables::Nodes(0),
            Tables::Edges(ty) => Tables::Edges(of(ty)),
            Tables::EdgeEnds(ty) => Tables::EdgeEnds(of(ty)),
            other => other,
        }
    }

    fn stored_name(&self, tables: Tables, asked: Asked<'_>) -> Option<String> {
        let own = properties_of(&self.record.typed, tables);
        let stored = properties_of(self.inner.graph(), self.stored_tables(tables));
        match (tables, asked) {
            (Tables::Nodes(_) | Tables::NodeKeys(_), Asked::Name(name)) => {
                (name == Narrowing::KEY).then(|| name.to_owned())
            }
            (Tables::Nodes(ty) | Tables::NodeKeys(ty), Asked::Property(at)) => {
                alike(own.get(at)?, stored.get(self.place_in_nodes(ty, at)?)?)
            }
            (_, Asked::Name(name)) => Some(name.to_owned()),
            (_, Asked::Property(at)) => alike(own.get(at)?, stored.get(at)?),
        }
    }

    /// Keys or labels, which tell the types of nodes, are always read. An edge type has the columns of the one that it is a part of.
    fn stored_columns(&self, tables: Tables, wanted: &Narrowing) -> Option<Narrowing> {
        match tables {
            Tables::Nodes(ty) | Tables::NodeKeys(ty) => {
                let labels = wanted.labels || matches!(self.record.by, By::Label { .. });
                let places = wanted.properties.iter().filter_map(|at| self.place_in_nodes(ty, *at));
                Some(columns_alone(true, labels, places))
            }
            Tables::Edges(_) | Tables::EdgeEnds(_) => {
                Some(columns_alone(true, false, wanted.properties.iter().copied()))
            }
            _ => None,
        }
    }

    fn may_omit_rows(&self, tables: Tables) -> bool {
        match tables {
            Tables::Nodes(ty) | Tables::NodeKeys(ty) => self.record.typed.nodes.get(ty).is_some_and(|ty| !ty.ordered),
            _ => true,
        }
    }
}

impl Source for Parted {
    forward!(inner: prepare);

    fn graph(&self) -> &Graph {
        &self.record.typed
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let only = only(request.tables);
        let parts = self.inner.scan(&self.stored_request(request))?;
        Ok(rows_shown(
            parts,
            move |nodes, give| self.nodes(&nodes, only, give),
            move |edges, give| self.edges(&edges, only, give),
        ))
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
        self.stored_cost(tables, column)
    }

    fn about(&self) -> About {
        one_table(self.inner.about(), self.record.typed.edges.len())
    }
}
