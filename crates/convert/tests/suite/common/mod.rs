//! Graphs of the fixtures, as tests of tables read them.

use std::sync::Arc;

use isomorph_convert::{OpenOptions, Opened, SidecarUse, Silent, TypedOptions};
use isomorph_fixtures::fixture;
use isomorph_model::Source;
use isomorph_storage::{Location, Resources};

/// A graph as it is stored and, if its format declares no types, with the types that a survey finds.
fn add(graphs: &mut Vec<(String, Arc<dyn Source>)>, name: &str, opened: &Opened) -> isomorph_error::Result<()> {
    graphs.push((name.to_owned(), Arc::clone(&opened.graph)));
    let typed = opened.typed(&TypedOptions::default(), &Resources::of_this_machine()?, &Silent)?;
    if !Arc::ptr_eq(&typed, &opened.graph) {
        graphs.push((format!("{name}, typed"), typed));
    }
    Ok(())
}

/// The graphs with golden sidecars, seen through these and as what they are stored as.
pub fn graphs() -> Vec<(String, Arc<dyn Source>)> {
    let folder = fixture("sidecars");
    let expected = std::fs::read(folder.join("expected.json")).unwrap();
    let expected: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&expected).unwrap();
    let mut graphs = Vec::new();
    for path in expected.keys() {
        let place = Location::from_path(&folder.join(path));
        for sidecar in [SidecarUse::Auto, SidecarUse::Ignore] {
            let options = OpenOptions { sidecar, unsound: true, ..OpenOptions::default() };
            let opened = Opened::open(&place, &options).unwrap_or_else(|error| panic!("{path}: {error}"));
            add(&mut graphs, &format!("{path}, {sidecar:?}"), &opened)
                .unwrap_or_else(|error| panic!("{path}: {error}"));
        }
    }
    let typed = graphs.iter().filter(|(name, _)| name.ends_with("typed")).count();
    assert!(typed > 20, "{typed} of {} graphs", graphs.len());
    graphs
}

/// Graphs as the published libraries wrote them, and one in small chunks of every format.
pub fn others() -> Vec<(String, Arc<dyn Source>)> {
    let mut graphs = Vec::new();
    let mut open = |path: &std::path::Path| {
        let options = OpenOptions { unsound: true, ..OpenOptions::default() };
        if let Ok(opened) = Opened::open(&Location::from_path(path), &options) {
            graphs.push((path.display().to_string(), opened.graph));
        }
    };
    for folder in ["nock", "annnet", "deepgnn", "graphlake"] {
        for entry in std::fs::read_dir(fixture(folder)).unwrap() {
            let path = entry.unwrap().path();
            open(&path);
            let inner = std::fs::read_dir(&path).into_iter().flatten().map(|entry| entry.unwrap().path());
            inner.for_each(|path| open(&path));
        }
    }
    assert!(graphs.len() > 40, "{} graphs", graphs.len());
    graphs
}
