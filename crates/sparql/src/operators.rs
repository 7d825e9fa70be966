//! Comparisons, arithmetic and numeric functions, as functions of the evaluator: its own have integers of 64 bits, and decimals of 20 digits before the point.
//! What they say of other values is what the evaluator says.

use std::cmp::Ordering;

use oxrdf::{NamedNode, NamedOrBlankNode, Term};
use spareval::{ExpressionTerm as Value, ExpressionTriple, QueryEvaluator};
use spargebra::algebra::{Expression, Function, GraphPattern, OrderExpression};

use crate::exact::Exact;
use crate::sums::Number;
use crate::temporal::{added, negated, subtracted};
use crate::visit::{each_condition, each_expression, each_order};

const PREFIX: &str = "urn:isomorph:";

type Operation = fn(&[Value]) -> Option<Value>;

/// The functions, by their names.
static OPERATIONS: [(&str, Operation); 25] = [
    ("equal", |args| truth(two(args, equal)?)),
    ("less", |args| truth(two(args, |left, right| compared(left, right, Ordering::is_lt))?)),
    ("less-or-equal", |args| truth(two(args, |left, right| compared(left, right, Ordering::is_le))?)),
    ("add", |args| two(args, |left, right| arithmetic(left, right, &ADD).or_else(|| added(left, right)))),
    ("subtract", |args| {
        two(args, |left, right| arithmetic(left, right, &SUBTRACT).or_else(|| subtracted(left, right)))
    }),
    ("multiply", |args| two(args, |left, right| arithmetic(left, right, &MULTIPLY))),
    ("divide", |args| two(args, |left, right| arithmetic(left, right, &DIVIDE))),
    ("plus", |args| one(args, |value| Number::of_value(value).map(|_| value.clone()).or_else(|| durations(value)))),
    ("minus", |args| one(args, |value| changed(value, Exact::negated, |x| -x, |x| -x).or_else(|| negated(value)))),
    ("abs", |args| one(args, |value| changed(value, Exact::absolute, f32::abs, f64::abs))),
    ("ceil", |args| one(args, |value| changed(value, Exact::ceiling, f32::ceil, f64::ceil))),
    ("floor", |args| one(args, |value| changed(value, Exact::floor, f32::floor, f64::floor))),
    ("round", |args| {
        one(args, |value| match (Exact::of_value(value), value) {
            (Some(exact), _) => exact.rounded().map(Exact::value),
            (None, Value::FloatLiteral(float)) => Some(Value::FloatLiteral(float.round())),
            (None, Value::DoubleLiteral(double)) => Some(Value::DoubleLiteral(double.round())),
            _ => None,
        })
    }),
    ("is-numeric", |args| one(args, |value| truth(Number::of_value(value).is_some()))),
    ("truth", |args| one(args, |value| truth(effective(value)?))),
    ("to-integer", |args| one(args, to_integer)),
    ("to-decimal", |args| one(args, to_decimal)),
    ("to-double", |args| one(args, |value| Some(Value::DoubleLiteral(to_double(value)?.into())))),
    ("to-float", |args| one(args, |value| Some(Value::FloatLiteral(to_float(value)?.into())))),
    ("to-boolean", |args| {
        one(args, |value| match value {
            Value::StringLiteral(text) => match text.as_str() {
                "true" | "1" => truth(true),
                "false" | "0" => truth(false),
                _ => None,
            },
            Value::BooleanLiteral(_) => Some(value.clone()),
            other => Number::of_value(other).and_then(|_| truth(effective(other)?)),
        })
    }),
    ("key-of-kind", |args| one(args, |value| Some(Exact::integer(kind(value).into()).value()))),
    ("key", |args| one(args, |value| Some(key(value)))),
    ("key-of-high-digits", |args| {
        one(args, |value| Some(Exact::integer(Exact::of_value(value)?.split().0 / HIGH).value()))
    }),
    ("key-of-low-digits", |args| {
        one(args, |value| {
            let (whole, parts) = Exact::of_value(value)?.split();
            Some(Exact::from((whole % HIGH, parts)).value())
        })
    }),
    ("in", |args| {
        let (value, list) = args.split_first()?;
        let mut is_known = true;
        for other in list {
            match equal(value, other) {
                Some(true) => return truth(true),
                Some(false) => {}
                None => is_known = false,
            }
        }
        if is_known { truth(false) } else { None }
    }),
];

