//! The description of a union, and where the types and columns of each graph are in it.

use isomorph_error::{Error, Place, Result};
use isomorph_model::type_name::type_name;
use isomorph_model::{Direction, Graph, KeyKind, LabelVocabulary, Property, Relation};

/// The places of a type of one graph.
#[derive(Debug, Clone, Default)]
pub(super) struct Places {
    /// The type in the union.
    pub ty: usize,
    /// For each property of the union's type the column in the graph, if it has one.
    pub columns: Vec<Option<usize>>,
}

/// The description of a union.
#[derive(Debug, Default)]
pub(super) struct Merged {
    pub graph: Graph,
    /// For each graph and node type its places; the same for edge types.
    pub nodes: Vec<Vec<Places>>,
    pub edges: Vec<Vec<Places>>,
}

fn differs(of: &str, what: &str, place: &str) -> Error {
    Error::unsupported(format!("{of}: {what} differs from that in another graph")).at(place)
}

impl Merged {
    /// The union of these graphs, each with its place.
    ///
    /// # Errors
    /// If a graph has more than nodes with keys and edges, or types of one name differ.
    pub fn of(graphs: &[(&Graph, &str)]) -> Result<Merged> {
        let mut merged = Merged::default();
        for (graph, place) in graphs {
            merged.add(graph, place)?;
        }
        // The columns that later graphs added.
        let Merged { graph, nodes, edges } = &mut merged;
        for (own, (found, _)) in nodes.iter_mut().zip(graphs) {
            for (places, ty) in own.iter_mut().zip(&found.nodes) {
                if let Some(of) = graph.nodes.get(places.ty) {
                    places.columns = columns(&of.properties, &ty.properties);
                }
            }
        }
        for (own, (found, _)) in edges.iter_mut().zip(graphs) {
            for (places, ty) in own.iter_mut().zip(&found.edges) {
                if let Some(of) = graph.edges.get(places.ty) {
                    places.columns = columns(&of.properties, &ty.properties);
                }
            }
        }
        // A property that some graph does not have is null there.
        for at in 0..graph.nodes.len() {
            let own = nodes.iter().flatten().filter(|places| places.ty == at);
            relax(&mut graph.nodes[at].properties, own);
        }
        for at in 0..graph.edges.len() {
            let own = edges.iter().flatten().filter(|places| places.ty == at);
            relax(&mut graph.edges[at].properties, own);
        }
        Ok(merged)
    }

    fn add(&mut self, graph: &Graph, place: &str) -> Result<()> {
        if !graph.hyperedges.is_empty() || !graph.groups.is_empty() || !graph.values.is_empty() {
            return Err(Error::unsupported("a union has only nodes and edges")
                .at(place)
                .hint("isomorph convert PATH NEW --hyperedges expand    write a graph without hyperedges first"));
        }
        let mut nodes = Vec::new();
        for ty in &graph.nodes {
            if matches!(ty.key.kind, KeyKind::Row | KeyKind::Term | KeyKind::Tuple) {
                let what =
                    format!("nodes of type {} have no keys, so that nothing tells which of them are equal", ty.name);
                return Err(Error::unsupported(what).at(place));
            }
            let at = match self.graph.nodes.iter().position(|known| known.name == ty.name) {
                Some(at) => at,
                None => {
                    let mut own = ty.clone();
                    (own.rows, own.ordered) = (None, false);
                    self.graph.nodes.push(own);
                    nodes.push(Places { ty: self.graph.nodes.len() - 1, columns: Vec::new() });
                    continue;
                }
            };
            let known = &mut self.graph.nodes[at];
            if (known.key.kind, &known.key.data_type) != (ty.key.kind, &ty.key.data_type) {
                return Err(differs(&ty.name, "the type of keys", place));
            }
            known.implied &= ty.implied;
            known.labels = labels(&known.labels, &ty.labels);
            merge(&mut known.properties, &ty.properties, &ty.name, place)?;
            nodes.push(Places { ty: at, columns: Vec::new() });
        }
        let mut edges = Vec::new();
        for ty in &graph.edges {
            let node = |at: usize| nodes.get(at).map(|places| places.ty).unwrap_or_default();
            let (source, target) = (node(ty.source), node(ty.target));
            let (_, relation, _) = graph.edge_name(ty);
            if ty.key.is_some() || ty.layered {
                return Err(Error::unsupported(format!("the edges {relation} have keys or layers")).at(place));
            }
            let same = |known: &isomorph_model::EdgeType| {
                (known.source, &known.relation, known.target) == (source, &ty.relation, target)
            };
            let at = match self.graph.edges.iter().position(same) {
                Some(at) => at,
                None => {
                    let mut own = ty.clone();
                    (own.source, own.target, own.rows) = (source, target, None);
                    self.graph.edges.push(own);
                    edges.push(Places { ty: self.graph.edges.len() - 1, columns: Vec::new() });
                    continue;
                }
            };
            let known = &mut self.graph.edges[at];
            if known.direction != ty.direction {
                known.direction = Direction::PerRow;
            }
            let name = if ty.relation == Relation::PerRow { "edges".to_owned() } else { relation };
            merge(&mut known.properties, &ty.properties, &name, place)?;
            edges.push(Places { ty: at, columns: Vec::new() });
        }
        self.graph.name = self.graph.name.take().or_else(|| graph.name.clone());
        self.nodes.push(nodes);
        self.edges.push(edges);
        Ok(())
    }
}

fn labels(one: &LabelVocabulary, other: &LabelVocabulary) -> LabelVocabulary {
    use LabelVocabulary::{Declared, None, Open};
    match (one, other) {
        (Open, _) | (_, Open) => Open,
        (None, other) | (other, None) => other.clone(),
        (Declared(one), Declared(other)) => {
            let mut all = one.clone();
            all.extend(other.iter().filter(|label| !one.contains(label)).cloned());
            Declared(all)
        }
    }
}

/// Adds properties that are not known yet.
fn merge(known: &mut Vec<Property>, found: &[Property], of: &str, place: &str) -> Result<()> {
    for property in found {
        match known.iter().find(|own| own.name == property.name) {
            None => known.push(property.clone()),
            Some(own) => {
                let alike = (&own.data_type, &own.kind, own.cardinality)
                    == (&property.data_type, &property.kind, property.cardinality);
                if !alike {
                    let (name, one, other) =
                        (&property.name, type_name(&own.data_type), type_name(&property.data_type));
                    let what = match one == other {
                        true => format!("{of}.{name} has values of another kind than in another graph"),
                        false => format!("{of}.{name} is {other} here and {one} in another graph"),
                    };
                    return Err(Error::unsupported(what).at(Place::file(place).in_field(name.clone())));
                }
            }
        }
    }
    Ok(())
}

fn columns(wanted: &[Property], found: &[Property]) -> Vec<Option<usize>> {
    wanted.iter().map(|property| found.iter().position(|own| own.name == property.name)).collect()
}

fn relax<'p>(properties: &mut [Property], own: impl Iterator<Item = &'p Places>) {
    for places in own {
        for (property, column) in properties.iter_mut().zip(&places.columns) {
            property.nullable |= column.is_none();
        }
    }
}
