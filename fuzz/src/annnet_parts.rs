//! annnet: Zarr arrays, and the list of checksums.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use isomorph::Location;
use isomorph::formats::annnet::{Annnet, OpenOptions, WriteLayout};
use isomorph::tables::Compression;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::annnet::{GRAPHS, Way, assert_bad_input, check, open, written};
use crate::home::{home, resources};

pub(crate) const ZARR_WORDS: &[&str] = &[
    "\"shape\": [",
    "\"attributes\": {",
    "\"chunk_shape\": [",
    "\"data_type\": \"",
    "\"int32\"",
    "\"int64\"",
    "\"float32\"",
    "\"float64\"",
    "\"fill_value\": ",
    "\"NaN\"",
    "\"codecs\": [",
    "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}",
    "{\"name\": \"blosc\"}",
    "{\"name\": \"zstd\"}",
    "{\"name\": \"gzip\"}",
    "\"regular\"",
    "\"separator\": \".\"",
    "\"facts\": ",
    "\"built_from\": ",
];

pub(crate) const LIST_WORDS: &[&str] = &[
    "  ",
    "\n",
    "manifest.json",
    "audit/checksums.sha256",
    "../",
    "/etc/passwd",
    "structure/edge_definitions.parquet",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
];

const LIST: &str = "audit/checksums.sha256";
const MANIFEST: &str = "manifest.json";

/// A graph on disk, and its files.
struct Template {
    _home: TempDir,
    graph: PathBuf,
    files: BTreeMap<String, Vec<u8>>,
}

thread_local! {
    /// Each graph with its matrix and views, for each codec of arrays. Only the matrix has the coefficients.
    static ARRAYS: Vec<Template> = [Compression::Zstd(1), Compression::None, Compression::Lz4, Compression::Gzip(1)]
        .into_iter()
        .zip(GRAPHS)
        .map(|(compression, kept)| {
            let template = Template::new(kept, Way { compression, arrays: true, ..Way::default() });
            std::fs::remove_file(template.graph.join("structure/edge_coeffs.parquet")).expect("a file");
            template
        })
        .collect();
    static LISTED: Template = Template::new(GRAPHS[3], Way { layout: WriteLayout::Specification, ..Way::default() });
}

impl Template {
    fn new(kept: &[u8], way: Way) -> Self {
        let home = home();
        let [source, graph] = ["kept.annnet", "graph"].map(|name| home.path().join(name));
        std::fs::write(&source, kept).expect("a file");
        let resources = resources(home.path());
        let opened = open(&source, &resources).expect("a sound graph");
        written(&opened, &graph, &resources, way).expect("a sound graph");
        let mut files = BTreeMap::new();
        crate::graphar::collect(&graph, &graph, &mut files);
        Template { _home: home, graph, files }
    }

    /// Runs a function while files have other bytes.
    fn with(&self, others: &[(&str, &[u8])], work: impl FnOnce(&Path) + std::panic::UnwindSafe) {
        for (name, bytes) in others {
            std::fs::write(self.graph.join(name), bytes).expect("a file");
        }
        let done = std::panic::catch_unwind(|| work(&self.graph));
        for (name, _) in others {
            std::fs::write(self.graph.join(name), &self.files[*name]).expect("a file");
        }
        if let Err(panic) = done {
            eprintln!("with another {}", others[0].0);
            std::panic::resume_unwind(panic);
        }
    }

    /// Descriptions and chunks of arrays.
    fn of_arrays(&self) -> Vec<&str> {
        self.files.keys().map(String::as_str).filter(|name| name.contains(".zarr/")).collect()
    }
}

pub(crate) fn zarr_seeds() -> Vec<Vec<u8>> {
    ARRAYS.with(|templates| {
        let mut seeds = Vec::new();
        for (number, template) in templates.iter().enumerate() {
            for (position, name) in template.of_arrays().into_iter().enumerate() {
                // Chunks have a fixed length: those that are not compressed are mostly zeros.
                let bytes = &template.files[name];
                if bytes.len() < 1 << 13 {
                    seeds.push([&[number as u8, position as u8][..], bytes].concat());
                }
            }
        }
        seeds
    })
}

/// The input is a description or a chunk of an array of a valid graph.
pub(crate) fn check_zarr(data: &[u8]) {
    let [number, position, bytes @ ..] = data else { return };
    ARRAYS.with(|templates| {
        let template = &templates[usize::from(*number) % templates.len()];
        let names = template.of_arrays();
        template.with(&[(names[usize::from(*position) % names.len()], bytes)], check);
    });
}

pub(crate) fn list_seeds() -> Vec<Vec<u8>> {
    LISTED.with(|template| {
        let list = &template.files[LIST];
        let first = list.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        [list.as_slice(), &list[first..], b""].into_iter().map(|list| [b"1", list].concat()).collect()
    })
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The input is the list of checksums, whose checksum in the manifest is correct unless the first byte is 0. The graph
/// is opened if each line is the hash and the name of a file, and otherwise refused with the name of a file.
pub(crate) fn check_list(data: &[u8]) {
    let [fits, list @ ..] = data else { return };
    LISTED.with(|template| {
        let manifest = String::from_utf8(template.files[MANIFEST].clone()).expect("JSON");
        let manifest = match fits {
            0 => manifest,
            _ => manifest.replace(&sha256(&template.files[LIST]), &sha256(list)),
        };
        let is_sound = |line: &str| {
            let pair = line.split_once("  ");
            pair.is_some_and(|(hash, name)| {
                let own = template.files.get(name).filter(|_| name != MANIFEST && name != LIST);
                own.is_some_and(|bytes| sha256(bytes) == hash)
            })
        };
        let text = std::str::from_utf8(list);
        let sound = text.is_ok_and(|text| text.lines().all(is_sound)) && (*fits != 0 || list == template.files[LIST]);
        // These two were replaced by the target: their lines are compared with the new bytes.
        let itself = text.is_ok_and(|text| text.contains(LIST) || text.contains(MANIFEST));
        template.with(&[(LIST, list), (MANIFEST, manifest.as_bytes())], |graph| {
            match Annnet::open(&Location::from_path(graph), &OpenOptions::default()) {
                Ok(_) => assert!(sound || itself, "a list that does not hold is taken"),
                Err(error) => {
                    assert_bad_input(&error);
                    assert!(!sound, "a list that holds is refused: {error:?}");
                    assert!(error.place().file.is_some(), "no file is named: {error:?}");
                }
            }
        });
    });
}
