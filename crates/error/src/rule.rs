//! Rules with stable ids, so that reports can be searched, filtered and explained.

use serde::Serialize;

/// How serious a broken rule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// For information; nothing is wrong.
    Note,
    /// Readable, but it violates the specification, or a published reader cannot read it.
    Warning,
    /// The data is invalid.
    Error,
}

/// One rule of a format, as `isomorph explain ID` prints it.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Stable id, `FORMAT-SUBJECT-WHAT` in capitals.
    pub id: &'static str,
    /// Severity when it is broken.
    pub severity: Severity,
    /// The rule itself, one sentence.
    pub says: &'static str,
    /// What to do when it is broken: a command or a flag, then several spaces and what it does; or a sentence that
    /// begins with a verb.
    pub remedy: &'static str,
}

/// Declares rules, each as a static [`Rule`], and `RULES`, which lists them in the order of declaration.
///
/// Each rule consists of a doc comment, a name, an id, a severity, the rule itself, and a remedy:
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

        /// All rules of this module.
        pub static RULES: &[&$crate::Rule] = &[$(&$name),*];
    };
}
