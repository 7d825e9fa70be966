//! Parameters take the place of variables, and are never a part of the text.

use isomorph::Kind;
use isomorph_sparql::{Question, QuestionOptions};

use crate::common::{ask, index, texts};

const LINES: &str = "<urn:a> <urn:p> <urn:b> .\n<urn:a> <urn:p> \"x\" .\n<urn:b> <urn:q> <urn:a> <urn:g> .\n";

fn with(query: &str, params: &[(&str, &str)]) -> isomorph::Result<Vec<String>> {
    let params = params.iter().map(|(name, term)| ((*name).to_owned(), (*term).to_owned())).collect();
    let prefixes = vec![("u".to_owned(), "urn:".to_owned())];
    let question = Question::parse(query, &QuestionOptions { params, prefixes, ..QuestionOptions::default() })?;
    ask(&question, &index(LINES, question.wanted())).map(|answer| texts(&answer))
}

#[test]
fn a_parameter_is_a_value() {
    assert_eq!(with("SELECT ?s ?o { ?s <urn:p> ?o }", &[("o", "\"x\"")]).unwrap(), ["?o=\"x\" ?s=<urn:a> "]);
    assert_eq!(with("SELECT ?s { ?s u:p ?o }", &[("?o", "u:b")]).unwrap(), ["?s=<urn:a> "]);
    assert_eq!(with("SELECT ?s { ?s u:p ?o FILTER(?o = ?v) }", &[("v", "'x'")]).unwrap(), ["?s=<urn:a> "]);
    assert_eq!(with("ASK { GRAPH ?g { ?s ?p ?o } }", &[("g", "<urn:g>")]).unwrap(), ["true"]);
    assert_eq!(with("ASK { GRAPH ?g { ?s ?p ?o } }", &[("g", "<urn:h>")]).unwrap(), ["false"]);
    let grouped = "SELECT ?s (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?s";
    let one = ["?n=\"2\"^^<http://www.w3.org/2001/XMLSchema#integer> ?s=<urn:a> "];
    assert_eq!(with(grouped, &[("s", "<urn:a>")]).unwrap(), one);
    assert!(with(grouped, &[("s", "<urn:none>")]).unwrap().is_empty());
    // A variable of a sub-query that is not selected is another one.
    let inner = "SELECT ?s ?n { ?s u:p ?o { SELECT (COUNT(?o) AS ?n) { ?z u:p ?o } } }";
    let two = ["?n=\"2\"^^<http://www.w3.org/2001/XMLSchema#integer> ?s=<urn:a> "];
    assert_eq!(with(inner, &[("o", "'x'")]).unwrap(), two);
}

#[test]
fn text_in_a_parameter_is_never_a_part_of_the_query() {
    for text in
        ["<urn:a> } } SELECT * { ?s ?p ?o", "<urn:a> <urn:b>", "UNDEF", "?x", "_:b", "", "<urn:a> # ", "\"a", "u:p|u:q"]
    {
        match with("SELECT ?s { ?s ?p ?o }", &[("o", text)]) {
            Err(error) => assert_eq!(error.kind(), Kind::Usage, "{text}"),
            // A comment after a term is no danger.
            Ok(rows) => {
                assert!(text.starts_with("<urn:a> #") && rows == ["?s=<urn:b> "] || rows.is_empty(), "{text}: {rows:?}")
            }
        }
    }
}

#[test]
fn unknown_and_assigned_variables_are_errors() {
    for (query, name) in [
        ("SELECT ?s { ?s ?p ?o }", "nobody"),
        ("SELECT ?s { ?s ?p ?o BIND(1 AS ?v) }", "v"),
        ("SELECT ?s { VALUES ?s { <urn:a> } ?s ?p ?o }", "s"),
        ("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", "n"),
        ("SELECT ?s { ?s ?p ?o }", "a b"),
    ] {
        assert_eq!(with(query, &[(name, "<urn:a>")]).unwrap_err().kind(), Kind::Usage, "{query}");
    }
    assert_eq!(with("SELECT ?s { ?s ?p ?o }", &[("p", "'x'")]).unwrap_err().kind(), Kind::Usage);
}

#[test]
fn all_variables_come_in_the_order_of_the_query() {
    for (query, names) in [
        ("SELECT * { ?s ?p ?o }", "s p o"),
        ("# SELECT *\nPREFIX select: <urn:select> SELECT DISTINCT * { ?z ?a $m . ?zz ?z ?a } LIMIT 1", "z a m zz"),
        ("SELECT ?o ?a { ?a ?p ?o }", "o a"),
    ] {
        let question = Question::parse(query, &QuestionOptions::default()).unwrap();
        match ask(&question, &index(LINES, question.wanted())).unwrap() {
            crate::common::Answered::Solutions(found, _) => assert_eq!(found.join(" "), names, "{query}"),
            other => panic!("{other:?}"),
        }
    }
}
