//! Instants, dates and times of day beside values of other types: they are compared by what they are, not by what fits into the type of a column.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, Date32Array, DurationMicrosecondArray, Int64Array, RecordBatch, StringArray, StructArray,
    Time32MillisecondArray, Time64MicrosecondArray, TimestampMicrosecondArray, TimestampMillisecondArray,
};
use arrow_schema::{DataType, Field};
use isomorph::Location;
use isomorph::tables::{Encoding, TableWriter, WriteOptions};
use isomorph_query::{Engine, Parameters};

use crate::support::{error, resources, rows, with};

/// 2024-06-01T12:00:00Z, as microseconds.
const NOON: i64 = 1_717_243_200_000_000;

/// 12:30:01.005, as milliseconds of a day.
const TIME: i32 = 45_001_005;

pub(crate) fn engine() -> (Engine, tempfile::TempDir) {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("x.arrow");
    let in_zone = |zone: &str| TimestampMicrosecondArray::from(vec![NOON, NOON + 1]).with_timezone(zone);
    let fields = StructArray::from(vec![(
        Arc::new(Field::new("a", DataType::Int64, true)),
        Arc::new(Int64Array::from(vec![2, 1])) as ArrayRef,
    )]);
    let columns: [(&str, ArrayRef); 12] = [
        ("id", Arc::new(Int64Array::from(vec![1, 2]))),
        ("paris", Arc::new(in_zone("Europe/Paris"))),
        ("utc", Arc::new(in_zone("UTC"))),
        ("plain", Arc::new(TimestampMicrosecondArray::from(vec![NOON, NOON + 1]))),
        ("ms", Arc::new(TimestampMillisecondArray::from(vec![NOON / 1000, NOON / 1000 + 1]))),
        ("t", Arc::new(Time32MillisecondArray::from(vec![TIME, TIME + 1]))),
        ("t2", Arc::new(Time64MicrosecondArray::from(vec![i64::from(TIME) * 1000, i64::from(TIME) * 1000]))),
        ("d", Arc::new(Date32Array::from(vec![19_782, 19_783]))),
        ("du", Arc::new(DurationMicrosecondArray::from(vec![2, 1]))),
        ("b", Arc::new(BinaryArray::from(vec![b"b".as_slice(), b"a"]))),
        ("s", Arc::new(fields)),
        ("text", Arc::new(StringArray::from(vec!["12:30:01.0050001", "12:30:01.006"]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let out = std::fs::File::create(&file).unwrap();
    let mut writer = TableWriter::create(out, Encoding::Arrow, batch.schema_ref(), &WriteOptions::default()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let mut engine = Engine::new(resources()).unwrap();
    engine.add_file("x", &Location::from_path(&file)).unwrap();
    (engine, home)
}

/// The rows for which a condition is true.
#[track_caller]
fn check(engine: &Engine, condition: &str, expected: &[&str]) {
    let found = rows(engine, &format!("select id from x where {condition} order by id"));
    assert_eq!(found.unwrap_or_else(|error| panic!("{condition}: {error}")), expected, "{condition}");
    // The same among what is selected, where nothing is pushed down.
    let selected = format!("select id from (select id, {condition} as holds from x) q where holds order by id");
    let found = rows(engine, &selected).unwrap_or_else(|error| panic!("{condition}, selected: {error}"));
    assert_eq!(found, expected, "{condition}, selected");
}

#[test]
fn times_of_day_are_compared_with_all_digits() {
    let (engine, _home) = engine();
    for (condition, expected) in [
        ("t = '12:30:01.005999'", &[][..]),
        ("t < '12:30:01.005999'", &["1"]),
        ("t = '12:30:01.005'", &["1"]),
        ("t <> '12:30:01.005000001'", &["1", "2"]),
        ("t in ('12:30:01.005999', '12:30:01.006')", &["2"]),
        ("t between '12:30:01.005001' and '12:30:02'", &["2"]),
        ("t not between '12:30:01.005001' and '12:30:02'", &["1"]),
        ("t = time '12:30:01.005'", &["1"]),
        ("t = t2", &["1"]),
        ("t = text", &["2"]),
        ("t2 = '12:30:01.0050001'", &[]),
        ("t2 in (select t from x)", &["1", "2"]),
        ("t in (select t2 from x)", &["1"]),
        ("t not in (select t2 from x)", &["2"]),
        ("case t when '12:30:01.0050001' then false when '12:30:01.005' then true end", &["1"]),
        ("nullif(t, '12:30:01.0050001') is not null", &["1", "2"]),
    ] {
        check(&engine, condition, expected);
    }
    let of = |question: &str, value: &str| with(&engine, question, &Parameters::new().with("q", value)).unwrap();
    for (value, equal) in [("12:30:01.005999", "0"), ("12:30:01.005", "1"), ("12:30:01.006000000", "1")] {
        assert_eq!(of("select count(*) from x where t = $q", value), [equal], "{value}");
        assert_eq!(of("select count(*) from x where t in ($q)", value), [equal], "{value}");
        assert_eq!(of("select sum(case when t = $q then 1 else 0 end) from x", value), [equal], "{value}");
    }
    assert_eq!(of("select count(*) from x where t between $q and '12:30:02'", "12:30:01.005001"), ["1"]);
    assert_eq!(rows(&engine, "select a.id, b.id from x a join x b on a.t = b.t2 order by 2").unwrap(), ["1|1", "1|2"]);
    assert_eq!(
        rows(&engine, "select count(*) from (select t as k from x) a join (select t2 as k from x) b using (k)")
            .unwrap(),
        ["2"]
    );
}

#[test]
fn a_text_with_a_time_of_day_is_no_date() {
    let (engine, _home) = engine();
    // Of 2024-02-29 and 2024-03-01.
    for (condition, expected) in [
        ("d < '2024-02-29T23:00:00'", &["1"][..]),
        ("d = '2024-02-29T23:00:00'", &[]),
        ("d = '2024-02-29T00:00:00'", &["1"]),
        ("d in ('2024-02-29 00:00:00.000001', '2024-03-01')", &["2"]),
        ("d between '2024-02-29T00:00:01' and '2024-03-01T00:00:00'", &["2"]),
        ("d <= '2024-02-29'", &["1"]),
    ] {
        check(&engine, condition, expected);
    }
}

#[test]
fn moments_without_a_zone_are_in_utc_beside_instants() {
    let (engine, _home) = engine();
    for column in ["paris", "utc"] {
        for (condition, expected) in [
            ("= timestamp '2024-06-01T12:00:00'", &["1"][..]),
            ("= '2024-06-01T12:00:00'", &["1"]),
            ("= '2024-06-01T14:00:00+02:00'", &["1"]),
            ("= cast('2024-06-01T12:00:00' as timestamp)", &["1"]),
            ("= timestamptz '2024-06-01T12:00:00Z'", &["1"]),
            ("= cast('2024-06-01T12:00:00Z' as timestamptz)", &["1"]),
            ("= '2024-06-01T17:00:00+05:00'::timestamptz", &["1"]),
            ("= timestamp with time zone '2024-06-01T12:00:00Z'", &["1"]),
            ("= to_timestamp(1717243200)", &["1"]),
            ("= plain", &["1", "2"]),
            ("<= ms", &["1", "2"]),
            ("< ms", &["2"]),
            ("in ('2024-06-01T12:00:00', timestamp '2024-06-01T12:00:00.000001')", &["1", "2"]),
            ("between '2024-06-01T12:00:00.0000005' and '2024-06-01T12:00:01'", &["2"]),
            ("in (select plain from x where id = 2)", &["2"]),
            (">= date '2024-06-01'", &["1", "2"]),
            ("< now()", &["1", "2"]),
            ("> current_timestamp", &[]),
            ("- timestamp '2024-06-01T12:00:00' = interval '0 seconds'", &["1"]),
        ] {
            check(&engine, &format!("{column} {condition}"), expected);
        }
        let of = |value: &str| {
            let parameters = Parameters::new().with("q", value);
            with(&engine, &format!("select id from x where {column} = $q"), &parameters).unwrap()
        };
        assert_eq!(of("2024-06-01T12:00:00"), ["1"]);
        assert_eq!(of("2024-06-01T14:00:00.000001+02:00"), ["2"]);
        let united = format!("select count(*) from x where coalesce({column}, timestamp '2024-01-01') = plain");
        assert_eq!(rows(&engine, &united).unwrap(), ["2"]);
    }
    check(&engine, "paris = utc", &["1", "2"]);
    check(&engine, "plain < now()", &["1", "2"]);
    check(&engine, "paris >= timestamp '2024-05-31T22:30:00'", &["1", "2"]);
    let types = engine.columns("select now(), current_timestamp, to_timestamp(1) from x", &Parameters::new()).unwrap();
    for field in types.fields() {
        assert!(matches!(field.data_type(), DataType::Timestamp(_, Some(_))), "{field}");
    }
    assert_eq!(
        rows(&engine, "select a.id, b.id from x a join x b on a.paris = b.plain order by 1").unwrap(),
        ["1|1", "2|2"]
    );
}

#[test]
fn windows_are_in_the_order_of_any_values() {
    let (engine, _home) = engine();
    for (column, first) in [("t", 1), ("t2", 0), ("du", 2), ("b", 2), ("s", 2), ("d", 1)] {
        let question = format!(
            "select id, rank() over (order by {column}), sum(id) over (order by {column}), count(*) over (order by {column} desc) from x order by id"
        );
        let found = rows(&engine, &question).unwrap_or_else(|error| panic!("{column}: {error}"));
        let expected = match first {
            // Peers have one rank and one sum.
            0 => ["1|1|3|2", "2|1|3|2"],
            1 => ["1|1|1|2", "2|2|3|1"],
            _ => ["1|2|3|1", "2|1|2|2"],
        };
        assert_eq!(found, expected, "{column}");
        let numbered =
            format!("select count(*) from (select row_number() over (order by {column}) as n from x) where n = 2");
        assert_eq!(rows(&engine, &numbered).unwrap(), ["1"], "{column}");
    }
}

#[test]
fn functions_say_what_they_are_not_defined_for() {
    let (engine, _home) = engine();
    for (question, name, data_type) in [
        ("select sum(text) from x", "sum", "Utf8"),
        ("select sum(b) from x", "sum", "Binary"),
        ("select upper(s) from x", "upper", "Struct(\"a\": Int64)"),
    ] {
        let told = error(&engine, question);
        let expected = format!("{name} is not defined for a value of type {data_type}");
        assert_eq!(told.message(), expected, "{question}");
    }
}

#[test]
fn a_union_has_instants_in_utc_and_times_with_all_digits() {
    let (engine, _home) = engine();
    for (question, expected) in [
        ("select count(*) from (select plain as x from x union select paris from x) q", "2"),
        ("select count(*) from (select paris as x from x union select plain from x) q", "2"),
        ("select count(distinct x) from (select plain as x from x union all select paris from x) q", "2"),
        ("select count(*) from (select d as x from x union all select paris from x) q where x = '2024-02-29'", "1"),
        ("select count(*) from (select t as x from x union select t2 from x) q", "2"),
        ("select count(*) from x where nvl(plain, paris) = paris", "2"),
        ("select count(*) from x where nvl2(paris, plain, paris) = paris", "2"),
        ("select count(*) from x where nvl(t, t2) = t", "2"),
    ] {
        assert_eq!(
            rows(&engine, question).unwrap_or_else(|error| panic!("{question}: {error}")),
            [expected],
            "{question}"
        );
    }
    let types =
        rows(&engine, "select arrow_typeof(nvl(ms, paris)), arrow_typeof(nvl(paris, ms)) from x limit 1").unwrap();
    assert!(!types[0].contains("Utf8"), "{types:?}");
}
