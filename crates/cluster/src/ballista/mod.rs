//! The client, the scheduler and the executors, which Ballista connects.

mod address;
mod allow;
mod client;
mod codec;
mod engine;
mod executor;
mod job;
mod opener;
mod place;
mod pool;
mod question;
mod question_exec;
mod runtime;
mod scheduler;
mod wire;

pub use address::{Reach, listening};
pub use client::Cluster;
pub use executor::{Executor, ExecutorOptions};
pub use job::Messages;
pub use place::Place;
pub use question::{CypherQuestion, SparqlQuestion, StatisticsQuestion};
pub use scheduler::Scheduler;
