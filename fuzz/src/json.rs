//! The JSON scanner of the model against serde_json.

use isomorph::Kind;
use isomorph::model::json::{self, Members, Value};
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

pub(crate) const WORDS: &[&str] =
    &["{\"a\":", "[", "]", "}", ",", "null", "true", "\\u00e9", "\\ud83d\\ude00", "\\n", "1e5", "-0.0", "{}", "[]"];

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    [
        r#"{"a": 1, "b": [true, null, {"c": "\u00e9\n"}], "a": -1.5e3}"#,
        r#"{"name": "Zo\u00eb \ud83d\ude00", "born": 1815, "big": 123456789012345678901234567890}"#,
        r#"[[], {}, "", 0, -0.0, 1e999, 0.1234567890123456789]"#,
        r#""text with \"quotes\" and \\""#,
        "NaN",
        "-Infinity",
        " 5 ",
        "null",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect()
}

/// Texts are valid JSON exactly if serde_json accepts them, and have the members that it finds.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    check_syntax(text);
    check_members(text);
    check_scalars(text);
    let mut quoted = String::new();
    json::push_string(&mut quoted, text);
    assert_eq!(serde_json::from_str::<String>(&quoted).ok().as_deref(), Some(text));
    assert!(matches!(json::value(&quoted), Ok(Value::Text(back)) if back == text), "{text:?}");
}

/// Whether this is JSON.
fn check_syntax(text: &str) {
    // Numbers that Python writes but JSON lacks are accepted here and not there.
    if text.contains("NaN") || text.contains("Infinity") {
        return;
    }
    let wrapped = format!("[{text}]");
    let ours = json::items(&wrapped, |_| Ok(()));
    let theirs = serde_json::from_str::<IgnoredAny>(&wrapped);
    match &ours {
        Ok(()) => assert!(theirs.is_ok(), "{text:?} is read: {theirs:?}"),
        Err(error) if error.kind() == Kind::TooLarge => {}
        Err(error) => assert!(theirs.is_err(), "{text:?} is refused: {error}"),
    }
}

/// The members of an object.
fn check_members(text: &str) {
    let mut members = Members::default();
    let mut ours = Vec::new();
    let read = members.read(text, |name, value| {
        ours.push((name.to_owned(), value.to_owned()));
        Ok(())
    });
    let Ok(serde_json::Value::Object(object)) = serde_json::from_str(text) else { return };
    assert!(read.is_ok(), "{text:?}: {read:?}");
    let names: Vec<&str> = ours.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, object.keys().map(String::as_str).collect::<Vec<_>>(), "{text:?}");
    for (name, value) in &ours {
        assert_eq!(serde_json::from_str::<serde_json::Value>(value).ok().as_ref(), object.get(name), "{text:?}");
    }
}

/// Scalars: families, and decimals in their canonical form.
fn check_scalars(text: &str) {
    let Ok(value) = json::value(text) else { return };
    let plain = text.trim_matches([' ', '\t', '\n', '\r']);
    match value {
        Value::Integer(number) => {
            let back = if number == 0 { plain.trim_start_matches('-') == "0" } else { number.to_string() == plain };
            assert!(back, "{text:?} is {number}");
        }
        Value::Float(number) if number.is_finite() => {
            assert_eq!(plain.parse::<f64>().ok().map(f64::to_bits), Some(number.to_bits()), "{text:?}");
        }
        Value::Number(number) => {
            assert!(serde_json::from_str::<&RawValue>(number).is_ok(), "{text:?}");
            let once = json::canonical_decimal(number);
            assert_eq!(json::canonical_decimal(&once), once, "{text:?}");
        }
        Value::Text(back) => {
            // An unpaired surrogate is not a character here; serde_json refuses it, too.
            assert_eq!(serde_json::from_str::<String>(plain).ok().as_deref(), Some(&*back), "{text:?}");
        }
        _ => {}
    }
}
