//! Parts of instants, and moments in arrays and functions: of two units, with and without a zone.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, TimestampMicrosecondArray};
use isomorph::tables::{Encoding, TableWriter, WriteOptions};
use isomorph_query::{Engine, Parameters};

use crate::instants::engine;
use crate::support::{error, resources, rows, with};

#[track_caller]
fn check(questions: &[(&str, &str)]) {
    let (engine, _home) = engine();
    for (values, expected) in questions {
        let found = rows(&engine, &format!("select {values} from x where id = 2"));
        assert_eq!(found.unwrap_or_else(|error| panic!("{values}: {error}")), [*expected], "{values}");
    }
}

/// The first moment of a day in Paris, which is the day before in UTC.
const LATE: &str = "(paris + interval '10 hours')";

#[test]
fn parts_of_instants_are_in_utc() {
    let of = |values: &str| values.replace("late", LATE);
    check(&[
        (&of("cast(late as date), cast(late as timestamp)"), "2024-06-01|2024-06-01T22:00:00.000001"),
        (&of("cast(late as time), try_cast(late as date)"), "22:00:00.000001|2024-06-01"),
        (&of("cast(late as text)"), "2024-06-01T22:00:00.000001Z"),
        // Texts that nobody casts, and values inside others.
        (
            "concat(paris), paris || '', left(paris, 13)",
            "2024-06-01T12:00:00.000001Z|2024-06-01T12:00:00.000001Z|2024-06-01T12",
        ),
        (
            "array_to_string([paris], ','), concat_ws('', paris)",
            "2024-06-01T12:00:00.000001Z|2024-06-01T12:00:00.000001Z",
        ),
        (
            "cast([paris] as text), arrow_cast(paris, 'Utf8')",
            "[2024-06-01T12:00:00.000001Z]|2024-06-01T12:00:00.000001Z",
        ),
        ("paris, arrow_typeof(paris)", "2024-06-01T12:00:00.000001Z|Timestamp(µs, \"UTC\")"),
        (&of("extract(hour from late), extract(day from late), to_char(late, '%H')"), "22|1|22"),
        (&of("date_trunc('day', late) = timestamp '2024-06-01'"), "true"),
        (&of("date_trunc('day', late) = cast(late as date)"), "true"),
        (&of("cast(late as date) = date '2024-06-01' and late < date '2024-06-02'"), "true"),
        // A day has 24 hours, also where the clocks of Paris are changed.
        ("timestamptz '2024-03-30T12:00:00Z' at time zone 'Europe/Paris' + interval '1 day'", "2024-03-31T13:00:00"),
        ("paris + interval '7 months' = timestamp '2025-01-01T12:00:00.000001'", "true"),
        (
            "paris at time zone 'Europe/Paris', extract(hour from paris at time zone 'Europe/Paris')",
            "2024-06-01T14:00:00.000001|14",
        ),
        ("plain at time zone 'Europe/Paris' = timestamptz '2024-06-01T10:00:00.000001Z'", "true"),
        ("utc at time zone '+00:00'", "2024-06-01T12:00:00.000001"),
    ]);
    let (engine, _home) = engine();
    let told = error(&engine, "select '2024-01-01' at time zone 'Europe/Paris'");
    assert!(told.message().contains("is no time that a zone can have"), "{told}");
}

#[test]
fn matches_have_instants_in_utc() {
    let home = tempfile::tempdir().unwrap();
    let write = |name: &str, columns: Vec<(&str, ArrayRef)>| {
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let out = std::fs::File::create(home.path().join(name)).unwrap();
        let options = WriteOptions::default();
        let mut writer = TableWriter::create(out, Encoding::Parquet, batch.schema_ref(), &options).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
    };
    let ids = || Arc::new(Int64Array::from(vec![1])) as ArrayRef;
    let times = TimestampMicrosecondArray::from(vec![1_717_243_200_000_000]).with_timezone("Europe/Paris");
    write("p.parquet", vec![("id", ids()), ("at", Arc::new(times))]);
    write("p_k_p.parquet", vec![("source", ids()), ("target", ids())]);
    let mut engine = Engine::new(resources()).unwrap();
    let graph = isomorph::open(home.path().to_str().unwrap()).unwrap();
    engine.add_graph("graph", Arc::new(graph)).unwrap();
    let question = "select at, left(at, 13), made, hour from graph_table (graph match (n:p) \
                    columns (n.at as at, n.at + duration('PT0S') as made, n.at.hour as hour))";
    let expected = "2024-06-01T12:00:00Z|2024-06-01T12|2024-06-01T12:00:00Z|14";
    assert_eq!(rows(&engine, question).unwrap(), [expected]);
}

