//! The layout of the specification's text: every file and key that it names, and conversion back.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use std::path::{Path, PathBuf};

use common::build::{Files, integers, text};
use common::graphs::every;
use common::view::{View, differences};
use common::write;
use common::write::{bytes, options};
use common::{copy, fixtures, open};
use isomorph_annnet::{Annnet, OpenOptions, WriteLayout, WriteOptions};
use isomorph_error::Findings;
use isomorph_model::{MemoryGraph, Source};
use isomorph_storage::Location;
use isomorph_tables::Compression;
use serde_json::{Value, json};

fn specification() -> WriteOptions {
    WriteOptions { layout: WriteLayout::Specification, ..options() }
}

/// A fixture as a directory or, if there is none, as an archive.
fn form(graph: &str) -> String {
    let archive = matches!(graph, "v1_0.1.1/empty" | "v1_0.1.1/multilayer");
    format!("{graph}/{}", if archive { "graph.annnet" } else { "graph.annnet.d" })
}

/// A fixture in the layout of the specification.
fn written(fixture: &str, folder: &Path) -> (Annnet, PathBuf) {
    let source = open(&fixtures().join(fixture)).unwrap();
    let place = folder.join(fixture.replace('/', "-"));
    write(&source, &place, &specification(), 3).unwrap();
    (source, place)
}

/// A graph without the order of placements: this layout keeps only that of entities.
fn unplaced(graph: &Annnet) -> Value {
    let mut value = View::of(graph).value();
    if let Some(entities) = value["entities"].as_array_mut() {
        entities.sort_by_key(Value::to_string);
    }
    value
}

fn manifest(root: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(root.join("manifest.json")).unwrap()).unwrap()
}

#[test]
fn every_graph_comes_back_with_its_digest() {
    let folder = tempfile::tempdir().unwrap();
    let mut found = Vec::new();
    for graph in every() {
        let (source, place) = written(&form(graph), folder.path());
        let fixture = graph;
        let archive = folder.path().join(format!("{}.annnet", fixture.replace('/', "-")));
        write(&source, &archive, &WriteOptions { archive: true, ..specification() }, 1 << 16).unwrap();
        assert_eq!(std::fs::read(&archive).unwrap()[..2], [0x1f, 0x8b], "a gzipped tar");
        let digest = |graph: &dyn Source| MemoryGraph::read(graph).unwrap().digest().unwrap();
        for place in [place, archive] {
            let back = open(&place).unwrap();
            differences(fixture, &unplaced(&back), &unplaced(&source), &mut found);
            if digest(&back) != digest(&source) {
                found.push(format!("{fixture}: the digests differ"));
            }
            let mut findings = Findings::keeping(9);
            back.validate(&mut findings).unwrap();
            let unsound = ["ANNNET-CHECKSUM", "ANNNET-MEMBER", "ANNNET-COLUMN", "ANNNET-COUNTS", "ANNNET-MATRIX"];
            found.extend(
                findings
                    .by_rule()
                    .filter(|(_, kept)| unsound.contains(&kept[0].rule.id))
                    .map(|(_, kept)| format!("{fixture}: {:?}", kept[0])),
            );
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn an_edge_with_one_end_stays_in_its_layer() {
    let folder = tempfile::tempdir().unwrap();
    for (number, side) in ["source", "target"].into_iter().enumerate() {
        let mut files = Files::layered();
        files.column("structure/edges.parquet", side, text([None::<&str>, None]));
        // With one end, no kind follows, and a stated one would be lost.
        files.column("structure/edges.parquet", "ml_kind", text([None, Some("inter")]));
        // The remaining end is placed in two layers.
        files.table(
            "structure/entity_index.parquet",
            vec![
                ("entity_id", text(["a", "b", "a", "b"])),
                ("layer_id", integers([1, 2, 2, 1])),
                ("idx", integers([0, 1, 2, 3])),
                ("type", text(["node"; 4])),
            ],
        );
        let before = folder.path().join(format!("before {number}"));
        files.write(&before);
        let source = open(&before).unwrap();
        let place = folder.path().join(format!("after {number}"));
        write(&source, &place, &specification(), 1).unwrap();
        let back = open(&place).unwrap();
        let mut found = Vec::new();
        differences(side, &View::of(&back).value()["edges"], &View::of(&source).value()["edges"], &mut found);
        assert!(found.is_empty(), "{found:#?}");
        let digest = |graph: &dyn Source| MemoryGraph::read(graph).unwrap().digest().unwrap();
        assert_eq!(digest(&back), digest(&source));
    }
}

#[test]
fn every_file_and_key_that_the_text_names_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let (_, place) = written("everything_multilayer/graph.annnet.d", folder.path());
    let files = bytes(&place);
    for name in [
        "structure/incidence.zarr/zarr.json",
        "structure/incidence.zarr/row/zarr.json",
        "structure/incidence.zarr/col/zarr.json",
        "structure/incidence.zarr/data/zarr.json",
        "structure/entity_to_idx.parquet",
        "structure/idx_to_entity.parquet",
        "structure/entity_types.parquet",
        "structure/edge_to_idx.parquet",
        "structure/idx_to_edge.parquet",
        "structure/edge_definitions.parquet",
        "structure/edge_weights.parquet",
        "structure/edge_directed.parquet",
        "structure/edge_kind.parquet",
        "structure/hyperedge_definitions.parquet",
        "tables/vertex_attributes.parquet",
        "tables/edge_attributes.parquet",
        "tables/slice_attributes.parquet",
        "tables/edge_slice_attributes.parquet",
        "layers/metadata.json",
        "layers/vertex_presence.parquet",
        "layers/edge_layers.parquet",
        "layers/elem_layer_attributes.parquet",
        "layers/aspect_attributes.json",
        "layers/tuple_layer_attributes.parquet",
        "layers/vertex_layer_attributes.parquet",
        "slices/registry.parquet",
        "slices/vertex_memberships.parquet",
        "slices/edge_memberships.parquet",
        "audit/history.parquet",
        "audit/provenance.json",
        "uns/graph_attributes.json",
    ] {
        assert!(files.contains_key(name), "{name} is missing");
    }
    assert!(files.keys().any(|name| name.starts_with("audit/snapshots/000000-")), "{:?}", files.keys());
    for name in ["structure/edges.parquet", "structure/layer_dict.json", "audit/snapshots.json"] {
        assert!(!files.contains_key(name), "{name} is of another layout");
    }
    let manifest = manifest(&place);
    let keys: Vec<&String> = manifest.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "format",
            "version",
            "created",
            "annnet_version",
            "graph_version",
            "directed",
            "counts",
            "slices",
            "active_slice",
            "default_slice",
            "schema_version",
            "checksum",
            "compression",
            "encoding"
        ]
    );
    assert_eq!((&manifest["version"], &manifest["schema_version"]), (&json!("1.1.0"), &json!("1.0")));
    assert_eq!(manifest["created"], json!("1970-01-01T00:00:01.500000Z"));
    let counts: Vec<&String> = manifest["counts"].as_object().unwrap().keys().collect();
    assert_eq!(counts, ["vertices", "edges", "entities", "slices", "hyperedges", "aspects"]);
    // The shape of the matrix matches the counts.
    let group: Value = serde_json::from_slice(&files["structure/incidence.zarr/zarr.json"]).unwrap();
    assert_eq!(group["attributes"]["shape"], json!([manifest["counts"]["entities"], manifest["counts"]["edges"]]));
}

