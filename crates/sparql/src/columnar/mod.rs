#![doc = include_str!("README.md")]

mod aggregates;
mod compare;
mod compile;
mod execute;
mod hashed;
mod matching;
mod native;
mod numbers;
mod order;
mod paths;
mod plan;
mod probe;
mod run;
mod scalars;
mod table;

pub(crate) use run::{Columnar, refusal};
