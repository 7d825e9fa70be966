//! The rules of GraphAr, each with a stable id.
//!
//! Rules named `META` concern the information files, the others everything else. An error means that the data is not what
//! it claims to be; a warning, that it is readable here, but violates the specification or cannot be read by a published
//! reader; a note, that nothing is wrong.

mod data;
mod metadata;

use isomorph_error::{Rule, Severity};

pub use data::*;
pub use metadata::*;

const fn rule(severity: Severity, id: &'static str, says: &'static str, remedy: &'static str) -> Rule {
    Rule { id, severity, says, remedy }
}

const fn error(id: &'static str, says: &'static str, remedy: &'static str) -> Rule {
    rule(Severity::Error, id, says, remedy)
}

const fn warning(id: &'static str, says: &'static str, remedy: &'static str) -> Rule {
    rule(Severity::Warning, id, says, remedy)
}

const fn note(id: &'static str, says: &'static str, remedy: &'static str) -> Rule {
    rule(Severity::Note, id, says, remedy)
}

/// Every rule, in the order of the documentation.
pub static RULES: &[&Rule] = &[
    &META_YAML,
    &META_ANCHOR,
    &META_KEY_TWICE,
    &META_EXTRA_TWICE,
    &META_KEY_MISSING,
    &META_KEY_UNKNOWN,
    &META_KEY_MISTYPED,
    &META_VALUE,
    &META_BOOL,
    &META_ALIGNED,
    &META_FILE_TYPE,
    &META_CARDINALITY,
    &META_TYPE,
    &META_LEGACY_KEYS,
    &META_NESTED_GROUPS,
    &META_DIRECTED,
    &META_VERSION,
    &META_REFERENCE,
    &META_TEXT,
    &META_NAME,
    &META_DUPLICATE,
    &META_PROPERTY_TWICE,
    &META_RESERVED,
    &META_GROUP_EMPTY,
    &META_LIST_TWICE,
    &META_LIST_NONE,
    &META_ENDS,
    &META_CHUNK_SIZE,
    &META_CHUNK_LARGE,
    &META_PREFIX_SLASH,
    &META_PREFIX_ELSEWHERE,
    &META_PREFIX_SHARED,
    &META_FILE_NAME,
    &META_LIST_IN_CSV,
    &META_JSON,
    &META_KEY_ROW,
    &FILE_MISSING,
    &FILE_EXTRA,
    &FILE_UNREADABLE,
    &COUNT_SIZE,
    &COUNT_RANGE,
    &COUNT_ALIGNED,
    &COUNT_ROWS,
    &INDEX_ABSENT,
    &INDEX_GAP,
    &COLUMN_MISSING,
    &COLUMN_EXTRA,
    &COLUMN_TYPE,
    &VALUE_INEXACT,
    &NULL,
    &CSV_BLANK,
    &KEY_NULL,
    &KEY_TWICE,
    &LABEL_MISSING,
    &LABEL_ORDER,
    &LABEL_NULL,
    &EDGE_NULL,
    &EDGE_DANGLING,
    &EDGE_PART,
    &EDGE_ORDER,
    &OFFSET_FIRST,
    &OFFSET_FALLS,
    &OFFSET_END,
    &OFFSET_ROWS,
    &OFFSET_DEGREE,
    &OFFSET_INT32,
    &LISTS_DIFFER,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_say_something() {
        let mut ids: Vec<_> = RULES.iter().map(|rule| rule.id).collect();
        ids.sort_unstable();
        let count = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), count);
        for rule in RULES {
            assert!(rule.id.starts_with("GAR-"), "{}", rule.id);
            assert!(!rule.says.is_empty() && !rule.says.ends_with('.'), "{}", rule.id);
        }
    }
}
