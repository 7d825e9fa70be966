//! Values of properties, as they are read.

use serde_json::value::RawValue;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    /// As it is written.
    Number(String),
    Text(String),
    /// `date("…")`, `localdatetime("…")`, `datetime("…")`.
    Time(Time, String),
    List(Vec<Value>),
    /// An object of JSON, as it is written.
    Object(String),
}

/// What a call of a function makes of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Time {
    Date,
    Local,
    Instant,
}

/// Properties with their names.
pub(crate) type Members = Vec<(String, Value)>;

impl Value {
    /// The value of a text in JSON.
    ///
    /// # Errors
    /// If it is not JSON, or nested deeper than [`isomorph_model::json::MAX_DEPTH`].
    pub fn of_json(raw: &RawValue) -> Result<Value, String> {
        if raw.get().starts_with(['[', '{']) {
            // Before anything recurses into it.
            isomorph_model::json::check(raw.get()).map_err(|error| error.message().to_owned())?;
        }
        Value::of_checked(raw).map_err(|error| error.to_string())
    }

    fn of_checked(raw: &RawValue) -> Result<Value, serde_json::Error> {
        let text = raw.get();
        Ok(match text.bytes().next() {
            Some(b'"') => Value::Text(serde_json::from_str(text)?),
            Some(b't') => Value::Bool(true),
            Some(b'f') => Value::Bool(false),
            Some(b'n') => Value::Null,
            Some(b'[') => {
                let items: Vec<&RawValue> = serde_json::from_str(text)?;
                Value::List(items.into_iter().map(Value::of_checked).collect::<Result<_, _>>()?)
            }
            Some(b'{') => Value::Object(text.to_owned()),
            _ => Value::Number(text.to_owned()),
        })
    }

    /// Appends the value as JSON.
    pub fn push_json(&self, out: &mut String) {
        match self {
            Value::Null => out.push_str("null"),
            Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Value::Number(text) | Value::Object(text) => out.push_str(text),
            Value::Text(text) | Value::Time(_, text) => isomorph_model::json::push_string(out, text),
            Value::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    item.push_json(out);
                }
                out.push(']');
            }
        }
    }
}

/// Whether a number is written as a float.
pub(crate) fn is_float(number: &str) -> bool {
    number.contains(['.', 'e', 'E', 'N', 'I'])
}
