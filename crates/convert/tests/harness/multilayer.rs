//! Generated multilayer hypergraphs, through annnet and through the formats with only nodes and edges.

use isomorph_convert::{Format, SidecarUse};
use isomorph_zoo::multilayer;

use crate::formats::{MEMBERS, Member, member};
use crate::stage::{Case, Staged, stage};

/// The same graphs in every run: `MULTILAYER_CASES` generates more of them, `MULTILAYER_SEED` others.
fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str, usual| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let first = number("MULTILAYER_SEED", 0);
    first..first + number("MULTILAYER_CASES", 20)
}

/// Writes with equal digests; `None` if the format says why it cannot.
fn written(what: &str, case: &Case, from: &isomorph_convert::Opened, member: &Member, at: usize) -> Option<Staged> {
    let layouts = member.layouts_for(case);
    let layout = &layouts[at % layouts.len()];
    let what = format!("{what} as {}", layout.name);
    match stage(from, member, layout) {
        Ok(staged) => {
            staged.check(&what, &case.digests(), &case.memory.graph, layout);
            Some(staged)
        }
        Err(error) => {
            assert!(error.to_string().contains("a node has no name"), "{what}: {error:?}");
            None
        }
    }
}

#[test]
fn multilayer_hypergraphs_survive_every_format_and_come_back() {
    let (mut journeys, mut refused) = (0, 0);
    for seed in seeds() {
        let what = format!("the graph of {seed}");
        let case = Case::new(&what, Format::ANNNET, multilayer(seed));
        let at = seed as usize;
        for form in 0..member(Format::ANNNET).layouts_for(&case).len() {
            written(&what, &case, &case.opened(), member(Format::ANNNET), form)
                .unwrap_or_else(|| panic!("{what}: refused by annnet"));
        }
        let home = written(&what, &case, &case.opened(), member(Format::ANNNET), at).unwrap();
        for other in MEMBERS.iter().filter(|other| other.format != Format::ANNNET) {
            let Some(abroad) = written(&what, &case, &home.open(SidecarUse::Auto), other, at) else {
                refused += 1;
                continue;
            };
            let what = format!("{what}, back from {}", other.format);
            written(&what, &case, &abroad.open(SidecarUse::Auto), member(Format::ANNNET), at + 1);
            journeys += 1;
        }
    }
    assert!(journeys > 2 * refused, "{journeys} journeys, {refused} refused");
}
