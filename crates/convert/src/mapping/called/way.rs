//! The way from the graph that is shown to that of the files, step by step.

use isomorph_error::{Error, Result};
use isomorph_model::schema::{GroupKind, HyperedgeType};
use isomorph_model::{EdgeType, Graph, NodeType, Property, ValueKind};

use super::{IGNORE, Mapping, Step, Stored, Table, Tables};
use crate::mapping::stored::{compares_as, of_property};
use crate::mapping::{Bundling, By, Fitting, Parting, Reification, Relating, Slot};

impl Mapping {
    /// The tables of the files, and what they are called on the way there.
    ///
    /// # Errors
    /// Of a way with a step that leads to files which have no tables of their own.
    pub(crate) fn tables(&self) -> Result<Tables> {
        let mut way: Option<Way<'_>> = None;
        for step in &self.steps {
            let (from, to) = match step {
                Step::Shred(record) => (&record.bundled, &record.typed),
                Step::Relate(record) => (&record.single, &record.typed),
                Step::Part(record) => (&record.single, &record.typed),
                Step::Complete(record) => (&record.found, &record.completed),
                Step::Fit(record) => (&record.graph, &record.fitted),
                Step::Gather(record) => (&record.rdf, &record.bundled),
                Step::Reify(record) => (&record.rich, &record.plain),
                Step::Native(graph) | Step::Declare(graph) => (&**graph, &**graph),
                _ => return Err(Error::unsupported("a selection of what is stored as something else").hint(IGNORE)),
            };
            let before = way.unwrap_or_else(|| Way::of(from));
            way = Some(match step {
                Step::Shred(record) => before.shredded(record),
                Step::Relate(record) => before.related(record),
                Step::Part(record) => before.parted(record),
                Step::Fit(record) => before.fitted(record),
                Step::Reify(record) => before.reified(record),
                Step::Gather(_) => before.with_keys(to),
                _ => before.same(to),
            });
        }
        way.map_or_else(|| Ok(Tables::default()), Way::ended)
    }
}

/// The tables as far as the way was gone.
struct Way<'a> {
    graph: &'a Graph,
    nodes: Vec<Table>,
    edges: Vec<Table>,
    graphs: usize,
}

/// Goes on with a table for each type of the next graph.
fn nodes(graph: &Graph, table: impl Fn(usize, &NodeType) -> Table) -> Vec<Table> {
    graph.nodes.iter().enumerate().map(|(at, ty)| table(at, ty).then_node(at, ty)).collect()
}

fn edges(graph: &Graph, table: impl Fn(usize, &EdgeType) -> Table) -> Vec<Table> {
    graph.edges.iter().enumerate().map(|(at, ty)| table(at, ty).then_edge(at, graph, ty)).collect()
}

/// Where the columns with a key and these properties were.
fn behind_key(properties: impl Iterator<Item = usize>) -> Vec<Option<usize>> {
    std::iter::once(Some(0)).chain(properties.map(|at| Some(at + 1))).collect()
}

impl<'a> Way<'a> {
    fn of(graph: &'a Graph) -> Self {
        let nodes = graph.nodes.iter().enumerate().map(|(at, ty)| Table::of_node(at, ty)).collect();
        let edges = graph.edges.iter().enumerate().map(|(at, ty)| Table::of_edge(at, graph, ty)).collect();
        Way { graph, nodes, edges, graphs: 1 }
    }

    fn node(&self, at: usize) -> Table {
        self.nodes.get(at).cloned().unwrap_or_else(|| Table::added(self.graphs))
    }

    fn edge(&self, at: usize) -> Table {
        self.edges.get(at).cloned().unwrap_or_else(|| Table::added(self.graphs))
    }

    fn then(&self, graph: &'a Graph, nodes: Vec<Table>, edges: Vec<Table>) -> Self {
        Way { graph, nodes, edges, graphs: self.graphs + 1 }
    }

    /// The same types with the same columns, in the same order.
    fn same(self, to: &'a Graph) -> Self {
        let nodes = nodes(to, |at, ty| self.node(at).kept(ty.properties.len()));
        let edges = edges(to, |at, ty| self.edge(at).kept(ty.properties.len()));
        self.then(to, nodes, edges)
    }

    /// The same types, of which the keys alone are the same.
    fn with_keys(self, to: &'a Graph) -> Self {
        let nodes = nodes(to, |at, _| self.node(at).moved(&[Some(0)]));
        let edges = edges(to, |at, _| self.edge(at).moved(&[]));
        self.then(to, nodes, edges)
    }

    fn fitted(self, record: &'a Fitting) -> Self {
        let (from, mut way) = (self.graph, self.same(&record.fitted));
        for ((table, own), named) in way.nodes.iter_mut().zip(&from.nodes).zip(&record.fitted.nodes) {
            if !compares_as(&own.key.data_type, &named.key.data_type) {
                table.stands(0, Stored::Other);
            }
            fit(table, &own.properties, &named.properties);
        }
        for ((table, own), named) in way.edges.iter_mut().zip(&from.edges).zip(&record.fitted.edges) {
            fit(table, &own.properties, &named.properties);
        }
        way
    }

    fn parted(self, record: &'a Parting) -> Self {
        let own = |at: usize, ty: &NodeType| match &record.by {
            By::Property { property, .. } => {
                behind_key((0..=ty.properties.len()).filter(|own| own != property).take(ty.properties.len()))
            }
            By::Label { columns, .. } => behind_key(columns.get(at).into_iter().flatten().copied()),
        };
        let nodes = nodes(&record.typed, |at, ty| self.node(0).moved(&own(at, ty)));
        let edge = |at: usize| record.edges.get(at).copied().unwrap_or(at);
        let edges = edges(&record.typed, |at, ty| self.edge(edge(at)).kept(ty.properties.len()));
        self.then(&record.typed, nodes, edges)
    }

