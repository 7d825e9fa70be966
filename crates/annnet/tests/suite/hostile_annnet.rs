//! Malicious and damaged input.
//!
//! | bad input | tests |
//! |---|---|
//! | archives: `..`, absolute names, backslashes, drives | `names_that_lead_astray_are_refused` |
//! | duplicate names, also if they differ only in case | `names_that_are_there_twice_are_refused`, `two_names_for_one_member_are_refused` |
//! | symlinks, devices, encrypted members | `links_and_secrets_are_refused` |
//! | decompression bombs, wrong sizes | `bombs_are_refused`, `sizes_of_64_bits_that_lie_are_refused` |
//! | several top-level directories | `more_than_one_top_is_refused` |
//! | truncated archives and files, flipped bytes | `archives_that_are_cut_short_are_refused`, `files_that_are_cut_short_or_flipped_are_survived` |
//! | Zarr: missing chunks (fill value), truncated chunks, other codecs | `a_missing_chunk_is_full_of_its_fill_value`, `chunks_that_are_cut_short_or_packed_otherwise_are_refused` |
//! | Zarr: inconsistent shapes, other types, grids, codecs; cells outside the shape | `matrices_that_are_none_are_refused`; `ANNNET-MATRIX`, `ANNNET-MATRIX-SHAPE` in `rules_annnet` |
//! | layer ids out of range | `ANNNET-LAYER-ID` in `rules_annnet` |
//! | duplicate edge ids | `an_id_of_two_edges_is_found_in_every_layout`, `ANNNET-EDGE-ID` in `rules_annnet` |
//! | cycles of edges that are entities | `edges_may_end_in_themselves` |
//! | JSON depth 10^5 | `deep_json_is_refused` |
//! | a checksum that does not match | `the_checksum_names_the_file_that_was_changed` in `specification_annnet` |
//! | a table in place of another | `a_table_in_the_place_of_another_is_survived` |
//! | a graph that exceeds the memory | `budget_annnet` |
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use common::archives::{Lie, Member, tar, zip, zip64};
use common::build::{File, Files, floats, integers, lists, text};
use common::view::View;
use common::write;
use common::write::{bytes, options};
use isomorph_annnet::{Annnet, OpenOptions, WriteLayout, WriteOptions};
use isomorph_error::{Findings, Kind, Result};
use isomorph_model::{MemoryGraph, Source};
use isomorph_storage::Location;
use isomorph_tables::Compression;

fn open(bytes: &[u8]) -> Result<Annnet> {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("graph.annnet");
    std::fs::write(&path, bytes).unwrap();
    Annnet::open(&Location::from_path(&path), &OpenOptions::default())
}

fn members() -> Vec<Member> {
    let files = Files::small().bytes();
    files.iter().map(|(name, bytes)| Member::new(&format!("graph.annnet/{name}"), bytes)).collect()
}

fn refused(members: &[Member]) {
    let error = open(&zip(members)).err().unwrap();
    assert_eq!(error.broken_rule().map(|rule| rule.id), Some("ANNNET-ARCHIVE"), "{error}");
}

#[test]
fn sound_archives_are_read() {
    let expected = Files::small().with(|opened| View::of(&opened.unwrap()).value());
    let mut all = members();
    assert_eq!(View::of(&open(&zip(&all)).unwrap()).value(), expected);
    all.iter_mut().for_each(|member| member.deflate = false);
    // Members next to the top-level directory are ignored, and the directory may have any name.
    all.push(Member::new("README", b"hello"));
    assert_eq!(View::of(&open(&zip(&all)).unwrap()).value(), expected);
    let files = Files::small().bytes();
    let named: Vec<(String, &[u8])> =
        files.iter().map(|(name, bytes)| (format!("x/{name}"), bytes.as_slice())).collect();
    let mut all: Vec<(&str, u8, &[u8])> = vec![("x", b'5', b"")];
    all.extend(named.iter().map(|(name, bytes)| (name.as_str(), b'0', *bytes)));
    assert_eq!(View::of(&open(&tar(&all)).unwrap()).value(), expected);
}

