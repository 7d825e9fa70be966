//! Names of labels, relationship types and properties in a query, and whether a graph has them.

use std::collections::BTreeSet;

use isomorph::did_you_mean;
use isomorph::model::{Graph, KeyKind, LabelVocabulary, ValueKind};

use crate::plan::Labels;

/// The labels, relationship types and properties that a query names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// Labels, and node types: a query does not tell them apart.
    pub labels: BTreeSet<String>,
    /// Relationship types.
    pub types: BTreeSet<String>,
    /// Properties of nodes and relationships.
    pub properties: BTreeSet<String>,
}

impl Names {
    pub(crate) fn add_labels(&mut self, labels: &Labels) {
        match labels {
            Labels::Any => {}
            Labels::Name(name) => {
                self.labels.insert(name.to_string());
            }
            Labels::Not(one) => self.add_labels(one),
            Labels::And(all) | Labels::Or(all) => all.iter().for_each(|one| self.add_labels(one)),
        }
    }

    /// A sentence for each name that `graph` certainly does not have, with the nearest one that it has. In openCypher such a name matches
    /// nothing, and is no error.
    pub fn unknown(&self, graph: &Graph) -> Vec<String> {
        let mut told = Vec::new();
        let has_open = graph.nodes.iter().any(|ty| ty.labels == LabelVocabulary::Open);
        if !has_open {
            let mut known: Vec<&str> = graph.nodes.iter().map(|ty| ty.name.as_str()).collect();
            for ty in &graph.nodes {
                if let LabelVocabulary::Declared(labels) = &ty.labels {
                    known.extend(labels.iter().map(String::as_str));
                }
            }
            for name in self.labels.iter().filter(|name| !known.contains(&name.as_str())) {
                told.push(format!("no node has the type or label {name}{}", did_you_mean(name, known.iter().copied())));
            }
        }
        let fixed: Option<Vec<&str>> = graph.edges.iter().map(|ty| ty.relation.fixed()).collect();
        if let Some(known) = fixed {
            for name in self.types.iter().filter(|name| !known.contains(&name.as_str())) {
                let near = did_you_mean(name, known.iter().copied());
                told.push(format!("no relationship has the type {name}{near}"));
            }
        }
        if let Some(known) = properties(graph) {
            for name in self.properties.iter().filter(|name| !known.contains(&name.as_str())) {
                let near = did_you_mean(name, known.iter().copied());
                told.push(format!("no node or relationship has the property {name}{near}"));
            }
        }
        told
    }
}

/// The names of all properties; `None` if they are known only after reading.
fn properties(graph: &Graph) -> Option<BTreeSet<&str>> {
    let keys = graph.nodes.iter().map(|ty| &ty.key).chain(graph.edges.iter().filter_map(|ty| ty.key.as_ref()));
    let keyed = keys.filter(|key| key.kind != KeyKind::Row);
    let mut known: BTreeSet<&str> = keyed.map(|key| key.name.as_deref().unwrap_or("key")).collect();
    let all = graph.nodes.iter().map(|ty| &ty.properties).chain(graph.edges.iter().map(|ty| &ty.properties));
    for property in all.flatten() {
        if property.kind == ValueKind::Bag {
            return None;
        }
        known.insert(&property.name);
    }
    Some(known)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeMap;

    use isomorph::model::{EdgeType, Key, NodeType, Property};

    use super::*;
    use crate::Query;

    fn told(query: &str, open: bool) -> Vec<String> {
        let mut person = NodeType::new("person", Key::int64());
        person.labels = match open {
            true => LabelVocabulary::Open,
            false => LabelVocabulary::Declared(vec!["Teacher".to_owned()]),
        };
        person.properties = vec![Property::new("name", arrow_schema::DataType::Utf8)];
        let graph = Graph { nodes: vec![person], edges: vec![EdgeType::new(0, "knows", 0)], ..Graph::default() };
        Query::parse(query, &BTreeMap::new()).unwrap().names().unknown(&graph)
    }

    #[test]
    fn names_that_a_graph_does_not_have_are_told() {
        let query = "MATCH (a:persn)-[:knws|knows*1..2]->(b:Teacher&!Nobody) WHERE a:Pupil OR b:person RETURN a";
        assert_eq!(
            told(query, false),
            [
                "no node has the type or label Nobody",
                "no node has the type or label Pupil",
                "no node has the type or label persn, did you mean person?",
                "no relationship has the type knws, did you mean knows?",
            ]
        );
        assert_eq!(
            told(
                "MATCH (a:person {nmae: 1})-[r]->(b) WHERE r.since > a.key WITH {x: 1} AS m, b RETURN m.y, b.kee",
                false
            ),
            [
                "no node or relationship has the property kee, did you mean key?",
                "no node or relationship has the property nmae, did you mean name?",
                "no node or relationship has the property since",
            ]
        );
        // Labels that are known only after reading may be any.
        assert_eq!(told(query, true), ["no relationship has the type knws, did you mean knows?"]);
        assert_eq!(
            told("MATCH (a:person)-->(b) RETURN EXISTS { MATCH (b)-[:knows]->(:Teacher) } AS x", false),
            [""; 0]
        );
    }
}
