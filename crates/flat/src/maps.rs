//! Maps of Parquet and Arrow: the model has lists of structs, which keep their order and their repeated keys.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, StructArray};
use arrow_schema::{ArrowError, DataType, Field, Fields};
use isomorph_model::type_name::list_of;

/// The fields of an entry.
const ENTRY: [&str; 2] = ["key", "value"];

/// Whether a type has maps in it.
fn has_maps(data_type: &DataType) -> bool {
    match data_type {
        DataType::Map(..) => true,
        DataType::List(item) => has_maps(item.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| has_maps(field.data_type())),
        _ => false,
    }
}

/// The same type with lists of entries for maps.
pub(crate) fn without_maps(data_type: &DataType) -> DataType {
    let field = |field: &Field| field.clone().with_data_type(without_maps(field.data_type()));
    match data_type {
        own if !has_maps(own) => own.clone(),
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(fields) => {
                let all = fields.iter().zip(ENTRY).map(|(own, name)| field(own).with_name(name));
                list_of(DataType::Struct(all.collect::<Vec<_>>().into()))
            }
            other => list_of(other.clone()),
        },
        DataType::List(item) => DataType::List(Arc::new(field(item))),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(|own| field(own)).collect::<Vec<_>>().into()),
        other => other.clone(),
    }
}

/// The values of a column with lists of entries for maps.
///
/// # Errors
/// If the parts of the column do not belong together.
pub(crate) fn entries(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let to = without_maps(column.data_type());
    if to == *column.data_type() {
        return Ok(Arc::clone(column));
    }
    let fields_of = |data_type: &DataType| match data_type {
        DataType::Struct(fields) => fields.clone(),
        _ => Fields::empty(),
    };
    let of_struct = |own: &StructArray, fields: Fields| {
        let columns = own.columns().iter().map(entries).collect::<Result<Vec<_>, _>>()?;
        StructArray::try_new(fields, columns, own.nulls().cloned())
    };
    match (column.data_type(), &to) {
        (DataType::Map(..), DataType::List(item)) => {
            let map = column.as_map();
            let values = of_struct(map.entries(), fields_of(item.data_type()))?;
            let list =
                ListArray::try_new(Arc::clone(item), map.offsets().clone(), Arc::new(values), map.nulls().cloned())?;
            Ok(Arc::new(list))
        }
        (DataType::List(_), DataType::List(item)) => {
            let list = column.as_list::<i32>();
            let values = entries(list.values())?;
            let list = ListArray::try_new(Arc::clone(item), list.offsets().clone(), values, list.nulls().cloned())?;
            Ok(Arc::new(list))
        }
        _ => Ok(Arc::new(of_struct(column.as_struct(), fields_of(&to))?)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_array::builder::{Int64Builder, MapBuilder, StringBuilder};
    use isomorph_model::type_name::type_name;

    use super::*;

    #[test]
    fn maps_are_lists_of_entries_also_inside_of_others() {
        let mut maps = MapBuilder::new(None, StringBuilder::new(), Int64Builder::new());
        for (key, value) in [("a", Some(1)), ("b", None), ("a", Some(2))] {
            maps.keys().append_value(key);
            maps.values().append_option(value);
        }
        maps.append(true).unwrap();
        maps.append(false).unwrap();
        maps.append(true).unwrap();
        let maps: ArrayRef = Arc::new(maps.finish());
        let own = entries(&maps).unwrap();
        assert_eq!(type_name(own.data_type()), "list<struct<key: string, value: int64>>");
        assert_eq!(*own.data_type(), without_maps(maps.data_type()));
        let lists = own.as_list::<i32>();
        assert_eq!((lists.value_length(0), lists.is_null(1), lists.value_length(2)), (3, true, 0));
        let values = lists.values().as_struct();
        assert_eq!(values.column(0).as_string::<i32>().value(2), "a");
        assert!(values.column(1).is_null(1));
        // A slice has the rows that it is of.
        let some = entries(&maps.slice(1, 2)).unwrap();
        assert_eq!((some.len(), some.is_null(0), some.as_list::<i32>().value_length(1)), (2, true, 0));
        let inside = Field::new("m", maps.data_type().clone(), true);
        let of: ArrayRef = Arc::new(StructArray::try_new(vec![inside].into(), vec![maps], None).unwrap());
        let own = entries(&of).unwrap();
        assert_eq!(type_name(own.data_type()), "struct<m: list<struct<key: string, value: int64>>>");
        assert_eq!(own.as_struct().column(0).as_list::<i32>().value_length(0), 3);
    }
}
