//! Instants of local times, also of those that a zone has twice or not at all, as its clocks are put back or forward. The engine fails for such a time.
//!
//! As in PostgreSQL: a time that the zone has twice is the later one, after the clocks were put back; a time that it skips is counted on from the clocks before.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::timezone::Tz;
use arrow_array::types::{
    ArrowTimestampType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use arrow_array::{ArrayRef, PrimitiveArray};
use arrow_schema::{DataType, TimeUnit};
use chrono::{DateTime, LocalResult, NaiveDateTime, Offset, TimeDelta, TimeZone};
use datafusion::common::{DataFusionError, Result, internal_err};
use isomorph::Error;

use crate::errors::inside;

/// The most that a zone is behind UTC: a local time is no instant that is later than this.
const BEHIND: TimeDelta = TimeDelta::hours(12);

/// The seconds that a zone is ahead of UTC at a local time.
fn ahead(zone: Tz, local: NaiveDateTime) -> Option<i32> {
    let seconds = |offset: <Tz as TimeZone>::Offset| offset.fix().local_minus_utc();
    Some(match zone.offset_from_local_datetime(&local) {
        LocalResult::Single(offset) => seconds(offset),
        LocalResult::Ambiguous(one, other) => seconds(one).min(seconds(other)),
        LocalResult::None => {
            let at = |time: NaiveDateTime| zone.offset_from_utc_datetime(&time).fix().local_minus_utc();
            // Read with the clocks after the change, the time is before it.
            let after = at(local.checked_add_signed(BEHIND)?);
            at(local.checked_sub_signed(TimeDelta::seconds(after.into()))?)
        }
    })
}

/// The instants of local times in `zone`, of the type `utc`.
///
/// # Errors
/// For a zone that does not exist, and a time that is too far away.
pub(crate) fn instants_in(times: &ArrayRef, zone: &str, utc: &DataType) -> Result<ArrayRef> {
    let zone: Tz = zone.parse()?;
    let DataType::Timestamp(unit, name) = utc else { return internal_err!("{utc} is no instant") };
    let too_far = || inside(Error::usage("the question cannot be answered: a time is beyond the years of timestamps"));
    let one = |value: i64, in_second: i64| {
        // Zones change at whole seconds.
        let local = DateTime::from_timestamp(value.div_euclid(in_second), 0).map(|time| time.naive_utc());
        let ahead = local.and_then(|local| ahead(zone, local)).ok_or_else(too_far)?;
        value.checked_sub(i64::from(ahead) * in_second).ok_or_else(too_far)
    };
    fn of<T: ArrowTimestampType>(
        times: &ArrayRef,
        zone: Option<Arc<str>>,
        one: impl Fn(i64) -> Result<i64>,
    ) -> Result<ArrayRef> {
        let all: PrimitiveArray<T> = times.as_primitive::<T>().try_unary::<_, T, DataFusionError>(one)?;
        Ok(Arc::new(all.with_timezone_opt(zone)))
    }
    let name = name.clone();
    match unit {
        TimeUnit::Second => of::<TimestampSecondType>(times, name, |value| one(value, 1)),
        TimeUnit::Millisecond => of::<TimestampMillisecondType>(times, name, |value| one(value, 1000)),
        TimeUnit::Microsecond => of::<TimestampMicrosecondType>(times, name, |value| one(value, 1_000_000)),
        TimeUnit::Nanosecond => of::<TimestampNanosecondType>(times, name, |value| one(value, 1_000_000_000)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_clocks_skip_or_repeat_are_those_of_postgres() {
        for (zone, local, expected) in [
            ("Europe/Berlin", "2024-10-27T02:30:00", "2024-10-27T01:30:00"),
            ("Europe/Berlin", "2024-10-27T03:00:00", "2024-10-27T02:00:00"),
            ("Europe/Berlin", "2024-03-31T02:30:00", "2024-03-31T01:30:00"),
            ("Europe/Berlin", "2024-03-31T03:00:00", "2024-03-31T01:00:00"),
            ("America/New_York", "2024-11-03T01:30:00", "2024-11-03T06:30:00"),
            ("America/New_York", "2024-03-10T02:30:00", "2024-03-10T07:30:00"),
            ("Australia/Lord_Howe", "2024-04-07T01:45:00", "2024-04-06T15:15:00"),
            ("Australia/Lord_Howe", "2024-10-06T02:15:00", "2024-10-05T15:45:00"),
            ("Europe/Dublin", "2024-10-27T01:30:00", "2024-10-27T01:30:00"),
            ("Europe/Dublin", "2024-03-31T01:30:00", "2024-03-31T01:30:00"),
            ("Pacific/Apia", "2011-12-30T12:00:00", "2011-12-30T22:00:00"),
            ("Europe/Moscow", "2014-10-26T01:30:00", "2014-10-25T22:30:00"),
            ("Europe/Moscow", "2011-03-27T02:30:00", "2011-03-26T23:30:00"),
            ("+05:30", "2011-03-27T02:30:00", "2011-03-26T21:00:00"),
        ] {
            let found = zone.parse().ok().zip(local.parse::<NaiveDateTime>().ok()).and_then(|(zone, local)| {
                let ahead = ahead(zone, local)?;
                local.checked_sub_signed(TimeDelta::seconds(ahead.into()))
            });
            assert_eq!(found, expected.parse().ok(), "{zone} {local}");
        }
    }
}
