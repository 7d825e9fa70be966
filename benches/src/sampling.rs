//! The sampling engine; `benches/peer_sampling.py` measures DeepGNN's engine with the same graph and the same batches.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use isomorph_deepgnn::{BuildOptions, OpenOptions, Text, build};
use isomorph_error::Result;
use isomorph_sampling::{
    Ask, Bias, Choice, Dense, Draw, EdgeSampler, Generator, Graph, GraphOptions, IndexFile, Missing, NeighborLists,
    NodeSampler, Picks, Push, Sampler, TypeSet,
};
use isomorph_storage::{Budget, Location, Mode, Scratch, Staging};
use serde_json::{Map, Value};

/// Number of nodes in a batch.
const BATCH: usize = 1024;

/// Number of batches in a large batch.
const MANY: usize = 16;

/// Number of neighbours of each node.
const COUNT: usize = 10;

/// Number of steps of a walk.
const STEPS: usize = 5;

/// Size of a feature in bytes.
const WIDTH: usize = 512;

/// Returns the next number of xorshift64*.
fn next(state: &mut u64) -> u64 {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    state.wrapping_mul(0x2545_F491_4F6C_DD1D)
}

/// Returns the id of node number `node`: the number, or a shuffled id.
fn id(node: u64, shuffled: bool) -> u64 {
    // The factor is odd, so ids differ; the upper bits are cut, so they are unordered.
    if shuffled { node.wrapping_mul(0x9E37_79B9_7F4A_7C15) & ((1 << 40) - 1) } else { node }
}

/// Generates a graph of one type and writes it as DeepGNN's converter does, with `features` floats for each node.
///
/// # Errors
/// Returns an error if it cannot be written.
pub fn make(nodes: u64, edges: u64, features: usize, path: &str, shuffled: bool) -> Result<Value> {
    let directory = Path::new(path);
    let text = directory.with_extension("linear");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&text)?);
    let (mut state, each) = (88_172_645_463_325_252, edges / nodes.max(1));
    let mut targets = Vec::new();
    for node in 0..nodes {
        write!(file, "-1 {} 0 1.0", id(node, shuffled))?;
        if features > 0 {
            write!(file, " float32 {features}")?;
            for _ in 0..features {
                write!(file, " {}", (next(&mut state) >> 40) as f64 / 1024.0)?;
            }
        }
        targets.clear();
        targets.extend((0..each).map(|_| id(next(&mut state) % nodes, shuffled)));
        targets.sort_unstable();
        for target in &targets {
            write!(file, " {} {target} 0 {}", id(node, shuffled), ((next(&mut state) >> 44) + 1) as f64 / 1024.0)?;
        }
        writeln!(file)?;
    }
    file.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
    let parsed = Text::open(&Location::from_path(&text), &OpenOptions { later: true, ..OpenOptions::default() })?;
    let staging = Staging::directory(&Location::from_path(directory), Mode::Replace)?;
    build(&parsed, &staging, &BuildOptions::default(), &|_| Ok(()))?;
    staging.commit(&["meta.json"])?;
    std::fs::remove_file(&text)?;
    Ok(Value::from(nodes))
}

fn open(path: &str, index: IndexFile) -> Result<Arc<Graph>> {
    let options = GraphOptions { index, ..GraphOptions::new(&Budget::of_this_machine(), &Scratch::new(None)?) };
    Graph::open(&Location::parse(path)?, &options).map(Arc::new)
}

