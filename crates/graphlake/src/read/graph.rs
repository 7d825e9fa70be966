//! The description of a snapshot as the model sees it.

use arrow_schema::{DataType, Field, Fields};
use isomorph_model::schema::{GroupKind, Owner, ValueTable};
use isomorph_model::{EdgeType, Graph, Key, NodeType, Property, Relation, ValueKind, well_known};

use super::survey::Survey;
use crate::{Snapshot, Store, term};

/// Name of the only node type: everything that is spoken about.
pub(super) const RESOURCE: &str = "resource";

/// The fields of a literal.
pub(super) fn literal_fields() -> Fields {
    let text = |name: &str| Field::new(name, DataType::Utf8, true);
    ["value", "datatype", "language", "direction"].map(text).into_iter().collect()
}

/// Predicates of a snapshot that may have literals as far as its metadata says, each once, in the order of the snapshot.
pub(super) fn literal_predicates(snapshot: &Snapshot) -> Vec<&str> {
    let mut seen = std::collections::HashSet::new();
    let mut all = Vec::new();
    for graph in snapshot.graphs.iter().filter(|graph| graph.name != term::QUOTED_GRAPH) {
        let without = |predicate: &str| {
            let mut files = graph.subject_files.iter().filter(|file| file.predicate == predicate);
            files.all(|file| file.literal_count == Some(0) || file.triple_count == 0)
        };
        all.extend(graph.all_predicates().into_iter().filter(|one| !without(one) && seen.insert(*one)));
    }
    all
}

pub(super) fn graph(store: &Store, snapshot: &Snapshot, survey: Option<&Survey>) -> Graph {
    let named = || Property::new(well_known::GRAPH, DataType::Utf8).of_kind(ValueKind::Term);
    let resource = NodeType { implied: true, ..NodeType::new(RESOURCE, Key::term()) };
    let rows = survey.map(|survey| survey.edges);
    let triples = EdgeType { relation: Relation::PerRow, properties: vec![named()], rows, ..EdgeType::new(0, "", 0) };
    let found = |predicate: &str| survey.map(|survey| survey.literals.get(predicate).copied().unwrap_or_default());
    let predicates = literal_predicates(snapshot).into_iter().filter(|predicate| found(predicate) != Some(0));
    let values = predicates.map(|predicate| ValueTable {
        owner: Owner::Nodes(0),
        property: Property::new(predicate, DataType::Struct(literal_fields()))
            .of_kind(ValueKind::Literal { datatype: None }),
        qualifiers: vec![named()],
        rows: found(predicate),
    });
    // Graphs without triples are said to be; those with triples exist because something is in them.
    let graphs = GroupKind {
        kind: "graph".to_owned(),
        key: Key::term(),
        ordered: false,
        properties: Vec::new(),
        all: Vec::new(),
        memberships: Vec::new(),
    };
    let metadata = [("format_version", store.format_version.clone())];
    Graph {
        nodes: vec![resource],
        edges: vec![triples],
        values: values.collect(),
        groups: vec![graphs],
        metadata: metadata.map(|(name, value)| (name.to_owned(), value)).into(),
        ..Graph::default()
    }
}
