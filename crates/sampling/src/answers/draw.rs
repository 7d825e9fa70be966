//! Draws, with columns as results.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float32Array, Float64Array, ListArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::Field;
use isomorph_error::{Error, Result, index};
use isomorph_storage::Reservation;

use super::columns::Drawn;
use super::features::features;
use super::keyed::KeyedGraph;
use super::question::{Drawing, ElementsOf, NeighborsOf, Question, Strategy, WalksOf};
use crate::{Ask, Choice, Draw, EdgeSampler, Generator, Missing, NeighborLists, NodeSampler, Picks, Push, Sampler};

/// Default number of neighbours of each node.
const NEIGHBORS: usize = 10;

/// The type of a missing edge: no graph has it.
const NONE: i32 = i32::MIN;

impl KeyedGraph {
    /// Answers a question. Equal seeds give equal results, whatever the number of threads.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] if the generator has no repeatable result, or types, times or features
    /// do not match the graph; [`isomorph_error::Kind::NotFound`] for an unknown node; an error if files cannot be
    /// read.
    pub fn draw(&self, question: &Question, how: &Drawing) -> Result<Drawn> {
        question.repeatable(how.generator)?;
        let mut sampler = Sampler::new(self.graph(), how.generator, how.threads);
        match question {
            Question::Nodes(asked) => nodes(self, asked, how),
            Question::Edges(asked) => edges(self, asked, how),
            Question::Neighbors(asked) => neighbors(&mut sampler, self, asked, how),
            Question::Walks(asked) => walk(&mut sampler, self, asked, how),
            Question::Features(asked) => features(&sampler, self, asked, how),
        }
    }
}

/// Reserves the memory of an answer, before any of it is allocated: an allocation that fails ends the process. `each` is the number of bytes
/// of one element: in the buffers that are drawn into, and in the columns made of them.
///
/// # Errors
/// Returns [`isomorph_error::Kind::TooLarge`] if the budget is too small.
fn room(graph: &KeyedGraph, elements: usize, each: u64) -> Result<Reservation> {
    let bytes = (elements as u64).saturating_mul(each);
    graph.graph().budget().reserve(bytes).map_err(|error| error.hint("draw fewer in one request"))
}

/// Bytes of a drawn node: id and type; key and name of the type.
const OF_NODE: u64 = 12 + 24;

/// Bytes of a drawn edge: ids and type; two keys, names of types.
const OF_EDGE: u64 = 20 + 48;

/// Bytes of a drawn neighbour: id, weight, type, time, exact weight; the rows of those that exist, with keys and names of types.
const OF_NEIGHBOR: u64 = 32 + 72;

/// Bytes of a step of a walk: id; id, key and name of the type of those that were reached.
const OF_STEP: u64 = 8 + 40;

fn draw(how: &Drawing) -> Draw {
    Draw::of(how.seed.cast_unsigned())
}

fn in_words(choice: Choice) -> &'static str {
    match choice {
        Choice::Weighted => "by weight",
        Choice::Uniform => "uniformly",
        Choice::WithoutReplacement => "uniformly without replacement",
    }
}

/// The number of elements to draw: without replacement, no more than there are.
fn most(asked: &ElementsOf, size: u64) -> usize {
    match asked.choice {
        Choice::WithoutReplacement => asked.count.min(index(size)),
        Choice::Weighted | Choice::Uniform => asked.count,
    }
}

fn nodes(graph: &KeyedGraph, asked: &ElementsOf, how: &Drawing) -> Result<Drawn> {
    let types = match (&how.node_type, &asked.types) {
        (Some(ty), Some(_)) => {
            return Err(Error::usage("--type and --types cannot be combined for nodes").hint(format!("--types {ty}")));
        }
        (Some(ty), None) => graph.nodes_of(ty)?,
        (None, types) => graph.node_types(types)?,
    };
    let sampler = NodeSampler::new(graph.graph(), &types, asked.choice, how.generator)?;
    let mut sampler = sampler.threads(how.threads);
    let count = most(asked, sampler.size());
    let _memory = room(graph, count, OF_NODE)?;
    let (mut found, mut kinds) = (vec![0; count], vec![0; count]);
    let filled = sampler.sample(draw(how), 0, &mut found, &mut kinds)?;
    found.truncate(filled);
    kinds.truncate(filled);
    let mut drawn = Drawn::new("nodes", in_words(asked.choice).to_owned());
    drawn.from = Some(sampler.size());
    drawn.keys("node", graph, &found)?;
    drawn.column("type", graph.node_type_names(&kinds));
    Ok(drawn)
}

