//! A typed graph shown with one node type and one edge type.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, StringArray};
use arrow_schema::DataType;
use isomorph_error::{Error, Result};
use isomorph_model::batch::GroupBatch;
use isomorph_model::{
    About, Batch, Columns, Direction, EdgeBatch, EdgeOrder, EndForm, Ends, Graph, KeyKind, NodeBatch, Part, Progress,
    Request, Source, Tables, part,
};

use super::{DEFAULT, Fusing, Fusion};
use crate::mapping::bundle::{bases, names, with_base};
use crate::mapping::declared;
use crate::mapping::shred::label_lists;
use isomorph_model::part::shown;

/// Shows a typed source with one node type and one edge type.
pub struct Fused {
    inner: Arc<dyn Source>,
    record: Fusion,
    /// Where the rows of each node type begin among the nodes.
    bases: Vec<u64>,
    /// Whether ends that are rows of a type without keys come as keys.
    names_rows: bool,
}

impl Fused {
    /// Shows `inner` as `record.fused`. Nothing is read.
    ///
    /// # Errors
    /// When the number of rows of a node type is not known, or the source is another graph than the record's.
    pub fn new(inner: Arc<dyn Source>, record: &Fusion) -> Result<Self> {
        let inner = declared(inner, &record.typed)?;
        let bases = bases(inner.graph())?;
        let by_row = (0..record.edges.len()).all(|ty| inner.end_form(ty) == EndForm::Rows);
        let names_rows = record.fusing == Fusing::Plain && !by_row;
        Ok(Fused { inner, record: record.clone(), bases, names_rows })
    }

    fn nodes(&self, batch: NodeBatch) -> Result<NodeBatch> {
        let (Some(own), Some(ty), Some(base), Some(fused)) = (
            self.record.nodes.get(batch.ty),
            self.record.typed.nodes.get(batch.ty),
            self.bases.get(batch.ty),
            self.record.fused.nodes.first(),
        ) else {
            return Err(Error::usage("no such node type"));
        };
        let mut properties: Columns = vec![None; fused.properties.len()];
        place(&mut properties, &own.properties, batch.properties);
        let mut set = |at: Option<usize>, column: Option<ArrayRef>| {
            if let Some(slot) = at.and_then(|at| properties.get_mut(at)) {
                *slot = column;
            }
        };
        set(self.record.node_type, Some(same(&ty.name, batch.rows)));
        set(self.record.labels, batch.labels.as_ref().map(label_lists));
        Ok(NodeBatch {
            ty: 0,
            start: base + batch.start,
            numbers: None,
            rows: batch.rows,
            keys: Some(names(&own.prefix, batch.keys.as_ref(), batch.start, batch.rows)?),
            labels: None,
            properties,
        })
    }

    fn edges(&self, batch: EdgeBatch) -> Result<EdgeBatch> {
        let (Some(own), Some(ty), Some(fused)) =
            (self.record.edges.get(batch.ty), self.record.typed.edges.get(batch.ty), self.record.fused.edges.first())
        else {
            return Err(Error::usage("no such edge type"));
        };
        let mut properties: Columns = vec![None; fused.properties.len()];
        place(&mut properties, own, batch.properties);
        if self.record.fusing == Fusing::Annnet {
            self.weigh(&mut properties, own, batch.rows)?;
        }
        let mut set = |at: Option<usize>, column: Option<ArrayRef>| {
            if let Some(slot) = at.and_then(|at| properties.get_mut(at)) {
                *slot = column;
            }
        };
        set(self.record.relation, Some(same(ty.relation.fixed().unwrap_or_default(), batch.rows)));
        let by_row = fused.direction == Direction::PerRow;
        let directed = match ty.direction {
            _ if !by_row => None,
            Direction::Directed => None,
            Direction::Undirected => Some(BooleanArray::from(vec![false; batch.rows])),
            Direction::PerRow => batch.directed,
        };
        Ok(EdgeBatch {
            ty: 0,
            rows: batch.rows,
            relations: None,
            source: self.ends(ty.source, batch.source)?,
            target: self.ends(ty.target, batch.target)?,
            layers: None,
            directed,
            keys: None,
            properties,
        })
    }

    /// Puts the weight first that every edge of annnet has.
    fn weigh(&self, properties: &mut Columns, own: &[usize], rows: usize) -> Result<()> {
        let stated = properties.first_mut().and_then(Option::take);
        let weights = stated.as_ref().map(doubles).transpose()?;
        let is_missing = weights.as_ref().filter(|weights| weights.null_count() > 0);
        let is_missing = is_missing.map(|weights| weights.iter().map(|weight| weight.is_none().then_some(true)));
        let is_missing: Option<ArrayRef> = match (own.contains(&0), is_missing) {
            (true, Some(missing)) => Some(Arc::new(missing.collect::<BooleanArray>())),
            (true, None) if weights.is_none() => Some(Arc::new(BooleanArray::from(vec![true; rows]))),
            _ => None,
        };
        // Every edge of annnet has a weight; that it has none here is said beside it.
        let weights = match weights {
            Some(weights) if weights.null_count() == 0 => weights,
            Some(weights) => weights.iter().map(|weight| Some(weight.unwrap_or(1.0))).collect(),
            None => Float64Array::from_value(1.0, rows),
        };
        if let Some(slot) = self.record.unweighted.and_then(|at| properties.get_mut(at)) {
            *slot = is_missing;
        }
        if let Some(slot) = properties.first_mut() {
            *slot = Some(Arc::new(weights));
        }
        Ok(())
    }

