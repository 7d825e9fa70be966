//! Triples about triples: stored by the ids of quoted triples, read as triple terms (R31 to R33).
#![allow(clippy::unwrap_used)]

use crate::common;

use common::{open, write};
use isomorph_graphlake::{GraphLake, Lake, OpenOptions, Order, TripleId, WriteOptions, push_quad};
use isomorph_model::faces::{Object, Quad, Quads};
use isomorph_model::{NodeId, Request, Side, Source, Tables};

const QUOTED: &str = "urn:graphlake:quoted";
const REIFIES: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies";

fn iri(id: TripleId) -> String {
    id.iri()
}

fn of<'a>(subject: &'a str, predicate: &'a str, object: Object<'a>, graph: Option<&'a str>) -> Quad<'a> {
    Quad { subject, predicate, object, graph }
}

/// A store in which `urn:r` reifies a triple with a literal, and another triple expresses doubt about a triple about
/// that.
fn store(home: &tempfile::TempDir) -> GraphLake {
    store_with(home, iri)
}

/// The same with another spelling of ids.
fn store_with(home: &tempfile::TempDir, iri: impl Fn(TripleId) -> String) -> GraphLake {
    let path = home.path().join("lake");
    let age = Object::plain("5", "http://www.w3.org/2001/XMLSchema#integer");
    let inner = iri(TripleId::of("urn:s", "urn:age", &age));
    let outer = iri(TripleId::of(&inner, "urn:by", &Object::Term("urn:me")));
    let unknown = iri(TripleId::of("urn:not", "urn:in", &Object::Term("urn:here")));
    write(&path, &WriteOptions::default(), |writer| {
        for quad in [
            of("urn:s", "urn:age", age, Some(QUOTED)),
            of(&inner, "urn:by", Object::Term("urn:me"), Some(QUOTED)),
            of("urn:r", REIFIES, Object::Term(&inner), None),
            of(&outer, "urn:doubted", Object::plain("yes", ""), None),
            of("urn:r", "urn:and", Object::Term(&unknown), None),
        ] {
            writer.push(&quad)?;
        }
        Ok(())
    })
    .unwrap();
    open(&path, &OpenOptions::default()).unwrap()
}

/// The contents in the model, as sorted lines.
fn said(lake: &GraphLake) -> Vec<String> {
    let mut lines = Vec::new();
    let mut quads = Quads::new(lake.graph(), None);
    let mut push = |quad: Quad<'_>| {
        let mut line = String::new();
        push_quad(&mut line, &quad);
        lines.push(line);
        Ok(())
    };
    for mut part in lake.scan(&Request::of(Tables::All)).unwrap() {
        part.read(&mut |batch| quads.batch(&batch, &mut push)).unwrap();
    }
    quads.finish(&mut push).unwrap();
    lines.sort();
    lines
}

const INNER: &str = r#"<<( <urn:s> <urn:age> "5"^^<http://www.w3.org/2001/XMLSchema#integer> )>>"#;

