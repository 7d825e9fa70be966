//! A graph as a selection leaves it.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, UInt64Array};
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType;
use isomorph_error::{Error, Kind, Result};
use isomorph_model::batch::{MemberBatch, MembershipBatch, ValueBatch};
use isomorph_model::label::LabelBuilder;
use isomorph_model::schema::Owner;
use isomorph_model::{
    About, Batch, EdgeBatch, EdgeOrder, EndForm, Ends, Graph, Narrowing, NodeBatch, NodeId, Part, Progress, Request,
    Run, Side, Source, Tables, part,
};
use isomorph_storage::Resources;
use isomorph_tables::lookup::ABSENT;

use super::Selection;
use super::batches::Rows;
use super::build::{Built, build};
use super::kept::{Kept, Reader, number, read};
use super::shape::{Shape, Shown};
use super::test::{Test, asked, asked_for_test, having};
use crate::dataset::Dataset;
use crate::table::TableKind;

/// A graph as a [`Selection`] leaves it: a source like any other.
pub struct Selected {
    pub(super) dataset: Dataset,
    pub(super) shape: Shape,
    pub(super) built: Built,
    keep_dangling: bool,
}

/// Edges of a type that a selection leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EdgesLeft {
    /// Those that are shown.
    pub shown: u64,
    /// Those that would be, were it not for an end that is left out.
    pub dangling: u64,
}

/// Which edges of a batch are wanted, and their ends.
struct Marked {
    /// Wanted by their type, relation and condition.
    wanted: BooleanBuffer,
    /// Of these, those whose ends are there.
    whole: BooleanBuffer,
    /// The ranks of ends of which some are left out.
    source: Option<Vec<u64>>,
    target: Option<Vec<u64>>,
}