#[test]
fn bytes_depend_on_the_graph_alone() {
    let folder = tempfile::tempdir().unwrap();
    for fixture in ["everything_flat/graph.annnet.d", "everything_multilayer/graph.annnet.d"] {
        let root = fixtures();
        let source = open(&root.join(fixture)).unwrap();
        let archives = [1, 1 << 16].map(|piece| {
            let path = folder.path().join(format!("{}-{piece}.annnet", fixture.replace('/', "-")));
            write(&source, &path, &WriteOptions { archive: true, ..specification() }, piece).unwrap();
            std::fs::read(path).unwrap()
        });
        assert!(archives[0] == archives[1], "{fixture}");
    }
}

#[test]
fn the_checksum_names_the_file_that_was_changed() {
    let folder = tempfile::tempdir().unwrap();
    let (_, place) = written("everything_flat/graph.annnet.d", folder.path());
    let of = |root: &Path| {
        let Err(error) = open(root) else { return (None, String::new()) };
        (error.broken_rule().map(|rule| rule.id), error.place().file.clone().unwrap_or_default().to_string())
    };
    let names: Vec<String> = bytes(&place).into_keys().filter(|name| name != "manifest.json").collect();
    assert!(names.len() > 20);
    for (number, name) in names.iter().enumerate() {
        let copied = folder.path().join(number.to_string());
        copy(&place, &copied);
        let path = copied.join(name);
        let mut changed = std::fs::read(&path).unwrap();
        let at = changed.len() / 2;
        changed[at] ^= 1;
        std::fs::write(&path, &changed).unwrap();
        assert_eq!(of(&copied), (Some("ANNNET-CHECKSUM"), name.clone()));
        // Validation reports it even if the checksums are not compared.
        let options = OpenOptions { verify: false, ..OpenOptions::default() };
        if let Ok(graph) = Annnet::open(&Location::from_path(&copied), &options) {
            let mut findings = Findings::keeping(1);
            let _ = graph.validate(&mut findings);
            assert!(findings.by_rule().any(|(_, kept)| kept[0].rule.id == "ANNNET-CHECKSUM"), "{name}");
        }
        std::fs::remove_file(&path).unwrap();
        let (rule, file) = of(&copied);
        match name.as_str() {
            // Without the list there is nothing to compare with.
            "audit/checksums.sha256" => assert_eq!(rule, None),
            // Without this table, the layout cannot be recognised.
            "structure/edge_definitions.parquet" => assert!(open(&copied).is_err() && rule.is_none()),
            _ => assert_eq!((rule, file), (Some("ANNNET-CHECKSUM"), name.clone())),
        }
    }
}

