//! Calls do not allocate once buffers have grown: with either generator, for nodes with one entry and with several.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, unsafe_code)]

#[path = "suite/common/mod.rs"]
mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::{Built, opened};
use isomorph_sampling::{
    Ask, Bias, Choice, Dense, Draw, EdgeSampler, Generator, Missing, NeighborLists, NodeSampler, Picks, Push, Sampler,
    Sparse, Strings, TypeSet,
};

thread_local! {
    /// Allocations of this thread: tests run in parallel.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// Counts allocations and reallocations.
struct Counting;

// SAFETY: forwards everything to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Calls three times with each seed; only the first call may allocate.
fn quiet(what: &str, mut call: impl FnMut(Draw)) {
    let mut round = || (0..20).for_each(|seed| call(Draw::of(seed)));
    round();
    let before = ALLOCATIONS.with(Cell::get);
    round();
    round();
    assert_eq!(ALLOCATIONS.with(Cell::get) - before, 0, "{what}");
}

/// Forty nodes with features, one of them with 600 edges; records are distributed over partitions, so that a node has several entries.
fn graph(partitions: u32) -> Built {
    let mut text = String::new();
    for node in 0..40 {
        text += &format!("{node},-1,{},1.5,float32,3,1,2,{node},binary,1,text{node},uint8,2/1,1,5,7,8\n", node % 2);
        for edge in 0..if node == 7 { 600 } else { 5 } {
            // By type, as the format requires.
            let ty = usize::from(edge >= 3);
            text += &format!("{node},{ty},{},{}.5\n", (node + edge) % 40, 1 + edge % 3);
        }
    }
    Built::with(&text, "edgelist", partitions, None)
}

#[test]
fn nothing_is_allocated_once_buffers_have_grown() {
    for partitions in [1, 3] {
        let built = graph(partitions);
        let graph = opened(&built.path);
        let all = TypeSet::all();
        let some = TypeSet::of(&[1]);
        let nodes: Vec<i64> = (0..50).chain(0..50).collect();
        let missing = Missing::default();
        let room = nodes.len() * 6;
        let (mut ids, mut weights, mut kinds) = (vec![0; room], vec![0.0; room], vec![0; room]);
        for generator in [Generator::Stable, Generator::Compat] {
            let mut sampler = Sampler::new(&graph, generator, 1);
            for types in [&all, &some] {
                let ask = Ask::new(&nodes, types);
                macro_rules! picks {
                    () => {
                        &mut Picks {
                            ids: &mut ids,
                            weights: &mut weights,
                            types: &mut kinds,
                            created: &mut [],
                            exact: &mut [],
                        }
                    };
                }
                let what = |name: &str| format!("{name}, {partitions} partitions, {generator:?}");
                quiet(&what("weighted"), |draw| sampler.weighted(&ask, 6, draw, &missing, picks!()).unwrap());
                for replacement in [true, false] {
                    quiet(&what("uniform"), |draw| {
                        sampler.uniform(&ask, 6, replacement, draw, &missing, picks!()).unwrap();
                    });
                }
                quiet(&what("top"), |_| sampler.top(&ask, 6, &missing, picks!()).unwrap());
                quiet(&what("rank"), |_| sampler.pagerank(&ask, 6, Push::default(), &missing, picks!()).unwrap());
                for bias in [Bias::default(), Bias { back: 0.5, away: 2.0 }] {
                    quiet(&what("walk"), |draw| sampler.walk(&ask, 5, bias, draw, -1, &mut ids).unwrap());
                }
                let mut lists = NeighborLists::default();
                quiet(&what("neighbours"), |_| sampler.neighbors(&ask, &mut lists).unwrap());
                let mut counts = vec![0; nodes.len()];
                quiet(&what("counts"), |_| sampler.neighbor_counts(&ask, &mut counts).unwrap());
            }
            let mut bytes = vec![0; nodes.len() * 12];
            let (mut strings, mut sparse) = (Strings::default(), [Sparse::default()]);
            quiet("dense", |_| {
                sampler.node_features(&nodes, &[Dense { id: 0, bytes: 12 }], None, &mut bytes).unwrap();
            });
            quiet("strings", |_| sampler.node_strings(&nodes, &[1], None, &mut strings).unwrap());
            quiet("sparse", |_| sampler.node_sparse(&nodes, &[2], None, &mut sparse).unwrap());
            for choice in [Choice::Weighted, Choice::Uniform, Choice::WithoutReplacement] {
                let mut elements = NodeSampler::new(&graph, &all, choice, generator).unwrap();
                let (mut first, mut second, mut types) = ([0; 30], [0; 30], [0; 30]);
                quiet("nodes", |draw| assert_eq!(elements.sample(draw, -1, &mut first, &mut types).unwrap(), 30));
                let mut elements = EdgeSampler::new(&graph, &all, choice, generator).unwrap();
                quiet("edges", |draw| {
                    assert_eq!(elements.sample(draw, -1, &mut first, &mut second, &mut types).unwrap(), 30);
                });
            }
        }
    }
}
