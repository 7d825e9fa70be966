#![cfg_attr(feature = "grpc", doc = include_str!("../README.md"))]
#![cfg_attr(not(feature = "grpc"), doc = "Empty without the feature `grpc`.")]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

#[cfg(feature = "grpc")]
mod codec;
#[cfg(feature = "grpc")]
mod connections;
#[cfg(feature = "grpc")]
mod engine;
#[cfg(feature = "grpc")]
mod limits;
#[cfg(feature = "grpc")]
mod metered;
#[cfg(feature = "grpc")]
mod routes;
#[cfg(feature = "grpc")]
mod server;
#[cfg(feature = "grpc")]
mod status;
#[cfg(feature = "grpc")]
pub mod wire;

#[cfg(feature = "grpc")]
pub use engine::{Answer, Engine};
#[cfg(feature = "grpc")]
pub use limits::Limits;
#[cfg(feature = "grpc")]
pub use server::Server;
