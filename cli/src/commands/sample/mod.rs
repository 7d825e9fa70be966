//! `sample`: nodes, edges, neighbours, walks and features, drawn from a graph where it lies.

mod answer;
mod declared;
mod exact;
mod features;
mod place;
mod values;

use std::num::NonZeroUsize;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float32Array, Float64Array, ListArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::Field;
use isomorph::convert::Registry;
use isomorph::sampling::{
    Ask, Bias, Choice, Draw, EdgeSampler, Generator, Missing, NeighborLists, NodeSampler, Picks, Push, Sampler,
};
use isomorph::{Error, Result};

use super::Answer;
use crate::args::sample::{CommonArgs, Elements, ElementsArgs, NEIGHBORS, Near, NearArgs, SampleArgs, WalkArgs, What};
use crate::console::Console;
use crate::render::of;
use answer::Drawn;
use place::Place;

/// The type of an edge that stands for none: no graph has it.
const NONE: i32 = i32::MIN;

/// Draws and shows.
///
/// # Errors
/// Whatever keeps it from doing so.
pub fn run(args: &SampleArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    let common = args.what.common();
    let resources = common.resources.resources()?;
    repeatable(&args.what)?;
    let place = Place::open(&args.path, &args.what, formats, &resources, console)?;
    let graph = Arc::clone(&place.graph);
    let mut sampler = Sampler::new(&graph, common.generator, resources.threads);
    let drawn = match &args.what {
        What::Nodes(args) => nodes(&place, args, resources.threads)?,
        What::Edges(args) => edges(&place, args, resources.threads)?,
        What::Neighbors(args) => neighbors(&mut sampler, &place, args)?,
        What::Walk(args) => walk(&mut sampler, &place, args)?,
        What::Features(args) => features::features(&sampler, &place, args)?,
    };
    match &common.arrow {
        Some(file) => drawn.write(file, console)?,
        None => drawn.show(&args.path, &place.left_out, common, console)?,
    }
    Ok(Answer::Yes)
}

/// Whether the generator that is asked for gives one answer for each seed.
///
/// # Errors
/// When it is the engine of DeepGNN and this is not: it draws nodes and edges evenly from a table that is in another order in each process,
/// has no heaviest neighbours, and at a time counts edges that were removed.
fn repeatable(what: &What) -> Result<()> {
    if what.common().generator == Generator::Stable {
        return Ok(());
    }
    let why = match what {
        What::Nodes(args) | What::Edges(args) if args.strategy != Elements::Weighted => {
            "draws nodes and edges evenly in another order in each process"
        }
        What::Neighbors(args) => match args.strategy {
            Near::Top => "does not know the heaviest neighbours",
            Near::Last => "has the latest neighbours in no order",
            Near::Weighted | Near::Uniform | Near::WithoutReplacement if args.timestamp.is_some() => {
                "draws among edges that were removed already, where a time is asked for"
            }
            _ => return Ok(()),
        },
        _ => return Ok(()),
    };
    Err(Error::usage(format!("--generator deepgnn has no answer to repeat: DeepGNN's engine {why}"))
        .hint("--generator stable    one answer for each seed"))
}

/// Whether a graph that is no binary can be asked: DeepGNN's engine has none but binaries, and what a seed draws there depends on their
/// tables, and on the order of nodes, and of edges with equal ends or times, which a graph that is read has lost.
///
/// # Errors
/// When it is asked for what this engine draws.
fn without_binary(what: &What) -> Result<()> {
    let draws = match what {
        What::Nodes(_) | What::Edges(_) | What::Walk(_) => true,
        What::Neighbors(args) => !matches!(args.strategy, Near::All | Near::Pagerank),
        What::Features(_) => false,
    };
    if what.common().generator == Generator::Stable || !draws {
        return Ok(());
    }
    let message = "--generator deepgnn has no answer to repeat: DeepGNN's engine draws from binaries, and this is none";
    Err(Error::usage(message)
        .hint("isomorph convert PATH NEW --to deepgnn    makes one")
        .hint("--generator stable    one answer for each seed"))
}

fn draw(common: &CommonArgs) -> Draw {
    Draw::of(common.seed as u64)
}

fn choice(strategy: Elements) -> (Choice, &'static str) {
    match strategy {
        Elements::Weighted => (Choice::Weighted, "by weight"),
        Elements::Uniform => (Choice::Uniform, "evenly"),
        Elements::WithoutReplacement => (Choice::WithoutReplacement, "evenly, none twice"),
    }
}

/// How many were drawn of how many there are: where one may come twice, they are no part of them.
fn extent(drawn: usize, size: u64, what: &str, how: &str) -> String {
    format!("{drawn} drawn from {}, {how}", of(size, what))
}

