//! What was met when a graph was read, and keeps its elements from being drawn by weight, ranked, or asked for at a time.
//!
//! It is no error there: who asks for features or draws evenly needs neither weights nor times.

use std::collections::BTreeMap;

use isomorph_error::Error;

use crate::ask::{Generator, TypeSet};

/// What is wrong, and so what cannot be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wrong {
    /// A weight is no number: nothing can be drawn or ranked by it, and there is none to be shown.
    NoNumber,
    /// A weight is negative or not finite: nothing can be drawn by it.
    NoShare,
    /// A weight is beyond 32 bits, which the published engine draws by.
    Beyond,
    /// A time is none, or has no place on the clock of the others.
    NoTime,
    /// No edge of the type has a time.
    Timeless,
}

/// The first of each kind that was met in a type, as words.
pub(crate) type Met = BTreeMap<(i32, Wrong), String>;

/// One of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fault<'a> {
    wrong: Wrong,
    message: &'a str,
}

/// All of a graph.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    pub nodes: Met,
    pub edges: Met,
}

/// Notes a fault, unless the type has one like it already.
pub(crate) fn note(faults: &mut Met, ty: i32, wrong: Wrong, message: impl FnOnce() -> String) {
    faults.entry((ty, wrong)).or_insert_with(message);
}

/// The first of these faults that a type of the set has.
fn first<'a>(faults: &'a Met, types: &TypeSet, which: impl Fn(Wrong) -> bool) -> Option<Fault<'a>> {
    let (at, message) = faults.iter().find(|((ty, wrong), _)| types.has(*ty) && which(*wrong))?;
    Some(Fault { wrong: at.1, message })
}

/// What to do where weights do not serve.
pub(crate) const UNIFORM: &str = "--strategy uniform    takes no weights";

/// What to do where nothing but weights serves, as for a walk.
pub(crate) const MEND: &str = "write the graph with other weights    finite numbers, not below 0";

impl Faults {
    /// What keeps elements with these faults, those of nodes or of edges, from being drawn by weight.
    pub fn weighs<'a>(of: &'a Met, types: &TypeSet, generator: Generator) -> Option<Fault<'a>> {
        first(of, types, |wrong| match wrong {
            Wrong::NoNumber | Wrong::NoShare => true,
            Wrong::Beyond => generator == Generator::Compat,
            Wrong::NoTime | Wrong::Timeless => false,
        })
    }

    /// What keeps a generator from having the weights of edges of these types.
    pub fn shows(&self, types: &TypeSet, generator: Generator) -> Option<Fault<'_>> {
        first(&self.edges, types, |wrong| wrong == Wrong::Beyond && generator == Generator::Compat)
    }

    /// What keeps edges of these types from being put in the order of their weights.
    pub fn ranks(&self, types: &TypeSet) -> Option<Fault<'_>> {
        first(&self.edges, types, |wrong| wrong == Wrong::NoNumber)
    }

    /// What keeps times of edges of these types from being compared.
    pub fn times(&self, types: &TypeSet) -> Option<Fault<'_>> {
        first(&self.edges, types, |wrong| wrong == Wrong::NoTime)
    }

    /// Whether edges of a type have weights that can be shown.
    pub fn has_weights(&self, ty: i32) -> bool {
        !self.edges.contains_key(&(ty, Wrong::NoNumber))
    }

    /// Whether edges of a type have times.
    pub fn has_times(&self, ty: i32) -> bool {
        ![Wrong::NoTime, Wrong::Timeless].iter().any(|wrong| self.edges.contains_key(&(ty, *wrong)))
    }
}

impl Fault<'_> {
    /// It as an error where times are asked for.
    pub fn of_times(self) -> Error {
        Error::usage(self.message)
    }

    /// It as an error where weights are asked for. `several` is whether there are other types.
    pub fn of_weights(self, several: bool) -> Error {
        let error = Error::malformed(self.message);
        match self.wrong {
            Wrong::Beyond => error.hint("--generator stable    draws by weights of 64 bits"),
            _ if several => error.hint(UNIFORM).hint("--types    names types whose weights are sound").hint(MEND),
            _ => error.hint(UNIFORM).hint(MEND),
        }
    }
}
