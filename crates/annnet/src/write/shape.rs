//! Which graphs can be written, and where their properties are stored.

use std::collections::BTreeMap;

use arrow_schema::DataType;
use isomorph_error::Result;
use isomorph_model::schema::{GroupKind, MembershipTable, Owner};
use isomorph_model::{Graph, KeyKind, LabelVocabulary, Property, well_known};

use super::columns::lost;
use crate::layout::{NODE_WORDS, column, document, word};
use crate::preserved;

/// Properties with a meaning of their own, and those that become columns of an attribute table.
#[derive(Debug, Clone, Default)]
pub(super) struct Valued {
    /// Index of the property `weight`.
    pub weight: Option<usize>,
    /// Indexes of all other properties, in the order of the columns.
    pub attributes: Vec<usize>,
}

/// A column of an attribute table.
pub(super) type Attribute = (String, DataType);

/// The class of the rows of a hyperedge type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Hyperedge,
    Placeholder,
    OneSided,
}

/// The parts of a graph, and their indexes.
#[derive(Debug)]
pub(super) struct Shape {
    /// Whether there are no aspects.
    pub is_flat: bool,
    /// Index of the node property `entity`.
    pub entity: Option<usize>,
    pub node_attributes: Vec<usize>,
    pub node_columns: Vec<Attribute>,
    pub edges: Valued,
    pub edge_columns: Vec<Attribute>,
    pub hyperedges: Vec<(Class, Valued)>,
    /// Index of each group kind.
    pub slice: Option<usize>,
    pub aspect: Option<usize>,
    pub elementary: Option<usize>,
    pub layer: Option<usize>,
    /// Slices that contain everything.
    pub all: Vec<String>,
    pub slice_columns: Vec<Attribute>,
    pub elementary_columns: Vec<Attribute>,
    /// Attributes of pairs, by membership table of slices.
    pub pairs: Tables,
    pub pair_columns: Vec<Attribute>,
}

impl Shape {
    /// Determines the shape of a graph.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::WouldLose`], naming what the format cannot represent.
    pub fn of(graph: &Graph) -> Result<Shape> {
        let [node] = graph.nodes.as_slice() else {
            return Err(lost(format!("annnet has only one node type, but this graph has {}", graph.nodes.len())));
        };
        let [edge] = graph.edges.as_slice() else {
            return Err(lost(format!("annnet has only one edge type, but this graph has {}", graph.edges.len())));
        };
        if node.name != word::NODE || node.key.kind != KeyKind::Utf8 || node.labels != LabelVocabulary::None {
            return Err(lost("the node type of annnet is `node`, with text keys and without labels"));
        }
        let keyed = edge.key.as_ref().is_some_and(|key| key.kind == KeyKind::Utf8);
        if edge.relation.fixed() != Some(word::EDGE) || !keyed {
            return Err(lost("the edge type of annnet is `edge`, with text keys"));
        }
        if let Some(values) = graph.values.first() {
            return Err(lost(format!("annnet supports only one value for each property: {}", values.property.name)));
        }
        if let Some(other) = graph.documents.iter().find(|own| !document::ALL.contains(&own.name.as_str())) {
            return Err(lost(format!("annnet cannot store the document {}", other.name)));
        }
        let entity = position(&node.properties, well_known::ENTITY);
        let node_attributes: Vec<usize> = (0..node.properties.len()).filter(|at| Some(*at) != entity).collect();
        let original = preserved::names(graph);
        let node_columns = names(&node.properties, &node_attributes, &[NODE_ID])?;
        let edges = valued(&edge.properties);
        let edge_columns = names(&edge.properties, &edges.attributes, &[column::EDGE_ID])?;
        let mut hyperedges = Vec::new();
        for ty in &graph.hyperedges {
            let class = match ty.name.as_str() {
                word::HYPEREDGE => Class::Hyperedge,
                word::PLACEHOLDER => Class::Placeholder,
                word::ONE_SIDED => Class::OneSided,
                other => return Err(lost(format!("annnet has no hyperedge type {other}"))),
            };
            hyperedges.push((class, aligned(&ty.properties, &edge_columns, &ty.name)?));
        }
        let kind = |name: &str| graph.groups.iter().position(|own| own.kind == name);
        if let Some(other) = graph.groups.iter().find(|own| !KINDS.contains(&own.kind.as_str())) {
            return Err(lost(format!("annnet has no group kind {}", other.kind)));
        }
        let of = |kind: Option<usize>| kind.and_then(|kind| graph.groups.get(kind));
        let (slice, elementary) = (kind(word::SLICE), kind(word::ELEMENTARY));
        let (pairs, pair_columns) = of(slice).map_or_else(|| Ok(Default::default()), pairs)?;
        let columns = |kind: Option<&GroupKind>, keys: &[&str]| match kind {
            Some(kind) => names(&kind.properties, &Vec::from_iter(0..kind.properties.len()), keys),
            None => Ok(Vec::new()),
        };
        for kind in graph.groups.iter().filter(|own| own.kind == word::LAYER) {
            let tables = kind.memberships.iter().map(|table| &table.properties);
            let mut properties = std::iter::once(&kind.properties).chain(tables).flatten();
            if let Some(other) = properties.find(|property| property.name != word::ATTRIBUTES) {
                return Err(lost(format!(
                    "layers of annnet have their attributes in one JSON object, and no property {}",
                    other.name
                )));
            }
        }
        Ok(Shape {
            is_flat: kind(word::ASPECT).is_none(),
            entity,
            node_attributes,
            node_columns: renamed(node_columns, &original, well_known::ENTITY),
            edges,
            edge_columns: renamed(edge_columns, &original, well_known::WEIGHT),
            hyperedges,
            slice,
            aspect: kind(word::ASPECT),
            elementary,
            layer: kind(word::LAYER),
            all: of(slice).map(|slice| slice.all.clone()).unwrap_or_default(),
            slice_columns: columns(of(slice), &[column::SLICE_ID])?,
            elementary_columns: columns(of(elementary), &[column::LAYER_ID, column::ASPECT, column::ELEMENTARY])?,
            pairs,
            pair_columns,
        })
    }
}

