#![cfg_attr(feature = "grpc", doc = include_str!("../README.md"))]
#![cfg_attr(not(feature = "grpc"), doc = "Empty without the feature `grpc`.")]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

#[cfg(feature = "grpc")]
mod access;
#[cfg(feature = "grpc")]
mod codec;
#[cfg(feature = "grpc")]
mod connections;
#[cfg(feature = "grpc")]
mod deadline;
#[cfg(feature = "grpc")]
mod engine;
#[cfg(feature = "grpc")]
mod greeting;
#[cfg(feature = "grpc")]
mod limits;
#[cfg(feature = "grpc")]
pub mod load;
#[cfg(feature = "grpc")]
mod log;
#[cfg(feature = "grpc")]
mod metered;
#[cfg(feature = "grpc")]
mod metrics;
#[cfg(feature = "grpc")]
mod monitor;
#[cfg(feature = "grpc")]
mod packed;
#[cfg(feature = "grpc")]
mod peer;
#[cfg(feature = "grpc")]
mod reflection;
#[cfg(feature = "grpc")]
mod routes;
#[cfg(feature = "grpc")]
mod server;
#[cfg(feature = "grpc")]
mod status;
#[cfg(feature = "grpc")]
mod tls;
#[cfg(feature = "grpc")]
pub mod wire;

#[cfg(feature = "grpc")]
pub use access::{Access, Gate, TlsFiles};
#[cfg(feature = "grpc")]
pub use engine::{Answer, Engine};
#[cfg(feature = "grpc")]
pub use limits::Limits;
#[cfg(feature = "grpc")]
pub use log::{Event, Level, Log};
#[cfg(feature = "grpc")]
pub use metrics::{Metrics, Phase};
#[cfg(feature = "grpc")]
pub use monitor::Monitor;
#[cfg(feature = "grpc")]
pub use server::{Options, Server};
