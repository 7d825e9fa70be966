//! The description of the selected graph, and the tables and columns of the whole graph that it refers to.

use std::collections::{BTreeMap, BTreeSet};

use isomorph_error::{Error, Result};
use isomorph_model::schema::Owner;
use isomorph_model::{Columns as Cells, Graph, Property};

use super::Selection;
use super::build::NAMED_BY_EDGES;
use super::type_names::{Columns, Named};
use crate::dataset::Dataset;
use crate::schema::property_name;
use crate::table::TableKind;

/// A table that is shown.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    /// Its index in the whole graph.
    pub inner: usize,
    /// The positions there of the properties that are shown, ascending; `None` if all are.
    properties: Option<Vec<usize>>,
}

impl Shown {
    /// The positions of the properties that are shown.
    pub fn properties(&self, all: usize) -> Vec<usize> {
        self.properties.clone().unwrap_or_else(|| (0..all).collect())
    }

    /// Whether columns are left out.
    pub fn is_narrower(&self) -> bool {
        self.properties.is_some()
    }

    /// Selects the columns that are shown.
    pub fn project(&self, columns: Cells) -> Cells {
        match &self.properties {
            None => columns,
            Some(positions) => positions.iter().map(|at| columns.get(*at).cloned().flatten()).collect(),
        }
    }
}

/// Tables of one sort that are shown.
#[derive(Debug, Clone, Default)]
pub(super) struct Tables(pub Vec<Shown>);

impl Tables {
    /// The index under which a table of the whole graph is shown, and what is shown of it.
    pub fn find(&self, inner: usize) -> Option<(usize, &Shown)> {
        self.0.iter().enumerate().find(|(_, shown)| shown.inner == inner)
    }

    fn has(&self, inner: usize) -> bool {
        self.find(inner).is_some()
    }

    fn index(&self, inner: usize) -> Option<usize> {
        self.find(inner).map(|(at, _)| at)
    }
}

/// The selected part of a graph.
#[derive(Debug, Clone, Default)]
pub(super) struct Shape {
    pub graph: Graph,
    pub nodes: Tables,
    pub edges: Tables,
    pub hyperedges: Tables,
    pub values: Tables,
    pub groups: Tables,
    /// The membership tables of each kind of groups that is shown.
    pub memberships: Vec<Tables>,
    /// For edge types whose rows name their relations, by the index in the whole graph: the selected relations; `None`
    /// if all are.
    pub relations: Vec<Option<BTreeSet<String>>>,
    /// Names of relations that exist only if a row has one of the relations that the name may refer to.
    pub open: BTreeMap<String, BTreeSet<String>>,
}

/// The selected types, by index.
#[derive(Debug, Default)]
struct Wanted {
    nodes: BTreeSet<usize>,
    edges: BTreeSet<usize>,
    hyperedges: BTreeSet<usize>,
    groups: Option<BTreeSet<usize>>,
}

impl From<Owner> for TableKind {
    fn from(owner: Owner) -> Self {
        match owner {
            Owner::Nodes(ty) => TableKind::Nodes(ty),
            Owner::Edges(ty) => TableKind::Edges(ty),
            Owner::Hyperedges(ty) => TableKind::Hyperedges(ty),
        }
    }
}

