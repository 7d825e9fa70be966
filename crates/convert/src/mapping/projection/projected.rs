//! A source without its hyperedges.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BooleanArray, RecordBatch, UInt32Array};
use arrow_select::take::take as take_rows;
use isomorph_error::Result;
use isomorph_model::{
    Batch, Columns, Direction, EdgeBatch, EdgeOrder, EndForm, Graph, Part, Request, Run, Source, Tables, Take, part,
};

use super::Projection;
use super::gather::{Gathered, at, directed, ends};
use crate::mapping::arrays::malformed;
use crate::mapping::forward;

/// Shows a graph without its hyperedges: with the pairs of a [`Projection`], if it has any.
pub struct Projected {
    inner: Arc<dyn Source>,
    projection: Arc<Projection>,
}

impl Projected {
    /// Shows `inner`, the graph of `projection`. Reads nothing.
    pub fn new(inner: Arc<dyn Source>, projection: Arc<Projection>) -> Self {
        Projected { inner, projection }
    }

    fn inner<'a>(&'a self, request: &Request, tables: Tables) -> Result<Vec<Box<dyn Part + 'a>>> {
        let parts = self.inner.scan(&request.for_tables(tables))?;
        let projection = self.projection.as_ref();
        let part = |inner| part::shown(inner, move |batch, take| kept(projection, batch, take));
        Ok(parts.into_iter().map(part).collect())
    }

    fn pairs(&self, ty: usize, request: &Request) -> Vec<Box<dyn Part + '_>> {
        let Some(gathered) = self.projection.pairs_of(ty) else { return Vec::new() };
        let graph = &self.projection.graph;
        let (layered, by_row) =
            graph.edges.get(ty).map_or((false, false), |ty| (ty.layered, ty.direction == Direction::PerRow));
        let rows = request.batch_rows.max(1);
        let shape = Shape { ty, layered, by_row, rows };
        gathered.parts().into_iter().map(|range| pairs_part(gathered, range, shape)).collect()
    }

    fn all_pairs(&self, request: &Request) -> Vec<Box<dyn Part + '_>> {
        (self.projection.edges..self.projection.graph.edges.len()).flat_map(|ty| self.pairs(ty, request)).collect()
    }
}

/// The part of the graph that is kept.
fn kept(projection: &Projection, batch: Batch, take: Take<'_>) -> Result<()> {
    match batch {
        Batch::Hyperedges(_) | Batch::Members(_) => Ok(()),
        Batch::Memberships(mut batch) => {
            let tables = projection.memberships.get(batch.kind);
            match tables.and_then(|tables| tables.get(batch.table)).copied().flatten() {
                Some(table) => {
                    batch.table = table;
                    take(Batch::Memberships(batch))
                }
                None => Ok(()),
            }
        }
        Batch::Values(mut batch) => match projection.values.get(batch.table).copied().flatten() {
            Some(table) => {
                batch.table = table;
                take(Batch::Values(batch))
            }
            None => Ok(()),
        },
        other => take(other),
    }
}

/// The form of pairs.
#[derive(Clone, Copy)]
struct Shape {
    ty: usize,
    layered: bool,
    by_row: bool,
    /// Maximum number of rows in a batch.
    rows: usize,
}

/// Pairs of the hyperedges in a part of the sort.
fn pairs_part(gathered: &Gathered, range: std::ops::Range<u64>, shape: Shape) -> Box<dyn Part + '_> {
    let form = gathered.form;
    let open = move || Ok((gathered.groups(range)?, Pairs::default(), false));
    part::stepped(None, open, move |(groups, pairs, is_open), take| {
        if !*is_open {
            *is_open = groups.advance()?;
            return match &groups.group.columns {
                Some(columns) if *is_open => pairs.of(columns, form, shape, take).map(|()| true),
                _ => pairs.give(form, shape, take).map(|()| false),
            };
        }
        // A hyperedge of many members has very many pairs: a batch of them at once.
        while pairs.own.len() < shape.rows {
            match groups.group.next_pair() {
                Some((source, target)) => pairs.push(source, target, groups.group.own),
                None => {
                    *is_open = false;
                    return Ok(true);
                }
            }
        }
        pairs.give(form, shape, take).map(|()| true)
    })
}

