#![doc = include_str!("../README.md")]
#![deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]

mod client;
mod connect;
mod failure;
mod runtime;
mod upload;

pub use client::client;
pub use connect::install;
