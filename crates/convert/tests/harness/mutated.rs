//! With one change, the digest differs, and `diff` names the change.

use isomorph_convert::{Diff, Opened, SidecarUse, Silent, diff};
use isomorph_model::digest::LineKind;
use isomorph_zoo::{Mutation, mutations};

use crate::formats::{Member, members_in_turn};
use crate::stage::{Case, is_heavy, resources, stage, zoo};

/// Number of changes of a graph that are tested in each format, spread over all of them; different ones in each layout.
const CHANGES: usize = 8;

#[test]
fn one_change_is_found_and_named() {
    let (mut named, mut refused, mut unknown) = (0, Vec::new(), Vec::new());
    for (number, case) in zoo().iter().enumerate() {
        for member in members_in_turn(number) {
            if is_heavy(case) || case.rows() > 1_000 || member.refuses(case) {
                continue;
            }
            let layouts = member.layouts_for(case);
            let layout = &layouts[number % layouts.len()];
            let staged = stage(&case.opened(), member, layout).unwrap_or_else(|error| panic!("{error:?}"));
            let opened = staged.open(SidecarUse::Auto);
            let all = mutations(&case.memory);
            let step = (all.len() / CHANGES).max(1);
            for (at, mutation) in all.iter().enumerate().skip(number % step).step_by(step) {
                let layout = &layouts[(number + at) % layouts.len()];
                let what = format!("{}, {}, as {}", case.name, mutation.what, layout.name);
                match changed(case, mutation, member, layout) {
                    Ok(changed) => {
                        named += 1;
                        is_named(&what, mutation, &opened, &changed.0);
                    }
                    Err(error) => {
                        let error = format!("{error:?}");
                        if !NOTICED.iter().any(|reason| error.contains(reason)) {
                            unknown.push(format!("{what}: {error}"));
                        }
                        refused.push(format!("{what}: {error}"));
                    }
                }
            }
        }
    }
    // A change that only verification detects was written incorrectly.
    assert!(unknown.is_empty(), "{} not named: {unknown:#?}", unknown.len());
    assert!(named > 2 * refused.len(), "{named} named, {} refused: {refused:#?}", refused.len());
}

/// Changes that are refused before anything is written: missing nodes that edges refer to, duplicate names, constructs
/// that the format lacks.
const NOTICED: &[&str] = &[
    "MODEL-DANGLING-END",
    "MODEL-REPEATED-KEY",
    // Tables take ends by key as they come; whoever reads them looks each up, and so does who verifies what was written.
    "FLAT-END",
    "FLAT-KEY",
    // The same for files of graph tools, and for texts of Neo4j.
    "GML-END",
    "GML-ID",
    "GRAPHML-END",
    "GRAPHML-ID",
    "GEXF-END",
    "GEXF-ID",
    "NODELINK-END",
    "NODELINK-ID",
    "JGF-END",
    "JGF-ID",
    "CX2-END",
    "CX2-ID",
    "NEO4J-END",
    "NEO4J-ID",
    "keys for a type that has none",
    "GAR-LABEL-MISSING",
    "CARRY-FITS",
    "the graph does not have the shape of NOCK",
    "only a table of directed edges can be typed",
    "GraphAr has no documents",
    "extra_info must be an object of texts",
    "GraphAr has one direction for each edge type",
    "all edges of such a file are directed",
    // What no GraphLake store can have.
    "GRAPHLAKE-IRI",
    "it must be ltr or rtl, with a language",
    "quads cannot represent qualifiers other than the named graph",
    // What no RDF text can have.
    "only resources, triples and literals in graphs are RDF",
    "RDF-SYNTAX",
    "is not an absolute IRI",
    "is not a label of a blank node",
    // What no graph of DeepGNN can have.
    "relations by row cannot be written as edge types here",
    "edges of DeepGNN must be directed, without keys and layers",
    "nodes of DeepGNN have no labels",
    "JSON only has edges of nodes",
    "has no feature id from 0 to 65535",
    "is not a valid edge type",
    "every element must have a type and a weight",
    "DeepGNN cannot store an empty value",
    "points of coordinates for 0 values",
    "two values of one feature",
];

fn changed(
    case: &Case,
    mutation: &Mutation,
    member: &Member,
    layout: &crate::formats::Layout,
) -> Result<(Opened, crate::stage::Staged), isomorph_error::Error> {
    let case = Case::new(&case.name, case.shape, mutation.graph.clone());
    let staged = stage(&case.opened(), member, layout)?;
    Ok((staged.open(SidecarUse::Auto), staged))
}

fn is_named(what: &str, mutation: &Mutation, before: &Opened, after: &Opened) {
    let found = diff(before.graph.as_ref(), after.graph.as_ref(), 10, &resources(), &Silent).unwrap();
    assert!(!found.equal, "{what}: not found");
    let differs = |kind: LineKind, property: Option<&str>| {
        let lines = found.lines.iter().filter(|line| !line.equal && line.line.kind == kind);
        lines.filter(|line| property.is_none_or(|property| line.line.property == property)).count() > 0
    };
    assert!(differs(mutation.kind, mutation.property.as_deref()), "{what}: {:#?}", found.lines);
    // A row of a value table about a node or an edge is named as a value.
    let kind = match mutation.kind {
        LineKind::Nodes => "node",
        LineKind::Edges => "edge",
        _ => return,
    };
    assert!(found.elements.iter().any(|element| [kind, "value"].contains(&element.kind)), "{what}: {found:#?}");
    assert!(found.differing > Some(0), "{what}");
    if let Some(property) = &mutation.property {
        says(what, property, &found);
    }
}

/// Some element differs in `property`.
fn says(what: &str, property: &str, found: &Diff) {
    let quoted = serde_json::to_string(property).unwrap();
    let mentions = |text: &Option<String>| text.as_ref().is_some_and(|text| text.contains(&quoted));
    let mut elements = found.elements.iter();
    assert!(elements.any(|element| mentions(&element.left) || mentions(&element.right)), "{what}: {found:#?}");
}
