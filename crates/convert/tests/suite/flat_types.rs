//! Types of the files of a table that no type holds together, and columns that are none of the graph's.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, TimestampMicrosecondArray};
use isomorph_error::Error;
use serde_json::json;

use super::flat_alone::{integers, refused, shown, table, texts};
use super::flat_tables::{columns, digests, directory, lines, open, opened};

fn times(zone: Option<&str>) -> ArrayRef {
    Arc::new(TimestampMicrosecondArray::from(vec![0]).with_timezone_opt(zone))
}

fn edges(place: &Path, value: ArrayRef) {
    table(place, vec![("source", integers(&[1])), ("target", integers(&[2])), ("t", value)]);
}

fn rule(error: &Error) -> Option<&'static str> {
    error.broken_rule().map(|rule| rule.id)
}

#[test]
fn instants_and_local_times_are_no_column_together() {
    let bytes = || Arc::new(BinaryArray::from(vec![&b"x"[..]])) as ArrayRef;
    for ending in ["parquet", "arrow"] {
        let home = tempfile::tempdir().unwrap();
        let [first, second] = ["part-0", "part-1"].map(|name| home.path().join(format!("{name}.{ending}")));
        for (one, other) in [
            (times(Some("Europe/Berlin")), times(None)),
            (times(None), times(Some("UTC"))),
            (texts(&["x"]), bytes()),
            (bytes(), texts(&["x"])),
        ] {
            edges(&first, one);
            edges(&second, other);
            let error = refused(home.path());
            assert_eq!(rule(&error), Some("FLAT-PARTS"), "{ending}: {error:?}");
            assert!(error.message().contains("\"t\"") && error.place().to_string().contains("part-1"), "{error:?}");
        }
        // Instants are the same in every zone.
        edges(&first, times(Some("Europe/Berlin")));
        edges(&second, times(Some("UTC")));
        assert_eq!(shown(&open(home.path())).1.len(), 2);
    }
}

#[test]
fn a_timestamp_is_declared_with_its_zone() {
    for ending in ["parquet", "arrow"] {
        for (zone, declared, is_read) in [
            (Some("Europe/Berlin"), "TIMESTAMP(6)", false),
            (Some("UTC"), "TIMESTAMP(3)", false),
            (None, "TIMESTAMP(6) WITH TIME ZONE", false),
            (None, "TIMESTAMP(6)", true),
            (Some("UTC"), "TIMESTAMP(6) WITH TIME ZONE", true),
        ] {
            let home = tempfile::tempdir().unwrap();
            edges(&home.path().join(format!("e.{ending}")), times(zone));
            let mapping = format!(
                "CREATE EXTERNAL TABLE n (id BIGINT) STORED AS {0} LOCATION 'e.{ending}' OPTIONS ('isomorph.ends' '[\"source\",\"target\"]');
CREATE EXTERNAL TABLE e (\"source\" BIGINT, target BIGINT, t {declared}) STORED AS {0} LOCATION 'e.{ending}';
CREATE PROPERTY GRAPH g VERTEX TABLES (n KEY (id)) EDGE TABLES (e SOURCE KEY (\"source\") REFERENCES n (id) DESTINATION KEY (target) REFERENCES n (id));",
                ending.to_uppercase()
            );
            std::fs::write(home.path().join("graph.pgq"), mapping).unwrap();
            let found = opened(home.path()).and_then(|opened| digests(&opened).map(|_| ()));
            match found {
                Ok(()) => assert!(is_read, "{ending} {zone:?} {declared}"),
                Err(error) => {
                    assert!(!is_read, "{error:?}");
                    assert_eq!((rule(&error), error.place().line), (Some("FLAT-MAPPING"), Some(2)), "{error:?}");
                    assert!(error.message().contains("time zone"), "{error:?}");
                }
            }
        }
    }
}
