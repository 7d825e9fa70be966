//! The columns of a table as SQL shows them.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Date64Type};
use arrow_array::{ArrayRef, Date32Array};
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use datafusion::arrow::compute::cast;
use isomorph::dataset::{KIND, Role, Table};
use isomorph::error::Place;
use isomorph::{Error, Result};

/// The zone of columns of instants. Dataframes tell it from `+00:00`, and have columns of other origin in it.
const ZONE: &str = "UTC";

/// A column of a table: what the dataset calls it, and how it may be compared.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    /// Its name in the dataset.
    pub stored: String,
    pub role: Role,
    pub compares: Compares,
    pub data_type: DataType,
}

/// Which comparisons of a column the dataset answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compares {
    /// All.
    Fully,
    /// Equality: RDF terms.
    Equal,
    /// Only whether it is null: JSON, bags, literals, tensors, bytes of unknown type.
    Null,
}

/// The columns of `table`, and their schema in SQL. Structural columns but the key begin with `_`, with as many as no property's name has.
pub(crate) fn columns(table: &Table) -> (Vec<Column>, SchemaRef) {
    let fields = table.schema().fields();
    let keeps_name = |role: &Role| matches!(role, Role::Key | Role::Property(_));
    let mut taken: Vec<String> =
        table.roles().iter().zip(fields).filter(|(role, _)| keeps_name(role)).map(|(_, f)| f.name().clone()).collect();
    let mut columns = Vec::with_capacity(fields.len());
    let mut shown = Vec::with_capacity(fields.len());
    for (role, field) in table.roles().iter().zip(fields) {
        let name = if keeps_name(role) {
            field.name().clone()
        } else {
            let mut name = format!("_{}", role.word());
            while taken.contains(&name) {
                name.insert(0, '_');
            }
            taken.push(name.clone());
            name
        };
        let compares = match field.metadata().get(KIND).map(String::as_str) {
            None => Compares::Fully,
            Some("term") => Compares::Equal,
            Some(_) => Compares::Null,
        };
        columns.push(Column {
            stored: field.name().clone(),
            role: *role,
            compares,
            data_type: in_utc(field.data_type()),
        });
        // The engine compares metadata where it unites rows, so only what changes how a value is written stays: that text is JSON.
        let metadata =
            field.metadata().iter().filter(|(name, kind)| *name == KIND && matches!(kind.as_str(), "json" | "bag"));
        let metadata = metadata.map(|(name, kind)| (name.clone(), kind.clone())).collect();
        let renamed = Field::new(name, field.data_type().clone(), field.is_nullable());
        shown.push(in_sql(&Arc::new(renamed.with_metadata(metadata))));
    }
    (columns, Arc::new(Schema::new(shown)))
}

/// A column as SQL has it: dates are days, also those that are stored as milliseconds, which the engine takes for times. Instants are in UTC, whatever the
/// zone of the column is: their days, their hours and their texts are then those of UTC in every function.
pub(crate) fn in_sql(field: &FieldRef) -> FieldRef {
    let to = match field.data_type() {
        DataType::Date64 => DataType::Date32,
        own => in_utc(own),
    };
    if to == *field.data_type() { Arc::clone(field) } else { Arc::new(field.as_ref().clone().with_data_type(to)) }
}

/// A type whose instants are in UTC.
fn in_utc(own: &DataType) -> DataType {
    let of = |field: &FieldRef| Arc::new(field.as_ref().clone().with_data_type(in_utc(field.data_type())));
    match own {
        DataType::Timestamp(unit, Some(_)) => DataType::Timestamp(*unit, Some(ZONE.into())),
        DataType::List(item) => DataType::List(of(item)),
        DataType::LargeList(item) => DataType::LargeList(of(item)),
        DataType::FixedSizeList(item, length) => DataType::FixedSizeList(of(item), *length),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(of).collect()),
        DataType::Map(entries, sorted) => DataType::Map(of(entries), *sorted),
        other => other.clone(),
    }
}

/// The values of such a column.
///
/// # Errors
/// [`isomorph::Kind::Unsupported`] for a date that is too far away for days of 32 bits.
pub(crate) fn as_in_sql(column: &ArrayRef, field: &Field) -> Result<ArrayRef> {
    const DAY: i64 = 86_400_000;
    match (column.as_primitive_opt::<Date64Type>(), field.data_type()) {
        (Some(dates), DataType::Date32) => {
            let days: Date32Array = dates.try_unary::<_, Date32Type, _>(|time| {
                i32::try_from(time.div_euclid(DAY))
                    .map_err(|_| Error::unsupported("a date is out of range").at(Place::field(field.name())))
            })?;
            Ok(Arc::new(days))
        }
        // The same numbers, of a type that has them in UTC.
        (None, to) if to != column.data_type() && *to == in_utc(column.data_type()) => {
            cast(column, to).map_err(|error| Error::malformed(error.to_string()).caused_by(error))
        }
        _ => Ok(Arc::clone(column)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::types::TimestampMicrosecondType;
    use arrow_array::{Array, Date64Array, ListArray, TimestampMicrosecondArray};
    use arrow_schema::TimeUnit;
    use datafusion::arrow::buffer::OffsetBuffer;

    #[test]
    fn instants_are_in_utc_also_inside_lists() -> Result<()> {
        let zone = |name: &str| DataType::Timestamp(TimeUnit::Microsecond, Some(name.into()));
        let times = TimestampMicrosecondArray::from(vec![Some(1), None, Some(3)]).with_timezone("Europe/Berlin");
        let item = Arc::new(Field::new_list_field(zone("Europe/Berlin"), true));
        let lists: ArrayRef =
            Arc::new(ListArray::new(item, OffsetBuffer::from_lengths([2, 1]), Arc::new(times.clone()), None));
        let shown = in_sql(&Arc::new(Field::new("t", lists.data_type().clone(), true)));
        assert_eq!(shown.data_type(), &DataType::List(Arc::new(Field::new_list_field(zone("UTC"), true))));
        let found = as_in_sql(&lists, &shown)?;
        assert_eq!(found.data_type(), shown.data_type());
        assert_eq!(found.as_list::<i32>().values().as_primitive::<TimestampMicrosecondType>().values(), times.values());
        let sliced = as_in_sql(&lists.slice(1, 1), &shown)?;
        assert_eq!(sliced.as_list::<i32>().value(0).as_primitive::<TimestampMicrosecondType>().values(), &[3]);
        Ok(())
    }

    #[test]
    fn dates_are_days() {
        let field = Arc::new(Field::new("d", DataType::Date64, true));
        let shown = in_sql(&field);
        assert_eq!(shown.data_type(), &DataType::Date32);
        let of = |times: Vec<Option<i64>>| as_in_sql(&(Arc::new(Date64Array::from(times)) as ArrayRef), &shown);
        let days = of(vec![Some(-86_400_000), Some(86_399_999), None]);
        assert_eq!(
            days.ok().as_deref(),
            Some(&Date32Array::from(vec![Some(-1), Some(0), None]) as &dyn arrow_array::Array)
        );
        assert!(of(vec![Some(i64::MAX)]).is_err());
    }
}
