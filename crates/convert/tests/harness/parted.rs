//! Labels and classes as node types: every graph that has or could have some, through each format with types, and back.

use isomorph_convert::{ConvertOptions, Format, NodeTypes, SidecarUse, TypesFrom};

use crate::formats::{Layout, member};
use crate::stage::{Case, digests, is_heavy, stage, stage_as, zoo};

/// Each format stores the graph with equal digests, and so does the graph's own format afterwards; or it is refused for
/// a reason. `turn` selects the layouts.
pub fn check(case: &Case, turn: usize, is_reason: &dyn Fn(&str) -> bool) {
    let expected = case.digests();
    for to in [Format::GRAPHAR, Format::ANNNET, Format::DEEPGNN].map(member) {
        let layouts = to.layouts_for(case);
        let layout: &Layout = &layouts[turn % layouts.len()];
        let what = format!("{}: {} by label", case.name, layout.name);
        let options = ConvertOptions { node_types: Some(NodeTypes::of(TypesFrom::Label)), ..ConvertOptions::default() };
        let staged = match stage_as(&case.opened(), to, layout, options) {
            Ok(staged) => staged,
            Err(error) => {
                assert!(is_reason(&error.to_string()), "{error:?}: {what}");
                continue;
            }
        };
        assert_eq!((staged.certificate.source, staged.certificate.result), (Some(expected), Some(expected)), "{what}");
        let opened = staged.open(SidecarUse::Auto);
        assert_eq!(digests(&opened), expected, "{what}");
        let home = member(case.shape);
        let layouts = home.layouts_for(case);
        let back = stage(&opened, home, &layouts[turn % layouts.len()])
            .unwrap_or_else(|error| panic!("{error:?}: {what}, back"));
        assert_eq!(digests(&back.open(SidecarUse::Auto)), expected, "{what}, back");
    }
}

#[test]
fn labels_of_the_zoo_are_types() {
    let by = |shape| [Format::NOCK, Format::GRAPHLAKE].contains(&shape);
    let mut checked = 0;
    for case in zoo().iter().filter(|case| by(case.shape) && !is_heavy(case)) {
        if member(Format::GRAPHAR).refuses(case) || member(case.shape).refuses(case) {
            continue;
        }
        let is_reason =
            |error: &str| case.name == "more labels than files" && error.contains("labels are written as a property");
        check(case, checked, &is_reason);
        checked += 1;
    }
    assert!(checked > 5, "{checked}");
}
