//! From format to format: each graph through files of one format, then of another, and back.

use isomorph_convert::sidecar::Sidecar;
use isomorph_convert::{Format, SidecarUse};

use crate::formats::{member, members_in_turn};
use crate::stage::{is_heavy, stage, zoo};

/// Layouts alternate, so that all pairs of them are used for some graph.
#[test]
fn graphs_survive_a_journey() {
    for (number, case) in zoo().iter().enumerate().filter(|(_, case)| !is_heavy(case)) {
        let expected = case.digests();
        let home = member(case.shape);
        if home.refuses(case) {
            continue;
        }
        for abroad in members_in_turn(number).filter(|abroad| abroad.format != case.shape && !abroad.refuses(case)) {
            let (at_home, far) = (home.layouts_for(case), abroad.layouts_for(case));
            let stages = [
                (home, &at_home[number % at_home.len()]),
                (abroad, &far[number % far.len()]),
                (abroad, &far[(number + 1) % far.len()]),
                (home, &at_home[(number + 2) % at_home.len()]),
            ];
            let mut opened = case.opened();
            let mut kept = Vec::new();
            for (member, layout) in stages {
                let what = format!("{} on its way to {}", case.name, layout.name);
                let staged = stage(&opened, member, layout).unwrap_or_else(|error| panic!("{what}: {error:?}"));
                staged.check(&what, &expected, &case.memory.graph, layout);
                opened = staged.open(SidecarUse::Auto);
                kept.push(staged);
            }
            // What tables hold without a sidecar is a graph of tables from then on.
            let is_home = opened.format_of_graph() == case.shape;
            let is_told = abroad.format.capability().node_types && opened.format_of_graph() == abroad.format;
            assert!(is_home || is_told, "{}: {}", case.name, opened.format_of_graph());
            // Back home, the files say all of the content without help, unless they hold it as something else.
            // A binary of DeepGNN does not say types of features.
            let is_told = |sidecar: &Sidecar| sidecar.mapping.kept().is_none() || case.shape == Format::DEEPGNN;
            if opened.sidecar.as_ref().is_some_and(is_told) {
                continue;
            }
            let alone = kept.last().unwrap().open(SidecarUse::Ignore);
            assert_eq!(crate::stage::digests(&alone).content, expected.content, "{}", case.name);
        }
    }
}
