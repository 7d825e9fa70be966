//! Columns of dataframes as properties: their types become those that the formats know, without a change of any value.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date64Type, Decimal128Type};
use arrow_array::{Array, ArrayRef};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field, TimeUnit};
use isomorph::dataset::{KIND, ROLE};
use isomorph::error::Place;
use isomorph::model::{Cardinality, Property, ValueKind};
use isomorph::{Error, Result};

/// The role of a column, if it is one of a table that isomorph read.
pub(crate) fn role(field: &Field) -> Option<&str> {
    field.metadata().get(ROLE).map(String::as_str)
}

/// Whether a column is a property.
pub(crate) fn is_property(field: &Field) -> bool {
    matches!(role(field), None | Some("property"))
}

/// The type as which a column is written.
///
/// # Errors
/// [`isomorph::Kind::Unsupported`] for types that no format knows.
pub(crate) fn written(field: &Field, what: &str) -> Result<DataType> {
    let refused = |found: &str| {
        let place = Place::file(what).in_field(field.name().as_str());
        Error::unsupported(format!("columns of type {found} are not supported")).at(place)
    };
    // The storage of a month is a bare number, of which nobody could tell that it was a month.
    if let Some(found) = field.metadata().get(EXTENSION).filter(|name| name.starts_with("pandas.")) {
        return Err(refused(found).hint("its text, or the time at which it begins"));
    }
    let found = || isomorph::model::type_name::type_name(field.data_type());
    if has_negative_scale(field.data_type()) {
        return Err(refused(&format!("{:?}", field.data_type())).hint("decimals of scale 0"));
    }
    plain(field.data_type())
        .ok_or_else(|| refused(&found()).hint("one column for each member of a struct").hint("a column of JSON text"))
}

/// Where Arrow keeps the name of an extension type.
const EXTENSION: &str = "ARROW:extension:name";

/// Whether values are decimals that count tens, hundreds, …, which no format knows.
fn has_negative_scale(data_type: &DataType) -> bool {
    use DataType as T;
    match data_type {
        T::Decimal32(_, scale) | T::Decimal64(_, scale) | T::Decimal128(_, scale) | T::Decimal256(_, scale) => {
            *scale < 0
        }
        T::Dictionary(_, values) => has_negative_scale(values),
        T::RunEndEncoded(_, values) => has_negative_scale(values.data_type()),
        T::List(item) | T::LargeList(item) | T::ListView(item) | T::LargeListView(item) | T::FixedSizeList(item, _) => {
            has_negative_scale(item.data_type())
        }
        _ => false,
    }
}

/// Fails at the first decimal that has more digits than its type: other libraries make such columns.
///
/// # Errors
/// [`isomorph::Kind::Malformed`], with the row within the batch.
fn digits_fit(column: &ArrayRef, field: &str, what: &str) -> Result<()> {
    let DataType::Decimal128(precision, _) = column.data_type() else { return Ok(()) };
    let limit = 10u128.pow(u32::from(*precision));
    let decimals = column.as_primitive::<Decimal128Type>();
    let row = (0..decimals.len()).find(|row| decimals.is_valid(*row) && decimals.value(*row).unsigned_abs() >= limit);
    row.map_or(Ok(()), |row| {
        let message = format!("a decimal has more than {precision} digits: {}", decimals.value(row));
        Err(Error::malformed(message).at(Place::file(what).in_field(field)).hint("a column of text, or of floats"))
    })
}

/// Fails at the first date in milliseconds that is not the beginning of a day, which no date is, or is too far away for days of 32 bits. `column`
/// consists of lists and values.
///
/// # Errors
/// [`isomorph::Kind::Malformed`], with the value.
fn are_days(column: &ArrayRef, field: &str, what: &str) -> Result<()> {
    const DAY: i64 = 86_400_000;
    if let Some(list) = column.as_list_opt::<i32>() {
        let (first, last) = (list.value_offsets().first(), list.value_offsets().last());
        let ends = [first, last].map(|end| end.and_then(|end| usize::try_from(*end).ok()).unwrap_or_default());
        return are_days(&list.values().slice(ends[0], ends[1] - ends[0]), field, what);
    }
    let Some(dates) = column.as_primitive_opt::<Date64Type>() else { return Ok(()) };
    let is_day = |time: i64| time % DAY == 0 && i32::try_from(time / DAY).is_ok();
    dates.iter().flatten().find(|time| !is_day(*time)).map_or(Ok(()), |time| {
        let message = format!("a date of {time} milliseconds is not a whole number of days");
        let error = Error::malformed(message).at(Place::file(what).in_field(field));
        Err(error.hint("the column as timestamps"))
    })
}

