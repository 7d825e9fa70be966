//! Writes a NOCK file of any size, for measurements: `large NODES EDGES KEYS FILE`.
//!
//! `KEYS` is `numbers` (names are decimal numbers from 0) or `texts` (names of 20 letters and digits, unordered). Nodes
//! have `EDGES / NODES` edges on average, from none to twice as many; most edges lead to few nodes. Memory is bounded
//! by the row group that is being written. Equal arguments give equal files.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float32Array, StringArray, UInt32Array, UInt64Array};
use arrow_schema::DataType;
use isomorph_error::{Error, Result};
use isomorph_examples::draw::Stream;
use isomorph_model::{
    Batch, Columns, Direction, EdgeBatch, EdgeType, Ends, Graph, Key, LabelVocabulary, NodeBatch, NodeType, Property,
    Relation, Relations, well_known,
};
use isomorph_nock::{CreateOptions, NockWriter};
use isomorph_storage::{Location, Mode, Staging};

/// Number of nodes that are written at a time, with their edges.
const TOGETHER: u64 = 8_192;

const USAGE: &str = "large NODES EDGES numbers|texts FILE";

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<String> {
    let [nodes, edges, keys, file] = args else { return Err(Error::usage(USAGE)) };
    let number = |text: &String| text.parse::<u64>().map_err(|_| Error::usage(format!("{text:?} is not a number")));
    let keys = match keys.as_str() {
        "numbers" => Keys::Numbers,
        "texts" => Keys::Texts,
        _ => return Err(Error::usage(USAGE)),
    };
    let graph = Large { nodes: number(nodes)?, edges: number(edges)?, keys };
    graph.write(&Location::from_path(Path::new(file)))
}

/// The form of node names.
#[derive(Clone, Copy)]
enum Keys {
    Numbers,
    Texts,
}

/// A graph given by its numbers.
struct Large {
    nodes: u64,
    edges: u64,
    keys: Keys,
}

impl Large {
    fn name(&self, node: u64, name: &mut String) {
        name.clear();
        // Writing to a string cannot fail.
        let _ = match self.keys {
            Keys::Numbers => write!(name, "{node}"),
            Keys::Texts => write!(name, "user{:016x}", Stream::new("name").bits(node)),
        };
    }

    fn names(&self, nodes: impl Iterator<Item = u64>) -> ArrayRef {
        let mut name = String::new();
        let mut names = arrow_array::builder::StringBuilder::new();
        for node in nodes {
            self.name(node, &mut name);
            names.append_value(&name);
        }
        Arc::new(names.finish())
    }

    /// Returns the number of the first edge of a node; the last node ends with the last edge.
    fn first_edge(&self, node: u64) -> u64 {
        let even = |node: u64| (u128::from(self.edges) * u128::from(node) / u128::from(self.nodes.max(1))) as u64;
        let (here, next) = (even(node), even(node.saturating_add(1)).min(self.edges));
        // The first and the last bound are fixed; the others move by up to a node's share.
        if node == 0 || node >= self.nodes { here } else { here + Stream::new("degree").below(node, next - here + 1) }
    }

    fn write(&self, destination: &Location) -> Result<String> {
        let staging = Staging::file(destination, Mode::Replace)?;
        let mut sink = NockWriter::create(&staging, &description(), &CreateOptions::default())?;
        let target = Stream::new("target");
        for start in (0..self.nodes).step_by(TOGETHER as usize) {
            let end = self.nodes.min(start + TOGETHER);
            let rows = (end - start) as usize;
            sink.write(0, Batch::Nodes(nodes(start, rows, self.names(start..end))))?;
            let mut sources = Vec::new();
            let mut targets = Vec::new();
            for node in start..end {
                let edges = self.first_edge(node)..self.first_edge(node + 1);
                let first = targets.len();
                targets.extend(edges.map(|edge| target.skewed(edge, self.nodes)));
                sources.resize(targets.len(), node);
                if let Some(own) = targets.get_mut(first..) {
                    own.sort_unstable();
                }
            }
            if !sources.is_empty() {
                let names = self.names(targets.into_iter());
                sink.write(0, Batch::Edges(edges(sources, names)))?;
            }
        }
        let bytes = sink.finish()?.bytes();
        staging.commit(&[])?;
        Ok(format!("{} nodes, {} edges, {bytes} bytes", self.nodes, self.edges))
    }
}

/// Returns the description of a NOCK file: one node type and one edge type.
fn description() -> Graph {
    let truth = || Property::new(well_known::TRUTH, DataType::Float32).required();
    let mut node = NodeType::new("node", Key::utf8());
    node.labels = LabelVocabulary::Open;
    node.properties = vec![truth(), Property::new(well_known::IS_RDF, DataType::Boolean).required(), Property::bag()];
    let mut edge = EdgeType::new(0, "", 0);
    edge.relation = Relation::PerRow;
    edge.direction = Direction::Directed;
    edge.properties = vec![truth(), Property::bag()];
    Graph { nodes: vec![node], edges: vec![edge], ..Graph::default() }
}

fn truth(rows: usize) -> Option<ArrayRef> {
    Some(Arc::new(Float32Array::from_value(1.0, rows)))
}

fn no_members(rows: usize) -> Option<ArrayRef> {
    Some(Arc::new(StringArray::from_iter_values(std::iter::repeat_n("", rows))))
}

fn nodes(start: u64, rows: usize, names: ArrayRef) -> NodeBatch {
    let is_rdf: ArrayRef = Arc::new(BooleanArray::from(vec![false; rows]));
    let properties: Columns = vec![truth(rows), Some(is_rdf), no_members(rows)];
    NodeBatch { ty: 0, start, numbers: None, rows, keys: Some(names), labels: None, properties }
}

fn edges(sources: Vec<u64>, targets: ArrayRef) -> EdgeBatch {
    let rows = sources.len();
    EdgeBatch {
        ty: 0,
        rows,
        relations: Some(Relations {
            names: StringArray::from_iter_values(["follows"]),
            index: UInt32Array::from_value(0, rows),
        }),
        source: Ends::Rows(UInt64Array::from(sources)),
        target: Ends::Keys(targets),
        layers: None,
        directed: None,
        keys: None,
        properties: vec![truth(rows), no_members(rows)],
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use isomorph_convert::{Silent, counts, digest};
    use isomorph_nock::{Nock, OpenOptions};
    use isomorph_storage::Resources;

    #[test]
    fn it_has_as_many_nodes_and_edges_as_it_was_told() {
        let folder = tempfile::tempdir().unwrap();
        for (keys, nodes, edges) in [("numbers", 1_000u64, 12_345u64), ("texts", 20_000, 7)] {
            let file = folder.path().join(format!("{keys}.parq"));
            let args = [nodes.to_string(), edges.to_string(), keys.to_owned(), file.to_str().unwrap().to_owned()];
            run(&args).unwrap();
            let nock = Nock::open(&Location::from_path(&file), &OpenOptions::default()).unwrap();
            let found = digest(&nock, &Resources::of_this_machine().unwrap(), &Silent).unwrap();
            assert_eq!(counts(&found.table), (nodes, edges));
        }
    }
}
