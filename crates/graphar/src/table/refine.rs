//! Types that are only known from the chunk files: the unit of timestamps, the item type of plain `list`.

use arrow_schema::{DataType, TimeUnit};
use isomorph_error::{Kind, Result};
use isomorph_model::type_name::list_of;
use isomorph_storage::Root;
use isomorph_tables::Encoding;

use super::open_chunk;
use crate::info::{PropertyGroup, PropertyInfo, ValueType};

/// Finds the Arrow types of the properties of one group.
pub(crate) struct Refine<'a> {
    pub root: &'a Root,
    /// The requested unit.
    pub timestamps: Option<TimeUnit>,
}

impl Refine<'_> {
    /// Returns the type of each property of `group`, whose first chunk is `first`, if there is one.
    ///
    /// Timestamps have the unit of the first Parquet file; other encodings do not state a unit and have the
    /// specification's milliseconds, unless another unit is requested.
    ///
    /// # Errors
    /// Returns an error if the storage fails.
    pub fn types(&self, group: &PropertyGroup, first: Option<&str>) -> Result<Vec<DataType>> {
        let encoding = group.file_type.encoding();
        let needed = |property: &PropertyInfo| match property.value_type {
            ValueType::Timestamp => self.timestamps.is_none() && encoding == Encoding::Parquet,
            ValueType::AnyList => !encoding.is_text(),
            _ => false,
        };
        let mut stored = None;
        if let Some(first) = first.filter(|_| group.properties.iter().any(needed)) {
            // A missing or damaged file is reported when it is read.
            stored = match open_chunk(self.root, first, encoding, Vec::new()) {
                Ok(reader) => Some(reader),
                Err(error) if matches!(error.kind(), Kind::Incomplete | Kind::Malformed | Kind::TooLarge) => None,
                Err(error) => return Err(error),
            };
        }
        let stored = |property: &PropertyInfo| {
            let field = stored.as_ref()?.schema().field_with_name(&property.name).ok()?;
            needed(property).then(|| field.data_type().clone())
        };
        let refined = |property: &PropertyInfo| match (&property.value_type, stored(property)) {
            (ValueType::AnyList, Some(DataType::List(item))) => list_of(item.data_type().clone()),
            (ValueType::Timestamp, found) => {
                let unit = self.timestamps.or_else(|| unit(found.as_ref()?)).unwrap_or(TimeUnit::Millisecond);
                property.data_type_in(unit)
            }
            _ => property.data_type(),
        };
        Ok(group.properties.iter().map(refined).collect())
    }
}

/// Returns the unit of a timestamp type, or of a list of timestamps.
fn unit(data_type: &DataType) -> Option<TimeUnit> {
    match data_type {
        DataType::Timestamp(unit, _) => Some(*unit),
        DataType::List(item) => unit(item.data_type()),
        _ => None,
    }
}
