//! `sparql`: queries over graphs of any format.

mod answer;
mod asked;
mod update;

pub use answer::{answer, run};
pub use asked::Loaded;
pub use update::run as update;
