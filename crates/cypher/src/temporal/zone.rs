//! Zones, and date times in them.

use chrono::{MappedLocalTime, NaiveDateTime, Offset, TimeDelta, TimeZone};
use chrono_tz::{GapInfo, Tz};

use super::parse;

/// A zone: an offset from UTC, in seconds, and a name if it was given by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zone {
    /// Seconds east of UTC.
    Offset(i32),
    /// A zone of the IANA database.
    Named(Tz),
}

impl Zone {
    /// UTC.
    pub const UTC: Zone = Zone::Offset(0);

    /// A zone of a text such as `+01:00` or `Europe/Stockholm`.
    pub(crate) fn parse(text: &str) -> Option<Zone> {
        parse::zone(text)
    }

    /// The offsets at a local time, in seconds: none in a gap, two in the order of time where clocks are set back.
    pub(super) fn offsets(self, local: NaiveDateTime) -> Vec<i32> {
        match self {
            Zone::Offset(seconds) => vec![seconds],
            Zone::Named(zone) => match zone.offset_from_local_datetime(&local) {
                MappedLocalTime::None => Vec::new(),
                MappedLocalTime::Single(only) => vec![only.fix().local_minus_utc()],
                MappedLocalTime::Ambiguous(first, second) => {
                    vec![first.fix().local_minus_utc(), second.fix().local_minus_utc()]
                }
            },
        }
    }

    /// The offset at a local time, in seconds. Where two are possible, `kept` if it is one of them, else that of the earlier
    /// time; in a gap, that before it.
    pub(super) fn offset_at(self, local: NaiveDateTime, kept: Option<i32>) -> i32 {
        let possible = self.offsets(local);
        match (possible.first(), self) {
            (Some(first), _) => kept.filter(|kept| possible.contains(kept)).unwrap_or(*first),
            (None, Zone::Named(zone)) => {
                let before = GapInfo::new(&local, &zone).and_then(|gap| gap.begin);
                before.map_or(0, |(_, offset)| offset.fix().local_minus_utc())
            }
            (None, Zone::Offset(seconds)) => seconds,
        }
    }

    /// The offset at an instant, in seconds.
    pub(super) fn offset_of(self, utc: NaiveDateTime) -> i32 {
        match self {
            Zone::Offset(seconds) => seconds,
            Zone::Named(zone) => zone.offset_from_utc_datetime(&utc).fix().local_minus_utc(),
        }
    }
}

/// A date and time in a zone.
#[derive(Debug, Clone, Copy)]
pub struct Zoned {
    /// The time on a clock there.
    pub local: NaiveDateTime,
    /// Seconds east of UTC.
    pub offset: i32,
    /// The zone.
    pub zone: Zone,
}

impl Zoned {
    /// A local time in a zone, if it is in the range of the calendar. Where clocks are set back, two instants have that
    /// time: it is the one with the offset `kept` if there is one, else the earlier. A time in a gap is moved forward by
    /// the length of the gap. All as in `ZonedDateTime` of Java.
    pub(crate) fn new(local: NaiveDateTime, zone: Zone, kept: Option<i32>) -> Option<Zoned> {
        Zoned::at(before(local, zone.offset_at(local, kept))?, zone)
    }

    /// A local time with a stated offset; `None` if the zone does not have it then.
    pub(crate) fn stated(local: NaiveDateTime, offset: i32, zone: Zone) -> Option<Zoned> {
        Zoned::at(before(local, offset)?, zone).filter(|zoned| zoned.offset == offset)
    }

    /// An instant, seen in a zone, if it is in the range of the calendar.
    pub(crate) fn at(utc: NaiveDateTime, zone: Zone) -> Option<Zoned> {
        let offset = zone.offset_of(utc);
        let local = utc.checked_add_signed(TimeDelta::seconds(i64::from(offset)))?;
        Some(Zoned { local, offset, zone })
    }

    /// Another local time in its zone. It keeps the offset where it can: what is made of the second of two equal hours is
    /// in the second.
    pub(super) fn with_local(&self, local: NaiveDateTime) -> Option<Zoned> {
        Zoned::new(local, self.zone, Some(self.offset))
    }

    pub(crate) fn utc(&self) -> NaiveDateTime {
        self.local - TimeDelta::seconds(i64::from(self.offset))
    }
}

/// The time in UTC of a local time.
pub(super) fn before(local: NaiveDateTime, offset: i32) -> Option<NaiveDateTime> {
    local.checked_sub_signed(TimeDelta::seconds(i64::from(offset)))
}