    fn ends(&self, ty: usize, ends: Ends) -> Result<Ends> {
        let own = self.record.nodes.get(ty).zip(self.record.typed.nodes.get(ty));
        match (ends, own) {
            // The key of what has none is its row: where other ends are keys, these are too.
            (Ends::Rows(rows), Some((own, typed))) if self.names_rows && typed.key.kind == KeyKind::Row => {
                let names = rows.values().iter().map(|row| Some(format!("{}{row}", own.prefix)));
                Ok(Ends::Keys(Arc::new(names.collect::<StringArray>())))
            }
            (Ends::Rows(rows), _) => Ok(Ends::Rows(with_base(rows, self.bases.get(ty).copied().unwrap_or_default()))),
            (Ends::Keys(keys), own) => {
                let prefix = own.map(|(own, _)| own.prefix.as_str()).unwrap_or_default();
                Ok(Ends::Keys(names(prefix, Some(&keys), 0, keys.len())?))
            }
        }
    }

    fn slices(&self) -> Vec<Box<dyn Part>> {
        if self.record.fusing == Fusing::Annnet { vec![slice()] } else { Vec::new() }
    }

    fn parts<'a>(&'a self, tables: impl Iterator<Item = Tables>, request: &Request) -> Result<Vec<Box<dyn Part + 'a>>> {
        let mut parts = Vec::new();
        for tables in tables {
            for inner in self.inner.scan(&request.for_tables(tables))? {
                parts.push(shown(inner, |batch, take| match batch {
                    Batch::Nodes(nodes) => take(Batch::Nodes(self.nodes(nodes)?)),
                    Batch::Edges(edges) => take(Batch::Edges(self.edges(edges)?)),
                    _ => Err(Error::unsupported("only nodes and edges can be fused")),
                }));
            }
        }
        Ok(parts)
    }
}

/// Puts columns where attributes are.
fn place(attributes: &mut Columns, places: &[usize], columns: Columns) {
    for (at, column) in places.iter().zip(columns) {
        if let Some(slot) = attributes.get_mut(*at) {
            *slot = column;
        }
    }
}

/// One text in every row.
fn same(text: &str, rows: usize) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(std::iter::repeat_n(text, rows)))
}

fn doubles(column: &ArrayRef) -> Result<Float64Array> {
    let column = arrow_cast::cast(column, &DataType::Float64).map_err(|error| Error::malformed(error.to_string()))?;
    Ok(column.as_primitive::<Float64Type>().clone())
}

/// The one slice.
fn slice() -> Box<dyn Part> {
    let batch = || {
        let keys = Arc::new(StringArray::from(vec![DEFAULT]));
        Ok(Batch::Groups(GroupBatch { kind: 0, start: 0, keys, properties: Vec::new() }))
    };
    part::of(Some(1), std::iter::once_with(batch))
}

impl Source for Fused {
    fn graph(&self) -> &Graph {
        &self.record.fused
    }

    fn prepare(&self, threads: usize, progress: &dyn Progress) -> Result<()> {
        self.inner.prepare(threads, progress)
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        if request.order != EdgeOrder::Any {
            return Err(Error::usage("edges of several types come in several runs"));
        }
        let (nodes, edges) = (0..self.record.nodes.len(), 0..self.record.edges.len());
        match request.tables {
            Tables::Nodes(_) | Tables::AllNodes => self.parts(nodes.map(Tables::Nodes), request),
            Tables::NodeKeys(_) => self.parts(nodes.map(Tables::NodeKeys), request),
            // Edges of all types may lie in one table, which is read once.
            Tables::Edges(_) if self.record.fusing == Fusing::Plain => {
                self.parts(std::iter::once(Tables::AllEdges), request)
            }
            Tables::Edges(_) => self.parts(edges.map(Tables::Edges), request),
            Tables::AllEdges => self.parts(std::iter::once(Tables::AllEdges), request),
            Tables::EdgeEnds(_) => self.parts(edges.map(Tables::EdgeEnds), request),
            Tables::Rest => Ok(self.slices()),
            Tables::All => {
                let mut parts = self.parts(nodes.map(Tables::Nodes), request)?;
                parts.extend(self.parts(std::iter::once(Tables::AllEdges), request)?);
                parts.extend(self.slices());
                Ok(parts)
            }
        }
    }

    fn end_form(&self, _ty: usize) -> EndForm {
        let edges = self.record.typed.edges.iter().enumerate();
        let keyless = |node: usize| self.record.typed.nodes.get(node).is_some_and(|ty| ty.key.kind == KeyKind::Row);
        // Where some types name keyed nodes by row, their keys have to be kept, whatever the others do.
        let mut keyed = edges.filter(|(_, ty)| !(keyless(ty.source) && keyless(ty.target)));
        let mixed = self.names_rows && keyed.any(|(at, _)| self.inner.end_form(at) == EndForm::Rows);
        let rows = mixed || (0..self.record.edges.len()).all(|ty| self.inner.end_form(ty) == EndForm::Rows);
        if rows { EndForm::Rows } else { EndForm::Keys }
    }

    fn about(&self) -> About {
        self.inner.about()
    }
}
