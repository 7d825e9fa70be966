#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

#[cfg(feature = "ballista")]
mod address;
#[cfg(feature = "ballista")]
mod allow;
#[cfg(feature = "ballista")]
mod client;
#[cfg(feature = "ballista")]
mod codec;
#[cfg(feature = "ballista")]
mod engine;
#[cfg(feature = "ballista")]
mod executor;
#[cfg(feature = "ballista")]
mod job;
#[cfg(feature = "ballista")]
mod opener;
#[cfg(feature = "ballista")]
mod place;
#[cfg(feature = "ballista")]
mod pool;
#[cfg(feature = "ballista")]
mod runtime;
#[cfg(feature = "ballista")]
mod scheduler;
#[cfg(feature = "ballista")]
mod wire;

#[cfg(feature = "ballista")]
pub use address::{Reach, listening};
#[cfg(feature = "ballista")]
pub use client::Cluster;
#[cfg(feature = "ballista")]
pub use executor::{Executor, ExecutorOptions};
#[cfg(feature = "ballista")]
pub use place::Place;
#[cfg(feature = "ballista")]
pub use scheduler::Scheduler;