fn nodes(place: &Place, args: &ElementsArgs, threads: usize) -> Result<Drawn> {
    let (choice, how) = choice(args.strategy);
    let types = match (&args.common.node_type, &args.types) {
        (Some(ty), Some(_)) => {
            return Err(Error::usage("--type and --types both say which nodes are drawn").hint(format!("--types {ty}")));
        }
        (Some(ty), None) => place.nodes_of(ty)?,
        (None, types) => place.node_types(types)?,
    };
    let sampler = NodeSampler::new(&place.graph, &types, choice, args.common.generator)?;
    let mut sampler = sampler.threads(threads);
    let count = args.count.get();
    let (mut found, mut kinds) = (vec![0; count], vec![0; count]);
    let filled = sampler.sample(draw(&args.common), 0, &mut found, &mut kinds)?;
    found.truncate(filled);
    kinds.truncate(filled);
    let mut drawn = Drawn::new("nodes", extent(filled, sampler.size(), "node", how));
    drawn.keys("node", place, &found)?;
    drawn.column("type", place.node_type_names(&kinds));
    Ok(drawn)
}

fn edges(place: &Place, args: &ElementsArgs, threads: usize) -> Result<Drawn> {
    if let Some(ty) = &args.common.node_type {
        return Err(Error::usage("--type names a type of nodes, and edges are drawn").hint(format!("--types {ty}")));
    }
    let (choice, how) = choice(args.strategy);
    let sampler = EdgeSampler::new(&place.graph, &place.edge_types(&args.types)?, choice, args.common.generator)?;
    let mut sampler = sampler.threads(threads);
    let count = args.count.get();
    let (mut sources, mut targets, mut kinds) = (vec![0; count], vec![0; count], vec![0; count]);
    let filled = sampler.sample(draw(&args.common), 0, &mut sources, &mut targets, &mut kinds)?;
    sources.truncate(filled);
    targets.truncate(filled);
    kinds.truncate(filled);
    let mut drawn = Drawn::new("edges", extent(filled, sampler.size(), "edge", how));
    drawn.keys("source", place, &sources)?;
    drawn.keys("target", place, &targets)?;
    drawn.column("type", place.edge_type_names(&kinds));
    Ok(drawn)
}

fn neighbors(sampler: &mut Sampler, place: &Place, args: &NearArgs) -> Result<Drawn> {
    let nodes = place.ids(&args.nodes, &args.common)?;
    if args.count.is_some() && args.strategy == Near::All {
        let error = Error::usage("--strategy all takes every neighbour, and --count only some");
        return Err(error.hint("--strategy without-replacement    some, none twice"));
    }
    let (types, count) = (place.edge_types(&args.types)?, args.count.map_or(NEIGHBORS, NonZeroUsize::get));
    let times = place.times(args.timestamp.as_ref(), &types, nodes.len())?;
    let ask = Ask { nodes: &nodes, types: &types, times: times.as_deref() };
    if args.strategy == Near::All {
        return all_neighbors(sampler, place, &ask, args.common.generator);
    }
    let room = nodes.len().checked_mul(count).ok_or_else(|| Error::usage("these are too many"))?;
    let (mut found, mut weights, mut kinds, mut created) =
        (vec![0; room], vec![0.0; room], vec![0; room], vec![0; room]);
    let mut exact = vec![0.0; if has_exact(sampler, args.common.generator) { room } else { 0 }];
    let mut picks =
        Picks { ids: &mut found, weights: &mut weights, types: &mut kinds, created: &mut created, exact: &mut exact };
    // Weights of PageRank stand for what was found; a type stands for an edge.
    let missing = Missing { ty: NONE, weight: f32::NAN, ..Missing::default() };
    let draw = draw(&args.common);
    let how = match args.strategy {
        Near::Weighted => sampler.weighted(&ask, count, draw, &missing, &mut picks).map(|()| "by weight"),
        Near::Uniform => sampler.uniform(&ask, count, true, draw, &missing, &mut picks).map(|()| "evenly"),
        Near::WithoutReplacement => {
            sampler.uniform(&ask, count, false, draw, &missing, &mut picks).map(|()| "evenly, none twice")
        }
        Near::Top => sampler.top(&ask, count, &missing, &mut picks).map(|()| "the heaviest"),
        Near::Last => sampler.last(&ask, count, &missing, &mut picks).map(|()| "the latest"),
        Near::Pagerank | Near::All => {
            sampler.pagerank(&ask, count, Push::default(), &missing, &mut picks).map(|()| "by PageRank")
        }
    }?;
    let ranks = args.strategy == Near::Pagerank;
    let there = |at: usize| if ranks { !weights[at].is_nan() } else { kinds[at] != NONE };
    let rows: Vec<usize> = (0..room).filter(|at| there(*at)).collect();
    let mut drawn = Drawn::new("neighbors", format!("up to {count} for each node, {how}"));
    let sources: Vec<i64> = rows.iter().map(|at| nodes[at / count]).collect();
    let targets: Vec<i64> = rows.iter().map(|at| found[*at]).collect();
    drawn.keys("node", place, &sources)?;
    drawn.keys("neighbor", place, &targets)?;
    if ranks {
        drawn.column("rank", Arc::new(Float32Array::from_iter_values(rows.iter().map(|at| weights[*at]))));
        return Ok(drawn);
    }
    let kinds: Vec<i32> = rows.iter().map(|at| kinds[*at]).collect();
    let single = rows.iter().map(|at| weights[*at]).collect::<Vec<_>>();
    let exact = rows.iter().filter_map(|at| exact.get(*at).copied()).collect::<Vec<_>>();
    drawn.column("weight", weight_column(sampler, args.common.generator, &single, &exact, &kinds));
    drawn.column("type", place.edge_type_names(&kinds));
    if sampler.graph().has_times() {
        drawn.column("created_at", place.created(rows.iter().map(|at| created[*at]))?);
    }
    Ok(drawn)
}