#[test]
fn names_that_lead_astray_are_refused() {
    for name in [
        "../evil",
        "graph.annnet/../evil",
        "/etc/passwd",
        "C:/evil",
        "graph.annnet\\evil",
        "graph.annnet//evil",
        "graph.annnet/./evil",
        "graph.annnet/%2e%2e/evil",
        "graph.annnet/a\0b",
    ] {
        let mut all = members();
        all.push(Member::new(name, b"x"));
        refused(&all);
        let error = open(&tar(&[("graph.annnet/ok", b'0', b"x"), (name, b'0', b"x")])).err().unwrap();
        // In a tar archive, NUL ends a name.
        let harmless = name.contains('\0');
        assert_eq!(error.broken_rule().map(|rule| rule.id) == Some("ANNNET-ARCHIVE"), !harmless, "{name}: {error}");
    }
}

#[test]
fn names_that_are_there_twice_are_refused() {
    for name in ["graph.annnet/manifest.json", "graph.annnet/MANIFEST.json", "GRAPH.annnet/manifest.json"] {
        let mut all = members();
        all.push(Member::new(name, b"{}"));
        refused(&all);
    }
}

#[test]
fn more_than_one_top_is_refused() {
    let mut all = members();
    all.push(Member::new("other/manifest.json", b"{}"));
    refused(&all);
    refused(&[Member::new("manifest.json", b"{}")]);
}

#[test]
fn links_and_secrets_are_refused() {
    let mut all = members();
    all[0].mode = 0o120_777;
    refused(&all);
    let mut all = members();
    all[0].flags = 1;
    assert_eq!(open(&zip(&all)).err().unwrap().kind(), Kind::Unsupported);
    for kind in [b'1', b'2', b'3', b'6', b'S'] {
        let error = open(&tar(&[("g/x", kind, b"")])).err().unwrap();
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some("ANNNET-ARCHIVE"), "{}", kind as char);
    }
}

#[test]
fn bombs_are_refused() {
    let mut all = members();
    all.push(Member::new("graph.annnet/bomb", &vec![0; 64 << 20]));
    let error = open(&zip(&all)).err().unwrap();
    assert_eq!(error.kind(), Kind::TooLarge, "{error}");
    // The stated size differs from the real one.
    let mut all = members();
    all[0].size = Some(1);
    refused(&all);
    all[0].size = Some(1 << 20);
    refused(&all);
    let bomb = vec![0; 64 << 20];
    let error = open(&tar(&[("g/x", b'0', &bomb)])).err().unwrap();
    assert_eq!(error.kind(), Kind::TooLarge, "{error}");
}

#[test]
fn archives_with_sizes_of_64_bits_are_read() {
    let expected = Files::small().with(|opened| View::of(&opened.unwrap()).value());
    assert_eq!(View::of(&open(&zip64(&members(), &Lie::default())).unwrap()).value(), expected);
}

#[test]
fn sizes_of_64_bits_that_lie_are_refused() {
    let own = members()[0].bytes.len() as u64;
    let far = [0, 1, own - 1, own + 1, 1 << 20, 1 << 32, 1 << 40, i64::MAX as u64, u64::MAX - 1, u64::MAX];
    for told in far {
        for lie in [
            Lie { size: Some(told), ..Lie::default() },
            Lie { packed: Some(told), ..Lie::default() },
            Lie { size: Some(told), packed: Some(told), ..Lie::default() },
        ] {
            let error = open(&zip64(&members(), &lie)).err().unwrap_or_else(|| panic!("{told} is not the size"));
            assert_eq!(error.broken_rule().map(|rule| rule.id), Some("ANNNET-ARCHIVE"), "{told}: {error}");
        }
        // The first header is at 0, and no other position is valid.
        let astray = Lie { offset: Some(told), ..Lie::default() };
        assert!(told == 0 || open(&zip64(&members(), &astray)).is_err(), "{told}");
        for directory in [(told, 100), (100, told), (told, told)] {
            assert!(
                open(&zip64(&members(), &Lie { directory: Some(directory), ..Lie::default() })).is_err(),
                "{directory:?}"
            );
        }
        assert!(open(&zip64(&members(), &Lie { end: Some(told), ..Lie::default() })).is_err(), "{told}");
    }
    for extra in 0..20 {
        let lie = Lie { extra: Some(extra), ..Lie::default() };
        assert!(open(&zip64(&members(), &lie)).is_err(), "{extra} bytes of the fields are there");
    }
}

#[test]
fn two_names_for_one_member_are_refused() {
    let mut all = members();
    all[0].own_name = Some("graph.annnet/manifest.jsoX".to_owned());
    refused(&all);
}

#[test]
fn archives_that_are_cut_short_are_refused() {
    for whole in [zip(&members()), tar(&[("g/manifest.json", b'0', b"{}"), ("g/structure/edges.parquet", b'0', b"")])] {
        for length in (4..whole.len()).step_by(97) {
            assert!(open(&whole[..length]).is_err(), "{length} of {}", whole.len());
        }
    }
}

