//! The keys of terms in a dictionary. Two terms are the same term, as SPARQL's `sameTerm` sees it, if their keys are equal.
//!
//! | first byte | then |
//! |---|---|
//! | 0 | an IRI |
//! | 1 | the label of a blank node |
//! | 2 | the text of a literal of `xsd:string` |
//! | 3 | the number of the datatype (an IRI of the dictionary), and the lexical form as it was written |
//! | 4, 5, 6 | the language in lower case, a zero byte, and the text; without direction, `ltr`, `rtl` |
//! | 7 | a triple term: the numbers of its three terms |

use isomorph::error::{Error, Result};
use isomorph::model::faces::Object;
use isomorph::model::term::{Part, TermKind, kind, parts, resources};
use oxrdf::{BaseDirection, BlankNode, Literal, NamedNode, NamedOrBlankNode, Term, Triple};

use crate::dictionary::Dictionary;

/// The datatype of plain text.
const XSD_STRING: &str = "http://www.w3.org/2001/XMLSchema#string";

const IRI: u8 = 0;
const BLANK: u8 = 1;
const STRING: u8 = 2;
const TYPED: u8 = 3;
const LANGUAGE: u8 = 4;
const LEFT_TO_RIGHT: u8 = 5;
const RIGHT_TO_LEFT: u8 = 6;
const TRIPLE: u8 = 7;

/// How terms get numbers: new ones, or only those that exist.
pub(crate) trait Numbering {
    /// The number of the term with this key; `None` if it has none.
    fn number(&mut self, key: &[u8]) -> Result<Option<u32>>;
}

/// Terms that are not in the dictionary are added.
pub(crate) struct Adding<'d>(pub &'d mut Dictionary);

impl Numbering for Adding<'_> {
    fn number(&mut self, key: &[u8]) -> Result<Option<u32>> {
        self.0.add(key).map(Some)
    }
}

/// Terms that are not in the dictionary have no number.
pub(crate) struct Finding<'d>(pub &'d Dictionary);

impl Numbering for Finding<'_> {
    fn number(&mut self, key: &[u8]) -> Result<Option<u32>> {
        Ok(self.0.find(key))
    }
}

/// The number of an IRI, a blank node or a triple term, given as a canonical text of the model.
pub(crate) fn of_resource(text: &str, key: &mut Vec<u8>, terms: &mut impl Numbering) -> Result<Option<u32>> {
    match kind(text) {
        TermKind::Iri => of_bytes(IRI, text.as_bytes(), key, terms),
        TermKind::Blank => of_bytes(BLANK, text.as_bytes().get(2..).unwrap_or_default(), key, terms),
        TermKind::Triple => {
            if let Some([subject, predicate, object]) = resources(text) {
                let numbers = [
                    of_resource(subject, key, terms)?,
                    of_resource(predicate, key, terms)?,
                    of_resource(object, key, terms)?,
                ];
                return of_triple(numbers, key, terms);
            }
            let Some((subject, predicate, object)) = parts(text) else {
                return Err(Error::malformed(format!("{text} is not a triple term")));
            };
            let object = match &object {
                Part::Term(term) => Object::Term(term),
                Part::Literal(lexical, datatype, language, direction) => Object::Literal {
                    lexical,
                    datatype: datatype.as_deref().unwrap_or_default(),
                    language: language.as_deref(),
                    direction: direction.as_deref(),
                },
            };
            let numbers = [
                of_resource(&subject, key, terms)?,
                of_resource(&predicate, key, terms)?,
                of_object(&object, key, terms)?,
            ];
            of_triple(numbers, key, terms)
        }
    }
}

/// The number of an object.
pub(crate) fn of_object(object: &Object<'_>, key: &mut Vec<u8>, terms: &mut impl Numbering) -> Result<Option<u32>> {
    match *object {
        Object::Term(text) => of_resource(text, key, terms),
        Object::Literal { lexical, language: Some(language), direction, .. } => {
            let direction = match direction {
                Some("ltr") => LEFT_TO_RIGHT,
                Some("rtl") => RIGHT_TO_LEFT,
                _ => LANGUAGE,
            };
            of_language(direction, lexical, language, key, terms)
        }
        Object::Literal { lexical, datatype: "" | XSD_STRING, .. } => of_bytes(STRING, lexical.as_bytes(), key, terms),
        Object::Literal { lexical, datatype, .. } => of_typed(lexical, datatype, key, terms),
    }
}

