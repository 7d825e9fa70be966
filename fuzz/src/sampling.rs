//! The sampling engine: it maps a valid binary with one file replaced by the input, and every method is called.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use isomorph::sampling::{
    Ask, Bias, Choice, Dense, Draw, EdgeSampler, Edges, Generator, Graph, GraphOptions, Missing, NeighborLists,
    NodeSampler, Picks, Push, Sampler, Sparse, Strings, TypeSet,
};
use isomorph::storage::{Budget, Scratch};
use isomorph::{Error, Kind, Location, Result};

use crate::deepgnn::template;
use crate::home::home;

/// Nodes that exist, that are only ends of edges, and that do not exist.
const NODES: [i64; 6] = [1, 2, 5, 9, -1, 1 << 40];

/// The number of draws for each node.
const COUNT: usize = 3;

thread_local! {
    static TEMPLATES: [BTreeMap<String, Vec<u8>>; 2] = [template(1), template(2)];
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    TEMPLATES.with(|templates| {
        let files = templates.iter().flat_map(|files| files.values()).enumerate();
        files.map(|(number, bytes)| [&[number as u8][..], bytes].concat()).collect()
    })
}

pub(crate) fn check(data: &[u8]) {
    let Some((choice, bytes)) = data.split_first() else { return };
    let home = home();
    let path = home.path().join("graph");
    std::fs::create_dir(&path).expect("a folder");
    TEMPLATES.with(|templates| {
        let all: usize = templates.iter().map(BTreeMap::len).sum();
        let number = usize::from(*choice) % all;
        let first = templates[0].len();
        let (files, changed) = if number < first { (&templates[0], number) } else { (&templates[1], number - first) };
        for (number, (name, own)) in files.iter().enumerate() {
            std::fs::write(path.join(name), if number == changed { bytes } else { own }).expect("a file");
        }
    });
    let scratch = Scratch::new(Some(home.path())).expect("a place for temporary files");
    let options = GraphOptions::new(&Budget::new(64 << 20), &scratch);
    let graph = match Graph::open(&Location::from_path(Path::new(&path)), &options) {
        Ok(graph) => Arc::new(graph),
        Err(error) => return assert_bad_input(&error),
    };
    for times in [None, Some([3; NODES.len()])] {
        ask(&graph, times.as_ref().map(<[i64; NODES.len()]>::as_slice));
    }
    whole(&graph);
}

/// All methods for nodes and for the edges between them.
fn ask(graph: &Arc<Graph>, times: Option<&[i64]>) {
    let types = TypeSet::of(&[0, 1]);
    let of = Ask { nodes: &NODES, types: &types, times };
    let mut lists = NeighborLists::default();
    let full = Sampler::new(graph, Generator::Stable, 1).neighbors(&of, &mut lists);
    let mut counts = [0; NODES.len()];
    let counted = Sampler::new(graph, Generator::Stable, 1).neighbor_counts(&of, &mut counts);
    if bad(&full) | bad(&counted) {
        return features(graph, times);
    }
    assert_eq!(lists.counts, counts);
    let known: BTreeSet<i64> = lists.ids.iter().copied().collect();
    for generator in [Generator::Stable, Generator::Compat] {
        let drawn = |threads: usize| {
            let mut sampler = Sampler::new(graph, generator, threads);
            let missing = Missing { node: i64::MIN, ..Missing::default() };
            let mut all = Vec::new();
            let mut draw = |how: &mut dyn FnMut(&mut Sampler, &mut Picks<'_>) -> Result<()>| {
                let (mut ids, mut weights) = (vec![0; NODES.len() * COUNT], vec![0.0; NODES.len() * COUNT]);
                let (mut kinds, mut created) = (vec![0; NODES.len() * COUNT], vec![0; NODES.len() * COUNT]);
                let mut picks = Picks {
                    ids: &mut ids,
                    weights: &mut weights,
                    types: &mut kinds,
                    created: &mut created,
                    exact: &mut [],
                };
                let done = how(&mut sampler, &mut picks);
                if !bad(&done) {
                    all.extend(ids);
                }
            };
            draw(&mut |sampler, picks| sampler.weighted(&of, COUNT, Draw::of(1), &missing, picks));
            draw(&mut |sampler, picks| sampler.uniform(&of, COUNT, true, Draw::of(2), &missing, picks));
            draw(&mut |sampler, picks| sampler.uniform(&of, COUNT, false, Draw::of(3), &missing, picks));
            draw(&mut |sampler, picks| sampler.top(&of, COUNT, &missing, picks));
            if graph.has_times() {
                draw(&mut |sampler, picks| sampler.last(&of, COUNT, &missing, picks));
            }
            all
        };
        let one = drawn(1);
        assert!(one.iter().all(|id| *id == i64::MIN || known.contains(id)), "{one:?} of {known:?}");
        if generator == Generator::Stable {
            assert_eq!(one, drawn(2));
        }
        let mut sampler = Sampler::new(graph, generator, 1);
        let mut ids = [0; NODES.len() * COUNT];
        let missing = Missing::default();
        bad(&sampler.pagerank(&of, COUNT, Push::default(), &missing, &mut Picks::of_ids(&mut ids)));
        for bias in [Bias { back: 1.0, away: 1.0 }, Bias { back: 0.25, away: 4.0 }] {
            let mut walks = [0; NODES.len() * 4];
            bad(&sampler.walk(&of, 3, bias, Draw::of(4), -1, &mut walks));
        }
    }
    features(graph, times);
}

