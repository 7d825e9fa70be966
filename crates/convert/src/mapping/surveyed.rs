//! How a bundled graph is typed, based on a survey.

use std::collections::BTreeMap;

use arrow_schema::DataType;
use isomorph_error::{Error, Result};
use isomorph_model::type_name::list_of;
use isomorph_model::{
    Cardinality, Direction, EdgeType, Graph, Key, LabelVocabulary, NodeType, Property, Tables, ValueKind, well_known,
};

use super::{Bundling, EdgeSlots, Names, NodeSlots, Slot, properties_of};
use crate::options::Typing;
use crate::survey::{Found, Kinds, Survey};

/// The one edge type, if there are too many relations for separate types.
const EDGE: &str = "edge";

/// The column of relations in that type.
const PREDICATE: &str = "predicate";

/// The naming rules of a typed target.
#[derive(Debug, Clone, Copy)]
pub struct NameRules {
    /// Characters that are allowed in types, properties and labels.
    pub legal: fn(char) -> bool,
    /// The prefix of property names that the target reserves.
    pub reserved_prefix: &'static str,
    /// Name of the property that holds the key.
    pub key: &'static str,
}

impl Bundling {
    /// The typing of a bundled graph: one node type, one edge type for each relation, one column for each member whose
    /// values have one type, JSON text for the other members.
    ///
    /// Above the limits in `typing`, there is one edge type with the relation in a column, a property for labels, and
    /// one column of JSON for members.
    ///
    /// # Errors
    /// If the graph is not bundled.
    pub fn surveyed(bundled: &Graph, survey: &Survey, typing: Typing, rules: &NameRules) -> Result<Self> {
        let most = typing.columns;
        let ([node], [edge]) = (bundled.nodes.as_slice(), bundled.edges.as_slice()) else {
            return Err(Error::usage("only one table of nodes and one of edges can be typed"));
        };
        // Such a table does not state which of its edges are undirected.
        if edge.direction != Direction::Directed {
            return Err(Error::usage("only a table of directed edges can be typed"));
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
        let mut names = Names::reserving([rules.key]).reserving_prefix(rules.reserved_prefix);
        if lacks_shadow(&node.properties) {
            names.give(well_known::SHADOW, rules.legal);
        }
        let (mut properties, mut slots) = columns(&node.properties, &survey.nodes, most, rules, &mut names);
        if survey.many_labels {
            let name = names.give(well_known::LABELS, rules.legal);
            properties.push(Property::new(name, list_of(DataType::Utf8)).with_cardinality(Cardinality::Set));
            slots.push(Slot::Labels);
        }
        ty.properties = properties;
        typed.nodes.push(ty);
        let nodes = vec![NodeSlots { label: None, prefix: String::new(), labels, properties: slots }];
        let mut edges = Vec::new();
        if let Some(found) = &survey.all_edges {
            let (mut ty, mut slots, mut names) = edge_type(EDGE, "", &edge.properties, found, most, rules);
            ty.properties.push(Property::new(names.give(PREDICATE, rules.legal), DataType::Utf8).required());
            slots.properties.push(Slot::Relation);
            typed.edges.push(ty);
            edges.push(slots);
        }
        let given = give_all(survey.relations.keys(), &mut Names::default(), rules);
        for (relation, found) in &survey.relations {
            let name = given.get(relation).map(String::as_str).unwrap_or_default();
            let (ty, slots, _) = edge_type(name, relation, &edge.properties, found, most, rules);
            typed.edges.push(ty);
            edges.push(slots);
        }
        Ok(Bundling { typed, bundled: bundled.clone(), nodes, edges })
    }

    /// The same with all columns, even those without values, and with unchanged names of bag members. A member with the
    /// name of a column or of the labels is called `bag.NAME`. For display, where no target reserves names.
    pub(crate) fn with_own_names(mut self) -> Self {
        let of_nodes = properties_of(&self.bundled, Tables::Nodes(0));
        for (ty, slots) in self.typed.nodes.iter_mut().zip(&mut self.nodes) {
            let labels = (ty.labels != LabelVocabulary::None).then_some(well_known::LABELS);
            let shadow = lacks_shadow(of_nodes).then_some(well_known::SHADOW);
            own_names((&mut ty.properties, &mut slots.properties), of_nodes, labels.into_iter().chain(shadow));
        }
        let of_edges = properties_of(&self.bundled, Tables::Edges(0));
        for (ty, slots) in self.typed.edges.iter_mut().zip(&mut self.edges) {
            own_names((&mut ty.properties, &mut slots.properties), of_edges, std::iter::empty());
        }
        self
    }
}

impl Bundling {
    /// The same with the member `directed` as a column also of edge types whose edges all have no direction: for a selection, in which it is a
    /// member like any other.
    pub(crate) fn with_directions_as_members(mut self) -> Self {
        for (ty, slots) in self.typed.edges.iter_mut().zip(&mut self.edges) {
            if let Some(name) = slots.directed.take() {
                ty.direction = Direction::Directed;
                ty.properties.push(Property::new(&name, DataType::Boolean));
                slots.properties.push(Slot::Member(name));
            }
        }
        self
    }

