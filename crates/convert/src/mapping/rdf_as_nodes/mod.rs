//! The literals of resources as properties: how RDF is written to formats that have nodes with properties
//! (`docs/mapping.md`).
//!
//! Each resource becomes a node whose key is its term, each literal a member of its properties, each other triple an
//! edge: a graph of the bundled shape. [`Gathered`] shows RDF in this form; it sorts by subject, because the triples of
//! a subject are in many places. [`Scattered`] shows such a graph as RDF, without sorting.

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
    EdgeType, Graph, Key, KeyKind, LabelVocabulary, NodeType, Property, Relation, Tables, ValueKind, well_known,
};
use serde::{Deserialize, Serialize};

use super::iri_map::is_iri;
pub use gathered::Gathered;
pub use pynock::{Exported, Flattened};
pub use scattered::Scattered;

/// Name of the property that holds the term of a resource, if keys have names.
pub const TERM: &str = "term";

/// Name of the node type in the bundled format.
const NODE: &str = "node";

/// Whether nodes are read of these tables, and which edges are.
fn nodes_and_edges(tables: Tables) -> (bool, Option<Tables>) {
    match tables {
        Tables::All => (true, Some(Tables::AllEdges)),
        Tables::AllNodes | Tables::Nodes(_) | Tables::NodeKeys(_) => (true, None),
        Tables::AllEdges | Tables::Edges(_) | Tables::EdgeEnds(_) => (false, Some(tables)),
        Tables::Rest => (false, None),
    }
}

/// The relation between RDF and the same graph as nodes with bags of properties.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gathering {
    /// The RDF: one type of implied resources, one table of triples, values by predicate.
    pub rdf: Graph,
    /// The bundled graph.
    pub bundled: Graph,
    /// Whether classes in the default graph are labels of nodes instead of edges.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub labels: bool,
    /// Whether graphs without triples are dropped; otherwise they are an error. Only for the forward direction.
    #[serde(skip)]
    pub lossy: bool,
}

impl Gathering {
    /// The gathering of RDF. With `flagged`, nodes have `is_rdf`, and nodes and edges have `truth`; with `labels`, the
    /// classes that `rdf:type` states in the default graph are labels.
    ///
    /// # Errors
    /// If the graph is not RDF.
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
        // In the bundled format all nodes have one type.
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

    /// The gathering that `bundled`, a graph of nodes with `is_rdf`, came from or could have come from: `predicates`
    /// are the members of its nodes.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] if the name of a member is not an IRI.
    pub fn behind<'a>(
        bundled: &Graph,
        predicates: impl IntoIterator<Item = &'a str>,
        labels: bool,
        lossy: bool,
    ) -> Result<Gathering> {
        let predicates: Vec<&str> = predicates.into_iter().collect();
        if let Some(name) = predicates.iter().find(|name| !is_iri(name)) {
            return Err(Error::usage(format!(
                "the property {name:?} is not a predicate: in rich mode, names must be IRIs"
            ))
            .hint("without --rdf-mode names become IRIs below --base"));
        }
        let rdf = description(None, predicates.into_iter().map(|predicate| (predicate, None)));
        Ok(Gathering { rdf, bundled: bundled.clone(), labels, lossy })
    }

    /// The type of the truth of nodes, if nodes have `is_rdf`.
    fn truth_of_nodes(&self) -> Option<&DataType> {
        let stated = self.bundled.nodes.first().filter(|ty| ty.properties.len() > 1)?;
        stated.properties.first().map(|truth| &truth.data_type)
    }

    /// The same for edges.
    fn truth_of_edges(&self) -> Option<&DataType> {
        self.truth_of_nodes()?;
        self.bundled.edges.first()?.properties.first().map(|truth| &truth.data_type)
    }

    /// The predicate with this number.
    fn predicate(&self, number: u32) -> &str {
        self.rdf.values.get(number as usize).map(|table| table.property.name.as_str()).unwrap_or_default()
    }
}