#[test]
fn items_of_arrays_are_compared_as_other_moments() {
    check(&[
        ("array_has([plain], paris), array_has([paris], plain), array_has([ms], paris)", "true|true|false"),
        ("array_position([ms, plain], paris), array_remove([plain], paris)", "2|[]"),
        ("plain = any([paris]), ms <> all([paris]), t2 = any([t])", "true|true|false"),
        ("array_has([t2], timestamp '2024-01-01T12:30:01.005'::time), array_has([t], t2)", "true|false"),
        ("array_has([paris], '2024-06-01T12:00:00.000001'), array_has([t], '12:30:01.006')", "true|true"),
        ("array_has([d], '2024-03-01'), array_has([d], '2024-03-01T00:00:01')", "true|false"),
        ("array_has_any([plain], [paris, utc]), array_intersect([plain], [paris]) = [plain]", "true|true"),
        ("[t, t2] = [t2, t], [t, t]  = [t, t]", "false|true"),
    ]);
}

#[test]
fn functions_unite_moments_of_two_units_and_zones() {
    check(&[
        ("t is distinct from t2, t2 is not distinct from t2, paris is distinct from plain", "true|true|false"),
        ("coalesce(t, t2) = t, nullif(t, t2) = t, nullif(plain, paris) is null", "true|true|true"),
        ("greatest(t, t2) = t, least(t, t2) = t2, greatest(plain, paris) = plain", "true|true|true"),
        ("now() - paris > interval '1 day', paris - plain = interval '0 seconds'", "true|true"),
        (
            "coalesce(paris, '2024-01-01 00:00:00') = plain, coalesce(nullif(paris, paris), '2024-01-01 00:00:00') = timestamp '2024-01-01'",
            "true|true",
        ),
        ("case when id = 1 then t else t2 end = t2", "true"),
        ("cast(t2 as time(9)) = t2, cast('12:00:00.000000001' as time(9)) > time '12:00:00'", "true|true"),
    ]);
}

#[test]
fn windows_have_defaults_and_distances_of_moments() {
    let (engine, _home) = engine();
    for (value, expected) in [
        ("lag(plain, 1, paris) over (order by id) = timestamp '2024-06-01T12:00:00'", ["true", "true"]),
        ("lead(id, 1, id * 10) over (order by id)", ["2", "20"]),
        ("lag(paris, 1, timestamp '2024-01-01') over (order by id) = plain", ["false", "false"]),
        ("lag(paris, 1, timestamp '2024-01-01') over (order by id) = timestamp '2024-01-01'", ["true", "false"]),
        ("count(*) over (order by t range between interval '1 millisecond' preceding and current row)", ["1", "2"]),
        ("count(*) over (order by t range between interval '0.5 milliseconds' preceding and current row)", ["1", "1"]),
    ] {
        let found = rows(&engine, &format!("select {value} from x order by id"));
        assert_eq!(found.unwrap_or_else(|error| panic!("{value}: {error}")), expected, "{value}");
    }
}

#[test]
fn a_tenth_digit_is_refused() {
    let (engine, _home) = engine();
    for condition in [
        "t = '12:30:01.0050000001'",
        "plain < '2024-06-01T12:00:00.0000000001'",
        "paris in ('2024-06-01T12:00:00.0000000001')",
        "plain = timestamp '2024-06-01T12:00:00.0000000001'",
        "t = cast('12:30:01.0050000001' as time)",
        "array_has([t], '12:30:01.0050000001')",
    ] {
        let told = error(&engine, &format!("select id from x where {condition}"));
        assert!(
            told.message().starts_with("a time has at most 9 digits after the point, found 10"),
            "{condition}: {told}"
        );
    }
    let parameters = Parameters::new().with("q", "12:30:01.0050000001");
    let told = with(&engine, "select id from x where t = $q", &parameters).unwrap_err();
    assert!(told.message().starts_with("a time has at most 9 digits"), "{told}");
}

#[test]
fn a_parameter_may_be_a_duration_with_signs() {
    let (engine, _home) = engine();
    for (condition, value, expected) in [
        ("du = $q", "PT0.000002S", &["1"][..]),
        ("du > $q", "PT-1H", &["1", "2"]),
        ("du > $q", "-PT1H", &["1", "2"]),
        ("plain - timestamp '2024-06-01T13:00:00' >= $q", "-PT1H", &["1", "2"]),
        ("interval '1 day' > $q", "PT-1H", &["1", "2"]),
        ("interval '1 day' = $q", "PT24H", &["1", "2"]),
        ("plain + $q < plain", "PT-1H", &["1", "2"]),
    ] {
        let parameters = Parameters::new().with("q", value);
        let found = with(&engine, &format!("select id from x where {condition} order by id"), &parameters);
        assert_eq!(
            found.unwrap_or_else(|error| panic!("{condition} {value}: {error}")),
            expected,
            "{condition} {value}"
        );
    }
}
