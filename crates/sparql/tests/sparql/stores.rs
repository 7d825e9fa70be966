//! GraphLake stores: look-ups give the answers of the whole store, and updates are transactions.

use std::collections::BTreeSet;
use std::sync::Arc;

use isomorph::Location;
use isomorph::convert::{LakeLoad, Silent, load_lake as load_text_into};
use isomorph::formats::graphlake::{GraphLake, Lake, OpenOptions, WriteOptions};
use isomorph::storage::{Budget, Resources};
use isomorph_sparql::{Question, QuestionOptions, Update, Wanted, load_triples, update_lake};

use crate::common::{ask, index, parse, texts};
use crate::oracle::{self, Random};

struct Store {
    home: tempfile::TempDir,
    resources: Resources,
}

impl Store {
    fn of(nquads: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut resources = Resources::of_this_machine().unwrap();
        resources.budget = Budget::new(1 << 30);
        std::fs::write(home.path().join("a.nq"), nquads).unwrap();
        let store = Store { home, resources };
        let text = Location::from_path(&store.home.path().join("a.nq"));
        let load = LakeLoad { texts: vec![text.into()], ..LakeLoad::default() };
        load_text_into(&store.location(), &load, &store.resources, &Silent).unwrap();
        store
    }

    fn location(&self) -> Location {
        Location::from_path(&self.home.path().join("lake"))
    }

    fn open(&self) -> GraphLake {
        GraphLake::open(&self.location(), &OpenOptions::default()).unwrap()
    }

    fn ask(&self, question: &Question, wanted: Wanted) -> Vec<String> {
        let graph = load_triples(&self.open(), &Arc::new(wanted), &self.resources, &Silent).unwrap();
        texts(&ask(question, &graph).unwrap())
    }

    fn update(&self, text: &str) -> isomorph::Result<isomorph_sparql::Updated> {
        let update = Update::parse(text, &QuestionOptions::default())?;
        let lake = Lake::open(&self.location(), &OpenOptions::default(), &WriteOptions::default())?;
        update_lake(&lake, &self.location(), &OpenOptions::default(), &update, None, &self.resources, &Silent)
    }

    fn lines(&self) -> BTreeSet<String> {
        let mut lines = BTreeSet::new();
        let order = isomorph::formats::graphlake::Order::Subject;
        self.open()
            .statements(order, &mut |quad| {
                let mut line = String::new();
                isomorph::model::ntriples::push_quad(&mut line, &quad);
                lines.insert(line);
                Ok(())
            })
            .unwrap();
        lines
    }
}

#[test]
fn look_ups_give_the_answers_of_the_whole_store() {
    let mut filtered = 0;
    for seed in 0..12 {
        let mut random = Random::new(1_000 + seed);
        let nquads = oracle::graph(&mut random);
        let store = Store::of(&nquads);
        for _ in 0..12 {
            let query = oracle::query(&mut random);
            let Ok(question) = Question::parse(&query, &QuestionOptions::default()) else { continue };
            let expected = texts(&ask(&question, &index(&nquads, Wanted::all())).unwrap());
            assert_eq!(store.ask(&question, Wanted::all()), expected, "{query}\n{nquads}");
            assert_eq!(store.ask(&question, question.wanted()), expected, "{query}\n{nquads}");
            filtered += usize::from(question.wanted() != Wanted::all());
        }
    }
    assert!(filtered > 5, "{filtered}");
}

#[test]
fn both_spellings_of_a_quoted_triple_are_answered_as_in_nquads() {
    let reifies = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies>";
    let store = Store::of(&format!("<urn:r> {reifies} <<( <urn:a> <urn:p> \"x\"@EN )>> .\n"));
    let query = format!("SELECT ?r ?o {{ ?r {reifies} <<( <urn:a> <urn:p> ?o )>> }}");
    let question = parse(&query);
    assert_eq!(store.ask(&question, question.wanted()), ["?o=\"x\"@en ?r=<urn:r> "]);
    let ground = parse(&format!("ASK {{ ?r {reifies} <<( <urn:a> <urn:p> \"x\"@en )>> }}"));
    assert_eq!(store.ask(&ground, ground.wanted()), ["true"]);
    let id = isomorph::formats::graphlake::TripleId::of(
        "urn:a",
        "urn:p",
        &isomorph::model::faces::Object::Literal { lexical: "x", datatype: "", language: Some("en"), direction: None },
    );
    // In the RDF form of the store there is no such IRI.
    let by_id = parse(&format!("ASK {{ ?r {reifies} <{}> }}", id.iri()));
    assert_eq!(store.ask(&by_id, by_id.wanted()), ["false"]);
    assert_eq!(store.ask(&by_id, Wanted::all()), ["false"]);
}

