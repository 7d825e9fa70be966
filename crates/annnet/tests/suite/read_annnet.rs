//! Graphs that the published library wrote are read as the library reads them.
#![allow(clippy::unwrap_used)]

use crate::common;

use common::graphs::SOUND;
use common::view::{View, differences, normal};
use common::{expected, fixtures, open};
use isomorph_error::Findings;
use isomorph_model::{MemoryGraph, Request, Source, Tables};
use serde_json::{Value, json};

fn reads(fixture: &str, graph: &str) -> Vec<String> {
    let root = fixtures();
    let view = View::of(&open(&root.join(fixture).join(graph)).unwrap()).value();
    let mut found = Vec::new();
    differences("", &view, &normal(expected(&root.join(fixture))), &mut found);
    found.into_iter().map(|found| format!("{fixture}{found}")).collect()
}

#[test]
fn directories_read_as_the_library_reads_them() {
    let found: Vec<String> = SOUND.into_iter().flat_map(|fixture| reads(fixture, "graph.annnet.d")).collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn coefficients_are_recovered_from_a_matrix() {
    let found = reads("legacy_matrix_coeffs", "graph.annnet.d");
    assert!(found.is_empty(), "{found:#?}");
    // A matrix that weights and directions imply adds nothing.
    for fixture in ["plain_directed", "plain_undirected"] {
        let found = reads(fixture, "graph_matrix.annnet.d");
        assert!(found.is_empty(), "{found:#?}");
    }
}

#[test]
fn archives_and_directories_hold_the_same() {
    let root = fixtures();
    let mut archives = 0;
    for fixture in SOUND {
        if root.join(fixture).join("graph.annnet").exists() {
            let found = reads(fixture, "graph.annnet");
            assert!(found.is_empty(), "{found:#?}");
            archives += 1;
        }
        if root.join(fixture).join("graph_matrix.annnet.d").exists() {
            let found = reads(fixture, "graph_matrix.annnet.d");
            assert!(found.is_empty(), "{found:#?}");
        }
    }
    assert!(archives > 0);
}

/// The edges of the older library in the representation of the current one.
fn of_v1(expected: &Value) -> Value {
    let of = |name: &str| expected[name].as_object().unwrap();
    let layered = !expected["aspects"].as_array().unwrap().is_empty();
    let at = |end: &Value, layer: Option<&Value>| match layer {
        Some(layer) if layered => json!([end, layer]),
        _ => end.clone(),
    };
    let edge = |(id, definition): (&String, &Value)| {
        let layers = of("edge_layers").get(id);
        let pair = layers.filter(|layers| layers[0].is_array());
        let (first, second) = (pair.map(|pair| &pair[0]).or(layers), pair.map(|pair| &pair[1]).or(layers));
        let ends = |end: &Value, layer| if end.is_null() { json!([]) } else { json!([at(end, layer)]) };
        let (mut source, mut target) = (ends(&definition[0], first), ends(&definition[1], second));
        if let Some(own) = of("hyperedge_definitions").get(id) {
            source = own.get("members").or(own.get("head")).unwrap().clone();
            target = own.get("tail").cloned().unwrap_or(json!([]));
        }
        let kind = match definition[2].as_str().unwrap() {
            "hyper" => "hyper",
            "edge_entity" => "placeholder",
            _ => "binary",
        };
        let (weight, directed) = (&of("edge_weights")[id], &of("edge_directed")[id]);
        let edge = json!({
            "id": id, "kind": kind, "weight": weight, "directed": directed, "source": source, "target": target,
            "coefficients": null, "policy": null,
        });
        (id.clone(), edge)
    };
    Value::Object(of("edge_definitions").iter().map(edge).collect())
}

#[test]
fn files_of_the_older_library_read_as_it_read_them() {
    let root = fixtures();
    for fixture in ["empty", "flat", "weighted_slices", "multilayer"] {
        let fixture = root.join("v1_0.1.1").join(fixture);
        let expected = expected(&fixture);
        for graph in ["graph.annnet.d", "graph.annnet"] {
            let view = View::of(&open(&fixture.join(graph)).unwrap()).value();
            let mut found = Vec::new();
            differences("edges", &view["edges"], &of_v1(&expected), &mut found);
            for name in ["active_slice", "default_slice", "directed", "graph_version", "graph_attributes", "history"] {
                differences(name, &view[name], &expected[name], &mut found);
            }
            for (name, slice) in expected["slices"].as_object().unwrap() {
                differences(&format!("{name}/nodes"), &view["slices"][name]["nodes"], &slice["vertices"], &mut found);
                differences(&format!("{name}/edges"), &view["slices"][name]["edges"], &slice["edges"], &mut found);
            }
            for pair in expected["edge_slice_attributes"].as_array().unwrap() {
                let own = &view["slices"][pair["slice_id"].as_str().unwrap()]["edge_attributes"];
                let own = &own[pair["edge_id"].as_str().unwrap()]["weight"];
                differences("weight", own, &pair["weight"], &mut found);
            }
            for row in expected["vertex_attributes"].as_array().unwrap() {
                let mut row = row.as_object().unwrap().clone();
                let id = row.remove("vertex_id").unwrap();
                row.retain(|_, value| !value.is_null());
                let id = id.as_str().unwrap();
                differences(id, &view["node_attributes"][id], &Value::Object(row), &mut found);
            }
            let layers = &view["multilayer"];
            for (name, other) in [
                ("aspects", "aspects"),
                ("aspect_attributes", "aspect_attrs"),
                ("elem_layers", "elem_layers"),
                ("layer_attributes", "layer_attrs"),
                ("node_layer_attributes", "vertex_layer_attrs"),
            ] {
                differences(name, &layers[name], &expected[other], &mut found);
            }
            if let Some(placements) = expected["VM"].as_array().filter(|all| !all.is_empty()) {
                let own: Vec<Value> =
                    view["entities"].as_array().unwrap().iter().map(|entity| json!([entity[0], entity[1]])).collect();
                differences("placements", &json!(own), &json!(placements), &mut found);
            }
            assert!(found.is_empty(), "{} {graph}: {found:#?}", fixture.display());
        }
    }
}

#[test]
fn the_unpublished_layout_between_the_two_is_read() {
    let root = fixtures();
    let multilayer = View::of(&open(&root.join("v2_vertex_words/multilayer/graph.annnet.d")).unwrap()).value();
    assert!(!multilayer["multilayer"]["aspects"].as_array().unwrap().is_empty());
    let flat = open(&root.join("v2_vertex_words/flat/graph.annnet.d")).unwrap();
    assert_eq!(flat.layout().name(), "v2 with vertex words, early");
    let view = View::of(&flat).value();
    assert!(view["edges"].as_object().unwrap().values().all(|edge| edge["kind"] != "one_sided"), "{view:#}");
    assert!(view["edges"].as_object().unwrap().values().any(|edge| edge["kind"] == "hyper"), "{view:#}");
}

#[test]
fn every_form_of_a_graph_has_one_digest() {
    let root = fixtures();
    let digest = |path: &std::path::Path| MemoryGraph::read(&open(path).unwrap()).unwrap().digest().unwrap();
    for fixture in SOUND.into_iter().chain(["v1_0.1.1/flat", "v1_0.1.1/multilayer"]) {
        let directory = digest(&root.join(fixture).join("graph.annnet.d"));
        for other in ["graph.annnet", "graph_matrix.annnet.d"] {
            let other = root.join(fixture).join(other);
            if other.exists() {
                assert_eq!(digest(&other), directory, "{}", other.display());
            }
        }
    }
}

#[test]
fn what_is_read_does_not_depend_on_how_much_at_a_time() {
    let root = fixtures();
    for fixture in ["everything_flat", "everything_multilayer"] {
        let annnet = open(&root.join(fixture).join("graph.annnet.d")).unwrap();
        let expected = MemoryGraph::read(&annnet).unwrap().digest().unwrap();
        for rows in [1, 2, 3, 7] {
            let mut memory = MemoryGraph { graph: annnet.graph().clone(), batches: Vec::new() };
            for mut part in annnet.scan(&Request::of(Tables::All).in_batches_of(rows)).unwrap() {
                part.read(&mut |batch| {
                    memory.batches.push(batch);
                    Ok(())
                })
                .unwrap();
            }
            assert_eq!(memory.digest().unwrap(), expected, "{fixture}, {rows} rows");
        }
    }
}

#[test]
fn what_the_library_wrote_breaks_no_rule() {
    let root = fixtures();
    // The library itself loses members whose ids are valid JSON.
    let known = ["jsonlike_ids_lossy: ANNNET-HYPEREDGE-JSON"];
    let mut found = Vec::new();
    let older = [
        "v1_0.1.1/empty",
        "v1_0.1.1/flat",
        "v1_0.1.1/multilayer",
        "v2_vertex_words/flat",
        "v2_vertex_words/multilayer",
    ];
    for fixture in SOUND.into_iter().chain(["jsonlike_ids_lossy"]).chain(older) {
        let mut findings = Findings::keeping(2);
        open(&root.join(fixture).join("graph.annnet.d")).unwrap().validate(&mut findings).unwrap();
        for (_, kept) in findings.by_rule() {
            found.push(format!("{fixture}: {}: {} ({})", kept[0].rule.id, kept[0].message, kept[0].place));
        }
    }
    found.retain(|line| !known.iter().any(|known| line.starts_with(known)));
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn what_the_library_loses_is_kept() {
    let root = fixtures();
    let view = |fixture: &str| View::of(&open(&root.join(fixture).join("graph.annnet.d")).unwrap()).value();
    let edges = view("jsonlike_ids_lossy")["edges"].clone();
    let members = json!(["\"q\"", "1", "1e5", "2", "null", "plain", "true"]);
    let ends =
        |id: &str| [&edges[id]["source"], &edges[id]["target"]].map(|side| side.as_array().unwrap().clone()).concat();
    let mut all = [ends("h"), ends("hd")].concat();
    all.sort_by_key(|end| end.as_str().map(str::to_owned));
    all.dedup();
    assert_eq!(json!(all), members, "{edges:#}");
    // A stale definition of a hyperedge does not apply to another edge with its id.
    let edge = &view("stale_overwrite")["edges"]["h"];
    assert_eq!((edge["kind"].as_str(), edge["source"].as_array().map(Vec::len)), (Some("binary"), Some(1)), "{edge:#}");
}
