//! Errors, findings and rules: the one vocabulary in which every isomorph crate says that something is wrong.
//!
//! An [`Error`] stops the work; a [`Finding`] is one line of a validation report. Both name a [`Place`] (file, row,
//! line, byte offset — data, never only text) and, where a format's rule is broken, the [`Rule`] with its stable id.
//! This crate does no I/O and depends on nothing of ours.

#![deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]

mod document;
mod error;
mod finding;
mod number;
mod place;
mod rule;
mod suggest;

pub use document::RuleFindings;
pub use error::{Error, Kind, Result};
pub use finding::{Finding, Findings};
pub use number::index;
pub use place::Place;
pub use rule::{Rule, Severity};
pub use suggest::{did_you_mean, nearest};
