//! The reading rules of the specification ("Validation and compatibility"), one by one, in both layouts.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use common::build::{File, Files};
use common::view::View;
use common::write;
use common::write::{bytes, options};
use isomorph_annnet::{Annnet, Layout, WriteLayout, WriteOptions};
use isomorph_error::Findings;
use isomorph_model::{MemoryGraph, Source};
use serde_json::{Value, json};

/// The same graph in the layouts v2 and 1.1, without a checksum, which would make every changed file an error.
fn layouts(files: &Files) -> [(Layout, Files); 2] {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = (folder.path().join("before"), folder.path().join("after"));
    files.write(&before);
    let options = WriteOptions { layout: WriteLayout::Specification, ..options() };
    write(&common::open(&before).unwrap(), &after, &options, 9).unwrap();
    let mut specified = Files::default();
    for (name, bytes) in bytes(&after) {
        specified.put(&name, bytes);
    }
    specified.remove("audit/checksums.sha256");
    manifest(&mut specified, |manifest| drop(manifest.remove("checksum")));
    [(Layout::V2, files.clone()), (Layout::V1, specified)]
}

/// Changes the manifest.
fn manifest(files: &mut Files, change: impl FnOnce(&mut serde_json::Map<String, Value>)) {
    let Some(File::Bytes(bytes)) = files.0.get("manifest.json") else { panic!("there is a manifest") };
    let mut object = serde_json::from_slice::<Value>(bytes).unwrap().as_object().unwrap().clone();
    change(&mut object);
    files.put("manifest.json", Value::Object(object).to_string());
}

/// The graph that is read, and the ids of the broken rules.
fn read(files: &Files) -> (Value, Vec<&'static str>) {
    files.with(|opened| {
        let annnet = opened.unwrap();
        let mut findings = Findings::keeping(1);
        annnet.validate(&mut findings).unwrap();
        (View::of(&annnet).value(), findings.by_rule().map(|(_, kept)| kept[0].rule.id).collect())
    })
}

fn digest(files: &Files) -> String {
    files.with(|opened| format!("{:?}", MemoryGraph::read(&opened.unwrap()).unwrap().digest().unwrap()))
}

#[test]
fn both_layouts_hold_the_same_graph() {
    for files in [Files::small(), Files::layered()] {
        let [(v2, first), (v1, second)] = layouts(&files);
        assert_eq!(first.with(|opened| opened.unwrap().layout()), v2);
        assert_eq!(second.with(|opened| opened.unwrap().layout()), v1);
        assert_eq!(digest(&first), digest(&second));
        assert_eq!((read(&first).1, read(&second).1), (Vec::new(), Vec::new()));
    }
}

/// "Readers should not rely solely on counts for trust; derive truth from Parquet/Zarr sources."
#[test]
fn counts_are_never_trusted() {
    for (layout, files) in layouts(&Files::small()) {
        for counts in
            [json!({"nodes": 1_000_000, "vertices": 0, "edges": 0, "entities": 7, "slices": 9}), json!({}), json!(3)]
        {
            let mut changed = files.clone();
            manifest(&mut changed, |manifest| drop(manifest.insert("counts".to_owned(), counts.clone())));
            manifest(&mut changed, |manifest| drop(manifest.insert("slices".to_owned(), json!(["other"]))));
            manifest(&mut changed, |manifest| drop(manifest.insert("matrix_shape".to_owned(), json!([0, 0]))));
            let (found, broken) = read(&changed);
            assert_eq!(found, read(&files).0, "{layout:?} {counts}");
            let noted = counts.as_object().is_some_and(|counts| !counts.is_empty());
            assert_eq!(broken.contains(&"ANNNET-COUNTS"), noted, "{layout:?} {counts}");
        }
    }
}

