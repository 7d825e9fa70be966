//! The engine on a graph of its own making, for `benches/peer_sampling.py`, which asks the published engine the same.
//!
//! `engine make NODES EDGES FEATURES DIRECTORY` draws a graph and writes it as the published converter does;
//! `engine run DIRECTORY BATCHES THREADS` prints the medians as one line of JSON.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use isomorph_deepgnn::{BuildOptions, OpenOptions, Text, build};
use isomorph_sampling::{
    Ask, Bias, Choice, Dense, Draw, Generator, Graph, GraphOptions, Missing, NeighborLists, NodeSampler, Picks,
    Sampler, TypeSet,
};
use isomorph_storage::{Budget, Location, Mode, Scratch, Staging};

/// Nodes of a batch.
const BATCH: usize = 1024;

/// Neighbours for each.
const COUNT: usize = 10;

/// The next number of xorshift64*.
fn next(state: &mut u64) -> u64 {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    state.wrapping_mul(0x2545_F491_4F6C_DD1D)
}

fn make(nodes: u64, edges: u64, features: usize, directory: &Path) {
    let text = directory.with_extension("linear");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&text).unwrap());
    let (mut state, each) = (88_172_645_463_325_252, edges / nodes);
    let (mut line, mut targets) = (String::new(), Vec::new());
    for node in 0..nodes {
        line.clear();
        write!(line, "-1 {node} 0 1.0").unwrap();
        if features > 0 {
            write!(line, " float32 {features}").unwrap();
            (0..features).for_each(|_| write!(line, " {}", (next(&mut state) >> 40) as f64 / 1024.0).unwrap());
        }
        targets.clear();
        targets.extend((0..each).map(|_| next(&mut state) % nodes));
        targets.sort_unstable();
        for target in &targets {
            write!(line, " {node} {target} 0 {}", ((next(&mut state) >> 44) + 1) as f64 / 1024.0).unwrap();
        }
        writeln!(file, "{line}").unwrap();
    }
    file.into_inner().unwrap().sync_all().unwrap();
    let parsed =
        Text::open(&Location::from_path(&text), &OpenOptions { later: true, ..OpenOptions::default() }).unwrap();
    let staging = Staging::directory(&Location::from_path(directory), Mode::Replace).unwrap();
    build(&parsed, &staging, &BuildOptions::default(), &|_| Ok(())).unwrap();
    staging.commit(&["meta.json"]).unwrap();
    std::fs::remove_file(&text).unwrap();
}

fn open(directory: &Path) -> Arc<Graph> {
    let options = GraphOptions::new(&Budget::of_this_machine(), &Scratch::new(None).unwrap());
    Arc::new(Graph::open(&Location::from_path(directory), &options).unwrap())
}

/// The median time of a call, microseconds.
fn median(batches: u64, mut call: impl FnMut(u64)) -> f64 {
    (0..batches / 5 + 1).for_each(&mut call);
    let mut times: Vec<f64> = (0..batches)
        .map(|batch| {
            let start = Instant::now();
            call(batch);
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn run(directory: &Path, batches: u64, threads: usize) {
    let mut opening: Vec<f64> = (0..9)
        .map(|_| {
            let start = Instant::now();
            let graph = open(directory);
            assert!(graph.nodes() > 0);
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    opening.sort_by(f64::total_cmp);
    let graph = open(directory);
    let mut sampler = Sampler::new(&graph, Generator::Stable, threads);
    let (all, missing) = (TypeSet::all(), Missing::default());
    let mut state = 7;
    // Other nodes in each batch, drawn beforehand, as the peer gets them.
    let nodes: Vec<Vec<i64>> =
        (0..batches).map(|_| (0..BATCH).map(|_| (next(&mut state) % graph.nodes()) as i64).collect()).collect();
    let room = BATCH * COUNT;
    let (mut ids, mut weights, mut types) = (vec![0; room], vec![0.0; room], vec![0; room]);
    let mut lists = NeighborLists::default();
    let mut report = vec![("open_ms".to_owned(), opening[opening.len() / 2])];
    let mut add = |name: &str, time: f64| report.push((format!("{name}_us"), time));
    macro_rules! picks {
        () => {
            Picks { ids: &mut ids, weights: &mut weights, types: &mut types, created: &mut [] }
        };
    }
    let ask = |batch: u64| Ask::new(&nodes[batch as usize], &all);
    add(
        "weighted",
        median(batches, |batch| {
            sampler.weighted(&ask(batch), COUNT, Draw::of(batch), &missing, &mut picks!()).unwrap();
        }),
    );
    add(
        "uniform",
        median(batches, |batch| {
            sampler.uniform(&ask(batch), COUNT, true, Draw::of(batch), &missing, &mut picks!()).unwrap();
        }),
    );
    add(
        "without_replacement",
        median(batches, |batch| {
            sampler.uniform(&ask(batch), COUNT, false, Draw::of(batch), &missing, &mut picks!()).unwrap();
        }),
    );
    add("full", median(batches, |batch| sampler.neighbors(&ask(batch), &mut lists).unwrap()));
    let mut walks = vec![0; BATCH * 6];
    for (name, bias) in [("walk", Bias::default()), ("walk_biased", Bias { back: 0.5, away: 2.0 })] {
        add(
            name,
            median(batches, |batch| {
                sampler.walk(&ask(batch), 5, bias, Draw::of(batch), -1, &mut walks).unwrap();
            }),
        );
    }
    let mut bytes = vec![0; BATCH * 512];
    add(
        "features",
        median(batches, |batch| {
            let features = [Dense { id: 0, bytes: 512 }];
            sampler.node_features(&nodes[batch as usize], &features, None, &mut bytes).unwrap();
        }),
    );
    let mut elements = NodeSampler::new(&graph, &all, Choice::Weighted, Generator::Stable).unwrap();
    let (mut some, mut kinds) = (vec![0; BATCH], vec![0; BATCH]);
    add(
        "nodes",
        median(batches, |batch| {
            elements.sample(Draw::of(batch), -1, &mut some, &mut kinds).unwrap();
        }),
    );
    report.push(("sampled_edges_per_s".to_owned(), room as f64 / (report[1].1 / 1e6)));
    let fields: Vec<String> = report.iter().map(|(name, value)| format!("\"{name}\": {value:.1}")).collect();
    std::io::stdout().write_all(format!("{{{}}}\n", fields.join(", ")).as_bytes()).unwrap();
}

fn main() {
    // `cargo bench` adds a flag of its own.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let number = |text: &str| text.parse::<u64>().unwrap();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["make", nodes, edges, features, directory] => {
            make(number(nodes), number(edges), number(features) as usize, Path::new(directory));
        }
        ["run", directory, batches, threads] => run(Path::new(directory), number(batches), number(threads) as usize),
        // `cargo test` builds benches and runs them without arguments: a small graph, to see that nothing fails.
        _ => {
            let home = tempfile::tempdir().unwrap();
            make(300, 3000, 128, &home.path().join("graph"));
            run(&home.path().join("graph"), 3, 2);
        }
    }
}
