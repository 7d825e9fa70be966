//! The zoo through every layout of a format.

use isomorph_convert::Format;
use isomorph_error::Kind;

use crate::formats::{Member, member};
use crate::stage::{is_heavy, stage, zoo};

fn survives(member: &Member) {
    let mut refused = Vec::new();
    for case in zoo() {
        let expected = case.digests();
        let opened = case.opened();
        let mut layouts = (member.layouts)(case.rows());
        if is_heavy(&case) {
            layouts.truncate(1);
        }
        for layout in &layouts {
            let what = format!("{} as {}", case.name, layout.name);
            if !layout.keeps_order && case.has_order() {
                let error = stage(&opened, member, layout).err().unwrap_or_else(|| panic!("{what}: order lost"));
                assert_eq!(error.kind(), Kind::WouldLose, "{what}: {error:?}");
                continue;
            }
            match stage(&opened, member, layout) {
                Ok(staged) => staged.check(&what, &expected, &case.memory.graph, layout),
                Err(error) => {
                    let words = member.reason(&case).unwrap_or_else(|| panic!("{what}: {error:?}"));
                    assert!(error.to_string().contains(words), "{what}: {error}");
                    let is_refusal = matches!(error.kind(), Kind::WouldLose | Kind::Unsupported);
                    assert!(is_refusal || error.broken_rule().is_some(), "{what}: {error:?}");
                    refused.push(case.name.clone());
                }
            }
        }
    }
    // No graph is listed that was stored nevertheless, in this shape or the other.
    let listed = member.refuses.iter().map(|(name, _)| *name);
    let held: Vec<&str> = listed.filter(|name| !refused.iter().any(|own| own == name)).collect();
    assert!(held.is_empty(), "{} holds {held:?}", member.format);
}

#[test]
fn the_zoo_survives_graphar() {
    survives(member(Format::GRAPHAR));
}

#[test]
fn the_zoo_survives_nock() {
    survives(member(Format::NOCK));
}

#[test]
fn the_zoo_survives_annnet() {
    survives(member(Format::ANNNET));
}

#[test]
fn the_zoo_survives_graphlake() {
    survives(member(Format::GRAPHLAKE));
}

#[test]
fn the_zoo_survives_rdf_texts() {
    survives(member(Format::RDF));
}

#[test]
fn the_zoo_survives_deepgnn() {
    survives(member(Format::DEEPGNN));
}

#[test]
fn the_zoo_survives_graphml() {
    survives(member(Format::GRAPHML));
}

#[test]
fn the_zoo_survives_the_formats_of_neo4j() {
    for format in [Format::NEO4J, Format::APOC, Format::CYPHER] {
        survives(member(format));
    }
}

#[test]
fn the_zoo_survives_files_of_graph_tools() {
    for format in [Format::NODELINK, Format::KGX, Format::GEXF, Format::GML, Format::JGF, Format::CX2] {
        survives(member(format));
    }
}

#[test]
fn the_zoo_survives_tables() {
    for format in [Format::PARQUET, Format::CSV, Format::ARROW, Format::JSON_LINES, Format::XLSX] {
        survives(member(format));
    }
}