/// Reads and validates everything; any result is accepted, but no crash.
fn survive(files: &Files) {
    files.with(|opened| {
        let Ok(annnet) = opened else { return };
        let _ = MemoryGraph::read(&annnet).and_then(|memory| memory.digest());
        let _ = annnet.validate(&mut Findings::keeping(4));
    });
}

#[test]
fn files_that_are_cut_short_or_flipped_are_survived() {
    for whole in [Files::small(), Files::layered()] {
        for (name, bytes) in whole.bytes() {
            for length in [0, 1, 4, bytes.len() / 2, bytes.len() - 1] {
                let mut files = whole.clone();
                files.put(&name, &bytes[..length]);
                survive(&files);
            }
            for at in (0..bytes.len()).step_by(bytes.len() / 12 + 1) {
                let mut files = whole.clone();
                let mut bytes = bytes.clone();
                bytes[at] ^= 0x55;
                files.put(&name, bytes);
                survive(&files);
            }
        }
    }
}

#[test]
fn deep_json_is_refused() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    for name in [
        "manifest.json",
        "uns/graph_attributes.json",
        "uns/results/x.json",
        "audit/snapshots.json",
        "audit/snapshots/0.json",
        "structure/layer_dict.json",
        "structure/edge_direction_policy.json",
        "structure/incidence.zarr/zarr.json",
        "structure/incidence.zarr/row/zarr.json",
        "layers/metadata.json",
        "layers/aspect_attributes.json",
    ] {
        for text in
            [deep.clone(), format!(r#"{{"layers": {deep}, "aspects": {deep}, "attributes": {deep}, "x": {deep}}}"#)]
        {
            // The matrix is read if there are no coefficients, aspects if there are layers.
            let mut files = if name.starts_with("layers") { Files::layered() } else { with_matrix(1.0, 1.0) };
            files.put(name, text);
            assert!(files.with(|opened| opened.is_err()), "{name}");
        }
    }
    let mut files = Files::small();
    let member = format!(r#"{{"node": "a", "kind": {deep}}}"#);
    files.column("structure/hyperedge_definitions.parquet", "members", lists(&[Some(&[member.as_str()])]));
    survive(&files);
    let mut files = Files::layered();
    // More would not be unpacked: a page that is compressed so much is a bomb.
    let deep = "[".repeat(1_000) + &"]".repeat(1_000);
    files.column("layers/tuple_layer_attributes.parquet", "attributes", text([deep.as_str()]));
    let found = files.broken();
    assert!(found.contains(&"ANNNET-JSON"), "{found:?}");
}

#[test]
fn a_table_in_the_place_of_another_is_survived() {
    let whole = Files::small();
    let tables: Vec<&String> =
        whole.0.iter().filter(|(_, file)| matches!(file, File::Table(_))).map(|(name, _)| name).collect();
    for name in &tables {
        for other in &tables {
            let mut files = whole.clone();
            files.0.insert((*name).clone(), whole.0[*other].clone());
            survive(&files);
        }
    }
}

/// A matrix of the small graph: `e` is a → b with 0.5, and `h` has these values for a and b.
fn with_matrix(a: f32, b: f32) -> Files {
    let mut files = Files::small();
    files.matrix("[2, 2]", [0, 1, 0, 1], [0.5, -0.5, a, b]);
    files
}

fn coefficients(files: &Files) -> Result<serde_json::Value> {
    files.with(|opened| Ok(View::of(&opened?).value()["edges"]["h"]["coefficients"].clone()))
}

#[test]
fn a_matrix_gives_what_weights_do_not_imply() {
    assert_eq!(coefficients(&with_matrix(1.0, 1.0)).unwrap(), serde_json::Value::Null);
    let stoichiometric = serde_json::json!([["a", -2.0], ["b", 1.5]]);
    assert_eq!(coefficients(&with_matrix(-2.0, 1.5)).unwrap(), stoichiometric);
    // If there is a table of coefficients, the matrix is not read.
    let mut files = with_matrix(-2.0, 1.5);
    files.table(
        "structure/edge_coeffs.parquet",
        vec![
            ("edge_id", text(Vec::<&str>::new())),
            ("entity_id", text(Vec::<&str>::new())),
            ("layer_id", integers(Vec::<i64>::new())),
            ("coeff", floats(Vec::<f64>::new())),
        ],
    );
    files.put("structure/incidence.zarr/data/c/0", "damaged");
    assert_eq!(coefficients(&files).unwrap(), serde_json::Value::Null);
}

#[test]
fn a_missing_chunk_is_full_of_its_fill_value() {
    let mut files = with_matrix(-2.0, 1.5);
    files.remove("structure/incidence.zarr/row/c/0");
    assert_eq!(coefficients(&files).unwrap(), serde_json::json!([["a", -0.5], ["b", 0.0]]));
    // Zeros are not cells, and an edge without cells has no coefficients.
    files.remove("structure/incidence.zarr/data/c/0");
    assert_eq!(coefficients(&files).unwrap(), serde_json::Value::Null);
}

#[test]
fn chunks_that_are_cut_short_or_packed_otherwise_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let before = folder.path().join("before");
    // Coefficients, so that the matrix contains information.
    with_matrix(-2.0, 1.5).write(&before);
    let source = common::open(&before).unwrap();
    let ways = [Compression::Zstd(1), Compression::Lz4, Compression::Gzip(6), Compression::None];
    let chunk = "structure/incidence.zarr/data/c/0";
    let written = ways.map(|compression| {
        let place = folder.path().join(format!("{compression:?}"));
        write(&source, &place, &WriteOptions { matrix: true, compression, ..options() }, 9).unwrap();
        let mut files = Files::default();
        bytes(&place).into_iter().for_each(|(name, bytes)| files.put(&name, bytes));
        // They are read from the matrix.
        files.remove("structure/edge_coeffs.parquet");
        assert_eq!(coefficients(&files).unwrap(), serde_json::json!([["a", -2.0], ["b", 1.5]]), "{compression:?}");
        files
    });
    let broken = |files: &Files, what: &str| {
        let error = coefficients(files).err().unwrap_or_else(|| panic!("{what} is read"));
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some("ANNNET-MATRIX"), "{what}: {error}");
        assert_eq!(error.place().file.as_deref(), Some(chunk), "{what}: {error}");
    };
    for (way, files) in ways.iter().zip(&written) {
        let whole = files.bytes().into_iter().find(|(name, _)| name == chunk).unwrap().1;
        for length in (0..whole.len()).step_by(whole.len() / 50 + 1) {
            let mut files = files.clone();
            files.put(chunk, &whole[..length]);
            broken(&files, &format!("{length} bytes of {way:?}"));
        }
        let mut longer = files.clone();
        longer.put(chunk, [whole.as_slice(), whole.as_slice()].concat());
        let _ = coefficients(&longer);
        for (other, theirs) in ways.iter().zip(&written) {
            // The compressor is stated in the Blosc frame.
            let same = |way: &Compression| matches!(way, Compression::Zstd(_) | Compression::Lz4);
            if way == other || same(way) && same(other) {
                continue;
            }
            let mut files = files.clone();
            files.put(chunk, theirs.bytes().into_iter().find(|(name, _)| name == chunk).unwrap().1);
            broken(&files, &format!("{other:?} for {way:?}"));
        }
    }
}

