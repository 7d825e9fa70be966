//! Determines which elements a selection keeps.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_buffer::BooleanBuffer;
use isomorph_error::{Error, Result};
use isomorph_model::schema::Owner;
use isomorph_model::{Batch, EndForm, Graph, KeyKind, Progress, Request, Tables};
use isomorph_tables::lookup::ABSENT;

use super::Selection;
use super::hyperedges::hyperedges;
use super::implied_nodes::bare_ends;
use super::kept_rows::{Kept, Reader, in_memory, read};
use super::row_set::{Bits, RowSet};
use super::test::{Conditions, Test};
use super::type_names::{Named, unknown_among};
use super::view::Selected;
use crate::table::TableKind;

/// The test that each table has, and the rows that are kept: by the index of the table in the whole graph, for tables
/// that are not kept whole.
#[derive(Default)]
pub(super) struct Built {
    node_tests: BTreeMap<usize, Test>,
    edge_tests: BTreeMap<usize, Test>,
    pub nodes: BTreeMap<usize, Kept>,
    edges: BTreeMap<usize, Kept>,
    pub hyperedges: BTreeMap<usize, Kept>,
    groups: BTreeMap<usize, Kept>,
}

impl Built {
    pub fn node_test(&self, ty: usize) -> Option<&Test> {
        self.node_tests.get(&ty)
    }

    pub fn edge_test(&self, ty: usize) -> Option<&Test> {
        self.edge_tests.get(&ty)
    }

    pub fn has_tests(&self) -> bool {
        !self.node_tests.is_empty() || !self.edge_tests.is_empty()
    }

    pub fn nodes_kept(&self, ty: usize) -> Option<&Kept> {
        self.nodes.get(&ty)
    }

    pub fn hyperedges_kept(&self, ty: usize) -> Option<&Kept> {
        self.hyperedges.get(&ty)
    }

    pub fn groups_kept(&self, kind: usize) -> Option<&Kept> {
        self.groups.get(&kind)
    }

    /// The elements of a table that are kept; `None` if all are.
    pub fn kept(&self, of: Owner) -> Option<&Kept> {
        match of {
            Owner::Nodes(ty) => self.nodes.get(&ty),
            Owner::Edges(ty) => self.edges.get(&ty),
            Owner::Hyperedges(ty) => self.hyperedges.get(&ty),
        }
    }
}

/// The conditions of each table.
#[derive(Default)]
struct ByTable {
    nodes: BTreeMap<usize, Conditions>,
    edges: BTreeMap<usize, Conditions>,
    hyperedges: BTreeMap<usize, Conditions>,
    groups: BTreeMap<usize, Conditions>,
}

/// Reads what must be known before the selection can be shown.
pub(super) fn build(selected: &mut Selected, selection: &Selection, progress: &dyn Progress) -> Result<()> {
    let conditions = conditions(selected, selection)?;
    relations(selected, progress)?;
    tests(selected, &conditions)?;
    groups(selected, &conditions.groups, progress)?;
    nodes(selected, selection, progress)?;
    if selection.keep_dangling {
        bare_ends(selected, progress)?;
    }
    hyperedges(selected, &conditions.hyperedges, selection.keep_dangling, progress)?;
    edges(selected, progress)?;
    describe(selected, selection)
}

/// The conditions, by table.
fn conditions(selected: &mut Selected, selection: &Selection) -> Result<ByTable> {
    let mut all = ByTable::default();
    for (name, predicate) in &selection.conditions {
        let named = Named::new(&selected.dataset, name)?.first();
        named.nodes.iter().try_for_each(|ty| is_listed(selected, *ty))?;
        selected.shape.open.extend(named.open().map(|relations| (name.clone(), relations)));
        for (tables, found) in [
            (&mut all.nodes, &named.nodes),
            (&mut all.edges, &named.edges),
            (&mut all.hyperedges, &named.hyperedges),
            (&mut all.groups, &named.groups),
        ] {
            found.iter().for_each(|at| tables.entry(*at).or_default().add(None, predicate.clone()));
        }
        for (at, relations) in &named.in_rows {
            all.edges.entry(*at).or_default().add(Some(relations.clone()), predicate.clone());
        }
    }
    Ok(all)
}

