//! Values that nodes and edges do not state themselves: the file of defaults of Linear.

use std::borrow::Cow;

use isomorph_error::{Error, Findings, Place, Result};
use serde_json::Value;

use super::values::{Length, Values, is_weight};
use crate::{number, rules};

/// What is omitted for all nodes, or for all edges, because it is the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct Of {
    pub ty: Option<i32>,
    pub weight: Option<f64>,
    /// Types and lengths of the first features; what is missing is written for each element.
    pub features: Vec<(Option<Values>, Option<Length>)>,
}

/// The defaults in a file.
#[derive(Debug, Clone, Default)]
pub struct Defaults {
    pub(crate) node: Of,
    pub(crate) edge: Of,
}

/// Parses a length, whose meaning differs between Linear and EdgeList.
pub(super) type LengthOf = fn(&[u8]) -> Option<Length>;

impl Defaults {
    /// Parses defaults from a JSON text, which may have trailing commas and numbers such as `.5`.
    ///
    /// # Errors
    /// Returns an error if it is not a JSON object, or a default is invalid.
    pub(super) fn parse(
        text: &[u8],
        name: &str,
        length: LengthOf,
        word: &[u8],
        findings: &mut Findings,
    ) -> Result<Defaults> {
        let parsed = serde_json::from_slice::<Value>(text).or_else(|error| {
            let mended = mend(text);
            let value = serde_json::from_slice::<Value>(&mended).map_err(|_| {
                let place = Place::file(name).line(error.line() as u64);
                Error::broken(&rules::DEFAULTS, "invalid JSON").caused_by(error).at(place)
            })?;
            findings.push(
                &rules::DEFAULTS_MENDED,
                "trailing commas or decimal points were repaired",
                Place::file(name),
            );
            Ok::<_, Error>(value)
        })?;
        let object =
            parsed.as_object().ok_or_else(|| Error::broken(&rules::DEFAULTS, "expected a JSON object").at(name))?;
        let of = |kind: &str| -> Result<Of> {
            let place = |key: &str| Place::file(name).in_field(key);
            let mut of = Of::default();
            let key = format!("{kind}_default_type");
            if let Some(value) = object.get(&key).filter(|value| !value.is_null()) {
                let ty = value.as_i64().and_then(|ty| i32::try_from(ty).ok()).filter(|ty| (0..=65_535).contains(ty));
                of.ty = Some(ty.ok_or_else(|| {
                    Error::broken(&rules::TYPE, format!("{value} is not a valid type")).at(place(&key))
                })?);
            }
            let key = format!("{kind}_default_weight");
            if let Some(value) = object.get(&key).filter(|value| !value.is_null()) {
                let weight = value.as_f64().filter(|weight| is_weight(*weight));
                of.weight = Some(weight.ok_or_else(|| {
                    Error::broken(&rules::DEFAULTS, format!("{value} is not a valid weight")).at(place(&key))
                })?);
            }
            let key = format!("{kind}_default_features");
            if let Some(value) = object.get(&key).filter(|value| !value.is_null()) {
                of.features = features(value, length, word).map_err(|error| error.at(place(&key)))?;
            }
            Ok(of)
        };
        Ok(Defaults { node: of("node")?, edge: of("edge")? })
    }

    /// Returns whether a JSON text looks like defaults, and not like the metadata of a binary.
    pub(super) fn looks_like(text: &[u8]) -> bool {
        memchr::memmem::find(text, b"_default_").is_some()
    }
}

