//! The three digests of a source.

use isomorph_model::digest::{ContentDigest, OrderDigest, schema_digest};
use isomorph_model::{Batch, Request, Source, Tables};

/// Returns the content, order and schema digests, and the numbers of nodes and edges.
pub fn digests(source: &dyn Source) -> (String, String, String, usize, usize) {
    let graph = source.graph();
    let mut hashes: Vec<Vec<u128>> = vec![Vec::new(); graph.nodes.len()];
    let (mut content, mut order) = (ContentDigest::default(), OrderDigest::default());
    let (mut nodes, mut edges) = (0, 0);
    for tables in [Tables::AllNodes, Tables::AllEdges] {
        for mut part in source.scan(&Request::of(tables)).unwrap_or_else(|error| panic!("{error:?}")) {
            part.read(&mut |batch| {
                match batch {
                    Batch::Nodes(batch) => {
                        let keys = content.nodes(graph, &batch)?.to_vec();
                        order.nodes(graph, &batch, &keys)?;
                        hashes[batch.ty].extend(keys);
                        nodes += batch.rows;
                    }
                    Batch::Edges(batch) => {
                        content.edges(graph, &batch, &hashes)?;
                        edges += batch.rows;
                    }
                    _ => {}
                }
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{error:?}"));
        }
    }
    let texts =
        (format!("{:?}", content.digest()), format!("{:?}", order.digest()), format!("{:?}", schema_digest(graph)));
    (texts.0, texts.1, texts.2, nodes, edges)
}