/// Checks that each relation which only rows can have occurs in a row. Reading ends when the last one is found.
fn relations(selected: &Selected, progress: &dyn Progress) -> Result<()> {
    let mut missing = selected.shape.open.clone();
    let mut seen = std::collections::BTreeSet::new();
    let graph = selected.inner();
    for (ty, _) in graph.edges.iter().enumerate().filter(|(_, ty)| ty.relation.fixed().is_none()) {
        if missing.is_empty() {
            return Ok(());
        }
        let parts = selected.dataset.source().scan(&Request::of(Tables::EdgeEnds(ty)))?;
        progress.begin("relations", parts.iter().map(|part| part.rows()).sum());
        for batch in parts.into_iter().flatten() {
            let Batch::Edges(edges) = batch? else { continue };
            progress.advance(edges.rows as u64)?;
            let Some(own) = &edges.relations else { continue };
            let mut used = vec![false; own.names.len()];
            for at in own.index.values() {
                if let Some(used) = used.get_mut(*at as usize) {
                    *used = true;
                }
            }
            for (name, _) in own.names.iter().zip(used).filter(|(_, used)| *used) {
                let Some(name) = name else { continue };
                missing.retain(|_, relations| !relations.contains(name));
                if seen.len() < 1_000 && !seen.contains(name) {
                    seen.insert(name.to_owned());
                }
            }
            if missing.is_empty() {
                break;
            }
        }
        progress.end();
    }
    missing.keys().next().map_or(Ok(()), |name| Err(unknown_among(graph, name, &seen)))
}

fn tests(selected: &mut Selected, conditions: &ByTable) -> Result<()> {
    for (ty, conditions) in &conditions.nodes {
        let test = Test::new(&selected.dataset, TableKind::Nodes(*ty), conditions)?;
        selected.built.node_tests.extend(test.map(|test| (*ty, test)));
    }
    for (ty, conditions) in &conditions.edges {
        let test = Test::new(&selected.dataset, TableKind::Edges(*ty), conditions)?;
        selected.built.edge_tests.extend(test.map(|test| (*ty, test)));
    }
    Ok(())
}

/// Kinds of groups that ends and rows of edges refer to: removing some of these groups would leave edges in groups that
/// do not exist.
pub(super) const NAMED_BY_EDGES: [&str; 4] = ["graph", "layer", "aspect", "elementary"];

/// The groups that contain everything: these are kept, as no element states that it is in them.
fn in_all(keys: &ArrayRef, all: &[String]) -> BooleanBuffer {
    match keys.as_string_opt::<i32>() {
        Some(keys) => keys.iter().map(|key| key.is_some_and(|key| all.iter().any(|own| own == key))).collect(),
        None => BooleanBuffer::new_unset(keys.len()),
    }
}

fn groups(selected: &mut Selected, conditions: &BTreeMap<usize, Conditions>, progress: &dyn Progress) -> Result<()> {
    let reader = Reader { dataset: &selected.dataset, progress };
    let mut all = BTreeMap::new();
    for (at, conditions) in conditions {
        let Some(kind) = selected.inner().groups.get(*at) else { continue };
        if NAMED_BY_EDGES.contains(&kind.kind.as_str()) || kind.key.kind == KeyKind::Tuple {
            let message =
                format!("edges state which {} they are in, so a condition cannot select from these", kind.kind);
            return Err(Error::unsupported(message).hint("conditions on nodes, edges and hyperedges are possible"));
        }
        let Some(test) = Test::new(&selected.dataset, TableKind::Groups(*at), conditions)? else { continue };
        let (mut bits, mut keys) = (Bits::default(), reader.keys(2));
        let prepare = |batch: Batch| match &batch {
            Batch::Groups(groups) if groups.kind == *at => {
                let rows = &test.passing(&batch)? | &in_all(&groups.keys, &kind.all);
                Ok(Some((groups.start, super::batches::Rows::new(rows.clone()).of(&groups.keys)?, rows)))
            }
            _ => Ok(None),
        };
        let take = |found: Option<(u64, ArrayRef, arrow_buffer::BooleanBuffer)>| {
            let Some((start, found, rows)) = found else { return Ok(()) };
            rows.set_indices().for_each(|row| bits.add(start + row as u64));
            keys.push(found.as_ref())
        };
        let parts = selected.dataset.source().scan(&Request::of(Tables::Rest))?;
        read(parts, reader.threads(), "selection", progress, prepare, take)?;
        all.insert(*at, Kept { rows: RowSet::from(bits), bare: None, keys: Some(in_memory(keys)?) });
    }
    selected.built.groups = all;
    Ok(())
}