    /// The columns of the typed graph that every selection of columns keeps, as `TYPE.NAME`: those that are not members of a bag, and the
    /// member of edges that says whether they have a direction.
    pub(crate) fn always_kept(&self) -> Vec<String> {
        let is_kept = |slot: &Slot, of_edges: bool| match slot {
            Slot::Member(name) => of_edges && name == well_known::DIRECTED,
            _ => true,
        };
        let named = |ty: &str, properties: &[Property], slots: &[Slot], of_edges: bool| -> Vec<String> {
            let kept = properties.iter().zip(slots).filter(|(_, slot)| is_kept(slot, of_edges));
            kept.map(|(property, _)| format!("{ty}.{}", property.name)).collect()
        };
        let nodes = self.typed.nodes.iter().zip(&self.nodes);
        let nodes = nodes.flat_map(|(ty, slots)| named(&ty.name, &ty.properties, &slots.properties, false));
        let edges = self.typed.edges.iter().zip(&self.edges).flat_map(|(ty, slots)| {
            let (source, relation, target) = self.typed.edge_name(ty);
            named(&format!("{source}_{relation}_{target}"), &ty.properties, &slots.properties, true)
        });
        nodes.chain(edges).collect()
    }

    /// Whether a property of nodes or edges is a member of a bag.
    pub(crate) fn has_members(&self) -> bool {
        let slots = self.nodes.iter().map(|own| &own.properties).chain(self.edges.iter().map(|own| &own.properties));
        slots.flatten().any(|slot| matches!(slot, Slot::Member(_)))
    }

    /// The same of a part of the typed graph: of fewer rows, with fewer columns.
    pub(crate) fn narrow(&mut self, part: &Graph) {
        let left = |before: &[Property], after: &[Property], slots: &mut Vec<Slot>| {
            let mut names = before.iter().map(|property| property.name.as_str());
            let is_left = |name: &str| after.iter().any(|property| property.name == name);
            slots.retain(|_| names.next().is_some_and(is_left));
        };
        for ((before, after), slots) in self.typed.nodes.iter().zip(&part.nodes).zip(&mut self.nodes) {
            left(&before.properties, &after.properties, &mut slots.properties);
        }
        for ((before, after), slots) in self.typed.edges.iter().zip(&part.edges).zip(&mut self.edges) {
            left(&before.properties, &after.properties, &mut slots.properties);
        }
        self.bundled.nodes.iter_mut().for_each(|ty| ty.rows = part.node_rows());
        self.bundled.edges.iter_mut().for_each(|ty| ty.rows = part.edge_rows());
        self.typed = part.clone();
    }
}

/// Adds the columns of the bundled table that are omitted, and restores the names of members; a member whose name is a
/// column or is `taken` gets a qualified name.
fn own_names<'a>(
    (properties, slots): (&mut Vec<Property>, &mut Vec<Slot>),
    bundled: &[Property],
    taken: impl Iterator<Item = &'a str>,
) {
    for (at, property) in bundled.iter().enumerate().filter(|(_, property)| property.kind != ValueKind::Bag) {
        if !slots.contains(&Slot::Column(at)) {
            properties.push(property.clone());
            slots.push(Slot::Column(at));
        }
    }
    let is_member = |slot: &Slot| matches!(slot, Slot::Member(_));
    let named = properties.iter().zip(&*slots).filter(|(_, slot)| !is_member(slot));
    let columns: Vec<String> =
        named.map(|(property, _)| property.name.clone()).chain(taken.map(str::to_owned)).collect();
    let is_taken = |given: &str, own: &str| {
        let of_other = |slot: &Slot| matches!(slot, Slot::Member(name) if name == given && name != own);
        columns.iter().any(|column| column == given) || slots.iter().any(of_other)
    };
    for (property, slot) in properties.iter_mut().zip(&*slots) {
        let Slot::Member(name) = slot else { continue };
        let mut given = name.clone();
        while is_taken(&given, name) {
            given.insert_str(0, "bag.");
        }
        property.name = given;
    }
}

