//! How a bundled graph is typed, from what a survey found in it.

use std::collections::BTreeMap;

use arrow_schema::DataType;
use isomorph_error::{Error, Result};
use isomorph_model::{Direction, EdgeType, Graph, Key, LabelVocabulary, NodeType, Property, ValueKind, well_known};

use super::{Bundling, EdgeSlots, Names, NodeSlots, Slot};
use crate::survey::{Found, Kinds, Survey};

/// Above so many member names, or labels, the members stay together in one JSON column.
pub const MOST_COLUMNS: usize = 1_000;

/// Above so many relations there is one edge type with the relation in a column.
pub const MOST_RELATIONS: usize = 1_000;

/// What a typed target allows in names.
#[derive(Debug, Clone, Copy)]
pub struct NameRules {
    /// Characters of types, properties and labels.
    pub legal: fn(char) -> bool,
    /// Names that the target keeps for itself.
    pub reserved: &'static [&'static str],
    /// Name of the property that holds the key.
    pub key: &'static str,
}

impl Bundling {
    /// The typing of a bundled graph: one node type, one edge type for each relation, one column for each member whose
    /// values agree, JSON text for the others.
    ///
    /// # Errors
    /// When the graph is no bundled one, or has more relations than a typed target can take.
    pub fn surveyed(bundled: &Graph, survey: &Survey, rules: &NameRules) -> Result<Self> {
        let ([node], [edge]) = (bundled.nodes.as_slice(), bundled.edges.as_slice()) else {
            return Err(Error::usage("only one table of nodes and one of edges can be typed"));
        };
        if survey.relations.len() > MOST_RELATIONS {
            return Err(Error::unsupported(format!(
                "{} relations: more than {MOST_RELATIONS} edge types are not written yet",
                survey.relations.len()
            )));
        }
        let mut typed = Graph { name: bundled.name.clone(), documents: bundled.documents.clone(), ..Graph::default() };
        let mut ty = NodeType::new(&node.name, Key::utf8().named(rules.key));
        ty.ordered = node.ordered;
        ty.rows = Some(survey.nodes.rows);
        let mut labels = Vec::new();
        if !survey.labels.is_empty() {
            let mut names = Names::default();
            let given = give_all(survey.labels.iter(), &mut names, rules);
            ty.labels = LabelVocabulary::Declared(given.values().cloned().collect());
            labels = given
                .into_iter()
                .filter(|(real, given)| *real != given)
                .map(|(real, given)| (given, real.clone()))
                .collect();
        }
        let (properties, slots) = columns(&node.properties, &survey.nodes, rules, &[rules.key]);
        ty.properties = properties;
        typed.nodes.push(ty);
        let nodes = vec![NodeSlots { label: None, prefix: String::new(), labels, properties: slots }];
        let relations = give_all(survey.relations.keys(), &mut Names::default(), rules);
        let mut edges = Vec::new();
        for (relation, found) in &survey.relations {
            let name = relations.get(relation).cloned().unwrap_or_default();
            let mut ty = EdgeType::new(0, name, 0);
            ty.rows = Some(found.rows);
            // "directed": false on every row is how NOCK says that a relation has no direction.
            let mut found = found.clone();
            let marker = found.members.get(well_known::DIRECTED).filter(|kinds| kinds.is_always_false(found.rows));
            let directed = marker.map(|_| well_known::DIRECTED.to_owned());
            if directed.is_some() {
                found.members.remove(well_known::DIRECTED);
                ty.direction = Direction::Undirected;
            }
            let (properties, slots) = columns(&edge.properties, &found, rules, &[]);
            ty.properties = properties;
            typed.edges.push(ty);
            edges.push(EdgeSlots { relation: relation.clone(), directed, properties: slots });
        }
        Ok(Bundling { typed, bundled: bundled.clone(), nodes, edges })
    }
}

/// The columns of a type, and where each comes from.
fn columns(bundled: &[Property], found: &Found, rules: &NameRules, taken: &[&str]) -> (Vec<Property>, Vec<Slot>) {
    let mut names = Names::reserving(rules.reserved.iter().chain(taken).copied());
    let mut properties = Vec::new();
    let mut slots = Vec::new();
    for (at, property) in bundled.iter().enumerate() {
        let wanted = match property.name.as_str() {
            well_known::TRUTH => found.truth,
            well_known::IS_RDF => found.rdf,
            _ => property.kind != ValueKind::Bag && found.columns.contains(&at),
        };
        if wanted {
            let mut property = property.clone();
            property.name = names.give(&property.name, rules.legal);
            properties.push(property);
            slots.push(Slot::Column(at));
        }
    }
    if found.members.len() > MOST_COLUMNS {
        let name = names.give("props", rules.legal);
        properties.push(Property::new(name, DataType::Utf8).of_kind(ValueKind::Bag));
        slots.push(Slot::Rest);
        return (properties, slots);
    }
    for (member, name) in give_all(found.members.keys(), &mut names, rules) {
        properties.push(
            found.members.get(member).map_or_else(|| Kinds::default().property(&name), |kinds| kinds.property(&name)),
        );
        slots.push(Slot::Member(member.clone()));
    }
    (properties, slots)
}

/// A name for each; those that need no change keep theirs, whatever else there is.
fn give_all<'a>(
    all: impl Iterator<Item = &'a String> + Clone,
    names: &mut Names,
    rules: &NameRules,
) -> BTreeMap<&'a String, String> {
    let plain = |name: &str| !name.is_empty() && name.chars().all(rules.legal);
    let mut given = BTreeMap::new();
    for pass in [true, false] {
        for name in all.clone().filter(|name| plain(name) == pass) {
            given.insert(name, names.give(name, rules.legal));
        }
    }
    given
}