/// Pairs of rows of one batch, until there are enough of them.
#[derive(Default)]
struct Pairs {
    columns: Option<RecordBatch>,
    source: Vec<u32>,
    target: Vec<u32>,
    own: Vec<u32>,
}

impl Pairs {
    /// Starts another batch, if the batch has changed.
    fn of(
        &mut self,
        columns: &RecordBatch,
        form: EndForm,
        shape: Shape,
        take: &mut dyn FnMut(Batch) -> Result<()>,
    ) -> Result<()> {
        let same = |kept: &RecordBatch| {
            kept.num_rows() == columns.num_rows() && Arc::ptr_eq(kept.column(at::IS), columns.column(at::IS))
        };
        if self.columns.as_ref().is_none_or(|kept| !same(kept)) {
            self.give(form, shape, take)?;
            self.columns = Some(columns.clone());
        }
        Ok(())
    }

    fn push(&mut self, source: u32, target: u32, own: u32) {
        self.source.push(source);
        self.target.push(target);
        self.own.push(own);
    }

    /// Passes on the collected pairs.
    fn give(&mut self, form: EndForm, shape: Shape, take: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        let Some(columns) = self.columns.as_ref().filter(|_| !self.own.is_empty()) else { return Ok(()) };
        let [source, target, own] =
            [&mut self.source, &mut self.target, &mut self.own].map(|rows| UInt32Array::from(std::mem::take(rows)));
        let pick = |column: &ArrayRef, rows: &UInt32Array| take_rows(column, rows, None).map_err(malformed);
        let mut properties = Columns::new();
        for column in columns.columns().iter().skip(at::PROPERTIES).chain([columns.column(at::KEY)]) {
            properties.push(Some(pick(column, &own)?));
        }
        let layer = columns.column(at::LAYER);
        let layers = if shape.layered { Some((pick(layer, &source)?, pick(layer, &target)?)) } else { None };
        let stated = || -> Result<BooleanArray> {
            let all: ArrayRef = Arc::new(directed(columns).clone());
            Ok(pick(&all, &own)?.as_boolean().clone())
        };
        let end = columns.column(at::END);
        take(Batch::Edges(EdgeBatch {
            layers,
            directed: if shape.by_row { Some(stated()?) } else { None },
            properties,
            ..EdgeBatch::between(shape.ty, ends(&pick(end, &source)?, form), ends(&pick(end, &target)?, form))
        }))
    }
}

impl Source for Projected {
    forward!(inner: prepare is_one_table about neighbors);

    fn graph(&self) -> &Graph {
        &self.projection.graph
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        match request.tables {
            Tables::Edges(ty) | Tables::EdgeEnds(ty) if ty >= self.projection.edges => Ok(self.pairs(ty, request)),
            tables @ (Tables::All | Tables::AllEdges) => {
                let mut parts = self.inner(request, tables)?;
                parts.extend(self.all_pairs(request));
                Ok(parts)
            }
            tables => self.inner(request, tables),
        }
    }

    fn edge_orders(&self, ty: usize) -> Vec<EdgeOrder> {
        if ty < self.projection.edges { self.inner.edge_orders(ty) } else { Vec::new() }
    }

    fn runs(&self, ty: usize, order: EdgeOrder) -> Result<Option<Vec<Run<'_>>>> {
        if ty < self.projection.edges { self.inner.runs(ty, order) } else { Ok(None) }
    }

    fn end_form(&self, ty: usize) -> EndForm {
        match self.projection.pairs_of(ty) {
            Some(gathered) => gathered.form,
            None => self.inner.end_form(ty),
        }
    }
}
