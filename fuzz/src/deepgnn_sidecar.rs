//! The sidecar of a valid DeepGNN binary, with one of its files replaced by the input.

use std::collections::BTreeMap;
use std::path::Path;

use isomorph::convert::{ConvertOptions, Format, OpenOptions, Opened, Plan, SidecarUse, Silent, convert, digest};
use isomorph::{Kind, Location};

use crate::home::{home, resources};

/// Weights and times of nodes, times of edges, and several types with the same id.
const SEED: &str = r#"{"node_id": 1, "node_type": 0, "node_weight": 1.5, "created_at": 3, "float_feature": {"0": [1, 2.5]}, "edge": [{"src_id": 1, "dst_id": 2, "edge_type": 0, "weight": 0.5, "created_at": 4, "int64_feature": {"0": [7]}}, {"src_id": 1, "dst_id": 9, "edge_type": 1, "weight": 2}]}
{"node_id": 2, "node_type": 1, "node_weight": 0, "sparse_float_feature": {"0": {"coordinates": [[0, 3], [1, 4]], "values": [1, 2]}}, "edge": [{"src_id": 2, "dst_id": 2, "edge_type": 0, "weight": 1, "binary_feature": {"0": "x"}}]}
{"node_id": 5, "node_type": 1, "node_weight": 2, "binary_feature": {"0": "ab"}, "float_feature": {"1": [{"values": [1], "created_at": 2}]}, "edge": []}
"#;

fn written(folder: &Path) {
    let text = folder.join("seed.json");
    std::fs::write(&text, SEED).expect("a file");
    let open = OpenOptions { from: Some(Format::DEEPGNN), ..OpenOptions::default() };
    let opened = Opened::open(&Location::from_path(&text), &open).expect("a sound text");
    let (destination, resources) = (Location::from_path(&folder.join("made")), resources(folder));
    let options = ConvertOptions { to: Some(Format::DEEPGNN), ..ConvertOptions::default() };
    let plan = Plan::new(&opened, &destination, &options, &resources, &Silent).expect("a plan");
    convert(&opened, &plan, &destination, &options, &resources, &Silent).expect("a binary");
}

/// The files of a folder, by name.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let name = |path: &Path| path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    entries.filter(|path| path.is_file()).map(|path| (name(&path), std::fs::read(&path).expect("a file"))).collect()
}

thread_local! {
    /// The files of the binary, and those of its sidecar.
    static TEMPLATE: [BTreeMap<String, Vec<u8>>; 2] = {
        let home = home();
        written(home.path());
        let made = home.path().join("made");
        [files(&made), files(&made.join("_isomorph"))]
    };
}

const CARRY: &str = "carry.json";

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    TEMPLATE.with(|[_, beside]| {
        let beside = beside.iter().filter(|(name, _)| *name != CARRY).enumerate();
        beside.map(|(number, (_, bytes))| [&[number as u8][..], bytes].concat()).collect()
    })
}

pub(crate) fn check(data: &[u8]) {
    let Some((choice, bytes)) = data.split_first() else { return };
    let home = home();
    let graph = home.path().join("graph");
    let beside = graph.join("_isomorph");
    std::fs::create_dir_all(&beside).expect("a folder");
    TEMPLATE.with(|[binary, all]| {
        for (name, own) in binary {
            std::fs::write(graph.join(name), own).expect("a file");
        }
        let changed = usize::from(*choice) % (all.len() - 1);
        let mut number = 0;
        for (name, own) in all {
            let is_changed = name != CARRY && number == changed;
            number += usize::from(name != CARRY);
            std::fs::write(beside.join(name), if is_changed { bytes } else { own }).expect("a file");
        }
    });
    // The sidecar refers to other bytes: only types and names are taken from it.
    let open = OpenOptions { from: Some(Format::DEEPGNN), sidecar: SidecarUse::Schema, ..OpenOptions::default() };
    let read = Opened::open(&Location::from_path(&graph), &open)
        .and_then(|opened| digest(opened.graph.as_ref(), &resources(home.path()), &Silent));
    if let Err(error) = read {
        assert!(matches!(error.kind(), Kind::Malformed | Kind::TooLarge | Kind::Unsupported), "{error:?}");
    }
}
