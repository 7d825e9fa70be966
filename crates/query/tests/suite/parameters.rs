//! Parameters and literals with more digits than the column that they are compared with.

use isomorph_query::{Engine, Parameters};

use crate::support::{engine_of, rows, with};

/// Node 1, with a column of each type that has few digits.
fn engine() -> (tempfile::TempDir, Engine) {
    let home = tempfile::tempdir().unwrap();
    let row = "1,1.50,2020-01-01,2020-01-01T12:00:00,2020-01-01T12:00:00,0.1\n";
    std::fs::write(home.path().join("node.csv"), format!("id,price,day,ms,s,f\n{row}")).unwrap();
    std::fs::write(home.path().join("link.csv"), "source,target\n1,1\n").unwrap();
    let mapping = "CREATE EXTERNAL TABLE node (id BIGINT NOT NULL, price DECIMAL(10,2), day DATE, ms TIMESTAMP(3), s TIMESTAMP(0), f REAL)
            STORED AS CSV LOCATION 'node.csv';
        CREATE EXTERNAL TABLE link (\"source\" BIGINT NOT NULL, target BIGINT NOT NULL) STORED AS CSV LOCATION 'link.csv';
        CREATE PROPERTY GRAPH g VERTEX TABLES (node KEY (id)) EDGE TABLES (link SOURCE KEY (\"source\") REFERENCES
            node (id) DESTINATION KEY (target) REFERENCES node (id));";
    std::fs::write(home.path().join("graph.pgq"), mapping).unwrap();
    let engine = engine_of(&home.path().display().to_string());
    (home, engine)
}

/// How a column compares with a value: `<`, `=` or `>`.
const CASES: [(&str, &str, &str, &str); 18] = [
    ("price", "1.499", "cast('1.499' as decimal(10, 3))", ">"),
    ("price", "1.504", "cast('1.504' as decimal(10, 3))", "<"),
    ("price", "1.500", "cast('1.500' as decimal(10, 3))", "="),
    ("price", "1.5", "1.5", "="),
    ("price", "15e-1", "15e-1", "="),
    ("price", "-1.5", "-1.5", ">"),
    ("price", "12345678901.123", "12345678901.123", "<"),
    ("day", "2020-01-01", "date '2020-01-01'", "="),
    ("day", "2020-01-01T23:59:00", "timestamp '2020-01-01T23:59:00'", "<"),
    ("day", "2020-01-01T00:00:00", "timestamp '2020-01-01T00:00:00'", "="),
    ("ms", "2020-01-01T12:00:00.000001", "timestamp '2020-01-01T12:00:00.000001'", "<"),
    ("ms", "2020-01-01T11:59:59.9999", "timestamp '2020-01-01T11:59:59.9999'", ">"),
    ("ms", "2020-01-01T12:00:00.000000001", "timestamp '2020-01-01T12:00:00.000000001'", "<"),
    ("ms", "2020-01-01T12:00:00", "timestamp '2020-01-01T12:00:00'", "="),
    ("s", "2020-01-01T12:00:00.001", "timestamp '2020-01-01T12:00:00.001'", "<"),
    ("s", "2020-01-01T12:00:00.000", "timestamp '2020-01-01T12:00:00.000'", "="),
    // A float of 32 bits is what it is.
    ("f", "0.1", "0.1", ">"),
    ("f", "0.10000000149011612", "0.10000000149011612", "="),
];

#[test]
fn no_digit_of_a_value_is_lost_in_a_comparison() {
    let (_home, engine) = engine();
    let mut wrong = Vec::new();
    for (column, text, literal, order) in CASES {
        for (operator, holds) in [
            ("=", order == "="),
            ("<>", order != "="),
            ("<", order == "<"),
            (">=", order != "<"),
            (">", order == ">"),
            ("<=", order != ">"),
        ] {
            let expected: Vec<String> = if holds { vec!["1".into()] } else { Vec::new() };
            let bound = Parameters::new().with("x", text);
            for question in [format!("{column} {operator} @"), format!("not (@ {} {column})", turned(operator))] {
                let question = format!("select id from node where {question}");
                let found = rows(&engine, &question.replace('@', literal)).unwrap();
                if found != expected {
                    wrong.push(format!("{question} of {literal}: {found:?}"));
                }
                let found = with(&engine, &question.replace('@', "$x"), &bound).unwrap();
                if found != expected {
                    wrong.push(format!("{question} of the parameter {text}: {found:?}"));
                }
            }
        }
        let bound = Parameters::new().with("x", text);
        for condition in ["0 in (@)", "0 in (@, null)", "0 between @ and @", "@ between 0 and 0", "not (0 not in (@))"]
        {
            let question = format!("select id from node where {}", condition.replace('0', column));
            let found = rows(&engine, &question.replace('@', literal)).unwrap();
            let of_parameter = with(&engine, &question.replace('@', "$x"), &bound).unwrap();
            // That `$x between` is a time cannot be known.
            let is_known = !condition.starts_with('@') || !text.contains(':');
            let both = [(literal, found), ("the parameter", of_parameter)];
            for (shown, found) in both.into_iter().take(if is_known { 2 } else { 1 }) {
                if found.is_empty() == (order == "=") {
                    wrong.push(format!("{question} of {shown} {text}: {found:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The comparison with its sides exchanged, for the opposite.
fn turned(operator: &str) -> &'static str {
    match operator {
        "=" => "<>",
        "<>" => "=",
        "<" => "<=",
        ">=" => ">",
        ">" => ">=",
        _ => "<",
    }
}

#[test]
fn a_timestamp_with_a_zone_is_an_instant() {
    let (_home, engine) = engine();
    for (question, expected) in [
        ("select timestamptz '2024-07-01T02:00:00+02:00' = timestamptz '2024-07-01T00:00:00+00:00'", "true"),
        (
            "select timestamp with time zone '2024-07-01T02:00:00+02:00' = timestamptz '2024-07-01T02:00:00+00:00'",
            "false",
        ),
        ("select timestamptz '2024-07-01T02:00:00+02:00' < timestamptz '2024-07-01T00:00:00.000001+00:00'", "true"),
    ] {
        assert_eq!(rows(&engine, question).unwrap(), [expected], "{question}");
    }
}