/// Whether other tables can refer to nodes of this type by key.
fn named_by_keys(selected: &Selected, ty: usize) -> bool {
    let graph = selected.inner();
    let by_key = |at: usize| selected.dataset.source().end_form(at) == EndForm::Keys;
    let has_key = graph.nodes.get(ty).is_some_and(|ty| ty.key.kind != KeyKind::Row);
    let mut edges =
        selected.shape.edges.0.iter().filter_map(|shown| Some((shown.inner, graph.edges.get(shown.inner)?)));
    has_key
        && (edges.any(|(at, own)| (own.source == ty || own.target == ty) && by_key(at))
            || selected.shape.is_owner(graph, Owner::Nodes(ty)))
}

/// Checks that nodes of a type are rows, and not only mentioned in triples.
///
/// # Errors
/// Returns [`isomorph_error::Kind::Unsupported`] if they are not.
fn is_listed(selected: &Selected, ty: usize) -> Result<()> {
    let named = selected.inner().nodes.get(ty).filter(|ty| ty.implied && ty.key.kind == KeyKind::Term);
    let Some(ty) = named else { return Ok(()) };
    let message = format!("{} nodes exist only in triples, so there is no table of nodes to select from", ty.name);
    Err(Error::unsupported(message)
        .hint("isomorph match PATH PATTERN    finds triples")
        .hint("--types and --columns    select predicates"))
}

fn nodes(selected: &mut Selected, selection: &Selection, progress: &dyn Progress) -> Result<()> {
    let graph = selected.inner();
    let all = selection.limit.is_some() || selection.sample.is_some();
    let chosen: Vec<usize> = selected.shape.nodes.0.iter().map(|shown| shown.inner).collect();
    let chosen: Vec<usize> =
        chosen.into_iter().filter(|ty| all || selected.built.node_tests.contains_key(ty)).collect();
    chosen.iter().try_for_each(|ty| is_listed(selected, *ty))?;
    if let Some(ty) =
        chosen.iter().filter_map(|ty| graph.nodes.get(*ty)).find(|ty| ty.implied && selection.keep_dangling)
    {
        let message = format!(
            "edges of this format may refer to {} without rows, which look like those that are left out",
            ty.name
        );
        return Err(Error::unsupported(message).hint("without --keep-dangling    such edges are left out"));
    }
    let by_keys: Vec<bool> = chosen.iter().map(|ty| named_by_keys(selected, *ty)).collect();
    let several = by_keys.iter().filter(|by_keys| **by_keys).count() * if selection.keep_dangling { 2 } else { 1 };
    let reader = Reader { dataset: &selected.dataset, progress };
    let mut kept = BTreeMap::new();
    for (ty, by_keys) in chosen.iter().zip(by_keys) {
        let test = selected.built.node_test(*ty);
        kept.insert(*ty, reader.nodes(*ty, test, selection, by_keys.then_some(several))?);
    }
    selected.built.nodes = kept;
    Ok(())
}

