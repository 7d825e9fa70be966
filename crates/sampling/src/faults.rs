//! Problems found while a graph was read that prevent its elements from being drawn by weight, ranked, or requested at a time.
//!
//! They are not errors of reading: features and uniform draws need neither weights nor times.

use std::collections::BTreeMap;

use isomorph_error::Error;
use serde::{Deserialize, Serialize};

use crate::request::{Generator, TypeSet};

/// The kind of problem, which determines what cannot be requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Wrong {
    /// A weight is not a number: nothing can be drawn or ranked by it, and it cannot be shown.
    NoNumber,
    /// A weight is negative or not finite: nothing can be drawn by it.
    NoShare,
    /// A weight does not fit into 32 bits, which the published engine uses.
    Beyond,
    /// A time is invalid, or cannot be converted to the clock of the others.
    NoTime,
    /// No edge of the type has a time.
    Timeless,
}

/// The first problem of each kind in each type, as text.
pub(crate) type Met = BTreeMap<(i32, Wrong), String>;

/// A single problem.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fault<'a> {
    wrong: Wrong,
    message: &'a str,
}

/// All problems of a graph.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    pub nodes: Met,
    pub edges: Met,
}

/// Records a problem, unless the type already has one of this kind.
pub(crate) fn note(faults: &mut Met, ty: i32, wrong: Wrong, message: impl FnOnce() -> String) {
    faults.entry((ty, wrong)).or_insert_with(message);
}

/// Returns the first problem of these kinds among the types of the set.
fn first<'a>(faults: &'a Met, types: &TypeSet, which: impl Fn(Wrong) -> bool) -> Option<Fault<'a>> {
    let (at, message) = faults.iter().find(|((ty, wrong), _)| types.has(*ty) && which(*wrong))?;
    Some(Fault { wrong: at.1, message })
}

/// Hint if weights cannot be used.
pub(crate) const UNIFORM: &str = "--strategy uniform    draw without weights";

/// Hint if weights are required, as for a walk.
pub(crate) const MEND: &str = "write the graph with other weights    finite numbers, not below 0";

impl Faults {
    /// Returns the problem that prevents nodes or edges from being drawn by weight.
    pub fn weighs<'a>(of: &'a Met, types: &TypeSet, generator: Generator) -> Option<Fault<'a>> {
        first(of, types, |wrong| match wrong {
            Wrong::NoNumber | Wrong::NoShare => true,
            Wrong::Beyond => generator == Generator::Compat,
            Wrong::NoTime | Wrong::Timeless => false,
        })
    }

    /// Returns the problem that prevents a generator from returning the weights of edges of these types.
    pub fn shows(&self, types: &TypeSet, generator: Generator) -> Option<Fault<'_>> {
        first(&self.edges, types, |wrong| wrong == Wrong::Beyond && generator == Generator::Compat)
    }

    /// Returns the problem that prevents edges of these types from being ranked by weight.
    pub fn ranks(&self, types: &TypeSet) -> Option<Fault<'_>> {
        first(&self.edges, types, |wrong| wrong == Wrong::NoNumber)
    }

    /// Returns the problem that prevents times of edges of these types from being compared.
    pub fn times(&self, types: &TypeSet) -> Option<Fault<'_>> {
        first(&self.edges, types, |wrong| wrong == Wrong::NoTime)
    }

    /// Returns whether edges of a type have weights that can be shown.
    pub fn has_weights(&self, ty: i32) -> bool {
        !self.edges.contains_key(&(ty, Wrong::NoNumber))
    }

    /// Returns whether edges of a type have times.
    pub fn has_times(&self, ty: i32) -> bool {
        ![Wrong::NoTime, Wrong::Timeless].iter().any(|wrong| self.edges.contains_key(&(ty, *wrong)))
    }
}

impl Fault<'_> {
    /// Converts it to an error of a request with times.
    pub fn of_times(self) -> Error {
        Error::usage(self.message)
    }

    /// Converts it to an error of a request with weights. `several` means that there are other types.
    pub fn of_weights(self, several: bool) -> Error {
        let error = Error::malformed(self.message);
        match self.wrong {
            Wrong::Beyond => error.hint("--generator stable    draw by 64-bit weights"),
            _ if several => error.hint(UNIFORM).hint("--types    select types whose weights are valid").hint(MEND),
            _ => error.hint(UNIFORM).hint(MEND),
        }
    }
}
