//! Frequent expressions, evaluated on the texts of the dictionary. What is not covered is [`Unknown`], and `spareval` evaluates it.

use std::borrow::Cow;
use std::cmp::Ordering;

use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, Term, Variable};
use spargebra::algebra::{Expression, Function};

use super::numbers::Numbers;
use super::table::UNBOUND;
use crate::term::{View, view};

/// A value of a kind that is covered. A number or boolean is in its canonical form.
#[derive(Debug, Clone)]
pub(super) enum Seen<'t> {
    Iri(Cow<'t, str>),
    Text(Cow<'t, str>),
    /// A language without direction, and a text.
    Language(Cow<'t, str>, Cow<'t, str>),
    Integer(i64),
    Boolean(bool),
}

/// The value is of another kind, or the function is another.
#[derive(Debug)]
pub(super) struct Unknown;

/// `None` is an error, or no value.
type Found<'t> = Result<Option<Seen<'t>>, Unknown>;

impl Seen<'_> {
    /// The same as a term.
    pub fn term(self) -> Term {
        match self {
            Seen::Iri(iri) => NamedNode::new_unchecked(iri).into(),
            Seen::Text(text) => Literal::new_simple_literal(text).into(),
            Seen::Language(language, text) => Literal::new_language_tagged_literal_unchecked(text, language).into(),
            Seen::Integer(value) => Literal::from(value).into(),
            Seen::Boolean(value) => Literal::from(value).into(),
        }
    }

    /// The effective boolean value.
    fn truth(&self) -> Option<bool> {
        match self {
            Seen::Boolean(value) => Some(*value),
            Seen::Integer(value) => Some(*value != 0),
            Seen::Text(text) => Some(!text.is_empty()),
            Seen::Iri(_) | Seen::Language(..) => None,
        }
    }
}

/// The value of a number.
pub(super) fn seen<'t>(numbers: &Numbers<'t>, number: u32) -> Found<'t> {
    if number == UNBOUND {
        return Ok(None);
    }
    let Some(key) = numbers.key(number) else {
        let other = numbers.other(number).ok_or(Unknown)?;
        return Ok(Some(owned(constant(&other)?)));
    };
    Ok(Some(match view(key) {
        View::Iri(iri) => Seen::Iri(iri.into()),
        View::Text(text) => Seen::Text(text.into()),
        View::Language(language, text) => Seen::Language(language.into(), text.into()),
        View::Typed(datatype, text) if datatype == numbers.integer() => Seen::Integer(canonical(text).ok_or(Unknown)?),
        _ => return Err(Unknown),
    }))
}

fn owned<'t>(seen: Seen<'_>) -> Seen<'t> {
    let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
    match seen {
        Seen::Iri(iri) => Seen::Iri(own(iri)),
        Seen::Text(text) => Seen::Text(own(text)),
        Seen::Language(language, text) => Seen::Language(own(language), own(text)),
        Seen::Integer(value) => Seen::Integer(value),
        Seen::Boolean(value) => Seen::Boolean(value),
    }
}

/// The integer of a canonical text.
fn canonical(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is = digits.len() <= 18 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let begins = digits.starts_with(|first: char| first != '0') || text == "0";
    if is && begins { text.parse().ok() } else { None }
}

fn constant(term: &Term) -> Result<Seen<'_>, Unknown> {
    match term {
        Term::NamedNode(iri) => Ok(Seen::Iri(iri.as_str().into())),
        Term::Literal(literal) => of_literal(literal),
        Term::BlankNode(_) | Term::Triple(_) => Err(Unknown),
    }
}

fn of_literal(literal: &Literal) -> Result<Seen<'_>, Unknown> {
    if literal.direction().is_some() {
        return Err(Unknown);
    }
    let value = literal.value();
    match (literal.language(), literal.datatype()) {
        (Some(language), _) => Ok(Seen::Language(language.into(), value.into())),
        (None, datatype) if datatype == xsd::STRING => Ok(Seen::Text(value.into())),
        (None, datatype) if datatype == xsd::INTEGER => Ok(Seen::Integer(canonical(value).ok_or(Unknown)?)),
        (None, datatype) if datatype == xsd::BOOLEAN && value == "true" => Ok(Seen::Boolean(true)),
        (None, datatype) if datatype == xsd::BOOLEAN && value == "false" => Ok(Seen::Boolean(false)),
        _ => Err(Unknown),
    }
}

