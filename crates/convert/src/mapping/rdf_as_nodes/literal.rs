//! Literals as JSON: plain values unchanged, all others as value objects with the keywords of JSON-LD.

use std::borrow::Cow;

use isomorph_error::{Error, Result};
use isomorph_model::faces::Object;
use isomorph_model::json::{self, Members, Value, push_string};
use isomorph_model::xsd;

use crate::mapping::CARRY_FITS;

const VALUE: &str = "@value";
const TYPE: &str = "@type";
const LANGUAGE: &str = "@language";
const DIRECTION: &str = "@direction";
const GRAPH: &str = "@graph";

/// Appends a literal in a graph. A literal without a plain value, or in a named graph, is an object.
pub(super) fn push(out: &mut String, object: &Object<'_>, graph: Option<&str>) {
    let Object::Literal { lexical, datatype, language, direction } = *object else { return };
    let plain = match xsd::read(datatype, lexical).filter(|_| language.is_none() && graph.is_none()) {
        Some(xsd::Scalar::Float(value)) if !value.is_finite() => None,
        plain => plain,
    };
    match plain {
        Some(xsd::Scalar::Text) => push_string(out, lexical),
        // Canonical forms of XML Schema are numbers or words of JSON.
        Some(_) => out.push_str(lexical),
        None => {
            let datatype = Some(datatype)
                .filter(|datatype| language.is_none() && !datatype.is_empty() && *datatype != xsd::STRING);
            let members = [
                (VALUE, Some(lexical)),
                (TYPE, datatype),
                (LANGUAGE, language),
                (DIRECTION, direction),
                (GRAPH, graph),
            ];
            let mut sign = '{';
            for (name, text) in members {
                let Some(text) = text else { continue };
                out.push(sign);
                sign = ',';
                push_string(out, name);
                out.push(':');
                push_string(out, text);
            }
            out.push('}');
        }
    }
}

/// A literal: lexical form, datatype, language, direction, graph.
pub(super) type Parts<'r> = [Option<Cow<'r, str>>; 5];

/// The literals in a member.
///
/// # Errors
/// Returns [`CARRY_FITS`] if it holds anything else.
pub(super) fn each(raw: &str, take: &mut dyn FnMut(Parts<'_>) -> Result<()>) -> Result<()> {
    match json::value(raw)? {
        Value::Array(items) => json::items(items, |item| take(one(item)?)),
        _ => take(one(raw)?),
    }
}

fn one(raw: &str) -> Result<Parts<'_>> {
    let typed = |lexical: String, datatype: &'static str| {
        [Some(Cow::Owned(lexical)), Some(Cow::Borrowed(datatype)), None, None, None]
    };
    Ok(match json::value(raw)? {
        Value::Text(text) => [Some(text), None, None, None, None],
        Value::Bool(value) => typed(value.to_string(), xsd::BOOLEAN),
        Value::Integer(value) => typed(value.to_string(), xsd::INTEGER),
        Value::Float(value) => {
            let mut lexical = String::new();
            // Writing to text cannot fail.
            let _ = xsd::push_double(&mut lexical, value);
            typed(lexical, xsd::DOUBLE)
        }
        Value::Object(object) => {
            let mut parts: Parts<'_> = Default::default();
            Members::default().read(object, |name, value| {
                let at = [VALUE, TYPE, LANGUAGE, DIRECTION, GRAPH].iter().position(|known| *known == name);
                match (at.and_then(|at| parts.get_mut(at)), json::value(value)?) {
                    (Some(part), Value::Text(text)) => *part = Some(text),
                    _ => return Err(misfit(raw)),
                }
                Ok(())
            })?;
            if parts[0].is_none() {
                return Err(misfit(raw));
            }
            parts
        }
        Value::Null | Value::Array(_) | Value::Number(_) => return Err(misfit(raw)),
    })
}

fn misfit(raw: &str) -> Error {
    let shown: String = raw.chars().take(60).collect();
    Error::broken(&CARRY_FITS, format!("{shown} is not a literal"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn literals_are_json_and_come_back() {
        let ns = xsd::NAMESPACE;
        let literal = |lexical, datatype| Object::Literal { lexical, datatype, language: None, direction: None };
        let [int, date] = ["int", "date"].map(|name| format!("{ns}{name}"));
        for (object, graph, expected) in [
            (literal("a\"b", xsd::STRING), None, r#""a\"b""#.to_owned()),
            (literal("5", xsd::INTEGER), None, "5".to_owned()),
            (literal("true", xsd::BOOLEAN), None, "true".to_owned()),
            (literal("1.5E0", xsd::DOUBLE), None, "1.5E0".to_owned()),
            (literal("INF", xsd::DOUBLE), None, format!(r#"{{"@value":"INF","@type":"{ns}double"}}"#)),
            (literal("05", xsd::INTEGER), None, format!(r#"{{"@value":"05","@type":"{ns}integer"}}"#)),
            (literal("5", &int), None, format!(r#"{{"@value":"5","@type":"{int}"}}"#)),
            (literal("2020-01-01", &date), Some("urn:g"), {
                format!(r#"{{"@value":"2020-01-01","@type":"{date}","@graph":"urn:g"}}"#)
            }),
            (literal("x", xsd::STRING), Some("urn:g"), r#"{"@value":"x","@graph":"urn:g"}"#.to_owned()),
            (
                Object::Literal { lexical: "chat", datatype: "", language: Some("fr"), direction: Some("ltr") },
                None,
                r#"{"@value":"chat","@language":"fr","@direction":"ltr"}"#.to_owned(),
            ),
        ] {
            let mut out = String::new();
            push(&mut out, &object, graph);
            assert_eq!(out, expected);
            let mut found = Vec::new();
            each(&out, &mut |parts| {
                found.push(parts.map(|part| part.map(Cow::into_owned)));
                Ok(())
            })
            .unwrap();
            let Object::Literal { lexical, datatype, language, direction } = object else { continue };
            let datatype = Some(datatype).filter(|datatype| !datatype.is_empty() && *datatype != xsd::STRING);
            let parts = [Some(lexical), datatype, language, direction, graph].map(|part| part.map(str::to_owned));
            assert_eq!(found, [parts]);
        }
        let mut several = 0;
        each("[1,\"a\",{\"@value\":\"b\"}]", &mut |_| {
            several += 1;
            Ok(())
        })
        .unwrap();
        assert_eq!(several, 3);
        for bad in ["null", "[[1]]", "{}", r#"{"@value":1}"#, r#"{"@value":"a","@id":"b"}"#, "1e999"] {
            assert!(each(bad, &mut |_| Ok(())).is_err(), "{bad}");
        }
    }
}
