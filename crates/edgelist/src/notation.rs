//! The notations of this crate other than edge lists, and what each of them can store.

use arrow_schema::DataType;
use isomorph_error::{Result, Rule};
use isomorph_model::capability::{Capability, Directions, Scalar, Values};
use isomorph_model::{Cardinality, Direction, Graph, KeyKind, Property, ValueKind};
use isomorph_storage::{Location, Scheme};
use isomorph_tables::PackedFile;

use crate::layout::beginning;
use crate::{adjacency, graphalytics, matrix_market, metis, pajek};

/// A notation of graphs as lines of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Notation {
    /// Matrix Market's coordinate format: a line for each entry of a sparse square matrix.
    MatrixMarket,
    /// NetworkX's adjacency list: a line for each node with its neighbours.
    AdjacencyList,
    /// NetworkX's multiline adjacency list: a line for each node, followed by one for each neighbour with a dictionary.
    MultilineAdjacencyList,
    /// METIS: a header, and a line for each node with its neighbours and weights.
    Metis,
    /// Pajek: vertices with labels and values, then arcs and edges.
    Pajek,
    /// LDBC Graphalytics: a file of vertices, a file of edges, and one of properties.
    Graphalytics,
}

const NUMBERS: &[Scalar] = &[Scalar::Int(64), Scalar::Float(64)];
const SCALARS: &[Scalar] = &[Scalar::Bool, Scalar::Int(64), Scalar::Float(64), Scalar::Text];

/// Numbers from 1 name the nodes, and an edge has at most one number.
const MATRIX: Capability = Capability {
    keys: &[KeyKind::Int],
    edges: Values { scalars: NUMBERS, ..Values::NONE },
    directions: Directions::ByType,
    parallel_edges: true,
    ..Capability::LEAST
};

/// Names, and edges without values.
const ADJACENCY: Capability = Capability {
    keys: &[KeyKind::Int, KeyKind::Utf8],
    directions: Directions::ByType,
    parallel_edges: true,
    ..Capability::LEAST
};

/// Names, and edges with dictionaries.
const MULTILINE: Capability =
    Capability { edges: Values { scalars: SCALARS, nulls: true, json: true, ..Values::NONE }, ..ADJACENCY };

/// Numbers from 1 name the nodes; sizes and weights are integers.
const METIS: Capability = Capability {
    keys: &[KeyKind::Int],
    nodes: Values { scalars: &[Scalar::Int(64)], ..Values::NONE },
    edges: Values { scalars: &[Scalar::Int(64)], ..Values::NONE },
    directions: Directions::ByType,
    ..Capability::LEAST
};

/// Labels, and values of nodes and edges.
const PAJEK: Capability = Capability {
    order: true,
    nodes: Values { scalars: SCALARS, nulls: true, ..Values::NONE },
    edges: Values { scalars: SCALARS, nulls: true, ..Values::NONE },
    directions: Directions::ByRow,
    parallel_edges: true,
    ..Capability::LEAST
};

/// Integers name the nodes; nodes and edges have numbers.
const GRAPHALYTICS: Capability = Capability {
    keys: &[KeyKind::Int],
    nodes: Values { scalars: NUMBERS, ..Values::NONE },
    edges: Values { scalars: NUMBERS, ..Values::NONE },
    directions: Directions::ByType,
    parallel_edges: true,
    ..Capability::LEAST
};

impl Notation {
    /// All variants.
    pub const ALL: [Notation; 6] = [
        Notation::MatrixMarket,
        Notation::AdjacencyList,
        Notation::MultilineAdjacencyList,
        Notation::Metis,
        Notation::Pajek,
        Notation::Graphalytics,
    ];