/// The number of a term of the evaluator.
pub(crate) fn of_term(term: &Term, key: &mut Vec<u8>, terms: &mut impl Numbering) -> Result<Option<u32>> {
    match term {
        Term::NamedNode(iri) => of_bytes(IRI, iri.as_str().as_bytes(), key, terms),
        Term::BlankNode(node) => of_bytes(BLANK, node.as_str().as_bytes(), key, terms),
        Term::Literal(literal) => match literal.language() {
            Some(language) => {
                let direction = match literal.direction() {
                    None => LANGUAGE,
                    Some(BaseDirection::Ltr) => LEFT_TO_RIGHT,
                    Some(BaseDirection::Rtl) => RIGHT_TO_LEFT,
                };
                of_language(direction, literal.value(), language, key, terms)
            }
            None if literal.datatype().as_str() == XSD_STRING => {
                of_bytes(STRING, literal.value().as_bytes(), key, terms)
            }
            None => of_typed(literal.value(), literal.datatype().as_str(), key, terms),
        },
        Term::Triple(triple) => {
            let numbers = [
                of_named_or_blank(&triple.subject, key, terms)?,
                of_bytes(IRI, triple.predicate.as_str().as_bytes(), key, terms)?,
                of_term(&triple.object, key, terms)?,
            ];
            of_triple(numbers, key, terms)
        }
    }
}

/// The number of a subject or of the name of a graph.
pub(crate) fn of_named_or_blank(
    term: &NamedOrBlankNode,
    key: &mut Vec<u8>,
    terms: &mut impl Numbering,
) -> Result<Option<u32>> {
    match term {
        NamedOrBlankNode::NamedNode(iri) => of_bytes(IRI, iri.as_str().as_bytes(), key, terms),
        NamedOrBlankNode::BlankNode(node) => of_bytes(BLANK, node.as_str().as_bytes(), key, terms),
    }
}

fn of_bytes(kind: u8, text: &[u8], key: &mut Vec<u8>, terms: &mut impl Numbering) -> Result<Option<u32>> {
    key.clear();
    key.push(kind);
    key.extend_from_slice(text);
    terms.number(key)
}

fn of_typed(lexical: &str, datatype: &str, key: &mut Vec<u8>, terms: &mut impl Numbering) -> Result<Option<u32>> {
    let Some(datatype) = of_bytes(IRI, datatype.as_bytes(), key, terms)? else { return Ok(None) };
    key.clear();
    key.push(TYPED);
    key.extend_from_slice(&datatype.to_le_bytes());
    key.extend_from_slice(lexical.as_bytes());
    terms.number(key)
}

fn of_language(
    direction: u8,
    lexical: &str,
    language: &str,
    key: &mut Vec<u8>,
    terms: &mut impl Numbering,
) -> Result<Option<u32>> {
    key.clear();
    key.push(direction);
    key.extend(language.bytes().map(|byte| byte.to_ascii_lowercase()));
    key.push(0);
    key.extend_from_slice(lexical.as_bytes());
    terms.number(key)
}

fn of_triple(numbers: [Option<u32>; 3], key: &mut Vec<u8>, terms: &mut impl Numbering) -> Result<Option<u32>> {
    let [Some(subject), Some(predicate), Some(object)] = numbers else { return Ok(None) };
    key.clear();
    key.push(TRIPLE);
    for number in [subject, predicate, object] {
        key.extend_from_slice(&number.to_le_bytes());
    }
    terms.number(key)
}

