//! Parts of intervals, and of durations, which differences of timestamps are: `extract` and `date_part`.
//!
//! | part | the engine | here, as in PostgreSQL |
//! |---|---|---|
//! | `epoch` | null or an error beyond 68 years, a year of 360 days, fractions that are lost | a year of 365.25 days, months of 30, the nearest float |
//! | `hour`, `minute`, `second` | all hours, minutes and seconds of the length | those that are left of the day, the hour and the minute; an interval has as many hours as it is written with |
//! | `year`, `month` | all months of an interval | those that are left of the year |
//! | `millisecond` and smaller ones | wrap, or end the process | those of the minute, in 64 bits |
//! | `decade`, `century`, `millennium` | not supported | so many years |

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType,
    Float64Type, Int64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field, FieldRef, TimeUnit};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::preimage::PreimageResult;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{
    ColumnarValue, Documentation, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
};
use isomorph::Error;

use crate::errors::inside;
use crate::functions::doubles::nearest;
use crate::functions::intervals::whole;

/// Nanoseconds.
const SECOND: i64 = 1_000_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

/// Seconds.
const DAY: i64 = 86_400;
const MONTH: i64 = 30 * DAY;
const YEAR: i64 = 365 * DAY + DAY / 4;

/// Puts the function that finds them in the place of the engine's.
///
/// # Errors
/// If the function cannot be registered.
pub(crate) fn register(state: &mut SessionState) -> Result<()> {
    if let Ok(inner) = state.udf("date_part") {
        state.register_udf(Arc::new(ScalarUDF::from(DatePart { inner })))?;
    }
    Ok(())
}

/// A part of a length of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Millennium,
    Century,
    Decade,
    Year,
    Quarter,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
    Epoch,
}

impl Part {
    /// The part of a name, as the engine spells it.
    fn of(name: &str) -> Option<Part> {
        let name = name.trim_matches(['\'', '"']).to_lowercase();
        Some(match name.as_str() {
            "millennium" | "millenniums" | "millennia" => Part::Millennium,
            "c" | "cent" | "cents" | "century" | "centuries" => Part::Century,
            "dec" | "decs" | "decade" | "decades" => Part::Decade,
            "y" | "yr" | "yrs" | "year" | "years" => Part::Year,
            "qtr" | "quarter" | "quarters" => Part::Quarter,
            "mon" | "mons" | "month" | "months" => Part::Month,
            "w" | "week" | "weeks" => Part::Week,
            "d" | "day" | "days" => Part::Day,
            "h" | "hr" | "hrs" | "hour" | "hours" => Part::Hour,
            "m" | "min" | "mins" | "minute" | "minutes" => Part::Minute,
            "s" | "sec" | "secs" | "second" | "seconds" => Part::Second,
            "ms" | "msec" | "msecs" | "msecond" | "mseconds" | "millisecond" | "milliseconds" => Part::Millisecond,
            "us" | "usec" | "usecs" | "usecond" | "useconds" | "microsecond" | "microseconds" => Part::Microsecond,
            "nanosecond" | "nanoseconds" => Part::Nanosecond,
            "epoch" => Part::Epoch,
            _ => return None,
        })
    }
}

/// A length of time.
#[derive(Debug, Clone, Copy)]
struct Length {
    months: i64,
    days: i64,
    nanoseconds: i64,
}

impl Length {
    /// A part other than the epoch: with the sign of what it is a part of.
    fn part(self, part: Part) -> i64 {
        let Length { months, days, nanoseconds } = self;
        match part {
            Part::Millennium => months / 12_000,
            Part::Century => months / 1200,
            Part::Decade => months / 120,
            Part::Year => months / 12,
            Part::Quarter => months % 12 / 3 + 1,
            Part::Month => months % 12,
            Part::Week => days / 7,
            Part::Day => days,
            Part::Hour => nanoseconds / HOUR,
            Part::Minute => nanoseconds % HOUR / MINUTE,
            Part::Second | Part::Epoch => nanoseconds % MINUTE / SECOND,
            Part::Millisecond => nanoseconds % MINUTE / 1_000_000,
            Part::Microsecond => nanoseconds % MINUTE / 1000,
            Part::Nanosecond => nanoseconds % MINUTE,
        }
    }

    /// All of it, in seconds.
    fn epoch(self) -> f64 {
        let of_months = self.months / 12 * YEAR + self.months % 12 * MONTH;
        let seconds = i128::from(of_months) + i128::from(self.days) * i128::from(DAY);
        let all = seconds * i128::from(SECOND) + i128::from(self.nanoseconds);
        // Fewer digits are divided faster.
        if all % 1000 == 0 { nearest(all / 1000, 6) } else { nearest(all, 9) }
    }
}