#[test]
fn the_list_is_that_of_sha256sum() {
    let folder = tempfile::tempdir().unwrap();
    let (_, place) = written("plain_directed/graph.annnet.d", folder.path());
    let list = std::fs::read_to_string(place.join("audit/checksums.sha256")).unwrap();
    let listed: Vec<&str> = list.lines().map(|line| line.split_once("  ").unwrap().1).collect();
    let mut there: Vec<String> = bytes(&place).into_keys().collect();
    there.retain(|name| name != "manifest.json" && name != "audit/checksums.sha256");
    assert_eq!(listed, there);
    // The expected hash of an empty input is well known; other hashes are checked with the tool, if it is installed.
    let Ok(done) = std::process::Command::new("sha256sum")
        .args(["--check", "--strict", "--quiet", "audit/checksums.sha256"])
        .current_dir(&place)
        .output()
    else {
        isomorph_fixtures::without_program("sha256sum");
        return;
    };
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
}

#[test]
fn a_checksum_that_nothing_defines_is_noticed() {
    let mut files = Files::small();
    let manifest = r#"{"graph_version": 3, "directed": true, "active_slice": "s", "default_slice": "default",
        "checksum": "sha256:abcdef"}"#;
    files.put("manifest.json", manifest);
    assert_eq!(files.broken(), ["ANNNET-CHECKSUM-UNKNOWN"]);
}

#[test]
fn snapshots_and_results_have_files_of_their_own() {
    let mut files = Files::small();
    files.put("audit/snapshots/0-first.json", r#"{"label": "first", "version": 1, "node_ids": ["a"]}"#);
    files.put("audit/snapshots/1-second.json", r#"{"label": "second / π", "version": 2, "node_ids": []}"#);
    files.put("uns/results/pagerank.json", r#"{"a": 0.5, "b": NaN}"#);
    files.put("uns/results/clusters.json", "[[\"a\"], [\"b\"]]");
    let folder = tempfile::tempdir().unwrap();
    let before = folder.path().join("before");
    files.write(&before);
    let source = open(&before).unwrap();
    let document = |graph: &Annnet, name: &str| {
        let found = graph.graph().documents.iter().find(|document| document.name == name).cloned();
        format!("{:?}", found.unwrap_or_else(|| panic!("{name} is there")).body)
    };
    assert!(document(&source, "snapshots").contains("first") && document(&source, "results").contains("pagerank"));
    for layout in WriteLayout::ALL {
        let place = folder.path().join(layout.name());
        write(&source, &place, &WriteOptions { layout, ..options() }, 1).unwrap();
        let back = open(&place).unwrap();
        for name in ["snapshots", "results"] {
            assert_eq!(document(&back, name).replace(r"\\u03c0", "π"), document(&source, name), "{layout} {name}");
        }
        let own = bytes(&place);
        assert!(own.contains_key("uns/results/pagerank.json") && own.contains_key("uns/results/clusters.json"));
        let labelled = own.contains_key("audit/snapshots/000001-second____.json");
        assert_eq!(labelled, layout == WriteLayout::Specification, "{:?}", own.keys());
    }
    // Invalid JSON is not read as JSON.
    files.put("uns/results/broken.json", "{");
    assert_eq!(files.broken(), ["ANNNET-JSON"]);
}

#[test]
fn compressions_are_applied_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let root = fixtures();
    let source = open(&root.join("everything_flat/graph.annnet.d")).unwrap();
    let mut sizes = Vec::new();
    for (compression, name) in [
        (Compression::None, "none"),
        (Compression::Snappy, "snappy"),
        (Compression::Lz4, "lz4"),
        (Compression::Zstd(1), "zstd"),
    ] {
        let place = folder.path().join(name);
        write(&source, &place, &WriteOptions { compression, ..specification() }, 9).unwrap();
        assert_eq!(manifest(&place)["compression"], json!(name));
        let chunk = std::fs::read(place.join("structure/incidence.zarr/row/c/0")).unwrap();
        sizes.push(chunk.len());
        let mut found = Vec::new();
        differences("", &View::of(&open(&place).unwrap()).value(), &View::of(&source).value(), &mut found);
        assert!(found.is_empty(), "{name}: {found:#?}");
    }
    assert!(sizes[0] == 40_000 && sizes[1..].iter().all(|size| *size < 1_000), "{sizes:?}");
}
