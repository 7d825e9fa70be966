//! Computes the worked example of `docs/model.md` from the definition on that page, without the encoders of this crate, and
//! checks that the results are equal. The test fails if the page does not show a number, or shows another one.

#![allow(clippy::unwrap_used)]

use xxhash_rust::xxh3::xxh3_128;

use super::{Digest, VERSION};
use crate::zoo::{Build, Edges, Nodes, int64, text};

const PAGE: &str = include_str!("../../../../docs/model.md");

fn number(value: u64) -> Vec<u8> {
    value.to_le_bytes().to_vec()
}

fn name(text: &str) -> Vec<u8> {
    [number(text.len() as u64), text.as_bytes().to_vec()].concat()
}

fn stem(kind: &str, ty: &[&str], property: &str) -> u128 {
    let parts: Vec<u8> = ty.iter().flat_map(|part| name(part)).collect();
    xxh3_128(&[name(kind), number(ty.len() as u64), parts, name(property)].concat())
}

fn hash(parts: &[u128], value: &[u8]) -> u128 {
    let parts: Vec<u8> = parts.iter().flat_map(|part| part.to_le_bytes()).collect();
    xxh3_128(&[&parts, value].concat())
}

fn shown(what: &str, value: u128) {
    let line = format!("{what:<34} {value:032x}");
    assert!(PAGE.contains(&line), "docs/model.md does not show this line of the worked example:\n{line}");
}

#[test]
fn the_page_shows_what_is_computed() {
    // Keys are integers 7 and 9: tag 2, eight bytes.
    let keys = stem("nodes", &["person"], "int");
    let [k7, k9] = [7u64, 9].map(|key| hash(&[keys], &[vec![2], number(key)].concat()));
    shown("stem of the keys", keys);
    shown("key 7", k7);
    shown("key 9", k9);

    let exists = stem("nodes", &["person"], "");
    let facts = [hash(&[exists, k7], b""), hash(&[exists, k9], b"")];
    shown("person 7 exists", facts[0]);
    let people = facts[0].wrapping_add(facts[1]);
    shown("sum of person", people);

    // Text: tag 5, then its bytes. A label is hashed separately first.
    let label = hash(&[stem("nodes", &["person"], "labels"), k7, xxh3_128(b"\x05Admin")], b"");
    shown("person 7 has the label Admin", label);
    let value = hash(&[stem("nodes", &["person"], "name"), k7], b"\x05ann");
    shown("person 7 has the name ann", value);

    // An edge without a key is one fact: ends, direction, and the sum of its values.
    let since = hash(&[stem("value", &[], "since")], &[vec![2], number(2020)].concat());
    shown("a row says since 2020", since);
    let edge = hash(&[stem("edges", &["person", "knows", "person"], ""), k7, k9, 1, since], b"");
    shown("person 7 knows person 9", edge);

    // The table in the order of its lines: kind, type, property.
    let line = |kind: &str, ty: &[&str], property: &str, sum: u128, count: u64| {
        let parts: Vec<u8> = ty.iter().flat_map(|part| name(part)).collect();
        let sum = sum.to_le_bytes().to_vec();
        [name(kind), number(ty.len() as u64), parts, name(property), sum, number(count)].concat()
    };
    let table = [
        name(VERSION),
        line("nodes", &["person"], "", people, 2),
        line("nodes", &["person"], "labels", label, 1),
        line("nodes", &["person"], "name", value, 1),
        line("edges", &["person", "knows", "person"], "", edge, 1),
    ];
    let digest = xxh3_128(&table.concat());
    shown("content digest", digest);

    let mut build = Build::default();
    let person = build.nodes(
        Nodes::keyed("person", int64([7, 9])).labels(&[&["Admin"], &[]]).column("name", text([Some("ann"), None])),
    );
    build.edges(Edges::rows(person, "knows", person, [(0, 1)]).column("since", int64([2020])));
    assert_eq!(build.finish().digest().unwrap(), Digest(digest));
}