#[test]
fn an_update_is_one_transaction() {
    let store = Store::of("<urn:a> <urn:p> \"1\" .\n<urn:a> <urn:p> \"2\" <urn:g> .\n");
    let done = store
        .update(
            "INSERT DATA { <urn:b> <urn:p> \"3\" . GRAPH <urn:h> { <urn:c> <urn:p> _:x } } ;
             DELETE { ?s <urn:p> ?o } INSERT { ?s <urn:q> ?o } WHERE { ?s <urn:p> ?o } ;
             MOVE GRAPH <urn:g> TO GRAPH <urn:k>",
        )
        .unwrap();
    assert_eq!(done.commit.as_ref().map(|commit| commit.version), Some(2));
    let lines = store.lines();
    assert!(lines.contains("<urn:a> <urn:q> \"1\" ."), "{lines:?}");
    assert!(lines.contains("<urn:b> <urn:q> \"3\" ."), "{lines:?}");
    assert!(lines.contains("<urn:a> <urn:p> \"2\" <urn:k> ."), "{lines:?}");
    assert!(
        lines.iter().any(|line| line.starts_with("<urn:c> <urn:p> _:") && line.ends_with("<urn:h> .")),
        "{lines:?}"
    );
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(!store.open().named_graphs().any(|name| name == "urn:g"));
    // Nothing to do, nothing written.
    assert!(store.update("DELETE WHERE { <urn:none> ?p ?o }").unwrap().commit.is_none());
    // An error leaves the store as it is.
    let error = store.update("INSERT DATA { <urn:z> <urn:p> 1 } ; DROP GRAPH <urn:none>").unwrap_err();
    assert_eq!(error.kind(), isomorph::Kind::NotFound);
    assert_eq!(store.lines(), lines);
    assert_eq!(store.update("LOAD <http://example.org/x>").unwrap_err().kind(), isomorph::Kind::Unsupported);
    store.update("CLEAR ALL").unwrap();
    assert_eq!(store.lines().len(), 0);
}

#[test]
fn updates_of_two_writers_are_both_made() {
    let store = Store::of(
        "<urn:a> <urn:count> 0 .\n".replace(" 0 ", " \"0\"^^<http://www.w3.org/2001/XMLSchema#integer> ").as_str(),
    );
    let step = "DELETE { <urn:a> <urn:count> ?n } INSERT { <urn:a> <urn:count> ?m } \
                WHERE { <urn:a> <urn:count> ?n BIND(?n + 1 AS ?m) }";
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| (0..3).for_each(|_| drop(store.update(step).unwrap())));
        }
    });
    let lines = store.lines();
    assert!(lines.contains("<urn:a> <urn:count> \"9\"^^<http://www.w3.org/2001/XMLSchema#integer> ."), "{lines:?}");
    assert_eq!(lines.len(), 1);
}

#[test]
fn random_updates_change_a_store_as_they_change_a_set() {
    for seed in 0..15 {
        let mut random = Random::new(5_000 + seed);
        let mut nquads = oracle::graph(&mut random)
            .replace("_:", "<urn:b>#")
            .replace("<urn:b>#b0", "<urn:b0>")
            .replace("<urn:b>#b1", "<urn:b1>")
            .replace("<urn:b>#g2", "<urn:g2>");
        let store = Store::of(&nquads);
        for _ in 0..4 {
            let (p, q, g) = (random.below(4), random.below(4), random.below(3));
            let update = match random.below(6) {
                0 => format!("INSERT {{ GRAPH <urn:g{g}> {{ ?s <urn:p{q}> ?o }} }} WHERE {{ ?s <urn:p{p}> ?o }}"),
                1 => format!("DELETE WHERE {{ GRAPH ?g {{ ?s <urn:p{p}> ?o }} }}"),
                2 => format!(
                    "DELETE DATA {{ <urn:n0> <urn:p{p}> <urn:n1> }} ; INSERT DATA {{ <urn:n0> <urn:p{q}> \"b\"@en }}"
                ),
                3 => format!("COPY SILENT GRAPH <urn:g{g}> TO DEFAULT"),
                4 => format!(
                    "CLEAR SILENT GRAPH <urn:g{g}> ; INSERT {{ ?s <urn:p{q}> ?o }} WHERE {{ ?s <urn:p{p}> ?o }}"
                ),
                _ => format!(
                    "WITH <urn:g{g}> DELETE {{ ?s ?p ?o }} INSERT {{ ?o <urn:p{q}> ?s }} WHERE {{ ?s ?p ?o FILTER(isIRI(?o)) }}"
                ),
            };
            store.update(&update).unwrap_or_else(|error| panic!("{update}: {error}"));
            // The same on a graph in memory.
            let parsed = Update::parse(&update, &QuestionOptions::default()).unwrap();
            let (graph, _) = parsed.apply(index(&nquads, Wanted::all()), &Budget::new(1 << 30), None).unwrap();
            let expected: BTreeSet<String> = crate::w3c::quads(&graph).iter().map(|quad| format!("{quad} .")).collect();
            let expected: BTreeSet<String> = expected.iter().map(|line| index_line(line)).collect();
            assert_eq!(store.lines(), expected, "{seed}: {update}\n{nquads}");
            nquads = expected.iter().map(|line| format!("{line}\n")).collect();
        }
    }
}

