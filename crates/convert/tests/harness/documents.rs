//! The statements of the documentation about formats.

use std::path::Path;

use isomorph_convert::Registry;
use isomorph_model::capability::{LossOf, table};

use crate::formats::MEMBERS;
use crate::stage::{stage, zoo};

#[test]
fn the_table_of_what_formats_can_say_is_true() {
    let formats: Vec<_> =
        Registry::standard().all().iter().map(|format| (format.name(), format.capability())).collect();
    let expected = table(&formats);
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mapping.md");
    let text = std::fs::read_to_string(page).unwrap();
    let found =
        text.split_once("<!-- capabilities -->\n").and_then(|(_, rest)| rest.split_once("<!-- /capabilities -->"));
    assert_eq!(found.map(|(found, _)| found), Some(expected.as_str()), "docs/mapping.md has another table");
}

/// What the capability of a format lacks, beyond schema and order, is written in another form, and the sidecar restores
/// it; or the graph is refused. Otherwise the capability is wrong.
#[test]
fn what_cannot_be_said_is_carried_or_refused() {
    for member in MEMBERS {
        for case in zoo().iter().filter(|case| case.shape == member.format && !case.has_more()) {
            let losses = member.format.capability().losses(&case.memory.graph);
            let content: Vec<_> = losses.iter().filter(|loss| loss.of == LossOf::Content).collect();
            if content.is_empty() || member.refuses(case) {
                continue;
            }
            let what = format!("{} {}: {content:?}", member.format, case.name);
            let layouts = member.layouts_for(case);
            let staged = stage(&case.opened(), member, &layouts[0]).unwrap_or_else(|error| panic!("{what}: {error:?}"));
            assert!(!staged.certificate.carried.is_empty(), "{what}");
        }
    }
}