/// Dense, sparse and other features, of nodes and of edges.
fn features(graph: &Arc<Graph>, times: Option<&[i64]>) {
    let edges = Edges { sources: &[1, 1, 5, 2, 1, 7], targets: &[2, 9, 1, 1, 2, 7], types: &[0, 1, 1, 0, 1, 0] };
    let wanted = [Dense { id: 0, bytes: 8 }, Dense { id: 2, bytes: 12 }, Dense { id: u32::MAX, bytes: 4 }];
    let ids = [0, 1, 2, 70_000];
    // A time that is requested of features without times is the fault of the request.
    let wrong = |done: &Result<()>| {
        let is_request = times.is_some() && done.as_ref().is_err_and(|error| error.kind() == Kind::Usage);
        is_request || bad(done)
    };
    for generator in [Generator::Stable, Generator::Compat] {
        let sampler = Sampler::new(graph, generator, 1);
        let mut bytes = [0; NODES.len() * 24];
        wrong(&sampler.node_features(&NODES, &wanted, times, &mut bytes));
        wrong(&sampler.edge_features(edges, &wanted, times, &mut bytes));
        let mut strings = Strings::default();
        for done in [
            sampler.node_strings(&NODES, &ids, times, &mut strings),
            sampler.edge_strings(edges, &ids, times, &mut strings),
        ] {
            if !wrong(&done) {
                assert_eq!(strings.lengths.iter().sum::<u64>(), strings.bytes.len() as u64);
            }
        }
        let mut sparse = vec![Sparse::default(); ids.len()];
        wrong(&sampler.node_sparse(&NODES, &ids, times, &mut sparse));
        wrong(&sampler.edge_sparse(edges, &ids, times, &mut sparse));
    }
}

/// Draws from the whole graph.
fn whole(graph: &Arc<Graph>) {
    let mut types = [0; NODES.len()];
    bad(&graph.types_of(&NODES, -7, &mut types));
    for generator in [Generator::Stable, Generator::Compat] {
        for choice in [Choice::Weighted, Choice::Uniform, Choice::WithoutReplacement] {
            let (mut ids, mut others, mut kinds) = ([0; 7], [0; 7], [0; 7]);
            let nodes = NodeSampler::new(graph, &TypeSet::all(), choice, generator);
            bad(&nodes.and_then(|mut nodes| nodes.sample(Draw::of(5), -1, &mut ids, &mut kinds)));
            let edges = EdgeSampler::new(graph, &TypeSet::of(&[0, 1]), choice, generator);
            bad(&edges.and_then(|mut edges| edges.sample(Draw::of(6), -1, &mut ids, &mut others, &mut kinds)));
        }
    }
}

/// Whether it is an error; an error must concern the input.
fn bad<T>(done: &Result<T>) -> bool {
    done.as_ref().err().inspect(|error| assert_bad_input(error)).is_some()
}

fn assert_bad_input(error: &Error) {
    let bad = matches!(error.kind(), Kind::Malformed | Kind::TooLarge | Kind::Unsupported | Kind::Incomplete);
    assert!(bad, "{error:?}");
}
