//! What the published library wrote reads as it read it itself.
#![allow(clippy::unwrap_used)]

mod common;

use common::view::{View, differences, normal};
use common::{expected, fixtures, open};

/// Graphs of 0.4.1 and close to it.
const V2: [&str; 12] = [
    "aspects_without_nodes",
    "attr_types",
    "backend_pandas",
    "backend_pyarrow",
    "backend_pyarrow_nopolars",
    "direction_none",
    "empty",
    "empty_undirected",
    "everything_flat",
    "everything_multilayer",
    "legacy_vertex_words",
    "one_node",
];

fn reads(fixture: &str, graph: &str) -> Vec<String> {
    let Some(root) = fixtures() else { return Vec::new() };
    let view = View::of(&open(&root.join(fixture).join(graph)).unwrap()).value();
    let mut found = Vec::new();
    // Parquet has no spans of time: they come as numbers of microseconds.
    let spans = |difference: &String| difference.contains("/duration: ");
    differences("", &view, &normal(expected(&root.join(fixture))), &mut found);
    found.into_iter().filter(|found| !spans(found)).map(|found| format!("{fixture}{found}")).collect()
}

#[test]
fn directories_read_as_the_library_reads_them() {
    let all = V2.into_iter().chain(["plain_directed", "plain_undirected"]);
    let found: Vec<String> = all.flat_map(|fixture| reads(fixture, "graph.annnet.d")).collect();
    assert!(found.is_empty(), "{found:#?}");
}