/// Digits that fit into a key each, of 38.
const HIGH: i128 = 10_i128.pow(20);

fn truth(value: bool) -> Option<Value> {
    Some(Value::BooleanLiteral(value.into()))
}

fn one<T>(args: &[Value], of: impl Fn(&Value) -> Option<T>) -> Option<T> {
    match args {
        [value] => of(value),
        _ => None,
    }
}

fn two<T>(args: &[Value], of: impl Fn(&Value, &Value) -> Option<T>) -> Option<T> {
    match args {
        [left, right] => of(left, right),
        _ => None,
    }
}

/// An operation on numbers of each kind.
struct Arithmetic {
    exact: fn(Exact, Exact) -> Option<Exact>,
    float: fn(f32, f32) -> f32,
    double: fn(f64, f64) -> f64,
}

const ADD: Arithmetic = Arithmetic { exact: Exact::plus, float: |a, b| a + b, double: |a, b| a + b };
const SUBTRACT: Arithmetic = Arithmetic { exact: Exact::minus, float: |a, b| a - b, double: |a, b| a - b };
const MULTIPLY: Arithmetic = Arithmetic { exact: Exact::times, float: |a, b| a * b, double: |a, b| a * b };
const DIVIDE: Arithmetic = Arithmetic { exact: Exact::over, float: |a, b| a / b, double: |a, b| a / b };

fn arithmetic(left: &Value, right: &Value, operation: &Arithmetic) -> Option<Value> {
    use Number::{Double, Exactly, Float};
    Some(match (Number::of_value(left)?, Number::of_value(right)?) {
        (Exactly(left), Exactly(right)) => (operation.exact)(left, right)?.value(),
        (left @ Double(_), right) | (left, right @ Double(_)) => {
            Value::DoubleLiteral((operation.double)(left.double(), right.double()).into())
        }
        (left @ Float(_), right) | (left, right @ Float(_)) => {
            Value::FloatLiteral((operation.float)(left.float(), right.float()).into())
        }
    })
}

fn changed(
    value: &Value,
    exact: fn(Exact) -> Option<Exact>,
    float: fn(f32) -> f32,
    double: fn(f64) -> f64,
) -> Option<Value> {
    Some(match Number::of_value(value)? {
        Number::Exactly(number) => exact(number)?.value(),
        Number::Float(number) => Value::FloatLiteral(float(number).into()),
        Number::Double(number) => Value::DoubleLiteral(double(number).into()),
    })
}

fn durations(value: &Value) -> Option<Value> {
    let is = matches!(
        value,
        Value::DurationLiteral(_) | Value::YearMonthDurationLiteral(_) | Value::DayTimeDurationLiteral(_)
    );
    is.then(|| value.clone())
}

/// The effective boolean value.
fn effective(value: &Value) -> Option<bool> {
    match value {
        Value::BooleanLiteral(value) => Some((*value).into()),
        Value::StringLiteral(text) => Some(!text.is_empty()),
        other => Some(match Number::of_value(other)? {
            Number::Exactly(number) => !number.is_zero(),
            Number::Float(number) => number != 0.0 && !number.is_nan(),
            Number::Double(number) => number != 0.0 && !number.is_nan(),
        }),
    }
}

/// The number that a value is cast to.
fn number_of(value: &Value) -> Option<Number> {
    match value {
        Value::BooleanLiteral(value) => Some(Number::Exactly(Exact::integer(i128::from(bool::from(*value))))),
        Value::StringLiteral(text) => Exact::of(text, oxrdf::vocab::xsd::DECIMAL.as_str()).map(Number::Exactly),
        other => Number::of_value(other),
    }
}

fn to_integer(value: &Value) -> Option<Value> {
    let of_text = |text: &str| Exact::of(text, oxrdf::vocab::xsd::INTEGER.as_str()).map(Exact::value);
    match value {
        Value::StringLiteral(text) => of_text(text),
        Value::FloatLiteral(float) => of_text(&format!("{:.0}", f32::from(*float).trunc())),
        Value::DoubleLiteral(double) => of_text(&format!("{:.0}", f64::from(*double).trunc())),
        other => match number_of(other)? {
            Number::Exactly(number) => Some(number.cut().value()),
            Number::Float(_) | Number::Double(_) => None,
        },
    }
}

