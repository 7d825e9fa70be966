//! Rules for single cells.

use isomorph_error::Rule;
use isomorph_model::json::{Members, check_strings};

use crate::Tolerance;
use crate::rows::{check_cell, end_of_string, split_labels};
use crate::rules;

/// Returns the rule that a text of properties violates.
pub(super) fn props(text: &str, members: &mut Members) -> Option<(&'static Rule, String)> {
    let text = match check_cell(text, Tolerance::Normal) {
        Ok(text) => text,
        Err(error) => return Some((error.broken_rule().unwrap_or(&rules::PROPS_JSON), error.message().to_owned())),
    };
    let mut different = 0;
    let read = members.read(&text, |_, _| {
        different += 1;
        Ok(())
    });
    match read {
        Err(error) => Some((&rules::PROPS_JSON, error.message().to_owned())),
        Ok(()) if different < stated(&text) => {
            Some((&rules::PROPS_REPEATED, "a key is stated more than once".to_owned()))
        }
        // Reading skips the content of members, but it could not be displayed.
        Ok(()) => check_strings(&text).err().map(|error| (&rules::PROPS_JSON, error.message().to_owned())),
    }
}

/// Returns the number of members of a valid object, including repeated ones.
fn stated(object: &str) -> usize {
    let bytes = object.as_bytes();
    let (mut at, mut depth, mut members) = (0, 0u32, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = end_of_string(bytes, at);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b':' if depth == 1 => members += 1,
            _ => {}
        }
        at += 1;
    }
    members
}

/// Returns the problem of a text of labels.
pub(super) fn labels(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        return None;
    }
    if text.split(',').any(str::is_empty) {
        return Some("a label is empty");
    }
    split_labels(text).any(|label| label.trim() != label).then_some("a label has spaces at its ends")
}

/// Returns whether a name can be an absolute IRI: a scheme, and no characters that IRIs exclude. Blank nodes pass.
pub(super) fn is_iri(name: &str) -> bool {
    if name.starts_with("_:") {
        return true;
    }
    let Some((scheme, _)) = name.split_once(':') else { return false };
    let starts = scheme.starts_with(|first: char| first.is_ascii_alphabetic());
    starts
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
        && !name.chars().any(|c| c <= ' ' || matches!(c, '<' | '>' | '"' | '{' | '}' | '|' | '\\' | '^' | '`'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn props_are_objects_with_different_keys() {
        let mut members = Members::default();
        let mut rule = |text: &str| props(text, &mut members).map(|(rule, _)| rule.id);
        assert_eq!(rule(""), None);
        assert_eq!(rule("null"), None);
        assert_eq!(rule(r#"{"a":{"a":1},"b":[{"a":":"}]}"#), None);
        assert_eq!(rule(r#"{"a":1,"a":2}"#), Some("NOCK-PROPS-REPEATED"));
        assert_eq!(rule(r#"{"a":1"#), Some("NOCK-PROPS-JSON"));
        assert_eq!(rule(r#"[{"a":1}]"#), Some("NOCK-PROPS-OBJECT"));
        assert_eq!(rule(r#"{"a":NaN}"#), Some("NOCK-PROPS-NAN"));
    }

    #[test]
    fn iris_have_a_scheme() {
        assert!(is_iri("http://example.org/a") && is_iri("urn:x") && is_iri("_:b0"));
        assert!(!is_iri("164636") && !is_iri("http://a b") && !is_iri(":x") && !is_iri("1a:b"));
    }
}
