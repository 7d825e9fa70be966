//! The kinds of values of one attribute, and the type that fits all of them.

use arrow_schema::DataType;
use isomorph_error::Result;
use isomorph_model::json::{self, Value};
use isomorph_model::type_name::list_of;
use isomorph_model::{Cardinality, Property, ValueKind};

use crate::slots::Tag;

/// What the values of an attribute are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kinds {
    /// Number of values.
    pub count: u64,
    bool: bool,
    int: bool,
    float: bool,
    text: bool,
    /// An integer below 0, one that only an unsigned type has, one of more than 32 bits, and one that no double is.
    negative: bool,
    unsigned: bool,
    wide: bool,
    large: bool,
    list: Option<Box<Kinds>>,
    /// A value for which only JSON is left.
    other: bool,
}

impl Kinds {
    /// Returns whether integers and floats are mixed although some integers are not exact as doubles.
    pub fn mixes_large(&self) -> bool {
        self.int && self.float && self.large
    }

    /// Adds texts.
    pub fn see_texts(&mut self, count: u64) {
        self.count += count;
        self.text |= count > 0;
    }

    /// Adds floats.
    pub fn see_floats(&mut self, count: u64) {
        self.count += count;
        self.float |= count > 0;
    }

    /// Adds booleans.
    pub fn see_bools(&mut self, count: u64) {
        self.count += count;
        self.bool |= count > 0;
    }

    /// Adds an integer.
    pub fn see_integer(&mut self, value: i64) {
        self.count += 1;
        self.int = true;
        self.negative |= value < 0;
        self.wide |= i32::try_from(value).is_err();
        let size = value.unsigned_abs();
        self.large |= size.leading_zeros() + size.trailing_zeros() < u64::BITS - f64::MANTISSA_DIGITS;
    }

    /// Adds a value.
    ///
    /// # Errors
    /// Returns an error if a JSON value is not valid.
    pub fn see(&mut self, tag: Tag, text: &str) -> Result<()> {
        self.count += u64::from(tag != Tag::Null);
        match tag {
            Tag::Null => {}
            Tag::Bool => self.bool = true,
            Tag::Integer => match text.parse::<i128>() {
                // An integer has no negative zero.
                Ok(0) if text.starts_with('-') => self.float = true,
                Ok(value) => self.integer(value),
                Err(_) => self.other = true,
            },
            Tag::Float => self.float = true,
            Tag::Text => self.text = true,
            Tag::Json if text.starts_with('[') => self.items(text)?,
            Tag::Json => self.other = true,
        }
        Ok(())
    }

    fn integer(&mut self, value: i128) {
        self.int = true;
        self.negative |= value < 0;
        self.unsigned |= i64::try_from(value).is_err();
        self.wide |= i32::try_from(value).is_err();
        let size = value.unsigned_abs();
        let bits = if size == 0 { 0 } else { u128::BITS - size.leading_zeros() - size.trailing_zeros() };
        self.large |= bits > f64::MANTISSA_DIGITS;
    }

    fn items(&mut self, array: &str) -> Result<()> {
        let list = self.list.get_or_insert_default();
        json::items(array, |item| {
            match json::value(item)? {
                Value::Null => {}
                Value::Bool(_) => list.bool = true,
                Value::Text(_) => list.text = true,
                Value::Integer(0) if item.starts_with('-') => list.float = true,
                Value::Integer(value) => list.integer(value),
                Value::Float(_) => list.float = true,
                Value::Array(_) | Value::Object(_) | Value::Number(_) => list.other = true,
            }
            Ok(())
        })
    }

    fn scalar(&self) -> Option<DataType> {
        let numbers = self.int || self.float;
        match (self.bool, numbers, self.text) {
            _ if self.other => None,
            (true, false, false) => Some(DataType::Boolean),
            (false, true, false) if !self.float => match (self.unsigned, self.negative) {
                (false, _) => Some(DataType::Int64),
                (true, false) => Some(DataType::UInt64),
                (true, true) => None,
            },
            (false, true, false) if !self.large => Some(DataType::Float64),
            (false, false, _) => Some(DataType::Utf8),
            _ => None,
        }
    }

    /// Returns whether all values have the type that a file declares.
    pub fn fits(&self, declared: &Property, surveyed: &Property) -> bool {
        let is_same = declared.data_type == surveyed.data_type && declared.kind == surveyed.kind;
        let is_double = declared.data_type == DataType::Float64 && surveyed.data_type == DataType::Int64 && !self.large;
        let is_int = declared.data_type == DataType::Int32 && surveyed.data_type == DataType::Int64 && !self.wide;
        // An empty list has no type.
        let is_list = matches!((&declared.data_type, &self.list), (DataType::List(_), Some(list)) if !list.has_items())
            && matches!(surveyed.data_type, DataType::List(_));
        let is_json = declared.kind == ValueKind::Json;
        self.count == 0 || is_same || is_double || is_int || is_list || is_json
    }

    fn has_items(&self) -> bool {
        self.bool || self.int || self.float || self.text || self.other || self.list.is_some()
    }

    /// Returns the property with the type that fits all values.
    pub fn property(&self, name: &str) -> Property {
        let single = self.bool || self.int || self.float || self.text || self.other;
        match &self.list {
            None => self.scalar().map(|data_type| Property::new(name, data_type)),
            Some(items) if !single => {
                items.scalar().map(|item| Property::new(name, list_of(item)).with_cardinality(Cardinality::List))
            }
            Some(_) => None,
        }
        .unwrap_or_else(|| Property::new(name, DataType::Utf8).of_kind(ValueKind::Json))
    }
}
