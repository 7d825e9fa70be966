//! Questions: against a naive oracle, over all formats, and what is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod answers;
mod decimals;
mod formats;
mod named;
mod random;
mod refused;
mod statistics;
mod support;
