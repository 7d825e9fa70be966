//! The columns after source and target: the types of their values, and builders for them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_schema::DataType;
use isomorph_model::{Property, ValueKind};

use crate::grammar::Cell;
use crate::line::{float, integer, is_exact, trimmed};
use crate::python::Value;

/// The type of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Kind {
    /// There are no values.
    #[default]
    Empty,
    Bool,
    Int,
    Float,
    Text,
    Json,
}

/// What the survey found about one property.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    kind: Kind,
    /// Number of edges that have it.
    pub count: u64,
    /// Whether there are both integers and floats.
    pub mixed: bool,
    /// Whether an integer cannot be represented as a double.
    wide: bool,
}

impl Seen {
    fn join(&mut self, kind: Kind, wide: bool, otherwise: Kind) {
        self.wide |= wide;
        self.kind = match (self.kind, kind) {
            (own, other) if own == other => own,
            (Kind::Empty, other) | (other, Kind::Empty) => other,
            (Kind::Int, Kind::Float) | (Kind::Float, Kind::Int) => {
                self.mixed = true;
                Kind::Float
            }
            _ => otherwise,
        };
    }

    /// Adds the cell of a column.
    pub fn field(&mut self, text: Option<&str>) {
        let Some(text) = text else { return };
        self.count += 1;
        match integer(trimmed(text)) {
            _ if self.kind == Kind::Text => {}
            Some(value) => self.join(Kind::Int, !is_exact(value.unsigned_abs().into()), Kind::Text),
            None if float(trimmed(text)).is_some() => self.join(Kind::Float, false, Kind::Text),
            None => self.join(Kind::Text, false, Kind::Text),
        }
    }

    /// Adds text, whatever it looks like.
    pub fn text(&mut self) {
        self.count += 1;
        self.join(Kind::Text, false, Kind::Text);
    }

    /// Adds a value of a dictionary.
    pub fn value(&mut self, value: &Value<'_>) {
        let (kind, wide) = match value {
            Value::None => return,
            Value::Bool(_) => (Kind::Bool, false),
            Value::Int(value) => (Kind::Int, !is_exact(value.unsigned_abs().into())),
            Value::Float(_) => (Kind::Float, false),
            Value::Text(_) => (Kind::Text, false),
            Value::Json(text) if infinite(text).is_some() => (Kind::Float, false),
            Value::Json(_) => (Kind::Json, false),
        };
        self.count += 1;
        self.join(kind, wide, Kind::Json);
    }

    /// Adds the findings of another part of the text.
    pub fn merge(&mut self, other: &Seen, otherwise: Kind) {
        self.join(other.kind, other.wide, otherwise);
        self.mixed |= other.mixed;
        self.count += other.count;
    }

    /// Returns whether there are floats, and integers that no float represents exactly.
    pub fn is_torn(&self) -> bool {
        self.mixed && self.wide
    }

    /// Returns the type of the values.
    pub fn kind(&self, otherwise: Kind) -> Kind {
        if self.kind == Kind::Float && self.is_torn() { otherwise } else { self.kind }
    }
}

impl Kind {
    /// Returns the property with this name.
    pub fn property(self, name: &str) -> Property {
        match self {
            Kind::Bool => Property::new(name, DataType::Boolean),
            Kind::Int => Property::new(name, DataType::Int64),
            Kind::Float => Property::new(name, DataType::Float64),
            Kind::Empty | Kind::Text => Property::new(name, DataType::Utf8),
            Kind::Json => Property::new(name, DataType::Utf8).of_kind(ValueKind::Json),
        }
    }
}

/// What the survey found about the properties of edges.
#[derive(Debug, Clone, Default)]
pub(crate) struct Properties {
    pub names: Vec<String>,
    pub seen: Vec<Seen>,
    places: HashMap<String, usize>,
}

impl Properties {
    /// Returns the index of a property.
    pub fn place(&mut self, name: &str) -> usize {
        if let Some(at) = self.places.get(name) {
            return *at;
        }
        self.places.insert(name.to_owned(), self.names.len());
        self.names.push(name.to_owned());
        self.seen.push(Seen::default());
        self.names.len() - 1
    }

    /// Returns what was found about the property at `place`.
    pub fn at(&mut self, place: usize) -> Option<&mut Seen> {
        self.seen.get_mut(place)
    }

    /// Adds the findings of another part of the text.
    pub fn merge(&mut self, other: &Properties, otherwise: Kind) {
        for (name, seen) in other.names.iter().zip(&other.seen) {
            let at = self.place(name);
            self.seen[at].merge(seen, otherwise);
        }
    }
}

/// The infinite number that a literal too large for a double is in Python, which has no other: `1e999`. An integer is none, whatever its size.
fn infinite(text: &str) -> Option<f64> {
    let is_float = text.starts_with(|c: char| c.is_ascii_digit() || c == '-') && text.contains(['e', 'E', '.']);
    text.parse().ok().filter(|value: &f64| is_float && value.is_infinite())
}

/// A column builder.
pub(crate) enum Column {
    Bool(BooleanBuilder),
    Int(Int64Builder),
    Float(Float64Builder),
    Text(StringBuilder),
    Json(StringBuilder),
}

