//! Atoms that stand several times: PSL has one truth for each, and each is observed or a target.

use std::collections::HashMap;

use isomorph_error::{Findings, Place};

use crate::data::Role;
use crate::rules;

/// Memory of an atom that is remembered, bytes: its entry in a map at most twice as large as needed.
pub(crate) const COST: u64 = 96;

/// The atoms of one predicate that have been seen, by the constants that they are about.
#[derive(Default)]
pub(crate) struct Seen(HashMap<[u64; 2], Known>);

/// What is known of an atom.
#[derive(Clone, Copy)]
struct Known {
    role: Role,
    truth: Option<f64>,
    /// Whether it is a finding already.
    is_told: bool,
}

impl Seen {
    /// Adds an atom; one that is there already is a finding.
    pub fn see(
        &mut self,
        atom: [u64; 2],
        (role, truth): (Role, Option<f64>),
        shown: impl FnOnce() -> (String, Place),
        findings: &mut Findings,
    ) {
        // What is true of a target is known beside it.
        if role == Role::Truth {
            return;
        }
        let Some(known) = self.0.get_mut(&atom) else {
            self.0.insert(atom, Known { role, truth, is_told: false });
            return;
        };
        if std::mem::replace(&mut known.is_told, true) {
            return;
        }
        let (name, place) = shown();
        let what = match (known.role == role, known.truth == truth) {
            (true, true) => format!("{name} comes twice"),
            (true, false) => format!("{name} comes twice, with different truths"),
            (false, _) => format!("{name} is both observed and a target"),
        };
        findings.push(&rules::REPEATED, what, place);
    }

    /// The number of atoms.
    pub fn len(&self) -> u64 {
        self.0.len() as u64
    }
}
