//! Dates and points in time whose years do not have four digits, as XSD writes them.
//!
//! XSD 1.1 has years of any size: at least four digits, no sign unless negative, no zero in front of five digits or more
//! (`yearFrag`, part 2, section 3.3.7.2). Arrow writes and reads `+10000`, reads such years in dates only, and neither writes
//! nor reads years beyond ±262,143.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Date32Array, Int32Array, Int64Array, StringArray};
use arrow_schema::{DataType, TimeUnit};
use isomorph_error::{Error, Result};

use super::lexical::retyped;

const SECONDS_OF_DAY: i64 = 86_400;

/// Units of a second, and the digits of its fraction.
fn units(unit: TimeUnit) -> (i64, usize) {
    match unit {
        TimeUnit::Second => (1, 0),
        TimeUnit::Millisecond => (1_000, 3),
        TimeUnit::Microsecond => (1_000_000, 6),
        TimeUnit::Nanosecond => (1_000_000_000, 9),
    }
}

/// Returns the day as year, month and day of the proleptic Gregorian calendar; days are counted from 1970-01-01.
fn civil(days: i64) -> (i64, i64, i64) {
    // Eras of 400 years that begin on 1 March, so that a leap day is the last of a year.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, of_year - (153 * from_march + 2) / 5 + 1)
}

/// The inverse of [`civil`]; `None` if there is no such day, or it is too far away.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let (shifted, from_march) = (year.checked_sub(i64::from(month <= 2))?, (month + 9) % 12);
    let (era, of_era) = (shifted.div_euclid(400), shifted.rem_euclid(400));
    let of_year = (153 * from_march + 2) / 5 + day - 1;
    let days = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    let days = era.checked_mul(146_097)?.checked_add(days)?.checked_sub(719_468)?;
    (civil(days) == (year, month, day)).then_some(days)
}

fn year_text(year: i64) -> String {
    if year < 0 { format!("-{:04}", year.unsigned_abs()) } else { format!("{year:04}") }
}

fn day_text(day: i64) -> String {
    let (year, month, day) = civil(day);
    format!("{}-{month:02}-{day:02}", year_text(year))
}

/// Writes a column of dates or of timestamps without a zone; `None` if it is of another type.
pub(super) fn write(column: &ArrayRef) -> Option<StringArray> {
    match column.data_type() {
        DataType::Date32 => {
            let dates = column.as_any().downcast_ref::<Date32Array>()?;
            Some(dates.iter().map(|day| day.map(|day| day_text(i64::from(day)))).collect())
        }
        DataType::Timestamp(unit, None) => {
            let (units, digits) = units(*unit);
            let moments = retyped(column, DataType::Int64).ok()?;
            let moments = moments.as_any().downcast_ref::<Int64Array>()?;
            let text = |moment: i64| {
                let (seconds, fraction) = (moment.div_euclid(units), moment.rem_euclid(units));
                let (day, second) = (seconds.div_euclid(SECONDS_OF_DAY), seconds.rem_euclid(SECONDS_OF_DAY));
                let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
                let whole = format!("{}T{hour:02}:{minute:02}:{second:02}", day_text(day));
                if digits == 0 { whole } else { format!("{whole}.{fraction:0digits$}") }
            };
            Some(moments.iter().map(|moment| moment.map(text)).collect())
        }
        _ => None,
    }
}

/// Removes the plus sign that Arrow writes before years of more than four digits.
pub(super) fn unsigned(texts: StringArray) -> StringArray {
    let signed = |text: &str| text.starts_with('+');
    if !texts.iter().flatten().any(signed) {
        return texts;
    }
    texts.iter().map(|text| text.map(|text| text.strip_prefix('+').unwrap_or(text))).collect()
}

/// Whether the year of a date or timestamp has a sign or more than four digits.
fn is_long(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text.starts_with(['+', '-']) || digits > 4
}

/// Reads texts as dates or timestamps, of which `usual` reads those with years of four digits. `None` if there are no others,
/// or the type is another one.
///
/// # Errors
/// Returns an error if a text is no date or point in time, or is outside the range of the type.
pub(super) fn read(
    texts: &StringArray,
    data_type: &DataType,
    usual: impl FnOnce(StringArray) -> Result<ArrayRef>,
) -> Result<Option<ArrayRef>> {
    let unit = match data_type {
        DataType::Date32 => None,
        DataType::Timestamp(unit, _) => Some(*unit),
        _ => return Ok(None),
    };
    if !texts.iter().flatten().any(is_long) {
        return Ok(None);
    }
    let others = usual(texts.iter().map(|text| text.filter(|text| !is_long(text))).collect())?;
    let number = |text: &str| {
        let number = match unit {
            None => day_of(text).filter(|day| i32::try_from(*day).is_ok()),
            Some(unit) => moment_of(text, unit),
        };
        number.ok_or_else(|| Error::malformed(format!("{text:?} is not a value of type {data_type}")))
    };
    let numbers = retyped(&others, if unit.is_some() { DataType::Int64 } else { DataType::Int32 })?;
    let of_others = |row: usize| -> Option<i64> {
        match unit {
            None => numbers.as_primitive_opt::<Int32Type>().map(|all| i64::from(all.value(row))),
            Some(_) => numbers.as_primitive_opt::<Int64Type>().map(|all| all.value(row)),
        }
    };
    let mut all = Vec::with_capacity(texts.len());
    for (row, text) in texts.iter().enumerate() {
        all.push(match text {
            Some(text) if is_long(text) => Some(number(text)?),
            Some(_) if others.is_valid(row) => of_others(row),
            _ => None,
        });
    }
    let column: ArrayRef = match unit {
        None => {
            let days = all.into_iter().map(|day| day.and_then(|day| i32::try_from(day).ok()));
            Arc::new(days.collect::<Int32Array>())
        }
        Some(_) => Arc::new(Int64Array::from(all)),
    };
    retyped(&column, data_type.clone()).map(Some)
}