impl Shape {
    /// Applies the types and columns of `selection` to a graph.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] for names that do not exist.
    pub fn new(dataset: &Dataset, selection: &Selection) -> Result<Shape> {
        let graph = dataset.source().graph();
        let mut shape = Shape { relations: vec![None; graph.edges.len()], ..Shape::default() };
        let wanted = shape.wanted(dataset, selection.types.as_deref())?;
        let columns = Columns::new(dataset, selection.columns.as_deref())?;
        shape.graph = Graph {
            name: graph.name.clone(),
            documents: graph.documents.clone(),
            metadata: graph.metadata.clone(),
            ..Graph::default()
        };
        let narrow = selection.columns.is_some();
        let chosen = |of: TableKind, properties: &[Property]| {
            let shown = |(at, property): (usize, &Property)| {
                let stays = selection.inseparable.contains(&property.name);
                (stays || columns.shows(of, property_name(property))).then_some(at)
            };
            narrow.then(|| properties.iter().enumerate().filter_map(shown).collect::<Vec<_>>())
        };
        let keep = |properties: &mut Vec<Property>, positions: &Option<Vec<usize>>| {
            if let Some(positions) = positions {
                *properties = positions.iter().filter_map(|at| properties.get(*at).cloned()).collect();
            }
        };
        for (at, ty) in graph.nodes.iter().enumerate().filter(|(at, _)| wanted.nodes.contains(at)) {
            let (mut ty, properties) = (ty.clone(), chosen(TableKind::Nodes(at), &ty.properties));
            keep(&mut ty.properties, &properties);
            shape.nodes.0.push(Shown { inner: at, properties });
            shape.graph.nodes.push(ty);
        }
        for (at, ty) in graph.edges.iter().enumerate().filter(|(at, _)| wanted.edges.contains(at)) {
            let (Some(source), Some(target)) = (shape.nodes.index(ty.source), shape.nodes.index(ty.target)) else {
                return Err(Error::usage("edges refer to a node type that is left out"));
            };
            let (mut ty, properties) = (ty.clone(), chosen(TableKind::Edges(at), &ty.properties));
            keep(&mut ty.properties, &properties);
            (ty.source, ty.target) = (source, target);
            if shape.relations.get(at).is_some_and(Option::is_some) {
                ty.rows = None;
            }
            shape.edges.0.push(Shown { inner: at, properties });
            shape.graph.edges.push(ty);
        }
        for (at, ty) in graph.hyperedges.iter().enumerate().filter(|(at, _)| wanted.hyperedges.contains(at)) {
            let Some(ends) = shape.nodes.index(ty.ends) else {
                return Err(Error::usage("hyperedges refer to a node type that is left out"));
            };
            let (mut ty, properties) = (ty.clone(), chosen(TableKind::Hyperedges(at), &ty.properties));
            keep(&mut ty.properties, &properties);
            ty.ends = ends;
            shape.hyperedges.0.push(Shown { inner: at, properties });
            shape.graph.hyperedges.push(ty);
        }
        for (at, table) in graph.values.iter().enumerate() {
            let Some(owner) = shape.owner(table.owner) else { continue };
            if !columns.shows(table.owner.into(), &table.property.name) {
                continue;
            }
            let mut table = table.clone();
            table.owner = owner;
            shape.values.0.push(Shown { inner: at, properties: None });
            shape.graph.values.push(table);
        }
        for (at, kind) in graph.groups.iter().enumerate() {
            if wanted.groups.as_ref().is_some_and(|groups| !groups.contains(&at)) {
                continue;
            }
            let (mut kind, properties) = (kind.clone(), chosen(TableKind::Groups(at), &kind.properties));
            keep(&mut kind.properties, &properties);
            let mut tables = Tables::default();
            for (table, members) in std::mem::take(&mut kind.memberships).into_iter().enumerate() {
                let Some(of) = shape.owner(members.of) else { continue };
                let own = TableKind::Memberships { kind: at, table };
                let (mut members, properties) = (members.clone(), chosen(own, &members.properties));
                keep(&mut members.properties, &properties);
                members.of = of;
                tables.0.push(Shown { inner: table, properties });
                kind.memberships.push(members);
            }
            shape.memberships.push(tables);
            shape.groups.0.push(Shown { inner: at, properties });
            shape.graph.groups.push(kind);
        }
        Ok(shape)
    }

