//! Answers that travel as messages from one process to another.

use isomorph::Kind;
use isomorph::storage::Budget;
use isomorph_sparql::Question;

use crate::common::{Answered, answered, ask, index, parse};

const QUADS: &str = "\
<urn:a> <urn:p> _:b1 .
_:b1 <urn:p> \"text \\\"x\\\" \\n €\" .
<urn:a> <urn:q> \"hej\"@sv .
<urn:a> <urn:q> \"hej\"@sv--rtl .
<urn:a> <urn:q> \"hej\"@sv--ltr .
<urn:a> <urn:r> \"01\"^^<http://www.w3.org/2001/XMLSchema#integer> .
<urn:a> <urn:s> <<( _:b1 <urn:p> <<( <urn:a> <urn:q> \"1.50\"^^<http://www.w3.org/2001/XMLSchema#decimal> )>> )>> .
";

const QUERIES: [&str; 9] = [
    "SELECT * { ?s ?p ?o }",
    "SELECT ?o ?none ?s { ?s ?p ?o OPTIONAL { ?o <urn:nothing> ?none } }",
    "SELECT (COUNT(*) AS ?n) (SUM(?o) AS ?sum) { ?s <urn:r> ?o }",
    "SELECT ?s { ?s <urn:nothing> ?o }",
    "SELECT (1 AS ?one) {}",
    "ASK { ?s <urn:r> ?o }",
    "ASK { ?s <urn:nothing> ?o }",
    "CONSTRUCT { ?s <urn:of> ?o . ?o <urn:has> ?s } { ?s ?p ?o }",
    "DESCRIBE <urn:a>",
];

/// The messages of an answer.
fn sent(question: &Question) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    let mut take = |message| {
        messages.push(message);
        Ok(true)
    };
    question.run(&index(QUADS, question.wanted()), None, |answer| answer.send(&mut take)).unwrap();
    messages
}

fn received(question: &Question, messages: Vec<Vec<u8>>) -> isomorph::Result<Answered> {
    question.received(Box::new(messages.into_iter().map(Ok)), &Budget::new(1 << 30), answered)
}

#[test]
fn answers_arrive_as_they_were_sent() {
    for text in QUERIES {
        let question = parse(text);
        let expected = ask(&question, &index(QUADS, question.wanted())).unwrap();
        assert_eq!(received(&question, sent(&question)).unwrap(), expected, "{text}");
    }
}

#[test]
fn what_is_no_answer_is_refused() {
    for text in QUERIES {
        let question = parse(text);
        let messages = sent(&question);
        let Some(last) = messages.last().filter(|last| !last.is_empty()) else { continue };
        for end in 0..last.len() {
            let mut cut = messages.clone();
            cut.last_mut().unwrap().truncate(end);
            // The beginning of names of variables may be names.
            if let Err(error) = received(&question, cut) {
                assert_eq!(error.kind(), Kind::Malformed, "{text}, {end}");
            } else {
                assert!(messages.len() == 1, "{text}, {end}");
            }
        }
    }
    let question = parse("ASK {}");
    assert_eq!(received(&question, vec![vec![2]]).unwrap_err().kind(), Kind::Malformed);
    assert_eq!(received(&question, Vec::new()).unwrap_err().kind(), Kind::Malformed);
}

#[test]
fn an_answer_ends_when_no_more_is_wanted() {
    let question = parse("SELECT * { ?s ?p ?o }");
    let mut taken = 0;
    let mut take = |_| {
        taken += 1;
        Ok(taken < 3)
    };
    question.run(&index(QUADS, question.wanted()), None, |answer| answer.send(&mut take)).unwrap();
    assert_eq!(taken, 3);
}