fn features(value: &Value, length: LengthOf, text: &[u8]) -> Result<Vec<(Option<Values>, Option<Length>)>> {
    let wrong = |what: String| Error::broken(&rules::DEFAULTS, what);
    let all = value.as_str().ok_or_else(|| wrong("features must be a string of types and lengths".to_owned()))?;
    let words: Vec<&str> = all.split(' ').collect();
    if !words.len().is_multiple_of(2) {
        return Err(wrong(format!("{all:?} does not consist of pairs of a type and a length")));
    }
    let none = |word: &str| word.eq_ignore_ascii_case("none");
    let pair = |pair: &[&str]| -> Result<(Option<Values>, Option<Length>)> {
        let [dtype, len] = pair else { return Err(wrong("a pair is incomplete".to_owned())) };
        let values = match none(dtype) {
            true => None,
            false => Some(
                Values::of_name(dtype.as_bytes(), text)
                    .ok_or_else(|| Error::broken(&rules::DTYPE, format!("{dtype:?} is not a feature type")))?,
            ),
        };
        let length = match none(len) {
            true => None,
            false => Some(length(len.as_bytes()).ok_or_else(|| wrong(format!("{len:?} is not a valid length")))?),
        };
        Ok((values, length))
    };
    words.chunks(2).map(pair).collect()
}

/// Parses a length of numbers separated by a mark.
pub(super) fn numbers(text: &[u8], mark: u8) -> Option<Vec<usize>> {
    let number = |text: &[u8]| number::integer(text).ok().and_then(|value| usize::try_from(value).ok());
    text.split(|byte| *byte == mark).map(number).collect()
}

/// Returns JSON without trailing commas, and with 0 before a leading decimal point: the errors of the specification's
/// example.
pub(super) fn mend(text: &[u8]) -> Cow<'_, [u8]> {
    let mut out = Vec::with_capacity(text.len() + 8);
    let (mut in_text, mut escaped) = (false, false);
    for byte in text {
        if in_text {
            in_text = escaped || *byte != b'"';
            escaped = !escaped && *byte == b'\\';
        } else {
            match byte {
                b'"' => in_text = true,
                b'}' | b']' => {
                    let kept = out.trim_ascii_end().len();
                    if out[..kept].last() == Some(&b',') {
                        out.truncate(kept - 1);
                    }
                }
                b'.' if !out.last().is_some_and(u8::is_ascii_digit) => out.push(b'0'),
                _ => {}
            }
        }
        out.push(*byte);
    }
    Cow::Owned(out)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Defaults> {
        let length: LengthOf =
            |text| numbers(text, b',').and_then(|all| Length::of_sides(&all[..all.len() - 1], *all.last()?));
        Defaults::parse(text.as_bytes(), "meta.json", length, b"binary_feature", &mut Findings::default())
    }

    #[test]
    fn the_example_of_the_specification_is_mended() {
        let text = r#"{"node_default_type": 1, "node_default_weight": .5, "node_default_features": "int32 3 NONE 2",}"#;
        let mut findings = Findings::default();
        let length: LengthOf = |_| Some(Length::Dense(3));
        let defaults = Defaults::parse(text.as_bytes(), "m", length, b"b", &mut findings).unwrap();
        assert_eq!((defaults.node.ty, defaults.node.weight), (Some(1), Some(0.5)));
        assert_eq!(defaults.node.features[0], (Some(Values::Numbers(crate::DType::Int32)), Some(Length::Dense(3))));
        assert_eq!(defaults.node.features[1], (None, Some(Length::Dense(3))));
        assert_eq!(findings.count(&rules::DEFAULTS_MENDED), 1);
    }

    #[test]
    fn defaults_that_are_none_are_refused() {
        for (text, rule) in [
            (r#"{"node_default_features": "int32"}"#, &rules::DEFAULTS),
            (r#"{"node_default_features": ""}"#, &rules::DEFAULTS),
            (r#"{"node_default_features": "int32  2"}"#, &rules::DEFAULTS),
            (r#"{"edge_default_features": "foo 2"}"#, &rules::DTYPE),
            (r#"{"edge_default_type": -1}"#, &rules::TYPE),
            (r#"{"edge_default_weight": "x"}"#, &rules::DEFAULTS),
            ("[1", &rules::DEFAULTS),
        ] {
            assert_eq!(parse(text).unwrap_err().broken_rule().unwrap().id, rule.id, "{text}");
        }
    }
}
