//! Properties as a Parquet map: one of the two optimisations that the specification mentions.
//!
//! The values are JSON texts (the footer of the file has `isomorph.props` = `json`), so that numbers, booleans and nested values
//! keep their type. Maps of other writers have values of one type; text is plain text. Values that JSON does not have (NaN, infinity, a
//! text that is not one JSON value) are put where the text of an object would have them, so that one check of cells finds both.

use std::sync::Arc;

use arrow_array::builder::{MapBuilder, MapFieldNames, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, MapArray, StringArray};
use arrow_buffer::ArrowNativeType;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Field};
use isomorph_error::{Error, Result};
use isomorph_model::json::{Members, Value, items, push_string, value};

use super::shape::cast_strict;
use crate::columns::Column;
use crate::rules;

/// Key and value in the footer of a file which declare that the values of the map are JSON texts.
pub(crate) const PROPS_FOOTER: (&str, &str) = ("isomorph.props", "json");

/// Returns the names of a map's members that Parquet requires.
fn names() -> MapFieldNames {
    MapFieldNames { entry: "key_value".into(), key: "key".into(), value: "value".into() }
}

/// Returns the field of a column of properties as a map.
pub(crate) fn map_field(nullable: bool) -> Field {
    let empty = MapBuilder::new(Some(names()), StringBuilder::new(), StringBuilder::new()).finish();
    Field::new(Column::Props.name(), empty.data_type().clone(), nullable)
}

/// Converts objects to a map.
///
/// # Errors
/// Returns an error if a cell is not a JSON object.
pub(crate) fn to_map(props: &StringArray) -> Result<MapArray> {
    let mut builder = MapBuilder::new(Some(names()), StringBuilder::new(), StringBuilder::new());
    let mut members = Members::default();
    for cell in props {
        members.read(cell.unwrap_or_default(), |name, value| {
            builder.keys().append_value(name);
            builder.values().append_value(value);
            Ok(())
        })?;
        builder.append(true).map_err(|error| Error::malformed(error.to_string()))?;
    }
    Ok(builder.finish())
}

/// Converts a map to objects.
///
/// # Errors
/// Returns an error if keys are null, or if values have a type that JSON does not have.
pub(crate) fn from_map(map: &MapArray, json: bool) -> Result<StringArray> {
    let keys = cast_strict(map.keys(), &DataType::Utf8, Column::Props.name())?;
    let keys: &StringArray = keys.as_string();
    let values = Values::new(map.values(), json)?;
    let mut out = StringBuilder::with_capacity(map.len(), keys.value_data().len());
    let mut cell = String::new();
    for (row, ends) in map.value_offsets().windows(2).enumerate() {
        cell.clear();
        if map.is_valid(row) && ends[0] < ends[1] {
            for entry in ends[0].as_usize()..ends[1].as_usize() {
                if keys.is_null(entry) {
                    return Err(Error::broken(&rules::PROPS_JSON, "a key of props is null"));
                }
                cell.push(if cell.is_empty() { '{' } else { ',' });
                push_string(&mut cell, keys.value(entry));
                cell.push(':');
                values.push(entry, &mut cell)?;
            }
            cell.push('}');
        }
        out.append_value(&cell);
    }
    Ok(out.finish())
}

/// The values of a map, ready to be written as JSON.
enum Values {
    Json(ArrayRef),
    Text(ArrayRef),
    Scalars(ArrayRef),
}

impl Values {
    fn new(values: &ArrayRef, json: bool) -> Result<Self> {
        let text = || cast_strict(values, &DataType::Utf8, Column::Props.name());
        Ok(match values.data_type() {
            DataType::Boolean => Values::Scalars(Arc::clone(values)),
            // Widened, so that every reader gets exactly this value.
            DataType::Float16 | DataType::Float32 => {
                Values::Scalars(cast_strict(values, &DataType::Float64, Column::Props.name())?)
            }
            number if number.is_numeric() => Values::Scalars(Arc::clone(values)),
            _ if json => Values::Json(text()?),
            _ => Values::Text(text()?),
        })
    }

