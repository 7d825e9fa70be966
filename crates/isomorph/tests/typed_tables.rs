//! The front door shows typed tables by default, and stored ones when asked.
#![cfg(feature = "convert")]
#![allow(clippy::unwrap_used)]

use isomorph::convert::TypedOptions;
use isomorph::{Dataset, Kind, Table};

fn example(name: &str) -> isomorph::Graph {
    isomorph::open(&format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn names(tables: &[Table]) -> Vec<&str> {
    tables.iter().map(Table::name).collect()
}

#[test]
fn tables_are_typed_and_the_stored_ones_stay_reachable() {
    let people = example("people.ttl");
    assert_eq!(names(people.tables().unwrap()), ["resource", "resource_http://example.org/knows_resource"]);
    assert!(names(people.stored().tables()).contains(&"resource_to_resource"), "{:?}", people.stored());
    // The survey is made once.
    let first: *const Dataset = people.dataset().unwrap();
    assert!(std::ptr::eq(first, people.dataset().unwrap()));
    let rows = |table: &str| -> usize {
        people.scan(table).unwrap().batches().unwrap().map(|batch| batch.unwrap().num_rows()).sum()
    };
    assert_eq!((rows("resource"), rows("resource_http://example.org/knows_resource")), (3, 3));
    assert_eq!(people.scan("resource_to_resource").unwrap_err().kind(), Kind::Usage);
}

#[test]
fn a_survey_that_reads_too_much_is_refused_until_it_may() {
    let most = |most_rows| TypedOptions { most_rows: Some(most_rows), ..TypedOptions::default() };
    let people = example("people.ttl").with_typing(most(1));
    assert_eq!(people.dataset().unwrap_err().kind(), Kind::TooLarge);
    assert_eq!(people.tables().unwrap_err().kind(), Kind::TooLarge);
    assert!(people.with_typing(most(1_000)).dataset().is_ok());
}

#[test]
fn declared_types_are_the_stored_ones() {
    let social = example("social").with_typing(TypedOptions { most_rows: Some(0), ..TypedOptions::default() });
    assert!(std::ptr::eq(social.dataset().unwrap(), social.stored()));
}
