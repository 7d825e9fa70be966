//! The view of a graph that a selection shows.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType;
use isomorph_error::{Error, Kind, Result};
use isomorph_model::{
    About, Batch, EdgeBatch, EdgeOrder, EndForm, Graph, KeyKind, Narrowing, NodeId, Part, Predicate, Progress,
    Property, Request, Run, Side, Source, Tables, part,
};
use isomorph_storage::Resources;
use isomorph_tables::lookup::ABSENT;

use super::Selection;
use super::build::{Built, build};
use super::kept_rows::{Kept, Reader, number, read};
use super::shape::{Shape, Shown};
use super::test::{Test, asked, asked_for_test, having};
use crate::dataset::Dataset;
use crate::table::TableKind;

/// The part of a graph that a [`Selection`] keeps: a source like any other.
pub struct Selected {
    pub(super) dataset: Dataset,
    pub(super) shape: Shape,
    pub(super) built: Built,
    keep_dangling: bool,
    pub(super) inseparable: Vec<String>,
}

/// Number of edges of a type that a selection keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EdgesLeft {
    /// Those that are shown.
    pub shown: u64,
    /// Edges that would be shown if both of their ends were kept.
    pub dangling: u64,
}

/// Which edges of a batch are selected, and their ends.
pub(super) struct Marked {
    /// Selected by type, relation and condition.
    wanted: BooleanBuffer,
    /// Of these, the edges whose ends are kept.
    pub whole: BooleanBuffer,
    /// The ranks of the ends; `None` if all are kept.
    pub source: Option<Vec<u64>>,
    pub target: Option<Vec<u64>>,
}

impl Selected {
    /// Applies `selection` to `source`. Nodes of types with a condition, a limit or a sample are read once, with the
    /// columns that it uses; their number is known then. If edges refer to nodes by key, the keys of the selected nodes
    /// must fit into the budget.
    ///
    /// # Errors
    /// Returns [`Kind::Usage`] for unknown names and conditions that do not fit; [`Kind::Unsupported`] for a selection
    /// that this graph does not allow; and errors of reading.
    /// does not allow; when the graph cannot be read.
    pub fn new(
        source: Arc<dyn Source>,
        selection: &Selection,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Selected> {
        source.prepare(resources.threads, progress)?;
        let dataset = Dataset::new(source, resources.clone());
        let shape = Shape::new(&dataset, selection)?;
        let keep_dangling = selection.keep_dangling;
        let inseparable = selection.inseparable.clone();
        let mut selected = Selected { dataset, shape, built: Built::default(), keep_dangling, inseparable };
        build(&mut selected, selection, progress)?;
        Ok(selected)
    }

    /// Counts the edges of each type that are shown, and those with an end that is left out. This needs a pass over
    /// their ends.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn edges_left(&self, progress: &dyn Progress) -> Result<Vec<EdgesLeft>> {
        let reader = Reader { dataset: &self.dataset, progress };
        let mut all = vec![EdgesLeft::default(); self.shape.edges.0.len()];
        let marked = |batch: Batch| {
            let Batch::Edges(edges) = &batch else { return Err(Error::usage("expected edges")) };
            let Some((ty, _)) = self.shape.edges.find(edges.ty) else { return Ok(None) };
            let marked = self.mark(edges, &batch)?;
            Ok(Some((ty, marked.wanted.count_set_bits() as u64, marked.whole.count_set_bits() as u64)))
        };
        let mut take = |found: Option<(usize, u64, u64)>| {
            if let Some((ty, wanted, whole)) = found
                && let Some(left) = all.get_mut(ty)
            {
                left.shown += whole;
                left.dangling += wanted.saturating_sub(whole);
            }
            Ok(())
        };
        let requests = match self.reads_at_once(Tables::AllEdges) {
            true => vec![Request::of(Tables::AllEdges)],
            false => self.shape.edges.0.iter().map(|shown| self.ends_of(shown.inner)).collect::<Result<_>>()?,
        };
        for request in requests {
            let parts = self.dataset.source().scan(&request)?;
            read(parts, reader.threads(), "edges", progress, marked, &mut take)?;
        }
        Ok(all)
    }

    /// The same view with the numbers of edges in its description.
    pub fn with_rows(mut self, edges: &[EdgesLeft]) -> Selected {
        self.shape.graph.edges.iter_mut().zip(edges).for_each(|(ty, left)| ty.rows = Some(left.shown));
        self
    }