/// "Unknown keys MUST be ignored to allow forward-compatible schema evolution." Files as well; and a rewrite keeps both.
#[test]
fn unknown_keys_and_files_are_ignored_and_kept() {
    for (layout, files) in layouts(&Files::small()) {
        let mut changed = files.clone();
        manifest(&mut changed, |manifest| {
            manifest.insert("schema_version".to_owned(), json!("99.0"));
            manifest.insert("future".to_owned(), json!({"a": [1]}));
        });
        changed.put("future/table.bin", "?");
        changed.put("structure/future.parquet", "no Parquet");
        assert_eq!(digest(&changed), digest(&files), "{layout:?}");
        let home = tempfile::tempdir().unwrap();
        let before = home.path().join("before");
        changed.write(&before);
        let source: Annnet = common::open(&before).unwrap();
        assert_eq!(source.unknown_keys(), [("future".to_owned(), r#"{"a":[1]}"#.to_owned())]);
        let location = isomorph_storage::Location::from_path(&before);
        let keep = isomorph_annnet::unknown(&location, &isomorph_annnet::OpenOptions::default()).unwrap();
        for to in WriteLayout::ALL {
            let place = home.path().join(format!("{to}"));
            write(&source, &place, &WriteOptions { layout: to, keep: keep.clone(), ..options() }, 9).unwrap();
            let written = bytes(&place);
            assert_eq!(written["future/table.bin"], b"?");
            assert_eq!(written["structure/future.parquet"], b"no Parquet");
            let manifest: Value = serde_json::from_slice(&written["manifest.json"]).unwrap();
            assert_eq!(manifest["future"], json!({"a": [1]}), "{layout:?} {to}");
        }
    }
}

/// "If schema_version is older, treat missing sections as optional (e.g., no layers/ folder → monolayer)."
#[test]
fn every_missing_section_is_optional() {
    // Required tables: the entities, the edges, the manifest, and the layers in which the entities are placed (the
    // section may be missing, but must be complete). Without the table by which a layout is recognised, there is no
    // such graph.
    let needed = [
        "manifest.json",
        "structure/layer_dict.json",
        "layers/metadata.json",
        "structure/entity_index.parquet",
        "structure/entity_to_idx.parquet",
        "structure/edges.parquet",
        "structure/edge_definitions.parquet",
    ];
    for (layout, files) in layouts(&Files::layered()) {
        for schema_version in [None, Some("0.9")] {
            let mut files = files.clone();
            manifest(&mut files, |manifest| {
                manifest.remove("schema_version");
                manifest.extend(schema_version.map(|own| ("schema_version".to_owned(), json!(own))));
            });
            let whole = read(&files).0;
            for name in files.0.keys() {
                let mut without = files.clone();
                without.remove(name);
                let opened = without.with(|opened| opened.map(|graph| View::of(&graph).value()));
                if needed.contains(&name.as_str()) {
                    assert!(opened.is_err(), "{layout:?} without {name}");
                    continue;
                }
                let found = opened.unwrap_or_else(|error| panic!("{layout:?} without {name}: {error}"));
                // Which entities and edges exist does not depend on the other tables.
                let ids = |view: &Value| view["edges"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
                assert_eq!(ids(&found), ids(&whole), "{layout:?} without {name}");
                let kind = |view: &Value| view["edges"]["h"]["kind"].clone();
                assert_eq!(kind(&found), json!("hyper"), "{layout:?} without {name}");
            }
        }
    }
}

/// The example of that rule.
#[test]
fn without_layers_a_graph_has_one() {
    for (layout, files) in layouts(&Files::small()) {
        let mut without = files.clone();
        without.0.retain(|name, _| {
            !name.starts_with("layers/") && !name.starts_with("tables/") && !name.starts_with("audit/")
        });
        let found = read(&without).0;
        assert_eq!(found["multilayer"]["aspects"], json!([]), "{layout:?}");
        assert_eq!(found["edges"], read(&files).0["edges"], "{layout:?}");
        assert_eq!(found["node_attributes"], json!({"a": {}, "b": {}}), "{layout:?}");
    }
    // A graph that had layers as well, if only this folder states them.
    let [_, (_, mut files)] = layouts(&Files::layered());
    files.0.retain(|name, _| !name.starts_with("layers/"));
    let found = read(&files).0;
    assert_eq!(found["multilayer"]["aspects"], json!([]));
    assert_eq!((&found["edges"]["e"]["source"], &found["edges"]["e"]["target"]), (&json!(["a"]), &json!(["b"])));
}

/// "If active_slice is not present in slices/registry.parquet, fall back to default_slice or \"default\"."
#[test]
fn an_active_slice_that_is_not_registered_falls_back() {
    for (layout, files) in layouts(&Files::small()) {
        for (active, default, expected) in [
            (json!("s"), json!("default"), "s"),
            (json!("gone"), json!("s"), "s"),
            (json!("gone"), json!("default"), "default"),
            (json!("gone"), Value::Null, "default"),
            (Value::Null, json!("s"), "s"),
        ] {
            let mut changed = files.clone();
            manifest(&mut changed, |manifest| {
                manifest.insert("active_slice".to_owned(), active.clone());
                manifest.insert("default_slice".to_owned(), default.clone());
            });
            let (found, broken) = read(&changed);
            assert_eq!(found["active_slice"], json!(expected), "{layout:?} {active} {default}");
            assert_eq!(broken.contains(&"ANNNET-SLICE-ACTIVE"), active != json!("s"), "{layout:?} {active}");
        }
    }
}

/// "Zarr root MUST carry attrs.shape = [n_entities, n_edges] for the incidence matrix."
#[test]
fn a_matrix_has_a_shape() {
    let [_, (_, files)] = layouts(&Files::small());
    let group = "structure/incidence.zarr/zarr.json";
    let with = |attributes: &str, coefficients: bool| {
        let mut changed = files.clone();
        changed.put(group, format!(r#"{{"attributes": {attributes}, "zarr_format": 3, "node_type": "group"}}"#));
        if !coefficients {
            changed.remove("structure/edge_coeffs.parquet");
        }
        changed.broken()
    };
    // Whether it is read for its coefficients or not.
    for coefficients in [false, true] {
        assert_eq!(with(r#"{"shape": [2, 2]}"#, coefficients), [""; 0], "{coefficients}");
        for attributes in
            ["{}", r#"{"shape": 4}"#, r#"{"shape": [2]}"#, r#"{"shape": [2, -1]}"#, r#"{"shape": [2, "2"]}"#]
        {
            assert_eq!(with(attributes, coefficients), ["ANNNET-MATRIX"], "{attributes} {coefficients}");
        }
        for attributes in [r#"{"shape": [2, 3]}"#, r#"{"shape": [3, 2]}"#] {
            assert_eq!(with(attributes, coefficients), ["ANNNET-MATRIX-SHAPE"], "{attributes} {coefficients}");
        }
        // Cells beyond the shape.
        let small = with(r#"{"shape": [1, 1]}"#, coefficients);
        assert_eq!(small, ["ANNNET-MATRIX", "ANNNET-MATRIX-SHAPE"], "{coefficients}");
    }
}
