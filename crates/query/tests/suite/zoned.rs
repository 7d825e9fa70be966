//! Instants of zones that are united with other moments, and local times of instants, beside others.

use crate::answers::all;
use crate::instants::engine;
use crate::support::error;

/// The first hour of a day in Paris, which is the day before in UTC, 23:00.
const LATE: &str = "(paris + interval '11 hours')";

/// The local time of the instants, 14:00, and two hours after them.
const LOCAL: &str = "paris at time zone 'Europe/Berlin'";
const LATER: &str = "(plain + interval '2 hours')";

#[test]
fn local_times_are_no_instants_to_unions_and_subqueries() {
    let (engine, _home) = engine();
    let found = &[
        "1|2024-06-01T12:00:00",
        "1|2024-06-01T14:00:00",
        "2|2024-06-01T12:00:00.000001",
        "2|2024-06-01T14:00:00.000001",
    ];
    all(
        &engine,
        &[
            (&format!("select id, {LOCAL} as x from x union all select id, plain from x order by 1, 2"), found),
            (&format!("select id, plain from x union select id, {LOCAL} from x order by 1, 2"), found),
            (&format!("select count(*) from (select {LOCAL} from x intersect select {LATER} from x) t"), &["2"]),
            (&format!("select count(*) from (select {LOCAL} from x except select plain from x) t"), &["2"]),
            (&format!("select id from x where plain = any (select {LOCAL} from x)"), &[]),
            (&format!("select id from x where {LATER} = any (select {LOCAL} from x) order by id"), &["1", "2"]),
            (&format!("select id from x where {LOCAL} = any (select {LATER} from x) order by id"), &["1", "2"]),
            (&format!("select id from x where {LOCAL} > all (select plain from x) order by id"), &["1", "2"]),
            (&format!("select id from x where {LOCAL} < any (select {LATER} from x)"), &["1"]),
            (&format!("select id from x where {LOCAL} not in (select plain from x) order by id"), &["1", "2"]),
            (
                &format!(
                    "select id from x a where exists (select 1 from (select {LOCAL} as l from x) b where b.l = a.plain + interval '2 hours') order by id"
                ),
                &["1", "2"],
            ),
            (
                &format!(
                    "select id from (select id, {LOCAL} as l from x) a where exists (select 1 from x b where b.plain + interval '2 hours' = a.l) order by id"
                ),
                &["1", "2"],
            ),
            (
                &format!(
                    "select id, (select max(b.id) from x b where b.paris + interval '2 hours' = a.l) as n from (select id, {LOCAL} as l from x) a order by id"
                ),
                &["1|1", "2|2"],
            ),
        ],
    );
}

#[test]
fn parts_of_what_is_united_with_instants_are_in_utc() {
    let (engine, _home) = engine();
    let of = |values: &str| format!("select {} from x where id = 1", values.replace("late", LATE));
    all(
        &engine,
        &[
            (&of("extract(hour from coalesce(late, now())), extract(hour from nvl(late, now()))"), &["23|23"]),
            (&of("extract(hour from coalesce(late, timestamptz '2024-01-01T00:00:00Z'))"), &["23"]),
            (&of("extract(day from greatest(late, date '1960-01-01')), extract(day from least(late, timestamp '2060-01-01'))"), &["1|1"]),
            (&of("cast(coalesce(late, d) as date), cast(coalesce(late, plain) as time)"), &["2024-06-01|23:00:00"]),
            (&of("date_trunc('day', coalesce(late, d)) = timestamp '2024-06-01'"), &["true"]),
            (&of("extract(hour from coalesce(late, utc)), extract(hour from coalesce(utc, late))"), &["23|12"]),
            (&of("extract(hour from case when id = 9 then utc when id = 8 then now() else late end)"), &["23"]),
            (&of("extract(hour from nullif(late, plain)), extract(hour from nvl2(paris, late, plain))"), &["23|23"]),
            (&of("cast(coalesce(late, plain) as text), to_char(coalesce(late, now()), '%H')"), &["2024-06-01T23:00:00Z|23"]),
            (&of("extract(day from coalesce(late, plain) + interval '1 month')"), &["1"]),
            (
                "select extract(hour from lag(paris, 0, plain) over (order by id)), extract(hour from lag(paris, 1, plain) over (order by id)),
                    extract(hour from lead(paris, 1, timestamptz '2024-01-01T00:00:00Z') over (order by id)) from x order by id",
                &["12|12|12", "12|12|0"],
            ),
        ],
    );
}