/// Whether values of a type are dates in milliseconds.
fn holds_milliseconds(data_type: &DataType) -> bool {
    use DataType as T;
    match data_type {
        T::Date64 => true,
        T::Dictionary(_, values) => holds_milliseconds(values),
        T::RunEndEncoded(_, values) => holds_milliseconds(values.data_type()),
        T::List(item) | T::LargeList(item) | T::ListView(item) | T::LargeListView(item) | T::FixedSizeList(item, _) => {
            holds_milliseconds(item.data_type())
        }
        _ => false,
    }
}

/// The type in which dates are milliseconds instead of days.
fn in_milliseconds(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Date32 => DataType::Date64,
        DataType::List(item) => {
            DataType::List(Arc::new(Field::new_list_field(in_milliseconds(item.data_type()), true)))
        }
        other => other.clone(),
    }
}

fn plain(data_type: &DataType) -> Option<DataType> {
    use DataType as T;
    Some(match data_type {
        T::Utf8 | T::LargeUtf8 | T::Utf8View | T::Null => T::Utf8,
        T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_) => T::Binary,
        T::Dictionary(_, values) => plain(values)?,
        T::RunEndEncoded(_, values) => plain(values.data_type())?,
        T::Float16 => T::Float32,
        T::Decimal32(precision, scale) | T::Decimal64(precision, scale) => T::Decimal128(*precision, *scale),
        T::Date64 => T::Date32,
        T::Time32(_) => T::Time32(TimeUnit::Millisecond),
        T::Timestamp(unit, zone) => {
            let unit = if *unit == TimeUnit::Second { TimeUnit::Millisecond } else { *unit };
            T::Timestamp(unit, zone.as_ref().map(|_| "UTC".into()))
        }
        T::List(item) | T::LargeList(item) | T::ListView(item) | T::LargeListView(item) | T::FixedSizeList(item, _) => {
            T::List(Arc::new(Field::new_list_field(plain(item.data_type())?, true)))
        }
        T::Struct(_) | T::Map(..) | T::Union(..) | T::Duration(_) | T::Interval(_) => return None,
        other => other.clone(),
    })
}

/// A column as another type, with the same values.
///
/// # Errors
/// If a value does not fit.
pub(crate) fn converted(column: &ArrayRef, to: &DataType, field: &str, what: &str) -> Result<ArrayRef> {
    digits_fit(column, field, what)?;
    if column.data_type() == to {
        return Ok(Arc::clone(column));
    }
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    let cast = |column: &ArrayRef, to: &DataType| {
        cast_with_options(column, to, &strict)
            .map_err(|error| Error::malformed(error.to_string()).at(Place::file(what).in_field(field)).caused_by(error))
    };
    if holds_milliseconds(column.data_type()) {
        // The cast to days divides and drops what is left.
        let dates = cast(column, &in_milliseconds(to))?;
        are_days(&dates, field, what)?;
        return cast(&dates, to);
    }
    cast(column, to)
}

/// The declaration of a property.
///
/// # Errors
/// As [`written`]; also for kinds of values that only a conversion keeps.
pub(crate) fn property(field: &Field, what: &str) -> Result<Property> {
    let data_type = written(field, what)?;
    let kind = match field.metadata().get(KIND).map(String::as_str) {
        None | Some("plain") => ValueKind::Plain,
        Some("json") => ValueKind::Json,
        Some("bag") => ValueKind::Bag,
        Some("raw") => ValueKind::Raw,
        Some(kind) => {
            let error = Error::unsupported(format!("columns of kind {kind} cannot be written from a dataframe"));
            let error = error.at(Place::file(what).in_field(field.name().as_str()));
            return Err(error.hint("isomorph.convert(…)    keeps them").hint("select(…)    leave the column out"));
        }
    };
    let cardinality = if matches!(data_type, DataType::List(_)) { Cardinality::List } else { Cardinality::Single };
    let name = if kind == ValueKind::Bag { "" } else { field.name().as_str() };
    Ok(Property::new(name, data_type).of_kind(kind).with_cardinality(cardinality))
}

/// Fails at the first null.
///
/// # Errors
/// [`isomorph::Kind::Malformed`], with the row.
pub(crate) fn no_nulls(column: &dyn Array, before: u64, field: &str, what: &str) -> Result<()> {
    if column.null_count() == 0 {
        return Ok(());
    }
    let row = (0..column.len()).find(|row| column.is_null(*row)).unwrap_or_default();
    let place = Place::file(what).row(before + row as u64).in_field(field);
    Err(Error::malformed(format!("{field} must not be null")).at(place))
}
