//! Rules with stable ids, so that a report can be searched, filtered and explained.

use serde::Serialize;

/// How bad a broken rule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Note,
    /// Readable, but against the specification or unreadable for some published reader.
    Warning,
    /// The data is not what it claims to be.
    Error,
}

/// One rule of a format, as `isomorph explain ID` prints it.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Stable id, `FORMAT-SUBJECT-WHAT` in capitals.
    pub id: &'static str,
    /// Severity of a breach.
    pub severity: Severity,
    /// The rule itself, one sentence.
    pub says: &'static str,
    /// What to try when it is broken; empty if there is nothing general to say.
    pub remedy: &'static str,
}
