//! annnet graphs through operations of any format: detection, digests, dumps.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use isomorph_convert::{Format, OpenOptions, Opened, Silent, diff, digest, dump};
use isomorph_storage::{Location, Resources};

fn fixture(name: &str) -> PathBuf {
    isomorph_fixtures::fixture(format!("annnet/{name}"))
}

fn open(path: &Path) -> Opened {
    Opened::open(&Location::from_path(path), &OpenOptions::default()).unwrap()
}

#[test]
fn directory_and_archive_are_detected_and_equal() {
    for name in ["everything_flat", "everything_multilayer"] {
        let directory = fixture(&format!("{name}/graph.annnet.d"));
        let archive = fixture(&format!("{name}/graph.annnet"));
        let (left, right) = (open(&directory), open(&archive));
        assert_eq!((left.format, right.format), (Format::ANNNET, Format::ANNNET));
        let resources = Resources::of_this_machine().unwrap();
        let found = diff(left.graph.as_ref(), right.graph.as_ref(), 10, &resources, &Silent).unwrap();
        assert!(found.equal && found.order_equal && found.schema_equal, "{name}: {:?}", found.elements);
    }
}

#[test]
fn words_of_the_layout_are_no_content() {
    let vertex = fixture("legacy_vertex_words/graph.annnet.d");
    let node = fixture("everything_multilayer/graph.annnet.d");
    let resources = Resources::of_this_machine().unwrap();
    let of = |path: &Path| digest(open(path).graph.as_ref(), &resources, &Silent).unwrap().digests.content;
    assert_eq!(of(&vertex), of(&node));
}

#[test]
fn every_row_is_one_line_of_a_dump() {
    let path = fixture("everything_flat/graph.annnet.d");
    let mut out = Vec::new();
    dump(open(&path).graph.as_ref(), &mut out, &Resources::of_this_machine().unwrap(), &Silent).unwrap();
    let text = String::from_utf8(out).unwrap();
    let count = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
    let found = ["{\"node\":", "{\"edge\":", "{\"hyperedge\":", "{\"group\":\"slice\""].map(count);
    assert_eq!(found, [7, 11, 6, 4], "{text}");
    // An explicit coefficient of an end, and one of a member.
    let flexible = r#""ends":["b","c"],"layers":[null,null],"coefficients":[-1.0,1.0],"key":"flex""#;
    let member = r#"{"member":"tail","of":"hyperedge","hyperedge":"h_stoich","end":"c","coefficient":-1.5}"#;
    assert!(text.contains(member) && text.contains("\"key\":\"flex\""), "{text}");
    assert!(text.contains(flexible) || text.contains(r#""coefficients":[1.0,-1.0],"key":"flex""#), "{text}");
    let json = |line: &str| serde_json::from_str::<serde_json::Value>(line).is_ok();
    let broken: Vec<&str> =
        text.lines().filter(|line| !json(line) && !line.contains("NaN") && !line.contains("inf")).collect();
    assert!(broken.is_empty(), "{broken:?}");
}

#[test]
fn a_difference_in_a_hyperedge_is_named() {
    let left = fixture("everything_flat/graph.annnet.d");
    let right = fixture("legacy_matrix_coeffs/graph.annnet.d");
    let resources = Resources::of_this_machine().unwrap();
    let found = diff(open(&left).graph.as_ref(), open(&right).graph.as_ref(), 50, &resources, &Silent).unwrap();
    assert!(!found.equal);
    assert!(found.elements.iter().any(|element| element.kind == "member"), "{:?}", found.elements);
}