fn to_decimal(value: &Value) -> Option<Value> {
    match value {
        Value::FloatLiteral(float) => Some(Value::DecimalLiteral((*float).try_into().ok()?)),
        Value::DoubleLiteral(double) => Some(Value::DecimalLiteral((*double).try_into().ok()?)),
        other => match number_of(other)? {
            Number::Exactly(number) => Some(number.as_decimal().value()),
            Number::Float(_) | Number::Double(_) => None,
        },
    }
}

fn to_double(value: &Value) -> Option<f64> {
    match value {
        Value::StringLiteral(text) => match typed(text, oxrdf::vocab::xsd::DOUBLE.into_owned()) {
            Value::DoubleLiteral(double) => Some(double.into()),
            _ => None,
        },
        other => Some(number_of(other)?.double()),
    }
}

fn to_float(value: &Value) -> Option<f32> {
    match value {
        Value::StringLiteral(text) => match typed(text, oxrdf::vocab::xsd::FLOAT.into_owned()) {
            Value::FloatLiteral(float) => Some(float.into()),
            _ => None,
        },
        other => Some(number_of(other)?.float()),
    }
}

fn typed(text: &str, datatype: NamedNode) -> Value {
    Term::from(oxrdf::Literal::new_typed_literal(text, datatype)).into()
}

/// The place of a value's kind among all kinds. Values of one kind have a total order; between kinds of literals SPARQL has none.
fn kind(value: &Value) -> u8 {
    use Value as V;
    let of_moment = |kind: u8, is_local: bool| kind + u8::from(is_local);
    match value {
        V::BlankNode(_) => 0,
        V::NamedNode(_) => 1,
        other if Number::of_value(other).is_some() => 2,
        V::DateTimeLiteral(value) => of_moment(3, value.timezone_offset().is_none()),
        V::DateLiteral(value) => of_moment(5, value.timezone_offset().is_none()),
        V::TimeLiteral(value) => of_moment(7, value.timezone_offset().is_none()),
        V::GYearMonthLiteral(value) => of_moment(9, value.timezone_offset().is_none()),
        V::GYearLiteral(value) => of_moment(11, value.timezone_offset().is_none()),
        V::GMonthDayLiteral(value) => of_moment(13, value.timezone_offset().is_none()),
        V::GDayLiteral(value) => of_moment(15, value.timezone_offset().is_none()),
        V::GMonthLiteral(value) => of_moment(17, value.timezone_offset().is_none()),
        V::DurationLiteral(_) | V::YearMonthDurationLiteral(_) | V::DayTimeDurationLiteral(_) => 19,
        V::Triple(_) => 21,
        // Texts, with and without a language, and literals of other datatypes.
        _ => 20,
    }
}

/// What values of one kind are ordered by, numbers before their digits. The evaluator compares pairs of numbers of different types, and durations, in orders that
/// contradict each other.
fn key(value: &Value) -> Value {
    if let Some(length) = length(value) {
        return Value::DoubleLiteral(length.into());
    }
    match (value, Number::of_value(value)) {
        (_, Some(number)) => Value::DoubleLiteral(number.double().into()),
        (Value::Triple(triple), _) => {
            let mut triple = triple.clone();
            // After the predicate, and before the object.
            let with_kind = format!("{}\0{:02}", triple.predicate.as_str(), kind(&triple.object));
            triple.predicate = NamedNode::new_unchecked(with_kind);
            triple.object = key(&triple.object);
            Value::Triple(triple)
        }
        _ => value.clone(),
    }
}

/// The seconds of a duration, with months of average length.
#[expect(clippy::cast_precision_loss, reason = "an order by about this")]
fn length(value: &Value) -> Option<f64> {
    let of_months = |years: i64, months: i64| (years as f64 * 12.0 + months as f64) * 2_629_746.0;
    let of_seconds = |seconds| Number::of_value(&Value::DecimalLiteral(seconds)).map_or(0.0, Number::double);
    Some(match value {
        Value::DurationLiteral(value) => {
            let minutes = value.days() as f64 * 1440.0 + value.hours() as f64 * 60.0 + value.minutes() as f64;
            of_months(value.years(), value.months()) + minutes * 60.0 + of_seconds(value.seconds())
        }
        Value::YearMonthDurationLiteral(value) => of_months(value.years(), value.months()),
        Value::DayTimeDurationLiteral(value) => of_seconds(value.as_seconds()),
        _ => return None,
    })
}

