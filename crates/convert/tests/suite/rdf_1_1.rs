//! Property graphs as RDF 1.1: no reader of it meets a triple term, and what loses nothing comes back with equal digests.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;
use std::sync::Arc;

use isomorph_convert::{
    ConvertOptions, EdgeProperties, Format, IriMap, OpenOptions, Opened, Plan, Silent, convert, digest,
};
use isomorph_error::{Error, Kind};
use isomorph_fixtures::fixture;
use isomorph_model::MemoryGraph;
use isomorph_storage::{Budget, Location, Resources};
use isomorph_zoo as zoo;

use super::flat_tables::{digests, open};

fn resources() -> Resources {
    Resources { threads: 2, budget: Budget::new(1 << 28), ..Resources::of_this_machine().unwrap() }
}

fn written(opened: &Opened, place: &Path, options: &ConvertOptions) -> Result<Plan, Error> {
    let place = Location::from_path(place);
    let plan = Plan::new(opened, &place, options, &resources(), &Silent)?;
    convert(opened, &plan, &place, options, &resources(), &Silent)?;
    Ok(plan)
}

fn options(form: EdgeProperties) -> ConvertOptions {
    ConvertOptions { to: Some(Format::RDF), rdf_1_1: Some(form), ..ConvertOptions::default() }
}

/// Whether a text has what RDF has only since 1.2.
fn is_1_2(text: &str) -> bool {
    text.contains("<<(") || text.contains("#reifies") || text.contains("VERSION") || text.contains("{|")
}

#[test]
fn the_zoo_comes_back_from_every_form_and_syntax() {
    let home = tempfile::tempdir().unwrap();
    let mut seen = 0;
    for (number, (name, memory)) in
        [zoo::property_graphs(), zoo::wide_property_graphs()].concat().into_iter().enumerate()
    {
        let graph: Arc<MemoryGraph> = Arc::new(memory);
        let opened = Opened {
            location: Location::from_path(Path::new("/memory")),
            format: Format::GRAPHAR,
            native: graph.clone(),
            sidecar: None,
            graph: graph.clone(),
            options: OpenOptions::default(),
            is_part: false,
        };
        let expected = digest(graph.as_ref(), &resources(), &Silent).unwrap();
        let forms = [EdgeProperties::Reification, EdgeProperties::Singleton, EdgeProperties::NamedGraph];
        for (at, form) in forms.into_iter().enumerate() {
            let suffix = match form {
                EdgeProperties::NamedGraph => ["nq", "trig", "jsonld"][number % 3],
                _ => ["nt", "ttl", "nq", "jsonld"][(number + at) % 4],
            };
            let place = home.path().join(format!("{number}_{form}.{suffix}"));
            match written(&opened, &place, &options(form)) {
                Ok(plan) => assert!(plan.mapping.lifting().is_some(), "{name}"),
                Err(error) => {
                    assert!(matches!(error.kind(), Kind::WouldLose | Kind::Unsupported), "{name}, {form}: {error:?}");
                    continue;
                }
            }
            let text = std::fs::read_to_string(&place).unwrap();
            assert!(!is_1_2(&text), "{name}, {form}, {suffix}");
            let back = digest(open(&place).graph.as_ref(), &resources(), &Silent).unwrap();
            assert_eq!(expected.table.differences(&back.table), [], "{name}, {form}, {suffix}");
            seen += 1;
        }
    }
    assert!(seen > 30, "{seen}");
}

#[test]
fn what_a_form_loses_is_planned_and_nothing_else_is_written() {
    let home = tempfile::tempdir().unwrap();
    let source = open(&fixture("inout/neo4j"));
    let lossy = ConvertOptions { lossy: true, ..options(EdgeProperties::Reification) };
    let plan = written(&source, &home.path().join("lossy.nt"), &lossy).unwrap();
    let losses: Vec<&str> = plan.losses.iter().map(|loss| loss.subject.as_str()).collect();
    let expected = [
        "labels of City with the name of a type",
        "labels of Person with the name of a type",
        "parallel edges of Person ─KNOWS→ Person without properties",
        "parallel edges of Person ─LIVES_IN→ City without properties",
    ];
    assert_eq!(losses, expected);
    let text = std::fs::read_to_string(home.path().join("lossy.nt")).unwrap();
    assert!(!text.contains("label#") && !text.contains("model#") && text.contains("since"), "{text}");
    let place = home.path().join("drop.nt");
    let plan = written(&source, &place, &options(EdgeProperties::Drop)).unwrap();
    let losses: Vec<String> = plan.losses.iter().map(|loss| format!("{}: {}", loss.subject, loss.becomes)).collect();
    assert!(losses.iter().any(|loss| loss.contains("properties since weight of Person ─KNOWS→ Person")), "{losses:?}");
    let text = std::fs::read_to_string(&place).unwrap();
    assert!(!text.contains("since") && !text.contains("_:") && text.contains("LIVES_IN"), "{text}");
    // Every relationship of the file is a triple, equal ones once.
    let knows = text.lines().filter(|line| line.contains("KNOWS")).count();
    let csv = std::fs::read_to_string(fixture("inout/neo4j/knows.csv")).unwrap();
    let ends = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        (cells[0].to_owned(), cells[3].to_owned())
    };
    let pairs: std::collections::BTreeSet<_> = csv.lines().skip(1).map(ends).collect();
    assert_eq!(knows, pairs.len());
}