    /// The request for the ends of edges and the columns of their condition.
    pub(super) fn ends_of(&self, inner: usize) -> Result<Request> {
        let test = self.built.edge_test(inner);
        let asked = test.map(|test| asked_for_test(&self.dataset, TableKind::Edges(inner), test, true)).transpose()?;
        Ok(match asked.flatten() {
            Some(narrowing) => Request::of(Tables::Edges(inner)).narrowed(narrowing),
            None => Request::of(Tables::EdgeEnds(inner)),
        })
    }

    pub(super) fn inner(&self) -> &Graph {
        self.dataset.source().graph()
    }

    /// The selected edges of a batch, whatever their ends.
    pub(super) fn wanted(&self, edges: &EdgeBatch, batch: &Batch) -> Result<BooleanBuffer> {
        let mut wanted = BooleanBuffer::new_set(edges.rows);
        if let Some(Some(relations)) = self.shape.relations.get(edges.ty) {
            wanted = having(edges.relations.as_ref(), &|own| relations.contains(own))?;
        }
        if let Some(test) = self.built.edge_test(edges.ty) {
            wanted = &wanted & &test.passing(batch)?;
        }
        Ok(wanted)
    }

    /// The selected edges of a batch whose ends are kept.
    pub(super) fn whole(&self, batch: &Batch) -> Result<BooleanBuffer> {
        let Batch::Edges(edges) = batch else { return Err(Error::usage("expected edges")) };
        Ok(self.mark(edges, batch)?.whole)
    }

    pub(super) fn mark(&self, edges: &EdgeBatch, batch: &Batch) -> Result<Marked> {
        let wanted = self.wanted(edges, batch)?;
        let ty = self.inner().edges.get(edges.ty).ok_or_else(|| Error::usage("edges of an unknown type"))?;
        let (from, to) = (self.built.nodes_kept(ty.source), self.built.nodes_kept(ty.target));
        let source = from.map(|kept| kept.ranks(&edges.source)).transpose()?;
        let target = to.map(|kept| kept.ranks(&edges.target)).transpose()?;
        let is_there = |ranks: &Option<Vec<u64>>, row: usize| {
            ranks.as_ref().is_none_or(|ranks| ranks.get(row).is_some_and(|rank| *rank != ABSENT))
        };
        let is_chosen = |kept: Option<&Kept>, ranks: &Option<Vec<u64>>, row: usize| match (kept, ranks) {
            (Some(kept), Some(ranks)) => ranks.get(row).is_some_and(|rank| kept.is_chosen(*rank)),
            _ => true,
        };
        let is_whole = |row: usize| {
            let both = is_there(&source, row) && is_there(&target, row);
            both && (!self.keep_dangling || is_chosen(from, &source, row) || is_chosen(to, &target, row))
        };
        let whole = match source.is_some() || target.is_some() {
            true => (0..edges.rows).map(|row| wanted.value(row) && is_whole(row)).collect(),
            false => wanted.clone(),
        };
        Ok(Marked { wanted, whole, source, target })
    }

    /// What is asked of a format for the rows of a table, of which `wanted` is wanted, if not everything.
    fn asked(
        &self,
        kind: TableKind,
        shown: &Shown,
        all: &[Property],
        test: Option<&Test>,
        wanted: Option<&Narrowing>,
    ) -> Result<Option<Narrowing>> {
        if !shown.is_narrower() && test.is_none() && wanted.is_none() {
            return Ok(None);
        }
        let push = match kind {
            // For other types, rows that are left out are not counted.
            TableKind::Nodes(ty) => {
                let ty = self.inner().nodes.get(ty);
                ty.is_some_and(|ty| ty.ordered) && !self.keep_dangling
            }
            _ => true,
        };
        let properties = shown.properties(all.len());
        let Some(wanted) = wanted else { return asked(&self.dataset, kind, &properties, test, push) };
        let own: Vec<usize> = wanted.properties.iter().filter_map(|at| properties.get(*at).copied()).collect();
        let Some(narrowing) = asked(&self.dataset, kind, &own, test, push)? else { return Ok(None) };
        let leaves_out = match kind {
            TableKind::Nodes(ty) if self.built.nodes_kept(ty).is_none() => {
                self.inner().nodes.get(ty).is_some_and(|ty| ty.ordered || ty.key.kind != KeyKind::Row)
            }
            _ => push,
        };
        // Rows have other numbers here.
        let is_number = |name: &str| [Narrowing::ROW, Narrowing::SOURCE_ROW, Narrowing::TARGET_ROW].contains(&name);
        let is_known = |name: &str| {
            let is_property = || properties.iter().any(|at| all.get(*at).is_some_and(|own| own.name == name));
            leaves_out && !is_number(name) && (Narrowing::NAMES.contains(&name) || is_property())
        };
        let asked = Narrowing::least().with_filters_of(wanted, &mut |name| is_known(name).then(|| name.to_owned()));
        Ok(Some(Narrowing {
            filter: Predicate::both(narrowing.filter, asked.filter),
            dynamic: asked.dynamic,
            ..narrowing
        }))
    }

