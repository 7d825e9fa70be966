//! Declared attributes, and the texts of their values.

use std::collections::{HashMap, HashSet};

use arrow_schema::DataType;
use isomorph_model::{Property, ValueKind, json};
use isomorph_records::values::push_float;
use isomorph_records::{Slot, Slots, Tag};

use super::DYNAMIC;

/// The type of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    Integer,
    Float,
    Text,
}

impl Kind {
    /// Returns the type of a word, and whether it is one of GEXF's with an equal here.
    pub fn of(word: &str) -> (Kind, bool) {
        match word.to_ascii_lowercase().as_str() {
            "boolean" => (Kind::Bool, true),
            "integer" | "int" | "long" | "short" | "byte" => (Kind::Integer, true),
            "double" | "float" => (Kind::Float, true),
            "string" | "anyuri" => (Kind::Text, true),
            _ => (Kind::Text, false),
        }
    }

    pub fn data_type(self) -> DataType {
        match self {
            Kind::Bool => DataType::Boolean,
            Kind::Integer => DataType::Int64,
            Kind::Float => DataType::Float64,
            Kind::Text => DataType::Utf8,
        }
    }

    /// Returns the word for a type.
    pub fn word(data_type: &DataType) -> &'static str {
        match data_type {
            DataType::Boolean => "boolean",
            DataType::Int64 => "long",
            DataType::Float64 => "double",
            _ => "string",
        }
    }

    /// Puts a text into a slot; returns false if it does not have the type. An empty text of another type than text is no value.
    pub fn put(self, slot: &mut Slot, text: &str) -> bool {
        let trimmed = text.trim();
        if self != Kind::Text && trimmed.is_empty() {
            slot.put(Tag::Null, "");
            return true;
        }
        match self {
            Kind::Bool => match trimmed.to_ascii_lowercase().as_str() {
                "true" | "1" => slot.put(Tag::Bool, "true"),
                "false" | "0" => slot.put(Tag::Bool, "false"),
                _ => return false,
            },
            Kind::Integer => match trimmed.parse::<i64>() {
                Ok(value) => slot.put(Tag::Integer, &value.to_string()),
                Err(_) => return false,
            },
            Kind::Float => match float(trimmed) {
                Some(value) => {
                    let mut out = String::new();
                    push_float(&mut out, value);
                    slot.put(Tag::Float, &out);
                }
                None => return false,
            },
            Kind::Text => slot.put(Tag::Text, text),
        }
        true
    }
}

/// Parses a float as XML Schema, Java and Python write them; `None` for a finite number that is too large.
pub(crate) fn float(text: &str) -> Option<f64> {
    match text {
        "INF" | "inf" | "Infinity" => Some(f64::INFINITY),
        "-INF" | "-inf" | "-Infinity" => Some(f64::NEG_INFINITY),
        "NaN" | "nan" => Some(f64::NAN),
        text if text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) => {
            text.parse().ok().filter(|value: &f64| value.is_finite())
        }
        _ => None,
    }
}

/// A declared attribute.
#[derive(Debug, Clone)]
pub(crate) struct Attribute {
    /// Its position among the names of a record.
    pub at: usize,
    pub kind: Kind,
    pub is_dynamic: bool,
    pub default: Option<String>,
}

/// The attributes of nodes, or of edges.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attributes {
    pub by_id: HashMap<String, Attribute>,
    /// Attributes with a default.
    pub defaults: Vec<Attribute>,
    /// Names that attributes got.
    names: HashSet<String>,
}

impl Attributes {
    /// Declares an attribute; returns the name that it got, or `None` if there are too many. `taken` are names that elements
    /// have for something else.
    pub fn declare(
        &mut self,
        slots: &mut Slots,
        (id, title, word): (&str, &str, &str),
        is_dynamic: bool,
        taken: &[&str],
    ) -> Option<String> {
        let is_free = |name: &str| !taken.contains(&name) && !self.names.contains(name);
        let mut names = std::iter::once(title.to_owned()).chain((2..).map(|number| format!("{title}_{number}")));
        let name = names.find(|name| is_free(name))?;
        let (kind, _) = Kind::of(word);
        let property = if is_dynamic {
            let mut property = Property::new(name.clone(), DataType::Utf8).of_kind(ValueKind::Json);
            property.declared.insert(DYNAMIC.to_owned(), word.to_owned());
            property
        } else {
            Property::new(name.clone(), kind.data_type())
        };
        let at = slots.declare(property)?;
        let attribute = Attribute { at, kind, is_dynamic, default: None };
        self.by_id.insert(id.to_owned(), attribute);
        self.names.insert(name.clone());
        Some(name)
    }
}

/// Appends `[value, start, end]` to the JSON list of a dynamic attribute.
pub(crate) fn push_spell(slot: &mut Slot, kind: Kind, value: &str, times: [Option<&str>; 2]) -> bool {
    let mut own = Slot::default();
    if !kind.put(&mut own, value) {
        return false;
    }
    if slot.tag != Tag::Json {
        slot.put(Tag::Json, "[]");
    }
    slot.text.pop();
    slot.text.push_str(if slot.text.len() > 1 { ",[" } else { "[" });
    match own.tag {
        Tag::Text => json::push_string(&mut slot.text, &own.text),
        Tag::Null => slot.text.push_str("null"),
        _ => slot.text.push_str(&own.text),
    }
    for time in times {
        slot.text.push(',');
        match time {
            Some(time) => json::push_string(&mut slot.text, time),
            None => slot.text.push_str("null"),
        }
    }
    slot.text.push_str("]]");
    true
}