/// The operator `=`.
pub(crate) fn equal(left: &Value, right: &Value) -> Option<bool> {
    let numbers = [Number::of_value(left), Number::of_value(right)];
    if let [Some(left), Some(right)] = numbers {
        return Some(left.compare(right) == Some(Ordering::Equal));
    }
    let [left_is_number, right_is_number] = numbers.map(|number| number.is_some());
    let is_unknown = |value: &Value, is_number: bool| !is_number && matches!(value, Value::OtherTypedLiteral { .. });
    match (left, right) {
        (Value::Triple(left), Value::Triple(right)) => Some(
            left.subject == right.subject && left.predicate == right.predicate && equal(&left.object, &right.object)?,
        ),
        (left, right) if is_unknown(left, left_is_number) || is_unknown(right, right_is_number) => {
            let is_other = |value: &Value| {
                use Value::{BlankNode, DirLangStringLiteral, LangStringLiteral, NamedNode, Triple};
                matches!(
                    value,
                    NamedNode(_) | BlankNode(_) | LangStringLiteral { .. } | DirLangStringLiteral { .. } | Triple(_)
                )
            };
            match left == right {
                true => Some(true),
                false if is_other(left) || is_other(right) => Some(false),
                false => None,
            }
        }
        (Value::DurationLiteral(left), Value::YearMonthDurationLiteral(right)) => Some(left == right),
        (Value::DurationLiteral(left), Value::DayTimeDurationLiteral(right)) => Some(left == right),
        (Value::YearMonthDurationLiteral(left), Value::DurationLiteral(right)) => Some(left == right),
        (Value::YearMonthDurationLiteral(left), Value::DayTimeDurationLiteral(right)) => Some(left == right),
        (Value::DayTimeDurationLiteral(left), Value::DurationLiteral(right)) => Some(left == right),
        (Value::DayTimeDurationLiteral(left), Value::YearMonthDurationLiteral(right)) => Some(left == right),
        (left, right) => Some(left == right),
    }
}

/// The operators `<` and `<=`, for whose orders `holds` is true. NaN is in no order with any number, which makes them false, and is no error.
fn compared(left: &Value, right: &Value, holds: fn(Ordering) -> bool) -> Option<bool> {
    if let (Some(left), Some(right)) = (Number::of_value(left), Number::of_value(right)) {
        return Some(left.compare(right).is_some_and(holds));
    }
    match (left, right) {
        _ if left == right => Some(holds(Ordering::Equal)),
        (Value::Triple(left), Value::Triple(right)) => {
            let is_same = left.subject == right.subject && left.predicate == right.predicate;
            if is_same { compared(&left.object, &right.object, holds) } else { None }
        }
        _ => literals(left, right).map(holds),
    }
}

/// The order of two literals; `None` if their types have none.
fn literals(left: &Value, right: &Value) -> Option<Ordering> {
    use Value as V;
    match (left, right) {
        (V::StringLiteral(left), V::StringLiteral(right)) => Some(left.cmp(right)),
        (V::LangStringLiteral { value, language }, V::LangStringLiteral { value: other, language: of }) => {
            (language == of).then(|| value.cmp(other))
        }
        (
            V::DirLangStringLiteral { value, language, direction },
            V::DirLangStringLiteral { value: other, language: of, direction: to },
        ) => (language == of && direction == to).then(|| value.cmp(other)),
        (V::DateTimeLiteral(left), V::DateTimeLiteral(right)) => left.partial_cmp(right),
        (V::TimeLiteral(left), V::TimeLiteral(right)) => left.partial_cmp(right),
        (V::DateLiteral(left), V::DateLiteral(right)) => left.partial_cmp(right),
        (V::GYearMonthLiteral(left), V::GYearMonthLiteral(right)) => left.partial_cmp(right),
        (V::GYearLiteral(left), V::GYearLiteral(right)) => left.partial_cmp(right),
        (V::GMonthDayLiteral(left), V::GMonthDayLiteral(right)) => left.partial_cmp(right),
        (V::GDayLiteral(left), V::GDayLiteral(right)) => left.partial_cmp(right),
        (V::GMonthLiteral(left), V::GMonthLiteral(right)) => left.partial_cmp(right),
        (V::DurationLiteral(left), V::DurationLiteral(right)) => left.partial_cmp(right),
        (V::DurationLiteral(left), V::YearMonthDurationLiteral(right)) => left.partial_cmp(right),
        (V::DurationLiteral(left), V::DayTimeDurationLiteral(right)) => left.partial_cmp(right),
        (V::YearMonthDurationLiteral(left), V::DurationLiteral(right)) => left.partial_cmp(right),
        (V::YearMonthDurationLiteral(left), V::YearMonthDurationLiteral(right)) => left.partial_cmp(right),
        (V::YearMonthDurationLiteral(left), V::DayTimeDurationLiteral(right)) => left.partial_cmp(right),
        (V::DayTimeDurationLiteral(left), V::DurationLiteral(right)) => left.partial_cmp(right),
        (V::DayTimeDurationLiteral(left), V::YearMonthDurationLiteral(right)) => left.partial_cmp(right),
        (V::DayTimeDurationLiteral(left), V::DayTimeDurationLiteral(right)) => left.partial_cmp(right),
        _ => Number::of_value(left)?.compare(Number::of_value(right)?),
    }
}

