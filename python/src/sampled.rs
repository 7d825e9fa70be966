//! Draws from a graph.

use isomorph::formats::deepgnn;
use isomorph::sampling::answers::{Drawing, ElementsOf, NeighborsOf, Question, Strategy, WalksOf};
use isomorph::sampling::{Bias, Choice, Generator, GraphOptions};
use isomorph::{Error, Result, Sampled, SampledOptions, did_you_mean};
use pyo3::prelude::*;

use crate::graph::Shared;
use crate::memory::InMemory;

/// What to draw. Python passes all members.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Draw {
    what: String,
    nodes: Vec<String>,
    count: Option<usize>,
    strategy: String,
    types: Option<Vec<String>>,
    node_type: Option<String>,
    time: Option<String>,
    length: u16,
    back: f64,
    away: f64,
    seed: i64,
}

impl Draw {
    fn question(&self) -> Result<Question> {
        let time = self.time.as_deref().map(str::parse).transpose()?;
        let (nodes, types) = (self.nodes.clone(), self.types.clone());
        let unknown =
            |expected: &str| Error::usage(format!("strategy must be one of {expected}; found {:?}", self.strategy));
        if self.count == Some(0) {
            return Err(Error::usage("count must be at least 1"));
        }
        Ok(match self.what.as_str() {
            "neighbors" => {
                let strategy = match self.strategy.as_str() {
                    "weighted" => Strategy::Weighted,
                    "uniform" => Strategy::Uniform,
                    "without-replacement" => Strategy::WithoutReplacement,
                    "top" => Strategy::Top,
                    "last" => Strategy::Last,
                    "pagerank" => Strategy::Pagerank,
                    "all" => Strategy::All,
                    _ => return Err(unknown("weighted, uniform, without-replacement, top, last, pagerank, all")),
                };
                Question::Neighbors(NeighborsOf { nodes, count: self.count, strategy, types, time })
            }
            "walks" => {
                let bias = Bias { back: self.back, away: self.away };
                Question::Walks(WalksOf { nodes, length: self.length, bias, types, time })
            }
            what => {
                let choice = match self.strategy.as_str() {
                    "weighted" => Choice::Weighted,
                    "uniform" => Choice::Uniform,
                    "without-replacement" => Choice::WithoutReplacement,
                    _ => return Err(unknown("weighted, uniform, without-replacement")),
                };
                let asked = ElementsOf { count: self.count.unwrap_or(10), choice, types };
                if what == "edges" { Question::Edges(asked) } else { Question::Nodes(asked) }
            }
        })
    }
}

/// Draws; equal seeds give equal results, whatever the number of threads.
pub(crate) fn draw(shared: &Shared, draw: &Draw) -> Result<InMemory> {
    let (question, resources) = (draw.question()?, shared.resources());
    let (seed, threads, node_type) = (draw.seed, resources.threads, draw.node_type.clone());
    let how = Drawing { seed, generator: Generator::Stable, threads, node_type };
    let graph = shared.graph()?;
    let model = graph.opened().graph.graph();
    if let Some(ty) = how.node_type.as_deref().filter(|ty| model.node_type(ty).is_none()) {
        let names: Vec<&str> = model.nodes.iter().map(|ty| ty.name.as_str()).collect();
        let near = did_you_mean(ty, names.iter().copied());
        return Err(Error::usage(format!("there is no node type {ty:?}{near}")).hint(names.join(", ")));
    }
    let sampled = shared.sampled(|opened| {
        let mut opened = opened.clone();
        opened.options.get_mut::<deepgnn::OpenOptions>().no_recovery = true;
        let kept = GraphOptions::new(&resources.budget, &resources.scratch);
        Sampled::of(opened, &question, &how, &SampledOptions::default(), &kept, resources)
    })?;
    let drawn = sampled.graph.draw(&question, &how)?.to_record_batch()?;
    Ok(InMemory::new(drawn.schema(), vec![drawn]))
}
