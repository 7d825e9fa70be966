//! The sidecar keeps what a binary of DeepGNN cannot store: a text is the same text after a conversion to a binary.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use isomorph_convert::{
    Certificate, ConvertOptions, Digests, Format, OpenOptions, Opened, Plan, Registry, SidecarUse, Silent, convert,
    digest, sidecar,
};
use isomorph_deepgnn::{BESIDE, TextFormat};
use isomorph_error::Kind;
use isomorph_storage::{Budget, Location, Resources};

/// Sorted like the output; features of several types, a missing feature that is alone under its id, weights of all
/// kinds, ids that only edges mention.
const JSON: &str = r#"{"node_id": 1, "node_type": 0, "node_weight": 0.1, "float_feature": {"1": [1, 2.5]}, "edge": [{"src_id": 1, "dst_id": 2, "edge_type": 0, "weight": 0.5, "int64_feature": {"0": [7]}}, {"src_id": 1, "dst_id": 9, "edge_type": 1, "weight": 2}]}
{"node_id": 2, "node_type": 1, "node_weight": 0, "sparse_float_feature": {"2": {"coordinates": [[0, 3], [1, 4]], "values": [1, 2]}}, "edge": []}
{"node_id": 5, "node_type": 1, "node_weight": 1, "binary_feature": {"3": "ab"}, "edge": [{"src_id": 5, "dst_id": 1, "edge_type": 1, "weight": 1}]}
{"node_id": 6, "node_type": 0, "node_weight": 16777217, "edge": []}
"#;

fn resources() -> Resources {
    Resources { threads: 2, budget: Budget::new(256 << 20), ..Resources::of_this_machine().unwrap() }
}

fn open(path: &Path) -> Opened {
    Opened::open(&Location::from_path(path), &OpenOptions::default())
        .unwrap_or_else(|error| panic!("{}: {error:?}", path.display()))
}

fn digests(opened: &Opened) -> Digests {
    digest(opened.graph.as_ref(), &resources(), &Silent).unwrap().digests
}

fn write(from: &Path, path: &Path, change: impl FnOnce(&mut ConvertOptions)) -> Certificate {
    let opened = open(from);
    let destination = Location::from_path(path);
    let mut options = ConvertOptions { to: Some(Format::DEEPGNN), ..ConvertOptions::default() };
    change(&mut options);
    let plan = Plan::new(&opened, &destination, &options, &resources(), &Silent).unwrap();
    convert(&opened, &plan, &destination, &options, &resources(), &Silent).unwrap()
}

#[test]
fn a_text_is_the_same_after_its_binary() {
    let home = tempfile::tempdir().unwrap();
    let text = home.path().join("graph.json");
    std::fs::write(&text, JSON).unwrap();
    let expected = digests(&open(&text));
    for (partitions, no_verify) in [(1, false), (3, false), (2, true)] {
        let [binary, again, other, back] =
            ["binary", "again", "other", "back.json"].map(|name| home.path().join(format!("{partitions}{name}")));
        let done = write(&text, &binary, |options| {
            options.write.get_mut::<isomorph_deepgnn::WriteOptions>().binary.partitions = partitions;
            options.no_verify = no_verify;
        });
        assert!(done.lost.is_empty(), "{:?}", done.lost);
        assert_eq!((done.result.is_none(), done.source), (no_verify, done.result));
        assert_eq!(digests(&open(&binary)), expected);
        let carried = sidecar::verify(&Location::from_path(&binary), &Registry::standard()).unwrap();
        assert_eq!((carried.0.digests, carried.1), ((!no_verify).then_some(expected), Vec::new()));
        // From one binary to another, with weights in another order, and back to the text.
        write(&binary, &again, |options| {
            options.write.get_mut::<isomorph_deepgnn::WriteOptions>().binary.partitions = 2
        });
        assert_eq!(digests(&open(&again)), expected);
        write(&again, &other, |_| {});
        let done = write(&other, &back, |options| {
            options.write.get_mut::<isomorph_deepgnn::WriteOptions>().text = Some(TextFormat::Json)
        });
        assert_eq!((done.source, done.result), (Some(expected), Some(expected)));
        assert_eq!(digests(&open(&back)), expected);
        // Without a sidecar, weights are recovered from the tables.
        let alone = OpenOptions { sidecar: SidecarUse::Ignore, ..OpenOptions::default() };
        let alone = Opened::open(&Location::from_path(&binary), &alone).unwrap();
        assert!(alone.graph.graph().nodes[0].properties.iter().any(|property| property.name == "weight"));
    }
}