/// The order of MIN and MAX, of values of all types: that of ORDER BY.
pub(crate) fn sorted(left: &Value, right: &Value) -> Ordering {
    kind(left).cmp(&kind(right)).then_with(|| match (left, right) {
        (Value::BlankNode(left), Value::BlankNode(right)) => left.as_str().cmp(right.as_str()),
        (Value::NamedNode(left), Value::NamedNode(right)) => left.as_str().cmp(right.as_str()),
        (Value::Triple(left), Value::Triple(right)) => triples(left, right),
        _ => match (length(left), length(right)) {
            (Some(left), Some(right)) => left.total_cmp(&right),
            _ => literals(left, right).unwrap_or_else(|| by_text(left, right)),
        },
    })
}

fn by_text(left: &Value, right: &Value) -> Ordering {
    let (Term::Literal(left), Term::Literal(right)) = (left.clone().into(), right.clone().into()) else {
        return Ordering::Equal;
    };
    let parts = (left.value(), left.datatype(), left.language());
    parts.cmp(&(right.value(), right.datatype(), right.language()))
}

fn triples(left: &ExpressionTriple, right: &ExpressionTriple) -> Ordering {
    let rank = |subject: &NamedOrBlankNode| match subject {
        NamedOrBlankNode::BlankNode(node) => (0, node.as_str().to_owned()),
        NamedOrBlankNode::NamedNode(iri) => (1, iri.as_str().to_owned()),
    };
    let subjects = rank(&left.subject).cmp(&rank(&right.subject));
    let predicates = || left.predicate.as_str().cmp(right.predicate.as_str());
    subjects.then_with(predicates).then_with(|| sorted(&left.object, &right.object))
}

fn name(operation: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("{PREFIX}{operation}"))
}

/// The evaluator with these functions.
pub(crate) fn with_operators(evaluator: QueryEvaluator) -> QueryEvaluator {
    OPERATIONS.iter().fold(evaluator, |evaluator, (own, operation)| {
        let operation = *operation;
        evaluator.with_custom_function(name(own), move |terms: &[Term]| {
            let values: Vec<Value> = terms.iter().cloned().map(Value::from).collect();
            operation(&values).map(Term::from)
        })
    })
}

/// Puts these functions into the place of the evaluator's own, everywhere in a pattern.
pub(crate) fn replace(pattern: &mut GraphPattern) {
    each_order(pattern, &mut |keys| {
        let all = std::mem::take(keys).into_iter().flat_map(|key| match key {
            OrderExpression::Asc(of) => keys_of(&of).map(OrderExpression::Asc),
            OrderExpression::Desc(of) => keys_of(&of).map(OrderExpression::Desc),
        });
        *keys = all.collect();
    });
    each_condition(pattern, &mut as_truth);
    each_expression(pattern, &mut replaced);
}

/// By what the evaluator orders values as `sorted` does.
fn keys_of(of: &Expression) -> [Expression; 4] {
    ["key-of-kind", "key", "key-of-high-digits", "key-of-low-digits"].map(|name| call(name, vec![of.clone()]))
}

