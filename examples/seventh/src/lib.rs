//! A format that isomorph does not have, as an example for authors of drivers: see `docs/drivers.md`.
//!
//! A graph is one text of JSON lines. The first line describes the graph, the others are its rows: `node` and `edge`,
//! each with the number of its type. Keys are numbers, texts, or the row number; edges refer to rows. All values are
//! texts.
//!
//! ```text
//! {"graph":{"nodes":[{"name":"person","properties":[{"name":"age","data_type":"string", …}], …}], "edges":[…], …}}
//! {"node":[0,"ann",["Student"],["7"]]}
//! {"node":[0,"bob",[],[null]]}
//! {"edge":[0,0,1,["2010"]]}
//! ```

mod read;
mod write;

use std::sync::Arc;

use arrow_schema::DataType;
use isomorph::convert::{Allowed, Driver, OpenOptions, Traits, WriteOptions};
use isomorph::model::capability::{Capability, Directions, Scalar, Values};
use isomorph::model::{Cardinality, Graph, KeyKind, Property, Sink, Source};
use isomorph::storage::{Blob, Staging};
use isomorph::{Error, Location, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The beginning of a text.
const BEGINNING: &[u8] = b"{\"graph\":";

/// Maximum size of a text in bytes: it is held in memory.
const MOST: u64 = 1 << 30;

isomorph::error::rules! {
    /// An edge refers to a node that does not exist.
    EDGE_END "SEV-EDGE-END" Error "both ends of an edge are rows of nodes", "remove the edge";
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    Graph(Graph),
    /// Type, key, labels, values.
    Node(usize, Value, Vec<String>, Vec<Option<String>>),
    /// Type, rows of the ends, values.
    Edge(usize, u64, u64, Vec<Option<String>>),
}

/// Returns an error if a text cannot hold the graph.
fn check(graph: &Graph) -> Result<()> {
    let nodes = graph.nodes.iter().all(|ty| {
        [KeyKind::Row, KeyKind::Int, KeyKind::Utf8].contains(&ty.key.kind) && ty.properties.iter().all(holds)
    });
    let edges = graph.edges.iter().all(|ty| {
        let is_plain = ty.key.is_none() && !ty.layered && ty.relation.fixed().is_some();
        is_plain && ty.source.max(ty.target) < graph.nodes.len() && ty.properties.iter().all(holds)
    });
    let rest = graph.hyperedges.is_empty() && graph.values.is_empty() && graph.groups.is_empty();
    if nodes && edges && rest { Ok(()) } else { Err(Error::unsupported("Seventh cannot store this graph")) }
}

fn holds(property: &Property) -> bool {
    property.data_type == DataType::Utf8 && property.cardinality == Cardinality::Single
}

/// The driver of the format.
pub struct Seventh;

const TEXTS: Values = Values { scalars: &[Scalar::Text], nulls: true, ..Values::NONE };

impl Driver for Seventh {
    fn id(&self) -> &'static str {
        "seventh"
    }

    fn name(&self) -> &'static str {
        "Seventh"
    }

    fn capability(&self) -> &'static Capability {
        static CAPABILITY: Capability = Capability {
            node_types: true,
            edge_types: true,
            keys: &[KeyKind::Row, KeyKind::Int, KeyKind::Utf8],
            order: true,
            labels: true,
            nodes: TEXTS,
            edges: TEXTS,
            directions: Directions::ByType,
            parallel_edges: true,
            ..Capability::LEAST
        };
        &CAPABILITY
    }

    fn detect(&self, location: &Location) -> Result<bool> {
        // A directory is not a text of this format.
        if location.as_path().is_some_and(std::path::Path::is_dir) {
            return Ok(false);
        }
        let blob = Blob::open(location)?;
        let beginning = BEGINNING.len() as u64;
        Ok(blob.size() >= beginning && blob.read(0..beginning)? == BEGINNING)
    }

    fn traits(&self) -> Traits {
        Traits { rules: RULES, usual_names: &["NAME.seventh"], is_single_file: true, ..Traits::of(self.shape()) }
    }

    fn matches_name(&self, name: &str) -> bool {
        name.ends_with(".seventh")
    }

    fn open(&self, location: &Location, _options: &OpenOptions) -> Result<Arc<dyn Source>> {
        Ok(Arc::new(read::Text::open(location)?))
    }

    fn allowed(&self) -> Allowed {
        Allowed { holds: |property, _| holds(property), wide_keys: false, documents: |_| false, ..Allowed::anything() }
    }

    fn is_text(&self, _options: &WriteOptions) -> bool {
        true
    }

    fn create<'a>(&self, staging: &'a Staging, graph: &Graph, _options: &WriteOptions) -> Result<Box<dyn Sink + 'a>> {
        Ok(Box::new(write::Writer::create(staging, graph)?))
    }
}
