//! Opening a graph: lengths are compared before anything is mapped, nothing is copied, nothing is
//! read completely, and the index of ids can be kept in a file next to the graph.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use common::{Built, options};
use isomorph_sampling::{
    Ask, Draw, Generator, Graph, GraphOptions, Hold, IndexFile, IndexOrigin, Missing, NeighborLists, Picks, Sampler,
    TypeSet,
};
use isomorph_storage::Location;

fn files(path: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Every file except tables, which are opened when they are drawn from, and metadata, which has no fixed length.
#[test]
fn lengths_are_compared_before_files_are_mapped() {
    let text = "-1 1 0 1 float32 1 2 binary_feature 1 x 1 2 0 1 1 3 1 2\n-1 2 0 1 2 1 0 1\n-1 3 1 1\n";
    let built = Built::with(text, "linear", 2, Some(9));
    let mut tried = 0;
    for file in files(&built.path) {
        let (name, bytes) = (file.file_name().unwrap().to_owned(), fs::read(&file).unwrap());
        if name == "meta.json" || file.extension().is_some_and(|ending| ending == "alias") {
            continue;
        }
        for length in [0, bytes.len() / 2, bytes.len().saturating_sub(1)] {
            if length >= bytes.len() {
                continue;
            }
            let copy = built.copy(|_| true);
            File::options().write(true).open(copy.path.join(&name)).unwrap().set_len(length as u64).unwrap();
            let opened = Graph::open(&Location::from_path(&copy.path), &options());
            // Bytes after the last offset of features are detected when the feature is requested.
            let is_data = file.extension().is_some_and(|ending| ending == "data");
            assert!(opened.is_err() || is_data, "{name:?} of {} bytes, not {}", length, bytes.len());
            tried += 1;
        }
    }
    assert!(tried > 20, "{tried}");
}

/// A graph with 48 GB of edges, a sparse file except for the end: reading or copying it would take minutes and a lot of disk.
#[test]
fn a_graph_larger_than_memory_is_sampled_without_reading_it() {
    const EDGES: u64 = 2_000_000_000;
    let built = Built::of("-1 1 0 1 1 7 0 2.0\n-1 2 0 1\n", 1);
    let set = |name: &str, at: u64, number: u64| {
        use std::io::{Seek, SeekFrom, Write};
        let mut file = File::options().write(true).open(built.path.join(name)).unwrap();
        file.seek(SeekFrom::Start(at)).unwrap();
        file.write_all(&number.to_le_bytes()).unwrap();
    };
    let edges = File::options().write(true).open(built.path.join("edge_0_0.index")).unwrap();
    if edges.set_len(24 * (EDGES + 1)).is_err() {
        isomorph_fixtures::skipped("files with holes cannot be this large here");
        return;
    }
    // The first node has all edges except the last, which belongs to the other node.
    set("neighbors_0_0.index", 8, EDGES - 1);
    set("neighbors_0_0.index", 16, EDGES);
    set("edge_0_0.index", 24 * (EDGES - 1), 7);
    let given = options();
    let graph = Arc::new(Graph::open(&Location::from_path(&built.path), &given).unwrap());
    assert_eq!(graph.edges(), EDGES);
    let mut sampler = Sampler::new(&graph, Generator::Stable, 1);
    let (all, missing, mut ids) = (TypeSet::all(), Missing::default(), [9; 20]);
    let ask = Ask::new(&[1, 2], &all);
    sampler.uniform(&ask, 10, true, Draw::of(1), &missing, &mut Picks::of_ids(&mut ids)).unwrap();
    assert_eq!((&ids[..10], &ids[10..]), (&[0; 10][..], &[7; 10][..]));
    let mut counts = [0; 2];
    sampler.neighbor_counts(&ask, &mut counts).unwrap();
    assert_eq!(counts, [EDGES - 1, 1]);
    assert_eq!((given.budget.used(), given.scratch.used()), (0, 0), "nothing was copied, nothing was made");
}

/// Unsorted nodes, more than are hashed each time, last changed an hour ago.
fn shuffled() -> (Built, Vec<i64>) {
    let ids: Vec<i64> = (0..70_000u64).map(|at| (at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20) as i64).collect();
    let built = Built::with(
        &ids.iter().map(|id| format!("{id},-1,0,1\n{id},0,5,1\n")).collect::<String>(),
        "edgelist",
        1,
        None,
    );
    let before = SystemTime::now() - Duration::from_secs(3600);
    for file in files(&built.path) {
        File::options().append(true).open(file).unwrap().set_modified(before).unwrap();
    }
    (built, ids)
}

#[test]
fn where_nodes_are_is_kept_where_that_is_asked_for() {
    let (built, ids) = shuffled();
    let beside = built.path.join("_isomorph");
    let open = |index, hold| {
        let given = GraphOptions { index, hold, ..options() };
        let graph = Arc::new(Graph::open(&Location::from_path(&built.path), &given).unwrap());
        let mut sampler = Sampler::new(&graph, Generator::Stable, 2);
        let (all, mut lists) = (TypeSet::all(), NeighborLists::default());
        let nodes: Vec<i64> = ids.iter().flat_map(|id| [*id, id + 1]).collect();
        sampler.neighbors(&Ask::new(&nodes, &all), &mut lists).unwrap();
        assert_eq!(lists.ids, vec![5; ids.len()], "{index:?}");
        assert!(lists.counts.chunks(2).all(|pair| pair == [1, 0]), "{index:?}");
        (graph.index_origin(), given.budget.used())
    };
    let (origin, made) = open(IndexFile::Use, Hold::Mapped);
    assert_eq!(origin, IndexOrigin::Ids);
    assert!(made >= 8 * ids.len() as u64, "{made} bytes are counted");
    assert!(!beside.exists(), "a library writes nothing that nobody asked for");
    assert_eq!(open(IndexFile::Keep, Hold::Mapped).0, IndexOrigin::Kept);
    let kept = files(&beside);
    assert_eq!(kept.iter().map(|file| file.file_name().unwrap()).collect::<Vec<_>>(), ["node_ids"]);
    for hold in [Hold::Mapped, Hold::Copied] {
        assert_eq!(open(IndexFile::Use, hold), (IndexOrigin::File, 0));
    }
    assert_eq!(open(IndexFile::Keep, Hold::Mapped).0, IndexOrigin::File);
    assert_eq!(open(IndexFile::Ignore, Hold::Mapped).0, IndexOrigin::Ids);
    // A file of another kind is replaced.
    fs::write(&kept[0], "something else").unwrap();
    assert_eq!(open(IndexFile::Use, Hold::Mapped).0, IndexOrigin::Ids);
    assert_eq!(open(IndexFile::Keep, Hold::Mapped).0, IndexOrigin::Kept);
    assert_eq!(open(IndexFile::Use, Hold::Mapped).0, IndexOrigin::File);
    // If nothing can be written, the graph is opened anyway.
    fs::remove_dir_all(&beside).unwrap();
    fs::write(&beside, "in the way").unwrap();
    assert_eq!(open(IndexFile::Keep, Hold::Mapped).0, IndexOrigin::Ids);
}
