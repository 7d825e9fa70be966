//! Sidecars of older versions remain readable, with the same digests.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;

use isomorph_convert::{OpenOptions, Opened, Silent, digest};
use isomorph_fixtures::fixture;
use isomorph_storage::{Budget, Location, Resources};
use serde_json::Value;

/// The kinds of steps that sidecars name.
const STEPS: [&str; 12] =
    ["bundle", "complete", "fit", "fuse", "gather", "lift", "native", "number", "part", "reify", "relate", "shred"];

#[test]
fn everything_that_was_written_opens_with_its_digests() {
    let folder = fixture("sidecars");
    let expected = std::fs::read(folder.join("expected.json")).unwrap();
    let expected: serde_json::Map<String, Value> = serde_json::from_slice(&expected).unwrap();
    let resources = Resources { threads: 2, budget: Budget::new(1 << 30), ..Resources::of_this_machine().unwrap() };
    let mut steps = BTreeSet::new();
    for (path, said) in &expected {
        let place = Location::from_path(&folder.join(path));
        let opened = Opened::open(&place, &OpenOptions::default()).unwrap_or_else(|error| panic!("{path}: {error}"));
        let digests = digest(opened.graph.as_ref(), &resources, &Silent)
            .unwrap_or_else(|error| panic!("{path}: {error}"))
            .digests;
        let found = [("content", digests.content), ("order", digests.order), ("schema", digests.schema)];
        for (which, digest) in found {
            assert_eq!(said[which], digest.to_string().replace(' ', ""), "{path}, {which}");
        }
        steps.extend(said["steps"].as_array().unwrap().iter().map(|step| step.as_str().unwrap().to_owned()));
    }
    assert!(expected.len() >= 58, "{} graphs", expected.len());
    assert_eq!(steps.iter().map(String::as_str).collect::<Vec<_>>(), STEPS);
}
