//! What a binary of DeepGNN has no place for travels with it: a text is the same text after its binary.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use isomorph_convert::{
    CarryUse, Certificate, ConvertOptions, Digests, Format, OpenOptions, Opened, Plan, Resources, Silent, carry,
    convert, digest,
};
use isomorph_deepgnn::{BESIDE, TextFormat};
use isomorph_error::Kind;
use isomorph_storage::{Budget, Location};

/// Sorted as the writer sorts; features of several types, a hole alone under its id, weights of all kinds, ids that only edges know.
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
    let mut options = ConvertOptions { to: Some(Format::DeepGnn), ..ConvertOptions::default() };
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
            options.write.deepgnn.binary.partitions = partitions;
            options.no_verify = no_verify;
        });
        assert!(done.lost.is_empty(), "{:?}", done.lost);
        assert_eq!((done.result.is_none(), done.source), (no_verify, done.result));
        assert_eq!(digests(&open(&binary)), expected);
        let carried = carry::verify(&Location::from_path(&binary)).unwrap();
        assert_eq!((carried.0.digests, carried.1), ((!no_verify).then_some(expected), Vec::new()));
        // From one binary to another, where weights have other places, and back to the text.
        write(&binary, &again, |options| options.write.deepgnn.binary.partitions = 2);
        assert_eq!(digests(&open(&again)), expected);
        write(&again, &other, |_| {});
        let done = write(&other, &back, |options| options.write.deepgnn.text = Some(TextFormat::Json));
        assert_eq!((done.source, done.result), (Some(expected), Some(expected)));
        assert_eq!(digests(&open(&back)), expected);
        // What others read is what they always read.
        let alone = OpenOptions { carry: CarryUse::Ignore, ..OpenOptions::default() };
        let alone = Opened::open(&Location::from_path(&binary), &alone).unwrap();
        assert!(alone.graph.graph().nodes[0].properties.iter().all(|property| property.name != "weight"));
    }
}

#[test]
fn weights_lie_beside_only_where_one_is_not_1() {
    let home = tempfile::tempdir().unwrap();
    let (text, binary) = (home.path().join("graph.linear"), home.path().join("binary"));
    let lines: String = (0..100).map(|id| format!("-1 {id} 0 {} {id} 3 0 1\n", if id == 70 { 2 } else { 1 })).collect();
    std::fs::write(&text, lines).unwrap();
    write(&text, &binary, |options| options.write.deepgnn.binary.partitions = 4);
    let mut names: Vec<String> = std::fs::read_dir(binary.join(BESIDE))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    // Entry 17 of the third partition; those behind it weigh 1.
    assert_eq!(names, ["carry.json", "node_weights_2"]);
    assert_eq!(std::fs::metadata(binary.join(BESIDE).join("node_weights_2")).unwrap().len(), 18 * 4);
    assert_eq!(digests(&open(&binary)), digests(&open(&text)));
    // A weight that was changed is found out, and a file that is too long for its partition.
    let weights = binary.join(BESIDE).join("node_weights_2");
    std::fs::write(&weights, [0; 18 * 4]).unwrap();
    let stale = Opened::open(&Location::from_path(&binary), &OpenOptions::default()).map(|_| ()).unwrap_err();
    assert_eq!(stale.kind(), Kind::StaleCarry, "{stale:?}");
    std::fs::write(&weights, [0; 101 * 4]).unwrap();
    let schema = OpenOptions { carry: CarryUse::Schema, ..OpenOptions::default() };
    let long = Opened::open(&Location::from_path(&binary), &schema).map(|_| ()).unwrap_err();
    assert_eq!(long.kind(), Kind::Malformed, "{long:?}");
    // Dropped, all of it is gone.
    carry::remove(&Location::from_path(&binary)).unwrap();
    assert!(!binary.join(BESIDE).exists());
    let lossy = home.path().join("lossy");
    let done = write(&text, &lossy, |options| options.lossy = true);
    assert!(done.carried.is_empty() && !lossy.join(BESIDE).exists());
}

/// Two types under one id, and times without a watermark: the binary is made all the same, and says what it does not keep.
#[test]
fn what_cannot_travel_is_said() {
    let home = tempfile::tempdir().unwrap();
    let cases = [
        ("-1 1 0 1 float32 1 2\n-1 2 0 1 int64 1 2\n", "types.linear", "types of feature 0"),
        (
            "{\"node_id\": 1, \"node_type\": 0, \"node_weight\": 1, \"edge\": [{\"src_id\": 1, \"dst_id\": 2, \"edge_type\": 0, \"weight\": 1, \"created_at\": 3}]}\n",
            "times.json",
            "--watermark",
        ),
    ];
    for (lines, name, expected) in cases {
        let (text, binary) = (home.path().join(name), home.path().join(format!("{name}.binary")));
        std::fs::write(&text, lines).unwrap();
        let done = write(&text, &binary, |_| {});
        assert!(done.result.is_some() && done.carried.is_empty() && !binary.join(BESIDE).exists());
        assert!(done.lost.iter().any(|lost| lost.contains(expected)), "{:?}", done.lost);
    }
    // With a watermark they are there.
    let binary = home.path().join("with");
    let done =
        write(&home.path().join("times.json"), &binary, |options| options.write.deepgnn.binary.watermark = Some(9));
    assert_eq!((done.lost.len(), digests(&open(&binary))), (0, digests(&open(&home.path().join("times.json")))));
}
