//! The names of reifiers: data with the older names remains readable as the same graph.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use isomorph_convert::{ConvertOptions, Digests, OpenOptions, Opened, Plan, Silent, convert, digest};
use isomorph_fixtures::fixture;
use isomorph_storage::{Budget, Location, Resources};

fn resources() -> Resources {
    Resources { threads: 2, budget: Budget::new(1 << 30), ..Resources::of_this_machine().unwrap() }
}

fn open(place: &Path) -> Opened {
    Opened::open(&Location::from_path(place), &OpenOptions::default()).unwrap()
}

fn digests(place: &Path) -> Digests {
    digest(open(place).graph.as_ref(), &resources(), &Silent).unwrap().digests
}

#[test]
fn stores_and_texts_with_older_names_are_the_graph_that_they_were() {
    let expected = digests(&fixture("reifiers/graph"));
    for written in ["reifiers/lake", "reifiers/text.nt"] {
        assert_eq!(digests(&fixture(written)), expected, "{written}");
    }
}

#[test]
fn stores_and_texts_of_today_equal_the_older_ones() {
    let home = tempfile::tempdir().unwrap();
    for source in ["reifiers/graph", "reifiers/lake", "reifiers/text.nt"] {
        let opened = open(&fixture(source));
        for (name, older) in [("lake", "reifiers/lake"), ("text.nt", "reifiers/text.nt")] {
            let place = home.path().join(format!("{}-{name}", source.replace('/', "-")));
            let destination = Location::from_path(&place);
            let to = if name == "lake" { isomorph_convert::Format::GRAPHLAKE } else { isomorph_convert::Format::RDF };
            let options = ConvertOptions { to: Some(to), ..ConvertOptions::default() };
            let plan = Plan::new(&opened, &destination, &options, &resources(), &Silent).unwrap();
            convert(&opened, &plan, &destination, &options, &resources(), &Silent).unwrap();
            assert_eq!(digests(&place), digests(&fixture(older)), "{source} to {name}");
        }
    }
}