/// What is made of the lengths in an array.
fn made<T: ArrowPrimitiveType>(array: &ArrayRef, make: impl Fn(Length) -> T::Native) -> Result<ArrayRef> {
    // A difference has days, and a part of a day.
    fn of<D: ArrowPrimitiveType<Native = i64>, T: ArrowPrimitiveType>(
        array: &ArrayRef,
        make: impl Fn(Length) -> T::Native,
        in_second: i64,
    ) -> ArrayRef {
        let in_day = DAY * in_second;
        let one = |value: i64| {
            make(Length { months: 0, days: value / in_day, nanoseconds: value % in_day * (SECOND / in_second) })
        };
        Arc::new(array.as_primitive::<D>().unary::<_, T>(one))
    }
    Ok(match array.data_type() {
        DataType::Duration(TimeUnit::Second) => of::<DurationSecondType, T>(array, make, 1),
        DataType::Duration(TimeUnit::Millisecond) => of::<DurationMillisecondType, T>(array, make, 1000),
        DataType::Duration(TimeUnit::Microsecond) => of::<DurationMicrosecondType, T>(array, make, 1_000_000),
        DataType::Duration(TimeUnit::Nanosecond) => of::<DurationNanosecondType, T>(array, make, SECOND),
        _ => Arc::new(whole(array)?.unary::<_, T>(|one| {
            make(Length { months: one.months.into(), days: one.days.into(), nanoseconds: one.nanoseconds })
        })),
    })
}

fn parts(name: &str, array: &ArrayRef) -> Result<ArrayRef> {
    match Part::of(name) {
        Some(Part::Epoch) => made::<Float64Type>(array, Length::epoch),
        Some(part) => made::<Int64Type>(array, |one| one.part(part)),
        None => Err(inside(
            Error::usage(format!("the question cannot be answered: a length of time has no part {name}"))
                .hint("extract(day from x), hour, minute, second    what is left of the day, the hour, the minute")
                .hint("extract(epoch from x)    all of it, in seconds"),
        )),
    }
}

fn is_length(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Duration(_) | DataType::Interval(_))
}

/// The engine's function, for what are no lengths.
#[derive(Debug, PartialEq, Eq, Hash)]
struct DatePart {
    inner: Arc<ScalarUDF>,
}

impl ScalarUDFImpl for DatePart {
    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let name = args.scalar_arguments.first().copied().flatten().and_then(|name| name.try_as_str().flatten());
        match (name, args.arg_fields.get(1)) {
            (Some(name), Some(field)) if is_length(field.data_type()) => {
                let own = if Part::of(name) == Some(Part::Epoch) { DataType::Float64 } else { DataType::Int64 };
                Ok(Arc::new(Field::new(self.name(), own, field.is_nullable())))
            }
            _ => self.inner.return_field_from_args(args),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match args.args.as_slice() {
            [ColumnarValue::Scalar(name), ColumnarValue::Array(array)] if is_length(array.data_type()) => {
                parts(name.try_as_str().flatten().unwrap_or_default(), array).map(ColumnarValue::Array)
            }
            [ColumnarValue::Scalar(name), ColumnarValue::Scalar(value)] if is_length(&value.data_type()) => {
                let found = parts(name.try_as_str().flatten().unwrap_or_default(), &value.to_array()?)?;
                ScalarValue::try_from_array(&found, 0).map(ColumnarValue::Scalar)
            }
            _ => self.inner.invoke_with_args(args),
        }
    }

    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        self.inner.schema_name(args)
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        internal_err!("the type of {} depends on the part", self.name())
    }

    fn simplify(&self, args: Vec<Expr>, info: &SimplifyContext) -> Result<ExprSimplifyResult> {
        self.inner.simplify(args, info)
    }

    fn preimage(&self, args: &[Expr], literal: &Expr, info: &SimplifyContext) -> Result<PreimageResult> {
        self.inner.preimage(args, literal, info)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner.documentation()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_parts() {
        let of = |months, days, nanoseconds| Length { months, days, nanoseconds };
        for (length, part, expected) in [
            (of(-14, 0, 0), Part::Year, -1),
            (of(-14, 0, 0), Part::Month, -2),
            (of(-14, 0, 0), Part::Quarter, 1),
            (of(-5, 0, 0), Part::Quarter, 0),
            (of(14, 0, 0), Part::Quarter, 1),
            (of(3000, 0, 0), Part::Century, 2),
            (of(0, 15, 50 * HOUR), Part::Hour, 50),
            (of(0, 15, 50 * HOUR), Part::Week, 2),
            (of(0, 0, -61_500_000_000), Part::Minute, -1),
            (of(0, 0, -61_500_000_000), Part::Second, -1),
            (of(0, 0, -61_500_000_000), Part::Millisecond, -1500),
            (of(0, 0, i64::MAX), Part::Nanosecond, i64::MAX % MINUTE),
            (of(0, 0, i64::MIN), Part::Microsecond, i64::MIN % MINUTE / 1000),
        ] {
            assert_eq!(length.part(part), expected, "{length:?} {part:?}");
        }
        let most = i64::from(i32::MAX);
        for (length, expected) in [
            (of(12, 0, 0), "31557600"),
            (of(-14, 0, 0), "-36741600"),
            (of(13, 3, 0), "34408800"),
            (of(0, 0, 1), "1e-9"),
            (of(0, 100_000, 1), "8640000000.000000001"),
            (of(0, 100_000, 123_456_000), "8640000000.123456"),
            (of(most, most, i64::MAX), "5833004305088836.854775807"),
        ] {
            let found = Ok::<_, std::num::ParseFloatError>(length.epoch().to_bits());
            assert_eq!(found, expected.parse().map(f64::to_bits), "{length:?} {}", length.epoch());
        }
    }
}