/// Key of nodes, as in `NODE_WORDS`.
pub(super) const NODE_ID: &str = NODE_WORDS.node_id;
const KINDS: [&str; 4] = [word::SLICE, word::ASPECT, word::ELEMENTARY, word::LAYER];

fn position(properties: &[Property], name: &str) -> Option<usize> {
    properties.iter().position(|property| property.name == name)
}

fn valued(properties: &[Property]) -> Valued {
    let weight = position(properties, well_known::WEIGHT);
    Valued { weight, attributes: (0..properties.len()).filter(|at| Some(*at) != weight).collect() }
}

/// Returns names and types of columns. No name may be that of an existing column.
fn names(properties: &[Property], chosen: &[usize], taken: &[&str]) -> Result<Vec<Attribute>> {
    let mut columns: Vec<Attribute> = Vec::new();
    for property in chosen.iter().filter_map(|at| properties.get(*at)) {
        if taken.contains(&property.name.as_str()) || columns.iter().any(|(name, _)| *name == property.name) {
            return Err(lost(format!("a column {} already exists", property.name)));
        }
        columns.push((property.name.clone(), property.data_type.clone()));
    }
    Ok(columns)
}

/// Returns the columns with the names that they had before reading renamed some; in this table, only the name
/// `reserved` is renamed.
fn renamed(mut columns: Vec<Attribute>, original: &BTreeMap<String, String>, reserved: &str) -> Vec<Attribute> {
    for at in 0..columns.len() {
        let Some(own) = original.get(&columns[at].0) else { continue };
        if own == reserved && columns.iter().all(|(name, _)| name != own) {
            columns[at].0.clone_from(own);
        }
    }
    columns
}

/// Maps properties to existing columns: the sets of names must be equal.
fn aligned(properties: &[Property], columns: &[Attribute], what: &str) -> Result<Valued> {
    let own = valued(properties);
    let find = |(name, data_type): &Attribute| {
        let found = position(properties, name);
        found.filter(|at| properties.get(*at).is_some_and(|property| property.data_type == *data_type))
    };
    let attributes: Option<Vec<usize>> = columns.iter().map(find).collect();
    match attributes.filter(|attributes| attributes.len() == own.attributes.len()) {
        Some(attributes) => Ok(Valued { weight: own.weight, attributes }),
        None => Err(lost(format!("all edges of annnet have the same properties, but those of {what} differ"))),
    }
}

/// Membership tables, with the values of each.
type Tables = Vec<(Owner, Valued)>;

/// Returns the values of edges in slices.
fn pairs(slice: &GroupKind) -> Result<(Tables, Vec<Attribute>)> {
    let of_edges = |table: &&MembershipTable| !matches!(table.of, Owner::Nodes(_));
    let first = slice.memberships.iter().find(of_edges);
    let columns = match first {
        Some(table) => {
            let taken = [column::SLICE_ID, column::EDGE_ID];
            names(&table.properties, &valued(&table.properties).attributes, &taken)?
        }
        None => Vec::new(),
    };
    let mut pairs = Vec::new();
    for table in &slice.memberships {
        pairs.push(match table.of {
            Owner::Nodes(_) if !table.properties.is_empty() => {
                return Err(lost("annnet does not support values of nodes in slices"));
            }
            Owner::Nodes(_) => (table.of, Valued::default()),
            of => (of, aligned(&table.properties, &columns, "slices")?),
        });
    }
    Ok((pairs, columns))
}
