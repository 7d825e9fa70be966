//! Layers and kinds of edges that do not follow from their ends: the published library reads the same from a graph
//! and from its rewritten copy.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::collections::BTreeMap;
use std::path::Path;

use common::build::{Files, booleans, integers, lists, text};
use common::write::{column, differing, options};
use common::{open, write};
use isomorph_annnet::{WriteLayout, WriteOptions};
use isomorph_error::Kind;
use isomorph_model::Source;

const EDGES: &str = "structure/edges.parquet";
const LAYERS: &str = "layers/edge_layers.parquet";

/// Edges of every kind: with two ends (the last one without layers); hyperedges within a layer, between two layers,
/// with one side, with ambiguous layers, and without members; an entity without ends; an edge without a target, and one
/// whose target does not exist.
const IDS: [&str; 11] = ["e", "f", "s", "h", "p", "o", "u", "m", "q", "t", "z"];

/// A graph with these edges; each row has this kind and this layer of hyperedges.
fn graph(kind: Option<&str>, hyper_layer: Option<i64>) -> Files {
    let mut files = Files::layered();
    for name in
        ["tables/_edge_table.parquet", "tables/edge_slice_attributes.parquet", "slices/edge_memberships.parquet"]
    {
        let rows = [Some("slice_id"), None].into_iter().flatten().filter(|_| !name.contains("_edge_table"));
        let none = || text(Vec::<&str>::new());
        files.table(name, rows.chain(["edge_id"]).map(|name| (name, none())).collect());
    }
    files.table(
        "structure/entity_index.parquet",
        vec![
            ("entity_id", text(["a", "b", "a", "q"])),
            ("layer_id", integers([1, 1, 2, 0])),
            ("idx", integers([0, 1, 2, 3])),
            ("type", text(["node", "node", "node", "edge_entity"])),
        ],
    );
    let hyper = ["h", "p", "o", "u", "m"];
    let of = |id: &str, two: Option<i64>| if hyper.contains(&id) || id == "q" || id == "s" { None } else { two };
    let end = |id: &'static str, own: &'static str| (!hyper.contains(&id) && id != "q").then_some(own);
    files.table(
        EDGES,
        vec![
            ("edge_id", text(IDS)),
            ("col_idx", integers([0, 1, 2, 3, 4, 5, 6, 7, -1, 8, 9])),
            ("directed", booleans(IDS.map(|id| Some(id != "u")))),
            (
                "kind",
                text(IDS.map(|id| match id {
                    "q" => "edge_placeholder",
                    id if hyper.contains(&id) => "hyper",
                    _ => "binary",
                })),
            ),
            ("source", text(IDS.map(|id| end(id, if id == "s" { "b" } else { "a" })))),
            (
                "target",
                text(IDS.map(|id| match id {
                    "t" => None,
                    "z" => Some("nobody"),
                    id => end(id, "b"),
                })),
            ),
            ("source_layer_id", integers(IDS.map(|id| of(id, Some(if id == "f" { 2 } else { 1 }))))),
            ("target_layer_id", integers(IDS.map(|id| of(id, (id != "t").then_some(1))))),
            ("ml_kind", text([kind; 11])),
            ("hyper_layer_id", integers([hyper_layer; 11])),
        ],
    );
    let [one, two, three] = [
        r#"{"kind": "supra", "layer": ["t0"], "node": "a"}"#,
        r#"{"kind": "supra", "layer": ["t0"], "node": "b"}"#,
        r#"{"kind": "supra", "layer": ["t1"], "node": "a"}"#,
    ];
    files.table(
        "structure/hyperedge_definitions.parquet",
        vec![
            ("edge_id", text(["h", "p", "o", "u"])),
            ("directed", booleans([true, true, true, false])),
            ("members", lists(&[None, None, None, Some(&[one, three])])),
            ("head", lists(&[Some(&[one]), Some(&[one, two]), Some(&[one]), None])),
            ("tail", lists(&[Some(&[two]), Some(&[three]), Some(&[]), None])),
        ],
    );
    files.put(
        "manifest.json",
        r#"{"graph_version": 3, "directed": true, "active_slice": "s", "default_slice": "default"}"#,
    );
    files
}

