//! Sums and means of numbers. Those of integers and decimals are exact and do not depend on the order of rows: `xsd:integer` has no largest value, so a sum
//! may have more digits than the values.

use std::cmp::Ordering;

use oxrdf::{Literal, NamedNode, Term};
use spareval::{AggregateFunctionAccumulator, CancellationToken, ExpressionTerm, QueryEvaluator};
use spargebra::algebra::{AggregateExpression, AggregateFunction, GraphPattern};

use crate::exact::{Exact, PARTS};
use crate::operators::{sorted, with_operators};
use crate::visit::each_aggregate;

/// The names of these aggregates for the evaluator of rows.
const SUM: &str = "urn:isomorph:sum";
const MEAN: &str = "urn:isomorph:mean";
const LEAST: &str = "urn:isomorph:min";
const GREATEST: &str = "urn:isomorph:max";

/// A number.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Number {
    /// An integer or a decimal.
    Exactly(Exact),
    Float(f32),
    Double(f64),
}

impl Number {
    /// The number that a value is.
    pub(crate) fn of_value(value: &ExpressionTerm) -> Option<Number> {
        match value {
            ExpressionTerm::FloatLiteral(value) => Some(Number::Float((*value).into())),
            ExpressionTerm::DoubleLiteral(value) => Some(Number::Double((*value).into())),
            other => Exact::of_value(other).map(Number::Exactly),
        }
    }

    /// The order of two numbers, of the wider of their types; `None` beside NaN.
    pub(crate) fn compare(self, other: Number) -> Option<Ordering> {
        match (self, other) {
            (Number::Exactly(left), Number::Exactly(right)) => Some(left.compare(right)),
            (Number::Double(_), _) | (_, Number::Double(_)) => self.double().partial_cmp(&other.double()),
            _ => self.float().partial_cmp(&other.float()),
        }
    }

    /// The number as a float.
    #[expect(clippy::cast_possible_truncation, reason = "the nearest float")]
    pub(crate) fn float(self) -> f32 {
        match self {
            Number::Exactly(number) => number.float(),
            Number::Float(number) => number,
            Number::Double(number) => number as f32,
        }
    }

    /// The number as a double.
    pub(crate) fn double(self) -> f64 {
        match self {
            Number::Exactly(number) => number.double(),
            Number::Float(number) => number.into(),
            Number::Double(number) => number,
        }
    }
}

/// The sum of numbers, of the widest of their types: integer, decimal, float, double.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sum {
    count: u64,
    /// Whole parts above and below zero: which of them is too large does not depend on the order.
    above: i128,
    below: i128,
    /// What decimals have behind the point.
    parts: i128,
    float: f32,
    double: f64,
    widest: Widest,
    is_failed: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Widest {
    #[default]
    Integer,
    Decimal,
    Float,
    Double,
}

impl Sum {
    /// Adds a number; `None` is a value that is no number, which has no sum with others.
    pub(crate) fn add(&mut self, number: Option<Number>) {
        self.count += 1;
        let widest = match number {
            Some(Number::Exactly(number)) => {
                let (whole, parts) = number.split();
                self.add_whole(whole);
                // Of less than 2^64 rows.
                self.parts += parts;
                if number.is_integer() { Widest::Integer } else { Widest::Decimal }
            }
            Some(Number::Float(value)) => {
                self.float += value;
                Widest::Float
            }
            Some(Number::Double(value)) => {
                self.double += value;
                Widest::Double
            }
            None => {
                self.is_failed = true;
                return;
            }
        };
        self.widest = self.widest.max(widest);
    }

    fn add_whole(&mut self, value: i128) {
        let side = if value < 0 { &mut self.below } else { &mut self.above };
        match side.checked_add(value) {
            Some(sum) => *side = sum,
            None => self.is_failed = true,
        }
    }

    /// The exact part: whole, and behind the point with the same sign.
    fn exact(&self) -> Option<(i128, i128)> {
        let whole = self.above.checked_add(self.below)?.checked_add(self.parts / PARTS)?;
        let parts = self.parts % PARTS;
        Some(match (whole.signum(), parts.signum()) {
            (1, -1) => (whole - 1, parts + PARTS),
            (-1, 1) => (whole + 1, parts - PARTS),
            _ => (whole, parts),
        })
    }

    /// The sum, 0 of no numbers. `None` if a value was no number, or the sum has more than 38 digits before the point.
    pub(crate) fn sum(&self) -> Option<Term> {
        if self.is_failed {
            return None;
        }
        let (whole, parts) = self.exact()?;
        Some(match self.widest {
            Widest::Integer => Exact::integer(whole).value().into(),
            Widest::Decimal => Exact::from((whole, parts)).value().into(),
            Widest::Float => ExpressionTerm::FloatLiteral(self.float(whole, parts).into()).into(),
            Widest::Double => ExpressionTerm::DoubleLiteral(self.double(whole, parts).into()).into(),
        })
    }

    /// The mean, 0 of no numbers; of integers it is a decimal, without the digits after the eighteenth behind the point.
    pub(crate) fn mean(&self) -> Option<Term> {
        if self.is_failed {
            return None;
        }
        if self.count == 0 {
            return Some(Literal::from(0).into());
        }
        let (whole, parts) = self.exact()?;
        Some(match self.widest {
            Widest::Integer | Widest::Decimal => {
                let count = i128::from(self.count);
                // What is left is less than 2^64, and so is its product with the parts of one less than 2^127.
                let left = (whole % count).checked_mul(PARTS)?.checked_add(parts)?;
                Exact::from((whole / count, left / count)).value().into()
            }
            Widest::Float => ExpressionTerm::FloatLiteral((self.float(whole, parts) / self.count as f32).into()).into(),
            Widest::Double => {
                ExpressionTerm::DoubleLiteral((self.double(whole, parts) / self.count as f64).into()).into()
            }
        })
    }

