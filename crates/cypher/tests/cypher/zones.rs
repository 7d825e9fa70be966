//! Instants where clocks are changed, as `ZonedDateTime` of Java has them. The values are those of Python's `zoneinfo`.

use std::collections::BTreeMap;

use isomorph_cypher::Value;

use crate::memory_graph::MemoryGraph;
use crate::setup::rows;

/// The value of an expression, in which `$first` and `$second` are the two half past one of a night in New York.
fn text(expr: &str) -> String {
    let at = |offset: &str| format!("datetime('2024-11-03T01:30{offset}[America/New_York]')");
    let expr = expr.replace("$first", &at("-04:00")).replace("$second", &at("-05:00"));
    let query = format!("RETURN toString({expr}) AS text");
    match rows(&MemoryGraph::default(), &query, &BTreeMap::new()) {
        Ok((_, rows)) => match &rows[0][0] {
            Value::String(text) => text.to_string(),
            other => panic!("{query}: {other:?}"),
        },
        Err(fault) => fault.into_error(&query).to_string(),
    }
}

const NEW_YORK: &str = "[America/New_York]";

#[test]
fn what_is_made_of_the_second_of_two_equal_hours_is_in_the_second() {
    for (expr, expected) in [
        ("$first", "2024-11-03T01:30-04:00"),
        ("$second", "2024-11-03T01:30-05:00"),
        ("$second.epochSeconds - $first.epochSeconds", "3600"),
        ("datetime(toString($second))", "2024-11-03T01:30-05:00"),
        ("datetime($second)", "2024-11-03T01:30-05:00"),
        ("datetime({datetime: $second, minute: 45})", "2024-11-03T01:45-05:00"),
        ("datetime({datetime: $second, hour: 0})", "2024-11-03T00:30-04:00"),
        ("datetime({date: $second, time: $second})", "2024-11-03T01:30-05:00"),
        ("datetime({datetime: $second, timezone: 'UTC'})", "2024-11-03T06:30Z[UTC]"),
        ("datetime({datetime: $second, timezone: 'America/New_York'})", "2024-11-03T01:30-05:00"),
        ("datetime({datetime: datetime('2024-11-03T06:30Z'), timezone: 'America/New_York'})", "2024-11-03T01:30-05:00"),
        ("datetime({epochSeconds: 1730615400, timezone: 'America/New_York'})", "2024-11-03T01:30-05:00"),
        ("datetime({epochMillis: 1730615400000, timezone: 'America/New_York'})", "2024-11-03T01:30-05:00"),
        ("time($second)", "01:30-05:00"),
        ("time({time: $second, timezone: 'America/New_York'})", "01:30-05:00"),
        ("time.truncate('hour', $second)", "01:00-05:00"),
        ("datetime.truncate('hour', $first)", "2024-11-03T01:00-04:00"),
        ("datetime.truncate('hour', $second)", "2024-11-03T01:00-05:00"),
        ("datetime.truncate('minute', $second)", "2024-11-03T01:30-05:00"),
        ("datetime.truncate('hour', $second, {minute: 15})", "2024-11-03T01:15-05:00"),
        ("datetime.truncate('day', $second)", "2024-11-03T00:00-04:00"),
        ("datetime.truncate('hour', $second, {timezone: 'Europe/Paris'})", "2024-11-03T01:00+01:00[Europe/Paris]"),
        // Without an offset or an instant, the first.
        ("datetime('2024-11-03T01:30[America/New_York]')", "2024-11-03T01:30-04:00"),
        ("datetime({datetime: localdatetime($second), timezone: 'America/New_York'})", "2024-11-03T01:30-04:00"),
    ] {
        let zone = if expected.ends_with(']') || !expected.contains("2024") { "" } else { NEW_YORK };
        assert_eq!(text(expr), format!("{expected}{zone}"), "{expr}");
    }
}