impl Column {
    /// Creates an empty column for a property.
    pub fn new(property: &Property) -> Column {
        match (&property.data_type, &property.kind) {
            (DataType::Boolean, _) => Column::Bool(BooleanBuilder::new()),
            (DataType::Int64, _) => Column::Int(Int64Builder::new()),
            (DataType::Float64, _) => Column::Float(Float64Builder::new()),
            (_, ValueKind::Json) => Column::Json(StringBuilder::new()),
            _ => Column::Text(StringBuilder::new()),
        }
    }

    /// Appends a cell; returns false if it has another type.
    pub fn push_field(&mut self, text: Option<&str>) -> bool {
        let Some(text) = text else {
            self.push_null();
            return true;
        };
        match self {
            Column::Text(column) | Column::Json(column) => column.append_value(text),
            Column::Int(column) => match integer(trimmed(text)) {
                Some(value) => column.append_value(value),
                None => return false,
            },
            // Integers beside floats are those that a double is: see `Seen::is_torn`.
            Column::Float(column) => {
                match integer(trimmed(text)).map(|value| value as f64).or_else(|| float(trimmed(text))) {
                    Some(value) => column.append_value(value),
                    None => return false,
                }
            }
            Column::Bool(column) => match text {
                "true" | "True" => column.append_value(true),
                "false" | "False" => column.append_value(false),
                _ => return false,
            },
        }
        true
    }

    /// Appends a value of a dictionary; returns false if it has another type.
    pub fn push_value(&mut self, value: Value<'_>) -> bool {
        match (self, value) {
            (column, Value::None) => column.push_null(),
            (Column::Bool(column), Value::Bool(value)) => column.append_value(value),
            (Column::Int(column), Value::Int(value)) => column.append_value(value),
            (Column::Float(column), Value::Float(value)) => column.append_value(value),
            // A column of floats only contains integers that a double represents exactly.
            (Column::Float(column), Value::Int(value)) => column.append_value(value as f64),
            (Column::Float(column), Value::Json(text)) => match infinite(&text) {
                Some(value) => column.append_value(value),
                None => return false,
            },
            (Column::Text(column), Value::Text(text)) => column.append_value(text),
            (Column::Json(column), value) => {
                let mut json = String::new();
                value.push_json(&mut json);
                column.append_value(json);
            }
            _ => return false,
        }
        true
    }

    /// Appends a value of any form; returns false if it has another type.
    pub fn push_cell(&mut self, cell: Cell<'_>) -> bool {
        match (self, cell) {
            (Column::Text(column), Cell::Text(text)) => {
                column.append_value(text);
                true
            }
            (column, Cell::Field(text) | Cell::Text(text)) => column.push_field(Some(text)),
            (column, Cell::Value(value)) => column.push_value(value),
        }
    }

    pub fn push_null(&mut self) {
        match self {
            Column::Bool(column) => column.append_null(),
            Column::Int(column) => column.append_null(),
            Column::Float(column) => column.append_null(),
            Column::Text(column) | Column::Json(column) => column.append_null(),
        }
    }

    pub fn finish(mut self) -> ArrayRef {
        match &mut self {
            Column::Bool(column) => Arc::new(column.finish()),
            Column::Int(column) => Arc::new(column.finish()),
            Column::Float(column) => Arc::new(column.finish()),
            Column::Text(column) | Column::Json(column) => Arc::new(column.finish()),
        }
    }
}

/// Returns a name that is not in `taken`: the name itself, or with a number.
pub(crate) fn free(name: &str, taken: &[String]) -> String {
    let is_free = |name: &str| !taken.iter().any(|other| other == name);
    let numbered = (2..).map(|number| Cow::Owned(format!("{name}_{number}")));
    std::iter::once(Cow::Borrowed(name)).chain(numbered).find(|name| is_free(name)).unwrap_or_default().into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_array::cast::AsArray;
    use arrow_array::types::Float64Type;

    use super::*;

    #[test]
    fn literals_that_are_too_large_are_infinite_numbers_among_floats() {
        let values = || [Value::Float(0.5), Value::Json("1e999".to_owned()), Value::Json("-1E+400".to_owned())];
        let mut seen = Seen::default();
        values().iter().for_each(|value| seen.value(value));
        assert_eq!(seen.kind(Kind::Json), Kind::Float);
        let mut column = Column::new(&Kind::Float.property("x"));
        assert!(values().into_iter().all(|value| column.push_value(value)));
        assert_eq!(column.finish().as_primitive::<Float64Type>().values(), &[0.5, f64::INFINITY, f64::NEG_INFINITY]);
        for other in ["18446744073709551616", "0.12345678901234567891", "[1e999]", "infinity"] {
            let mut seen = Seen::default();
            seen.value(&Value::Json(other.to_owned()));
            assert_eq!(seen.kind(Kind::Json), Kind::Json, "{other}");
            assert!(!Column::new(&Kind::Float.property("x")).push_value(Value::Json(other.to_owned())), "{other}");
        }
        // Where other values are no numbers, it stays as it is written.
        let mut mixed = Seen::default();
        [Value::Json("1e999".to_owned()), Value::Text("a".into())].iter().for_each(|value| mixed.value(value));
        assert_eq!(mixed.kind(Kind::Json), Kind::Json);
    }
}