#[test]
fn ids_are_triple_terms_in_the_model() {
    let home = tempfile::tempdir().unwrap();
    let lines = said(&store(&home));
    let age = Object::plain("5", "http://www.w3.org/2001/XMLSchema#integer");
    let inner = iri(TripleId::of("urn:s", "urn:age", &age));
    let outer = iri(TripleId::of(&inner, "urn:by", &Object::Term("urn:me")));
    // RDF 1.2 has triple terms as objects only: a subject remains an IRI.
    for expected in [format!("<urn:r> <{REIFIES}> {INNER} ."), format!(r#"<{outer}> <urn:doubted> "yes" ."#)] {
        assert!(lines.contains(&expected), "{expected} is not in {lines:#?}");
    }
    // An id that cannot be resolved stays as it is.
    assert!(lines.iter().any(|line| line.starts_with("<urn:r> <urn:and> <urn:triple:sha256:")), "{lines:#?}");
}

#[test]
fn triple_terms_are_written_by_their_ids() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("written");
    let outer = format!("<<( {INNER} <urn:by> <urn:me> )>>");
    let unknown = iri(TripleId::of("urn:not", "urn:in", &Object::Term("urn:here")));
    write(&path, &WriteOptions::default(), |writer| {
        for quad in [
            of("urn:r", REIFIES, Object::Term(INNER), None),
            of(&outer, "urn:doubted", Object::plain("yes", ""), None),
            of("urn:r", "urn:and", Object::Term(&unknown), None),
        ] {
            writer.push(&quad)?;
        }
        Ok(())
    })
    .unwrap();
    let written = open(&path, &OpenOptions::default()).unwrap();
    let by_hand = store(&home);
    assert_eq!(said(&written), said(&by_hand));
    // Stored, they are also the same: each quoted triple is in the graph of quoted triples.
    let stored = |lake: &GraphLake| {
        let mut lines = Vec::new();
        lake.quads(isomorph_graphlake::Order::Subject, &mut |quad| {
            let mut line = String::new();
            push_quad(&mut line, &quad);
            lines.push(line);
            Ok(())
        })
        .unwrap();
        lines.sort();
        lines
    };
    assert_eq!(stored(&written), stored(&by_hand));
}

#[test]
fn triples_quote_one_another_so_deep_and_no_deeper() {
    let home = tempfile::tempdir().unwrap();
    let nested =
        |depth: usize| (0..depth).fold("<urn:s>".to_owned(), |inner, _| format!("<<( {inner} <urn:p> <urn:o> )>>"));
    for (depth, fits) in [(32, true), (33, false)] {
        let term = nested(depth);
        let path = home.path().join(depth.to_string());
        let quad = of("urn:r", REIFIES, Object::Term(&term), None);
        let done = write(&path, &WriteOptions::default(), |writer| writer.push(&quad));
        assert_eq!(done.is_ok(), fits, "{done:?}");
        if fits {
            assert_eq!(said(&open(&path, &OpenOptions::default()).unwrap()).len(), 1);
        }
    }
}

#[test]
fn triple_terms_have_neighbours() {
    let home = tempfile::tempdir().unwrap();
    let lake = store(&home);
    let rows = |key: &str, side| -> Vec<usize> {
        lake.neighbors(0, NodeId::Key(key), side)
            .and_then(isomorph_model::part::edge_batches)
            .unwrap()
            .iter()
            .map(|batch| batch.rows)
            .collect()
    };
    assert_eq!(rows(INNER, Side::In), [1], "what reifies it");
    assert_eq!(rows("urn:r", Side::Out), [1, 1], "by both predicates");
    let age = Object::plain("5", "http://www.w3.org/2001/XMLSchema#integer");
    let id = TripleId::of("urn:s", "urn:age", &age);
    for given in [id.to_string(), id.to_string().to_uppercase(), id.iri(), id.ni(), id.ni().replace("///", "//here/")] {
        assert_eq!(rows(&given, Side::In), [1], "{given}");
    }
}

/// The contents if ids are stored as names of RFC 6920 (R32): nothing is rewritten, and triples are found by each form.
#[test]
fn foreign_stores_may_name_triples_as_rfc_6920_does() {
    let (home, ours) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let lake = store_with(&home, |id| id.ni());
    let lines = said(&lake);
    let expected = format!("<urn:r> <{REIFIES}> {INNER} .");
    assert!(lines.contains(&expected), "{expected} is not in {lines:#?}");
    assert!(
        lines.iter().any(|line| line.starts_with("<ni:///sha-256;") && line.contains("<urn:doubted>")),
        "{lines:#?}"
    );
    assert!(lines.iter().any(|line| line.starts_with("<urn:r> <urn:and> <ni:///sha-256;")), "{lines:#?}");
    let age = Object::plain("5", "http://www.w3.org/2001/XMLSchema#integer");
    let id = TripleId::of("urn:s", "urn:age", &age);
    for given in [INNER, &id.to_string(), &id.iri(), &id.ni()] {
        assert_eq!(lake.stored(given).unwrap(), Some(id.ni()), "{given}");
        let found =
            lake.neighbors(0, NodeId::Key(given), Side::In).and_then(isomorph_model::part::edge_batches).unwrap();
        assert_eq!(found.iter().map(|batch| batch.rows).sum::<usize>(), 1, "{given}");
    }
    // In a store with ids in our form, the same names find the same triples.
    let own = store(&ours);
    assert_eq!(own.stored(&id.ni()).unwrap(), Some(id.iri()));
    assert_eq!(own.stored("urn:s").unwrap(), None);
}

