//! Several types as one: how a typed graph is written if there is one node type and one edge type (`docs/mapping.md`).
//!
//! annnet has nodes and edges with text keys and attributes. The type of a node becomes an attribute and, if there are
//! several, the prefix of its key; labels and relations also become attributes; the properties of all types share one
//! table. What annnet cannot store stays in the record.

use arrow_schema::DataType;
use isomorph_error::{Error, Place, Result};
use isomorph_model::schema::{DocumentBody, GroupKind, MembershipTable, Owner};
use isomorph_model::type_name::list_of;
use isomorph_model::{
    Cardinality, Direction, Document, EdgeType, Graph, Key, KeyKind, LabelVocabulary, NodeType, Property, Relation,
    ValueKind, well_known,
};
use serde::{Deserialize, Serialize};

use super::one_table::Weights;
use super::{EdgeSlots, Layout, Names, NodeSlots, Slot};

/// Names of the node type, of the relation and of the slice of everything.
const NODE: &str = "node";
const EDGE: &str = "edge";
const DEFAULT: &str = "default";

/// Names of attributes that annnet or its library reserves, for nodes and for edges.
const OF_NODES: [&str; 2] = ["node_id", well_known::ENTITY];
const OF_EDGES: [&str; 13] = [
    "edge_id",
    "source",
    "target",
    well_known::WEIGHT,
    "edge_type",
    well_known::DIRECTED,
    "slice",
    "slice_weight",
    "kind",
    "members",
    "head",
    "tail",
    "flexible",
];
/// Names of KGX.
const OF_KGX_NODES: [&str; 2] = ["id", "category"];
const OF_KGX_EDGES: [&str; 3] = ["subject", PREDICATE, "object"];
const PREDICATE: &str = "predicate";

/// Prefix of columns that are an index of pandas, which no reader shows.
const INDEX_PREFIX: &str = "__index_level_";

/// How several types become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fusing {
    /// For annnet: a weight for every edge, a slice of everything, keys of edges, and reserved names.
    #[default]
    Annnet,
    /// Only attributes that distinguish the types.
    Plain,
    /// For JSON lines of KGX: categories name node types and have labels, and every edge has a predicate.
    Kgx,
}

/// The relation between a typed graph and the same graph with one node type and one edge type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fusion {
    /// The form.
    #[serde(default, skip_serializing_if = "is_annnet")]
    pub fusing: Fusing,
    /// The typed graph.
    pub typed: Graph,
    /// The fused graph. Its edges have no keys: a format that needs them generates them from the ends.
    pub fused: Graph,
    /// One for each node type of the typed graph.
    pub nodes: Vec<FusedNodes>,
    /// For each edge type of the typed graph, the attributes of its properties.
    pub edges: Vec<Vec<usize>>,
    /// The attribute with the type of a node, if there are several.
    pub node_type: Option<usize>,
    /// The attribute with the labels of a node, if nodes have labels.
    pub labels: Option<usize>,
    /// The attribute with the relation of an edge, if there are several edge types.
    pub relation: Option<usize>,
    /// The attribute that is true if an edge has no weight, if weights can be missing.
    pub unweighted: Option<usize>,
}

fn is_annnet(fusing: &Fusing) -> bool {
    *fusing == Fusing::Annnet
}

/// How a node type is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FusedNodes {
    /// The prefix of every key.
    pub prefix: String,
    /// The attributes of its properties.
    pub properties: Vec<usize>,
    /// The category that names the type, in KGX.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
}

