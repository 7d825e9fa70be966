//! The columns of a table as SQL shows them.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Date64Type};
use arrow_array::{ArrayRef, Date32Array};
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use isomorph::dataset::{KIND, Role, Table};
use isomorph::error::Place;
use isomorph::{Error, Result};

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
            data_type: field.data_type().clone(),
        });
        // The engine compares metadata where it unites rows, so only what changes how a value is written stays: that text is JSON.
        let metadata =
            field.metadata().iter().filter(|(name, kind)| *name == KIND && matches!(kind.as_str(), "json" | "bag"));
        let metadata = metadata.map(|(name, kind)| (name.clone(), kind.clone())).collect();
        let renamed = Field::new(name, field.data_type().clone(), field.is_nullable());
        shown.push(of_days(&Arc::new(renamed.with_metadata(metadata))));
    }
    (columns, Arc::new(Schema::new(shown)))
}

/// A column as SQL has it: dates are days, also those that are stored as milliseconds, which the engine takes for times.
pub(crate) fn of_days(field: &FieldRef) -> FieldRef {
    match field.data_type() {
        DataType::Date64 => Arc::new(field.as_ref().clone().with_data_type(DataType::Date32)),
        _ => Arc::clone(field),
    }
}

/// The values of such a column.
///
/// # Errors
/// [`isomorph::Kind::Unsupported`] for a date that is too far away for days of 32 bits.
pub(crate) fn in_days(column: &ArrayRef, field: &Field) -> Result<ArrayRef> {
    const DAY: i64 = 86_400_000;
    match (column.as_primitive_opt::<Date64Type>(), field.data_type()) {
        (Some(dates), DataType::Date32) => {
            let days: Date32Array = dates.try_unary::<_, Date32Type, _>(|time| {
                i32::try_from(time.div_euclid(DAY))
                    .map_err(|_| Error::unsupported("a date is out of range").at(Place::field(field.name())))
            })?;
            Ok(Arc::new(days))
        }
        _ => Ok(Arc::clone(column)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Date64Array;

    #[test]
    fn dates_are_days() {
        let field = Arc::new(Field::new("d", DataType::Date64, true));
        let shown = of_days(&field);
        assert_eq!(shown.data_type(), &DataType::Date32);
        let of = |times: Vec<Option<i64>>| in_days(&(Arc::new(Date64Array::from(times)) as ArrayRef), &shown);
        let days = of(vec![Some(-86_400_000), Some(86_399_999), None]);
        assert_eq!(
            days.ok().as_deref(),
            Some(&Date32Array::from(vec![Some(-1), Some(0), None]) as &dyn arrow_array::Array)
        );
        assert!(of(vec![Some(i64::MAX)]).is_err());
    }
}
