//! Compares the scanner with serde_json on generated texts: which are valid, and their values.

use isomorph_error::Result;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::value::RawValue;

use super::{Members, Value, items, value};
use crate::zoo::arbitrary::json_value;

/// Returns the text as a value of serde_json, parsed by this module. Numbers are converted by serde_json from the same
/// text, after comparing them; non-finite floats are marked.
fn built(text: &str) -> Result<serde_json::Value> {
    Ok(match value(text)? {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => value.into(),
        Value::Text(text) => text.as_ref().into(),
        Value::Integer(value) => match i64::try_from(value) {
            Ok(value) => value.into(),
            Err(_) => u64::try_from(value).unwrap_or_default().into(),
        },
        Value::Float(value) if value.is_finite() => value.into(),
        Value::Float(value) => serde_json::Value::String(format!("not a number: {value}")),
        Value::Number(text) => serde_json::from_str(text).unwrap_or(serde_json::Value::Null),
        Value::Array(array) => {
            let mut all = Vec::new();
            items(array, |item| {
                all.push(built(item)?);
                Ok(())
            })?;
            all.into()
        }
        Value::Object(object) => {
            let mut all = serde_json::Map::new();
            Members::default().read(object, |name, member| {
                all.insert(name.to_owned(), built(member)?);
                Ok(())
            })?;
            all.into()
        }
    })
}

/// Whether serde_json rejects a text because of Python's words for floats, which this module accepts.
fn has_words_of_python(text: &str) -> bool {
    ["NaN", "Infinity"].iter().any(|word| text.contains(word))
}

fn agree(text: &str) -> std::result::Result<(), TestCaseError> {
    let ours = built(text);
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(theirs) => {
            let ours = ours.map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
            prop_assert!(alike(&ours, &theirs), "{}: {} is not {}", text, ours, theirs);
        }
        Err(error) if error.to_string().starts_with("number out of range") => {
            // It stops there; as a raw value it continues, and does not check surrogates.
            let theirs = serde_json::from_str::<&RawValue>(text);
            prop_assert!(ours.is_err() || theirs.is_ok() || has_words_of_python(text), "{}", text);
        }
        Err(_) if has_words_of_python(text) => {}
        Err(error) => prop_assert!(ours.is_err(), "{}: {}", text, error),
    }
    Ok(())
}

/// Compares values except for known differences: -0 is an integer here and a float in serde_json, whose floats may also
/// differ in the last bits (its feature `float_roundtrip` is not enabled).
fn alike(ours: &serde_json::Value, theirs: &serde_json::Value) -> bool {
    use serde_json::Value as V;
    match (ours, theirs) {
        (V::Number(ours), V::Number(theirs)) if ours.is_f64() || theirs.is_f64() => {
            let (ours, theirs) = (ours.as_f64().unwrap_or_default(), theirs.as_f64().unwrap_or_default());
            (ours - theirs).abs() <= ours.abs() * 1e-14 + f64::MIN_POSITIVE
        }
        (V::Array(ours), V::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| alike(ours, theirs))
        }
        (V::Object(ours), V::Object(theirs)) => {
            let same = |name: &String, ours| theirs.get(name).is_some_and(|theirs| alike(ours, theirs));
            ours.len() == theirs.len() && ours.iter().all(|(name, ours)| same(name, ours))
        }
        (ours, theirs) => ours == theirs,
    }
}

/// Fragments of JSON in any order: mostly invalid, but nearly valid.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "\"a\"",
        "\\",
        "\\u00e9",
        "\\ud83d",
        "\\ude00",
        "0",
        "1",
        "-",
        ".",
        "e",
        "E+",
        "null",
        "true",
        "fals",
        " ",
        "\n",
        "\u{7f}",
        "é",
        "1e400",
        "18446744073709551616",
        "NaN",
    ]);
    vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_values_say_the_same(text in json_value()) {
        agree(&text)?;
    }

    /// One character removed, doubled, or inserted.
    #[test]
    fn mangled_values_are_judged_alike(
        text in json_value(),
        at in any::<prop::sample::Index>(),
        what in prop::sample::select(vec!["", "", "\"", ",", "}", "]", "0", ".", "e", "-", "\\", " ", "\u{1}"]),
        drop in any::<bool>(),
    ) {
        let mut characters: Vec<char> = text.chars().collect();
        let at = at.index(characters.len());
        let kept = if drop { None } else { Some(characters[at]) };
        characters.splice(at..=at, what.chars().chain(kept));
        agree(&characters.into_iter().collect::<String>())?;
    }

    #[test]
    fn pieces_are_judged_alike(text in pieces()) {
        agree(&text)?;
    }
}
