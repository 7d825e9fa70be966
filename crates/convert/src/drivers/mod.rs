//! The drivers of the formats in this library. No other code depends on the format.

mod annnet;
mod deepgnn;
mod edgelist;
mod flat;
mod graphar;
mod graphfile;
mod graphlake;
mod graphml;
mod neo4j_changes;
mod nock;
mod notation;
mod psl;
mod rdf;
mod records;

use isomorph_edgelist::Notation;
use isomorph_flat::Form;
use isomorph_model::{Direction, Graph, Property, Written};
use isomorph_tables::Encoding;

use crate::driver::Format;

pub(crate) use graphlake::lake;
pub use rdf::RdfOptions;

/// In detection order.
pub(crate) static STANDARD: [Format; 32] = [
    Format::GRAPHAR,
    Format::NOCK,
    Format::ANNNET,
    // Their first line tells, whatever the name.
    Format::APOC,
    Format::CYPHER,
    // Before edge lists, whose lines could be those of an adjacency list.
    Format::MATRIX_MARKET,
    Format::ADJACENCY_LIST,
    Format::MULTILINE,
    Format::METIS,
    Format::PAJEK,
    Format::GRAPHALYTICS,
    Format::EDGELIST,
    Format::DEEPGNN,
    Format::GRAPHLAKE,
    Format::GRAPHML,
    Format::PSL,
    // Before RDF, whose TriG begins with the same word.
    Format::GML,
    Format::RDF,
    Format::KGX,
    Format::NODELINK,
    Format::GEXF,
    Format::JGF,
    Format::CX2,
    Format::DOT,
    Format::MERMAID,
    // What the others do not know: tables in a directory, explained by a mapping file or by their names and headers.
    Format::PARQUET,
    Format::CSV,
    Format::ARROW,
    Format::JSON_LINES,
    Format::KGX_LINES,
    Format::NEO4J,
    Format::XLSX,
];

