//! The public sample graphs: counts and checksums equal those of the reference library.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::support;

use isomorph_graphar::OpenOptions;
use isomorph_model::Source;
use isomorph_storage::Location;
use support::checksum::{Expected, by_row, edges, expected, vertices};

fn check(select: impl Fn(&str) -> bool) {
    let Some(samples) = support::samples() else { return };
    for (name, lines) in expected().into_iter().filter(|(name, _)| select(name)) {
        let path = samples.join(&name);
        // These have links to the data of another graph, outside their directory.
        let root = name.strip_prefix("java/").and_then(|name| name.strip_suffix("/ldbc_sample.graph.yml"));
        let root = root.map(|root| Location::from_path(&samples.join(root)));
        let options = OpenOptions { root, ..by_row() };
        for line in lines {
            match line {
                Expected::Vertices { ty, count, checksum } => {
                    let graph = support::open(&path, &options);
                    let ty = graph.graph().node_type(&ty).unwrap();
                    let found = vertices(&graph, ty);
                    assert_eq!(found, (count, checksum), "{name}: {}", graph.graph().nodes[ty].name);
                }
                Expected::Edges { triple, list, count, topo, full } => {
                    let options = OpenOptions { adjacency: Some(list), ..options.clone() };
                    let graph = support::open(&path, &options);
                    let triple = (triple[0].clone(), triple[1].clone(), triple[2].clone());
                    let ty = graph.graph().edges.iter().position(|ty| graph.graph().edge_name(ty) == triple).unwrap();
                    assert_eq!(edges(&graph, ty), (count, topo, full), "{name}: {triple:?} {list}");
                    assert_eq!(graph.graph().edges[ty].rows, Some(count));
                }
            }
        }
    }
}

#[test]
fn all_thirteen_are_checked() {
    let names: Vec<String> = expected().into_iter().map(|(name, _)| name).collect();
    // ldbc is the incomplete graph, with part of its data.
    assert_eq!(names.iter().filter(|name| *name != "ldbc/parquet/ldbc.graph.yml").count(), 13);
}

#[test]
fn parquet_graphs_have_the_reference_checksums() {
    check(|name| {
        !name.contains("/csv/") && !name.contains("/orc/") && !name.contains("/json/") && !name.contains("modern")
    });
}

#[test]
fn csv_graphs_have_the_reference_checksums() {
    check(|name| name.contains("/csv/") || name.contains("modern"));
}

#[test]
fn orc_graphs_have_the_reference_checksums() {
    check(|name| name.contains("/orc/"));
}

#[test]
fn json_graphs_have_the_reference_checksums() {
    check(|name| name.contains("/json/"));
}
