//! A table of the files, and what each graph on the way to it calls that.

use isomorph_model::{EdgeType, Graph, Key, KeyKind, NodeType, Property};

use crate::mapping::stored::{Stored, of_property};

/// What one graph on the way calls a table and its columns.
#[derive(Debug, Clone, Default)]
pub(super) struct Called {
    /// Which type of the graph, or which of its relations, the table is of, alone or with others; none of what the graph has no table for.
    pub(super) of: Option<usize>,
    /// Names that mean the table.
    pub(super) names: Vec<String>,
    /// Types of the ends of edges that say their relation each for itself.
    pub(super) ends: Option<(String, String)>,
    /// Whether the table holds edges of relations that its rows alone tell.
    pub(super) in_rows: bool,
    /// Names of columns, and which column of the table each is: none where it has none.
    pub(super) columns: Vec<(String, Option<usize>)>,
}

impl Called {
    /// The columns that are called so: several where a property has the name of the key.
    pub(super) fn columns<'a>(&'a self, name: &'a str) -> impl Iterator<Item = Option<usize>> + 'a {
        self.columns.iter().filter(move |(own, _)| own == name).map(|(_, at)| *at)
    }

    fn of(at: usize, key: Option<&Key>, properties: &[Property]) -> Called {
        let mut columns: Vec<(String, Option<usize>)> =
            properties.iter().zip(1..).map(|(property, at)| (property.name.clone(), Some(at))).collect();
        columns.extend(key.and_then(|key| key.name.clone()).map(|name| (name, Some(0))));
        Called { of: Some(at), columns, ..Called::default() }
    }

    fn of_node(at: usize, ty: &NodeType) -> Called {
        Called { names: vec![ty.name.clone()], ..Called::of(at, Some(&ty.key), &ty.properties) }
    }

    fn of_edge(at: usize, graph: &Graph, ty: &EdgeType) -> Called {
        let mut called = Called::of(at, ty.key.as_ref(), &ty.properties);
        let (source, _, target) = graph.edge_name(ty);
        match ty.relation.fixed() {
            Some(relation) => called.names = names(&source, relation, &target),
            None => called.ends = Some((source, target)),
        }
        called
    }
}

/// The names of an edge type.
fn names(source: &str, relation: &str, target: &str) -> Vec<String> {
    let joined = ["_", "-", " "].map(|by| [source, relation, target].join(by));
    std::iter::once(relation.to_owned()).chain(joined).collect()
}

/// A table: that of a type of the graph in which the way ends. Its first column is the key, if it has one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    /// One for each graph on the way, the shown one first.
    pub(super) called: Vec<Called>,
    /// What the columns stand for.
    pub(super) columns: Vec<Stored>,
}

impl Table {
    /// That of a node type of the shown graph.
    pub(super) fn of_node(at: usize, ty: &NodeType) -> Table {
        Table { called: vec![Called::of_node(at, ty)], columns: columns(&ty.properties) }
    }

    /// That of an edge type of the shown graph.
    pub(super) fn of_edge(at: usize, graph: &Graph, ty: &EdgeType) -> Table {
        Table { called: vec![Called::of_edge(at, graph, ty)], columns: columns(&ty.properties) }
    }

    /// What the shown graph has no node type for, but something else that is called so.
    pub(super) fn of_other(at: usize, name: &str, key: &Key, properties: &[Property]) -> Table {
        let called = Called { names: vec![name.to_owned()], ..Called::of(at, Some(key), properties) };
        let mut columns = columns(properties);
        // Lists of labels are JSON text of them where they are keys.
        if let Some(own) = columns.first_mut().filter(|_| key.kind == KeyKind::Tuple) {
            *own = Stored::Json;
        }
        Table { called: vec![called], columns }
    }

    /// What no graph on the way had until now.
    pub(super) fn added(graphs: usize) -> Table {
        Table { called: vec![Called::default(); graphs], columns: Vec::new() }
    }

    /// The table whose columns are these of this one; none for a column that is new.
    pub(super) fn moved(&self, from: &[Option<usize>]) -> Table {
        let mut called = self.called.clone();
        for (_, at) in called.iter_mut().flat_map(|called| &mut called.columns) {
            *at = at.and_then(|old| from.iter().position(|from| *from == Some(old)));
        }
        let stands = |from: &Option<usize>| from.and_then(|at| self.columns.get(at)).copied();
        Table { called, columns: from.iter().map(|from| stands(from).unwrap_or(Stored::Itself)).collect() }
    }

    /// The table with its columns in the same places, of which there may be more.
    pub(super) fn kept(&self, properties: usize) -> Table {
        self.moved(&(0..=properties).map(|at| (at < self.columns.len()).then_some(at)).collect::<Vec<_>>())
    }

    /// The relation of all edges in the table, which they said each for itself until now: number `at` of those that there are.
    pub(super) fn related(&mut self, at: usize, relation: &str) {
        for called in &mut self.called {
            if let Some((source, target)) = called.ends.take() {
                (called.of, called.names) = (Some(at), names(&source, relation, &target));
            }
        }
    }

    /// The relations of edges are a column of the table.
    pub(super) fn related_in_rows(&mut self) {
        self.called.iter_mut().filter(|called| called.ends.is_some()).for_each(|called| called.in_rows = true);
    }

    /// Adds what the next graph on the way calls it.
    pub(super) fn then_node(mut self, at: usize, ty: &NodeType) -> Table {
        self.called.push(Called::of_node(at, ty));
        self.columns.resize(ty.properties.len() + 1, Stored::Itself);
        self
    }

    /// Adds what the next graph on the way calls it.
    pub(super) fn then_edge(mut self, at: usize, graph: &Graph, ty: &EdgeType) -> Table {
        self.called.push(Called::of_edge(at, graph, ty));
        self.columns.resize(ty.properties.len() + 1, Stored::Itself);
        self
    }

    /// Takes down what a column stands for, beside what it stood for until now.
    pub(super) fn stands(&mut self, column: usize, stored: Stored) {
        if let Some(own) = self.columns.get_mut(column) {
            *own = own.and(stored);
        }
    }
}

/// What the columns of a table stand for where they are what they are.
fn columns(properties: &[Property]) -> Vec<Stored> {
    std::iter::once(Stored::Itself).chain(properties.iter().map(|property| of_property(property, property))).collect()
}