#[test]
fn two_names_of_one_triple_are_told_apart() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let id = TripleId::of("urn:s", "urn:p", &Object::Term("urn:o"));
    write(&path, &WriteOptions::default(), |writer| {
        writer.push(&of("urn:s", "urn:p", Object::Term("urn:o"), Some(QUOTED)))?;
        writer.push(&of("urn:a", REIFIES, Object::Term(&id.iri()), None))?;
        writer.push(&of("urn:b", REIFIES, Object::Term(&id.ni()), None))
    })
    .unwrap();
    let lake = open(&path, &OpenOptions::default()).unwrap();
    let term = "<<( <urn:s> <urn:p> <urn:o> )>>";
    let refused = lake.stored(term).unwrap_err();
    assert!(refused.hints().any(|hint| hint.contains(&id.ni())), "{refused:?}");
    // Each is found by its own name, and the neighbours of the triple are those of both.
    assert_eq!(lake.stored(&id.ni()).unwrap(), Some(id.ni()));
    assert_eq!(lake.stored(&id.iri()).unwrap(), Some(id.iri()));
    let found = lake.neighbors(0, NodeId::Key(term), Side::In).and_then(isomorph_model::part::edge_batches).unwrap();
    assert_eq!(found.iter().map(|batch| batch.rows).sum::<usize>(), 2);
}