    /// Returns the name for display.
    pub fn name(self) -> &'static str {
        match self {
            Notation::MatrixMarket => "Matrix Market",
            Notation::AdjacencyList => "adjacency list",
            Notation::MultilineAdjacencyList => "multiline adjacency list",
            Notation::Metis => "METIS",
            Notation::Pajek => "Pajek",
            Notation::Graphalytics => "Graphalytics",
        }
    }

    /// Returns what graphs in this notation can have.
    pub fn capability(self) -> &'static Capability {
        match self {
            Notation::MatrixMarket => &MATRIX,
            Notation::AdjacencyList => &ADJACENCY,
            Notation::MultilineAdjacencyList => &MULTILINE,
            Notation::Metis => &METIS,
            Notation::Pajek => &PAJEK,
            Notation::Graphalytics => &GRAPHALYTICS,
        }
    }

    /// Returns the rules that validation checks.
    pub fn rules(self) -> &'static [&'static Rule] {
        match self {
            Notation::MatrixMarket => matrix_market::rules::RULES,
            Notation::AdjacencyList | Notation::MultilineAdjacencyList => adjacency::rules::RULES,
            Notation::Metis => metis::rules::RULES,
            Notation::Pajek => pajek::rules::RULES,
            Notation::Graphalytics => graphalytics::rules::RULES,
        }
    }

    /// Returns the endings of file names.
    pub fn endings(self) -> &'static [&'static str] {
        match self {
            Notation::MatrixMarket => &[".mtx"],
            Notation::AdjacencyList => &[".adjlist"],
            Notation::MultilineAdjacencyList => &[".multiline_adjlist"],
            Notation::Metis => &[".metis", ".graph"],
            Notation::Pajek => &[".net"],
            Notation::Graphalytics => &[".graphalytics"],
        }
    }

    /// Returns whether edges refer to nodes by their rows in the text, from 1.
    pub fn is_numbered(self) -> bool {
        matches!(self, Notation::MatrixMarket | Notation::Metis | Notation::Pajek)
    }

    /// Returns whether nodes have no names but integers.
    pub fn has_integers_for_keys(self) -> bool {
        self.has_numbers_for_keys() || self == Notation::Graphalytics
    }

    /// Returns whether a graph is a directory with several files.
    pub fn is_directory(self) -> bool {
        self == Notation::Graphalytics
    }

    /// Returns whether nodes have no names but the numbers 1 to their count.
    pub fn has_numbers_for_keys(self) -> bool {
        matches!(self, Notation::MatrixMarket | Notation::Metis)
    }

    /// Returns whether a text states whether edges are directed; for the others, an option does.
    pub fn states_direction(self) -> bool {
        !matches!(self, Notation::AdjacencyList | Notation::MultilineAdjacencyList)
    }

    /// Returns whether values of a property are written unchanged, or not at all.
    pub fn holds(self, property: &Property, of_edge: bool) -> bool {
        let single = property.cardinality == Cardinality::Single;
        let is_number = matches!(property.data_type, DataType::Int64 | DataType::Float64);
        let is_text = property.data_type == DataType::Utf8;
        let is_scalar = is_number || is_text || property.data_type == DataType::Boolean;
        let is_plain = matches!(property.kind, ValueKind::Plain);
        match self {
            Notation::AdjacencyList => true,
            Notation::MatrixMarket | Notation::MultilineAdjacencyList if !of_edge => true,
            // What is no number is not written.
            Notation::MatrixMarket | Notation::Metis | Notation::Graphalytics => {
                !(property.data_type.is_numeric() && single) || is_number
            }
            Notation::MultilineAdjacencyList => {
                single && is_scalar && (is_plain || property.kind == ValueKind::Json && is_text)
            }
            Notation::Pajek => single && is_scalar && (is_plain || is_text),
        }
    }

    /// Returns why a property of nodes is not stored; `is_value` of one that is a size or a weight of METIS.
    fn lacks_of_nodes(self, property: &Property, is_value: bool) -> Option<&'static str> {
        match self {
            Notation::MatrixMarket => Some("a matrix has no values of nodes"),
            Notation::AdjacencyList | Notation::MultilineAdjacencyList => {
                Some("an adjacency list has no node properties")
            }
            Notation::Metis => (!is_value).then_some("a vertex of METIS has a size and weights, which are integers"),
            Notation::Graphalytics => {
                (!graphalytics::has_place(property)).then_some("values of Graphalytics are numbers")
            }
            Notation::Pajek => (!pajek::has_place(property, false))
                .then_some("it has the name of a value with another type in Pajek, or is JSON"),
        }
    }

    /// The same of a property of edges; `written` is the one that is written as their number.
    fn lacks_of_edges(self, property: &Property, written: Option<&Property>) -> Option<&'static str> {
        let is_written = written.is_some_and(|written| written.name == property.name);
        match self {
            Notation::MultilineAdjacencyList => None,
            Notation::MatrixMarket => (!is_written).then_some("an entry of a matrix has one number"),
            Notation::AdjacencyList => Some("edges of an adjacency list have no values"),
            Notation::Metis => (!is_written).then_some("an edge of METIS has one integer"),
            Notation::Graphalytics => {
                (!graphalytics::has_place(property)).then_some("values of Graphalytics are numbers")
            }
            Notation::Pajek => (!pajek::has_place(property, true))
                .then_some("it has the name of a value with another type in Pajek, or is JSON"),
        }
    }

    /// Returns what this notation stores of a graph of one node type and one edge type. The edges of METIS are not read in the order in which they
    /// are written, so that they keep what they have.
    pub fn stored(self, graph: &Graph) -> Graph {
        let mut stored = graph.clone();
        let values = if self == Notation::Metis { metis::values_of(graph) } else { Vec::new() };
        for ty in &mut stored.nodes {
            let mut at = 0..ty.properties.len();
            ty.properties.retain(|property| {
                let is_value = at.next().is_some_and(|at| values.contains(&at));
                self.lacks_of_nodes(property, is_value).is_none()
            });
        }
        if self == Notation::Metis {
            return stored;
        }
        for ty in &mut stored.edges {
            let written = self.number_of(&ty.properties).cloned();
            ty.properties.retain(|property| self.lacks_of_edges(property, written.as_ref()).is_none());
        }
        if self != Notation::Pajek {
            directed_unless_alike(&mut stored);
        }
        stored
    }

    /// Lists what this notation cannot store of a graph of one node type and one edge type, and why.
    pub fn unheld(self, graph: &Graph) -> Vec<(String, String)> {
        let mut all = Vec::new();
        let written = match self {
            Notation::Metis => metis::values_of(graph),
            _ => Vec::new(),
        };
        for (at, property) in graph.nodes.iter().flat_map(|ty| ty.properties.iter().enumerate()) {
            if let Some(why) = self.lacks_of_nodes(property, written.contains(&at)) {
                all.push((format!("property {} of nodes", property.name), why.to_owned()));
            }
        }
        for ty in &graph.edges {
            let written = self.number_of(&ty.properties);
            for property in &ty.properties {
                if let Some(why) = self.lacks_of_edges(property, written) {
                    all.push((format!("property {} of edges", property.name), why.to_owned()));
                }
            }
            let why = match (self, ty.direction) {
                (Notation::Metis, Direction::Directed | Direction::PerRow) => {
                    "edges of METIS are undirected, at most one between two nodes, and none from a node to itself"
                        .to_owned()
                }
                (Notation::Pajek, _) | (_, Direction::Directed | Direction::Undirected) => continue,
                _ => format!("all edges of {} are directed, or all are undirected", self.name()),
            };
            all.push(("direction of edges".to_owned(), why));
        }
        all
    }

    /// Returns the property of edges that is written as their number: the weight, or else the only number.
    pub(crate) fn number_of(self, properties: &[Property]) -> Option<&Property> {
        let is_number = |own: &&Property| {
            let is_type = own.data_type == DataType::Int64
                || own.data_type == DataType::Float64 && self == Notation::MatrixMarket;
            is_type && own.kind == ValueKind::Plain && own.cardinality == Cardinality::Single
        };
        let mut numbers = properties.iter().filter(is_number);
        let weight = numbers.clone().find(|own| own.name == isomorph_model::well_known::WEIGHT);
        weight.or_else(|| numbers.next().filter(|_| numbers.next().is_none()))
    }

    /// Returns whether the file at `location` is a graph in this notation, by its name and its first lines.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn detect(self, location: &Location) -> Result<bool> {
        if self == Notation::Graphalytics {
            return graphalytics::detect(location);
        }
        if location.as_path().is_some_and(std::path::Path::is_dir) {
            return Ok(false);
        }
        let name = if location.scheme() == Scheme::Stream { "" } else { location.file_name() };
        let file = PackedFile::open(location)?;
        // A file that cannot be decompressed belongs to another format.
        let Ok((begin, is_whole)) = beginning(&file) else { return Ok(false) };
        let text = begin.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&begin);
        let is_named = self.matches_name(&name.to_lowercase());
        Ok(match self {
            Notation::MatrixMarket => matrix_market::begins(text),
            Notation::AdjacencyList | Notation::MultilineAdjacencyList => {
                adjacency::begins(self, text) || is_named && adjacency::reads(self, &begin, is_whole)
            }
            Notation::Metis => is_named && metis::Metis::reads(&begin, is_whole),
            Notation::Pajek => pajek::begins(text),
            Notation::Graphalytics => false,
        })
    }

    /// Returns whether a file name, in lower case, is one of this notation.
    pub fn matches_name(self, name: &str) -> bool {
        let stem = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name);
        self.endings().iter().any(|ending| stem.ends_with(ending))
    }
}

/// Makes edges directed that have directions of their own.
pub(crate) fn directed_unless_alike(graph: &mut Graph) {
    for ty in graph.edges.iter_mut().filter(|ty| ty.direction == Direction::PerRow) {
        ty.direction = Direction::Directed;
    }
}
