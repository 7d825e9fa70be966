//! Serialises small tables as text for sidecars: columns by name and type, cells as text or null.
//!
//! Text is converted back only by casts, so that a sidecar from an unknown source either is refused or yields a table.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, StringArray};
use arrow_cast::{CastOptions, cast, cast_with_options};
use arrow_schema::{DataType, Field, Schema};
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
struct Text {
    rows: usize,
    columns: Vec<Column>,
}

#[derive(Serialize, Deserialize)]
struct Column {
    name: String,
    #[serde(rename = "type", with = "crate::type_name::by_name")]
    data_type: DataType,
    nullable: bool,
    cells: Vec<Option<String>>,
}

/// Whether cells of this type are unchanged by the round trip through text.
pub(crate) fn holds(data_type: &DataType) -> bool {
    use DataType as T;
    match data_type {
        T::Null | T::Boolean | T::Utf8 | T::LargeUtf8 | T::Date32 => true,
        T::Time32(_) | T::Time64(_) | T::Timestamp(_, None) => true,
        other => other.is_integer() || matches!(other, T::Float32 | T::Float64),
    }
}

/// Writes a table.
///
/// # Errors
/// Returns an error if the text of a column's type is not lossless: lists, bytes, structs.
pub fn serialize<S: Serializer>(table: &RecordBatch, serializer: S) -> Result<S::Ok, S::Error> {
    let schema = table.schema();
    let column = |(field, cells): (&Arc<Field>, &ArrayRef)| {
        if !holds(field.data_type()) {
            let data_type = crate::type_name::type_name(field.data_type());
            return Err(S::Error::custom(format!(
                "column {} of type {data_type} cannot be stored as text",
                field.name()
            )));
        }
        let text = cast(cells, &DataType::Utf8).map_err(S::Error::custom)?;
        let cells = text.as_string::<i32>().iter().map(|cell| cell.map(str::to_owned)).collect();
        let (name, data_type) = (field.name().clone(), field.data_type().clone());
        Ok(Column { name, data_type, nullable: field.is_nullable(), cells })
    };
    let columns: Result<Vec<Column>, S::Error> = schema.fields().iter().zip(table.columns()).map(column).collect();
    Text { rows: table.num_rows(), columns: columns? }.serialize(serializer)
}

/// Reads a table.
///
/// # Errors
/// Returns an error if a cell does not match its column's type, or columns differ in length.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RecordBatch, D::Error> {
    let text = Text::deserialize(deserializer)?;
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let mut fields = Vec::new();
    let mut columns = Vec::new();
    for Column { name, data_type, nullable, cells } in text.columns {
        if !holds(&data_type) || cells.len() != text.rows {
            return Err(D::Error::custom(format!("the type or length of column {name} is not valid")));
        }
        let cells: ArrayRef = match data_type {
            DataType::Null => arrow_array::new_null_array(&DataType::Null, text.rows),
            _ => cast_with_options(&StringArray::from(cells), &data_type, &options).map_err(D::Error::custom)?,
        };
        fields.push(Field::new(name, data_type, nullable));
        columns.push(cells);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(text.rows));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_array::{BooleanArray, Float64Array, Int64Array, LargeStringArray, ListArray, TimestampMicrosecondArray};

    use super::*;
    use crate::schema::DocumentBody;

    fn table(columns: Vec<(&str, ArrayRef)>) -> DocumentBody {
        DocumentBody::Table(
            RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)))
                .unwrap(),
        )
    }

    #[test]
    fn a_table_survives_as_text() {
        let body = table(vec![
            ("n", Arc::new(Int64Array::from(vec![Some(i64::MIN), None, Some(7)])) as ArrayRef),
            ("x", Arc::new(Float64Array::from(vec![Some(0.1), Some(f64::INFINITY), Some(5e-324)]))),
            ("is", Arc::new(BooleanArray::from(vec![Some(true), Some(false), None]))),
            ("text", Arc::new(LargeStringArray::from(vec![Some(""), None, Some("a\"\n\u{1f600}")]))),
            ("at", Arc::new(TimestampMicrosecondArray::from(vec![Some(-1), Some(1_700_000_000_000_001), None]))),
            ("nothing", arrow_array::new_null_array(&DataType::Null, 3)),
        ]);
        let text = serde_json::to_string(&body).unwrap();
        assert_eq!(serde_json::from_str::<DocumentBody>(&text).unwrap(), body, "{text}");
        for (what, change) in [("7", "x"), ("true", "perhaps"), ("int64", "list<int64>"), ("\"rows\":3", "\"rows\":4")]
        {
            assert!(
                serde_json::from_str::<DocumentBody>(&text.replacen(what, change, 1)).is_err(),
                "{what} as {change}"
            );
        }
        let lists: ArrayRef =
            Arc::new(ListArray::from_iter_primitive::<arrow_array::types::Int64Type, _, _>([Some([Some(1)])]));
        assert!(serde_json::to_string(&table(vec![("lists", lists)])).is_err());
    }
}