/// The value of an expression, with these values of variables.
pub(super) fn evaluate<'t>(expression: &'t Expression, value: &dyn Fn(&Variable) -> Found<'t>) -> Found<'t> {
    let truth = |one: &'t Expression| Ok::<_, Unknown>(evaluate(one, value)?.and_then(|seen| seen.truth()));
    let boolean = |truth: Option<bool>| Ok(truth.map(Seen::Boolean));
    let compared = |left: &'t Expression, right: &'t Expression, holds: fn(Ordering) -> bool| {
        let Some(left) = evaluate(left, value)? else { return Ok(None) };
        let Some(right) = evaluate(right, value)? else { return Ok(None) };
        let order = match (&left, &right) {
            (Seen::Text(left), Seen::Text(right)) => left.cmp(right),
            (Seen::Integer(left), Seen::Integer(right)) => left.cmp(right),
            _ => return Err(Unknown),
        };
        Ok(Some(Seen::Boolean(holds(order))))
    };
    let calculated = |left: &'t Expression, right: &'t Expression, result: fn(i64, i64) -> Option<i64>| {
        let Some(left) = evaluate(left, value)? else { return Ok(None) };
        let Some(right) = evaluate(right, value)? else { return Ok(None) };
        match (&left, &right) {
            // Beyond 64 bits there are other integers.
            (Seen::Integer(left), Seen::Integer(right)) => {
                result(*left, *right).map(|result| Some(Seen::Integer(result))).ok_or(Unknown)
            }
            _ => Err(Unknown),
        }
    };
    match expression {
        Expression::Variable(name) => value(name),
        Expression::NamedNode(iri) => Ok(Some(Seen::Iri(iri.as_str().into()))),
        Expression::Literal(literal) => Ok(Some(of_literal(literal)?)),
        Expression::Not(inner) => boolean(truth(inner)?.map(|truth| !truth)),
        Expression::And(left, right) => boolean(match (truth(left)?, truth(right)?) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        }),
        Expression::Or(left, right) => boolean(match (truth(left)?, truth(right)?) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        }),
        Expression::If(condition, yes, no) => match truth(condition)? {
            Some(true) => evaluate(yes, value),
            Some(false) => evaluate(no, value),
            None => Ok(None),
        },
        Expression::Equal(left, right) => {
            let Some(left) = evaluate(left, value)? else { return Ok(None) };
            let Some(right) = evaluate(right, value)? else { return Ok(None) };
            match (&left, &right) {
                (Seen::Text(left), Seen::Text(right)) | (Seen::Iri(left), Seen::Iri(right)) => {
                    boolean(Some(left == right))
                }
                (Seen::Integer(left), Seen::Integer(right)) => boolean(Some(left == right)),
                _ => Err(Unknown),
            }
        }
        Expression::Add(left, right) => calculated(left, right, i64::checked_add),
        Expression::Subtract(left, right) => calculated(left, right, i64::checked_sub),
        Expression::Multiply(left, right) => calculated(left, right, i64::checked_mul),
        Expression::Less(left, right) => compared(left, right, Ordering::is_lt),
        Expression::LessOrEqual(left, right) => compared(left, right, Ordering::is_le),
        Expression::Greater(left, right) => compared(left, right, Ordering::is_gt),
        Expression::GreaterOrEqual(left, right) => compared(left, right, Ordering::is_ge),
        Expression::FunctionCall(function, arguments) => called(function, arguments, value),
        _ => Err(Unknown),
    }
}

fn called<'t>(function: &Function, arguments: &'t [Expression], value: &dyn Fn(&Variable) -> Found<'t>) -> Found<'t> {
    let found: fn(&str, &str) -> bool = match function {
        Function::Contains => |text, part| text.contains(part),
        Function::StrStarts => |text, part| text.starts_with(part),
        Function::StrEnds => |text, part| text.ends_with(part),
        Function::Str | Function::Lang | Function::StrLen => {
            let [argument] = arguments else { return Err(Unknown) };
            let Some(argument) = evaluate(argument, value)? else { return Ok(None) };
            return Ok(Some(match (function, argument) {
                (Function::Str, Seen::Iri(text) | Seen::Text(text) | Seen::Language(_, text)) => Seen::Text(text),
                (Function::Lang, Seen::Text(_)) => Seen::Text("".into()),
                (Function::Lang, Seen::Language(language, _)) => Seen::Text(language),
                (Function::StrLen, Seen::Text(text) | Seen::Language(_, text)) => {
                    Seen::Integer(i64::try_from(text.chars().count()).map_err(|_| Unknown)?)
                }
                _ => return Err(Unknown),
            }));
        }
        _ => return Err(Unknown),
    };
    let [text, part] = arguments else { return Err(Unknown) };
    let Some(text) = evaluate(text, value)? else { return Ok(None) };
    let Some(part) = evaluate(part, value)? else { return Ok(None) };
    match (&text, &part) {
        (Seen::Text(text) | Seen::Language(_, text), Seen::Text(part)) => Ok(Some(Seen::Boolean(found(text, part)))),
        _ => Err(Unknown),
    }
}
