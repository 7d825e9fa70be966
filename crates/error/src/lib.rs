//! Errors, findings and rules, as every isomorph crate reports them.
//!
//! An [`Error`] stops the work; a [`Finding`] is one line of a validation report. Both have a [`Place`] (file, row,
//! line, byte offset: data, not only text) and, if a rule of a format is broken, the [`Rule`] with its stable id.
//! This crate does no I/O and depends on no other crate of the workspace.

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