    fn push(&self, entry: usize, out: &mut String) -> Result<()> {
        let array = match self {
            Values::Json(array) | Values::Text(array) | Values::Scalars(array) => array,
        };
        if array.is_null(entry) {
            out.push_str("null");
            return Ok(());
        }
        match self {
            Values::Json(array) => {
                let text = array.as_string::<i32>().value(entry);
                if !is_one_value(text) {
                    // Two values would become two members; this way the cell is not an object, and its reader reports the row.
                    out.push('?');
                }
                out.push_str(text);
            }
            Values::Text(array) => push_string(out, array.as_string::<i32>().value(entry)),
            Values::Scalars(array) => {
                let formatter = ArrayFormatter::try_new(array.as_ref(), &FormatOptions::new())
                    .map_err(|error| Error::malformed(error.to_string()))?;
                let text = formatter.value(entry).to_string();
                out.push_str(match text.as_str() {
                    "inf" => "Infinity",
                    "-inf" => "-Infinity",
                    other => other,
                });
            }
        }
        Ok(())
    }
}

/// Returns whether the text is a single JSON value.
fn is_one_value(text: &str) -> bool {
    let read = match value(text) {
        Ok(Value::Array(array)) => items(array, |_| Ok(())),
        Ok(Value::Object(object)) => Members::default().read(object, |_, _| Ok(())),
        other => other.map(|_| ()),
    };
    read.is_ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn objects_come_back() {
        let props = StringArray::from(vec![
            Some(r#"{"a":1,"b":"x","c":[1,{"d":null}],"e\"":12345678901234567890123}"#),
            Some(""),
            None,
            Some("{}"),
            Some("null"),
        ]);
        let map = to_map(&props).unwrap();
        let back = from_map(&map, true).unwrap();
        assert_eq!(back.value(0), props.value(0));
        assert!((1..5).all(|row| back.value(row).is_empty()));
    }

    #[test]
    fn values_of_other_writers_are_what_their_type_says() {
        let mut builder = MapBuilder::new(None, StringBuilder::new(), arrow_array::builder::Int32Builder::new());
        builder.keys().append_value("n");
        builder.values().append_value(5);
        builder.keys().append_value("m");
        builder.values().append_null();
        builder.append(true).unwrap();
        assert_eq!(from_map(&builder.finish(), false).unwrap().value(0), r#"{"n":5,"m":null}"#);
        let map = to_map(&StringArray::from(vec![r#"{"n":5}"#])).unwrap();
        assert_eq!(from_map(&map, false).unwrap().value(0), r#"{"n":"5"}"#);
    }

    #[test]
    fn floats_are_widened_and_none_becomes_null() {
        use arrow_array::builder::Float32Builder;
        let mut builder = MapBuilder::new(None, StringBuilder::new(), Float32Builder::new());
        for (key, value) in [("a", 0.1), ("b", f32::NAN), ("c", f32::INFINITY), ("d", f32::NEG_INFINITY)] {
            builder.keys().append_value(key);
            builder.values().append_value(value);
        }
        builder.append(true).unwrap();
        let wanted = r#"{"a":0.10000000149011612,"b":NaN,"c":Infinity,"d":-Infinity}"#;
        assert_eq!(from_map(&builder.finish(), false).unwrap().value(0), wanted);
    }

    #[test]
    fn a_text_of_two_values_is_not_two_members() {
        for (text, sound) in [("1", true), (r#"1,"z":2"#, false), (r#"[1],"z":[2]"#, false), (r#"{"a":1}"#, true)] {
            let mut builder = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
            builder.keys().append_value("k");
            builder.values().append_value(text);
            builder.append(true).unwrap();
            let cells = from_map(&builder.finish(), true).unwrap();
            assert_eq!(Members::default().read(cells.value(0), |_, _| Ok(())).is_ok(), sound, "{text}");
        }
    }
}