fn call(operation: &str, arguments: Vec<Expression>) -> Expression {
    Expression::FunctionCall(Function::Custom(name(operation)), arguments)
}

/// A condition whose truth may be that of a number.
fn as_truth(condition: &mut Expression) {
    let is_value = match condition {
        Expression::Variable(_)
        | Expression::Literal(_)
        | Expression::Add(..)
        | Expression::Subtract(..)
        | Expression::Multiply(..)
        | Expression::Divide(..)
        | Expression::UnaryPlus(_)
        | Expression::UnaryMinus(_)
        | Expression::If(..)
        | Expression::Coalesce(_) => true,
        Expression::FunctionCall(function, _) => {
            matches!(function, Function::Abs | Function::Ceil | Function::Floor | Function::Round | Function::Custom(_))
        }
        _ => false,
    };
    if is_value {
        *condition = call("truth", vec![take(condition)]);
    }
}

fn take(expression: &mut Expression) -> Expression {
    std::mem::replace(expression, Expression::Coalesce(Vec::new()))
}

/// An expression with these functions. What is inside of it comes later.
pub(crate) fn replaced(expression: &mut Expression) {
    // An IRI is equal to the same term alone.
    let is_iri = |one: &Expression| matches!(one, Expression::NamedNode(_));
    let own = match expression {
        Expression::Equal(left, right) if !is_iri(left) && !is_iri(right) => ("equal", vec![take(left), take(right)]),
        Expression::Less(left, right) => ("less", vec![take(left), take(right)]),
        Expression::Greater(left, right) => ("less", vec![take(right), take(left)]),
        Expression::LessOrEqual(left, right) => ("less-or-equal", vec![take(left), take(right)]),
        Expression::GreaterOrEqual(left, right) => ("less-or-equal", vec![take(right), take(left)]),
        Expression::Add(left, right) => ("add", vec![take(left), take(right)]),
        Expression::Subtract(left, right) => ("subtract", vec![take(left), take(right)]),
        Expression::Multiply(left, right) => ("multiply", vec![take(left), take(right)]),
        Expression::Divide(left, right) => ("divide", vec![take(left), take(right)]),
        Expression::UnaryPlus(inner) => ("plus", vec![take(inner)]),
        Expression::UnaryMinus(inner) => ("minus", vec![take(inner)]),
        Expression::In(value, list) if !list.is_empty() && !list.iter().all(is_iri) => {
            let are_constants = list.iter().all(|one| matches!(one, Expression::Literal(_) | Expression::NamedNode(_)));
            let value = take(value);
            if are_constants {
                ("in", std::iter::once(value).chain(std::mem::take(list)).collect())
            } else {
                // An item that is an error is none that decides.
                let equal = |item: Expression| Expression::Equal(value.clone().into(), item.into());
                *expression = any(std::mem::take(list).into_iter().map(equal).collect());
                return;
            }
        }
        Expression::FunctionCall(function, arguments) => {
            let cast = |iri: &NamedNode| match iri.as_str().strip_prefix("http://www.w3.org/2001/XMLSchema#") {
                Some("integer") => Some("to-integer"),
                Some("decimal") => Some("to-decimal"),
                Some("double") => Some("to-double"),
                Some("float") => Some("to-float"),
                Some("boolean") => Some("to-boolean"),
                _ => None,
            };
            let operation = match function {
                Function::Abs => "abs",
                Function::Ceil => "ceil",
                Function::Floor => "floor",
                Function::Round => "round",
                Function::IsNumeric => "is-numeric",
                Function::Custom(iri) if arguments.len() == 1 => match cast(iri) {
                    Some(operation) => operation,
                    None => return,
                },
                _ => return,
            };
            (operation, std::mem::take(arguments))
        }
        Expression::Not(inner) => return as_truth(inner),
        Expression::And(left, right) | Expression::Or(left, right) => {
            as_truth(left);
            return as_truth(right);
        }
        Expression::If(condition, ..) => return as_truth(condition),
        _ => return,
    };
    *expression = call(own.0, own.1);
}

/// Whether one of them holds, in a tree that is not deep.
fn any(mut all: Vec<Expression>) -> Expression {
    if all.len() > 1 {
        let rest = all.split_off(all.len() / 2);
        return Expression::Or(any(all).into(), any(rest).into());
    }
    all.pop().unwrap_or(Expression::Coalesce(Vec::new()))
}
