//! What is said of resources as their properties: how RDF is written where there are nodes with properties
//! (`docs/mapping.md`).
//!
//! Each resource becomes a node called by its term, each literal a member of its properties, each other triple an edge: a
//! graph of the bundled shape. [`Gathered`] shows RDF so; it sorts by subject, because what is said of one is in many places.
//! [`Scattered`] shows such a graph as RDF, as it comes.

mod gathered;
mod literal;
mod nodes;
mod pynock;
mod rows;
mod scattered;

use arrow_schema::DataType;
use isomorph_error::{Error, Result};
use isomorph_model::faces::description;
use isomorph_model::schema::Owner;
use isomorph_model::{
    EdgeType, Graph, Key, KeyKind, LabelVocabulary, NodeType, Property, Relation, ValueKind, well_known,
};
use serde::{Deserialize, Serialize};

pub use gathered::Gathered;
pub use pynock::{Exported, Flattened};
pub use scattered::Scattered;

/// Name of the property that holds the term of a resource, where keys have names.
pub const TERM: &str = "term";

/// Name of the node type in the bundled format.
const NODE: &str = "node";

/// Whether a name is an absolute IRI, as far as a scheme and the signs in it tell.
fn is_iri(name: &str) -> bool {
    let scheme = name.split_once(':').map(|(scheme, _)| scheme).unwrap_or_default();
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
        && !name.contains(|c: char| c <= ' ' || matches!(c, '<' | '>' | '"' | '{' | '}' | '|' | '^' | '`' | '\\'))
}

/// The relation between RDF and the same as nodes with bags of properties.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gathering {
    /// The RDF: one type of implied resources, one table of triples, values by predicate.
    pub rdf: Graph,
    /// The bundled graph.
    pub bundled: Graph,
    /// Whether classes in the default graph are labels of nodes, and no edges.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub labels: bool,
    /// Graphs without triples are left out; else they are an error. For the way there.
    #[serde(skip)]
    pub lossy: bool,
}

impl Gathering {
    /// The gathering of RDF. With `flagged`, nodes say that they are RDF, and nodes and edges that they are true; with `labels`, what
    /// `rdf:type` says in the default graph are labels.
    ///
    /// # Errors
    /// When the graph is no RDF.
    pub fn of(rdf: &Graph, flagged: bool, labels: bool, lossy: bool) -> Result<Gathering> {
        let misfit = || Error::unsupported("only resources, triples and literals in graphs are RDF");
        let ([node], [edge]) = (rdf.nodes.as_slice(), rdf.edges.as_slice()) else { return Err(misfit()) };
        let is_graph = |property: &Property| property.name == well_known::GRAPH && property.kind == ValueKind::Term;
        let fits = node.implied
            && node.key.kind == KeyKind::Term
            && node.properties.is_empty()
            && edge.relation == Relation::PerRow
            && edge.key.is_none()
            && edge.properties.iter().all(is_graph);
        let literals = rdf.values.iter().all(|table| {
            table.owner == Owner::Nodes(0)
                && table.property.kind == (ValueKind::Literal { datatype: None })
                && matches!(table.property.data_type, DataType::Struct(_))
                && table.qualifiers.iter().all(is_graph)
        });
        if !fits || !literals || !rdf.hyperedges.is_empty() {
            return Err(misfit());
        }
        let truth = || Property::new(well_known::TRUTH, DataType::Float32).required();
        let stated = |property: Property| flagged.then_some(property);
        // In the bundled format all nodes are of one type.
        let mut resource = NodeType::new(if flagged { NODE } else { &node.name }, Key::utf8().named(TERM));
        resource.labels = if flagged || labels { LabelVocabulary::Open } else { LabelVocabulary::None };
        let is_rdf = Property::new(well_known::IS_RDF, DataType::Boolean).required();
        resource.properties.extend(stated(truth()).into_iter().chain(stated(is_rdf)));
        resource.properties.push(Property::bag());
        let mut triples = EdgeType::new(0, "", 0);
        triples.relation = Relation::PerRow;
        triples.rows = edge.rows.filter(|_| !labels);
        triples.properties.extend(stated(truth()));
        triples.properties.push(Property::bag());
        let bundled = Graph {
            name: rdf.name.clone(),
            nodes: vec![resource],
            edges: vec![triples],
            documents: rdf.documents.clone(),
            ..Graph::default()
        };
        Ok(Gathering { rdf: rdf.clone(), bundled, labels, lossy })
    }

    /// The gathering that `bundled`, a graph of nodes that say that they are RDF, came from or could have come from: `predicates` are the
    /// members of its nodes.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Usage`] when a member is called by no IRI.
    pub fn behind<'a>(
        bundled: &Graph,
        predicates: impl IntoIterator<Item = &'a str>,
        labels: bool,
        lossy: bool,
    ) -> Result<Gathering> {
        let predicates: Vec<&str> = predicates.into_iter().collect();
        if let Some(name) = predicates.iter().find(|name| !is_iri(name)) {
            return Err(Error::usage(format!("the property {name:?} is no predicate: in rich mode names are IRIs"))
                .hint("without --rdf-mode names become IRIs below --base"));
        }
        let rdf = description(None, predicates.into_iter().map(|predicate| (predicate, None)));
        Ok(Gathering { rdf, bundled: bundled.clone(), labels, lossy })
    }

    /// The type of what nodes state as their truth, where they say that they are RDF.
    fn truth_of_nodes(&self) -> Option<&DataType> {
        let stated = self.bundled.nodes.first().filter(|ty| ty.properties.len() > 1)?;
        stated.properties.first().map(|truth| &truth.data_type)
    }

    /// The same of edges.
    fn truth_of_edges(&self) -> Option<&DataType> {
        self.truth_of_nodes()?;
        self.bundled.edges.first()?.properties.first().map(|truth| &truth.data_type)
    }

    /// The predicate with this number.
    fn predicate(&self, number: u32) -> &str {
        self.rdf.values.get(number as usize).map(|table| table.property.name.as_str()).unwrap_or_default()
    }
}
