//! The public sample graphs, rewritten in every layout, keep their checksums.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::support;

use std::path::{Path, PathBuf};

use isomorph_error::Severity;
use isomorph_graphar::info::{AdjListType, FileType};
use isomorph_graphar::write::Grouping;
use isomorph_graphar::{GraphAr, OpenOptions, WriteOptions};
use isomorph_model::Source;
use isomorph_storage::Location;
use isomorph_tables::Compression;
use support::checksum::{by_row, edges, vertices};
use support::pump::write_as;

const GRAPHS: [&str; 8] = [
    "ldbc_sample/parquet/ldbc_sample.graph.yml",
    "ldbc_sample/parquet/ldbc_sample_date.graph.yml",
    "ldbc_sample/parquet/ldbc_sample_timestamp.graph.yml",
    "ldbc_sample/parquet/ldbc_sample_with_feature.graph.yml",
    "modern_graph/modern_graph.graph.yml",
    "nebula/basketballplayergraph.graph.yml",
    "neo4j/MovieGraph.graph.yml",
    "ldbc/parquet/ldbc.graph.yml",
];

type Sums = (Vec<(u64, u64)>, Vec<(u64, u64, u64)>);

fn sums(graph: &GraphAr) -> Sums {
    let nodes = (0..graph.graph().nodes.len()).map(|ty| vertices(graph, ty)).collect();
    let edges = (0..graph.graph().edges.len()).map(|ty| edges(graph, ty)).collect();
    (nodes, edges)
}

/// The existing part of the incomplete graph: information files of some of its types.
fn part_of(samples: &Path, home: &Path) -> PathBuf {
    for name in ["organisation.vertex.yml", "person.vertex.yml"] {
        std::fs::copy(samples.join("ldbc/parquet").join(name), home.join(name)).unwrap();
    }
    let file = home.join("ldbc.graph.yml");
    let text = "name: ldbc\nvertices:\n  - organisation.vertex.yml\n  - person.vertex.yml\nversion: gar/v1\n";
    std::fs::write(&file, text).unwrap();
    file
}

fn check(name: &str, samples: &Path, write: &WriteOptions) {
    let home = tempfile::tempdir().unwrap();
    let (path, root) = match name.strip_suffix("/ldbc.graph.yml") {
        Some(data) => (part_of(samples, home.path()), Some(Location::from_path(&samples.join(data)))),
        None => (samples.join(name), None),
    };
    let source = support::open(&path, &OpenOptions { root: root.clone(), ..OpenOptions::default() });
    let to = Location::from_path(&home.path().join("written"));
    // With hints, so that the properties keep the order that the checksum depends on.
    let write = WriteOptions { hints: true, ..write.clone() };
    write_as(&source, source.graph(), &write, &to, 777).unwrap_or_else(|error| panic!("{name} {write:?}: {error:?}"));
    let expected = sums(&support::open(&path, &OpenOptions { key_row: true, root, ..OpenOptions::default() }));
    let kinds: Vec<Option<AdjListType>> =
        write.adjacency.as_ref().map_or(vec![None], |kinds| kinds.iter().map(|kind| Some(*kind)).collect());
    for adjacency in kinds {
        let back = GraphAr::open(&to, &OpenOptions { adjacency, ..by_row() }).unwrap();
        assert_eq!(sums(&back), expected, "{name} {adjacency:?} {write:?}");
        let quiet = if write.file_type == Some(FileType::Json) { Severity::Warning } else { Severity::Note };
        assert!(back.findings().worst() <= Some(quiet), "{name}: {:?}", back.findings());
    }
    let back = GraphAr::open(&to, &OpenOptions::default()).unwrap();
    assert_eq!(back.graph().nodes, source.graph().nodes, "{name}");
    if write.file_type.is_none() || !name.contains("timestamp") {
        assert_eq!(back.graph().edges, source.graph().edges, "{name}");
    }
}

fn check_all(select: impl Fn(&str) -> bool, write: &WriteOptions) {
    let Some(samples) = support::samples() else { return };
    for name in GRAPHS.into_iter().filter(|name| select(name)) {
        check(name, &samples, write);
    }
}

fn parquet(name: &str) -> bool {
    !name.starts_with("modern")
}

#[test]
fn in_their_own_layout() {
    check_all(parquet, &WriteOptions::default());
}

#[test]
fn in_chunks_of_awkward_sizes() {
    for (vertex, edge) in [(7, 3), (100, 1), (1, 1000), (903, 6626), (65_536, 1 << 22)] {
        let write = WriteOptions { vertex_chunk: Some(vertex), edge_chunk: Some(edge), ..WriteOptions::default() };
        check_all(|name| name.contains("nebula"), &write);
    }
    let write = WriteOptions { vertex_chunk: Some(64), edge_chunk: Some(100), ..WriteOptions::default() };
    check_all(|name| name.contains("feature") || name.starts_with("ldbc/"), &write);
}

#[test]
fn with_every_adjacency_list() {
    let write = WriteOptions { adjacency: Some(AdjListType::ALL.to_vec()), ..WriteOptions::default() };
    check_all(parquet, &write);
    for kind in AdjListType::ALL {
        let write = WriteOptions { adjacency: Some(vec![kind]), ..WriteOptions::default() };
        check_all(|name| name.contains("nebula"), &write);
    }
}

#[test]
fn with_each_property_apart_and_every_compression() {
    let write = WriteOptions { grouping: Some(Grouping::Each), ..WriteOptions::default() };
    // Otherwise a key in its own group comes first, which would change the checksum.
    check_all(|name| parquet(name) && !name.starts_with("ldbc/"), &write);
    for compression in [Compression::None, Compression::Snappy, Compression::Gzip(6), Compression::Lz4] {
        check_all(|name| name.contains("neo4j"), &WriteOptions { compression, ..WriteOptions::default() });
    }
}

#[test]
fn the_bytes_do_not_depend_on_threads_or_batches() {
    let Some(samples) = support::samples() else { return };
    let source = support::open(&samples.join(GRAPHS[3]), &OpenOptions::default());
    let home = tempfile::tempdir().unwrap();
    let mut digests = Vec::new();
    for (number, (threads, piece)) in [(1, 777), (4, 100_000), (2, 1)].into_iter().enumerate() {
        let to = home.path().join(number.to_string());
        let write = WriteOptions { threads: Some(threads), vertex_chunk: Some(500), ..WriteOptions::default() };
        write_as(&source, source.graph(), &write, &Location::from_path(&to), piece).unwrap();
        digests.push(support::files(&to));
    }
    assert_eq!(digests[0], digests[1]);
    assert_eq!(digests[0], digests[2]);
}

fn as_file_type(file_type: FileType) {
    check_all(|_| true, &WriteOptions { file_type: Some(file_type), ..WriteOptions::default() });
}

#[test]
fn as_csv() {
    as_file_type(FileType::Csv);
}

#[test]
fn as_json() {
    as_file_type(FileType::Json);
}

#[test]
fn as_orc() {
    as_file_type(FileType::Orc);
}
