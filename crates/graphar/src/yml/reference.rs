//! What the published C++ library's YAML parser would not read, or would read otherwise.

use isomorph_error::{Findings, Place};
use serde_saphyr::granit_parser::StructureStyle;

use crate::rules;

/// Adds one finding.
pub(super) fn found(findings: &mut Findings, file: &str, line: u64, what: &str) {
    let message = format!("{what} cannot be read by the published C++ library");
    findings.push(&rules::META_REFERENCE, message, Place::file(file).line(line));
}

/// Finds the first line with a character that it refuses: all but tabs and the codes 32 to 125.
pub(super) fn check_characters(file: &str, text: &str, findings: &mut Findings) {
    let refused = |c: char| !matches!(c, '\t' | '\r' | ' '..='}');
    for (number, line) in text.lines().enumerate() {
        // Comments are cut off before the characters are looked at.
        let line = line.split('#').next().unwrap_or_default();
        if line.contains(refused) {
            found(findings, file, number as u64 + 1, "a character outside printable ASCII");
            return;
        }
    }
}

/// A flow list, or a list that is not deeper than the key it belongs to.
pub(super) fn check_list(
    findings: &mut Findings,
    file: &str,
    line: u64,
    style: StructureStyle,
    indent: usize,
    key: Option<usize>,
) {
    if style == StructureStyle::Flow {
        found(findings, file, line, "a list in brackets");
    } else if key.is_some_and(|key| indent <= key) {
        found(findings, file, line, "a list that is not deeper than its key");
    }
}

/// A flow mapping.
pub(super) fn check_map(findings: &mut Findings, file: &str, line: u64, style: StructureStyle) {
    if style == StructureStyle::Flow {
        found(findings, file, line, "a mapping in braces");
    }
}
