//! Declared attributes, and the texts of their values.

use std::collections::{HashMap, HashSet};

use arrow_schema::DataType;
use isomorph_model::{Property, ValueKind, json};
use isomorph_records::{Slot, Slots, Tag};

use super::{ATTRIBUTE, DEFAULT, DYNAMIC, OPTIONS};

/// The attribute of edges that says their direction. Another text in it is a property, and written as a declared attribute.
pub(crate) const TYPE: &str = "type";

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
            Kind::Bool => match trimmed {
                "1" => slot.put_bool(true),
                "0" => slot.put_bool(false),
                word if word.eq_ignore_ascii_case("true") => slot.put_bool(true),
                word if word.eq_ignore_ascii_case("false") => slot.put_bool(false),
                _ => return false,
            },
            Kind::Integer => match trimmed.parse::<i64>() {
                Ok(value) => slot.put_integer(value),
                Err(_) => return false,
            },
            Kind::Float => match float(trimmed) {
                Some(value) => slot.put_float(value),
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

/// What a declaration states of an attribute.
pub(crate) struct Declaration {
    pub id: String,
    pub title: String,
    pub word: String,
    pub is_dynamic: bool,
    pub default: Option<String>,
    pub options: Option<String>,
}

/// The attributes of nodes, or of edges.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attributes {
    pub by_id: HashMap<String, Attribute>,
    /// Attributes with a default.
    pub defaults: Vec<Attribute>,
    /// Names that attributes got, and what elements have beside them.
    names: HashSet<String>,
    /// What elements have beside them, by its name in the syntax: the positions of its values.
    own: HashMap<String, usize>,
}

impl Attributes {
    /// Declares an attribute; returns the name that it got, or `None` if there are too many.
    pub fn declare(&mut self, slots: &mut Slots, declaration: Declaration) -> Option<String> {
        let Declaration { id, title, word, is_dynamic, default, options } = declaration;
        let name = self.free(&title)?;
        let (kind, _) = Kind::of(&word);
        let mut property = if is_dynamic {
            Property::new(name.clone(), DataType::Utf8).of_kind(ValueKind::Json)
        } else {
            Property::new(name.clone(), kind.data_type())
        };
        if is_dynamic {
            property.declared.insert(DYNAMIC.to_owned(), word);
            property.declared.extend(default.clone().map(|default| (DEFAULT.to_owned(), default)));
        }
        property.declared.extend(options.map(|options| (OPTIONS.to_owned(), options)));
        let at = slots.declare(property)?;
        let attribute = Attribute { at, kind, is_dynamic, default };
        if attribute.default.is_some() {
            self.defaults.push(attribute.clone());
        }
        self.by_id.insert(id, attribute);
        self.names.insert(name.clone());
        Some(name)
    }

    fn free(&self, name: &str) -> Option<String> {
        let mut names = std::iter::once(name.to_owned()).chain((2..).map(|number| format!("{name}_{number}")));
        names.find(|name| !self.names.contains(name))
    }

    /// Returns the position of the values of what elements have beside attributes, and whether its name was taken; `None` if
    /// there are too many names. Titles of attributes come first: they are what people chose.
    pub fn own(&mut self, slots: &mut Slots, name: &str, tag: Tag) -> Option<(usize, bool)> {
        if let Some(at) = self.own.get(name) {
            return Some((*at, false));
        }
        let given = self.free(name)?;
        let is_renamed = given != name;
        let data_type = if tag == Tag::Float { DataType::Float64 } else { DataType::Utf8 };
        let kind = if tag == Tag::Json { ValueKind::Json } else { ValueKind::Plain };
        let mut property = Property::new(given.clone(), data_type).of_kind(kind);
        if name != TYPE {
            property.declared.insert(ATTRIBUTE.to_owned(), name.to_owned());
        }
        let at = slots.declare(property)?;
        self.own.insert(name.to_owned(), at);
        self.names.insert(given);
        Some((at, is_renamed))
    }
}

/// Appends `[value` to the JSON list of a dynamic attribute; `None` if the text does not have the type.
pub(crate) fn begin_value<'s>(slot: &'s mut Slot, kind: Kind, value: &str) -> Option<&'s mut String> {
    let mut own = Slot::default();
    if !kind.put(&mut own, value) {
        return None;
    }
    if slot.tag() != Tag::Json {
        slot.put(Tag::Json, "[]");
    }
    let out = slot.text_mut(Tag::Json);
    out.pop();
    out.push_str(if out.len() > 1 { ",[" } else { "[" });
    match own.tag() {
        Tag::Text => json::push_string(out, own.text()),
        Tag::Null => out.push_str("null"),
        _ => own.push_text(out),
    }
    Some(out)
}

/// Returns the JSON list of a dynamic attribute of which an element has only the default; `None` if this does not have the type.
pub(crate) fn default_values(kind: Kind, default: &str) -> Option<String> {
    let mut slot = Slot::default();
    begin_value(&mut slot, kind, default)?.push_str(",null,null]]");
    Some(slot.text().to_owned())
}
