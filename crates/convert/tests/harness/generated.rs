//! Graphs that a property test makes up, through a layout of each format.

use isomorph_convert::{Format, SidecarUse};
use isomorph_model::MemoryGraph;
use isomorph_model::zoo::arbitrary::{bundled_graph, property_graph};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::formats::MEMBERS;
use crate::stage::{Case, stage};

/// Held with equal digests by each format, and then by the next; or refused for a reason.
fn check(shape: Format, memory: MemoryGraph, layout: Index, next: Index) {
    let case = Case::new("generated", shape, memory);
    let expected = case.digests();
    for member in MEMBERS {
        let layouts = member.layouts_for(&case);
        let layout = layout.get(&layouts);
        let what = &layout.name;
        let staged = match stage(&case.opened(), member, layout) {
            Ok(staged) => staged,
            Err(error) => {
                assert!(is_reason(&error.to_string()), "{error:?}: {what}");
                continue;
            }
        };
        staged.check(what, &expected, &case.memory.graph, layout);
        let opened = staged.open(SidecarUse::Auto);
        for other in MEMBERS {
            let layouts = other.layouts_for(&case);
            let layout = next.get(&layouts);
            match stage(&opened, other, layout) {
                Ok(staged) => {
                    staged.check(&format!("{}, then {what}", layout.name), &expected, &case.memory.graph, layout)
                }
                Err(error) => assert!(is_reason(&error.to_string()), "{error:?}: {} after {what}", layout.name),
            }
        }
    }
}

/// What generated graphs have and a format may lack.
fn is_reason(error: &str) -> bool {
    const REASONS: &[&str] = &[
        "GraphAr has one direction for each edge type",
        "a character outside printable ASCII",
        "a node has no name",
        "XML does not allow the character",
        "has several values, which edge properties of GraphAr have not",
    ];
    REASONS.iter().any(|reason| error.contains(reason))
}

/// Runs a property in a thread of its own: generated strategies need more stack than test threads have.
fn run(shape: Format, graphs: fn() -> BoxedStrategy<MemoryGraph>, check: fn(Format, MemoryGraph, Index, Index)) {
    let test = move || {
        let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(24);
        let config = Config { cases, failure_persistence: None, ..Config::default() };
        let strategy = (graphs(), any::<Index>(), any::<Index>());
        // The same graphs each time: `PROPTEST_CASES` makes more of them.
        let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let run = TestRunner::new_with_rng(config, random).run(&strategy, |(graph, layout, next)| {
            check(shape, graph, layout, next);
            Ok(())
        });
        run.unwrap_or_else(|error| panic!("{error}"));
    };
    std::thread::Builder::new().stack_size(64 << 20).spawn(test).unwrap().join().unwrap();
}

#[test]
fn typed_graphs() {
    run(Format::GRAPHAR, || property_graph().boxed(), check);
}

#[test]
fn bundled_graphs() {
    run(Format::NOCK, || bundled_graph().boxed(), check);
}

#[test]
fn graphs_in_numbers() {
    run(Format::DEEPGNN, crate::texts::graphs, check);
}

/// The same through edge lists.
fn listed(shape: Format, memory: MemoryGraph, turn: Index, _: Index) {
    crate::edge_lists::check(&Case::new("generated", shape, memory), turn.index(60));
}

#[test]
fn edge_lists() {
    run(Format::GRAPHAR, || property_graph().boxed(), listed);
    run(Format::NOCK, || bundled_graph().boxed(), listed);
    run(Format::DEEPGNN, crate::texts::graphs, listed);
}

#[test]
fn bundled_graphs_by_label() {
    run(
        Format::NOCK,
        || bundled_graph().boxed(),
        |shape, memory, turn, _| {
            crate::parted::check(&Case::new("generated", shape, memory), turn.index(60), &is_reason);
        },
    );
}
