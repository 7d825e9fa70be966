//! The description of unmapped quads: every term is a node, every triple between terms an edge.

use arrow_schema::{DataType, Field, Fields};

use crate::schema::{GroupKind, Owner, ValueTable};
use crate::{EdgeType, Graph, Key, NodeType, Property, Relation, ValueKind, well_known};

/// The name of the only node type.
pub const RESOURCE: &str = "resource";

/// The fields of a literal: `value`, `datatype`, `language`, `direction`.
pub fn literal_fields() -> Fields {
    let text = |name: &str| Field::new(name, DataType::Utf8, true);
    ["value", "datatype", "language", "direction"].map(text).into_iter().collect()
}

/// Returns the description of quads: an edge type with `edges` rows for triples between resources, and a value table for
/// the literals of each of the `predicates`, with its number of rows. Unknown numbers are `None`.
pub fn description<'a>(edges: Option<u64>, predicates: impl IntoIterator<Item = (&'a str, Option<u64>)>) -> Graph {
    let named = || Property::new(well_known::GRAPH, DataType::Utf8).of_kind(ValueKind::Term);
    let resource = NodeType { implied: true, ..NodeType::new(RESOURCE, Key::term()) };
    let triples =
        EdgeType { relation: Relation::PerRow, properties: vec![named()], rows: edges, ..EdgeType::new(0, "", 0) };
    let values = predicates.into_iter().map(|(predicate, rows)| ValueTable {
        owner: Owner::Nodes(0),
        property: Property::new(predicate, DataType::Struct(literal_fields()))
            .of_kind(ValueKind::Literal { datatype: None }),
        qualifiers: vec![named()],
        rows,
    });
    // Graphs without triples are listed; others exist because they contain triples.
    let graphs = GroupKind {
        kind: "graph".to_owned(),
        key: Key::term(),
        ordered: false,
        properties: Vec::new(),
        all: Vec::new(),
        memberships: Vec::new(),
    };
    Graph {
        nodes: vec![resource],
        edges: vec![triples],
        values: values.collect(),
        groups: vec![graphs],
        ..Graph::default()
    }
}