fn edges(graph: &KeyedGraph, asked: &ElementsOf, how: &Drawing) -> Result<Drawn> {
    if let Some(ty) = &how.node_type {
        return Err(Error::usage("--type selects node types, but edges are drawn").hint(format!("--types {ty}")));
    }
    let sampler = EdgeSampler::new(graph.graph(), &graph.edge_types(&asked.types)?, asked.choice, how.generator)?;
    let mut sampler = sampler.threads(how.threads);
    let count = most(asked, sampler.size());
    let _memory = room(graph, count, OF_EDGE)?;
    let (mut sources, mut targets, mut kinds) = (vec![0; count], vec![0; count], vec![0; count]);
    let filled = sampler.sample(draw(how), 0, &mut sources, &mut targets, &mut kinds)?;
    sources.truncate(filled);
    targets.truncate(filled);
    kinds.truncate(filled);
    let mut drawn = Drawn::new("edges", in_words(asked.choice).to_owned());
    drawn.from = Some(sampler.size());
    drawn.typed_keys("source", graph, &sources)?;
    drawn.typed_keys("target", graph, &targets)?;
    drawn.column("type", graph.edge_type_names(&kinds));
    Ok(drawn)
}

fn neighbors(sampler: &mut Sampler, graph: &KeyedGraph, asked: &NeighborsOf, how: &Drawing) -> Result<Drawn> {
    let nodes = graph.ids(&asked.nodes, how)?;
    if asked.count.is_some() && asked.strategy == Strategy::All {
        let error = Error::usage("--strategy all lists every neighbour, so --count has no meaning");
        return Err(error.hint("--strategy without-replacement    some, without replacement"));
    }
    let (types, count) = (graph.edge_types(&asked.types)?, asked.count.unwrap_or(NEIGHBORS));
    let times = graph.times(asked.time.as_ref(), &types, nodes.len())?;
    let ask = Ask { nodes: &nodes, types: &types, times: times.as_deref() };
    if asked.strategy == Strategy::All {
        return all_neighbors(sampler, graph, &ask, how.generator);
    }
    let _memory = room(graph, nodes.len().saturating_mul(count), OF_NEIGHBOR)?;
    let room = nodes.len().checked_mul(count).ok_or_else(|| Error::usage("too many neighbours are requested"))?;
    let (mut found, mut weights, mut kinds, mut created) =
        (vec![0; room], vec![0.0; room], vec![0; room], vec![0; room]);
    let mut exact = vec![0.0; if has_exact(sampler, how.generator) { room } else { 0 }];
    let mut picks =
        Picks { ids: &mut found, weights: &mut weights, types: &mut kinds, created: &mut created, exact: &mut exact };
    // For PageRank, the weight tells whether a slot is filled; otherwise the edge type does.
    let missing = Missing { ty: NONE, weight: f32::NAN, ..Missing::default() };
    let draw = draw(how);
    let in_words = match asked.strategy {
        Strategy::Weighted => sampler.weighted(&ask, count, draw, &missing, &mut picks).map(|()| "by weight"),
        Strategy::Uniform => sampler.uniform(&ask, count, true, draw, &missing, &mut picks).map(|()| "uniformly"),
        Strategy::WithoutReplacement => {
            sampler.uniform(&ask, count, false, draw, &missing, &mut picks).map(|()| "uniformly without replacement")
        }
        Strategy::Top => sampler.top(&ask, count, &missing, &mut picks).map(|()| "the heaviest"),
        Strategy::Last => sampler.last(&ask, count, &missing, &mut picks).map(|()| "the latest"),
        Strategy::Pagerank | Strategy::All => {
            sampler.pagerank(&ask, count, Push::default(), &missing, &mut picks).map(|()| "by PageRank")
        }
    }?;
    let ranks = asked.strategy == Strategy::Pagerank;
    let there = |at: usize| if ranks { !weights[at].is_nan() } else { kinds[at] != NONE };
    let rows: Vec<usize> = (0..room).filter(|at| there(*at)).collect();
    let mut drawn = Drawn::new("neighbors", format!("up to {count} for each node, {in_words}"));
    let sources: Vec<i64> = rows.iter().map(|at| nodes[at / count]).collect();
    let targets: Vec<i64> = rows.iter().map(|at| found[*at]).collect();
    drawn.typed_keys("node", graph, &sources)?;
    drawn.typed_keys("neighbor", graph, &targets)?;
    if ranks {
        drawn.column("rank", Arc::new(Float32Array::from_iter_values(rows.iter().map(|at| weights[*at]))));
        return Ok(drawn);
    }
    let kinds: Vec<i32> = rows.iter().map(|at| kinds[*at]).collect();
    let single = rows.iter().map(|at| weights[*at]).collect::<Vec<_>>();
    let exact = rows.iter().filter_map(|at| exact.get(*at).copied()).collect::<Vec<_>>();
    drawn.column("weight", weight_column(sampler, how.generator, &single, &exact, &kinds));
    drawn.column("type", graph.edge_type_names(&kinds));
    if sampler.graph().has_times() {
        drawn.column("created_at", graph.created(rows.iter().map(|at| created[*at]))?);
    }
    Ok(drawn)
}

