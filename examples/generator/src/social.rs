//! The whole graph, in memory.

use isomorph_model::{Batch, Graph, MemoryGraph};

use crate::{edges, nodes};

/// Returns a graph of persons who know each other, live in cities, and write and like posts.
pub(crate) fn graph() -> MemoryGraph {
    let mut graph =
        Graph { name: Some("social".to_owned()), nodes: nodes::types(), edges: edges::types(), ..Graph::default() };
    let tables = [edges::knows(), edges::lives_in(), edges::wrote(), edges::likes()];
    for table in &tables {
        graph.edges[table.ty].rows = Some(table.rows as u64);
    }
    let nodes = [nodes::persons(), nodes::cities(), nodes::posts()].map(Batch::Nodes);
    let batches = nodes.into_iter().chain(tables.map(Batch::Edges)).collect();
    MemoryGraph { graph, batches }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use std::collections::HashSet;

    use isomorph_model::{EdgeBatch, Ends};

    use super::*;

    fn ends(edges: &EdgeBatch) -> Vec<(u64, u64)> {
        let (Ends::Rows(source), Ends::Rows(target)) = (&edges.source, &edges.target) else { panic!("keys") };
        source.values().iter().copied().zip(target.values().iter().copied()).collect()
    }

    #[test]
    fn every_end_is_a_row_and_no_pair_repeats() {
        let made = graph();
        for batch in &made.batches {
            let Batch::Edges(edges) = batch else { continue };
            let ty = &made.graph.edges[edges.ty];
            let (sources, targets) =
                (made.graph.nodes[ty.source].rows.unwrap(), made.graph.nodes[ty.target].rows.unwrap());
            let pairs = ends(edges);
            assert!(pairs.iter().all(|&(source, target)| source < sources && target < targets));
            assert!(pairs.is_sorted());
            assert_eq!(pairs.iter().collect::<HashSet<_>>().len(), pairs.len());
        }
    }

    #[test]
    fn it_is_the_graph_that_is_described() {
        let made = graph();
        let rows: Vec<usize> = made.batches.iter().map(Batch::rows).collect();
        assert_eq!(rows[..3], [500, 40, 800]);
        assert_eq!(rows[4..6], [500, 800]);
        assert!((2_000..2_500).contains(&rows[3]) && (2_500..3_000).contains(&rows[6]), "{rows:?}");
        for (batch, described) in made.batches.iter().zip(made.graph.nodes.iter().map(|ty| ty.rows)) {
            assert_eq!(Some(batch.rows() as u64), described);
        }
    }

    #[test]
    fn acquaintances_are_there_once() {
        let pairs: HashSet<_> = ends(&edges::knows()).into_iter().collect();
        assert!(pairs.iter().all(|&(one, other)| one < other && !pairs.contains(&(other, one))));
    }
}