#[test]
fn weights_lie_beside_only_where_one_is_not_1() {
    let home = tempfile::tempdir().unwrap();
    let (text, binary) = (home.path().join("graph.linear"), home.path().join("binary"));
    let lines: String = (0..100).map(|id| format!("-1 {id} 0 {} {id} 3 0 1\n", if id == 70 { 2 } else { 1 })).collect();
    std::fs::write(&text, lines).unwrap();
    write(&text, &binary, |options| options.write.get_mut::<isomorph_deepgnn::WriteOptions>().binary.partitions = 4);
    let mut names: Vec<String> = std::fs::read_dir(binary.join(BESIDE))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    // Entry 17 of the third partition; those after it have weight 1.
    assert_eq!(names, ["carry.json", "node_weights_2"]);
    assert_eq!(std::fs::metadata(binary.join(BESIDE).join("node_weights_2")).unwrap().len(), 18 * 4);
    assert_eq!(digests(&open(&binary)), digests(&open(&text)));
    // A changed weight is detected, and a file that is too long for its partition.
    let weights = binary.join(BESIDE).join("node_weights_2");
    std::fs::write(&weights, [0; 18 * 4]).unwrap();
    let stale = Opened::open(&Location::from_path(&binary), &OpenOptions::default()).map(|_| ()).unwrap_err();
    assert_eq!(stale.kind(), Kind::StaleSidecar, "{stale:?}");
    std::fs::write(&weights, [0; 101 * 4]).unwrap();
    let schema = OpenOptions { sidecar: SidecarUse::Schema, ..OpenOptions::default() };
    let long = Opened::open(&Location::from_path(&binary), &schema).map(|_| ()).unwrap_err();
    assert_eq!(long.kind(), Kind::Malformed, "{long:?}");
    // Dropping the sidecar removes all of its files.
    sidecar::remove(&Location::from_path(&binary), &Registry::standard()).unwrap();
    assert!(!binary.join(BESIDE).exists());
    let lossy = home.path().join("lossy");
    let done = write(&text, &lossy, |options| options.lossy = true);
    assert!(done.carried.is_empty() && !lossy.join(BESIDE).exists());
}

/// Times of nodes and edges, including inherited ones, and several types under one id.
const TIMES: &str = r#"{"node_id": 1, "node_type": 0, "node_weight": 1, "created_at": 3, "removed_at": 20, "float_feature": {"0": [1, 2.5]}, "edge": [{"src_id": 1, "dst_id": 2, "edge_type": 0, "weight": 0.5, "created_at": 4, "removed_at": 9, "int64_feature": {"1": [7]}}, {"src_id": 1, "dst_id": 9, "edge_type": 1, "weight": 2}]}
{"node_id": 2, "node_type": 1, "node_weight": 0.5, "created_at": -5, "binary_feature": {"0": "ab"}, "edge": [{"src_id": 2, "dst_id": 1, "edge_type": 0, "weight": 1, "created_at": 0, "binary_feature": {"1": "x"}}]}
{"node_id": 4, "node_type": 1, "node_weight": 1, "sparse_float_feature": {"0": {"coordinates": [[0, 3]], "values": [1]}}, "edge": []}
{"node_id": 5, "node_type": 1, "node_weight": 1, "float_feature": {"0": [4]}, "edge": [{"src_id": 5, "dst_id": 1, "edge_type": 1, "weight": 1, "created_at": 7, "float_feature": {"1": [1]}}]}
"#;

