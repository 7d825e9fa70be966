//! Records of interrupted changes: they come with the data, and list files to change.

use std::path::Path;

use isomorph::storage::Root;
use isomorph::{Kind, Location};

use crate::home::home;

pub(crate) const WORDS: &[&str] = &[
    "{\"replace\":{\"with\":\"",
    "\",\"to\":\"",
    "\",\"old\":\"",
    "\"}}",
    "{\"remove\":{\"path\":\"",
    "../",
    "/",
    "outside",
    "graph",
    "graph.yml",
    "_isomorph/",
    "_isomorph/redo-",
    "0123456789ab-1-0123456789abcdef",
    "/data/",
    "chunk0",
];

const ASIDE: &str = "_isomorph/redo-0123456789ab-1-0123456789abcdef";

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    [
        format!(r#"[{{"replace":{{"with":"{ASIDE}/data/chunk0","to":"chunk0"}}}}]"#),
        format!(
            r#"[{{"replace":{{"with":"{ASIDE}/data/new","to":"deep/new","old":"{ASIDE}/old"}}}},{{"remove":{{"path":"chunk1"}}}}]"#
        ),
        r#"[{"remove":{"path":"../outside"}}]"#.to_owned(),
        "[]".to_owned(),
    ]
    .into_iter()
    .map(String::into_bytes)
    .collect()
}

/// The steps are the input, with a correct checksum: whatever they are, nothing outside the graph is changed, and
/// opening a second time changes nothing more.
pub(crate) fn check(steps: &[u8]) {
    let Ok(steps) = serde_json::from_slice::<serde_json::Value>(steps) else { return };
    let compact = steps.to_string();
    let check = blake3::hash(compact.as_bytes()).to_hex();
    let record = format!(r#"{{"isomorph_redo":1,"steps":{compact},"check":"{check}"}}"#);
    let home = home();
    let graph = home.path().join("graph");
    for (name, text) in [("chunk0", "old"), ("chunk1", "old"), (&format!("{ASIDE}/data/chunk0"), "new")] {
        let path = graph.join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    std::fs::create_dir(graph.join(ASIDE).join("data/new")).expect("a folder");
    std::fs::write(home.path().join("outside"), "mine").expect("a file");
    std::fs::write(graph.join("_isomorph/redo.json"), record).expect("a file");
    let place = Location::from_path(&graph);
    let opened = Root::open(&place);
    assert_eq!(std::fs::read(home.path().join("outside")).ok().as_deref(), Some(&b"mine"[..]));
    assert_eq!(names(home.path()), ["graph", "outside"]);
    match opened {
        Ok(_) => {
            assert!(!graph.join("_isomorph/redo.json").exists());
            let before = names(&graph);
            Root::open(&place).expect("a graph that was opened");
            assert_eq!(names(&graph), before);
        }
        Err(error) => {
            assert!(matches!(error.kind(), Kind::Malformed | Kind::Incomplete), "{error:?}");
        }
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("a folder");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