impl Fusion {
    /// The fusion of a typed graph. Names depend only on the description.
    ///
    /// # Errors
    /// If the graph has more than nodes and edges, keys or layers of edges, or keys that have no text form.
    pub fn of(typed: &Graph, fusing: Fusing) -> Result<Fusion> {
        let (is_plain, is_kgx) = (fusing != Fusing::Annnet, fusing == Fusing::Kgx);
        if !typed.hyperedges.is_empty() || !typed.values.is_empty() || !typed.groups.is_empty() {
            return Err(Error::unsupported("only nodes and edges can be fused"));
        }
        let several = typed.nodes.len() > 1;
        let mut prefixes = Names::default();
        let mut attributes = match fusing {
            Fusing::Annnet => Attributes::reserving(&OF_NODES),
            Fusing::Plain => Attributes::default(),
            Fusing::Kgx => Attributes::reserving(&OF_KGX_NODES),
        };
        let declared = typed.nodes.iter().filter_map(|ty| match &ty.labels {
            LabelVocabulary::Declared(labels) => Some(labels),
            LabelVocabulary::None | LabelVocabulary::Open => None,
        });
        let mut categories = Names::reserving(declared.flatten().map(String::as_str));
        let mut nodes = Vec::new();
        for ty in &typed.nodes {
            if ty.key.kind == KeyKind::Tuple {
                return Err(
                    Error::unsupported("keys that are lists have no text form").at(Place::field(ty.name.clone()))
                );
            }
            let prefix = match several {
                true => format!("{}/", prefixes.give(&ty.name, |c| c != '/')),
                false => String::new(),
            };
            // A type that has only the name of all nodes is no category.
            let category = (is_kgx && (several || ty.name != NODE)).then(|| categories.give(&ty.name, |_| true));
            nodes.push(FusedNodes { prefix, properties: attributes.of(&ty.properties), category });
        }
        let node_type = (several && !is_kgx).then(|| attributes.add("type", DataType::Utf8));
        let has_labels = typed.nodes.iter().any(|ty| ty.labels != LabelVocabulary::None);
        let labels = (has_labels && !is_kgx).then(|| attributes.add(well_known::LABELS, list_of(DataType::Utf8)));
        let mut node = NodeType::new(NODE, Key::utf8());
        node.ordered = !is_plain || typed.nodes.iter().any(|ty| ty.ordered || ty.key.kind == KeyKind::Row);
        node.rows = typed.node_rows();
        node.properties = attributes.properties;
        if is_kgx {
            node.labels = LabelVocabulary::Open;
        }

        let mut attributes = match fusing {
            Fusing::Annnet => Attributes::reserving(&OF_EDGES),
            Fusing::Plain => Attributes::default(),
            Fusing::Kgx => Attributes::reserving(&OF_KGX_EDGES),
        };
        if !is_plain {
            attributes.begin_with_weight();
        }
        let mut edges = Vec::new();
        for ty in &typed.edges {
            let (_, relation, _) = typed.edge_name(ty);
            if ty.key.is_some() || ty.layered || ty.relation == Relation::PerRow {
                return Err(Error::unsupported("edges with keys, layers or relations of their own cannot be fused")
                    .at(Place::field(relation)));
            }
            edges.push(attributes.of(&ty.properties));
        }
        let relation = match is_kgx {
            true => Some(attributes.own(PREDICATE, DataType::Utf8)),
            false => (typed.edges.len() > 1).then(|| attributes.add("relation", DataType::Utf8)),
        };
        let weights = typed.edges.iter().zip(&edges).flat_map(|(ty, places)| ty.properties.iter().zip(places));
        let some_may_have_none =
            !is_plain && weights.into_iter().any(|(property, place)| *place == 0 && property.nullable);
        let unweighted = some_may_have_none.then(|| attributes.add("unweighted", DataType::Boolean));
        let mut edge = EdgeType::new(0, EDGE, 0);
        edge.direction = match typed.edges.split_first() {
            Some((first, rest)) if is_plain && rest.iter().all(|ty| ty.direction == first.direction) => first.direction,
            None if is_plain => Direction::Directed,
            _ => Direction::PerRow,
        };
        edge.rows = typed.edge_rows();
        edge.properties = attributes.properties;

        let fused = Graph {
            name: typed.name.clone(),
            nodes: vec![node],
            edges: vec![edge],
            groups: if is_plain { Vec::new() } else { vec![slices()] },
            documents: if is_plain { Vec::new() } else { documents(typed) },
            ..Graph::default()
        };
        Ok(Fusion { fusing, typed: typed.clone(), fused, nodes, edges, node_type, labels, relation, unweighted })
    }

    /// Where the typed graph is in the fused one.
    pub fn layout(&self) -> Layout {
        let slots = |attributes: &[usize]| attributes.iter().map(|at| Slot::Column(*at)).collect();
        let nodes = self.nodes.iter().map(|own| NodeSlots {
            label: own.category.clone(),
            prefix: own.prefix.clone(),
            labels: Vec::new(),
            properties: slots(&own.properties),
        });
        let edges = self.typed.edges.iter().zip(&self.edges).map(|(ty, own)| EdgeSlots {
            relation: ty.relation.fixed().unwrap_or_default().to_owned(),
            directed: None,
            properties: slots(own),
        });
        Layout {
            node_type: self.node_type,
            labels: self.labels,
            relation: self.relation,
            weights: (self.fusing == Fusing::Annnet).then_some(Weights { unweighted: self.unweighted }),
            ..Layout::new(&self.typed, &self.fused, nodes.collect(), edges.collect())
        }
    }

    /// Keeps JSON and lists as what they are, for a format that has both: an attribute is JSON if all properties in it are.
    pub fn keep_json(&mut self) {
        let nodes = self.typed.nodes.iter().zip(&self.nodes).map(|(ty, own)| (&ty.properties, &own.properties));
        let edges = self.typed.edges.iter().zip(&self.edges).map(|(ty, own)| (&ty.properties, own));
        if let Some(fused) = self.fused.nodes.first_mut() {
            keep(&nodes.collect::<Vec<_>>(), &mut fused.properties);
        }
        if let Some(fused) = self.fused.edges.first_mut() {
            keep(&edges.collect::<Vec<_>>(), &mut fused.properties);
        }
    }