#[test]
fn an_id_of_two_edges_is_found_in_every_layout() {
    let mut files = Files::small();
    files.column("structure/edges.parquet", "edge_id", text(["e", "e"]));
    assert_eq!(files.broken().iter().filter(|id| **id == "ANNNET-EDGE-ID").count(), 1);
    // The same in the layout of the specification's text.
    let folder = tempfile::tempdir().unwrap();
    let before = folder.path().join("before");
    Files::small().write(&before);
    let options = WriteOptions { layout: WriteLayout::Specification, ..options() };
    write(&common::open(&before).unwrap(), &folder.path().join("after"), &options, 9).unwrap();
    let mut files = Files::default();
    bytes(&folder.path().join("after")).into_iter().for_each(|(name, bytes)| files.put(&name, bytes));
    let manifest = String::from_utf8(bytes(&folder.path().join("after"))["manifest.json"].clone()).unwrap();
    files.put("manifest.json", manifest.replace("\"checksum\"", "\"no_checksum\""));
    assert_eq!(files.broken(), [""; 0]);
    files.table(
        "structure/edge_definitions.parquet",
        vec![
            ("edge_id", text(["h", "e", "e"])),
            ("source", text([None, Some("a"), Some("b")])),
            ("target", text([None, Some("b"), Some("a")])),
            ("edge_type", text(["hyper", "regular", "regular"])),
        ],
    );
    assert!(files.broken().contains(&"ANNNET-EDGE-ID"), "{:?}", files.broken());
}

