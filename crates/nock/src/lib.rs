//! NOCK
mod columns;
mod dataset;
mod layout;
mod lookup;
mod options;
mod read;
mod rows;
mod settle;
mod validate;
pub mod rules;
pub use columns::Column;
pub use dataset::{Format, detect};
pub use layout::Dialect;
pub use options::{OpenOptions, Tolerance};
pub use read::Nock;
pub use settle::Settled;
