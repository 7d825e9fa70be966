//! What a text of Turtle or TriG has set that later statements depend on: its prefixes and its base.

use isomorph_model::ntriples::push_term;

/// The context in which the statements of a text are read.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) prefixes: Vec<(String, String)>,
    pub(super) base: Option<String>,
    /// The prefixes as directives.
    pub(super) text: Vec<u8>,
}

/// What a piece may set that others depend on: if it is malformed, this is unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Says {
    /// Prefixes that it has directives for.
    pub(super) names: Vec<String>,
    /// Whether it has a directive for the base.
    pub(super) base: bool,
    /// Whether it may set any prefix or the base.
    pub(super) all: bool,
}

impl Known {
    /// Sets what is known from now on.
    pub(super) fn learn(&mut self, mut prefixes: Vec<(String, String)>, base: Option<String>) {
        prefixes.sort();
        self.base = base;
        if self.prefixes != prefixes {
            self.prefixes = prefixes;
            self.write();
        }
    }

    /// Removes what is unknown after a malformed piece.
    pub(super) fn forget(&mut self, says: &Says) {
        if says.base || says.all {
            self.base = None;
        }
        let before = self.prefixes.len();
        self.prefixes.retain(|(name, _)| !says.all && !says.names.contains(name));
        if self.prefixes.len() < before {
            self.write();
        }
    }

    fn write(&mut self) {
        let mut text = String::new();
        for (name, iri) in &self.prefixes {
            text.push_str("@prefix ");
            text.push_str(name);
            text.push_str(": ");
            push_term(&mut text, iri);
            text.push_str(" .\n");
        }
        self.text = text.into_bytes();
    }
}