    fn nodes(&self, ty: usize, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let shown = self.shape.nodes.0.get(ty).ok_or_else(|| Error::usage(format!("there is no node type {ty}")))?;
        let all = self.inner().nodes.get(shown.inner).map(|ty| ty.properties.as_slice()).unwrap_or_default();
        let test = self.built.node_test(shown.inner);
        let inner = request.for_tables(Tables::Nodes(shown.inner));
        let wanted = request.narrowing().map(Arc::as_ref);
        let inner = match self.asked(TableKind::Nodes(shown.inner), shown, all, test, wanted)? {
            Some(narrowing) => inner.narrowed(narrowing),
            None => inner,
        };
        self.parts(&inner)
    }

    fn edges(&self, ty: usize, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let shown = self.shape.edges.0.get(ty).ok_or_else(|| Error::usage(format!("there is no edge type {ty}")))?;
        let all = self.inner().edges.get(shown.inner).map(|ty| ty.properties.as_slice()).unwrap_or_default();
        let test = self.built.edge_test(shown.inner);
        let inner = request.for_tables(Tables::Edges(shown.inner));
        let wanted = request.narrowing().map(Arc::as_ref);
        let inner = match self.asked(TableKind::Edges(shown.inner), shown, all, test, wanted)? {
            Some(narrowing) => inner.narrowed(narrowing),
            None => inner,
        };
        self.parts(&inner)
    }

    fn parts(&self, inner: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        Ok(self.dataset.source().scan(inner)?.into_iter().map(|part| self.shown(part)).collect())
    }

    fn shown<'a>(&'a self, inner: Box<dyn Part + 'a>) -> Box<dyn Part + 'a> {
        part::shown(inner, move |batch, take| self.show(batch)?.map_or(Ok(()), take))
    }

    /// Whether these tables should be read together: nothing else is needed of them, and one costs as much as all.
    fn reads_at_once(&self, tables: Tables) -> bool {
        let is_narrower = |all: &[Shown]| all.iter().any(Shown::is_narrower);
        let (nodes, edges) = (&self.shape.nodes.0, &self.shape.edges.0);
        let is_whole = self.shape.has_all_types(self.inner())
            && !is_narrower(nodes)
            && !is_narrower(edges)
            && !self.built.has_tests();
        let is_together = self.dataset.source().is_one_table(tables) && nodes.len() + edges.len() > 2;
        matches!(tables, Tables::All | Tables::AllNodes | Tables::AllEdges) && (is_whole || is_together)
    }

    fn edge_inner(&self, ty: usize) -> Option<usize> {
        self.shape.edges.0.get(ty).map(|shown| shown.inner)
    }
}

impl Source for Selected {
    fn graph(&self) -> &Graph {
        &self.shape.graph
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let (nodes, edges) = (0..self.shape.nodes.0.len(), 0..self.shape.edges.0.len());
        let mut parts = Vec::new();
        match request.tables {
            // A text is read once, not once for each type.
            tables if self.reads_at_once(tables) => return self.parts(&request.whole()),
            Tables::All => {
                for ty in nodes {
                    parts.extend(self.nodes(ty, request)?);
                }
                for ty in edges {
                    parts.extend(self.edges(ty, request)?);
                }
                parts.extend(self.parts(&request.for_tables(Tables::Rest))?);
            }
            Tables::AllNodes => {
                for ty in nodes {
                    parts.extend(self.nodes(ty, request)?);
                }
            }
            Tables::AllEdges => {
                for ty in edges {
                    parts.extend(self.edges(ty, request)?);
                }
            }
            Tables::Nodes(ty) => parts = self.nodes(ty, request)?,
            Tables::NodeKeys(ty) => {
                let shown = self.shape.nodes.0.get(ty);
                let shown = shown.ok_or_else(|| Error::usage(format!("there is no node type {ty}")))?;
                parts = self.parts(&request.for_tables(Tables::NodeKeys(shown.inner)))?;
            }
            Tables::Edges(ty) => parts = self.edges(ty, request)?,
            Tables::EdgeEnds(ty) => {
                let inner = self.edge_inner(ty).ok_or_else(|| Error::usage(format!("there is no edge type {ty}")))?;
                parts = self.parts(&self.ends_of(inner)?.in_order(request.order).in_batches_of(request.batch_rows))?;
            }
            Tables::Rest => parts = self.parts(&request.whole())?,
        }
        Ok(parts)
    }