/// Returns whether weights are shown with 64 bits: DeepGNN's engine has 32.
fn has_exact(sampler: &Sampler, generator: Generator) -> bool {
    generator == Generator::Stable && sampler.graph().has_exact_weights()
}

/// Returns weights with as many bits as the columns of the graph, even if fewer would suffice: `exact` if these are 64.
/// Null for weights that are not numbers.
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

fn all_neighbors(sampler: &mut Sampler, graph: &KeyedGraph, ask: &Ask<'_>, generator: Generator) -> Result<Drawn> {
    let mut lists = NeighborLists::default();
    sampler.neighbors(ask, &mut lists)?;
    let sources = ask.nodes.iter().zip(&lists.counts);
    let sources: Vec<i64> = sources.flat_map(|(node, count)| std::iter::repeat_n(*node, index(*count))).collect();
    let mut drawn = Drawn::new("neighbors", format!("all {}", lists.ids.len()));
    drawn.typed_keys("node", graph, &sources)?;
    drawn.typed_keys("neighbor", graph, &lists.ids)?;
    let exact: &[f64] = if has_exact(sampler, generator) { &lists.exact } else { &[] };
    drawn.column("weight", weight_column(sampler, generator, &lists.weights, exact, &lists.types));
    drawn.column("type", graph.edge_type_names(&lists.types));
    if sampler.graph().has_times() {
        drawn.column("created_at", graph.created(lists.created.iter().copied())?);
    }
    Ok(drawn)
}

fn walk(sampler: &mut Sampler, graph: &KeyedGraph, asked: &WalksOf, how: &Drawing) -> Result<Drawn> {
    let nodes = graph.ids(&asked.nodes, how)?;
    let types = graph.edge_types(&asked.types)?;
    let times = graph.times(asked.time.as_ref(), &types, nodes.len())?;
    let ask = Ask { nodes: &nodes, types: &types, times: times.as_deref() };
    let stride = usize::from(asked.length) + 1;
    // Marks the end of a walk. If a node has this id, walks are cut there.
    let end = i64::MIN;
    let _memory = room(graph, nodes.len().saturating_mul(stride), OF_STEP)?;
    let mut out = vec![0; nodes.len() * stride];
    sampler.walk(&ask, usize::from(asked.length), asked.bias, draw(how), end, &mut out)?;
    let steps: Vec<&[i64]> =
        out.chunks_exact(stride).map(|walk| walk[1..].split(|node| *node == end).next().unwrap_or_default()).collect();
    let lengths = OffsetBuffer::from_lengths(steps.iter().map(|walk| walk.len()));
    let all = steps.concat();
    let keys = graph.keys(&all)?;
    let list = |items: ArrayRef| -> ArrayRef {
        let item = Arc::new(Field::new_list_field(items.data_type().clone(), true));
        Arc::new(ListArray::new(item, lengths.clone(), items, None))
    };
    let (walks, types_of_steps) = (list(keys), graph.types_of(&all).map(list));
    let mut drawn = Drawn::new("walks", format!("{} steps each", asked.length));
    drawn.keys("node", graph, &nodes)?;
    drawn.column("walk", walks);
    drawn.set_numbers(graph.numbers(&all));
    if let Some(types) = types_of_steps {
        drawn.column("walk_types", types);
    }
    Ok(drawn)
}