#[test]
fn times_and_several_types_come_back() {
    let home = tempfile::tempdir().unwrap();
    let text = home.path().join("graph.json");
    std::fs::write(&text, TIMES).unwrap();
    let expected = digests(&open(&text));
    for (partitions, watermark) in [(1, None), (3, None), (1, Some(30)), (2, Some(30))] {
        let name = |what: &str| home.path().join(format!("{partitions}{watermark:?}{what}"));
        let [binary, plain, again, back] = ["binary", "plain", "again", "back.json"].map(name);
        let into = |options: &mut ConvertOptions| {
            options.write.get_mut::<isomorph_deepgnn::WriteOptions>().binary.partitions = partitions;
            options.write.get_mut::<isomorph_deepgnn::WriteOptions>().binary.watermark = watermark;
        };
        let done = write(&text, &binary, into);
        assert!(done.lost.is_empty(), "{:?}", done.lost);
        assert_eq!((done.source, done.result), (Some(expected), Some(expected)));
        assert_eq!(digests(&open(&binary)), expected);
        // Other readers see the same as before.
        let lossy = write(&text, &plain, |options| {
            into(options);
            options.lossy = true;
        });
        for lost in ["types of feature 0", "types of feature 1", "times of nodes"] {
            assert!(lossy.lost.iter().any(|line| line.contains(lost)), "{lost}: {:?}", lossy.lost);
        }
        assert_eq!(lossy.lost.iter().any(|line| line.contains("--watermark")), watermark.is_none());
        for entry in std::fs::read_dir(&plain).unwrap() {
            let name = entry.unwrap().file_name();
            let same = std::fs::read(plain.join(&name)).unwrap() == std::fs::read(binary.join(&name)).unwrap();
            assert!(same, "{}", name.display());
        }
        // From binary to binary, which then stores the times of edges, and back to the text.
        let done = write(&binary, &again, |options| {
            options.write.get_mut::<isomorph_deepgnn::WriteOptions>().binary.partitions = 2
        });
        assert_eq!((done.lost.len(), done.result), (0, Some(expected)));
        assert_eq!(digests(&open(&again)), expected);
        let done = write(&again, &back, |options| {
            options.write.get_mut::<isomorph_deepgnn::WriteOptions>().text = Some(TextFormat::Json)
        });
        assert_eq!((done.source, done.result), (Some(expected), Some(expected)));
    }
}

#[test]
fn graphs_from_elsewhere_keep_times_and_types() {
    let home = tempfile::tempdir().unwrap();
    let text = home.path().join("graph.json");
    std::fs::write(&text, TIMES).unwrap();
    let expected = digests(&open(&text));
    for (format, name) in [(Format::GRAPHAR, "graphar"), (Format::NOCK, "nock.parq"), (Format::ANNNET, "annnet")] {
        let there = home.path().join(name);
        let [binary, back] = ["binary", "back.json"].map(|end| home.path().join(format!("{name}-{end}")));
        write(&text, &there, |options| options.to = Some(format));
        let opened = open(&there);
        let options = ConvertOptions { to: Some(Format::DEEPGNN), ..ConvertOptions::default() };
        let plan = Plan::new(&opened, &Location::from_path(&binary), &options, &resources(), &Silent).unwrap();
        let carried = plan.carried.join("\n");
        for said in ["times of nodes", "the type of each value of feature 0", "the type of each value of feature 1"] {
            assert!(carried.contains(said), "{name}: {carried}");
        }
        let done = convert(&opened, &plan, &Location::from_path(&binary), &options, &resources(), &Silent).unwrap();
        assert_eq!((done.lost.len(), done.result), (0, Some(expected)), "{name}");
        assert_eq!(digests(&open(&binary)), expected, "{name}");
        let done = write(&binary, &back, |options| {
            options.write.get_mut::<isomorph_deepgnn::WriteOptions>().text = Some(TextFormat::Json)
        });
        assert_eq!(done.result, Some(expected), "{name}");
    }
}

/// Damaged sidecar files are an error, even if the sidecar is not checked.
#[test]
fn damaged_files_beside_are_errors() {
    let home = tempfile::tempdir().unwrap();
    let (text, binary) = (home.path().join("graph.json"), home.path().join("binary"));
    std::fs::write(&text, TIMES).unwrap();
    write(&text, &binary, |_| {});
    let mut found = 0;
    for what in ["node_times_0", "edge_times_0", "node_feature_types_0", "edge_feature_types_0"] {
        let path = binary.join(BESIDE).join(what);
        let sound = std::fs::read(&path).unwrap();
        for damaged in [vec![0xff; 4], vec![0xff; sound.len() + 3], vec![0; 1600]] {
            std::fs::write(&path, &damaged).unwrap();
            let schema = OpenOptions { sidecar: SidecarUse::Schema, ..OpenOptions::default() };
            let opened = Opened::open(&Location::from_path(&binary), &schema);
            let failed = opened.and_then(|opened| digest(opened.graph.as_ref(), &resources(), &Silent));
            let error = failed.map(|_| ()).unwrap_err();
            assert_eq!(error.kind(), Kind::Malformed, "{what}: {error:?}");
            found += 1;
        }
        std::fs::write(&path, sound).unwrap();
    }
    assert_eq!(found, 12);
    open(&binary);
}