#[test]
fn days_are_added_to_the_local_time_and_hours_to_the_instant() {
    let at = |text: &str| format!("datetime('{text}{NEW_YORK}')");
    for (from, duration, expected) in [
        ("2024-11-03T01:30-05:00", "PT0S", "2024-11-03T01:30-05:00"),
        ("2024-11-03T01:30-05:00", "PT24H", "2024-11-04T01:30-05:00"),
        ("2024-11-03T01:30-05:00", "P1D", "2024-11-04T01:30-05:00"),
        ("2024-11-03T01:30-05:00", "PT-1H", "2024-11-03T01:30-04:00"),
        ("2024-11-03T01:30-04:00", "PT1H", "2024-11-03T01:30-05:00"),
        ("2024-11-02T01:30", "P1D", "2024-11-03T01:30-04:00"),
        ("2024-11-02T01:30", "P1DT1H", "2024-11-03T01:30-05:00"),
        ("2024-11-02T01:30", "PT24H", "2024-11-03T01:30-04:00"),
        ("2024-11-02T01:30", "PT25H", "2024-11-03T01:30-05:00"),
        // The offset of the day after is kept.
        ("2024-11-04T01:30", "P-1D", "2024-11-03T01:30-05:00"),
        ("2024-12-03T01:30", "P-1M", "2024-11-03T01:30-05:00"),
        ("2024-10-03T01:30", "P1M", "2024-11-03T01:30-04:00"),
        // Out of a gap, forward by its length.
        ("2024-03-09T02:30", "P1D", "2024-03-10T03:30-04:00"),
        ("2024-03-11T02:30", "P-1D", "2024-03-10T03:30-04:00"),
        ("2024-03-09T02:30", "P1DT30M", "2024-03-10T04:00-04:00"),
        // Months and days are one step: the gap of the tenth is not on the way.
        ("2024-02-10T02:30", "P1M1D", "2024-03-11T02:30-04:00"),
    ] {
        let (from, expected) = (at(from), format!("{expected}{NEW_YORK}"));
        assert_eq!(text(&format!("{from} + duration('{duration}')")), expected, "{from} + {duration}");
    }
    for (expr, expected) in [
        // The clocks of Apia left out a day.
        ("datetime('2011-12-29T12:00[Pacific/Apia]') + duration('P1D')", "2011-12-31T12:00+14:00[Pacific/Apia]"),
        ("datetime('2011-12-30T12:00[Pacific/Apia]')", "2011-12-31T12:00+14:00[Pacific/Apia]"),
        ("datetime('2024-03-10T02:30[America/New_York]')", "2024-03-10T03:30-04:00[America/New_York]"),
    ] {
        assert_eq!(text(expr), expected, "{expr}");
    }
}

#[test]
fn an_hour_and_a_day_begin_where_their_clocks_do() {
    for (unit, at, expected) in [
        // Clocks of Lord Howe are set back by half an hour.
        ("hour", "2024-04-07T01:45+10:30[Australia/Lord_Howe]", "2024-04-07T01:00+11:00"),
        ("minute", "2024-04-07T01:45+10:30[Australia/Lord_Howe]", "2024-04-07T01:45+10:30"),
        // Those of Havana from one o'clock to midnight.
        ("hour", "2024-11-03T00:30-05:00[America/Havana]", "2024-11-03T00:00-05:00"),
        ("day", "2024-11-03T00:30-05:00[America/Havana]", "2024-11-03T00:00-04:00"),
        ("day", "2024-11-03T15:00-05:00[America/Havana]", "2024-11-03T00:00-04:00"),
        // A day of São Paulo that begins at one.
        ("day", "2018-11-04T12:00-02:00[America/Sao_Paulo]", "2018-11-04T01:00-02:00"),
    ] {
        let zone = at.split_at(at.find('[').unwrap()).1;
        let found = text(&format!("datetime.truncate('{unit}', datetime('{at}'))"));
        assert_eq!(found, format!("{expected}{zone}"), "{unit} of {at}");
    }
}

#[test]
fn an_offset_that_a_zone_does_not_have_is_refused() {
    for (at, why) in [
        ("2024-11-03T01:30-06:00[America/New_York]", "the zone has the offset -04:00 or -05:00 at that local time"),
        ("2024-07-01T12:00-05:00[America/New_York]", "the zone has the offset -04:00 at that local time"),
        ("2024-07-01T12:00Z[America/New_York]", "the zone has the offset -04:00 at that local time"),
        ("2024-03-10T02:30-05:00[America/New_York]", "the zone leaves out that local time"),
        ("2024-07-01T12:00+01:00[+02:00]", "the zone has the offset +02:00 at that local time"),
    ] {
        let expected = format!("ArgumentError: '{at}' is not a date time: {why}");
        let found = text(&format!("datetime('{at}')"));
        assert!(found.contains(&expected), "{found}");
    }
    assert_eq!(text("datetime('2024-07-01T12:00Z[Etc/UTC]')"), "2024-07-01T12:00Z[Etc/UTC]");
    assert_eq!(text("datetime('2024-07-01[Europe/Paris]')"), "2024-07-01T00:00+02:00[Europe/Paris]");
    assert_eq!(text("datetime('2024-07[Europe/Paris]')"), "2024-07-01T00:00+02:00[Europe/Paris]");
    assert_eq!(text("time('12:00+01:00[+01:00]')"), "12:00+01:00");
    assert!(text("time('12:00+01:00[+02:00]')").contains("is not a time"));
}

