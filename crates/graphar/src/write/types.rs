//! Maps properties of the model to types of GraphAr.

use arrow_schema::{DataType, TimeUnit};
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::type_name::{list_of, type_name};
use isomorph_model::{Cardinality, KeyKind, NodeType, Property};

use super::names::check_name;
use crate::info::{FileType, PropertyInfo, ValueType};
use crate::rules;

fn no_place(data_type: &DataType) -> Error {
    let message = format!("GraphAr has no type for {}", type_name(data_type));
    Error::new(Kind::WouldLose, message).hint("bool, int32, int64, float, double, string, date, timestamp, list<…>")
}

/// Returns the information file's entry for `property`; edge properties have one value.
///
/// # Errors
/// Returns [`Kind::WouldLose`] for a type that GraphAr does not have; [`rules::META_NAME`], [`rules::META_TEXT`] or
/// [`rules::META_RESERVED`] for the name.
pub(crate) fn property(property: &Property, of_edge: bool) -> Result<PropertyInfo> {
    check_name("property", &property.name)?;
    if property.name.starts_with("_graphAr") {
        return Err(Error::broken(&rules::META_RESERVED, format!("the property name {} is reserved", property.name)));
    }
    let value_type = match (&property.data_type, property.cardinality) {
        (data_type, Cardinality::Single) => ValueType::from_data_type(data_type),
        _ if of_edge => {
            let message = format!("{} has several values, but edge properties of GraphAr have one", property.name);
            return Err(Error::new(Kind::WouldLose, message));
        }
        (DataType::List(item), _) => ValueType::from_data_type(item.data_type()).filter(|item| !item.is_list()),
        _ => None,
    };
    Ok(PropertyInfo {
        name: property.name.clone(),
        value_type: value_type.ok_or_else(|| no_place(&property.data_type))?,
        primary: false,
        nullable: property.nullable,
        cardinality: property.cardinality,
    })
}

/// Returns the primary property of a node type; `None` if its keys are rows.
///
/// # Errors
/// As [`property`].
pub(super) fn key_property(ty: &NodeType) -> Result<Option<PropertyInfo>> {
    let value_type = match (ty.key.kind, &ty.key.data_type) {
        (KeyKind::Row, _) => return Ok(None),
        (KeyKind::Int, DataType::Int32) => ValueType::Int32,
        (KeyKind::Int, _) => ValueType::Int64,
        (KeyKind::Utf8 | KeyKind::Term, _) => ValueType::String,
        (KeyKind::Tuple, _) => {
            return Err(Error::new(Kind::WouldLose, format!("{}: GraphAr has no keys with several parts", ty.name)));
        }
    };
    let name = key_name(ty);
    let mut key = property(&Property::new(&name, value_type.data_type()), false)
        .map_err(|error| error.at(Place::field(format!("{}.{name}", ty.name))))?;
    key.primary = true;
    key.nullable = false;
    Ok(Some(key))
}

/// Returns the name of the primary property: the key's own, else `id` or, if a property has that name, `_id`, `__id`, …
fn key_name(ty: &NodeType) -> String {
    if let Some(name) = &ty.key.name {
        return name.clone();
    }
    let mut name = "id".to_owned();
    while ty.properties.iter().any(|property| property.name == name) {
        name.insert(0, '_');
    }
    name
}

/// Returns the Arrow type of a property's column in a file. Parquet keeps units of timestamps from milliseconds on; other
/// encodings state no unit, so they use milliseconds.
pub(crate) fn stored_type(data_type: &DataType, file_type: FileType) -> DataType {
    match data_type {
        DataType::Timestamp(unit, zone) => {
            let coarse = *unit == TimeUnit::Second || file_type != FileType::Parquet;
            DataType::Timestamp(if coarse { TimeUnit::Millisecond } else { *unit }, zone.clone())
        }
        DataType::List(item) => list_of(stored_type(item.data_type(), file_type)),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use isomorph_model::Key;

    use super::*;

    #[test]
    fn keys_get_a_name_that_is_free() {
        let mut ty = NodeType::new("t", Key::utf8());
        assert_eq!(key_property(&ty).unwrap().unwrap().name, "id");
        ty.properties.push(Property::new("id", DataType::Utf8));
        assert_eq!(key_property(&ty).unwrap().unwrap().name, "_id");
        ty.key = Key::int64().named("number");
        let key = key_property(&ty).unwrap().unwrap();
        assert_eq!(
            (key.name.as_str(), key.value_type, key.primary, key.nullable),
            ("number", ValueType::Int64, true, false)
        );
        ty.key = Key::row();
        assert_eq!(key_property(&ty).unwrap(), None);
    }

    #[test]
    fn what_has_no_type_would_be_lost() {
        let refused = |data_type: DataType| property(&Property::new("x", data_type), false).unwrap_err().kind();
        for data_type in [DataType::UInt64, DataType::Binary, DataType::Decimal128(10, 2), list_of(DataType::Boolean)] {
            assert_eq!(refused(data_type), Kind::WouldLose);
        }
        let set = Property::new("x", list_of(DataType::Boolean)).with_cardinality(Cardinality::Set);
        assert_eq!(property(&set, false).unwrap().value_type, ValueType::Bool);
        assert_eq!(property(&set, true).unwrap_err().kind(), Kind::WouldLose);
        let name = Property::new("_graphArX", DataType::Int64);
        assert_eq!(property(&name, false).unwrap_err().broken_rule().unwrap().id, "GAR-META-RESERVED");
    }
}