#[test]
fn edges_may_end_in_themselves() {
    let edge = |ends: [[&'static str; 2]; 3]| {
        let mut files = Files::small();
        files.remove("structure/hyperedge_definitions.parquet");
        let ids = ["e", "f", "g"];
        files.table(
            "structure/entity_index.parquet",
            vec![
                ("entity_id", text(ids)),
                ("layer_id", integers([0; 3])),
                ("idx", integers([0, 1, 2])),
                ("type", text(["edge_entity"; 3])),
            ],
        );
        files.table(
            "structure/edges.parquet",
            vec![
                ("edge_id", text(ids)),
                ("col_idx", integers([0, 1, 2])),
                ("kind", text(["node_edge"; 3])),
                ("source", text(ends.map(|[source, _]| source))),
                ("target", text(ends.map(|[_, target]| target))),
            ],
        );
        files
    };
    // An edge that ends in itself at both sides; two that are each other's ends; a cycle of three.
    for ends in [
        [["e", "e"], ["f", "f"], ["g", "g"]],
        [["f", "f"], ["e", "e"], ["g", "e"]],
        [["f", "g"], ["g", "e"], ["e", "f"]],
    ] {
        let folder = tempfile::tempdir().unwrap();
        let before = folder.path().join("before");
        edge(ends).write(&before);
        let source = common::open(&before).unwrap();
        let view = View::of(&source).value();
        for (id, [from, to]) in ["e", "f", "g"].into_iter().zip(ends) {
            assert_eq!(view["edges"][id]["source"], serde_json::json!([from]));
            assert_eq!(view["edges"][id]["target"], serde_json::json!([to]));
        }
        let digest = |graph: &Annnet| MemoryGraph::read(graph).unwrap().digest().unwrap();
        for layout in WriteLayout::ALL {
            let place = folder.path().join(layout.name());
            write(&source, &place, &WriteOptions { layout, matrix: true, ..options() }, 1).unwrap();
            assert_eq!(digest(&common::open(&place).unwrap()), digest(&source), "{layout} {ends:?}");
        }
        survive(&edge(ends));
    }
}

#[test]
fn matrices_that_are_none_are_refused() {
    let root = "structure/incidence.zarr";
    let array = |change: (&str, &str)| {
        let text =
            with_matrix(1.0, 1.0).bytes().into_iter().find(|(name, _)| name.ends_with("data/zarr.json")).unwrap();
        String::from_utf8(text.1).unwrap().replace(change.0, change.1)
    };
    let cases = [
        ("data/c/0", "short".to_owned()),
        ("data/zarr.json", array(("\"shape\": [4]", "\"shape\": [3]"))),
        ("data/zarr.json", array(("\"shape\": [4]", "\"shape\": [4, 1]"))),
        ("data/zarr.json", array(("\"shape\": [4]", "\"shape\": [18446744073709551615]"))),
        ("data/zarr.json", array(("\"chunk_shape\": [4]", "\"chunk_shape\": [0]"))),
        ("data/zarr.json", array(("\"chunk_shape\": [4]", "\"chunk_shape\": [4611686018427387904]"))),
        ("data/zarr.json", array(("float32", "complex64"))),
        ("data/zarr.json", array(("\"little\"", "\"big\""))),
        ("data/zarr.json", array(("\"bytes\"", "\"gzip\""))),
        ("data/zarr.json", array(("\"fill_value\": 0", "\"fill_value\": {}"))),
        ("data/zarr.json", array(("\"regular\"", "\"rectangular\""))),
        ("row/zarr.json", array(("", ""))),
        ("data/zarr.json", array(("}}]", "}}, {\"name\": \"blosc\"}]"))),
        ("data/zarr.json", array(("}}]", "}}, {\"name\": \"zstd\"}]"))),
        ("data/zarr.json", array(("}}]", "}}, {\"name\": \"crc32c\"}]"))),
        ("data/zarr.json", array(("\"zarr_format\": 3", "\"zarr_format\": 2"))),
        ("data/zarr.json", array(("\"array\"", "\"group\""))),
        ("zarr.json", r#"{"attributes": {}}"#.to_owned()),
    ];
    for (name, content) in cases {
        let mut files = with_matrix(1.0, 1.0);
        files.put(&format!("{root}/{name}"), &content);
        assert!(coefficients(&files).is_err(), "{name} {content}");
    }
}
