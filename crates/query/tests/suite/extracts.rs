//! Parts of intervals and of differences of timestamps, formats of times, and local times that a zone has twice or not at all. The answers are those of PostgreSQL 15.

use crate::answers::all;
use crate::instants;
use crate::support::{engine_of, error, rows, social};

#[test]
fn differences_of_timestamps_have_days_and_a_part_of_a_day() {
    let engine = engine_of(&social());
    let of = |parts: &str, from: &str, to: &str| {
        format!("select {parts} from (select timestamp '{to}' - timestamp '{from}' as x) t")
    };
    let long = |parts: &str| of(parts, "1900-01-01 00:00:00", "2024-01-02 03:04:59.678901");
    let back = |parts: &str| of(parts, "2024-01-03 05:06:07.5", "2024-01-01 00:00:00");
    all(
        &engine,
        &[
            (&of("extract(epoch from x)", "1900-01-01 00:00:00", "2200-01-01 00:00:00"), &["9467107200.0"]),
            (&of("extract(epoch from x)", "1900-01-01 00:00:00", "2024-01-02 03:04:05.678901"), &["3913153445.678901"]),
            (&of("extract(epoch from x)", "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"), &["315537897600.0"]),
            (&long("extract(day from x), date_part('hour', x), extract(minute from x), extract(second from x)"), &["45291|3|4|59"]),
            (&long("extract(millisecond from x), extract(microsecond from x), extract(nanosecond from x)"), &["59678|59678901|59678901000"]),
            (&long("extract(year from x), extract(month from x), extract(quarter from x)"), &["0|0|1"]),
            (&back("extract(day from x), extract(hour from x), extract(minute from x), extract(second from x)"), &["-2|-5|-6|-7"]),
            (&back("extract(epoch from x), extract(millisecond from x)"), &["-191167.5|-7500"]),
            ("select extract(hour from null::timestamp - timestamp '2024-01-01 00:00:00')", &["null"]),
            (
                "select count(*), min(extract(epoch from (since - timestamp '1900-01-01 00:00:00'))) > 3900000000 from knows
                    where extract(day from (since - timestamp '2024-01-01 00:00:00')) between 0 and 365",
                &["2350|true"],
            ),
        ],
    );
}

#[test]
fn intervals_have_parts() {
    let engine = engine_of(&social());
    let of = |parts: &str, interval: &str| format!("select {parts} from (values (1, interval '{interval}')) t(k, x)");
    all(
        &engine,
        &[
            (&of("extract(epoch from x)", "1 year"), &["31557600.0"]),
            (&of("extract(epoch from x)", "13 months 3 days"), &["34408800.0"]),
            (&of("extract(epoch from x), extract(epoch from -x)", "14 months"), &["36741600.0|-36741600.0"]),
            (
                &of(
                    "extract(year from -x), extract(month from -x), extract(quarter from -x), extract(quarter from x)",
                    "14 months",
                ),
                &["-1|-2|1|1"],
            ),
            (
                &of("extract(hour from x), extract(day from x), extract(minute from x)", "50 hours 5 minutes"),
                &["50|0|5"],
            ),
            (
                &of(
                    "extract(microsecond from x), extract(millisecond from -x), extract(second from -x)",
                    "61.5 seconds",
                ),
                &["1500000|-1500|-1"],
            ),
            (
                &of("extract(decade from x), extract(century from x), extract(millennium from x)", "2515 years"),
                &["251|25|2"],
            ),
            (&of("extract(week from x), extract('DAY' from x)", "15 days"), &["2|15"]),
            (
                "select extract(microsecond from interval '100 days'), extract(epoch from interval '1 microsecond')",
                &["0|1e-6"],
            ),
            (
                "select extract(year from interval '1000 years'), sum(extract(hour from x)) from (values (interval '1 hour'), (null)) t(x)",
                &["1000|1"],
            ),
        ],
    );
    let told = error(&engine, "select extract(dow from interval '1 day')");
    assert!(told.message().contains("a length of time has no part"), "{told}");
    // Parts of moments are the engine's.
    all(
        &engine,
        &[(
            "select extract(dow from date '2024-06-01'), date_part('year', timestamp '2024-06-01 00:00:00')",
            &["6|2024"],
        )],
    );
}

#[test]
fn durations_of_columns_have_parts() {
    let (engine, _home) = instants::engine();
    let found = rows(
        &engine,
        "select extract(microsecond from du), extract(epoch from du), extract(epoch from utc - paris) from x order by id",
    );
    assert_eq!(found.unwrap(), ["2|2e-6|0.0", "1|1e-6|0.0"]);
}

#[test]
fn formats_of_other_systems_are_refused() {
    let engine = engine_of(&social());
    for (format, hint) in [
        ("YYYY-MM-DD", "to_char(birthday, '%Y-%m-%d')"),
        ("yyyy-mm-dd hh24:mi:ss", "to_char(birthday, '%Y-%m-%d %H:%M:%S')"),
        ("day", "to_char(birthday, '%A')"),
        ("?", "to_char(birthday, '%Y-%m-%d %H:%M:%S')    year, month, day, and the time of day"),
    ] {
        let told = error(&engine, &format!("select to_char(birthday, '{format}') from person"));
        assert!(told.message().contains("formats are those of strftime"), "{told}");
        assert_eq!(told.hints().next(), Some(hint), "{format}");
    }
    all(
        &engine,
        &[(
            "select to_char(date '2024-06-01', '%Y/%m'), to_char(timestamp '2024-06-01 10:20:30', '%H:%M')",
            &["2024/06|10:20"],
        )],
    );
}

#[test]
fn local_times_that_clocks_skip_or_repeat_are_instants() {
    let engine = engine_of(&social());
    let of = |time: &str, zone: &str| format!("select timestamp '{time}' at time zone '{zone}'");
    all(
        &engine,
        &[
            (&of("2024-10-27 02:30:00", "Europe/Berlin"), &["2024-10-27T01:30:00Z"]),
            (&of("2024-03-31 02:30:00", "Europe/Berlin"), &["2024-03-31T01:30:00Z"]),
            (&of("2024-11-03 01:30:00.000001", "America/New_York"), &["2024-11-03T06:30:00.000001Z"]),
            (&of("2011-12-30 12:00:00", "Pacific/Apia"), &["2011-12-30T22:00:00Z"]),
            (&of("2024-06-01 12:00:00", "Europe/Berlin"), &["2024-06-01T10:00:00Z"]),
            (&of("1600-06-01 12:00:00", "+02:00"), &["1600-06-01T10:00:00Z"]),
            (
                "select count(*) from (values (timestamp '2024-10-27 02:30:00'), (timestamp '2024-03-31 02:30:00'), (null)) t(x)
                    where x at time zone 'Europe/Berlin' > timestamptz '2024-03-31 00:30:00Z'",
                &["2"],
            ),
        ],
    );
    let told = error(&engine, "select timestamp '2024-10-27 02:30:00' at time zone 'Europe/Nowhere'");
    assert!(told.message().contains("Nowhere"), "{told}");
}
