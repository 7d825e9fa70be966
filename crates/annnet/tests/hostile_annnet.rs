//! Input that somebody made to do harm, or that was damaged on the way.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::archives::{Member, tar, zip};
use common::build::{File, Files, floats, integers, lists, text};
use common::view::View;
use isomorph_annnet::{Annnet, OpenOptions};
use isomorph_error::{Findings, Kind, Result};
use isomorph_model::{MemoryGraph, Source};
use isomorph_storage::Location;

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
    // Whatever lies beside the directory is passed over, and the directory may have any name.
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
        // A NUL ends a name in a tar.
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
    // The size that is promised is not the one that comes.
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

/// Reads and checks everything; what comes of it does not matter, as long as something does.
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
    for name in ["manifest.json", "uns/graph_attributes.json", "structure/layer_dict.json", "layers/metadata.json"] {
        let mut files = Files::small();
        let text =
            if name.starts_with("uns") { deep.clone() } else { format!(r#"{{"layers": {deep}, "aspects": {deep}}}"#) };
        files.put(name, text);
        assert!(files.with(|opened| opened.is_err()), "{name}");
    }
    let mut files = Files::small();
    let member = format!(r#"{{"node": "a", "kind": {deep}}}"#);
    files.column("structure/hyperedge_definitions.parquet", "members", lists(&[Some(&[member.as_str()])]));
    survive(&files);
    let mut files = Files::layered();
    // More would not be unpacked: a page that shrinks so far is a bomb.
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

/// A matrix of the small graph in plain numbers: `e` is a → b with 0.5, and `h` is what is given for a and b.
fn with_matrix(a: f32, b: f32) -> Files {
    let mut files = Files::small();
    let array = |kind: &str, length: usize| {
        format!(
            r#"{{"shape": [{length}], "data_type": "{kind}", "chunk_grid": {{"name": "regular", "configuration":
            {{"chunk_shape": [4]}}}}, "fill_value": 0, "codecs": [{{"name": "bytes", "configuration":
            {{"endian": "little"}}}}], "zarr_format": 3, "node_type": "array"}}"#
        )
    };
    let root = "structure/incidence.zarr";
    files.put(&format!("{root}/zarr.json"), r#"{"attributes": {"shape": [2, 2]}, "zarr_format": 3}"#);
    for name in ["row", "col"] {
        files.put(&format!("{root}/{name}/zarr.json"), array("int32", 4));
    }
    files.put(&format!("{root}/data/zarr.json"), array("float32", 4));
    let integers = |all: [i32; 4]| all.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    files.put(&format!("{root}/row/c/0"), integers([0, 1, 0, 1]));
    files.put(&format!("{root}/col/c/0"), integers([0, 0, 1, 1]));
    files.put(&format!("{root}/data/c/0"), [0.5, -0.5, a, b].map(f32::to_le_bytes).concat());
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
    // Where there is a table of coefficients, the matrix is not read at all.
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
    files.remove("structure/incidence.zarr/data/c/0");
    assert_eq!(coefficients(&files).unwrap(), serde_json::json!([["a", 0.0], ["b", 0.0]]));
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