/// Whether weights are shown with 64 bits: the engine of DeepGNN has 32.
fn has_exact(sampler: &Sampler, generator: Generator) -> bool {
    generator == Generator::Stable && sampler.graph().has_exact_weights()
}

/// Weights with as many bits as the columns of the graph have, whatever these weights need: `exact` where 32 do not hold them. Nothing of
/// those that are no numbers.
fn weight_column(sampler: &Sampler, generator: Generator, single: &[f32], exact: &[f64], kinds: &[i32]) -> ArrayRef {
    let known = |at: usize, is_nan: bool| !is_nan || sampler.graph().knows_weights(kinds[at]);
    let double = |(at, weight): (usize, f64)| known(at, weight.is_nan()).then_some(weight);
    if !exact.is_empty() {
        return Arc::new(exact.iter().copied().enumerate().map(double).collect::<Float64Array>());
    }
    if generator == Generator::Stable && sampler.graph().has_wide_weights() {
        return Arc::new(single.iter().copied().map(f64::from).enumerate().map(double).collect::<Float64Array>());
    }
    let weights = single.iter().enumerate();
    let weight = |(at, weight): (usize, &f32)| known(at, weight.is_nan()).then_some(*weight);
    Arc::new(weights.map(weight).collect::<Float32Array>())
}

fn all_neighbors(sampler: &mut Sampler, place: &Place, ask: &Ask<'_>, generator: Generator) -> Result<Drawn> {
    let mut lists = NeighborLists::default();
    sampler.neighbors(ask, &mut lists)?;
    let sources = ask.nodes.iter().zip(&lists.counts);
    let sources: Vec<i64> = sources.flat_map(|(node, count)| std::iter::repeat_n(*node, *count as usize)).collect();
    let mut drawn = Drawn::new("neighbors", format!("all {}", lists.ids.len()));
    drawn.keys("node", place, &sources)?;
    drawn.keys("neighbor", place, &lists.ids)?;
    let exact: &[f64] = if has_exact(sampler, generator) { &lists.exact } else { &[] };
    drawn.column("weight", weight_column(sampler, generator, &lists.weights, exact, &lists.types));
    drawn.column("type", place.edge_type_names(&lists.types));
    if sampler.graph().has_times() {
        drawn.column("created_at", place.created(lists.created.iter().copied())?);
    }
    Ok(drawn)
}

fn walk(sampler: &mut Sampler, place: &Place, args: &WalkArgs) -> Result<Drawn> {
    let nodes = place.ids(&args.nodes, &args.common)?;
    let types = place.edge_types(&args.types)?;
    let times = place.times(args.timestamp.as_ref(), &types, nodes.len())?;
    let ask = Ask { nodes: &nodes, types: &types, times: times.as_deref() };
    let stride = usize::from(args.length) + 1;
    // No walk comes to an id that its caller has not given, but for this one, whose walks are cut here if it is a node.
    let end = i64::MIN;
    let mut out = vec![0; nodes.len() * stride];
    sampler.walk(
        &ask,
        usize::from(args.length),
        Bias { back: args.p, away: args.q },
        draw(&args.common),
        end,
        &mut out,
    )?;
    let steps: Vec<&[i64]> =
        out.chunks_exact(stride).map(|walk| walk[1..].split(|node| *node == end).next().unwrap_or_default()).collect();
    let lengths = OffsetBuffer::from_lengths(steps.iter().map(|walk| walk.len()));
    let all = steps.concat();
    let keys = place.keys(&all)?;
    let item = Arc::new(Field::new_list_field(keys.data_type().clone(), true));
    let walks = ListArray::new(item, lengths, keys, None);
    let mut drawn = Drawn::new("walks", format!("{} steps each", args.length));
    drawn.keys("node", place, &nodes)?;
    drawn.column("walk", Arc::new(walks));
    drawn.numbers(place.numbers(&all));
    Ok(drawn)
}