/// Values at times: dense, sparse and text, some from the creation of their element, and one without times under the
/// same id.
const VALUES_AT_TIMES: &str = r#"{"node_id": 1, "node_type": 0, "node_weight": 1, "created_at": 3, "float_feature": {"0": [{"values": [1, 2.5], "created_at": 9}, {"values": [3]}]}, "binary_feature": {"1": [{"values": "b", "created_at": 4}, {"values": "a: \u2028", "created_at": 3}]}, "edge": [{"src_id": 1, "dst_id": 2, "edge_type": 0, "weight": 1, "sparse_int8_feature": {"0": [{"coordinates": [[1, 2]], "values": [3], "created_at": 5}, {"coordinates": [4, 5], "values": [6, 7], "created_at": 6}]}}]}
{"node_id": 2, "node_type": 0, "node_weight": 1, "float_feature": {"0": [4]}, "edge": []}
"#;

#[test]
fn values_at_times_become_json_again() {
    let home = tempfile::tempdir().unwrap();
    let [text, binary, json, again] = ["graph.json", "binary", "back.json", "again"].map(|name| home.path().join(name));
    std::fs::write(&text, VALUES_AT_TIMES).unwrap();
    let opened = open(&text);
    let expected = digests(&opened);
    let names: Vec<&str> = opened.graph.graph().nodes[0].properties.iter().map(|ty| ty.name.as_str()).collect();
    assert_eq!(names[names.len() - 3..], ["0:float32", "0:float32-at-times", "1:text-at-times"]);
    let watermark = |options: &mut ConvertOptions| {
        options.write.get_mut::<isomorph_deepgnn::WriteOptions>().binary.watermark = Some(20)
    };
    write(&text, &binary, watermark);
    let done = write(&binary, &json, into_json);
    assert_eq!(done.result, Some(expected));
    // The same bytes as the text.
    write(&json, &again, watermark);
    for name in ["node_features_0_0.data", "edge_features_0_0.data"] {
        assert_eq!(std::fs::read(binary.join(name)).unwrap(), std::fs::read(again.join(name)).unwrap(), "{name}");
    }
    for (format, name) in [(Format::GRAPHAR, "graphar"), (Format::NOCK, "nock.parq"), (Format::ANNNET, "annnet")] {
        let (there, back) = (home.path().join(name), home.path().join(format!("{name}.json")));
        write(&text, &there, |options| options.to = Some(format));
        assert_eq!(write(&there, &back, into_json).result, Some(expected), "{name}");
    }
    // Without the sidecar, declared types are enough; bytes of another kind are an error.
    let declared = |node: &[(u32, &str)]| {
        let mut options = OpenOptions { sidecar: SidecarUse::Ignore, ..OpenOptions::default() };
        options.get_mut::<isomorph_deepgnn::OpenOptions>().node_features =
            node.iter().map(|(id, ty)| (*id, ty.parse().unwrap())).collect();
        options.get_mut::<isomorph_deepgnn::OpenOptions>().edge_features =
            vec![(0, "sparse-int8-at-times".parse().unwrap())];
        Opened::open(&Location::from_path(&binary), &options).unwrap()
    };
    let destination = Location::from_path(&home.path().join("declared.json"));
    let mut options = ConvertOptions { to: Some(Format::DEEPGNN), ..ConvertOptions::default() };
    options.write.get_mut::<isomorph_deepgnn::WriteOptions>().text = Some(TextFormat::Json);
    for (types, wrong) in [
        ([(0, "raw"), (1, "text-at-times")], "needs the type of its values"),
        ([(0, "float32-at-times"), (1, "text-at-times")], "not values of type float32 at times"),
    ] {
        let opened = declared(&types);
        let done = Plan::new(&opened, &destination, &options, &resources(), &Silent)
            .and_then(|plan| convert(&opened, &plan, &destination, &options, &resources(), &Silent));
        let error = done.map(|_| ()).unwrap_err();
        assert!(error.kind() == Kind::WouldLose && format!("{error:?}").contains(wrong), "{error:?}");
    }
    // The other texts cannot store them, and the plan says so.
    for format in [TextFormat::Linear, TextFormat::EdgeList, TextFormat::Tsv] {
        options.write.get_mut::<isomorph_deepgnn::WriteOptions>().text = Some(format);
        let error = Plan::new(&open(&json), &destination, &options, &resources(), &Silent).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), Kind::WouldLose, "{format}");
    }
}