impl Selected {
    /// What `selection` leaves of `source`. Of types with a condition, a limit or a sample the nodes are read once, with the columns that it
    /// takes; their numbers are known then. The keys of nodes that stay have to fit into the budget where edges name them.
    ///
    /// # Errors
    /// [`Kind::Usage`] for names that mean nothing and conditions that do not fit; [`Kind::Unsupported`] for a selection that this graph
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
        let mut selected = Selected { dataset, shape, built: Built::default(), keep_dangling };
        build(&mut selected, selection, progress)?;
        Ok(selected)
    }

    /// The edges that are shown of each type, and those that an end is missing for. It costs a pass over their ends.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn edges_left(&self, progress: &dyn Progress) -> Result<Vec<EdgesLeft>> {
        let reader = Reader { dataset: &self.dataset, progress };
        let mut all = vec![EdgesLeft::default(); self.shape.edges.0.len()];
        let marked = |batch: Batch| {
            let Batch::Edges(edges) = &batch else { return Err(Error::usage("edges were asked for")) };
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

    /// The same with the numbers of edges in its description.
    pub fn with_rows(mut self, edges: &[EdgesLeft]) -> Selected {
        self.shape.graph.edges.iter_mut().zip(edges).for_each(|(ty, left)| ty.rows = Some(left.shown));
        self
    }

    /// The request for ends of edges, and for what their condition looks at.
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

    /// The edges of a batch that are wanted, whatever their ends.
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

    /// The edges of a batch that are wanted and whose ends are there.
    pub(super) fn whole(&self, batch: &Batch) -> Result<BooleanBuffer> {
        let Batch::Edges(edges) = batch else { return Err(Error::usage("edges were asked for")) };
        Ok(self.mark(edges, batch)?.whole)
    }

    fn mark(&self, edges: &EdgeBatch, batch: &Batch) -> Result<Marked> {
        let wanted = self.wanted(edges, batch)?;
        let ty = self.inner().edges.get(edges.ty).ok_or_else(|| Error::usage("edges of no type"))?;
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

    /// A batch as it is shown; nothing where no row of it is.
    fn show(&self, batch: Batch) -> Result<Option<Batch>> {
        match batch {
            Batch::Nodes(nodes) => self.show_nodes(nodes).map(|nodes| nodes.map(Batch::Nodes)),
            Batch::Edges(_) => self.show_edges(batch).map(|edges| edges.map(Batch::Edges)),
            Batch::Hyperedges(mut hyperedges) => {
                let Some((ty, shown)) = self.shape.hyperedges.find(hyperedges.ty) else { return Ok(None) };
                if let Some(kept) = self.built.hyperedges_kept(hyperedges.ty) {
                    let numbers = hyperedges.start..hyperedges.start + hyperedges.rows as u64;
                    let rows = Rows::new(numbers.clone().map(|row| kept.rows.rank(row).is_some()).collect());
                    let Some(start) = numbers.into_iter().find_map(|row| kept.rows.rank(row)) else { return Ok(None) };
                    (hyperedges.start, hyperedges.rows) = (start, rows.len());
                    hyperedges.keys = rows.of(&hyperedges.keys)?;
                    hyperedges.directed = hyperedges.directed.as_ref().map(|all| rows.of_typed(all)).transpose()?;
                    hyperedges.properties = rows.of_columns(hyperedges.properties)?;
                }
                hyperedges.ty = ty;
                hyperedges.properties = shown.project(hyperedges.properties);
                Ok(Some(Batch::Hyperedges(hyperedges)))
            }
            Batch::Members(members) => self.show_members(members).map(|members| members.map(Batch::Members)),
            Batch::Values(values) => self.show_values(values).map(|values| values.map(Batch::Values)),
            Batch::Groups(mut groups) => {
                let Some((kind, shown)) = self.shape.groups.find(groups.kind) else { return Ok(None) };
                if let Some(kept) = self.built.groups_kept(groups.kind) {
                    let numbers = groups.start..groups.start + groups.keys.len() as u64;
                    let rows = Rows::new(numbers.clone().map(|row| kept.rows.rank(row).is_some()).collect());
                    let Some(start) = numbers.into_iter().find_map(|row| kept.rows.rank(row)) else { return Ok(None) };
                    groups.start = start;
                    groups.keys = rows.of(&groups.keys)?;
                    groups.properties = rows.of_columns(groups.properties)?;
                }
                groups.kind = kind;
                groups.properties = shown.project(groups.properties);
                Ok(Some(Batch::Groups(groups)))
            }
            Batch::Memberships(members) => self.show_memberships(members).map(|all| all.map(Batch::Memberships)),
        }
    }

    fn show_nodes(&self, mut nodes: NodeBatch) -> Result<Option<NodeBatch>> {
        let Some((ty, shown)) = self.shape.nodes.find(nodes.ty) else { return Ok(None) };
        if let Some(kept) = self.built.nodes_kept(nodes.ty) {
            let ranks: Vec<Option<u64>> = (0..nodes.rows).map(|at| kept.rows.rank(number(&nodes, at))).collect();
            let Some(start) = ranks.iter().flatten().next().copied() else { return Ok(None) };
            let rows = Rows::new(ranks.iter().map(Option::is_some).collect());
            nodes.keys = nodes.keys.as_ref().map(|keys| rows.of(keys)).transpose()?;
            nodes.labels = nodes.labels.as_ref().map(|labels| rows.of_labels(labels));
            nodes.properties = rows.of_columns(nodes.properties)?;
            (nodes.start, nodes.rows, nodes.numbers) = (start, rows.len(), None);
            if let Some(bare) = &kept.bare {
                nodes = without_what_is_said(nodes, &|rank| bare.has(rank))?;
            }
        }
        nodes.ty = ty;
        nodes.properties = shown.project(nodes.properties);
        Ok(Some(nodes))
    }

    fn show_edges(&self, batch: Batch) -> Result<Option<EdgeBatch>> {
        let Batch::Edges(edges) = &batch else { return Ok(None) };
        let Some((ty, shown)) = self.shape.edges.find(edges.ty) else { return Ok(None) };
        let marked = self.mark(edges, &batch)?;
        let Batch::Edges(edges) = batch else { return Ok(None) };
        let left = marked.whole.count_set_bits();
        if left == 0 {
            return Ok(None);
        }
        let mut edges = match left == edges.rows {
            true => edges,
            false => Rows::new(marked.whole.clone()).of_edges(edges)?,
        };
        let renumbered = |ends: Ends, ranks: Option<Vec<u64>>| match (ends, ranks) {
            (Ends::Rows(_), Some(ranks)) => {
                let left = ranks.into_iter().zip(&marked.whole).filter(|(_, stays)| *stays).map(|(rank, _)| rank);
                Ends::Rows(UInt64Array::from_iter_values(left))
            }
            (ends, _) => ends,
        };
        edges.source = renumbered(edges.source, marked.source);
        edges.target = renumbered(edges.target, marked.target);
        edges.ty = ty;
        edges.properties = shown.project(edges.properties);
        Ok(Some(edges))
    }

    /// The ranks of elements that something refers to, where some of them are left out.
    fn ranks(&self, of: Owner, ends: &Ends) -> Result<Option<Vec<u64>>> {
        self.built.kept(of).map(|kept| kept.ranks(ends)).transpose()
    }

    fn show_members(&self, mut members: MemberBatch) -> Result<Option<MemberBatch>> {
        let Some((ty, _)) = self.shape.hyperedges.find(members.ty) else { return Ok(None) };
        let ends = self.inner().hyperedges.get(members.ty).map(|ty| ty.ends);
        let ends = ends.ok_or_else(|| Error::usage("members of no type"))?;
        let owner = self.ranks(Owner::Hyperedges(members.ty), &members.owner)?;
        let member = self.ranks(Owner::Nodes(ends), &members.member)?;
        let Some((rows, [owner, member])) = left(members.roles.len(), [owner, member]) else { return Ok(None) };
        members.owner = shown_ends(&rows, &members.owner, owner)?;
        members.member = shown_ends(&rows, &members.member, member)?;
        members.roles = rows.of_typed(&members.roles)?;
        members.layers = members.layers.as_ref().map(|layers| rows.of(layers)).transpose()?;
        members.coefficients = rows.of_numbers(members.coefficients.as_ref())?;
        members.ty = ty;
        Ok(Some(members))
    }

    fn show_values(&self, mut values: ValueBatch) -> Result<Option<ValueBatch>> {
        let Some((table, _)) = self.shape.values.find(values.table) else { return Ok(None) };
        let of = self.inner().values.get(values.table).map(|table| table.owner);
        let owner = self.ranks(of.ok_or_else(|| Error::usage("values of no table"))?, &values.owner)?;
        let Some((rows, [owner])) = left(values.values.len(), [owner]) else { return Ok(None) };
        values.owner = shown_ends(&rows, &values.owner, owner)?;
        values.values = rows.of(&values.values)?;
        values.qualifiers = rows.of_columns(values.qualifiers)?;
        values.table = table;
        Ok(Some(values))
    }

    fn show_memberships(&self, mut members: MembershipBatch) -> Result<Option<MembershipBatch>> {
        let Some((kind, _)) = self.shape.groups.find(members.kind) else { return Ok(None) };
        let Some((table, shown)) = self.shape.memberships.get(kind).and_then(|tables| tables.find(members.table))
        else {
            return Ok(None);
        };
        let of = self.inner().groups.get(members.kind).and_then(|kind| kind.memberships.get(members.table));
        let of = of.map(|table| table.of).ok_or_else(|| Error::usage("members of no kind"))?;
        let group = self.built.groups_kept(members.kind).map(|kept| kept.ranks(&members.group)).transpose()?;
        let member = self.ranks(of, &members.member)?;
        let Some((rows, [group, member])) = left(members.member.len(), [group, member]) else { return Ok(None) };
        members.group = shown_ends(&rows, &members.group, group)?;
        members.member = shown_ends(&rows, &members.member, member)?;
        members.properties = shown.project(rows.of_columns(members.properties)?);
        (members.kind, members.table) = (kind, table);
        Ok(Some(members))
    }

    /// What is asked of a format for the rows of a table.
    fn asked(&self, kind: TableKind, shown: &Shown, all: usize, test: Option<&Test>) -> Result<Option<Narrowing>> {
        if !shown.is_narrower() && test.is_none() {
            return Ok(None);
        }
        let push = match kind {
            // Of other types rows that are left out are not counted.
            TableKind::Nodes(ty) => {
                let ty = self.inner().nodes.get(ty);
                ty.is_some_and(|ty| ty.ordered) && !self.keep_dangling
            }
            _ => true,
        };
        asked(&self.dataset, kind, &shown.properties(all), test, push)
    }

    fn nodes(&self, ty: usize, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let shown = self.shape.nodes.0.get(ty).ok_or_else(|| Error::usage(format!("there is no node type {ty}")))?;
        let all = self.inner().nodes.get(shown.inner).map_or(0, |ty| ty.properties.len());
        let test = self.built.node_test(shown.inner);
        let inner = request.for_tables(Tables::Nodes(shown.inner));
        let inner = match self.asked(TableKind::Nodes(shown.inner), shown, all, test)? {
            Some(narrowing) => inner.narrowed(narrowing),
            None => inner,
        };
        self.parts(&inner)
    }

    fn edges(&self, ty: usize, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let shown = self.shape.edges.0.get(ty).ok_or_else(|| Error::usage(format!("there is no edge type {ty}")))?;
        let all = self.inner().edges.get(shown.inner).map_or(0, |ty| ty.properties.len());
        let test = self.built.edge_test(shown.inner);
        let inner = request.for_tables(Tables::Edges(shown.inner));
        let inner = match self.asked(TableKind::Edges(shown.inner), shown, all, test)? {
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

    /// Whether these tables are best read at once: where that is all that is wanted of them, and where one costs as much as all.
    fn reads_at_once(&self, tables: Tables) -> bool {
        let is_narrower = |all: &[Shown]| all.iter().any(Shown::is_narrower);
        let (nodes, edges) = (&self.shape.nodes.0, &self.shape.edges.0);
        let is_whole = self.shape.has_all_types(self.inner())
            && !is_narrower(nodes)
            && !is_narrower(edges)
            && !self.built.has_tests();
        let is_together = self.dataset.source().is_one_table() && nodes.len() + edges.len() > 2;
        matches!(tables, Tables::All | Tables::AllNodes | Tables::AllEdges) && (is_whole || is_together)
    }

    fn edge_inner(&self, ty: usize) -> Option<usize> {
        self.shape.edges.0.get(ty).map(|shown| shown.inner)
    }
}

/// Rows that refer to elements that are left out are left out: the rows that stay, and the ranks of theirs.
fn left<const N: usize>(rows: usize, ranks: [Option<Vec<u64>>; N]) -> Option<(Rows, [Option<Vec<u64>>; N])> {
    let is_there = |row: usize| ranks.iter().flatten().all(|ranks| ranks.get(row).is_some_and(|rank| *rank != ABSENT));
    let mask: BooleanBuffer = (0..rows).map(is_there).collect();
    let rows = Rows::new(mask.clone());
    let of = |ranks: Vec<u64>| ranks.into_iter().zip(&mask).filter(|(_, stays)| *stays).map(|(rank, _)| rank).collect();
    (rows.len() > 0).then(|| (rows, ranks.map(|ranks| ranks.map(of))))
}

/// Ends of rows that stay, under their new numbers.
fn shown_ends(rows: &Rows, ends: &Ends, ranks: Option<Vec<u64>>) -> Result<Ends> {
    match (ends, ranks) {
        (Ends::Rows(_), Some(ranks)) => Ok(Ends::Rows(ranks.into())),
        (ends, _) => rows.of_ends(ends),
    }
}

/// The same nodes; of those that are bare nothing but the key.
fn without_what_is_said(mut nodes: NodeBatch, is_bare: &dyn Fn(u64) -> bool) -> Result<NodeBatch> {
    let bare: Vec<bool> = (nodes.start..).take(nodes.rows).map(is_bare).collect();
    if !bare.contains(&true) {
        return Ok(nodes);
    }
    let mask = arrow_array::BooleanArray::from(bare.clone());
    for column in nodes.properties.iter_mut().flatten() {
        *column = arrow_select::nullif::nullif(column, &mask)
            .map_err(|error| Error::malformed(error.to_string()).caused_by(error))?;
    }
    nodes.labels = nodes.labels.as_ref().map(|labels| {
        let mut builder = LabelBuilder::default();
        for (row, bare) in bare.iter().enumerate() {
            builder.push(labels.row(row).filter(|_| !bare));
        }
        builder.finish()
    });
    Ok(nodes)
}

impl Source for Selected {
    fn graph(&self) -> &Graph {
        &self.shape.graph
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let (nodes, edges) = (0..self.shape.nodes.0.len(), 0..self.shape.edges.0.len());
        let mut parts = Vec::new();
        match request.tables {
            // A text is read once, and not once for each type.
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
        Ok(self.shown(self.dataset.source().neighbors(inner, node, side)?))
    }
}

impl Selected {
    /// That the node with this key stays. It costs a pass over the keys.
    ///
    /// # Errors
    /// [`Kind::NotFound`] when it does not.
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
