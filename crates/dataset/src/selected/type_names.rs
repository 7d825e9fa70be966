//! The meaning of type names.

use std::borrow::Cow;
use std::collections::BTreeSet;

use isomorph_error::{Error, Result, did_you_mean};
use isomorph_model::{Graph, Relation, schema::EdgeType};

use crate::dataset::Dataset;
use crate::schema::Role;
use crate::table::{Table, TableKind};

/// The types that a name refers to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Named {
    pub nodes: Vec<usize>,
    pub edges: Vec<usize>,
    pub hyperedges: Vec<usize>,
    pub groups: Vec<usize>,
    /// Edge types whose rows may have this relation, each with the names that it may have there.
    pub in_rows: Vec<(usize, BTreeSet<String>)>,
}

/// Whether `name` refers to this edge type: by its relation, or by all three names.
fn is_edge(graph: &Graph, ty: &EdgeType, name: &str) -> bool {
    let (source, relation, target) = graph.edge_name(ty);
    let joined = |by: &str| [source.as_str(), relation.as_str(), target.as_str()].join(by);
    ty.relation.fixed().is_some() && (name == relation || ["_", "-", " "].iter().any(|by| name == joined(by)))
}

/// The relations that a name may refer to in the rows of an edge type: the name itself, and the part between the names
/// of the node types.
fn relations_of(graph: &Graph, ty: &EdgeType, name: &str) -> BTreeSet<String> {
    let (source, _, target) = graph.edge_name(ty);
    let between = |by: &&str| {
        name.strip_prefix(source.as_str())?.strip_prefix(by)?.strip_suffix(target.as_str())?.strip_suffix(by)
    };
    ["_", "-", " "].iter().filter_map(between).chain([name]).map(str::to_owned).collect()
}

impl Named {
    /// Everything that a name refers to.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] if it refers to nothing.
    pub fn new(dataset: &Dataset, name: &str) -> Result<Named> {
        let graph = dataset.source().graph();
        let mut found = Named {
            nodes: positions(&graph.nodes, |ty| ty.name == name),
            edges: positions(&graph.edges, |ty| is_edge(graph, ty, name)),
            hyperedges: positions(&graph.hyperedges, |ty| ty.name == name),
            groups: positions(&graph.groups, |kind| kind.kind == name),
            in_rows: Vec::new(),
        };
        let mut is_table = false;
        if found == Named::default() {
            for table in dataset.tables().iter().filter(|table| table.name() == name) {
                match table.kind() {
                    TableKind::Nodes(ty) => found.nodes.push(ty),
                    TableKind::Edges(ty) => {
                        found.edges.push(ty);
                        is_table = true;
                    }
                    TableKind::Hyperedges(ty) => found.hyperedges.push(ty),
                    TableKind::Groups(kind) => found.groups.push(kind),
                    TableKind::Members(_) | TableKind::Values(_) | TableKind::Memberships { .. } => {
                        let message = format!("{name} is not a type of nodes, edges, hyperedges or groups");
                        return Err(
                            Error::usage(message).hint("select types; the tables that belong to them are included")
                        );
                    }
                }
            }
        }
        if !is_table && found.nodes.is_empty() && found.hyperedges.is_empty() && found.groups.is_empty() {
            let own = |(at, ty): (usize, &EdgeType)| {
                let is_open = ty.relation == Relation::PerRow && !found.edges.contains(&at);
                is_open.then(|| (at, relations_of(graph, ty, name)))
            };
            found.in_rows = graph.edges.iter().enumerate().filter_map(own).collect();
        }
        if found == Named::default() { Err(unknown(graph, name)) } else { Ok(found) }
    }

    /// If there are several meanings, the one for a condition: nodes before edges before hyperedges before groups.
    pub fn first(mut self) -> Named {
        if !self.nodes.is_empty() {
            (self.edges, self.hyperedges, self.groups) = Default::default();
        } else if !self.edges.is_empty() {
            (self.hyperedges, self.groups) = Default::default();
        } else if !self.hyperedges.is_empty() {
            self.groups.clear();
        }
        self
    }

    /// All tables that the name refers to.
    pub fn tables(&self) -> impl Iterator<Item = TableKind> + '_ {
        let edges = self.edges.iter().chain(self.in_rows.iter().map(|(at, _)| at)).map(|at| TableKind::Edges(*at));
        let others = self.hyperedges.iter().map(|at| TableKind::Hyperedges(*at));
        let groups = self.groups.iter().map(|at| TableKind::Groups(*at));
        self.nodes.iter().map(|at| TableKind::Nodes(*at)).chain(edges).chain(others).chain(groups)
    }

    /// The relations of which a row must have one, if only reading can show whether the type exists.
    pub fn open(&self) -> Option<BTreeSet<String>> {
        let is_open = self.edges.is_empty() && !self.in_rows.is_empty();
        is_open.then(|| self.in_rows.iter().flat_map(|(_, names)| names.iter().cloned()).collect())
    }
}