#[test]
fn what_is_united_keeps_the_digits_of_the_finest_unit() {
    let (engine, _home) = engine();
    let coarse = "arrow_cast(arrow_cast(ms, 'Timestamp(ms, \"+00:00\")'), 'Timestamp(ms, \"Europe/Paris\")')";
    let of = |value: &str| format!("select {} from x where id = 2", value.replace("coarse", coarse));
    all(
        &engine,
        &[
            (&of("cast(case when id = 9 then coarse else paris end as text)"), &["2024-06-01T12:00:00.000001Z"]),
            (&of("cast(case when id = 2 then coarse else paris end as text)"), &["2024-06-01T12:00:00.001Z"]),
            (&of("cast(coalesce(nullif(coarse, coarse), paris) as time)"), &["12:00:00.000001"]),
            (&of("cast(coalesce(nullif(coarse, coarse), plain) as text)"), &["2024-06-01T12:00:00.000001Z"]),
            (&of("cast(case when id = 9 then ms else plain end as text)"), &["2024-06-01T12:00:00.000001"]),
            (&of("extract(microsecond from coalesce(nullif(coarse, coarse), utc))"), &["1"]),
        ],
    );
}

#[test]
fn an_interval_keeps_its_digits() {
    let (engine, _home) = engine();
    all(
        &engine,
        &[
            (
                "select ms + interval '1 microsecond', interval '1 microsecond' + ms, ms - interval '1 nanosecond' from x where id = 1",
                &["2024-06-01T12:00:00.000001|2024-06-01T12:00:00.000001|2024-06-01T11:59:59.999999999"],
            ),
            (
                "select plain + interval '2 nanoseconds', ms + interval '1 month' from x where id = 1",
                &["2024-06-01T12:00:00.000000002|2024-07-01T12:00:00"],
            ),
            (
                "select arrow_typeof(ms + interval '1 day') = arrow_typeof(ms), ms + interval '1 day' from x where id = 1",
                &["true|2024-06-02T12:00:00"],
            ),
            (
                "select ms + du, du + ms, ms - du from x where id = 1",
                &["2024-06-01T12:00:00.000002|2024-06-01T12:00:00.000002|2024-06-01T11:59:59.999998"],
            ),
            ("select id from x where ms + interval '1 microsecond' = plain + interval '1 microsecond'", &["1"]),
            (
                "select cast(arrow_cast(arrow_cast(ms, 'Timestamp(ms, \"+00:00\")'), 'Timestamp(ms, \"Europe/Paris\")') + interval '1 microsecond' as text) from x where id = 1",
                &["2024-06-01T12:00:00.000001Z"],
            ),
        ],
    );
}

#[test]
fn frames_have_the_months_of_utc() {
    let (engine, _home) = engine();
    let zoned = |time: &str| format!("arrow_cast(timestamp '{time}', 'Timestamp(us, \"Europe/Paris\")')");
    // A month before the second is 22:45 of the 1st in UTC; in Paris it is 00:45 of the 2nd, after the first.
    let rows =
        format!("(select {} as k union all select {}) t", zoned("2023-03-01T23:30:00"), zoned("2023-04-01T22:45:00"));
    let frame = |distance: &str| {
        format!(
            "select count(*) over (order by k range between interval '{distance}' preceding and current row) as n from {rows} order by k"
        )
    };
    let within = |of: &str, distance: &str| {
        format!(
            "select count(*) over (order by {of} range between interval '{distance}' preceding and current row) as n from x order by id"
        )
    };
    all(
        &engine,
        &[
            (&frame("1 month"), &["1", "2"]),
            (&frame("30 days"), &["1", "1"]),
            (&within("ms", "1 microsecond"), &["1", "1"]),
            (&within("ms", "1000 microseconds"), &["1", "2"]),
            (&within("paris", "999 nanoseconds"), &["1", "1"]),
            (&within("paris", "1 microsecond"), &["1", "2"]),
            (&within("d", "23 hours"), &["1", "1"]),
            (&within("d", "24 hours"), &["1", "2"]),
            (&within("d", "1 day"), &["1", "2"]),
        ],
    );
}

#[test]
fn what_other_systems_mean_otherwise_is_refused() {
    let (engine, _home) = engine();
    for (question, hint) in [
        ("select count(*) from x tablesample bernoulli (10)", "random() < 0.1"),
        ("select count(*) from (select id from x) t tablesample (10 percent)", "random() < 0.1"),
        ("select 2 ^ 3", "power(2, 3)"),
        ("select id from x where id ^ 1 = 2", "power(2, 3)"),
    ] {
        let told = error(&engine, question);
        assert_eq!(told.kind(), isomorph::Kind::Unsupported, "{question}: {told}");
        assert!(told.hints().any(|one| one.contains(hint)), "{question}: {told}");
    }
    all(
        &engine,
        &[("select 2 xor 3, power(2, 3)", &["1|8.0"]), ("select count(*) > 3 from x where random() < 0", &["false"])],
    );
}

#[test]
fn a_column_may_be_called_like_another_one() {
    let (engine, _home) = engine();
    all(
        &engine,
        &[
            ("select id, text as id from x where id = 2", &["2|12:30:01.006"]),
            ("select id, d as id from x order by d desc", &["2|2024-03-01", "1|2024-02-29"]),
            ("select id, id from x left join (select 1 as id) y using (id) order by 1", &["1|1", "2|2"]),
            ("select d as id, id as n from x where id = 1", &["2024-02-29|1"]),
        ],
    );
}