#[test]
fn transactions_quote_and_forget() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let (opening, writing) = (OpenOptions::default(), WriteOptions::default());
    let lake = Lake::create(&isomorph_storage::Location::from_path(&path), &opening, &writing).unwrap();
    let outer = format!("<<( {INNER} <urn:by> <urn:me> )>>");
    let reified = of("urn:r", REIFIES, Object::Term(INNER), None);
    let doubted = of(&outer, "urn:doubted", Object::plain("yes", ""), Some("urn:g"));
    let mut transaction = lake.begin().unwrap();
    [reified, doubted].iter().try_for_each(|quad| transaction.insert(quad)).unwrap();
    // Two triples, and the two that they quote.
    let done = transaction.commit().unwrap().unwrap();
    assert_eq!((done.inserted, done.quoted, done.again), (2, 2, Some(0)));
    assert_eq!(lake.log(1).unwrap()[0].triples, 2);
    let mut transaction = lake.begin().unwrap();
    transaction.insert(&reified).unwrap();
    let done = transaction.commit().unwrap().unwrap();
    assert_eq!((done.inserted, done.quoted, done.again), (1, 1, Some(1)), "what is quoted is not counted twice");
    let now = || open(&path, &opening).unwrap();
    let lines = said(&now());
    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert!(lines.contains(&format!("<urn:r> <{REIFIES}> {INNER} .")), "{lines:#?}");
    let mut transaction = lake.begin().unwrap();
    transaction.delete(&reified).unwrap();
    assert_eq!(transaction.commit().unwrap().map(|done| done.deleted), Some(1));
    // The quoted triple stays: another one quotes it, too.
    let stored = now().stored(&outer).unwrap().unwrap();
    assert_eq!(said(&now()), [format!(r#"<{stored}> <urn:doubted> "yes" <urn:g> ."#)]);
    let mut transaction = lake.begin().unwrap();
    let broken = transaction.insert(&of("urn:r", REIFIES, Object::Term("<<( nonsense"), None)).unwrap_err();
    assert_eq!(broken.broken_rule().map(|rule| rule.id), Some("GRAPHLAKE-IRI"));
}

/// If all triples of the default graph are quoted, both graphs get one pair of files: with the same bytes, but
/// different ids.
#[test]
fn quoted_copies_are_the_files_of_what_is_quoted() {
    let home = tempfile::tempdir().unwrap();
    for (name, quoted) in [("all", 1_000), ("some", 999)] {
        let path = home.path().join(name);
        let options = WriteOptions { file_bytes: 16 << 10, ..WriteOptions::default() };
        write(&path, &options, |writer| {
            for at in 0..1_000 {
                let (subject, object) = (format!("urn:s:{}", at % 97), format!("urn:o:{at}"));
                writer.push(&of(&subject, "urn:p", Object::Term(&object), None))?;
                if at < quoted {
                    let term = format!("<<( <{subject}> <urn:p> <{object}> )>>");
                    writer.push(&of(&format!("_:r{at}"), REIFIES, Object::Term(&term), None))?;
                }
            }
            Ok(())
        })
        .unwrap();
        let lake = open(&path, &OpenOptions::default()).unwrap();
        assert_eq!(common::broken(&path, &OpenOptions::default()), [""; 0], "{name}");
        let mut orders = 0;
        for order in [Order::Subject, Order::Object] {
            let of_graph = |is_wanted: &dyn Fn(&str) -> bool| {
                let graphs = lake.snapshot().graphs.iter().filter(|graph| is_wanted(&graph.name));
                let files = graphs.flat_map(|graph| match order {
                    Order::Subject => graph.subject_files.clone(),
                    Order::Object => graph.object_files.clone(),
                });
                files.filter(|file| file.predicate == "urn:p").collect::<Vec<_>>()
            };
            let (own, copies) = (of_graph(&|graph| graph != QUOTED), of_graph(&|graph| graph == QUOTED));
            let triples =
                |files: &[isomorph_graphlake::DataFile]| files.iter().map(|file| file.triple_count).sum::<u64>();
            assert_eq!((triples(&own), triples(&copies)), (1_000, quoted), "{name}");
            assert!(own.len() > 1, "{name}: {} files", own.len());
            for (own, copy) in own.iter().zip(&copies).filter(|_| name == "all") {
                assert_ne!((&own.id, &own.path), (&copy.id, &copy.path));
                assert_eq!((&own.checksum, own.size, &own.min_value), (&copy.checksum, copy.size, &copy.min_value));
                let bytes = |file: &isomorph_graphlake::DataFile| std::fs::read(path.join(&file.path)).unwrap();
                assert!(bytes(own) == bytes(copy));
                orders += 1;
            }
        }
        assert_eq!(orders > 2, name == "all");
        let said = said(&lake);
        assert_eq!(said.len() as u64, 1_000 + quoted, "{name}");
    }
}

/// A transaction cannot change the graph of quoted triples directly.
#[test]
fn transactions_leave_the_graph_of_quoted_triples_alone() {
    let store = common::store::Store::new();
    let lake = store.lake();
    let mut transaction = lake.begin().unwrap();
    let quad = Quad { subject: "urn:s", predicate: "urn:p", object: Object::Term("urn:o"), graph: Some(QUOTED) };
    let refused = [
        transaction.insert(&quad),
        transaction.delete(&quad),
        transaction.create_graph(Some(QUOTED)),
        transaction.clear_graph(Some(QUOTED)),
        transaction.drop_graph(Some(QUOTED)),
        transaction.copy_graph(None, Some(QUOTED)),
        transaction.copy_graph(Some(QUOTED), None),
        transaction.move_graph(None, Some(QUOTED)),
        transaction.move_graph(Some(QUOTED), None),
    ];
    for refused in refused {
        assert_eq!(refused.unwrap_err().broken_rule(), Some(&isomorph_graphlake::rules::RESERVED));
    }
    assert!(transaction.commit().unwrap().is_none());
}
