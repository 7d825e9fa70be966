//! Two changes of one graph at the same time.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::path::Path;
use std::sync::{Arc, Mutex};

use common::build::{Files, text};
use common::changes::{options, table};
use common::open;
use common::write;
use isomorph_annnet::WriteOptions;
use isomorph_annnet::update::{Changes, update};
use isomorph_error::Kind;
use isomorph_model::Source;
use isomorph_storage::Location;
use isomorph_storage::fault::{Fault, FaultDisk, RealDisk};

fn addition(id: &str) -> Changes {
    Changes { vertices: vec![table(vec![("id", text([id]))])], ..Changes::default() }
}

fn has(place: &Path, id: &str) -> bool {
    let rows = open(place).unwrap().graph().nodes[0].rows;
    // Its two nodes and the new ones: look-ups distinguish a missing node from a node without edges.
    assert!(rows >= Some(3), "{rows:?}");
    let graph = open(place).unwrap();
    graph.neighbors(0, isomorph_model::NodeId::Key(id), isomorph_model::Side::Out).is_ok()
}

#[test]
fn of_two_changes_at_once_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source");
    Files::small().write(&source);
    let source = open(&source).unwrap();
    for (archive, name, step) in
        [(false, "graph", "rename to new PLACE/_isomorph/redo.json"), (true, "graph.annnet", ".tmp/data")]
    {
        let place = folder.path().join(name);
        write(&source, &place, &WriteOptions { archive, ..common::write::options() }, 2).unwrap();
        let other = Arc::new(Mutex::new(None));
        let (outcome, elsewhere) = (Arc::clone(&other), place.clone());
        let work = move || {
            let done = update(&Location::from_path(&elsewhere), &addition("other"), &options());
            *outcome.lock().unwrap() = Some(done);
        };
        // After the first has checked that nobody changed the graph, and before it changes it.
        let step = step.replace("PLACE", &place.display().to_string());
        let disk = FaultDisk::new(Arc::new(RealDisk), Fault::None).meanwhile(&step, work);
        update(&Location::from_path(&place).on_disk(Arc::new(disk)), &addition("own"), &options()).unwrap();
        let refused = other.lock().unwrap().take().unwrap().unwrap_err();
        assert_eq!(refused.kind(), Kind::Conflict, "{refused:?}");
        assert!(has(&place, "own") && !has(&place, "other"));
        update(&Location::from_path(&place), &addition("other"), &options()).unwrap();
        assert!(has(&place, "own") && has(&place, "other"));
    }
}
