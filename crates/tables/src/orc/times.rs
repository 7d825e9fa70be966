//! Timestamps as stored by ORC: seconds since 2015 and nanoseconds, with a flaw before 1970.
//!
//! The first writer rounded seconds towards zero, and the first reader subtracted a second whenever the seconds were
//! negative and the nanoseconds were not negligible (ORC-763). All writers and readers have done so since, which leaves no
//! regular encoding for the last second of 1969. For that second, Arrow's writer stores negative nanoseconds, and readers
//! in C++ add them as they are. This module does the same, where there is no other way.

use arrow_schema::TimeUnit;

use super::stream::Reason;

/// 2015-01-01T00:00:00Z, seconds.
const EPOCH: i64 = 1_420_070_400;
const BILLION: i64 = 1_000_000_000;
/// The first reader ignored nanoseconds below this number.
const COUNTED: i64 = 1_000_000;

fn per_second(unit: &TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => BILLION,
    }
}

/// Returns the stored pair of a timestamp; `None` if it cannot be stored.
pub(super) fn encode(value: i64, unit: &TimeUnit) -> Option<(i64, i64)> {
    let per_second = per_second(unit);
    let mut seconds = value.div_euclid(per_second);
    let mut nanoseconds = value.rem_euclid(per_second) * (BILLION / per_second);
    if seconds < 0 && nanoseconds >= COUNTED {
        if seconds == -1 {
            nanoseconds -= BILLION;
        }
        seconds += 1;
    }
    Some((seconds.checked_sub(EPOCH)?, pack(nanoseconds)))
}

/// The timestamp is valid, but not a whole number of the unit.
pub(super) const TOO_FINE: Reason = "a timestamp is finer than the unit in which it is read";
/// The timestamp is valid, but out of range for the unit.
pub(super) const TOO_FAR: Reason = "a timestamp is out of range for the unit in which it is read";
const DAMAGED: Reason = "the nanoseconds of a timestamp amount to a second or more";

/// Returns the timestamp of a stored pair.
///
/// # Errors
/// Returns an error if the pair is invalid; [`TOO_FINE`] and [`TOO_FAR`] if `unit` cannot represent it.
pub(super) fn decode(seconds: i64, nanoseconds: i64, unit: &TimeUnit) -> Result<i64, Reason> {
    let nanoseconds = unpack(nanoseconds).ok_or(DAMAGED)?;
    let mut seconds = i128::from(seconds) + i128::from(EPOCH);
    if seconds < 0 && nanoseconds >= COUNTED {
        seconds -= 1;
    }
    let per_second = per_second(unit);
    let step = BILLION / per_second;
    if nanoseconds % step != 0 {
        return Err(TOO_FINE);
    }
    let value = seconds * i128::from(per_second) + i128::from(nanoseconds / step);
    i64::try_from(value).map_err(|_| TOO_FAR)
}

/// Two or more trailing zeros are counted in the low three bits.
fn pack(nanoseconds: i64) -> i64 {
    if nanoseconds == 0 || nanoseconds % 100 != 0 {
        return nanoseconds << 3;
    }
    let (mut digits, mut zeros) = (nanoseconds / 100, 1);
    while digits % 10 == 0 && zeros < 7 {
        digits /= 10;
        zeros += 1;
    }
    digits << 3 | zeros
}

fn unpack(packed: i64) -> Option<i64> {
    // Zero, or two and more: a single trailing zero is not counted.
    let scale = match packed & 7 {
        0 => 1,
        zeros => (0..=zeros).fold(1, |scale, _| scale * 10),
    };
    (packed >> 3).checked_mul(scale).filter(|nanoseconds| nanoseconds.unsigned_abs() < BILLION as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_in_time_come_back() {
        let units = [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond];
        for unit in units {
            let second = per_second(&unit);
            for value in [0, 1, 999, 1000, 12_345_678, i64::MAX, -second, -2 * second, -2 * second + 1, -5 * second - 7]
            {
                let (seconds, nanoseconds) = encode(value, &unit).unwrap_or_default();
                assert_eq!(decode(seconds, nanoseconds, &unit), Ok(value), "{value} {unit:?}");
            }
        }
        assert_eq!(encode(-62_135_596_800_000, &TimeUnit::Millisecond), Some((-63_555_667_200, 0)));
    }

    #[test]
    fn the_last_second_before_1970() {
        assert_eq!(encode(-1, &TimeUnit::Millisecond), Some((-EPOCH, pack(-1_000_000))));
        for value in [-1, -2, -500_000, -999_999_999, -BILLION + 5, -BILLION + COUNTED] {
            let (seconds, nanoseconds) = encode(value, &TimeUnit::Nanosecond).unwrap_or_default();
            assert_eq!(decode(seconds, nanoseconds, &TimeUnit::Nanosecond), Ok(value), "{value}");
        }
        // Arrow's encoding of -1.5 seconds, and Java's.
        assert_eq!(decode(-1 - EPOCH, pack(-500_000_000), &TimeUnit::Millisecond), Ok(-1500));
        assert_eq!(decode(-1 - EPOCH, pack(500_000_000), &TimeUnit::Millisecond), Ok(-1500));
    }

    #[test]
    fn what_a_unit_cannot_hold_is_refused() {
        assert_eq!(decode(0, pack(1), &TimeUnit::Millisecond), Err(TOO_FINE));
        assert_eq!(decode(i64::MAX, 0, &TimeUnit::Second), Err(TOO_FAR));
        assert_eq!(decode(0, BILLION << 3, &TimeUnit::Nanosecond), Err(DAMAGED));
        assert_eq!(decode(0, -BILLION << 3, &TimeUnit::Nanosecond), Err(DAMAGED));
        assert_eq!(decode(i64::MAX / 2, 0, &TimeUnit::Nanosecond), Err(TOO_FAR));
    }
}