/// Whether nodes have a column of partitions that is omitted if no node needs it.
fn lacks_shadow(nodes: &[Property]) -> bool {
    well_known::keep_shadow(nodes) && !nodes.iter().any(|property| property.name == well_known::SHADOW)
}

/// The edge type of a relation, and the sources of its properties.
fn edge_type(
    name: &str,
    relation: &str,
    bundled: &[Property],
    found: &Found,
    most: usize,
    rules: &NameRules,
) -> (EdgeType, EdgeSlots, Names) {
    let mut ty = EdgeType::new(0, name, 0);
    ty.rows = Some(found.rows);
    // In NOCK, "directed": false in every row means that a relation is undirected.
    let mut found = found.clone();
    let marker = found.members.get(well_known::DIRECTED).filter(|kinds| kinds.is_always_false(found.rows));
    let directed = marker.map(|_| well_known::DIRECTED.to_owned());
    if directed.is_some() {
        found.members.remove(well_known::DIRECTED);
        ty.direction = Direction::Undirected;
    }
    let mut names = Names::default().reserving_prefix(rules.reserved_prefix);
    let (properties, slots) = columns(bundled, &found, most, rules, &mut names);
    ty.properties = properties;
    (ty, EdgeSlots { relation: relation.to_owned(), directed, properties: slots }, names)
}

/// The columns of a type, and the source of each; at most `most` members have their own column.
fn columns(
    bundled: &[Property],
    found: &Found,
    most: usize,
    rules: &NameRules,
    names: &mut Names,
) -> (Vec<Property>, Vec<Slot>) {
    let mut properties = Vec::new();
    let mut slots = Vec::new();
    for (at, property) in bundled.iter().enumerate() {
        if property.kind == ValueKind::Bag {
            continue;
        }
        // Also the name of a column without values: the names of members must not depend on rows.
        let name = names.give(&property.name, rules.legal);
        let wanted = match property.name.as_str() {
            well_known::TRUTH => found.truth,
            well_known::IS_RDF => found.rdf,
            _ => found.columns.contains(&at),
        };
        if wanted {
            properties.push(Property { name, ..property.clone() });
            slots.push(Slot::Column(at));
        }
    }
    if found.members.len() > most {
        let name = names.give("props", rules.legal);
        properties.push(Property::new(name, DataType::Utf8).of_kind(ValueKind::Bag));
        slots.push(Slot::Rest);
        return (properties, slots);
    }
    for (member, name) in give_all(found.members.keys(), names, rules) {
        properties.push(
            found.members.get(member).map_or_else(|| Kinds::default().property(&name), |kinds| kinds.property(&name)),
        );
        slots.push(Slot::Member(member.clone()));
    }
    (properties, slots)
}

/// Assigns a name to each; those that need no change are kept, whatever other names exist.
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