#[test]
fn no_instant_is_lost_around_a_change_of_clocks() {
    // Ten minutes and some hours before and after each change; whatever is not so is a row.
    let around = "
        UNWIND [['America/New_York', 1730613600], ['America/New_York', 1710054000], ['America/Havana', 1730610000],
                ['Australia/Lord_Howe', 1712415600], ['Pacific/Apia', 1325239200], ['America/Sao_Paulo', 1541300400],
                ['America/Sao_Paulo', 1518919200]] AS change
        UNWIND range(-15, 15) AS i UNWIND range(-15, 15) AS j
        WITH datetime({epochSeconds: change[1] + i * 600, timezone: change[0]}) AS a, change[1] + i * 600 AS seconds,
             datetime({epochSeconds: change[1] + j * 5000, timezone: change[0]}) AS b";
    let holds = "a.epochSeconds = seconds AND datetime(toString(a)) = a AND a + duration('PT0S') = a
        AND datetime({datetime: datetime({datetime: a, timezone: 'Asia/Kathmandu'}), timezone: a.timezone}) = a
        AND a + duration.between(a, b) = b AND a + duration.inSeconds(a, b) = b
        AND datetime.truncate('minute', a) = a AND datetime.truncate('hour', a) <= a
        AND duration.inSeconds(datetime.truncate('hour', a), a).seconds < 5400 AND datetime.truncate('day', a) <= a";
    let of = |query: String| rows(&MemoryGraph::default(), &query, &BTreeMap::new()).unwrap().1;
    let wrong = of(format!("{around} WHERE NOT ({holds}) RETURN toString(a) AS a, toString(b) AS b LIMIT 5"));
    assert!(wrong.is_empty(), "{wrong:?}");
    let all = of(format!("{around} WHERE {holds} RETURN count(*) AS count"));
    assert!(matches!(all[0][0], Value::Int(6727)), "{all:?}");
}

#[test]
fn date_times_out_of_the_calendar_are_refused() {
    for expr in [
        "datetime('+262142-12-31T23:59-18:00')",
        "datetime('-262143-01-01T00:00+18:00')",
        "datetime({datetime: datetime('+262142-12-31T23:59Z'), timezone: '+01:00'})",
        "datetime('+262142-12-31T23:59Z') + duration('PT1M')",
        "datetime({epochSeconds: 0, millisecond: 9223372036854775807})",
        "datetime({epochSeconds: 9223372036854775807})",
        "localtime({hour: 1, millisecond: 18446744073710})",
    ] {
        assert!(text(expr).contains("out of range"), "{expr}: {}", text(expr));
    }
}

#[test]
fn durations_keep_their_digits() {
    let long = "PT972222H13M20.123456789S";
    for (expr, expected) in [
        (format!("duration('{long}')"), long),
        ("duration('PT3500000000.123456789S')".to_owned(), long),
        ("duration('-PT3500000000.123456789S').nanoseconds".to_owned(), "-3500000000123456789"),
        ("duration('PT-0.5S').nanoseconds".to_owned(), "-500000000"),
        ("duration('PT9007199254740993S').seconds".to_owned(), "9007199254740993"),
        ("duration('P0.5M')".to_owned(), "P15DT5H14M33S"),
        ("duration('P11MT-42H-52M-42.5S')".to_owned(), "P11MT-42H-52M-42.5S"),
        ("duration('P2012-02-02T14:37:21.545')".to_owned(), "P2012Y2M2DT14H37M21.545S"),
        (format!("duration('{long}') / 3"), "PT324074H4M26.707818929S"),
        (format!("duration('{long}') / -1"), "PT-972222H-13M-20.123456789S"),
        ("duration('P1M1D') / 2".to_owned(), "P15DT17H14M33S"),
    ] {
        assert_eq!(text(&expr), expected, "{expr}");
    }
    let mean = |list: &str| {
        let query = format!("UNWIND [{list}] AS x RETURN toString(avg(x)) AS mean");
        match rows(&MemoryGraph::default(), &query, &BTreeMap::new()) {
            Ok((_, rows)) => format!("{:?}", rows[0][0]),
            Err(fault) => fault.into_error(&query).to_string(),
        }
    };
    let seconds = "duration({seconds: 3500000000, nanoseconds: 1}), duration({seconds: 3500000001, nanoseconds: 3})";
    assert!(mean(seconds).contains("PT972222H13M20.500000002S"), "{}", mean(seconds));
    assert!(mean("duration('P1M'), duration('P2M2D'), null").contains("P1M16DT5H14M33S"));
    for mixed in ["1, duration('PT1S')", "duration('PT1S'), 1"] {
        assert!(mean(mixed).contains("avg expects numbers or durations, found both"), "{}", mean(mixed));
    }
}