/// A line of N-Quads in our own spelling.
fn index_line(line: &str) -> String {
    let mut out = String::new();
    isomorph::formats::rdf::read(
        &mut format!("{line}\n").as_bytes(),
        isomorph::formats::rdf::Syntax::NQuads,
        &Default::default(),
        &mut |quad| {
            isomorph::model::ntriples::push_quad(&mut out, &quad);
            Ok(())
        },
    )
    .unwrap();
    out
}

#[test]
fn patterns_of_one_group_are_looked_up_for_the_values_of_others() {
    let mut nquads = String::new();
    for person in 0..1_000 {
        nquads.push_str(&format!("<urn:n{person}> <urn:name> \"name {person}\" .\n"));
        nquads.push_str(&format!("<urn:n{person}> <urn:knows> <urn:n{}> .\n", (person * 7 + 1) % 1_000));
        nquads.push_str(&format!("<urn:n{person}> <urn:knows> <urn:n{}> .\n", (person * 3 + 5) % 1_000));
    }
    let store = Store::of(&nquads);
    for (query, most) in [
        ("SELECT ?n { <urn:n77> <urn:knows> ?f . ?f <urn:name> ?n }", 10),
        ("SELECT ?n { ?f <urn:name> ?n . ?g <urn:knows> ?f . <urn:n5> <urn:knows> ?g }", 20),
        ("SELECT ?a { ?a <urn:knows> ?f . ?f <urn:name> \"name 8\" }", 10),
        // The names of those outside the group are all needed.
        ("SELECT ?n { <urn:n77> <urn:knows> ?f OPTIONAL { ?f <urn:name> ?n } }", 1_010),
    ] {
        let question = parse(query);
        let graph = load_triples(&store.open(), &Arc::new(question.wanted()), &store.resources, &Silent).unwrap();
        assert!(graph.len() <= most, "{query}: {} quads", graph.len());
        let found = texts(&ask(&question, &graph).unwrap());
        assert_eq!(found, texts(&ask(&question, &index(&nquads, Wanted::all())).unwrap()), "{query}");
        assert!(!found.is_empty(), "{query}");
    }
}

#[test]
fn paths_over_several_predicates_read_all_of_them() {
    // Of `p` there is little, of `q` more, and of `zz` nothing: what one predicate has says nothing of the ends of the others.
    let quad = |s: &str, p: &str, o: &str| format!("<http://e/{s}> <http://e/{p}> <http://e/{o}> .\n");
    let mut nquads = quad("a", "p", "b") + &quad("b", "r", "c");
    (0..40).for_each(|at| nquads += &quad(&format!("s{at}"), "q", &format!("t{}", at % 7)));
    nquads += &(quad("t3", "r", "c") + &quad("c", "q", "s1"));
    let store = Store::of(&nquads);
    let whole = index(&nquads, Wanted::all());
    let mut rows = 0;
    for path in [
        "e:q|e:zz",
        "e:zz|e:q",
        "(e:zz|e:q)+",
        "e:q+|e:v",
        "e:q|(e:q/e:zz)",
        "e:p|e:q",
        "(e:p|e:q)/e:r",
        "^e:q|((e:p|e:v)/e:r)",
        "(e:q|e:v)/e:r",
        "e:q/(e:v|e:r)",
        "e:zz|e:v",
    ] {
        let query = format!("PREFIX e: <http://e/> SELECT ?a ?b {{ ?a {path} ?b }}");
        let question = Question::parse(&query, &QuestionOptions::default()).unwrap();
        let expected = texts(&ask(&question, &whole).unwrap());
        assert_eq!(store.ask(&question, question.wanted()), expected, "{query}");
        rows += expected.len();
    }
    assert!(rows > 300, "{rows}");
}