/// The edges that are kept, if other tables refer to edges.
fn edges(selected: &mut Selected, progress: &dyn Progress) -> Result<()> {
    let reader = Reader { dataset: &selected.dataset, progress };
    let mut all = BTreeMap::new();
    for shown in &selected.shape.edges.0 {
        let graph = selected.inner();
        let Some(ty) = graph.edges.get(shown.inner) else { continue };
        let is_chosen = selected.shape.relations.get(shown.inner).is_some_and(Option::is_some)
            || selected.built.edge_test(shown.inner).is_some()
            || [ty.source, ty.target].iter().any(|end| selected.built.nodes_kept(*end).is_some());
        if !is_chosen || !selected.shape.is_owner(graph, Owner::Edges(shown.inner)) {
            continue;
        }
        let (mut bits, mut keys, mut start) = (Bits::default(), ty.key.as_ref().map(|_| reader.keys(2)), 0u64);
        let prepare = |batch: Batch| {
            let rows = selected.whole(&batch)?;
            let Batch::Edges(edges) = batch else { return Err(Error::usage("expected edges")) };
            let keys = edges.keys.as_ref().map(|keys| super::batches::Rows::new(rows.clone()).of(keys)).transpose()?;
            Ok((rows, keys))
        };
        let take = |(rows, found): (arrow_buffer::BooleanBuffer, Option<ArrayRef>)| {
            rows.set_indices().for_each(|row| bits.add(start + row as u64));
            start += rows.len() as u64;
            match (&mut keys, found) {
                (Some(keys), Some(found)) => keys.push(found.as_ref()),
                _ => Ok(()),
            }
        };
        let parts = selected.dataset.source().scan(&Request::of(Tables::Edges(shown.inner)))?;
        read(parts, reader.threads(), "edges", progress, prepare, take)?;
        all.insert(shown.inner, Kept { rows: RowSet::from(bits), bare: None, keys: keys.map(in_memory).transpose()? });
    }
    selected.built.edges = all;
    Ok(())
}

/// Updates the description with the row counts that are now known.
fn describe(selected: &mut Selected, selection: &Selection) -> Result<()> {
    let Selected { shape, built, dataset, .. } = selected;
    let inner: &Graph = dataset.source().graph();
    let Graph { nodes, edges, hyperedges, values, groups, .. } = &mut shape.graph;
    for (ty, shown) in nodes.iter_mut().zip(&shape.nodes.0) {
        let Some(kept) = built.nodes.get(&shown.inner) else { continue };
        ty.rows = Some(kept.rows.len());
        if kept.bare.is_some() {
            let said = ty.properties.iter_mut().filter(|property| !selection.inseparable.contains(&property.name));
            said.for_each(|property| property.nullable = true);
        }
    }
    for (ty, shown) in edges.iter_mut().zip(&shape.edges.0) {
        let ends = inner.edges.get(shown.inner).map(|ty| [ty.source, ty.target]).unwrap_or_default();
        let is_less =
            built.edge_tests.contains_key(&shown.inner) || ends.iter().any(|end| built.nodes.contains_key(end));
        ty.rows = ty.rows.filter(|_| !is_less);
    }
    for (ty, shown) in hyperedges.iter_mut().zip(&shape.hyperedges.0) {
        if let Some(kept) = built.hyperedges.get(&shown.inner) {
            ty.rows = Some(kept.rows.len());
        }
    }
    for (table, shown) in values.iter_mut().zip(&shape.values.0) {
        let owner = inner.values.get(shown.inner).map(|table| table.owner);
        table.rows = table.rows.filter(|_| owner.is_some_and(|owner| built.kept(owner).is_none()));
    }
    for (kind, shown) in groups.iter_mut().zip(&shape.groups.0) {
        let Some(keys) = built.groups.get(&shown.inner).and_then(|kept| kept.keys.as_ref()) else { continue };
        let mut ranks = Vec::new();
        keys.translate(&StringArray::from(kind.all.clone()), &mut ranks)?;
        let mut ranks = ranks.into_iter();
        kind.all.retain(|_| ranks.next().is_some_and(|rank| rank != ABSENT));
    }
    Ok(())
}
