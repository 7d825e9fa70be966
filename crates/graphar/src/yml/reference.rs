//! Finds YAML that the published C++ library's parser cannot read, or reads differently.

use isomorph_error::{Findings, Place};
use serde_saphyr::granit_parser::StructureStyle;

use crate::rules;

/// Adds one finding.
pub(super) fn found(findings: &mut Findings, file: &str, line: u64, what: &str) {
    let message = format!("{what} cannot be read by the published C++ library");
    findings.push(&rules::META_REFERENCE, message, Place::file(file).line(line));
}

/// Finds the first line with a character that the library rejects: all but tabs and the codes 32 to 125.
pub(super) fn check_characters(file: &str, text: &str, findings: &mut Findings) {
    let refused = |c: char| !matches!(c, '\t' | '\r' | ' '..='}');
    for (number, line) in text.lines().enumerate() {
        // The library removes comments before it checks characters.
        let line = line.split('#').next().unwrap_or_default();
        if line.contains(refused) {
            found(findings, file, number as u64 + 1, "a character outside printable ASCII");
            return;
        }
    }
}

/// Finds a flow list, or a list that is not indented deeper than its key.
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
        found(findings, file, line, "a list that is not indented deeper than its key");
    }
}

/// Finds a flow mapping.
pub(super) fn check_map(findings: &mut Findings, file: &str, line: u64, style: StructureStyle) {
    if style == StructureStyle::Flow {
        found(findings, file, line, "a mapping in braces");
    }
}
