//! What the columns of files stand for, told by the mapping that they were written by.

use arrow_schema::DataType;
use isomorph_model::{EdgeType, Graph, KeyKind, NodeType, Property, ValueKind};

use super::{Mapping, Step};

/// What a column of a file is, beside what is shown of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stored {
    /// What is shown, or what compares as that does.
    Itself,
    /// JSON text of it.
    Json,
    /// Values of a type that the format has, which do not compare as those of another that stand behind them.
    Other,
}

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// Whether values of a type compare as those of another type that stand for them.
fn compares_as(own: &DataType, stored: &DataType) -> bool {
    use DataType as T;
    // What has no sign is stored with the same bits where there is no wider type.
    let fits = own.is_signed_integer() || own.primitive_width() < stored.primitive_width();
    own == stored
        || own.is_integer() && stored.is_integer() && fits
        || own.is_floating() && stored.is_floating()
        || is_text(own) && is_text(stored)
        || matches!((own, stored), (T::Timestamp(..), T::Timestamp(..)))
}

/// What the column of a property is; `named` is the property in the file.
fn of_property(named: &Property, own: &Property) -> Stored {
    let is_json = own.kind == ValueKind::Json || named.kind == ValueKind::Json;
    match compares_as(&own.data_type, &named.data_type) {
        _ if is_json && is_text(&named.data_type) => Stored::Json,
        true if !is_json => Stored::Itself,
        _ => Stored::Other,
    }
}

/// Whether `ty` means this edge type of a graph, by one of the names that a selection of GraphAr knows.
fn is_meant(ty: &str, graph: &Graph, edge: &EdgeType) -> bool {
    let name = |at: usize| graph.nodes.get(at).map_or("", |ty| ty.name.as_str());
    let relation = edge.relation.fixed().unwrap_or_default();
    let joined = |by: &str| [name(edge.source), relation, name(edge.target)].join(by);
    ty == relation || ["_", "-", " "].into_iter().any(|by| ty == joined(by))
}

/// What a column of a type is, where types and columns are called as in `named` and are what they are in `graph`.
fn in_graph(graph: &Graph, named: &Graph, ty: &str, column: &str) -> Stored {
    let nodes = named.nodes.iter().zip(&graph.nodes).filter(|(named, _)| named.name == ty);
    let is_key = |named: &NodeType| named.key.name.as_deref() == Some(column);
    let is_other =
        |(named, own): (&NodeType, &NodeType)| is_key(named) && !compares_as(&own.key.data_type, &named.key.data_type);
    if nodes.clone().any(is_other) {
        return Stored::Other;
    }
    let nodes = nodes.map(|(named, own)| (&named.properties, &own.properties));
    let edges = named.edges.iter().zip(&graph.edges).filter(|(edge, _)| is_meant(ty, named, edge));
    let edges = edges.map(|(named, own)| (&named.properties, &own.properties));
    let properties = nodes.chain(edges).flat_map(|(named, own)| named.iter().zip(own));
    let own = properties.filter(|(named, _)| named.name == column).map(|(named, own)| of_property(named, own));
    most(own)
}

/// What stands for another value in one of several is no value in any.
fn most(all: impl Iterator<Item = Stored>) -> Stored {
    all.fold(Stored::Itself, |most, one| match (most, one) {
        (Stored::Itself, other) | (other, Stored::Itself) => other,
        (Stored::Json, Stored::Json) => Stored::Json,
        _ => Stored::Other,
    })
}

impl Mapping {
    /// What a column of a node type or an edge type stands for. A graph on the way may have the name as well: what it says counts too,
    /// because a column that is JSON there is none of the values that are shown.
    pub(crate) fn stored(&self, ty: &str, column: &str) -> Stored {
        most(self.steps.iter().map(|step| {
            let (graph, named) = match step {
                Step::Bundle(record) | Step::Shred(record) => (&record.typed, &record.typed),
                Step::Relate(record) | Step::Unrelate(record) => (&record.typed, &record.typed),
                Step::Part(record) | Step::Unpart(record) => (&record.typed, &record.typed),
                Step::Complete(record) => (&record.found, &record.found),
                Step::Fit(record) | Step::Unfit(record) => (&record.graph, &record.fitted),
                Step::Native(graph) | Step::Declare(graph) => (&**graph, &**graph),
                Step::Reify(record) | Step::Restore(record) => {
                    // Keys of groups that are lists are texts of them.
                    let is_text = record.groups.iter().zip(&record.rich.groups).any(|(tables, kind)| {
                        let node = record.plain.nodes.get(tables.node);
                        let is_meant = |node: &NodeType| node.name == ty && node.key.name.as_deref() == Some(column);
                        kind.key.kind == KeyKind::Tuple && node.is_some_and(is_meant)
                    });
                    if is_text {
                        return Stored::Json;
                    }
                    (&record.plain, &record.plain)
                }
                _ => return Stored::Itself,
            };
            in_graph(graph, named, ty, column)
        }))
    }

    /// Whether a node type stands for groups in which edges are: which these are lies with the edges.
    pub(crate) fn is_group_of_edges(&self, ty: &str) -> bool {
        let mut nodes: Vec<usize> = Vec::new();
        let mut found = false;
        let is_named = |graph: &Graph, nodes: &[usize]| {
            nodes.iter().filter_map(|at| graph.nodes.get(*at)).any(|node| node.name == ty)
        };
        for step in &self.steps {
            match step {
                Step::Reify(record) => {
                    let of_edges = record.edges.iter().flat_map(|columns| &columns.memberships);
                    let kinds = of_edges.filter_map(|table| record.groups.get(table.kind));
                    nodes = kinds.map(|tables| tables.node).collect();
                    found = is_named(&record.plain, &nodes);
                }
                // In the same order, called otherwise.
                Step::Fit(record) => found = is_named(&record.fitted, &nodes),
                _ => {}
            }
        }
        found
    }
}
