//! The drivers of the formats in this library. No other code depends on the format.

mod annnet;
mod deepgnn;
mod edgelist;
mod flat;
mod graphar;
mod graphlake;
mod graphml;
mod nock;
mod notation;
mod rdf;

use isomorph_edgelist::Notation;
use isomorph_model::{Graph, Property, Written};
use isomorph_tables::Encoding;

use crate::driver::Format;

pub use rdf::RdfOptions;

/// In detection order.
pub(crate) static STANDARD: [Format; 18] = [
    Format::GRAPHAR,
    Format::NOCK,
    Format::ANNNET,
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
    Format::RDF,
    // What the others do not know: tables in a directory, explained by a mapping file or by their names and headers.
    Format::PARQUET,
    Format::CSV,
    Format::ARROW,
    Format::JSON_LINES,
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
    /// RDF: a text in one of six syntaxes.
    pub const RDF: Format = Format::new(&rdf::Rdf);
    /// Tables in Parquet: a file for each type.
    pub const PARQUET: Format = Format::new(&flat::Flat(Encoding::Parquet));
    /// Tables in CSV: a file for each type.
    pub const CSV: Format = Format::new(&flat::Flat(Encoding::Csv));
    /// Tables in Arrow IPC: a file for each type.
    pub const ARROW: Format = Format::new(&flat::Flat(Encoding::Arrow));
    /// Tables in JSON lines: a file for each type.
    pub const JSON_LINES: Format = Format::new(&flat::Flat(Encoding::JsonLines));
}

/// Returns the properties of all nodes and edges.
fn properties(graph: &Graph) -> impl Iterator<Item = &Property> {
    let nodes = graph.nodes.iter().flat_map(|ty| &ty.properties);
    nodes.chain(graph.edges.iter().flat_map(|ty| &ty.properties))
}

/// Returns the file that was written under this name.
fn file_called<'a>(written: &'a Written, wanted: &str) -> Vec<&'a str> {
    written.files.iter().map(|(name, _)| name.as_str()).filter(|name| *name == wanted).collect()
}
