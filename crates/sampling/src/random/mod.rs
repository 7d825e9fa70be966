//! The two random generators.

mod binomial;
mod philox;
mod xoroshiro;

pub(crate) use philox::{Key, Stream};
pub(crate) use xoroshiro::Xoroshiro;
