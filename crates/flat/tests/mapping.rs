//! Mapping files: what is read, what is written, and what is refused where.
#![allow(clippy::unwrap_used, clippy::panic)]

use isomorph_flat::sql::{At, Properties, Script, parse};
use isomorph_tables::Encoding;
use proptest::prelude::*;

const SOCIAL: &str = r#"-- friends
CREATE OR REPLACE EXTERNAL TABLE IF NOT EXISTS person (
  id BIGINT NOT NULL, "Full Name" VARCHAR, born DATE, height DECIMAL(5, 2),
  tags VARCHAR[], seen TIMESTAMP(6) WITH TIME ZONE, more JSON, kinds INTEGER UNSIGNED MULTISET, x DOUBLE PRECISION NULL
) STORED AS CSV LOCATION './a''b.csv' OPTIONS ('format.delimiter' ';', format.has_header true, 'isomorph.labels' 'tags');
create external table knows stored as parquet location 'knows.parquet';
CREATE PROPERTY GRAPH social
NODE TABLES (
  person AS p KEY (id) LABEL Human PROPERTIES (id AS key, "Full Name" AS name),
  person KEY (id) PROPERTIES ARE ALL COLUMNS EXCEPT (x)
)
RELATIONSHIP TABLES (
  knows KEY (id) SOURCE KEY (a) REFERENCES p (id) DESTINATION KEY ("b c") REFERENCES person NO PROPERTIES LABEL "knows of"
);
"#;

/// Without places, which differ between two texts of one mapping.
fn placeless(mut script: Script) -> Script {
    script.graph.at = At::default();
    script.tables.iter_mut().for_each(|table| table.at = At::default());
    script.graph.vertices.iter_mut().for_each(|vertex| vertex.at = At::default());
    for edge in &mut script.graph.edges {
        (edge.at, edge.source.at, edge.target.at) = (At::default(), At::default(), At::default());
    }
    script
}

#[test]
fn what_is_read_is_written_and_read_again() {
    let script = parse(SOCIAL, "graph.pgq").unwrap();
    let person = &script.tables[0];
    assert_eq!((person.encoding, person.location.as_str(), person.columns.len()), (Encoding::Csv, "./a'b.csv", 9));
    assert_eq!(script.tables[1].encoding, Encoding::Parquet);
    assert_eq!(person.options["format.has_header"], "true");
    let [human, plain] = script.graph.vertices.as_slice() else { panic!() };
    assert_eq!((human.table.as_str(), human.alias.as_str(), human.label.as_str()), ("person", "p", "Human"));
    assert_eq!((plain.alias.as_str(), plain.label.as_str()), ("person", "person"));
    assert_eq!(plain.properties, Properties::Except(vec!["x".to_owned()]));
    let edge = &script.graph.edges[0];
    assert_eq!((edge.source.references.as_str(), edge.target.column.as_str()), ("p", "b c"));
    assert_eq!((edge.label.as_str(), &edge.properties), ("knows of", &Properties::Listed(Vec::new())));
    let again = parse(&script.to_string(), "graph.pgq").unwrap();
    assert_eq!(placeless(again), placeless(script));
}

#[test]
fn errors_name_line_and_column() {
    let table = "CREATE EXTERNAL TABLE t (id BIGINT) STORED AS CSV LOCATION 't.csv';\n";
    let graph = |rest: &str| format!("{table}CREATE PROPERTY GRAPH g VERTEX TABLES ({rest}");
    for (text, line, column, words) in [
        (String::new(), None, 0, "declares no graph"),
        ("SELECT 1".to_owned(), Some(1), 1, "expected CREATE"),
        ("CREATE VIEW v".to_owned(), Some(1), 8, "EXTERNAL TABLE or PROPERTY GRAPH"),
        (format!("{table}{table}"), Some(2), 1, "declared twice"),
        ("CREATE EXTERNAL TABLE t (id BIGINT)\nLOCATION 'a'".to_owned(), Some(1), 1, "lacks STORED AS"),
        ("CREATE EXTERNAL TABLE t STORED AS AVRO LOCATION 'a'".to_owned(), Some(1), 35, "not stored as AVRO"),
        ("CREATE EXTERNAL TABLE t (\n  a POINT)".to_owned(), Some(2), 5, "do not have the type POINT"),
        ("CREATE EXTERNAL TABLE t (a BIGINT[][])".to_owned(), Some(1), 28, "single values as items"),
        ("CREATE EXTERNAL TABLE t (a DECIMAL(39, 0))".to_owned(), Some(1), 28, "type DECIMAL"),
        ("CREATE EXTERNAL TABLE t (a INT, a INT)".to_owned(), Some(1), 1, "two columns"),
        ("CREATE EXTERNAL TABLE t OPTIONS ('a' 'b', 'a' 'c')".to_owned(), Some(1), 25, "set twice"),
        ("CREATE EXTERNAL TABLE t LOCATION 'a".to_owned(), Some(1), 34, "nterminated"),
        (graph("t KEY (a, b))"), Some(2), 46, "a key is one column"),
        (graph("t KEY (a) LABEL x LABEL y)"), Some(2), 58, "one label"),
        (graph("t, t)"), Some(2), 43, "two tables of nodes are called t"),
        (graph("t) EDGE TABLES (e SOURCE t DESTINATION t)"), Some(2), 65, "KEY (column) REFERENCES"),
        (graph("t)) extra"), Some(2), 42, "expected ;"),
    ] {
        let error = parse(&text, "graph.pgq").unwrap_err();
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some("FLAT-MAPPING"), "{text}");
        assert!(error.message().contains(words), "{text}: {error}");
        if let Some(line) = line {
            assert_eq!(error.place().line, Some(line), "{text}: {error}");
            assert!(error.message().ends_with(&format!("(column {column})")), "{text}: {error}");
        }
        assert_eq!(error.place().file.as_deref(), Some("graph.pgq"), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    /// Any names survive.
    #[test]
    fn names_are_quoted_where_they_must_be(name in "\\PC{1,12}", other in "[a-z\"' ]{1,6}") {
        let mut script = parse(SOCIAL, "graph.pgq").unwrap();
        script.tables[0].columns[0].name = format!("column {name}");
        script.tables[0].location = other.clone();
        script.graph.vertices[0].label.clone_from(&name);
        script.graph.edges[0].label = other;
        script.graph.name = name;
        let again = parse(&script.to_string(), "graph.pgq").unwrap();
        prop_assert_eq!(placeless(again), placeless(script));
    }

    /// Damaged texts are refused or read, and end.
    #[test]
    fn damaged_texts_end(at in 0..SOCIAL.len(), cut in 0usize..40, with in "[A-Za-z0-9()\\[\\],;'\"$.:/*-]{0,4}") {
        let mut text = SOCIAL.to_owned();
        let end = (at + cut).min(text.len());
        prop_assume!(text.is_char_boundary(at) && text.is_char_boundary(end));
        text.replace_range(at..end, &with);
        if let Err(error) = parse(&text, "graph.pgq") {
            prop_assert_eq!(error.broken_rule().map(|rule| rule.id), Some("FLAT-MAPPING"));
        }
    }
}