/// The texts of a key.
pub(crate) enum View<'k> {
    Iri(&'k str),
    Blank(&'k str),
    /// A literal of `xsd:string`.
    Text(&'k str),
    /// A language without direction, and a text.
    Language(&'k str, &'k str),
    /// The number of a datatype, and the text as it was written.
    Typed(u32, &'k str),
    Other,
}

/// The texts of a key; `Other` for triple terms, and texts with a direction.
pub(crate) fn view(key: &[u8]) -> View<'_> {
    let text = |bytes| std::str::from_utf8(bytes).ok();
    let Some((kind, rest)) = key.split_first() else { return View::Other };
    let seen = match *kind {
        IRI => text(rest).map(View::Iri),
        BLANK => text(rest).map(View::Blank),
        STRING => text(rest).map(View::Text),
        TYPED => rest
            .split_first_chunk::<4>()
            .and_then(|(datatype, lexical)| Some(View::Typed(u32::from_le_bytes(*datatype), text(lexical)?))),
        LANGUAGE => rest
            .iter()
            .position(|byte| *byte == 0)
            .and_then(|end| Some(View::Language(text(rest.get(..end)?)?, text(rest.get(end + 1..)?)?))),
        _ => None,
    };
    seen.unwrap_or(View::Other)
}

/// The numbers inside a key, of another dictionary, are replaced by those of this one.
pub(crate) fn renumbered(key: &[u8], into: &mut Vec<u8>, number: &dyn Fn(u32) -> Option<u32>) -> Option<()> {
    into.clear();
    let (kind, rest) = key.split_first()?;
    into.push(*kind);
    let inside = match *kind {
        TYPED => 1,
        TRIPLE => 3,
        _ => 0,
    };
    let (numbers, rest) = rest.split_at_checked(4 * inside)?;
    for one in numbers.chunks_exact(4) {
        into.extend_from_slice(&number(u32::from_le_bytes(one.try_into().ok()?))?.to_le_bytes());
    }
    into.extend_from_slice(rest);
    Some(())
}

/// The term with a key.
///
/// # Errors
/// If the key is not one of a term. A dictionary has no such keys.
pub(crate) fn term(key: &[u8], terms: &Dictionary) -> Result<Term> {
    decoded(key, terms).ok_or_else(|| Error::malformed("internal error: a term of the dictionary cannot be read"))
}

fn decoded(key: &[u8], terms: &Dictionary) -> Option<Term> {
    let (kind, rest) = key.split_first()?;
    let text = |bytes: &[u8]| std::str::from_utf8(bytes).ok().map(str::to_owned);
    Some(match *kind {
        IRI => Term::NamedNode(NamedNode::new_unchecked(text(rest)?)),
        BLANK => Term::BlankNode(BlankNode::new_unchecked(text(rest)?)),
        STRING => Term::Literal(Literal::new_simple_literal(text(rest)?)),
        TYPED => {
            let (datatype, lexical) = rest.split_first_chunk::<4>()?;
            let Term::NamedNode(datatype) = decoded(terms.key(u32::from_le_bytes(*datatype))?, terms)? else {
                return None;
            };
            Term::Literal(Literal::new_typed_literal(text(lexical)?, datatype))
        }
        direction @ (LANGUAGE | LEFT_TO_RIGHT | RIGHT_TO_LEFT) => {
            let end = rest.iter().position(|byte| *byte == 0)?;
            let (language, lexical) = (text(rest.get(..end)?)?, text(rest.get(end + 1..)?)?);
            Term::Literal(match direction {
                LANGUAGE => Literal::new_language_tagged_literal_unchecked(lexical, language),
                _ => {
                    let direction = if direction == LEFT_TO_RIGHT { BaseDirection::Ltr } else { BaseDirection::Rtl };
                    Literal::new_directional_language_tagged_literal_unchecked(lexical, language, direction)
                }
            })
        }
        TRIPLE => {
            let mut inside = rest.chunks_exact(4).map(|one| {
                let number = u32::from_le_bytes(one.try_into().ok()?);
                decoded(terms.key(number)?, terms)
            });
            let (subject, predicate, object) = (inside.next()??, inside.next()??, inside.next()??);
            Term::Triple(Box::new(Triple::from_terms(subject, predicate, object).ok()?))
        }
        _ => return None,
    })
}
