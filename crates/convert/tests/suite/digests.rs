//! The digests of a source that is read in parts on several threads equal those of the same graph in memory.
#![allow(clippy::unwrap_used, clippy::panic)]

use isomorph_convert::{Digested, Silent, digest};
use isomorph_model::{Batch, MemoryGraph};
use isomorph_storage::{Budget, Resources};
use isomorph_zoo::{bundled_graphs, five, mutations, property_graphs, same};

fn digested(graph: &MemoryGraph, threads: usize, what: &str) -> Digested {
    let resources = Resources { threads, budget: Budget::new(1 << 20), ..Resources::of_this_machine().unwrap() };
    digest(graph, &resources, &Silent).unwrap_or_else(|error| panic!("{what}: {error:?}"))
}

/// Nodes in the order of their rows, whatever the order of the tables.
fn in_row_order(mut graph: MemoryGraph) -> MemoryGraph {
    graph.batches.sort_by_key(|batch| match batch {
        Batch::Nodes(nodes) => nodes.start,
        Batch::Groups(groups) => groups.start,
        _ => 0,
    });
    graph
}

#[test]
fn graphs_with_everything_have_their_digest() {
    for (name, graph) in [five(), property_graphs(), bundled_graphs()].concat() {
        let (table, order) = (graph.digest_table().unwrap(), graph.order_digest().unwrap());
        for threads in [1, 3] {
            let found = digested(&graph, threads, name);
            assert_eq!(found.table.differences(&table), [], "{name}");
            assert_eq!((found.digests.content, found.digests.order), (table.digest(), order), "{name}");
        }
        // The same in other batches, orders and forms: references by row and by key.
        for (what, graph) in same(&graph) {
            let graph = in_row_order(graph);
            assert_eq!(digested(&graph, 2, what).table.differences(&table), [], "{name}, {what}");
        }
    }
}

#[test]
fn a_change_of_anything_changes_the_digest() {
    for (name, graph) in five() {
        let before = digested(&graph, 2, name).digests.content;
        for mutation in mutations(&graph) {
            assert_ne!(digested(&mutation.graph, 2, name).digests.content, before, "{name}, {}", mutation.what);
        }
    }
}