/// For code about a single format.
impl Format {
    /// Apache GraphAr: a directory of chunks.
    pub const GRAPHAR: Format = Format::new(&graphar::GraphAr);
    /// NOCK: one file, or a directory of partitions.
    pub const NOCK: Format = Format::new(&nock::Nock);
    /// annnet: a directory or an archive of tables.
    pub const ANNNET: Format = Format::new(&annnet::Annnet);
    /// Edge lists: one line per edge.
    pub const EDGELIST: Format = Format::new(&edgelist::EdgeList);
    /// Matrix Market: one line per entry of a sparse square matrix.
    pub const MATRIX_MARKET: Format = Format::new(&notation::Notated(Notation::MatrixMarket));
    /// NetworkX's adjacency lists: one line per node.
    pub const ADJACENCY_LIST: Format = Format::new(&notation::Notated(Notation::AdjacencyList));
    /// NetworkX's multiline adjacency lists: one line per node, and one per neighbour.
    pub const MULTILINE: Format = Format::new(&notation::Notated(Notation::MultilineAdjacencyList));
    /// METIS: one line per node with neighbours and weights.
    pub const METIS: Format = Format::new(&notation::Notated(Notation::Metis));
    /// Pajek: vertices, then arcs and edges.
    pub const PAJEK: Format = Format::new(&notation::Notated(Notation::Pajek));
    /// LDBC Graphalytics: files of vertices, edges and properties.
    pub const GRAPHALYTICS: Format = Format::new(&notation::Notated(Notation::Graphalytics));
    /// DeepGNN: one of four texts, or a directory of partitions.
    pub const DEEPGNN: Format = Format::new(&deepgnn::DeepGnn);
    /// GraphLake: a directory of triples and snapshots.
    pub const GRAPHLAKE: Format = Format::new(&graphlake::GraphLake);
    /// GraphML: XML with nodes and edges.
    pub const GRAPHML: Format = Format::new(&graphml::GraphMl);
    /// KGX JSON: a list of nodes and a list of edges from subject to object.
    pub const KGX: Format = Format::new(&graphfile::GraphFile::Kgx);
    /// Node-link JSON: a list of nodes and a list of edges.
    pub const NODELINK: Format = Format::new(&graphfile::GraphFile::NodeLink);
    /// GEXF: XML with nodes and edges.
    pub const GEXF: Format = Format::new(&graphfile::GraphFile::Gexf);
    /// GML: nested pairs of keys and values.
    pub const GML: Format = Format::new(&graphfile::GraphFile::Gml);
    /// JSON Graph Format.
    pub const JGF: Format = Format::new(&graphfile::GraphFile::Jgf);
    /// CX2 of Cytoscape.
    pub const CX2: Format = Format::new(&graphfile::GraphFile::Cx2);
    /// DOT of Graphviz; written only.
    pub const DOT: Format = Format::new(&graphfile::GraphFile::Drawing(isomorph_graphfile::draw::Language::Dot));
    /// Flowcharts of Mermaid; written only.
    pub const MERMAID: Format =
        Format::new(&graphfile::GraphFile::Drawing(isomorph_graphfile::draw::Language::Mermaid));
    /// RDF: a text in one of six syntaxes.
    pub const RDF: Format = Format::new(&rdf::Rdf);
    /// Tables in Parquet: a file for each type.
    pub const PARQUET: Format = Format::new(&flat::Flat(Form::Tables(Encoding::Parquet)));
    /// Tables in CSV: a file for each type.
    pub const CSV: Format = Format::new(&flat::Flat(Form::Tables(Encoding::Csv)));
    /// Tables in Arrow IPC: a file for each type.
    pub const ARROW: Format = Format::new(&flat::Flat(Form::Tables(Encoding::Arrow)));
    /// Tables for Neo4j's admin import: CSV whose headers say what columns are.
    pub const NEO4J: Format = Format::new(&flat::Flat(Form::Neo4j));
    /// Neo4j's JSON lines, as the procedures of APOC write and read them.
    pub const APOC: Format = Format::new(&records::Records(isomorph_neo4j::Form::Apoc));
    /// A script of Cypher that creates a graph.
    pub const CYPHER: Format = Format::new(&records::Records(isomorph_neo4j::Form::Cypher));
    /// PSL: predicates with truth.
    pub const PSL: Format = Format::new(&psl::Psl);
    /// Tables in JSON lines: a file for each type.
    pub const JSON_LINES: Format = Format::new(&flat::Flat(Form::Tables(Encoding::JsonLines)));
    /// JSON lines of KGX: a file of nodes and a file of edges.
    pub const KGX_LINES: Format = Format::new(&flat::Flat(Form::Kgx));
    /// Workbooks: a sheet for each type.
    pub const XLSX: Format = Format::new(&flat::Flat(Form::Workbook));
}

/// Returns the properties of all nodes and edges.
fn properties(graph: &Graph) -> impl Iterator<Item = &Property> {
    let nodes = graph.nodes.iter().flat_map(|ty| &ty.properties);
    nodes.chain(graph.edges.iter().flat_map(|ty| &ty.properties))
}

/// Returns whether a table of a sidecar holds the values of a property.
fn in_table(property: &Property) -> bool {
    isomorph_flat::holds(Encoding::Parquet, property)
}

/// Returns a file name without the extension of compression.
fn unpacked(name: &str) -> &str {
    name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name)
}

/// Returns the file that was written under this name.
fn file_called<'a>(written: &'a Written, wanted: &str) -> Vec<&'a str> {
    written.files.iter().map(|(name, _)| name.as_str()).filter(|name| *name == wanted).collect()
}

/// What readers make of edges of which each states its direction, if any of `graph` do.
fn mixed_directions(graph: &Graph, readers: &str) -> Vec<(String, String)> {
    let is_mixed = graph.edges.iter().any(|ty| ty.direction == Direction::PerRow);
    is_mixed.then(|| ("direction".to_owned(), format!("of each edge: {readers}"))).into_iter().collect()
}