    fn float(&self, whole: i128, parts: i128) -> f32 {
        self.float + Exact::from((whole, parts)).float()
    }

    fn double(&self, whole: i128, parts: i128) -> f64 {
        self.double + f64::from(self.float) + Exact::from((whole, parts)).double()
    }
}

/// A sum or mean for the evaluator of rows.
struct OfRows {
    sum: Sum,
    is_mean: bool,
}

impl AggregateFunctionAccumulator for OfRows {
    fn accumulate(&mut self, element: Term) {
        self.sum.add(Number::of_value(&element.into()));
    }

    fn finish(&mut self) -> Option<Term> {
        if self.is_mean { self.sum.mean() } else { self.sum.sum() }
    }
}

/// The least or greatest value for the evaluator of rows.
struct ExtremeOfRows {
    best: Option<ExpressionTerm>,
    better: Ordering,
}

impl AggregateFunctionAccumulator for ExtremeOfRows {
    fn accumulate(&mut self, element: Term) {
        let element = element.into();
        if self.best.as_ref().is_none_or(|best| sorted(&element, best) == self.better) {
            self.best = Some(element);
        }
    }

    fn finish(&mut self) -> Option<Term> {
        self.best.take().map(Term::from)
    }
}

/// An evaluator of rows with these aggregates, and with the operators of `operators`.
pub(crate) fn evaluator(token: &CancellationToken) -> QueryEvaluator {
    let mut evaluator = with_operators(QueryEvaluator::new().with_cancellation_token(token.clone()));
    for (name, is_mean) in [(SUM, false), (MEAN, true)] {
        let new = move || Box::new(OfRows { sum: Sum::default(), is_mean }) as _;
        evaluator = evaluator.with_custom_aggregate_function(NamedNode::new_unchecked(name), new);
    }
    for (name, better) in [(LEAST, Ordering::Less), (GREATEST, Ordering::Greater)] {
        let new = move || Box::new(ExtremeOfRows { best: None, better }) as _;
        evaluator = evaluator.with_custom_aggregate_function(NamedNode::new_unchecked(name), new);
    }
    evaluator
}

/// Puts these aggregates in the place of the evaluator's own.
pub(crate) fn replace(pattern: &mut GraphPattern) {
    each_aggregate(pattern, &mut |aggregate| {
        if let AggregateExpression::FunctionCall { name, .. } = aggregate {
            let own = match name {
                AggregateFunction::Sum => SUM,
                AggregateFunction::Avg => MEAN,
                AggregateFunction::Min => LEAST,
                AggregateFunction::Max => GREATEST,
                _ => return,
            };
            *name = AggregateFunction::Custom(NamedNode::new_unchecked(own));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[(&str, &str)]) -> [Option<String>; 2] {
        let mut sum = Sum::default();
        for (value, datatype) in values {
            let datatype = NamedNode::new_unchecked(format!("http://www.w3.org/2001/XMLSchema#{datatype}"));
            let term = Term::from(Literal::new_typed_literal(*value, datatype));
            sum.add(Number::of_value(&term.into()));
        }
        let shown = |term: Option<Term>| {
            let Some(Term::Literal(literal)) = term else { return None };
            Some(format!("{} {}", literal.value(), literal.datatype().as_str().rsplit('#').next()?))
        };
        [sum.sum(), sum.mean()].map(shown)
    }

    #[test]
    fn sums_are_exact() {
        let most = ("9223372036854775807", "integer");
        let known = |sum: &str, mean: &str| [Some(sum.to_owned()), Some(mean.to_owned())];
        assert_eq!(of(&[]), known("0 integer", "0 integer"));
        assert_eq!(of(&[most, most]), known("18446744073709551614 integer", "9223372036854775807 decimal"));
        assert_eq!(
            of(&[most, ("1", "byte"), ("-9223372036854775806", "long")]),
            known("2 integer", "0.666666666666666666 decimal")
        );
        // Some are beyond the decimals of the evaluator, too.
        let large = [
            ("170141183460469231731687303715884105727", "integer"),
            ("-170141183460469231731687303715884105720", "integer"),
        ];
        assert_eq!(of(&large), known("7 integer", "3.5 decimal"));
        assert_eq!(of(&[large[0], large[0], large[1]]), [None, None]);
        assert_eq!(of(&[large[0], large[1], large[0]]), [None, None]);
        assert_eq!(of(&[("0.5", "decimal"), ("-2", "integer")]), known("-1.5 decimal", "-0.75 decimal"));
        assert_eq!(of(&[("-0.5", "decimal"), ("2", "integer")]), known("1.5 decimal", "0.75 decimal"));
        assert_eq!(
            of(&[("100000000000000000000.5", "decimal"); 3]),
            known("300000000000000000001.5 decimal", "100000000000000000000.5 decimal")
        );
        assert_eq!(
            of(&[("1.5", "double"), ("0.1", "decimal"), most, ("-9223372036854775807", "integer")]),
            known("1.6 double", "0.4 double")
        );
        assert_eq!(of(&[("1", "integer"), ("x", "integer")]), [None, None]);
        assert_eq!(of(&[("1", "string")]), [None, None]);
    }
}
