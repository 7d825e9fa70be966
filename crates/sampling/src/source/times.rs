//! Times of creation and removal of edges, on one clock whatever the types of the columns.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, TimeUnit};
use isomorph_error::{Error, Result};
use isomorph_model::type_name::type_name;
use isomorph_model::{EdgeType, Graph as Model, Property, ValueKind, well_known};

use crate::faults::{Met, Wrong, note};
use crate::request::NO_TIME;

/// The time of removal of edges that were not removed.
pub(super) const NEVER: i64 = i64::MAX;

/// The clock of a graph's edges; all times are of one kind, because they are compared with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Clock {
    /// Plain numbers.
    Numbers,
    /// Days since 1970.
    Days,
    /// Seconds, or fractions of them, since 1970, in UTC if columns have zones: in the finest unit of any column.
    Moments(TimeUnit),
}

impl Clock {
    /// Returns the Arrow type of such times.
    pub fn data_type(self) -> DataType {
        match self {
            Clock::Numbers => DataType::Int64,
            Clock::Days => DataType::Date32,
            Clock::Moments(unit) => DataType::Timestamp(unit, None),
        }
    }

    /// Returns its name.
    fn word(self) -> &'static str {
        match self {
            Clock::Numbers => "numbers",
            Clock::Days => "days",
            Clock::Moments(TimeUnit::Second) => "seconds",
            Clock::Moments(TimeUnit::Millisecond) => "milliseconds",
            Clock::Moments(TimeUnit::Microsecond) => "microseconds",
            Clock::Moments(TimeUnit::Nanosecond) => "nanoseconds",
        }
    }

    /// Returns the clock of a single column, if its cells are times.
    fn of_column(property: &Property) -> Option<Clock> {
        match &property.data_type {
            _ if property.kind != ValueKind::Plain => None,
            DataType::Date32 => Some(Clock::Days),
            DataType::Date64 => Some(Clock::Moments(TimeUnit::Millisecond)),
            DataType::Timestamp(unit, _) => Some(Clock::Moments(*unit)),
            number if number.is_integer() => Some(Clock::Numbers),
            _ => None,
        }
    }
}

/// Returns whether a property has the name of a time of edges.
pub(super) fn is_called(property: &Property) -> bool {
    [well_known::CREATED_AT, well_known::REMOVED_AT].contains(&&*property.name)
}

/// Returns whether a property is a time of edges.
pub(super) fn is_time(property: &Property) -> bool {
    is_called(property) && Clock::of_column(property).is_some()
}

/// Returns the clock of a graph, if its edges have times, and whether all columns have its unit.
pub(super) fn clock_of(model: &Model) -> Option<(Clock, bool)> {
    let columns = || model.edges.iter().flat_map(|ty| &ty.properties).filter(|property| is_called(property));
    let clocks = || columns().filter_map(Clock::of_column);
    let clock = clocks().max()?;
    Some((clock, clocks().all(|other| other == clock)))
}

/// The columns of times of an edge type.
pub(super) struct Times {
    clock: Clock,
    /// Columns of creation and removal, and their factors for conversion to the clock.
    columns: [Option<(usize, i64)>; 2],
    /// Why the type has no times, although it has columns with these names.
    unfit: Option<String>,
}

impl Times {
    /// Returns the columns of times of a type, on the clock of the graph.
    pub fn of(ty: &EdgeType, clock: Clock) -> Times {
        let unfit = ty.properties.iter().filter(|property| is_called(property)).find_map(|property| {
            let (own, what) = (Clock::of_column(property), type_name(&property.data_type));
            match own {
                None => Some(format!("{} is {what}, but times must be dates, timestamps or integers", property.name)),
                Some(own) if (own == Clock::Numbers) != (clock == Clock::Numbers) => {
                    Some(format!("{} is {what}, but other times of this graph are {}", property.name, clock.word()))
                }
                Some(_) => None,
            }
        });
        let column = |name: &str| {
            let at = ty.properties.iter().position(|property| property.name == name && unfit.is_none())?;
            Some((at, factor(Clock::of_column(&ty.properties[at])?, clock)))
        };
        let columns = [column(well_known::CREATED_AT), column(well_known::REMOVED_AT)];
        Times { clock, columns, unfit }
    }

    /// Returns why times cannot be requested, if so.
    pub fn unfit(&self) -> Option<&str> {
        self.unfit.as_deref()
    }

    /// Returns whether the type has times.
    pub fn has_any(&self) -> bool {
        self.columns.iter().any(Option::is_some)
    }

    /// Returns the times of creation and removal of edges: [`NO_TIME`] and [`NEVER`] if there are none. Records those that cannot
    /// be converted to the clock.
    ///
    /// # Errors
    /// Returns an error if a column does not have its type.
    pub fn read(
        &self,
        properties: &[Option<ArrayRef>],
        rows: usize,
        types: impl Fn(usize) -> i32,
        whose: &dyn Fn(usize) -> String,
        faults: &mut Met,
    ) -> Result<[ArrayRef; 2]> {
        let mut times = |column: Option<(usize, i64)>, none: i64| -> Result<ArrayRef> {
            let Some((column, factor)) = column.and_then(|(at, factor)| Some((properties.get(at)?.as_ref()?, factor)))
            else {
                return Ok(Arc::new(Int64Array::from(vec![none; rows])));
            };
            let found = numbers(column)?;
            let found = found.as_primitive::<Int64Type>();
            let time = |row: usize| found.is_valid(row).then(|| found.value(row).checked_mul(factor)).flatten();
            let times: Int64Array = (0..rows.min(found.len()))
                .map(|row| match time(row) {
                    // The formats of DeepGNN write −1 if an edge was not removed.
                    Some(-1) if none == NEVER && self.clock == Clock::Numbers => NEVER,
                    Some(time) => time,
                    None if column.is_null(row) => none,
                    None => {
                        let word = self.clock.word();
                        let message = || format!("a time of {} does not fit into {word} of 64 bits", whose(row));
                        note(faults, types(row), Wrong::NoTime, message);
                        none
                    }
                })
                .collect();
            Ok(Arc::new(times))
        };
        Ok([times(self.columns[0], NO_TIME)?, times(self.columns[1], NEVER)?])
    }
}

/// Returns the factor for converting a time from one clock to another.
fn factor(own: Clock, clock: Clock) -> i64 {
    let per_second = |unit| match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    };
    match (own, clock) {
        (Clock::Days, Clock::Moments(to)) => 86_400 * per_second(to),
        // The clock of a graph is the finest of its columns.
        (Clock::Moments(from), Clock::Moments(to)) => per_second(to) / per_second(from),
        _ => 1,
    }
}

/// Returns the numbers of times; null if one does not fit into a signed 64-bit integer.
fn numbers(column: &ArrayRef) -> Result<ArrayRef> {
    let safe = CastOptions { safe: true, ..CastOptions::default() };
    let cast = |column: &ArrayRef, to: &DataType| {
        let wrong = |error| Error::malformed("a column of times does not have its type").caused_by(error);
        cast_with_options(column, to, &safe).map_err(wrong)
    };
    match column.data_type() {
        DataType::Date32 => cast(&cast(column, &DataType::Int32)?, &DataType::Int64),
        _ => cast(column, &DataType::Int64),
    }
}
