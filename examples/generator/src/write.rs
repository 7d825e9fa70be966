//! Writes a graph in memory as GraphAr.

use arrow_array::{ArrayRef, UInt64Array};
use arrow_select::take::take;
use isomorph_error::{Error, Result};
use isomorph_graphar::{GraphArWriter, WriteOptions};
use isomorph_model::{Batch, Delivery, EdgeBatch, EdgeOrder, Ends, MemoryGraph, Written};
use isomorph_storage::{Location, Mode, Staging};

/// Chunks small enough for this graph to have several of each kind, like a large graph.
const VERTEX_CHUNK: u64 = 256;
const EDGE_CHUNK: u64 = 1_024;

/// Writes `graph` to `folder`, and replaces its content.
///
/// # Errors
/// Returns an error if the graph cannot be written.
pub(crate) fn write(graph: &MemoryGraph, folder: &Location) -> Result<Written> {
    let options =
        WriteOptions { vertex_chunk: Some(VERTEX_CHUNK), edge_chunk: Some(EDGE_CHUNK), ..WriteOptions::default() };
    let info = GraphArWriter::plan(&graph.graph, &options)?;
    let staging = Staging::directory(folder, Mode::Replace)?;
    let mut sink = GraphArWriter::create(&staging, &graph.graph, &options)?;
    for (number, delivery) in sink.deliveries().into_iter().enumerate() {
        for batch in &graph.batches {
            match (delivery, batch) {
                (Delivery::Nodes(ty), Batch::Nodes(nodes)) if nodes.ty == ty => sink.write(number, batch.clone())?,
                (Delivery::Edges { ty, order }, Batch::Edges(edges)) if edges.ty == ty => {
                    sink.write(number, Batch::Edges(sorted(edges, order)?))?;
                }
                _ => {}
            }
        }
    }
    let written = sink.finish()?;
    let manifests = GraphArWriter::manifests(&info);
    staging.commit(&manifests.iter().map(String::as_str).collect::<Vec<_>>())?;
    Ok(written)
}

/// Sorts the edges by the end that `order` names, then by the other.
fn sorted(edges: &EdgeBatch, order: EdgeOrder) -> Result<EdgeBatch> {
    let (Ends::Rows(source), Ends::Rows(target)) = (&edges.source, &edges.target) else {
        return Err(Error::usage("edges between keys cannot be sorted here"));
    };
    let mut rows: Vec<u64> = (0..edges.rows as u64).collect();
    rows.sort_by_key(|&row| {
        let (source, target) = (source.value(row as usize), target.value(row as usize));
        if order == EdgeOrder::Target { (target, source) } else { (source, target) }
    });
    let rows = UInt64Array::from(rows);
    let ends = |ends: &UInt64Array| Ends::Rows(rows.values().iter().map(|&row| ends.value(row as usize)).collect());
    let column = |column: &Option<ArrayRef>| column.as_ref().map(|column| take(column, &rows, None)).transpose();
    let properties = edges.properties.iter().map(column).collect::<Result<_, _>>();
    let properties = properties.map_err(|error| Error::malformed("a column cannot be sorted").caused_by(error))?;
    Ok(EdgeBatch { source: ends(source), target: ends(target), properties, ..edges.clone() })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::path::Path;

    use isomorph_convert::{Silent, digest};
    use isomorph_graphar::{GraphAr, OpenOptions};
    use isomorph_model::Source;
    use isomorph_storage::Resources;

    use super::*;
    use crate::social;

    #[test]
    fn it_is_small_and_the_same_every_time() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| write(&social::graph(), &Location::from_path(&folder.path().join(name))).unwrap();
        let (first, second) = (write("first"), write("second"));
        assert_eq!(first, second);
        assert!(first.bytes() < 1 << 20, "{} bytes", first.bytes());
        for (name, _) in &first.files {
            let read = |graph: &str| std::fs::read(folder.path().join(graph).join(name)).unwrap();
            assert_eq!(read("first"), read("second"), "{name}");
        }
    }

    #[test]
    fn the_tree_holds_what_the_generator_draws() {
        let tree = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("social");
        let read = GraphAr::open(&Location::from_path(&tree), &OpenOptions::default()).unwrap();
        let resources = Resources::of_this_machine().unwrap();
        let of = |source: &dyn Source| digest(source, &resources, &Silent).unwrap().digests;
        assert_eq!(of(&read), of(&social::graph()), "run `cargo xtask example`");
    }
}
