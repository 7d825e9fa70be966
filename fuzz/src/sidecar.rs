//! The sidecar.

use std::path::Path;

use isomorph::convert::sidecar::Sidecar;
use isomorph::convert::{ConvertOptions, Format, OpenOptions, Opened, Registry, SidecarUse, Silent, digest};
use isomorph::{Error, Kind, Location};

use crate::graph::{convert_seed, seed_csv};
use crate::home::{home, resources};

pub(crate) const WORDS: &[&str] = &[
    "\"version\":1,",
    "\"mapping\":{\"steps\":[",
    "{\"bundle\":{",
    "{\"shred\":{",
    "\"typed\":",
    "\"bundled\":",
    "\"properties\":[",
    "\"nodes\":[",
    "\"edges\":[",
    "\"source\":",
    "\"target\":",
    "\"rest\"",
    "{\"column\":0}",
    "{\"member\":\"a\"}",
    "null",
    "[]",
    "{}",
    "\"int64\"",
    "\"list<string>\"",
    "\"string\"",
    "\"key\":",
    "\"labels\":",
    "\"files\":[]",
];

/// A NOCK file with its sidecar: the file is always the same, and the input is the manifest of the sidecar.
fn data(home: &Path) -> (Location, Vec<u8>) {
    let (first, graph, back) = (home.join("seed.csv"), home.join("graph"), home.join("back.csv"));
    std::fs::write(&first, seed_csv()).expect("a file");
    let to = |to| ConvertOptions { to: Some(to), ..ConvertOptions::default() };
    convert_seed(&first, &graph, &to(Format::GRAPHAR), home);
    // As a plain GraphAr graph, so that the conversion back to NOCK needs a sidecar.
    std::fs::remove_dir_all(graph.join("_isomorph")).expect("a sidecar");
    let resources = resources(home);
    let opened = Opened::open(&Location::from_path(&graph), &OpenOptions::default()).expect("a graph");
    let place = Location::from_path(&back);
    let options = to(Format::NOCK);
    let plan = isomorph::convert::Plan::new(&opened, &place, &options, &resources, &Silent).expect("a plan");
    isomorph::convert::convert(&opened, &plan, &place, &options, &resources, &Silent).expect("a conversion");
    let sidecar = std::fs::read(home.join("back.csv.isomorph/carry.json")).expect("a sidecar");
    (place, sidecar)
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let home = home();
    let sidecar: serde_json::Value = serde_json::from_slice(&data(home.path()).1).expect("JSON");
    // Without spaces, so that mutations hit significant bytes.
    vec![sidecar.to_string().into_bytes()]
}

thread_local! {
    static DATA: (tempfile::TempDir, Location) = {
        let home = home();
        let (place, _) = data(home.path());
        (home, place)
    };
}

/// A manifest that can be read is written and read back equal; whatever it says, reading with it ends with a graph or
/// an error.
pub(crate) fn check(input: &[u8]) {
    isomorph::tables::quiet_fenced_panics();
    DATA.with(|(home, place)| {
        let document = home.path().join("back.csv.isomorph/carry.json");
        std::fs::write(&document, input).expect("a file");
        match Sidecar::read(place, false, &Registry::standard()) {
            Ok(Some(sidecar)) => {
                let text = sidecar.to_json().unwrap_or_else(|error| panic!("read and not written: {error:?}"));
                std::fs::write(&document, text).expect("a file");
                let again = Sidecar::read(place, false, &Registry::standard())
                    .unwrap_or_else(|error| panic!("not read back: {error:?}"));
                assert_eq!(again, Some(sidecar));
            }
            Ok(None) => panic!("it is there"),
            Err(error) => return assert_refused(&error),
        }
        for sidecar in [SidecarUse::Auto, SidecarUse::Schema] {
            let options = OpenOptions { from: Some(Format::NOCK), sidecar, ..OpenOptions::default() };
            let read = Opened::open(place, &options)
                .and_then(|opened| digest(opened.graph.as_ref(), &resources(home.path()), &Silent));
            if let Err(error) = read {
                assert_refused(&error);
            }
        }
    });
}

fn assert_refused(error: &Error) {
    use Kind::{Malformed, NotFound, StaleSidecar, TooLarge, Unsupported, Usage};
    assert!(matches!(error.kind(), Malformed | NotFound | StaleSidecar | TooLarge | Unsupported | Usage), "{error:?}");
}
