//! Parameters that are null or lists, and times without seconds.

use isomorph_query::Parameters;

use crate::answers::all;
use crate::support::{engine_of, social, with};

#[test]
fn a_parameter_may_be_null() {
    let engine = engine_of(&social());
    let null = Parameters::new().with_null("x");
    for (question, expected) in [
        ("select count(*) from person where id = $x", "0"),
        ("select count(*) from person where id is distinct from $x", "500"),
        ("select count(*) from person where $x is null or id = $x", "500"),
        ("select count(*) from person where birthday < coalesce($x, date '1951-01-01') and id = 1007", "0"),
        ("select coalesce($x, 7)", "7"),
        ("select count(*) from graph_table (graph match (a:person) where a.id = $x columns (a.id))", "0"),
    ] {
        assert_eq!(with(&engine, question, &null).unwrap(), [expected], "{question}");
    }
    // A text is what it is.
    let text = Parameters::new().with("x", "null");
    assert_eq!(with(&engine, "select $x || 's'", &text).unwrap(), ["nulls"]);
}

#[test]
fn a_parameter_may_be_a_list() {
    let engine = engine_of(&social());
    let of = |question: &str, list: &str| with(&engine, question, &Parameters::new().with("x", list));
    for (condition, list, expected) in [
        ("id = any($x)", "[1007, 1021]", "2"),
        ("id in ($x)", "[1007,1021,1]", "2"),
        ("id in ($x, 1028)", "[1007,1021,1]", "3"),
        ("id <> all($x)", "[1007, 1021]", "498"),
        ("id not in ($x)", "[1007, null]", "0"),
        ("(id = any($x)) is null", "[1007, null]", "499"),
        ("id = any($x)", "[]", "0"),
        ("id <> all($x)", "[]", "500"),
        ("id in ($x)", "[]", "0"),
        ("id < any($x)", "[1007, 1000]", "1"),
        ("id = any($x::bigint[])", "[1007, 1021]", "2"),
        ("id = any(cast($x as int[]))", "[1007, 1021]", "2"),
        ("firstName = any($x)", r#"["Zo\u00eb", "it's"]"#, "12"),
        ("birthday = any($x)", r#"["1984-05-10", "1962-05-10"]"#, "2"),
        ("id in (select unnest($x))", "[1007, 1021]", "2"),
        ("id in (select v from unnest($x) as u(v))", "[1007, 1021]", "2"),
        ("array_has($x, id)", "[1007, 1021]", "2"),
        ("firstName in ($x)", "Zo\u{eb}", "12"),
        ("firstName = $x", "[1]", "0"),
    ] {
        let question = format!("select count(*) from person where {condition}");
        match of(&question, list) {
            Ok(found) => assert_eq!(found, [expected], "{question} of {list}"),
            Err(error) => panic!("{question} of {list}: {error}"),
        }
    }
    for (condition, list, expected) in [
        ("id = any($x)", "1007", "parameter x is \"1007\", but is compared as a list"),
        ("id in ($x)", "[[1]]", "parameter x is \"[[1]]\""),
        ("id = $x", "[1]", "parameter x is \"[1]\""),
        ("id = any($x)", "[\"a\"]", "parameter x[0] is \"a\""),
    ] {
        let question = format!("select count(*) from person where {condition}");
        let error = of(&question, list).unwrap_err();
        assert!(error.message().contains(expected), "{question} of {list}: {error}");
    }
}

#[test]
fn a_zone_may_be_a_parameter() {
    let engine = engine_of(&social());
    let zone = Parameters::new().with("z", "Europe/Paris");
    let local =
        "select timestamptz '2024-06-01 12:00+00' at time zone $z, timestamp '2024-06-01 14:00' at time zone $z";
    assert_eq!(with(&engine, local, &zone).unwrap(), ["2024-06-01T14:00:00|2024-06-01T12:00:00Z"]);
}

#[test]
fn times_need_no_seconds() {
    let engine = engine_of(&social());
    let texts = "(values ('2024-10-27 00:10'), ('2024-10-27T00:10:05'), ('2024-10-27 00:10+02'), (null)) t(v)";
    all(
        &engine,
        &[
            (
                "select timestamp '2024-10-27 00:10', cast('2024-10-27T00:10' as timestamp)",
                &["2024-10-27T00:10:00|2024-10-27T00:10:00"],
            ),
            (
                "select timestamptz '2024-10-27 00:10+02' = timestamptz '2024-10-26 22:10:00Z', time '10:30' < time '10:30:01'",
                &["true|true"],
            ),
            (
                "select cast('2024-10-27 00:10' as date), try_cast('2024-10-27 00:10' as timestamp) is null",
                &["2024-10-27|false"],
            ),
            (
                &format!("select cast(v as timestamp) from {texts} order by 1"),
                &["2024-10-26T22:10:00", "2024-10-27T00:10:00", "2024-10-27T00:10:05", "null"],
            ),
            (&format!("select count(*) from {texts} where v < timestamp '2024-10-27 00:10:01'"), &["2"]),
            ("select count(*) from knows where since > '2024-12-29 02:37' and _source = 1007", &["1"]),
            (
                "select count(*) from knows where _source = 1007 and since between '2024-12-05 00:00' and '2024-12-05T17:07'",
                &["1"],
            ),
            ("select count(*) from person where birthday < '1950-03-07 00:10'", &["1"]),
            ("select coalesce(since, '2024-01-01 00:10') is null from knows limit 1", &["false"]),
            (
                "select greatest(timestamp '2024-01-01 00:10:01', '2024-01-01 00:10'), nullif(timestamp '2024-01-01 00:10', '2024-01-01 00:10')",
                &["2024-01-01T00:10:01|null"],
            ),
        ],
    );
    let at = Parameters::new().with("t", "2024-12-29 02:37");
    assert_eq!(with(&engine, "select count(*) from knows where since > $t and _source = 1007", &at).unwrap(), ["1"]);
}
