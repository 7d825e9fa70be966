//! Answers as messages that another process of the same version reads.

use std::sync::Arc;

use isomorph::error::{Error, Result};
use isomorph::storage::Budget;
use oxrdf::{BaseDirection, BlankNode, Literal, NamedNode, NamedOrBlankNode, Term, Triple, Variable};
use spareval::{QueryEvaluationError, QueryResults, QuerySolutionIter, QueryTripleIter};
use spargebra::Query;

use crate::answer::Answer;
use crate::question::Question;

/// Triple terms inside of each other.
const DEEPEST: u32 = 512;

/// Takes a message; false if no more are wanted.
pub type Take<'t> = &'t mut dyn FnMut(Vec<u8>) -> Result<bool>;

/// The messages of an answer, in their order.
pub type Messages<'m> = Box<dyn Iterator<Item = Result<Vec<u8>>> + 'm>;

impl Answer<'_> {
    /// Hands over the answer in messages for [`Question::received`]: the truth; triples; or the names of variables, and solutions.
    ///
    /// # Errors
    /// Those of the evaluation and of `take`; [`isomorph::Kind::Unsupported`] for a text of 4 GiB.
    pub fn send(self, take: Take<'_>) -> Result<()> {
        match self {
            Answer::Boolean(truth) => {
                take(vec![u8::from(truth)])?;
            }
            Answer::Solutions(solutions) => {
                let mut names = Vec::new();
                solutions.variables().iter().try_for_each(|variable| push_text(&mut names, variable.as_str()))?;
                take(names)?;
                for solution in solutions {
                    let mut bytes = Vec::new();
                    for term in solution?.values() {
                        match term {
                            None => bytes.push(0),
                            Some(term) => push_term(&mut bytes, term)?,
                        }
                    }
                    if !take(bytes)? {
                        break;
                    }
                }
            }
            Answer::Graph(triples) => {
                for triple in triples {
                    let mut bytes = Vec::new();
                    push_triple(&mut bytes, &triple?)?;
                    if !take(bytes)? {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

impl Question {
    /// Calls `take` with the answer that another process has sent.
    ///
    /// # Errors
    /// Those of the messages and of `take`; [`isomorph::Kind::Malformed`] for messages that no answer has.
    pub fn received<T>(
        &self,
        mut messages: Messages<'_>,
        budget: &Budget,
        take: impl FnOnce(Answer<'_>) -> Result<T>,
    ) -> Result<T> {
        let failed = |error| QueryEvaluationError::Dataset(Box::new(error));
        let results = match &self.query {
            Query::Ask { .. } => match messages.next().transpose()?.as_deref() {
                Some([truth @ (0 | 1)]) => QueryResults::Boolean(*truth == 1),
                _ => return Err(broken()),
            },
            Query::Select { .. } => {
                let names = messages.next().ok_or_else(broken)??;
                let mut reader = Reader(&names);
                let mut variables: Vec<Variable> = Vec::new();
                while !reader.0.is_empty() {
                    variables.push(Variable::new(reader.text()?).map_err(|_| broken())?);
                }
                let width = variables.len();
                let row = move |message: Result<Vec<u8>>| {
                    let message = message?;
                    let mut reader = Reader(&message);
                    let terms = (0..width).map(|_| reader.term(0)).collect::<Result<Vec<_>>>()?;
                    if reader.0.is_empty() { Ok(terms) } else { Err(broken()) }
                };
                let rows = messages.map(move |message| row(message).map_err(failed));
                QueryResults::Solutions(QuerySolutionIter::from_tuples(Arc::from(variables), rows))
            }
            Query::Construct { .. } | Query::Describe { .. } => {
                let triple = |message: Result<Vec<u8>>| Reader(&message?).triple(0);
                QueryResults::Graph(QueryTripleIter::new(messages.map(move |message| triple(message).map_err(failed))))
            }
        };
        take(Answer::new(results, None, budget)?)
    }
}

fn broken() -> Error {
    Error::malformed("the answer of another process cannot be read")
}

fn push_text(bytes: &mut Vec<u8>, text: &str) -> Result<()> {
    let length = u32::try_from(text.len()).map_err(|_| Error::unsupported("a term of 4 GiB does not travel"))?;
    bytes.extend(length.to_le_bytes());
    bytes.extend(text.as_bytes());
    Ok(())
}

fn push_texts(bytes: &mut Vec<u8>, tag: u8, texts: &[&str]) -> Result<()> {
    bytes.push(tag);
    texts.iter().try_for_each(|text| push_text(bytes, text))
}

fn push_term(bytes: &mut Vec<u8>, term: &Term) -> Result<()> {
    match term {
        Term::NamedNode(iri) => push_texts(bytes, 1, &[iri.as_str()]),
        Term::BlankNode(node) => push_texts(bytes, 2, &[node.as_str()]),
        Term::Literal(literal) => match (literal.language(), literal.direction()) {
            (None, _) => push_texts(bytes, 3, &[literal.value(), literal.datatype().as_str()]),
            (Some(language), None) => push_texts(bytes, 4, &[literal.value(), language]),
            (Some(language), Some(BaseDirection::Ltr)) => push_texts(bytes, 5, &[literal.value(), language]),
            (Some(language), Some(BaseDirection::Rtl)) => push_texts(bytes, 6, &[literal.value(), language]),
        },
        Term::Triple(triple) => {
            bytes.push(7);
            push_triple(bytes, triple)
        }
    }
}

fn push_triple(bytes: &mut Vec<u8>, triple: &Triple) -> Result<()> {
    push_term(bytes, &Term::from(triple.subject.clone()))?;
    push_text(bytes, triple.predicate.as_str())?;
    push_term(bytes, &triple.object)
}

struct Reader<'b>(&'b [u8]);

impl Reader<'_> {
    fn text(&mut self) -> Result<String> {
        let (length, rest) = self.0.split_first_chunk().ok_or_else(broken)?;
        let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| broken())?;
        let (text, rest) = rest.split_at_checked(length).ok_or_else(broken)?;
        self.0 = rest;
        std::str::from_utf8(text).map(ToOwned::to_owned).map_err(|_| broken())
    }

    /// A term; nothing for a variable without value.
    fn term(&mut self, depth: u32) -> Result<Option<Term>> {
        let (tag, rest) = self.0.split_first().ok_or_else(broken)?;
        self.0 = rest;
        Ok(Some(match tag {
            0 => return Ok(None),
            1 => NamedNode::new_unchecked(self.text()?).into(),
            2 => BlankNode::new(self.text()?).map_err(|_| broken())?.into(),
            3 => Literal::new_typed_literal(self.text()?, NamedNode::new_unchecked(self.text()?)).into(),
            4 => Literal::new_language_tagged_literal_unchecked(self.text()?, self.text()?).into(),
            5 | 6 => {
                let direction = if *tag == 5 { BaseDirection::Ltr } else { BaseDirection::Rtl };
                let (text, language) = (self.text()?, self.text()?);
                Literal::new_directional_language_tagged_literal_unchecked(text, language, direction).into()
            }
            7 => Term::Triple(Box::new(self.triple(depth + 1)?)),
            _ => return Err(broken()),
        }))
    }

    fn triple(&mut self, depth: u32) -> Result<Triple> {
        if depth > DEEPEST {
            return Err(broken());
        }
        let subject = match self.term(depth)? {
            Some(Term::NamedNode(iri)) => NamedOrBlankNode::from(iri),
            Some(Term::BlankNode(node)) => node.into(),
            _ => return Err(broken()),
        };
        let predicate = NamedNode::new_unchecked(self.text()?);
        let object = self.term(depth)?.ok_or_else(broken)?;
        Ok(Triple { subject, predicate, object })
    }
}
