//! Files with the same rows are equal in any dialect; a single different cell is found.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use common::graphs::data;
use common::rows::{Row, batch, edge, file, node, parquet};
use common::{fixtures, open, open_bytes};
use isomorph_nock::{CompareOptions, CreateOptions, Format, OnlyIn, OpenOptions, Types, compare};
use isomorph_storage::Budget;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn formats_and_layouts_mean_nothing(data in data(12), tight in any::<bool>()) {
        let home = tempfile::tempdir().unwrap();
        let paths: Vec<_> = ["table", "text", "nested"].iter().map(|name| home.path().join(name)).collect();
        let table = CreateOptions { truth_double: true, ..CreateOptions::default() };
        data.write(&paths[0], &table, (3, 3)).unwrap();
        data.write(&paths[1], &CreateOptions { format: Format::Csv, sort: true, ..CreateOptions::default() }, (5, 2)).unwrap();
        let nested = CreateOptions { types: Types::Pynock, nested_edges: true, ..CreateOptions::default() };
        data.write(&paths[2], &nested, (2, 9)).unwrap();
        let opened: Vec<_> = paths.iter().map(|path| open(path, &OpenOptions::default()).unwrap()).collect();
        let budget = Budget::new(if tight { 0 } else { 1 << 24 });
        for other in &opened[1..] {
            let found = compare(&opened[0], other, &CompareOptions { budget: budget.clone(), ..CompareOptions::default() }).unwrap();
            prop_assert!(found.is_equal(), "{:?}", found);
            prop_assert_eq!(found.equal, (data.nodes.len() + data.edges.len()) as u64);
        }
    }
}

fn differ(left: &[Row], right: &[Row]) -> (u64, u64, Vec<(OnlyIn, String)>) {
    let open = |rows: &[Row]| open_bytes(file(rows), &OpenOptions::default()).unwrap();
    let found = compare(&open(left), &open(right), &CompareOptions::default()).unwrap();
    let first = found.first.into_iter().map(|difference| (difference.only_in, difference.line)).collect();
    (found.only_left, found.only_right, first)
}

#[test]
fn one_different_cell() {
    let left = [node("a"), edge("a", 0, "r", "b"), node("b")];
    let right = [node("b"), node("a"), edge("a", 5, "s", "b")];
    let (only_left, only_right, first) = differ(&left, &right);
    assert_eq!((only_left, only_right), (1, 1));
    assert_eq!(first[0], (OnlyIn::Left, r#""a",0,"r","b",1.0,-1,False,"","""#.to_owned()));
    assert_eq!(first[1].0, OnlyIn::Right);
}

#[test]
fn different_lists_are_different() {
    let with = |items: &[&str]| {
        let mut lists = ListBuilder::new(StringBuilder::new());
        lists.append_value(items.iter().map(|item| Some(*item)));
        let (schema, columns, _) = batch(&[node("a")]).into_parts();
        let fields = schema.fields().iter().map(|field| field.name().as_str());
        let lists: ArrayRef = Arc::new(lists.finish());
        let all = fields.zip(columns).chain([("x", lists)]).map(|(name, column)| (name, column, true));
        open_bytes(parquet(&RecordBatch::try_from_iter_with_nullable(all).unwrap(), 1), &OpenOptions::default())
            .unwrap()
    };
    let compared = |left: &[&str], right: &[&str]| {
        let found = compare(&with(left), &with(right), &CompareOptions::default()).unwrap();
        (found.only_left, found.only_right)
    };
    assert_eq!(compared(&["a", "b"], &["a", "b"]), (0, 0));
    assert_eq!(compared(&["a", "b"], &["a, b"]), (1, 1));
    assert_eq!(compared(&[""], &[]), (1, 1));
}

#[test]
fn rows_are_a_multiset() {
    let once = [node("a"), edge("a", 0, "r", "a")];
    let twice = [node("a"), edge("a", 0, "r", "a"), edge("a", 1, "r", "a")];
    assert_eq!(differ(&once, &twice).1, 1);
}

#[test]
fn spellings_mean_nothing() {
    let one = [Row { rel_name: None, dst_name: None, ..node("a") }.labels("B,A")];
    let other = [Row { props: Some("null"), ..node("a") }.labels("A,,B")];
    assert_eq!(differ(&one, &other).0, 0);
}

#[test]
fn text_and_table_of_the_fixtures() {
    let root = fixtures();
    for stem in ["01_tiny/tiny", "03_karate_example/part_1", "04_rdf_literals/out", "05_rdf_uris/out"] {
        let open = |suffix: &str| open(&root.join(format!("{stem}.{suffix}")), &OpenOptions::default()).unwrap();
        let found = compare(&open("parq"), &open("csv"), &CompareOptions::default()).unwrap();
        assert!(found.is_equal() && found.equal > 0, "{stem}: {found:?}");
    }
}