    /// The table of an element of the whole graph, if it is shown.
    fn owner(&self, owner: Owner) -> Option<Owner> {
        match owner {
            Owner::Nodes(ty) => self.nodes.index(ty).map(Owner::Nodes),
            Owner::Edges(ty) => self.edges.index(ty).map(Owner::Edges),
            Owner::Hyperedges(ty) => self.hyperedges.index(ty).map(Owner::Hyperedges),
        }
    }

    /// Whether every type is shown.
    pub fn has_all_types(&self, graph: &Graph) -> bool {
        (self.nodes.0.len(), self.edges.0.len()) == (graph.nodes.len(), graph.edges.len())
    }

    fn wanted(&mut self, dataset: &Dataset, types: Option<&[String]>) -> Result<Wanted> {
        let graph = dataset.source().graph();
        let mut wanted = Wanted::default();
        let Some(types) = types else {
            wanted.nodes.extend(0..graph.nodes.len());
            wanted.edges.extend(0..graph.edges.len());
            wanted.hyperedges.extend(0..graph.hyperedges.len());
            return Ok(wanted);
        };
        let mut whole = BTreeSet::new();
        let (mut edges, mut hyperedges, mut groups) =
            (BTreeSet::<usize>::new(), BTreeSet::<usize>::new(), BTreeSet::new());
        for name in types {
            let named = Named::new(dataset, name)?;
            self.open.extend(named.open().map(|relations| (name.clone(), relations)));
            for (at, names) in &named.in_rows {
                if let Some(relations) = self.relations.get_mut(*at) {
                    relations.get_or_insert_default().extend(names.iter().cloned());
                }
            }
            wanted.nodes.extend(&named.nodes);
            edges.extend(named.edges.iter().chain(named.in_rows.iter().map(|(at, _)| at)));
            hyperedges.extend(&named.hyperedges);
            groups.extend(&named.groups);
            whole.extend(named.edges);
        }
        // A table that is selected by its own name is selected whole.
        for (_, relations) in self.relations.iter_mut().enumerate().filter(|(at, _)| whole.contains(at)) {
            *relations = None;
        }
        let ends = edges.iter().filter_map(|at| graph.edges.get(*at)).flat_map(|ty| [ty.source, ty.target]);
        wanted.nodes.extend(ends.chain(hyperedges.iter().filter_map(|at| Some(graph.hyperedges.get(*at)?.ends))));
        let all = edges.is_empty() && hyperedges.is_empty();
        let has = |ty: &usize| wanted.nodes.contains(ty);
        wanted.edges = match all {
            true => {
                (0..).zip(&graph.edges).filter(|(_, ty)| has(&ty.source) && has(&ty.target)).map(|(at, _)| at).collect()
            }
            false => edges,
        };
        wanted.hyperedges = match all {
            true => (0..).zip(&graph.hyperedges).filter(|(_, ty)| has(&ty.ends)).map(|(at, _)| at).collect(),
            false => hyperedges,
        };
        if !groups.is_empty() {
            let is_named = |at: &usize| graph.groups.get(*at).is_some_and(|own| NAMED_BY_EDGES.contains(&&*own.kind));
            groups.extend((0..graph.groups.len()).filter(is_named));
            wanted.groups = Some(groups);
        }
        Ok(wanted)
    }
}

impl Shape {
    /// Whether other tables of this owner are shown: hyperedges, values, groups.
    pub fn is_owner(&self, graph: &Graph, of: Owner) -> bool {
        let values = self.values.0.iter().filter_map(|shown| graph.values.get(shown.inner));
        let groups = self.groups.0.iter().filter_map(|shown| graph.groups.get(shown.inner));
        let mut members = groups.flat_map(|kind| &kind.memberships);
        let hyperedges = graph.hyperedges.iter().enumerate().filter(|(at, _)| self.hyperedges.has(*at));
        let mut ends = hyperedges.map(|(_, ty)| Owner::Nodes(ty.ends));
        values.into_iter().any(|table| table.owner == of)
            || members.any(|table| table.of == of)
            || ends.any(|end| end == of)
    }
}
