//! `date_trunc` of dates and of times without a zone, in their own unit: the engine counts nanoseconds, which have no years before 1678 and after 2262.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampSecondType};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use datafusion::common::{Result, internal_err, plan_err};
use isomorph::Error;

use crate::errors::inside;

/// The begin of the year, month … of dates, as microseconds; or of times, in their unit, with all the years that it has.
pub(crate) fn begins(of: &str, times: &ArrayRef) -> Result<ArrayRef> {
    let (unit, second) = match times.data_type() {
        DataType::Timestamp(unit @ TimeUnit::Second, None) => (*unit, 1),
        DataType::Timestamp(unit @ TimeUnit::Millisecond, None) => (*unit, 1000),
        _ => (TimeUnit::Microsecond, 1_000_000),
    };
    let day = 86_400 * second;
    let first: fn(i64) -> i64 = match of {
        "year" => |day| days_of(civil(day).0, 1),
        "quarter" => |day| days_of(civil(day).0, (civil(day).1 - 1) / 3 * 3 + 1),
        "month" => |day| days_of(civil(day).0, civil(day).1),
        // 1970-01-01 was a Thursday, and a week begins with Monday.
        "week" => |day| day - (day + 3).rem_euclid(7),
        "day" | "hour" | "minute" | "second" | "millisecond" | "microsecond" => |day| day,
        other => {
            let known = "year, quarter, month, week, day, hour, minute, second, millisecond, microsecond";
            return plan_err!("date_trunc of {other:?} is not supported: {known} are");
        }
    };
    let step = match of {
        "hour" => 3600 * second,
        "minute" => 60 * second,
        "second" => second,
        "millisecond" => (second / 1000).max(1),
        "microsecond" => 1,
        _ => day,
    };
    let too_early =
        || inside(Error::usage("the question cannot be answered: a date is beyond the years of timestamps"));
    let begin_of_day = |days: i64| first(days).checked_mul(day).ok_or_else(too_early);
    let begin = |time: i64| match step == day {
        true => begin_of_day(time.div_euclid(day)),
        false => time.checked_sub(time.rem_euclid(step)).ok_or_else(too_early),
    };
    Ok(match (unit, times.data_type()) {
        (_, DataType::Date32) => {
            let dates = times.as_primitive::<Date32Type>();
            Arc::new(dates.try_unary::<_, TimestampMicrosecondType, _>(|days| begin_of_day(i64::from(days)))?)
        }
        (TimeUnit::Second, _) => {
            Arc::new(times.as_primitive::<TimestampSecondType>().try_unary::<_, TimestampSecondType, _>(begin)?)
        }
        (TimeUnit::Millisecond, _) => {
            let times = times.as_primitive::<TimestampMillisecondType>();
            Arc::new(times.try_unary::<_, TimestampMillisecondType, _>(begin)?)
        }
        (_, DataType::Timestamp(TimeUnit::Microsecond, None)) => {
            let times = times.as_primitive::<TimestampMicrosecondType>();
            Arc::new(times.try_unary::<_, TimestampMicrosecondType, _>(begin)?)
        }
        (_, other) => return internal_err!("date_trunc of {other}"),
    })
}

/// The year and month of a day since 1970, see Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
fn civil(day: i64) -> (i64, i64) {
    let day = day + 719_468;
    let era = day.div_euclid(146_097);
    let of_era = day.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year + era * 400 + i64::from(month <= 2), month)
}

/// The day since 1970 with which a month begins.
fn days_of(year: i64, month: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_begin_with_days() {
        assert_eq!((days_of(1970, 1), days_of(1970, 3), days_of(2000, 3)), (0, 59, 11_017));
        let mut before = (civil(-800_000), -800_000);
        for day in -799_999..800_000 {
            let month = civil(day);
            if month != before.0 {
                assert_eq!(days_of(month.0, month.1), day, "{month:?}");
                assert!((28..=31).contains(&(day - before.1)) || before.1 == -800_000, "{month:?}");
                before = (month, day);
            }
        }
    }
}