    fn edge_orders(&self, ty: usize) -> Vec<EdgeOrder> {
        self.edge_inner(ty).map(|inner| self.dataset.source().edge_orders(inner)).unwrap_or_default()
    }

    fn runs(&self, ty: usize, order: EdgeOrder) -> Result<Option<Vec<Run<'_>>>> {
        if self.edge_orders(ty).contains(&order) {
            return Ok(Some(vec![self.scan(&Request::of(Tables::Edges(ty)).in_order(order))?]));
        }
        let Some(inner) = self.edge_inner(ty) else { return Ok(None) };
        let Some(runs) = self.dataset.source().runs(inner, order)? else { return Ok(None) };
        let mut all = Vec::with_capacity(runs.len());
        for run in runs {
            all.push(run.into_iter().map(|part| self.shown(part)).collect());
        }
        Ok(Some(all))
    }

    fn is_one_table(&self, tables: Tables) -> bool {
        self.dataset.source().is_one_table(tables) && self.reads_at_once(tables)
    }

    fn end_form(&self, ty: usize) -> EndForm {
        self.edge_inner(ty).map_or(EndForm::Keys, |inner| self.dataset.source().end_form(inner))
    }

    fn about(&self) -> About {
        let mut about = self.dataset.source().about();
        let layouts = std::mem::take(&mut about.edge_layouts);
        let shown = self.shape.edges.0.iter().filter_map(|shown| layouts.get(shown.inner).cloned());
        about.edge_layouts = shown.collect();
        about
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        let inner = self.edge_inner(edge).ok_or_else(|| Error::usage(format!("there is no edge type {edge}")))?;
        let ty = self.inner().edges.get(inner).ok_or_else(|| Error::usage("edges of no type"))?;
        let of = if side == Side::Out { ty.source } else { ty.target };
        let node = match (node, self.built.nodes_kept(of)) {
            (NodeId::Row(row), Some(kept)) => {
                let row = kept.rows.select(row);
                NodeId::Row(row.ok_or_else(|| Error::new(Kind::NotFound, "there is no node of this row"))?)
            }
            (NodeId::Key(key), Some(kept)) => {
                self.check_key(of, kept, key)?;
                node
            }
            (_, None) => node,
        };
        let (source, shown) = (self.dataset.source(), self.shape.edges.0.get(edge));
        let narrowing = match shown {
            Some(shown) => {
                self.asked(TableKind::Edges(inner), shown, &ty.properties, self.built.edge_test(inner), None)?
            }
            None => None,
        };
        let found = match narrowing {
            Some(narrowing) => source.narrowed_neighbors(inner, node, side, narrowing)?,
            None => source.neighbors(inner, node, side)?,
        };
        Ok(self.shown(found))
    }
}

impl Selected {
    /// Checks that the node with this key is kept. This needs a pass over the keys.
    ///
    /// # Errors
    /// Returns [`Kind::NotFound`] if it is not.
    fn check_key(&self, ty: usize, kept: &Kept, key: &str) -> Result<()> {
        for batch in self.dataset.source().scan(&Request::of(Tables::NodeKeys(ty)))?.into_iter().flatten() {
            let Batch::Nodes(nodes) = batch? else { continue };
            let Some(keys) = &nodes.keys else { continue };
            let texts = arrow_cast::cast(keys, &DataType::Utf8);
            let texts = texts.map_err(|error| Error::malformed(error.to_string()).caused_by(error))?;
            let found = texts.as_string::<i32>().iter().position(|text| text == Some(key));
            if let Some(at) = found
                && kept.rows.rank(number(&nodes, at)).is_some()
            {
                return Ok(());
            }
        }
        let name = self.inner().nodes.get(ty).map(|ty| ty.name.as_str()).unwrap_or_default();
        Err(Error::new(Kind::NotFound, format!("there is no {name} {key}, or the selection leaves it out")))
    }
}
