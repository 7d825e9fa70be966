//! Memory is taken from the budget: a graph that exceeds it is refused.
#![allow(clippy::unwrap_used, clippy::panic, unsafe_code)]

#[path = "suite/common/mod.rs"]
mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::build::{Files, floats, integers, text};
use common::write;
use common::write::options;
use isomorph_annnet::{Annnet, OpenOptions, WriteLayout, WriteOptions};
use isomorph_error::{Kind, Result};
use isomorph_storage::{Budget, Location};

/// Counts the currently allocated bytes, and their maximum.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: forwards everything to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const NODES: usize = 20_000;
const EDGES: usize = 100_000;
/// What is not counted: read buffers of each thread.
const SLACK: usize = 24 << 20;

/// A graph with many edges; its default slice lacks one of them, or contains them all.
fn large(lacking: bool) -> Files {
    let mut files = Files::small();
    files.remove("structure/hyperedge_definitions.parquet");
    let nodes: Vec<String> = (0..NODES).map(|node| format!("node number {node}")).collect();
    let edges: Vec<String> = (0..EDGES).map(|edge| format!("edge number {edge}")).collect();
    let of = |all: &[String], at: usize| all[at % all.len()].clone();
    let ends = |step: usize| (0..EDGES).map(|edge| of(&nodes, edge * step)).collect::<Vec<_>>();
    fn column(all: &[String]) -> arrow_array::ArrayRef {
        text(all.iter().map(String::as_str).collect::<Vec<_>>())
    }
    files.table(
        "structure/entity_index.parquet",
        vec![
            ("entity_id", column(&nodes)),
            ("layer_id", integers(vec![0; NODES])),
            ("idx", integers((0..NODES as i64).collect::<Vec<_>>())),
            ("type", text(vec!["node"; NODES])),
        ],
    );
    files.table(
        "structure/edges.parquet",
        vec![
            ("edge_id", column(&edges)),
            ("col_idx", integers((0..EDGES as i64).collect::<Vec<_>>())),
            ("weight", floats((0..EDGES).map(|edge| edge as f64).collect::<Vec<_>>())),
            ("kind", text(vec!["binary"; EDGES])),
            ("source", column(&ends(7))),
            ("target", column(&ends(11))),
        ],
    );
    files.table("tables/_node_table.parquet", vec![("node_id", column(&nodes))]);
    files.table("tables/_edge_table.parquet", vec![("edge_id", column(&edges))]);
    files.table(
        "slices/node_memberships.parquet",
        vec![("slice_id", text(vec!["default"; NODES])), ("node_id", column(&nodes))],
    );
    let listed = &edges[usize::from(lacking)..];
    files.table(
        "slices/edge_memberships.parquet",
        vec![("slice_id", text(vec!["default"; listed.len()])), ("edge_id", column(listed))],
    );
    for table in ["slice_attributes", "edge_slice_attributes"] {
        files.remove(&format!("tables/{table}.parquet"));
    }
    files
}

/// Returns the maximum of allocated bytes, and the bytes taken from the budget, while a graph is opened.
fn opened(path: &Path, budget: u64) -> (Result<Annnet>, usize, u64) {
    let budget = Budget::new(budget);
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let options = OpenOptions { budget: budget.clone(), verify: false, ..OpenOptions::default() };
    let graph = Annnet::open(&Location::from_path(path), &options);
    let taken = PEAK.load(Ordering::Relaxed).saturating_sub(before);
    (graph, taken, budget.peak())
}

// A single test, because allocations are counted for the whole process.
#[test]
fn what_is_held_is_counted_and_what_does_not_fit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, lacking, specified] = ["whole", "lacking", "specified"].map(|name| folder.path().join(name));
    large(false).write(&whole);
    large(true).write(&lacking);
    let options = WriteOptions { layout: WriteLayout::Specification, ..options() };
    write(&common::open(&lacking).unwrap(), &specified, &options, 1 << 16).unwrap();
    let mut counted = Vec::new();
    for path in [&whole, &lacking, &specified] {
        let (graph, taken, held) = opened(path, 1 << 30);
        graph.unwrap();
        println!("{}: {taken} bytes are allocated, {held} are counted", path.display());
        assert!(taken <= held as usize * 3 / 2 + SLACK, "{}: {taken} bytes for {held}", path.display());
        // Hashes of ids are spilled to files if memory is low: the minimum is measured with less memory.
        let held = (0..3).fold(held, |held, _| {
            let (graph, _, less) = opened(path, held);
            graph.unwrap();
            less
        });
        println!("{}: {held} bytes must be held", path.display());
        counted.push(held);
        // With slightly less memory, opening is an error, and nothing is allocated beyond it.
        for part in [2, 10] {
            let (graph, taken, _) = opened(path, held / part);
            assert_eq!(graph.err().map(|error| error.kind()), Some(Kind::TooLarge), "{} {part}", path.display());
            assert!(taken <= (held / part) as usize * 3 / 2 + SLACK, "{} {part}: {taken} bytes", path.display());
        }
    }
    // A slice that lacks something is a list: 40 bytes for each edge.
    assert!(counted[1] >= 40 * (EDGES as u64 - 1) && counted[1] > 4 * counted[0], "{counted:?}");
    // Tables of the older layouts are held completely.
    assert!(counted[2] > 2 * counted[1], "{counted:?}");
}