    fn related(self, record: &'a Relating) -> Self {
        let nodes = nodes(&record.typed, |at, ty| self.node(at).kept(ty.properties.len()));
        let edges = edges(&record.typed, |at, ty| {
            let mut table = self.edge(0).moved(&behind_key(record.columns.get(at).into_iter().flatten().copied()));
            match ty.relation.fixed() {
                Some(relation) if !record.in_column => table.related(at, relation),
                _ => table.related_in_rows(),
            }
            table
        });
        self.then(&record.typed, nodes, edges)
    }

    fn shredded(self, record: &'a Bundling) -> Self {
        let shred = |mut table: Table, bundled: &[Property], properties: &[Property], slots: &[Slot]| {
            if let Some(called) = table.called.last_mut() {
                // Its members are shown, and not the bag.
                let is_bag = |name: &str| bundled.iter().any(|own| own.kind == ValueKind::Bag && own.name == name);
                called.columns.retain(|(name, at)| *at == Some(0) || !is_bag(name));
            }
            let place = |slot: &Slot| match slot {
                Slot::Column(at) => Some(at + 1),
                _ => None,
            };
            let from: Vec<_> = std::iter::once(Some(0)).chain(slots.iter().map(place)).collect();
            let mut table = table.moved(&from);
            for (at, (property, slot)) in (1..).zip(properties.iter().zip(slots)) {
                let own = match slot {
                    Slot::Column(at) => bundled.get(*at).unwrap_or(property),
                    _ => property,
                };
                table.stands(at, if *slot == Slot::Rest { Stored::Other } else { of_property(property, own) });
                if let (Slot::Member(member), Some(called)) = (slot, table.called.last_mut()) {
                    // A column comes before a member of its name.
                    let is_column = bundled.iter().any(|own| own.name == *member && own.kind != ValueKind::Bag);
                    if !is_column {
                        called.columns.insert(0, (member.clone(), Some(at)));
                    }
                }
            }
            table
        };
        let of_nodes = record.bundled.nodes.first().map(|ty| ty.properties.as_slice()).unwrap_or_default();
        let nodes = nodes(&record.typed, |at, ty| {
            let slots = record.nodes.get(at).map(|slots| slots.properties.as_slice()).unwrap_or_default();
            shred(self.node(0), of_nodes, &ty.properties, slots)
        });
        let of_edges = record.bundled.edges.first().map(|ty| ty.properties.as_slice()).unwrap_or_default();
        let edges = edges(&record.typed, |at, ty| {
            let Some(own) = record.edges.get(at) else { return Table::added(self.graphs) };
            let mut table = shred(self.edge(0), of_edges, &ty.properties, &own.properties);
            match own.properties.contains(&Slot::Relation) {
                true => table.related_in_rows(),
                false => table.related(at, &own.relation),
            }
            table
        });
        self.then(&record.typed, nodes, edges)
    }

    fn reified(self, record: &'a Reification) -> Self {
        let hyper = |at: usize| record.hyperedges.iter().position(|tables| tables.node == at);
        let group = |at: usize| record.groups.iter().position(|tables| tables.node == at);
        let hyper = |at: usize| hyper(at).and_then(|own| record.rich.hyperedges.get(own));
        let group = |at: usize| group(at).and_then(|own| record.rich.groups.get(own));
        let nodes = nodes(&record.plain, |at, ty| {
            let table = match (self.nodes.get(at), hyper(at), group(at)) {
                (Some(table), ..) => table.clone(),
                // A reified graph is the first on its way.
                (None, Some(HyperedgeType { name, key, properties, .. }), _) if self.graphs == 1 => {
                    Table::of_other(at, name, key, properties)
                }
                (None, None, Some(GroupKind { kind, key, properties, .. })) if self.graphs == 1 => {
                    Table::of_other(at, kind, key, properties)
                }
                _ => Table::added(self.graphs),
            };
            table.kept(ty.properties.len())
        });
        let edges = edges(&record.plain, |at, ty| {
            let mut table = self.edge(at).kept(ty.properties.len());
            if let (Some(place), Some(called)) = (record.edges.get(at).and_then(|own| own.key), table.called.last_mut())
            {
                called.columns.iter_mut().filter(|(_, at)| *at == Some(0)).for_each(|(_, at)| *at = Some(place + 1));
            }
            table
        });
        self.then(&record.plain, nodes, edges)
    }

    /// The tables with the names that are theirs in the files.
    ///
    /// # Errors
    /// Of edge types that their names do not tell apart.
    fn ended(self) -> Result<Tables> {
        let mut names: Vec<String> = self.graph.nodes.iter().map(|ty| ty.name.clone()).collect();
        for ty in &self.graph.edges {
            let (source, relation, target) = self.graph.edge_name(ty);
            let name = [source, relation, target].join(" ");
            if names.contains(&name) {
                return Err(Error::unsupported(format!("{name} means several types of the files")).hint(IGNORE));
            }
            names.push(name);
        }
        Ok(Tables { nodes: self.nodes, edges: self.edges, names, graphs: self.graphs })
    }
}

/// What columns stand for that have a name and a type that the format has.
fn fit(table: &mut Table, own: &[Property], named: &[Property]) {
    for (at, (own, named)) in (1..).zip(own.iter().zip(named)) {
        table.stands(at, of_property(named, own));
    }
}
