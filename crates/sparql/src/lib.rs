#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod answer;
mod builder;
mod columnar;
mod columns;
mod dataset;
mod dictionary;
mod exact;
mod explained;
mod index;
mod load;
mod look_ups;
mod operators;
mod params;
mod patterns;
mod question;
mod run;
mod shares;
mod stack;
mod sums;
mod temporal;
mod term;
mod update;
mod visit;

pub use answer::{Answer, Solutions, Triples, push_term, with_quad, write_boolean, write_solutions};
pub use builder::Builder;
pub use columns::{TERM, solutions_as_columns, triples_as_columns};
pub use index::TripleIndex;
pub use load::{load, load_text, load_triples};
pub use oxrdf;
pub use patterns::Wanted;
pub use question::{Question, QuestionOptions};
pub use shares::{Messages, Take};
pub use sparesults::QueryResultsFormat as ResultsFormat;
pub use spareval::QuerySolution as Solution;
pub use update::{GraphChange, Update, Updated, update_lake};
