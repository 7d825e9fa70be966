#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

#[cfg(feature = "ballista")]
mod ballista;

#[cfg(feature = "ballista")]
pub use ballista::{
    Cluster, CypherQuestion, Executor, ExecutorOptions, Messages, Place, Reach, Scheduler, SparqlQuestion,
    StatisticsQuestion, listening,
};
