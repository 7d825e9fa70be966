//! Values of one attribute as they were read: columns before the type that fits the whole file is known.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, StringArray, UInt64Array};
use arrow_schema::DataType;
use isomorph_error::Result;
use isomorph_model::{Ends, Property, ValueKind};

use crate::columns::Column;
use crate::kinds::Kinds;
use crate::slots::{Id, Number, Slot, Tag, push_value};

/// Values of one attribute; null where a record does not have it.
#[derive(Debug)]
pub(crate) enum Stored {
    Bool(BooleanArray),
    Long(Int64Array),
    Double(Float64Array),
    Text(StringArray),
    /// Values of several kinds, and those whose text is significant.
    Mixed(Vec<Tag>, StringArray),
}

/// What ids become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdKind {
    Integers,
    Texts,
    Rows,
}

/// Why a column was not converted.
#[derive(Debug)]
pub(crate) enum Misfit {
    /// The value in this row has another type.
    Row(usize),
    /// The lists have more than 2^31 items together.
    TooLong,
}

/// Calls `each` with row, kind, text and number of each value.
macro_rules! each_value {
    ($stored:expr, $each:expr) => {{
        let mut each = $each;
        match $stored {
            Stored::Bool(values) => values.iter().enumerate().try_for_each(|(row, value)| {
                value.map_or(Ok(()), |value| each(row, Tag::Bool, if value { "true" } else { "false" }, Number::None))
            }),
            Stored::Long(values) => values.iter().enumerate().try_for_each(|(row, value)| {
                value.map_or(Ok(()), |value| each(row, Tag::Integer, "", Number::Integer(value)))
            }),
            Stored::Double(values) => values.iter().enumerate().try_for_each(|(row, value)| {
                value.map_or(Ok(()), |value| each(row, Tag::Float, "", Number::Float(value)))
            }),
            Stored::Text(values) => values
                .iter()
                .enumerate()
                .try_for_each(|(row, value)| value.map_or(Ok(()), |value| each(row, Tag::Text, value, Number::None))),
            Stored::Mixed(tags, values) => {
                values.iter().zip(tags).enumerate().try_for_each(|(row, (value, tag))| {
                    value.map_or(Ok(()), |value| each(row, *tag, value, Number::None))
                })
            }
        }
    }};
}