/// Kind and layers of each edge as annnet 0.4.1 reads them: its row in the layer table counts; without one, a hyperedge
/// is in the layer that it states, and another edge in those stated for both ends.
fn taken(root: &Path) -> BTreeMap<String, [String; 2]> {
    let text = std::fs::read_to_string(root.join("structure/layer_dict.json")).unwrap();
    let dictionary: serde_json::Value = serde_json::from_str(&text).unwrap();
    let label =
        |number: &String| number.parse::<usize>().map_or(String::new(), |at| dictionary["layers"][at].to_string());
    let pair = |first: &String, second: &String| format!("{} {}", label(first), label(second)).trim_end().to_owned();
    let rows: BTreeMap<String, String> = match root.join(LAYERS).exists() {
        true => {
            let [ids, first, second] =
                ["edge_id", "layer_1_id", "layer_2_id"].map(|name| column(&root.join(LAYERS), name));
            let layers = first.iter().zip(&second).map(|(first, second)| pair(first, second));
            ids.into_iter().zip(layers).collect()
        }
        false => BTreeMap::new(),
    };
    let [ids, kinds, ml_kinds, source, target, of_source, of_target, of_members] =
        ["edge_id", "kind", "ml_kind", "source", "target", "source_layer_id", "target_layer_id", "hyper_layer_id"]
            .map(|name| column(&root.join(EDGES), name));
    let alone = |row: usize| match kinds[row].as_str() {
        "hyper" => label(&of_members[row]),
        _ => match [&source[row], &target[row], &of_source[row], &of_target[row]].iter().any(|own| own.is_empty()) {
            true => String::new(),
            false => pair(&of_source[row], &of_target[row]),
        },
    };
    let of_edge = |row: usize| rows.get(&ids[row]).cloned().unwrap_or_else(|| alone(row));
    (0..ids.len()).map(|row| (ids[row].clone(), [ml_kinds[row].clone(), of_edge(row)])).collect()
}

/// Adds rows to the layer table for all edges.
fn rows(files: &mut Files, first: Option<i64>, second: Option<i64>) {
    files.table(
        LAYERS,
        vec![("edge_id", text(IDS)), ("layer_1_id", integers([first; 11])), ("layer_2_id", integers([second; 11]))],
    );
}

#[test]
fn every_edge_is_taken_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let tables = [None, Some((None, None)), Some((Some(1), None)), Some((Some(1), Some(2))), Some((Some(1), Some(1)))];
    let mut number = 0;
    for kind in [None, Some("intra"), Some("inter"), Some("coupling")] {
        for hyper_layer in [None, Some(1), Some(2)] {
            for layers in tables {
                let mut files = graph(kind, hyper_layer);
                if let Some((first, second)) = layers {
                    rows(&mut files, first, second);
                }
                number += 1;
                let before = folder.path().join(format!("before {number}"));
                files.write(&before);
                let source = open(&before).unwrap();
                let place = folder.path().join(format!("after {number}"));
                write(&source, &place, &options(), 1).unwrap();
                let what = format!("{kind:?} {hyper_layer:?} {layers:?}");
                let (was, is) = (taken(&before), taken(&place));
                assert_eq!(was.len(), IDS.len());
                assert_eq!(is, was, "{what}");
                let found = differing(&place, &source);
                assert!(found.is_empty(), "{what}: {found:#?}");
            }
        }
    }
}

#[test]
fn a_row_for_one_edge_says_nothing_of_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let mut files = graph(Some("intra"), None);
    files.table(LAYERS, vec![("edge_id", text(["e"])), ("layer_1_id", integers([1])), ("layer_2_id", integers([1]))]);
    let before = folder.path().join("before");
    files.write(&before);
    let source = open(&before).unwrap();
    let said = source.graph().metadata.get("annnet.stated").unwrap();
    assert!(
        said.contains(r#""h": {"layers": []}"#) && said.contains(r#""p": {"kind": "intra", "layers": []}"#),
        "{said}"
    );
    let place = folder.path().join("after");
    write(&source, &place, &options(), 1).unwrap();
    assert_eq!(taken(&place), taken(&before));
    assert_eq!(column(&place.join(LAYERS), "edge_id"), ["z", "e", "s"]);
}

#[test]
fn the_layout_of_the_text_refuses_kinds_and_layers_that_it_would_change() {
    let folder = tempfile::tempdir().unwrap();
    let text_layout = WriteOptions { layout: WriteLayout::Specification, ..options() };
    // An edge without a kind, and a hyperedge without layers.
    for (number, (of_edge, of_hyperedge, first)) in
        [(None, Some("inter"), Some(1)), (Some("inter"), None, Some(1)), (Some("inter"), Some("intra"), None)]
            .into_iter()
            .enumerate()
    {
        let mut files = Files::layered();
        files.column(EDGES, "ml_kind", text([of_edge, of_hyperedge]));
        if of_hyperedge == Some("intra") {
            let member = r#"{"kind": "supra", "layer": ["t0"], "node": "a"}"#;
            files.column("structure/hyperedge_definitions.parquet", "members", lists(&[Some(&[member])]));
        }
        files.table(
            LAYERS,
            vec![
                ("edge_id", text(["e"])),
                ("layer_1_id", integers([first])),
                ("layer_2_id", integers([first.map(|_| 2)])),
            ],
        );
        files.with(|source| {
            let place = folder.path().join(format!("text {number}"));
            let error = write(&source.unwrap(), &place, &text_layout, 1).unwrap_err();
            assert_eq!(error.kind(), Kind::WouldLose, "{error}");
        });
    }
}
