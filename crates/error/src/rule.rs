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
    /// What to do when it is broken: a command or a flag, by several spaces apart from what it does, or a sentence that
    /// begins with a verb.
    pub remedy: &'static str,
}

/// Declares rules, each a [`Rule`] of its own, and `RULES`, all of them in the order in which they stand.
///
/// A rule is its documentation, its name, its id, its severity, what it says and its remedy, an action:
///
/// ```
/// isomorph_error::rules! {
///     /// A file is missing.
///     FILE "TOY-FILE" Error
///         "every file that is named is there", "copy the graph again, whole";
/// }
/// assert_eq!(RULES, [&FILE]);
/// ```
#[macro_export]
macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident $id:literal $severity:ident $says:literal, $remedy:expr;)*) => {
        $($(#[$doc])*
        pub static $name: $crate::Rule =
            $crate::Rule { id: $id, severity: $crate::Severity::$severity, says: $says, remedy: $remedy };)*

        /// All of these rules.
        pub static RULES: &[&$crate::Rule] = &[$(&$name),*];
    };
}