impl Stored {
    /// Returns the memory, in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Stored::Bool(values) => values.get_array_memory_size(),
            Stored::Long(values) => values.get_array_memory_size(),
            Stored::Double(values) => values.get_array_memory_size(),
            Stored::Text(values) => values.get_array_memory_size(),
            Stored::Mixed(tags, values) => tags.capacity() + values.get_array_memory_size(),
        }
    }

    fn array(&self) -> &dyn Array {
        match self {
            Stored::Bool(values) => values,
            Stored::Long(values) => values,
            Stored::Double(values) => values,
            Stored::Text(values) | Stored::Mixed(_, values) => values,
        }
    }

    /// Returns the number of rows that have a value, or that have none.
    pub fn count(&self, set: bool) -> usize {
        if set { self.array().len() - self.array().null_count() } else { self.array().null_count() }
    }

    /// Returns whether a row has a value.
    pub fn has(&self, row: usize) -> bool {
        self.array().is_valid(row)
    }

    /// Adds the kinds of the values to `kinds`.
    ///
    /// # Errors
    /// Returns an error if a JSON value is not valid.
    pub fn see(&self, kinds: &mut Kinds) -> Result<()> {
        let count = self.count(true) as u64;
        match self {
            Stored::Text(_) => kinds.see_texts(count),
            Stored::Double(_) => kinds.see_floats(count),
            Stored::Bool(_) => kinds.see_bools(count),
            Stored::Long(values) => values.iter().flatten().for_each(|value| kinds.see_integer(value)),
            Stored::Mixed(tags, values) => {
                for (tag, value) in tags.iter().zip(values) {
                    if let Some(value) = value {
                        kinds.see(*tag, value)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns ids that are all integers, or all texts.
    pub fn plain_ids(&self) -> Option<&dyn Array> {
        match self {
            Stored::Long(values) => Some(values),
            Stored::Text(values) => Some(values),
            Stored::Bool(_) | Stored::Double(_) | Stored::Mixed(..) => None,
        }
    }

    /// Returns whether ids are integers, texts, and others.
    pub fn id_kinds(&self) -> [bool; 3] {
        let mut kinds = [false; 3];
        match self {
            Stored::Long(values) => kinds[0] = !values.is_empty(),
            Stored::Text(values) => kinds[1] = !values.is_empty(),
            Stored::Mixed(tags, values) => {
                for (tag, value) in tags.iter().zip(values) {
                    let Some(value) = value else { continue };
                    let kind = match tag {
                        Tag::Text => 1,
                        Tag::Integer if value.parse::<i64>().is_ok() => 0,
                        _ => 2,
                    };
                    kinds[kind] = true;
                }
            }
            Stored::Bool(_) | Stored::Double(_) => kinds[2] = true,
        }
        kinds
    }

    /// Returns the column of a property; `json_as_text` as for [`Column::new`].
    pub fn column(&self, property: &Property, json_as_text: bool) -> std::result::Result<ArrayRef, Misfit> {
        let is_plain = !matches!(property.kind, ValueKind::Json | ValueKind::Bag);
        match (self, &property.data_type) {
            (Stored::Bool(values), DataType::Boolean) if is_plain => return Ok(Arc::new(values.clone())),
            (Stored::Long(values), DataType::Int64) if is_plain => return Ok(Arc::new(values.clone())),
            (Stored::Double(values), DataType::Float64) if is_plain => return Ok(Arc::new(values.clone())),
            (Stored::Text(values), DataType::Utf8) if is_plain => return Ok(Arc::new(values.clone())),
            (Stored::Long(values), DataType::Int32) if is_plain => {
                let fits = |value: Option<i64>| value.is_none_or(|value| i32::try_from(value).is_ok());
                if let Some(row) = values.iter().position(|value| !fits(value)) {
                    return Err(Misfit::Row(row));
                }
                let column: Int32Array =
                    values.iter().map(|value| value.and_then(|value| i32::try_from(value).ok())).collect();
                return Ok(Arc::new(column));
            }
            (Stored::Long(values), DataType::Float64) if is_plain => {
                return Ok(Arc::new(values.unary::<_, Float64Type>(|value| value as f64)));
            }
            _ => {}
        }
        let (mut column, mut text, mut next) = (Column::new(property, json_as_text), String::new(), 0);
        each_value!(self, |row: usize, tag, raw: &str, number| {
            (next..row).for_each(|_| column.push_null());
            next = row + 1;
            let fits = if number == Number::None {
                column.push(tag, raw)
            } else {
                text.clear();
                push_value(&mut text, raw, number);
                column.push(tag, &text)
            };
            if fits { Ok(()) } else { Err(Misfit::Row(row)) }
        })?;
        (next..self.array().len()).for_each(|_| column.push_null());
        column.finish().ok_or(Misfit::TooLong)
    }

    /// Returns ids as a column; the row of the first that has another kind, if one has.
    pub fn ids(&self, kind: IdKind) -> std::result::Result<Ends, usize> {
        match (kind, self) {
            (IdKind::Integers, Stored::Long(values)) => Ok(Ends::Keys(Arc::new(values.clone()))),
            (IdKind::Texts, Stored::Text(values)) => Ok(Ends::Keys(Arc::new(values.clone()))),
            (IdKind::Texts, _) => {
                let (mut column, mut text) = (StringBuilder::with_capacity(self.array().len(), 0), String::new());
                each_value!(self, |_, _, raw: &str, number| {
                    text.clear();
                    push_value(&mut text, raw, number);
                    column.append_value(&text);
                    Ok::<(), usize>(())
                })?;
                Ok(Ends::Keys(Arc::new(column.finish())))
            }
            (IdKind::Integers | IdKind::Rows, _) => {
                let mut all = Vec::with_capacity(self.array().len());
                each_value!(self, |row, tag, raw: &str, number| {
                    let value = match number {
                        Number::Integer(value) => Some(value),
                        _ if tag == Tag::Integer => raw.parse().ok(),
                        _ => None,
                    };
                    value.map(|value: i64| all.push(value)).ok_or(row)
                })?;
                if kind == IdKind::Integers {
                    return Ok(Ends::Keys(Arc::new(Int64Array::from(all))));
                }
                match all.iter().position(|value| *value < 0) {
                    Some(row) => Err(row),
                    None => Ok(Ends::Rows(all.iter().map(|value| value.unsigned_abs()).collect::<UInt64Array>())),
                }
            }
        }
    }
}

/// Returns an integer of 64 bits whose text is its decimal notation; the text of others is significant: an integer has no negative zero.
fn number_of(tag: Tag, text: &str) -> Number {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_usual = digits.starts_with(|first: char| first.is_ascii_digit() && first != '0') || text == "0";
    match tag == Tag::Integer && is_usual {
        true => text.parse().map_or(Number::None, Number::Integer),
        false => Number::None,
    }
}

#[derive(Default)]
enum Values {
    #[default]
    None,
    Bool(BooleanBuilder),
    Long(Int64Builder),
    Double(Float64Builder),
    Text(StringBuilder),
    Mixed(Vec<Tag>, StringBuilder),
}

/// Collects the values of one attribute.
#[derive(Default)]
pub(crate) struct StoredBuilder {
    values: Values,
    rows: usize,
    /// Sizes of the last column that was finished: rows, and bytes of texts.
    last: (usize, usize),
}

impl StoredBuilder {
    /// Appends the value of a slot at a row, after nulls in the rows before it that were not given.
    pub fn push(&mut self, row: usize, slot: &Slot) {
        let number = match slot.number() {
            Number::None => number_of(slot.tag(), slot.text()),
            number => number,
        };
        self.push_value(row, slot.tag(), slot.text(), number);
    }

    /// Appends an id.
    pub fn push_id(&mut self, row: usize, id: &Id) {
        let number = number_of(id.tag, &id.text);
        self.push_value(row, id.tag, &id.text, number);
    }

    pub fn push_value(&mut self, row: usize, tag: Tag, text: &str, number: Number) {
        if matches!(self.values, Values::None) {
            self.begin(tag, number);
        }
        let missing = row - self.rows;
        self.rows = row + 1;
        if missing > 0 {
            self.push_nulls(missing);
        }
        match (&mut self.values, tag, number) {
            (Values::Bool(values), Tag::Bool, _) => values.append_value(text == "true"),
            (Values::Long(values), Tag::Integer, Number::Integer(value)) => values.append_value(value),
            (Values::Double(values), Tag::Float, Number::Float(value)) => values.append_value(value),
            (Values::Text(values), Tag::Text, _) => values.append_value(text),
            (Values::Mixed(tags, values), ..) => {
                tags.push(tag);
                if number == Number::None {
                    values.append_value(text);
                } else {
                    let mut own = String::new();
                    push_value(&mut own, text, number);
                    values.append_value(own);
                }
            }
            _ => {
                self.mix();
                self.rows = row;
                self.push_value(row, tag, text, number);
            }
        }
    }

    fn begin(&mut self, tag: Tag, number: Number) {
        let (rows, bytes) = self.last;
        self.values = match (tag, number) {
            (Tag::Bool, _) => Values::Bool(BooleanBuilder::with_capacity(rows)),
            (Tag::Integer, Number::Integer(_)) => Values::Long(Int64Builder::with_capacity(rows)),
            (Tag::Float, Number::Float(_)) => Values::Double(Float64Builder::with_capacity(rows)),
            (Tag::Text, _) => Values::Text(StringBuilder::with_capacity(rows, bytes)),
            _ => Values::Mixed(Vec::with_capacity(rows), StringBuilder::with_capacity(rows, bytes)),
        };
    }

    fn push_nulls(&mut self, count: usize) {
        match &mut self.values {
            Values::None => {}
            Values::Bool(values) => values.append_nulls(count),
            Values::Long(values) => values.append_nulls(count),
            Values::Double(values) => values.append_nulls(count),
            Values::Text(values) => values.append_nulls(count),
            Values::Mixed(tags, values) => {
                tags.resize(tags.len() + count, Tag::Null);
                values.append_nulls(count);
            }
        }
    }

    /// Turns the values into ones of several kinds.
    fn mix(&mut self) {
        let stored = match std::mem::take(&mut self.values) {
            Values::None => return,
            Values::Bool(mut values) => Stored::Bool(values.finish()),
            Values::Long(mut values) => Stored::Long(values.finish()),
            Values::Double(mut values) => Stored::Double(values.finish()),
            Values::Text(mut values) => Stored::Text(values.finish()),
            mixed @ Values::Mixed(..) => {
                self.values = mixed;
                return;
            }
        };
        let mut own = StoredBuilder { values: Values::Mixed(Vec::new(), StringBuilder::new()), ..Self::default() };
        let _ = each_value!(&stored, |row, tag, text: &str, number| {
            own.push_value(row, tag, text, number);
            Ok::<(), ()>(())
        });
        own.push_nulls(stored.array().len() - own.rows);
        self.values = own.values;
    }

    /// Returns the column of this many rows, and starts the next; `None` if no row has a value.
    pub fn finish(&mut self, rows: usize) -> Option<Stored> {
        if matches!(self.values, Values::None) {
            return None;
        }
        self.push_nulls(rows - self.rows);
        self.rows = 0;
        let stored = match std::mem::take(&mut self.values) {
            Values::None => return None,
            Values::Bool(mut values) => Stored::Bool(values.finish()),
            Values::Long(mut values) => Stored::Long(values.finish()),
            Values::Double(mut values) => Stored::Double(values.finish()),
            Values::Text(mut values) => Stored::Text(values.finish()),
            Values::Mixed(tags, mut values) => Stored::Mixed(tags, values.finish()),
        };
        let bytes = match &stored {
            Stored::Text(values) | Stored::Mixed(_, values) => values.value_data().len(),
            _ => 0,
        };
        self.last = (rows, bytes + bytes / 16);
        Some(stored)
    }
}
