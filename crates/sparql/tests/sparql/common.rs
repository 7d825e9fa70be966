//! Graphs and answers of tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use isomorph::formats::rdf::{ReadOptions, Syntax, read};
use isomorph::storage::Budget;
use isomorph_sparql::oxrdf::{Dataset, GraphName, Quad, Term, Triple};
use isomorph_sparql::{Answer, Builder, Question, QuestionOptions, TripleIndex, Wanted};

/// The answer to a query.
#[derive(Debug, Clone, PartialEq)]
pub enum Answered {
    /// Variables, and the values of each solution.
    Solutions(Vec<String>, Vec<Vec<Option<Term>>>),
    Boolean(bool),
    Graph(Vec<Triple>),
}

/// An index of the wanted quads of some N-Quads.
pub fn index(nquads: &str, wanted: Wanted) -> TripleIndex {
    let mut builder = Builder::new(&Arc::new(wanted), &Budget::new(1 << 30)).unwrap();
    read(&mut nquads.as_bytes(), Syntax::NQuads, &ReadOptions::default(), &mut |quad| builder.quad(&quad)).unwrap();
    builder.finish().unwrap()
}

pub fn parse(query: &str) -> Question {
    Question::parse(query, &QuestionOptions::default()).unwrap_or_else(|error| panic!("{query}\n{error}"))
}

/// Evaluates a query.
pub fn ask(question: &Question, graph: &TripleIndex) -> isomorph::Result<Answered> {
    question.run(graph, None, answered)
}

/// All of an answer.
pub fn answered(answer: Answer<'_>) -> isomorph::Result<Answered> {
    Ok(match answer {
        Answer::Boolean(answer) => Answered::Boolean(answer),
        Answer::Graph(triples) => Answered::Graph(triples.collect::<isomorph::Result<_>>()?),
        Answer::Solutions(solutions) => {
            let names = solutions.variables().iter().map(|name| name.as_str().to_owned()).collect();
            let rows = solutions.map(|solution| solution.map(|solution| solution.values().to_vec()));
            Answered::Solutions(names, rows.collect::<isomorph::Result<_>>()?)
        }
    })
}

/// Solutions of a query over some N-Quads, as sorted texts.
pub fn rows(query: &str, nquads: &str) -> Vec<String> {
    let question = parse(query);
    texts(&ask(&question, &index(nquads, question.wanted())).unwrap())
}

/// An answer as sorted texts.
pub fn texts(answer: &Answered) -> Vec<String> {
    let mut texts: Vec<String> = match answer {
        Answered::Boolean(answer) => vec![answer.to_string()],
        Answered::Graph(triples) => triples.iter().map(ToString::to_string).collect(),
        Answered::Solutions(names, rows) => rows.iter().map(|row| solution(names, row)).collect(),
    };
    texts.sort();
    texts
}

fn solution(names: &[String], row: &[Option<Term>]) -> String {
    let bound = names.iter().zip(row).filter_map(|(name, value)| Some((name, value.as_ref()?.to_string())));
    let bound: BTreeMap<_, _> = bound.collect();
    bound.iter().map(|(name, value)| format!("?{name}={value} ")).collect()
}

/// The quads of some N-Quads as a dataset of Oxigraph, in which evaluation uses nothing of ours but the reader.
pub fn dataset(nquads: &str) -> Dataset {
    let mut dataset = Dataset::new();
    read(&mut nquads.as_bytes(), Syntax::NQuads, &ReadOptions::default(), &mut |quad| {
        let mut line = String::new();
        isomorph::model::ntriples::push_quad(&mut line, &quad);
        dataset.insert(&line.trim().trim_end_matches('.').trim().parse::<QuadText>().unwrap().0);
        Ok(())
    })
    .unwrap();
    dataset
}

/// A quad, parsed by Oxigraph's own parser of terms.
pub struct QuadText(pub Quad);

impl std::str::FromStr for QuadText {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // Blanks separate terms, except inside literals and triple terms.
        let mut terms = Vec::new();
        let (mut term, mut quoted, mut escaped, mut depth) = (String::new(), false, false, 0);
        let letters: Vec<char> = text.chars().collect();
        for (at, letter) in letters.iter().copied().enumerate() {
            let begins = |word: &str| !quoted && letters.iter().skip(at).take(3).copied().eq(word.chars());
            if begins("<<(") {
                depth += 1;
            }
            if begins(")>>") {
                depth -= 1;
            }
            match letter {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => quoted = !quoted,
                _ => {}
            }
            if letter == ' ' && !quoted && depth == 0 {
                terms.extend((!term.is_empty()).then(|| std::mem::take(&mut term)));
            } else {
                term.push(letter);
            }
        }
        terms.extend((!term.is_empty()).then_some(term));
        let parsed: Vec<Term> = terms
            .iter()
            .map(|term| term.parse().map_err(|error| format!("{term}: {error}")))
            .collect::<Result<_, _>>()?;
        let [subject, predicate, object, rest @ ..] = parsed.as_slice() else { return Err(text.to_owned()) };
        let graph = match rest.first() {
            None => GraphName::DefaultGraph,
            Some(Term::NamedNode(name)) => name.clone().into(),
            Some(Term::BlankNode(name)) => name.clone().into(),
            Some(other) => return Err(other.to_string()),
        };
        let triple = Triple::from_terms(subject.clone(), predicate.clone(), object.clone());
        Ok(QuadText(triple.map_err(|error| error.to_string())?.in_graph(graph)))
    }
}