fn into_json(options: &mut ConvertOptions) {
    options.write.get_mut::<isomorph_deepgnn::WriteOptions>().text = Some(TextFormat::Json);
}

/// A binary has the statements of its partitions one after another, and the first one counts: if this is not the first
/// line of the text, the graph differs.
#[test]
fn statements_that_change_their_order_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let text = home.path().join("graph.edgelist");
    std::fs::write(&text, "5,-1,0,1\n7,-1,0,4\n7,-1,1,3,int32,1,8\n9,-1,0,3\n").unwrap();
    let expected = digests(&open(&text));
    let opened = open(&text);
    for no_verify in [false, true] {
        let place = home.path().join("refused");
        let mut options = ConvertOptions { to: Some(Format::DEEPGNN), no_verify, ..ConvertOptions::default() };
        options.write.get_mut::<isomorph_deepgnn::WriteOptions>().binary.partitions = 2;
        let plan = Plan::new(&opened, &Location::from_path(&place), &options, &resources(), &Silent).unwrap();
        let refused = convert(&opened, &plan, &Location::from_path(&place), &options, &resources(), &Silent);
        let refused = refused.map(|_| ()).unwrap_err();
        assert_eq!(refused.kind(), Kind::WouldLose, "{refused:?}");
        assert!(refused.hints().any(|hint| hint.starts_with("--partitions 1")), "{refused:?}");
        assert!(!place.exists());
    }
    let one = write(&text, &home.path().join("one"), |options| {
        options.write.get_mut::<isomorph_deepgnn::WriteOptions>().binary.partitions = 1
    });
    assert_eq!((one.source, one.result), (Some(expected), Some(expected)));
    assert_eq!(digests(&open(&home.path().join("one"))), expected);
    let lossy = write(&text, &home.path().join("lossy"), |options| {
        options.write.get_mut::<isomorph_deepgnn::WriteOptions>().binary.partitions = 2;
        options.lossy = true;
    });
    assert!(lossy.lost.iter().any(|lost| lost.contains("several statements")), "{:?}", lossy.lost);
    // Equal statements make the same graph, wherever they are.
    std::fs::write(&text, "5,-1,0,1\n7,-1,0,4\n5,-1,0,1\n5,0,7,1\n").unwrap();
    let expected = digests(&open(&text));
    let same = write(&text, &home.path().join("same"), |options| {
        options.write.get_mut::<isomorph_deepgnn::WriteOptions>().binary.partitions = 2
    });
    assert_eq!((same.source, same.result), (Some(expected), Some(expected)));
    assert_eq!(digests(&open(&home.path().join("same"))), expected);
}

/// Weights in the sidecar are not used without the sidecar.
#[test]
fn weights_beside_a_binary_of_any_graph_are_read() {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    let lines = [("1", "1e-3"), ("2", "3.4e38")].map(|(id, weight)| {
        format!("{{\"node_id\": {id}, \"node_type\": 0, \"node_weight\": {weight}, \"edge\": []}}\n")
    });
    std::fs::write(at("m.json"), lines.concat()).unwrap();
    let expected = digests(&open(&at("m.json")));
    write(&at("m.json"), &at("b"), |_| {});
    for no_verify in [false, true] {
        let copy = at(&format!("c{no_verify}"));
        write(&at("b"), &copy, |options| options.no_verify = no_verify);
        assert!(copy.join(BESIDE).join("carry.json").exists());
        assert_eq!(digests(&open(&copy)), expected);
    }
}