/// Returns the median time of opening a graph, in milliseconds.
fn opening(path: &str, index: IndexFile) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..9 {
        let start = Instant::now();
        open(path, index)?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// Returns the median time of a call, in microseconds.
fn median(batches: u64, mut call: impl FnMut(u64) -> Result<()>) -> Result<f64> {
    (0..batches / 5 + 1).try_for_each(|batch| call(batch % batches.max(1)))?;
    let mut times = Vec::new();
    for batch in 0..batches {
        let start = Instant::now();
        call(batch)?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Ok(times.get(times.len() / 2).copied().unwrap_or(f64::NAN))
}

/// Returns the sum of numbers times their positions.
fn checksum(numbers: impl Iterator<Item = u64>) -> u64 {
    (1u64..).zip(numbers).fold(0, |sum, (at, number)| sum.wrapping_add(at.wrapping_mul(number)))
}

/// Returns the median times of `batches` batches, in microseconds, and the results of the compatible generator and the
/// features for the first batch.
///
/// # Errors
/// Returns an error if the graph cannot be read.
pub fn run(path: &str, batches: u64, threads: usize, shuffled: bool) -> Result<Value> {
    let mut report = Map::new();
    // Without the index file, then once with writing it, then with it.
    report.insert("open_anew_ms".into(), opening(path, IndexFile::Ignore)?.into());
    let start = Instant::now();
    open(path, IndexFile::Keep)?;
    report.insert("open_keep_ms".into(), (start.elapsed().as_secs_f64() * 1e3).into());
    report.insert("open_ms".into(), opening(path, IndexFile::Use)?.into());
    let graph = open(path, IndexFile::Use)?;
    let mut sampler = Sampler::new(&graph, Generator::Stable, threads);
    let (all, missing) = (TypeSet::all(), Missing::default());
    let mut state = 7;
    // Other nodes in each batch, drawn beforehand, as for the peer.
    let batch =
        |_| -> Vec<i64> { (0..BATCH).map(|_| id(next(&mut state) % graph.nodes().max(1), shuffled) as i64).collect() };
    let nodes: Vec<Vec<i64>> = (0..batches.max(1)).map(batch).collect();
    let ask = |batch: u64| Ask::new(&nodes[batch as usize], &all);
    let room = BATCH * COUNT;
    let (mut ids, mut weights, mut types) = (vec![0; room], vec![0.0; room], vec![0; room]);
    macro_rules! picks {
        () => {
            &mut Picks { ids: &mut ids, weights: &mut weights, types: &mut types, created: &mut [], exact: &mut [] }
        };
    }
    let mut add = |name: &str, time: f64| report.insert(format!("{name}_us"), ((time * 10.0).round() / 10.0).into());
    add("weighted", median(batches, |at| sampler.weighted(&ask(at), COUNT, Draw::of(at), &missing, picks!()))?);
    for (name, replacement) in [("uniform", true), ("without_replacement", false)] {
        let time =
            median(batches, |at| sampler.uniform(&ask(at), COUNT, replacement, Draw::of(at), &missing, picks!()))?;
        add(name, time);
    }
    let mut lists = NeighborLists::default();
    add("full", median(batches, |at| sampler.neighbors(&ask(at), &mut lists))?);
    // Many batches at once, enough to divide among threads.
    let many: Vec<i64> = nodes.iter().flatten().copied().cycle().take(MANY * BATCH).collect();
    let (ask_many, mut found) = (Ask::new(&many, &all), vec![0; MANY * room]);
    let times = (batches / 8).max(1);
    add(
        "weighted_many",
        median(times, |at| sampler.weighted(&ask_many, COUNT, Draw::of(at), &missing, &mut Picks::of_ids(&mut found)))?,
    );
    add("full_many", median(times, |_| sampler.neighbors(&ask_many, &mut lists))?);
    let some = Ask::new(&many[..BATCH / 16], &all);
    add(
        "pagerank",
        median(times, |_| {
            let picks = &mut Picks::of_ids(&mut found[..BATCH / 16 * COUNT]);
            sampler.pagerank(&some, COUNT, Push { alpha: 0.5, epsilon: 1e-3 }, &missing, picks)
        })?,
    );
    let mut walks = vec![0; BATCH * (STEPS + 1)];
    for (name, bias) in [("walk", Bias::default()), ("walk_biased", Bias { back: 0.5, away: 2.0 })] {
        add(name, median(batches, |at| sampler.walk(&ask(at), STEPS, bias, Draw::of(at), -1, &mut walks))?);
    }
    let (mut bytes, wanted) = (vec![0; BATCH * WIDTH], [Dense { id: 0, bytes: WIDTH }]);
    let features = |at: u64, out: &mut [u8]| sampler.node_features(&nodes[at as usize], &wanted, None, out);
    add("features", median(batches, |at| features(at, &mut bytes))?);
    features(0, &mut bytes)?;
    let (mut some, mut others, mut kinds) = (vec![0; BATCH], vec![0; BATCH], vec![0; BATCH]);
    let mut elements = NodeSampler::new(&graph, &all, Choice::Weighted, Generator::Stable)?.threads(threads);
    add("nodes", median(batches, |at| elements.sample(Draw::of(at), -1, &mut some, &mut kinds).map(drop))?);
    let mut elements = EdgeSampler::new(&graph, &all, Choice::Weighted, Generator::Stable)?.threads(threads);
    add(
        "edges",
        median(batches, |at| elements.sample(Draw::of(at), -1, &mut some, &mut others, &mut kinds).map(drop))?,
    );
    let mut compat = Sampler::new(&graph, Generator::Compat, 1);
    compat.weighted(&ask(0), COUNT, Draw::of(0), &missing, picks!())?;
    let words = bytes.as_chunks::<4>().0.iter().map(|word| u64::from(u32::from_le_bytes(*word)));
    report.insert("neighbours".into(), checksum(ids.iter().map(|id| *id as u64)).to_string().into());
    report.insert("values".into(), checksum(words).to_string().into());
    Ok(Value::Object(report))
}