/// `[-+]YYYY…-MM-DD`, days since 1970-01-01.
fn day_of(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut parts = digits.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<i64>().ok())?;
    if parts.next().is_some() || year.len() < 4 || month.len() != 2 || day.len() != 2 {
        return None;
    }
    days(sign * number(year)?, number(month)?, number(day)?)
}

/// `[-+]YYYY…-MM-DDThh:mm:ss[.f…][Z]`, units since 1970-01-01T00:00:00.
fn moment_of(text: &str, unit: TimeUnit) -> Option<i64> {
    let (units, digits) = units(unit);
    let (date, time) = text.split_once('T')?;
    let time = time.strip_suffix('Z').or_else(|| time.strip_suffix("+00:00")).unwrap_or(time);
    let (time, fraction) = time.split_once('.').unwrap_or((time, ""));
    let &[h1, h2, b':', m1, m2, b':', s1, s2] = time.as_bytes() else { return None };
    let two = |high: u8, low: u8| {
        let digit = |byte: u8| byte.is_ascii_digit().then(|| i64::from(byte - b'0'));
        Some(digit(high)? * 10 + digit(low)?)
    };
    let (hour, minute, second) = (two(h1, h2)?, two(m1, m2)?, two(s1, s2)?);
    let fraction = fraction.trim_end_matches('0');
    if hour > 23 || minute > 59 || second > 59 || fraction.len() > digits {
        return None;
    }
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let fraction = if digits == 0 { 0 } else { format!("{fraction:0<digits$}").parse::<i64>().ok()? };
    let seconds =
        i128::from(day_of(date)?) * i128::from(SECONDS_OF_DAY) + i128::from(hour * 3_600 + minute * 60 + second);
    i64::try_from(seconds * i128::from(units) + i128::from(fraction)).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use arrow_array::TimestampMillisecondArray;

    use super::*;

    #[test]
    fn every_point_in_time_comes_back() {
        let values =
            [i64::MIN, -4_611_686_018_427_387_904, -62_198_755_200_000, -1, 0, 1, 253_402_300_800_000, i64::MAX];
        for unit in [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond] {
            for value in values {
                let column: ArrayRef = Arc::new(Int64Array::from(vec![value]));
                let column = retyped(&column, DataType::Timestamp(unit, None)).unwrap();
                let text = write(&column).unwrap();
                assert_eq!(moment_of(text.value(0), unit), Some(value), "{}", text.value(0));
            }
        }
        for day in [i32::MIN, -719_529, -719_528, -1, 0, 11_016, 2_932_897, i32::MAX] {
            assert_eq!(day_of(&day_text(i64::from(day))), Some(i64::from(day)));
        }
    }

    #[test]
    fn long_years_have_no_plus_sign_and_are_read_with_and_without_one() {
        assert_eq!(day_text(2_932_897), "10000-01-01");
        assert_eq!(day_text(-719_529), "-0001-12-31");
        let texts = StringArray::from(vec![
            Some("+10000-01-01T00:00:00"),
            None,
            Some("10000-01-01T00:00:00.5"),
            Some("2000-01-01T00:00:00"),
        ]);
        let ty = DataType::Timestamp(TimeUnit::Millisecond, None);
        let usual =
            |texts: StringArray| arrow_cast::cast(&texts, &ty).map_err(|error| Error::malformed(error.to_string()));
        let read = read(&texts, &ty, usual).unwrap().unwrap();
        let whole = 253_402_300_800_000;
        let expected =
            TimestampMillisecondArray::from(vec![Some(whole), None, Some(whole + 500), Some(946_684_800_000)]);
        assert_eq!(read.as_ref(), &expected as &dyn Array);
    }

    #[test]
    fn what_is_no_day_is_refused() {
        for text in
            ["10000-02-30", "+10000-13-01", "-001-01-01", "10000-1-01", "10000-01-01-01", "99999999999999999999-01-01"]
        {
            assert_eq!(day_of(text), None, "{text}");
        }
    }
}
