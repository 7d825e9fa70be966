//! Graphs to serve.

use std::sync::Arc;

use isomorph_sampling::{Generator, Graph, GraphOptions};
use isomorph_server::{Engine, Limits};
use isomorph_storage::{Budget, Location, Scratch};

/// A budget for tests.
pub fn budget() -> Budget {
    Budget::new(1 << 30)
}

/// A binary of the fixtures, or some of its partitions.
pub fn opened(name: &str, partitions: Option<Vec<u32>>) -> Arc<Graph> {
    let location = Location::from_path(&isomorph_fixtures::fixture(format!("deepgnn/{name}")));
    let options = GraphOptions::new(&budget(), &Scratch::new(None).unwrap());
    Arc::new(Graph::open(&location, &GraphOptions { partitions, ..options }).unwrap())
}

/// An engine that draws as the published server.
pub fn engine(name: &str, partitions: Option<Vec<u32>>) -> Engine {
    limited(name, partitions, &Limits::default(), &budget())
}

/// An engine with other limits.
pub fn limited(name: &str, partitions: Option<Vec<u32>>, limits: &Limits, budget: &Budget) -> Engine {
    Engine::new(&opened(name, partitions), None, Generator::Compat, limits, budget)
}