fn positions<T>(all: &[T], is_meant: impl Fn(&T) -> bool) -> Vec<usize> {
    all.iter().enumerate().filter(|(_, one)| is_meant(one)).map(|(at, _)| at).collect()
}

/// The error for a name that refers to nothing in `graph`; `also` are relations that rows have.
pub(super) fn unknown_among(graph: &Graph, name: &str, also: &BTreeSet<String>) -> Error {
    let nodes = graph.nodes.iter().map(|ty| ty.name.as_str());
    let edges = graph.edges.iter().filter_map(|ty| ty.relation.fixed());
    let others = graph.hyperedges.iter().map(|ty| ty.name.as_str());
    let others = others.chain(graph.groups.iter().map(|kind| kind.kind.as_str()));
    let mut all: Vec<&str> = Vec::new();
    for known in nodes.chain(edges).chain(also.iter().map(String::as_str)).chain(others) {
        if !all.contains(&known) {
            all.push(known);
        }
    }
    let near = did_you_mean(name, all.iter().copied());
    let shown = all.iter().take(20).map(|name| in_a_list(name)).collect::<Vec<_>>().join(", ");
    let error = Error::usage(format!("there is no type {}{near}", in_a_list(name))).hint(format!("one of {shown}"));
    match graph.values.iter().any(|table| table.property.name == name) {
        true => error.hint(format!("--columns {name}    select literals")),
        false => error,
    }
}

/// A name as lists of names take it: between ` if it would otherwise be no name or several.
fn in_a_list(name: &str) -> Cow<'_, str> {
    match name.is_empty() || name.contains([',', '`']) {
        true => Cow::Owned(format!("`{}`", name.replace('`', "``"))),
        false => Cow::Borrowed(name),
    }
}

fn unknown(graph: &Graph, name: &str) -> Error {
    unknown_among(graph, name, &BTreeSet::new())
}

/// The selected properties, by name or as `TYPE.NAME`.
pub(super) struct Columns<'a> {
    names: Option<&'a [String]>,
    graph: &'a Graph,
}

impl<'a> Columns<'a> {
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] for a name that no type has.
    pub fn new(dataset: &'a Dataset, names: Option<&'a [String]>) -> Result<Self> {
        let graph = dataset.source().graph();
        for name in names.into_iter().flatten() {
            let one = Columns { names: Some(std::slice::from_ref(name)), graph };
            if !dataset.tables().iter().any(|table| one.knows(table)) {
                // In TYPE.NAME, the missing name is the part after the dot, or the whole.
                let wanted = name.rsplit_once('.').map_or(name.as_str(), |(_, property)| property);
                let columns =
                    dataset.tables().iter().flat_map(|table| table.roles().iter().zip(table.schema().fields()));
                let columns = columns.filter(|(role, _)| matches!(role, Role::Property(_) | Role::Key));
                let values = graph.values.iter().map(|table| table.property.name.as_str());
                let known = columns.map(|(_, field)| field.name().as_str()).chain(values);
                let near = did_you_mean(wanted, known);
                return Err(Error::usage(format!("there is no property {name}{near}")));
            }
        }
        Ok(Columns { names, graph })
    }

    /// Whether the table has a property with one of these names; keys count as columns, as they are always included.
    fn knows(&self, table: &Table) -> bool {
        let own = match table.kind() {
            TableKind::Values(at) => {
                let table = self.graph.values.get(at);
                return table.is_some_and(|table| self.shows(table.owner.into(), &table.property.name));
            }
            kind => kind,
        };
        let mut columns = table.roles().iter().zip(table.schema().fields());
        columns.any(|(role, field)| matches!(role, Role::Property(_) | Role::Key) && self.shows(own, field.name()))
    }

    /// Whether the property `name` of a table is selected.
    pub fn shows(&self, of: TableKind, name: &str) -> bool {
        let Some(names) = self.names else { return true };
        let is_type = |ty: &str| match of {
            TableKind::Nodes(at) => self.graph.nodes.get(at).is_some_and(|own| own.name == ty),
            TableKind::Edges(at) => self.graph.edges.get(at).is_some_and(|own| {
                let (source, _, target) = self.graph.edge_name(own);
                let whole = || own.relation == Relation::PerRow && ty == format!("{source}_to_{target}");
                is_edge(self.graph, own, ty) || whole()
            }),
            TableKind::Hyperedges(at) | TableKind::Members(at) => {
                self.graph.hyperedges.get(at).is_some_and(|own| own.name == ty)
            }
            TableKind::Groups(at) | TableKind::Memberships { kind: at, .. } => {
                self.graph.groups.get(at).is_some_and(|own| own.kind == ty)
            }
            TableKind::Values(_) => false,
        };
        names.iter().any(|wanted| {
            let typed = || wanted.strip_suffix(name).and_then(|rest| rest.strip_suffix('.'));
            wanted == name || typed().is_some_and(is_type)
        })
    }
}
