//! Algorithms over a whole graph: times, and memory as far as it is announced to the budget.

use std::sync::Arc;
use std::time::Instant;

use isomorph_algorithms::{
    Job, NodeValues, Order, PageRank, clustering, communities, components, page_rank, statistics,
};
use isomorph_convert::{OpenOptions, Opened, Silent};
use isomorph_error::{Error, Result};
use isomorph_model::Source;
use isomorph_storage::{Budget, Location, Resources, Scratch};
use serde_json::{Value, json};

/// Runs one algorithm over a graph once, within `memory` bytes: `pagerank`, `components`, `clustering`, `communities` or `statistics`.
pub(crate) fn run(path: &str, algorithm: &str, memory: u64, threads: usize) -> Result<Value> {
    let resources = Resources { threads, budget: Budget::new(memory), scratch: Scratch::new(None)? };
    let start = Instant::now();
    let opened = Opened::open(&Location::parse(path)?, &OpenOptions::default())?;
    let source: Arc<dyn Source> = opened.with_resources_as_nodes(&resources)?;
    let job = Job { resources: &resources, relations: None, progress: &Silent };
    let answer = match algorithm {
        "pagerank" => {
            sum(&page_rank(&source, &PageRank { iterations: 20, tolerance: 0.0, ..PageRank::default() }, &job)?)
        }
        "components" => json!(components(&source, &job)?.count()),
        "clustering" => sum(&clustering(&source, &job)?),
        "communities" => sum(&communities(&source, 10, &job)?),
        "statistics" => {
            let found = statistics(&source, &job)?;
            json!({ "nodes": found.nodes, "edges": found.edges, "loops": found.loops, "parallel": found.parallel })
        }
        _ => return Err(Error::usage(format!("{algorithm} is not an algorithm"))),
    };
    let seconds = start.elapsed().as_secs_f64();
    let (budget, files) = (resources.budget.peak(), resources.scratch.peak());
    Ok(json!({ "algorithm": algorithm, "seconds": seconds, "budget": budget, "temporary": files, "answer": answer }))
}

/// The sum of all values, and the first rows.
fn sum(of: &NodeValues) -> Value {
    let nodes = u32::try_from(of.nodes().count()).unwrap_or(u32::MAX);
    let sum: f64 = (0..nodes).filter_map(|node| of.value(node)).sum();
    let rows = of
        .rows(Order::Greatest, Some(3))
        .map(|rows| rows.filter_map(Result::ok).map(|batch| batch.num_rows()).sum::<usize>());
    json!({ "sum": sum, "nodes": nodes, "rows": rows.unwrap_or_default() })
}