    /// The fused graph as it is written: for annnet with keys of edges.
    pub fn written(&self) -> Graph {
        let mut graph = self.fused.clone();
        if self.fusing != Fusing::Annnet {
            return graph;
        }
        for ty in &mut graph.edges {
            ty.key = Some(Key::utf8().named("edge_id"));
        }
        graph
    }
}

/// Gives each attribute the kind and cardinality that all properties in it have, if these are JSON and lists.
fn keep(types: &[(&Vec<Property>, &Vec<usize>)], attributes: &mut [Property]) {
    for (at, attribute) in attributes.iter_mut().enumerate() {
        let pairs = types.iter().flat_map(|(own, places)| own.iter().zip(places.iter()));
        let own: Vec<&Property> = pairs.filter(|(_, place)| **place == at).map(|(own, _)| own).collect();
        if own.is_empty() {
            continue;
        }
        if own.iter().all(|own| own.kind == ValueKind::Json) {
            attribute.kind = ValueKind::Json;
        }
        if own.iter().all(|own| own.cardinality == Cardinality::List && own.kind == ValueKind::Plain) {
            attribute.cardinality = Cardinality::List;
        }
    }
}

/// The attributes of one table.
#[derive(Default)]
struct Attributes {
    names: Names,
    properties: Vec<Property>,
    /// Names of properties, with their attributes.
    given: Vec<(String, usize)>,
    /// Whether the first attribute is the weight that every edge has. A property of nodes with that name is not a
    /// weight.
    begins_with_weight: bool,
}

impl Attributes {
    fn reserving(reserved: &[&str]) -> Self {
        let names = Names::reserving(reserved.iter().copied()).reserving_prefix(INDEX_PREFIX);
        Attributes { names, properties: Vec::new(), given: Vec::new(), begins_with_weight: false }
    }

    fn begin_with_weight(&mut self) {
        self.properties.insert(0, Property::new(well_known::WEIGHT, DataType::Float64).required());
        self.begins_with_weight = true;
    }

    /// Adds an attribute with a reserved name.
    fn own(&mut self, name: &str, data_type: DataType) -> usize {
        self.properties.push(Property::new(name, data_type));
        self.properties.len() - 1
    }

    fn add(&mut self, name: &str, data_type: DataType) -> usize {
        self.properties.push(Property::new(self.names.give(name, |_| true), data_type));
        self.properties.len() - 1
    }

    /// The attributes of properties: one for each name, and one more for each further type of the same name.
    fn of(&mut self, properties: &[Property]) -> Vec<usize> {
        let mut places = Vec::with_capacity(properties.len());
        for property in properties {
            // The weight of edges has its own column of doubles; a weight that does not fit is an attribute.
            let weighs = property.name == well_known::WEIGHT && fits_weight(&property.data_type);
            if weighs && self.begins_with_weight {
                places.push(0);
                continue;
            }
            let like = |(name, at): &&(String, usize)| {
                *name == property.name
                    && self.properties.get(*at).is_some_and(|own| own.data_type == property.data_type)
            };
            let known = self.given.iter().find(like).map(|(_, at)| *at);
            places.push(known.unwrap_or_else(|| {
                let at = self.add(&property.name, property.data_type.clone());
                self.given.push((property.name.clone(), at));
                at
            }));
        }
        places
    }
}

/// Whether a double can hold every value of a type.
fn fits_weight(data_type: &DataType) -> bool {
    use DataType as T;
    matches!(
        data_type,
        T::Float64 | T::Float32 | T::Float16 | T::Int8 | T::Int16 | T::Int32 | T::UInt8 | T::UInt16 | T::UInt32
    )
}

/// The slices: one that contains everything.
fn slices() -> GroupKind {
    let table = |of, properties| MembershipTable { of, properties };
    let weight = vec![Property::new(well_known::WEIGHT, DataType::Float64)];
    GroupKind {
        kind: "slice".to_owned(),
        key: Key::utf8(),
        ordered: true,
        properties: Vec::new(),
        all: vec![DEFAULT.to_owned()],
        memberships: vec![table(Owner::Nodes(0), Vec::new()), table(Owner::Edges(0), weight)],
    }
}

/// annnet's documents about the graph as a whole. Edges that are added later are directed by default, unless all edges
/// are undirected.
fn documents(typed: &Graph) -> Vec<Document> {
    let undirected = |ty: &EdgeType| ty.direction == Direction::Undirected;
    let directed = typed.edges.is_empty() || !typed.edges.iter().all(undirected);
    let default = format!("\"{DEFAULT}\"");
    let said = [
        ("directed", directed.to_string()),
        ("graph_version", "0".to_owned()),
        ("active_slice", default.clone()),
        ("default_slice", default),
    ];
    let document = |(name, text): (&str, String)| Document { name: name.to_owned(), body: DocumentBody::Json(text) };
    said.into_iter().map(document).collect()
}