#[test]
fn named_graphs_need_a_syntax_that_has_them() {
    let home = tempfile::tempdir().unwrap();
    let source = open(&fixture("inout/neo4j"));
    let error = written(&source, &home.path().join("a.nt"), &options(EdgeProperties::NamedGraph)).unwrap_err();
    assert_eq!(error.kind(), Kind::WouldLose, "{error:?}");
    assert!(error.hints().any(|hint| hint.contains("--edge-properties")), "{error:?}");
}

#[test]
fn triple_terms_of_a_text_are_refused_in_rdf_1_1() {
    let home = tempfile::tempdir().unwrap();
    let text = home.path().join("terms.nt");
    std::fs::write(
        &text,
        "<urn:a> <urn:p> <urn:b> .\n_:r <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> <<( <urn:a> <urn:p> <urn:b> )>> .\n",
    )
    .unwrap();
    let source = open(&text);
    let error = written(&source, &home.path().join("out.ttl"), &options(EdgeProperties::Reification)).unwrap_err();
    assert!(error.message().contains("RDF 1.1 does not have a triple term"), "{error:?}");
    assert!(!home.path().join("out.ttl").exists());
    let plain = home.path().join("plain.nt");
    std::fs::write(&plain, "<urn:a> <urn:p> \"x\"@en .\n").unwrap();
    written(&open(&plain), &home.path().join("plain.ttl"), &options(EdgeProperties::Reification)).unwrap();
    assert_eq!(digests(&open(&home.path().join("plain.ttl"))).unwrap(), digests(&open(&plain)).unwrap());
}

#[test]
fn a_plan_says_that_a_text_is_rdf_1_2() {
    let home = tempfile::tempdir().unwrap();
    let source = open(&fixture("inout/neo4j"));
    let place = Location::from_path(&home.path().join("out.ttl"));
    let options = ConvertOptions { to: Some(Format::RDF), ..ConvertOptions::default() };
    let plan = Plan::new(&source, &place, &options, &resources(), &Silent).unwrap();
    let line = plan.lines.iter().find(|line| line.subject == "RDF 1.2").unwrap();
    assert!(line.becomes.ends_with("isomorph convert neo4j out.ttl --rdf 1.1"), "{}", line.becomes);
}

/// IRIs of a vocabulary stand for names, in every form, and are read back.
#[test]
fn iris_of_a_vocabulary_come_back() {
    const MAP: &str = r#"{"prefixes": {"foaf": "http://xmlns.com/foaf/0.1/", "ex": "http://example.org/v#"},
        "types": {"Person": "foaf:Person"}, "properties": {"name": "foaf:name", "KNOWS.since": "ex:since", "City.name": "ex:label"},
        "relations": {"KNOWS": "foaf:knows"}, "keys": {"Person": "http://example.org/person/"}}"#;
    let home = tempfile::tempdir().unwrap();
    let source = open(&fixture("inout/neo4j"));
    let map = IriMap::parse(MAP).unwrap();
    for (form, name) in [
        (EdgeProperties::Reification, "a.ttl"),
        (EdgeProperties::Singleton, "b.nt"),
        (EdgeProperties::NamedGraph, "c.trig"),
    ] {
        let place = home.path().join(name);
        let options = ConvertOptions { iri_map: Some(map.clone()), ..options(form) };
        written(&source, &place, &options).unwrap();
        assert_eq!(digests(&open(&place)).unwrap(), digests(&source).unwrap(), "{form}");
    }
    let turtle = std::fs::read_to_string(home.path().join("a.ttl")).unwrap();
    for words in [
        "Person:1 a foaf:Person",
        "foaf:name \"0012\"",
        "foaf:knows Person:",
        "ex:since \"2021-08-13\"",
        "ex:label \"City 0\"",
    ] {
        assert!(turtle.contains(words), "{words}: {turtle}");
    }
    let lines = std::fs::read_to_string(home.path().join("b.nt")).unwrap();
    assert!(lines.contains("<http://xmlns.com/foaf/0.1/knows#e"), "{lines}");
    // With triple terms, too.
    let options = ConvertOptions { rdf_1_1: None, iri_map: Some(map), ..options(EdgeProperties::Drop) };
    let place = home.path().join("d.nq");
    written(&source, &place, &options).unwrap();
    assert_eq!(digests(&open(&place)).unwrap(), digests(&source).unwrap());
}

#[test]
fn names_are_given_to_iris_of_rdf() {
    let home = tempfile::tempdir().unwrap();
    let text = home.path().join("books.ttl");
    std::fs::write(
        &text,
        "@prefix ex: <http://example.org/> .\nex:b1 a ex:Book ; ex:title \"Dune\" ; ex:year 1965 ; ex:by ex:herbert .\nex:herbert ex:title \"Mr\" .\n",
    )
    .unwrap();
    let source = open(&text);
    let map = r#"{"prefixes": {"ex": "http://example.org/"}, "types": {"book": "ex:Book"}, "properties": {"title": "ex:title"}, "relations": {"written_by": "ex:by"}}"#;
    let options = ConvertOptions {
        to: Some(Format::GRAPHAR),
        iri_map: Some(IriMap::parse(map).unwrap()),
        labels_from_type: true,
        ..ConvertOptions::default()
    };
    let place = home.path().join("books");
    let plan = written(&source, &place, &options).unwrap();
    let names: Vec<&str> = plan.target.nodes[0].properties.iter().map(|property| property.name.as_str()).collect();
    assert!(names.contains(&"title") && !names.iter().any(|name| name.ends_with("org_title")), "{names:?}");
    assert_eq!(plan.target.edges[0].relation.fixed(), Some("written_by"));
    assert_eq!(digests(&open(&place)).unwrap(), digests(&source).unwrap());
}
