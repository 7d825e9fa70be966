//! What is written is read back as the same graph, in every form.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use common::build::{Files, booleans, floats, integers, lists, text};
use common::graphs::newest;
use common::view::{View, differences, normal};
use common::write;
use common::write::{bytes, column, differing, options};
use common::{expected, fixtures, open};
use isomorph_annnet::{Annnet, OpenOptions, Unknown, WriteLayout, WriteOptions};
use isomorph_model::Source;
use isomorph_storage::Location;
use isomorph_tables::Compression;

fn graph(fixture: &str) -> (PathBuf, Annnet) {
    let root = fixtures().join(fixture);
    let graph = open(&root.join("graph.annnet.d")).unwrap();
    (root, graph)
}

#[test]
fn every_graph_comes_back_from_a_directory_and_from_an_archive() {
    let folder = tempfile::tempdir().unwrap();
    let mut found = Vec::new();
    for fixture in newest() {
        let (_, source) = graph(fixture);
        for (archive, name) in [(false, fixture.to_owned()), (true, format!("{fixture}.annnet"))] {
            let place = folder.path().join(&name);
            write(&source, &place, &WriteOptions { archive, ..options() }, 1 << 16).unwrap();
            found.extend(differing(&place, &source).into_iter().map(|found| format!("{name}{found}")));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn bytes_depend_on_the_graph_alone() {
    let folder = tempfile::tempdir().unwrap();
    for fixture in ["everything_flat", "everything_multilayer"] {
        let (_, source) = graph(fixture);
        let paths = [1, 3, 1 << 16].map(|piece| {
            let path = folder.path().join(format!("{fixture}{piece}"));
            write(&source, &path, &options(), piece).unwrap();
            path
        });
        let all = paths.map(|path| bytes(&path));
        for own in &all {
            let differ: Vec<&String> = own.keys().filter(|name| own.get(*name) != all[0].get(*name)).collect();
            assert!(differ.is_empty() && own.len() == all[0].len(), "{fixture}: {differ:?}");
        }
        let archives = ["first", "second"].map(|name| {
            let path = folder.path().join(format!("{fixture}-{name}.annnet"));
            write(&source, &path, &WriteOptions { archive: true, ..options() }, 2).unwrap();
            std::fs::read(path).unwrap()
        });
        assert!(archives[0] == archives[1], "{fixture}");
    }
}

#[test]
fn coefficients_name_the_layer_that_their_members_name() {
    // The published library misreads ids that are valid JSON. With a layer it keeps them, but then it looks up their
    // coefficients with that layer.
    let mut files = Files::small();
    let ids = ["{a}", "b"];
    files.column("structure/entity_index.parquet", "entity_id", text(ids));
    files.column("structure/edges.parquet", "source", text([Some("{a}"), None]));
    files.column("structure/hyperedge_definitions.parquet", "members", lists(&[Some(&["\"{a}\"", "\"b\""])]));
    files.table(
        "structure/edge_coeffs.parquet",
        vec![
            ("edge_id", text(["e", "e", "h", "h"])),
            ("entity_id", text(["{a}", "b", "{a}", "b"])),
            ("layer_id", integers([None::<i64>; 4])),
            ("coeff", floats([-1.0, 2.0, 3.0, 4.0])),
        ],
    );
    files.with(|source| {
        let source = source.unwrap();
        let folder = tempfile::tempdir().unwrap();
        for (layout, name) in [(WriteLayout::V2, "layer_id"), (WriteLayout::Specification, "layer")] {
            let place = folder.path().join(name);
            write(&source, &place, &WriteOptions { layout, ..options() }, 1 << 16).unwrap();
            assert!(differing(&place, &source).is_empty());
            let table = place.join("structure/edge_coeffs.parquet");
            let column = |name| column(&table, name);
            let rows = column("edge_id").into_iter().zip(column("entity_id")).zip(column(name));
            let named: Vec<_> = rows.filter(|(_, layer)| !layer.is_empty()).collect();
            match layout {
                // The ends of edges are plain columns, which are not decoded.
                WriteLayout::V2 => {
                    assert_eq!(named, [(("h".to_owned(), "{a}".to_owned()), "0".to_owned())]);
                    let members = self::column(&place.join("structure/hyperedge_definitions.parquet"), "members");
                    assert_eq!(members, [r#"[{"kind": "supra", "layer": ["_"], "node": "{a}"}, "b"]"#]);
                }
                WriteLayout::Specification => assert!(named.is_empty(), "{named:?}"),
            }
        }
    });
}

#[test]
fn layers_and_kinds_that_somebody_set_are_kept() {
    let mut files = Files::layered();
    files.column("structure/edges.parquet", "ml_kind", text(["coupling", "inter"]));
    files.column("structure/edges.parquet", "hyper_layer_id", integers([None, Some(2)]));
    files.put("layers/metadata.json", r#"{"aspects": ["time"], "elem_layers": {"time": ["t0", "t1", "t2"]}}"#);
    files.put("structure/layer_dict.json", r#"{"layers": [["_"], ["t0"], ["t1"], ["t2"]]}"#);
    files.table(
        "layers/edge_layers.parquet",
        vec![
            ("edge_id", text(["e", "h"])),
            ("layer_1_id", integers([3, 2])),
            ("layer_2_id", integers([None::<i64>; 2])),
        ],
    );
    files.with(|source| {
        let source = source.unwrap();
        let said = source.graph().metadata.get("annnet.stated").map(String::as_str);
        let expected = r#"{"e": {"kind": "coupling", "layers": [["t2"]]}, "h": {"layers": [["t1"]]}}"#;
        assert_eq!(said, Some(expected));
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("graph");
        write(&source, &place, &options(), 1).unwrap();
        assert!(differing(&place, &source).is_empty());
        let dictionary = std::fs::read_to_string(place.join("structure/layer_dict.json")).unwrap();
        let dictionary: serde_json::Value = serde_json::from_str(&dictionary).unwrap();
        let label = |number: &String| match number.parse::<usize>() {
            Ok(number) => dictionary["layers"][number][0].as_str().unwrap().to_owned(),
            Err(_) => String::new(),
        };
        let labels = |table: &str, name: &str| column(&place.join(table), name).iter().map(label).collect::<Vec<_>>();
        let ids = column(&place.join("layers/edge_layers.parquet"), "edge_id");
        let first = labels("layers/edge_layers.parquet", "layer_1_id");
        let second = labels("layers/edge_layers.parquet", "layer_2_id");
        let mut rows: Vec<_> =
            ids.into_iter().zip(first).zip(second).map(|((id, first), second)| [id, first, second]).collect();
        rows.sort();
        assert_eq!(rows, [["e", "t2", ""], ["h", "t1", ""]]);
        assert_eq!(labels("structure/edges.parquet", "hyper_layer_id"), ["t1", ""]);
        assert_eq!(column(&place.join("structure/edges.parquet"), "ml_kind"), ["inter", "coupling"]);
        // The layout of the specification's text cannot store them.
        let other = WriteOptions { layout: WriteLayout::Specification, ..options() };
        let refused = write(&source, &folder.path().join("text"), &other, 1).unwrap_err();
        assert_eq!(refused.kind(), isomorph_error::Kind::WouldLose);
    });
    // It is also kept that an edge states neither, because the published library then finds it in other layers.
    let mut files = Files::layered();
    files.column("structure/edges.parquet", "ml_kind", text([None::<&str>, None]));
    files.table(
        "layers/edge_layers.parquet",
        vec![("edge_id", text(["h"])), ("layer_1_id", integers([1])), ("layer_2_id", integers([2]))],
    );
    files.with(|source| {
        let source = source.unwrap();
        let said = source.graph().metadata.get("annnet.stated").map(String::as_str);
        let expected = r#"{"e": {"kind": null, "layers": null}, "h": {"kind": null, "layers": [["t0"], ["t1"]]}}"#;
        assert_eq!(said, Some(expected));
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("graph");
        write(&source, &place, &options(), 1).unwrap();
        assert!(differing(&place, &source).is_empty());
        assert_eq!(column(&place.join("structure/edges.parquet"), "ml_kind"), ["", ""]);
        assert_eq!(column(&place.join("layers/edge_layers.parquet"), "edge_id"), ["h"]);
    });
    files.column("structure/edges.parquet", "ml_kind", text([Some("inter"), Some("inter")]));
    files.remove("layers/edge_layers.parquet");
    files.with(|source| {
        // In the layout of the specification's text, all layers are stated, and nothing is lost.
        let folder = tempfile::tempdir().unwrap();
        let other = WriteOptions { layout: WriteLayout::Specification, ..options() };
        let place = folder.path().join("text");
        write(&source.unwrap(), &place, &other, 1).unwrap();
        assert_eq!(column(&place.join("layers/edge_layers.parquet"), "edge_id"), ["e"]);
    });
    // What follows from the ends is not stated again.
    Files::layered().with(|source| assert!(!source.unwrap().graph().metadata.contains_key("annnet.stated")));
}

#[test]
fn the_manifest_names_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    for (fixture, compression, name) in [
        ("everything_flat", Compression::Snappy, "snappy"),
        ("everything_multilayer", Compression::Lz4, "lz4"),
        ("empty", Compression::None, "none"),
    ] {
        let (root, source) = graph(fixture);
        let place = folder.path().join(fixture);
        write(&source, &place, &WriteOptions { compression, ..options() }, 5).unwrap();
        let manifest = |root: &Path| -> serde_json::Value {
            serde_json::from_slice(&std::fs::read(root.join("manifest.json")).unwrap()).unwrap()
        };
        let (mut own, mut theirs) = (manifest(&place), manifest(&root.join("graph.annnet.d")));
        assert_eq!(own["compression"], name);
        assert_eq!(own["created"], "1970-01-01T00:00:01.500000+00:00");
        assert_eq!(own["annnet_version"], concat!("isomorph ", env!("CARGO_PKG_VERSION")));
        for known in ["compression", "created", "annnet_version", "encoding"] {
            own.as_object_mut().unwrap().remove(known);
            theirs.as_object_mut().unwrap().remove(known);
        }
        assert_eq!(own, theirs, "{fixture}");
    }
}

/// The 4-byte numbers of an array of one uncompressed chunk.
fn numbers<T>(directory: &Path, of: impl Fn([u8; 4]) -> T) -> Vec<T> {
    let text = std::fs::read_to_string(directory.join("zarr.json")).unwrap();
    let described: serde_json::Value = serde_json::from_str(&text).unwrap();
    let length = described["shape"][0].as_u64().unwrap() as usize;
    // A chunk of zeros is not written.
    let bytes = std::fs::read(directory.join("c/0")).unwrap_or_else(|_| vec![0; 4 * length]);
    bytes.chunks_exact(4).take(length).map(|bytes| of(bytes.try_into().unwrap())).collect()
}

/// Ids of edges in the order of their columns, whatever the layout.
fn order(root: &Path) -> Vec<String> {
    let v2 = root.join("structure/edges.parquet");
    let (table, position) = match v2.exists() {
        true => (v2, "col_idx"),
        false => (root.join("structure/edge_to_idx.parquet"), "idx"),
    };
    let positions = column(&table, position).into_iter().map(|own| own.parse::<i64>().unwrap());
    let mut edges: Vec<(i64, String)> = positions.zip(column(&table, "edge_id")).collect();
    edges.retain(|(position, _)| *position >= 0);
    edges.sort();
    edges.into_iter().map(|(_, id)| id).collect()
}

#[test]
fn edges_of_all_kinds_keep_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let mut mixed = 0;
    let ways = [
        ("plain", options()),
        ("matrix", WriteOptions { matrix: true, ..options() }),
        ("text", WriteOptions { layout: WriteLayout::Specification, ..options() }),
    ];
    for fixture in ["everything_flat", "everything_multilayer", "plain_directed"] {
        let (root, source) = graph(fixture);
        let expected = order(&root.join("graph.annnet.d"));
        for (name, way) in &ways {
            let places = [
                folder.path().join(format!("{fixture} {name}")),
                folder.path().join(format!("{fixture} {name} again")),
            ];
            write(&source, &places[0], way, 2).unwrap();
            write(&open(&places[0]).unwrap(), &places[1], way, 1 << 16).unwrap();
            for place in &places {
                assert_eq!(order(place), expected, "{fixture} {name}");
            }
        }
        mixed += usize::from(source.graph().metadata.contains_key("annnet.positions"));
    }
    assert!(mixed > 0, "hyperedges stand among the others");
}

#[test]
fn a_direction_that_is_inherited_is_not_stated() {
    let folder = tempfile::tempdir().unwrap();
    for (number, (graph, kind, meant)) in
        [("true", "binary", true), ("false", "binary", false), ("null", "binary", true), ("true", "node_edge", false)]
            .into_iter()
            .enumerate()
    {
        let mut files = Files::small();
        let manifest =
            format!(r#"{{"graph_version": 1, "directed": {graph}, "active_slice": "s", "default_slice": "default"}}"#);
        files.put("manifest.json", manifest);
        // Two edges that inherit, one between them that states the inherited direction, and one with a missing end.
        let ids = ["e", "f", "g", "h", "o"];
        files.table(
            "structure/edges.parquet",
            vec![
                ("edge_id", text(ids)),
                ("col_idx", integers([0, 1, 2, 3, 4])),
                ("directed", booleans([None, Some(meant), None, Some(false), None])),
                ("kind", text([kind, kind, kind, "hyper", kind])),
                ("source", text([Some("a"), Some("a"), Some("b"), None, Some("a")])),
                ("target", text([Some("b"), Some("b"), Some("b"), None, None])),
            ],
        );
        if kind == "node_edge" {
            files.table(
                "structure/entity_index.parquet",
                vec![
                    ("entity_id", text(["a", "b", "e", "f", "g", "o"])),
                    ("layer_id", integers([0; 6])),
                    ("idx", integers([0, 1, 2, 3, 4, 5])),
                    ("type", text(["node", "node", "edge_entity", "edge_entity", "edge_entity", "edge_entity"])),
                ],
            );
        }
        let before = folder.path().join(format!("before {number}"));
        files.write(&before);
        let source = open(&before).unwrap();
        for layout in WriteLayout::ALL {
            let place = folder.path().join(format!("{layout} {number}"));
            write(&source, &place, &WriteOptions { layout, ..options() }, 2).unwrap();
            let found = differing(&place, &source);
            assert!(found.is_empty(), "{graph} {kind} {layout}: {found:#?}");
            let table = match layout {
                WriteLayout::V2 => place.join("structure/edges.parquet"),
                _ => place.join("structure/edge_directed.parquet"),
            };
            let stated: BTreeMap<String, String> =
                column(&table, "edge_id").into_iter().zip(column(&table, "directed")).collect();
            let stated = ids.map(|id| stated.get(id).map(String::as_str).unwrap_or_default());
            let meant = if meant { "true" } else { "false" };
            assert_eq!(stated, ["", meant, "", "false", ""], "{graph} {kind} {layout}");
        }
    }
}

#[test]
fn empty_folders_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let before = folder.path().join("before");
    Files::small().write(&before);
    for name in ["audit/snapshots", "uns/results", "future/deep", ".hidden", "cache/old"] {
        std::fs::create_dir_all(before.join(name)).unwrap();
    }
    let expected = ["audit/snapshots", "future/deep", "uns/results"];
    let unknown = |path: &Path| isomorph_annnet::unknown(&Location::from_path(path), &OpenOptions::default()).unwrap();
    let keep = unknown(&before);
    assert_eq!(keep.folders, expected);
    for layout in WriteLayout::ALL {
        let place = folder.path().join(layout.name());
        write(&open(&before).unwrap(), &place, &WriteOptions { layout, keep: keep.clone(), ..options() }, 9).unwrap();
        assert_eq!(unknown(&place).folders, expected, "{layout}");
        let archive = folder.path().join(format!("{layout}.annnet"));
        let options = WriteOptions { layout, archive: true, keep: unknown(&place), ..options() };
        write(&open(&place).unwrap(), &archive, &options, 9).unwrap();
        assert_eq!(unknown(&archive).folders, expected, "{layout}");
        // A folder that contains a file is not empty.
        std::fs::create_dir_all(place.join("slices/registry.parquet.d")).unwrap();
        std::fs::write(place.join("uns/results/x.json"), "1").unwrap();
        assert_eq!(unknown(&place).folders, ["audit/snapshots", "future/deep", "slices/registry.parquet.d"]);
    }
}

#[test]
fn the_matrix_is_that_of_the_published_library() {
    let folder = tempfile::tempdir().unwrap();
    for fixture in newest() {
        let (root, source) = graph(fixture);
        // Their files contain more than is shown.
        if matches!(fixture, "jsonlike_ids_lossy" | "stale_overwrite") {
            continue;
        }
        let place = folder.path().join(fixture);
        write(&source, &place, &WriteOptions { matrix: true, compression: Compression::None, ..options() }, 3).unwrap();
        let matrix = place.join("structure/incidence.zarr");
        let (rows, columns) =
            (numbers(&matrix.join("row"), i32::from_le_bytes), numbers(&matrix.join("col"), i32::from_le_bytes));
        let values = numbers(&matrix.join("data"), f32::from_le_bytes);
        assert!(rows.len() == columns.len() && rows.len() == values.len());
        let cells = rows.iter().zip(&columns);
        assert!(cells.clone().zip(cells.clone().skip(1)).all(|((r, c), (s, d))| (c, r) < (d, s)), "{fixture}");
        let expected = expected(&root);
        let group: serde_json::Value =
            serde_json::from_slice(&std::fs::read(matrix.join("zarr.json")).unwrap()).unwrap();
        assert_eq!(group["attributes"]["shape"], expected["shape"], "{fixture}");
        let edges = column(&place.join("structure/edges.parquet"), "edge_id");
        let positions = column(&place.join("structure/edges.parquet"), "col_idx");
        let edges: BTreeMap<i32, String> =
            positions.into_iter().map(|position| position.parse().unwrap()).zip(edges).collect();
        let own = rows.iter().zip(&columns).zip(&values).map(|((row, column), value)| {
            let entity = &expected["entities"][*row as usize];
            format!("{} {} {} {}", entity[0], entity[1], edges[column], f64::from(*value))
        });
        let theirs = expected["incidence"].as_array().unwrap().iter().map(|cell| {
            let value = match cell[2].as_f64() {
                Some(value) => value.to_string(),
                None => cell[2]["v"].as_str().unwrap().replace("nan", "NaN"),
            };
            format!("{} {} {} {value}", cell[0][0], cell[0][1], cell[1].as_str().unwrap())
        });
        let (mut own, mut theirs): (Vec<String>, Vec<String>) = (own.collect(), theirs.collect());
        own.sort();
        theirs.sort();
        assert_eq!(own, theirs, "{fixture}");
        // The graph with it is the same as without.
        let found = differing(&place, &source);
        assert!(found.is_empty(), "{fixture}: {found:#?}");
    }
}

#[test]
fn chunks_are_packed_as_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let (_, source) = graph("everything_flat");
    for (compression, name, flags) in
        [(Compression::Zstd(3), "zstd", 4), (Compression::Lz4, "lz4", 1), (Compression::Snappy, "lz4", 1)]
    {
        let place = folder.path().join(format!("{compression:?}"));
        write(&source, &place, &WriteOptions { matrix: true, compression, ..options() }, 7).unwrap();
        let array = place.join("structure/incidence.zarr/col");
        let described = std::fs::read_to_string(array.join("zarr.json")).unwrap();
        assert!(described.contains(&format!("\"cname\": \"{name}\"")), "{described}");
        assert_eq!(std::fs::read(array.join("c/0")).unwrap()[2] >> 5, flags, "{name}");
        // Without the table of coefficients, they are read from the matrix.
        std::fs::remove_file(place.join("structure/edge_coeffs.parquet")).unwrap();
        let found = View::of(&open(&place).unwrap()).value();
        let third = f64::from(1.0f32 / 3.0);
        let expected = serde_json::json!([["a", 2.0], ["b", third], ["c", -1.5]]);
        assert_eq!(found["edges"]["h_stoich"]["coefficients"], expected, "{name}");
        assert_eq!(found["edges"]["e1"]["coefficients"], serde_json::Value::Null, "{name}");
    }
}

#[test]
fn members_whose_ids_read_as_json_are_written_with_their_layer() {
    let (_, source) = graph("jsonlike_ids_lossy");
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("graph");
    write(&source, &place, &WriteOptions { compression: Compression::None, ..options() }, 5).unwrap();
    let bytes = std::fs::read(place.join("structure/hyperedge_definitions.parquet")).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains("{\"kind\": \"supra\", \"layer\": [\"_\"], \"node\": \"1\"}"), "{text}");
    assert!(!text.contains("\"\\\"1\\\"\""), "{text}");
}

#[test]
fn the_published_dump_is_that_of_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    for fixture in ["everything_flat", "everything_multilayer"] {
        let (root, source) = graph(fixture);
        let place = folder.path().join(fixture);
        write(&source, &place, &options(), 4).unwrap();
        let mut found = Vec::new();
        differences("", &View::of(&open(&place).unwrap()).value(), &normal(expected(&root)), &mut found);
        assert!(found.is_empty(), "{fixture}: {found:#?}");
    }
}

#[test]
fn graphs_that_are_made_here_come_back_too() {
    let folder = tempfile::tempdir().unwrap();
    for (name, files) in [("small", Files::small()), ("layered", Files::layered())] {
        let home = folder.path().join(format!("{name}-before"));
        files.write(&home);
        let source = open(&home).unwrap();
        for archive in [false, true] {
            let place = folder.path().join(format!("{name}-{archive}"));
            write(&source, &place, &WriteOptions { archive, ..options() }, 1).unwrap();
            let found = differing(&place, &source);
            assert!(found.is_empty(), "{name}: {found:#?}");
        }
    }
}

#[test]
fn what_nobody_knows_is_kept() {
    let mut files = Files::small();
    let manifest = r#"{"graph_version": 3, "directed": true, "active_slice": "s", "default_slice": "default",
        "future": {"a": [1, "\u00e9"]}, "née": null, "counts": {"nodes": 7}}"#;
    files.put("manifest.json", manifest);
    files.put("future/table.bin", [0, 159, 146, 150]);
    files.put("audit/notes.txt", "by hand");
    files.put("cache/csr.zarr/zarr.json", "{}");
    files.column("tables/_edge_table.parquet", "weight", text([Some("heavy"), None]));
    let folder = tempfile::tempdir().unwrap();
    let before = folder.path().join("before");
    files.write(&before);
    let location = Location::from_path(&before);
    let source = open(&before).unwrap();
    let names = |keep: &Unknown| keep.files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let keep = isomorph_annnet::unknown(&location, &OpenOptions::default()).unwrap();
    assert_eq!(names(&keep), ["audit/notes.txt", "future/table.bin"]);
    for layout in WriteLayout::ALL {
        let place = folder.path().join(layout.name());
        write(&source, &place, &WriteOptions { layout, keep: keep.clone(), ..options() }, 2).unwrap();
        let found = differing(&place, &source);
        assert!(found.is_empty(), "{layout}: {found:#?}");
        let all = bytes(&place);
        assert_eq!(all["future/table.bin"], [0, 159, 146, 150]);
        assert_eq!(all["audit/notes.txt"], b"by hand");
        let manifest: serde_json::Value = serde_json::from_slice(&all["manifest.json"]).unwrap();
        assert_eq!(manifest["future"], serde_json::json!({"a": [1, "é"]}));
        assert!(manifest["née"].is_null() && manifest.as_object().unwrap().contains_key("née"));
        assert_eq!(manifest["counts"]["edges"], 2, "what is known is said anew");
        // An attribute with the name of a column of edges has its original name again.
        let table =
            if layout == WriteLayout::V2 { "tables/_edge_table.parquet" } else { "tables/edge_attributes.parquet" };
        assert_eq!(column(&place.join(table), "weight").iter().filter(|cell| *cell == "heavy").count(), 1);
        // Once more, in an archive.
        let archive = folder.path().join(format!("{layout}.annnet"));
        let keep = isomorph_annnet::unknown(&Location::from_path(&place), &OpenOptions::default()).unwrap();
        let again = open(&place).unwrap();
        write(&again, &archive, &WriteOptions { layout, archive: true, keep, ..options() }, 1).unwrap();
        let keep = isomorph_annnet::unknown(&Location::from_path(&archive), &OpenOptions::default()).unwrap();
        assert_eq!(names(&keep), ["audit/notes.txt", "future/table.bin"]);
    }
}
