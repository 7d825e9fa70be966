//! Queries that nobody should send.

use std::time::Duration;

use isomorph::Kind;
use isomorph::storage::Budget;
use isomorph_sparql::{Builder, Question, QuestionOptions, Wanted};

use crate::common::{ask, index, parse, rows, texts};

fn refused(query: &str) -> isomorph::Error {
    Question::parse(query, &QuestionOptions::default()).map(|_| ()).unwrap_err()
}

#[test]
fn errors_have_a_line_a_column_and_what_was_expected() {
    let error = refused("SELECT ?s\nWHERE { ?s ?p }");
    assert_eq!(error.kind(), Kind::Usage);
    assert!(error.message().contains("line 2, column 16: expected"), "{error}");
    let error = refused("SELECT * WHERE { ?s foaf:knows ?o }");
    assert!(error.message().contains("the prefix foaf: is not declared"), "{error}");
    assert!(refused("").message().contains("line 1, column 1"), "{}", refused(""));
}

#[test]
fn other_servers_are_not_asked() {
    for query in [
        "SELECT * { SERVICE <http://example.org/sparql> { ?s ?p ?o } }",
        "SELECT * { ?s ?p ?o FILTER EXISTS { SERVICE SILENT <http://example.org/sparql> { ?s ?p ?o } } }",
        "ASK { SERVICE ?where { ?s ?p ?o } }",
    ] {
        let error = refused(query);
        assert_eq!(error.kind(), Kind::Unsupported, "{query}");
        assert!(error.message().contains("SERVICE"), "{error}");
    }
}

#[test]
fn functions_that_nobody_defined_are_errors() {
    let question = parse("SELECT (<http://example.org/f>(?s) AS ?x) { ?s ?p ?o }");
    let error = ask(&question, &index("<urn:a> <urn:b> <urn:c> .\n", Wanted::all())).unwrap_err();
    assert!(error.message().contains("http://example.org/f"), "{error}");
}

#[test]
fn nesting_is_bounded() {
    let deep = |open: &str, inside: &str, close: &str, times: usize| {
        format!("SELECT * {{ {} {inside} {} }}", open.repeat(times), close.repeat(times))
    };
    assert!(refused(&deep("{", "?s ?p ?o", "}", 10_000)).message().contains("nested"));
    assert!(refused(&deep("OPTIONAL {", "?s ?p ?o", "}", 1_000)).message().contains("nested"));
    // Brackets that are allowed do not overflow the stack.
    let sound = parse(&deep("{", "?s ?p ?o", "}", 200));
    assert_eq!(texts(&ask(&sound, &index("<urn:a> <urn:b> <urn:c> .\n", Wanted::all())).unwrap()).len(), 1);
    let unions = |times: usize| format!("SELECT * {{ {} }}", vec!["{ ?s ?p ?o }"; times].join(" UNION "));
    assert!(refused(&unions(20_000)).message().contains("operators inside one another"));
    assert_eq!(rows(&unions(1_000), "<urn:a> <urn:b> <urn:c> .\n").len(), 1_000);
    let sums = format!("SELECT (1{} AS ?x) {{}}", "+1".repeat(3_000));
    assert_eq!(rows(&sums, ""), ["?x=\"3001\"^^<http://www.w3.org/2001/XMLSchema#integer> "]);
}

#[test]
fn long_queries_are_answered() {
    let list: Vec<String> = (0..80_000).map(|number| format!("<urn:n{number}>")).collect();
    let query = format!("SELECT ?s {{ ?s ?p ?o FILTER(?s IN ({})) }}", list.join(", "));
    assert!(query.len() > 900_000);
    assert_eq!(rows(&query, "<urn:n79999> <urn:b> <urn:c> .\n<urn:x> <urn:b> <urn:c> .\n"), ["?s=<urn:n79999> "]);
    let triples: String = (0..200).map(|number| format!("?s <urn:p{number}> ?o{number} . ")).collect();
    assert_eq!(rows(&format!("SELECT ?s {{ {triples} }}"), "<urn:a> <urn:p0> <urn:c> .\n").len(), 0);
}

#[test]
fn cycles_end() {
    let ring: String = (0..500).map(|at| format!("<urn:n{at}> <urn:knows> <urn:n{}> .\n", (at + 1) % 500)).collect();
    let query = "SELECT (COUNT(*) AS ?n) { <urn:n0> <urn:knows>+ ?x }";
    assert_eq!(rows(query, &ring), ["?n=\"500\"^^<http://www.w3.org/2001/XMLSchema#integer> "]);
    let query = "ASK { <urn:n3> (<urn:knows>|^<urn:knows>)* <urn:n2> }";
    assert_eq!(rows(query, &ring), ["true"]);
}

#[test]
fn regular_expressions_that_explode_are_bounded() {
    let text = "a".repeat(5_000);
    let nquads = format!("<urn:a> <urn:b> \"{text}\" .\n");
    // No backtracking: linear in the text. A pattern whose automaton is too large matches nothing, as an error does.
    assert_eq!(rows("SELECT ?o { ?s ?p ?o FILTER(REGEX(?o, \"^(a+)+$\")) }", &nquads).len(), 1);
    assert_eq!(rows("SELECT ?o { ?s ?p ?o FILTER(REGEX(?o, \"(((a{100}){100}){100}){100}\")) }", &nquads).len(), 0);
}

#[test]
fn a_timeout_or_the_caller_ends_evaluation() {
    let nodes: String = (0..300).map(|at| format!("<urn:n{at}> <urn:b> <urn:c{at}> .\n")).collect();
    let question = parse("SELECT (COUNT(*) AS ?n) { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f . ?g ?t ?h }");
    let graph = index(&nodes, Wanted::all());
    let all = |answer: isomorph_sparql::Answer<'_>| match answer {
        isomorph_sparql::Answer::Solutions(solutions) => {
            solutions.map(|row| row.map(|_| ())).collect::<isomorph::Result<Vec<()>>>()
        }
        _ => panic!("no solutions"),
    };
    let error = question.run(&graph, Some(Duration::from_millis(50)), all);
    assert_eq!(error.unwrap_err().kind(), Kind::Cancelled);
    let left = || Err(isomorph::Error::usage("left"));
    let error = question.run_while(&graph, None, &left, all);
    assert_eq!(error.unwrap_err().message(), "left");
}

#[test]
fn what_was_loaded_for_all_is_enough_for_each() {
    let (one, other) = (parse("ASK { <urn:a> ?p ?o }").wanted(), parse("ASK { <urn:b> ?p ?o }").wanted());
    assert!(Wanted::all().covers(&one) && one.covers(&one));
    assert!(!one.covers(&other) && !one.covers(&Wanted::all()));
}

#[test]
fn a_graph_that_does_not_fit_is_refused() {
    let wanted = std::sync::Arc::new(Wanted::all());
    let mut builder = Builder::new(&wanted, &Budget::new(64 << 10)).unwrap();
    let mut fill = || {
        for number in 0..100_000 {
            let subject = format!("urn:n{number}");
            let object = isomorph::model::faces::Object::Term("urn:c");
            builder.quad(&isomorph::model::faces::Quad {
                subject: &subject,
                predicate: "urn:b",
                object,
                graph: None,
            })?;
        }
        Ok::<(), isomorph::Error>(())
    };
    let error = fill().unwrap_err();
    assert_eq!(error.kind(), Kind::TooLarge);
    assert!(error.hints().any(|hint| hint.contains(".lake")), "{error}");
}
