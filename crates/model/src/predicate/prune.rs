//! What statistics exclude.

use super::{BoundPredicate, Comparison, Value};

/// What is known of the values of a column in some rows. A bound need not be taken by any value.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    /// No value is less, if known.
    pub least: Option<Value>,
    /// No value is greater, if known.
    pub greatest: Option<Value>,
    /// Whether some values may be null.
    pub some_null: bool,
    /// Whether every value is null.
    pub all_null: bool,
    /// Whether there may be NaN, which bounds do not speak of.
    pub some_nan: bool,
}

impl Bounds {
    /// Nothing is known.
    pub const UNKNOWN: Bounds =
        Bounds { least: None, greatest: None, some_null: true, all_null: false, some_nan: true };
}

/// What a condition may come to in some rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Outcomes {
    yes: bool,
    no: bool,
    unknown: bool,
}

impl BoundPredicate {
    /// Whether any of the rows of which `bounds` speaks (by column position) may pass.
    pub(super) fn may_pass(&self, bounds: &dyn Fn(usize) -> Bounds) -> bool {
        self.outcomes(bounds).yes
    }

    fn outcomes(&self, bounds: &dyn Fn(usize) -> Bounds) -> Outcomes {
        match self {
            BoundPredicate::Compare { column, comparison, value } => compare(&bounds(*column), *comparison, value),
            BoundPredicate::Like { .. } | BoundPredicate::Has { .. } => Outcomes { yes: true, no: true, unknown: true },
            BoundPredicate::In { column, set } => {
                let bounds = bounds(*column);
                let yes = !bounds.all_null && set.any_between(bounds.least.as_ref(), bounds.greatest.as_ref());
                Outcomes { yes, no: !bounds.all_null, unknown: bounds.some_null }
            }
            BoundPredicate::IsNull(column) => {
                let bounds = bounds(*column);
                Outcomes { yes: bounds.some_null, no: !bounds.all_null, unknown: false }
            }
            BoundPredicate::IsNotNull(column) => {
                let bounds = bounds(*column);
                Outcomes { yes: !bounds.all_null, no: bounds.some_null, unknown: false }
            }
            BoundPredicate::And(list) => {
                let start = Outcomes { yes: true, no: false, unknown: false };
                list.iter().map(|one| one.outcomes(bounds)).fold(start, |left, right| Outcomes {
                    yes: left.yes && right.yes,
                    no: left.no || right.no,
                    unknown: left.unknown && (right.yes || right.unknown) || right.unknown && left.yes,
                })
            }
            BoundPredicate::Or(list) => {
                let start = Outcomes { yes: false, no: true, unknown: false };
                list.iter().map(|one| one.outcomes(bounds)).fold(start, |left, right| Outcomes {
                    yes: left.yes || right.yes,
                    no: left.no && right.no,
                    unknown: left.unknown && (right.no || right.unknown) || right.unknown && left.no,
                })
            }
            BoundPredicate::Not(one) => {
                let one = one.outcomes(bounds);
                Outcomes { yes: one.no, no: one.yes, unknown: one.unknown }
            }
        }
    }
}

fn compare(bounds: &Bounds, comparison: Comparison, value: &Value) -> Outcomes {
    if bounds.all_null {
        return Outcomes { yes: false, no: false, unknown: true };
    }
    let is_less = bounds.least.as_ref().is_none_or(|least| least.order(value).is_none_or(|order| order.is_lt()));
    let is_greater =
        bounds.greatest.as_ref().is_none_or(|greatest| greatest.order(value).is_none_or(|order| order.is_gt()));
    let below = bounds.greatest.as_ref().and_then(|greatest| greatest.order(value)).is_some_and(|order| order.is_lt());
    let above = bounds.least.as_ref().and_then(|least| least.order(value)).is_some_and(|order| order.is_gt());
    let is_equal = !below && !above;
    let (yes, no) = match comparison {
        Comparison::Equal => (is_equal, is_less || is_greater),
        Comparison::NotEqual => (is_less || is_greater, is_equal),
        Comparison::Less => (is_less, is_equal || is_greater),
        Comparison::LessOrEqual => (is_less || is_equal, is_greater),
        Comparison::Greater => (is_greater, is_equal || is_less),
        Comparison::GreaterOrEqual => (is_greater || is_equal, is_less),
    };
    // NaN passes `!=` and nothing else.
    let (nan_yes, nan_no) = (comparison == Comparison::NotEqual, comparison != Comparison::NotEqual);
    Outcomes { yes: yes || bounds.some_nan && nan_yes, no: no || bounds.some_nan && nan_no, unknown: bounds.some_null }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, Int64Array};
    use arrow_schema::{DataType, Field, Schema};

    use super::*;
    use crate::predicate::Predicate;

    fn random(state: &mut u64, below: u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) % below
    }

    fn condition(state: &mut u64, depth: u32) -> Predicate {
        let comparisons = [
            Comparison::Equal,
            Comparison::NotEqual,
            Comparison::Less,
            Comparison::LessOrEqual,
            Comparison::Greater,
            Comparison::GreaterOrEqual,
        ];
        let column = if random(state, 2) == 0 { "a" } else { "b" };
        match random(state, if depth == 0 { 3 } else { 6 }) {
            0 => Predicate::IsNull(column.into()),
            1 => {
                let comparison = comparisons[random(state, 6) as usize];
                Predicate::compare(column, comparison, random(state, 8) as f64 / 2.0)
            }
            2 => {
                let comparison = comparisons[random(state, 6) as usize];
                Predicate::compare(column, comparison, random(state, 4) as i64)
            }
            3 => Predicate::Not(Box::new(condition(state, depth - 1))),
            4 => Predicate::And((0..2).map(|_| condition(state, depth - 1)).collect()),
            _ => Predicate::Or((0..2).map(|_| condition(state, depth - 1)).collect()),
        }
    }

    /// What statistics exclude, no row passes: over random conditions on random small columns with nulls and NaN.
    #[test]
    fn pruning_never_loses_a_row_that_passes() {
        let schema =
            Schema::new(vec![Field::new("a", DataType::Int64, true), Field::new("b", DataType::Float64, true)]);
        let mut state = 1;
        let mut pruned = 0;
        for _ in 0..20_000 {
            let rows = 1 + random(&mut state, 3) as usize;
            let a: Vec<Option<i64>> =
                (0..rows).map(|_| (random(&mut state, 3) > 0).then(|| random(&mut state, 4) as i64)).collect();
            let b: Vec<Option<f64>> = (0..rows)
                .map(|_| match random(&mut state, 5) {
                    0 => None,
                    1 => Some(f64::NAN),
                    _ => Some(random(&mut state, 8) as f64 / 2.0),
                })
                .collect();
            let ordered = |values: Vec<f64>| {
                let some = |value: f64| value.is_finite().then_some(value);
                (
                    some(values.iter().copied().fold(f64::INFINITY, f64::min)),
                    some(values.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
                )
            };
            let (a_least, a_greatest) = ordered(a.iter().flatten().map(|value| *value as f64).collect());
            let (b_least, b_greatest) = ordered(b.iter().flatten().copied().filter(|value| !value.is_nan()).collect());
            let bounds = [
                Bounds {
                    least: a_least.map(|value| Value::Int(value as i128)),
                    greatest: a_greatest.map(|value| Value::Int(value as i128)),
                    some_null: a.contains(&None),
                    all_null: a.iter().all(Option::is_none),
                    some_nan: false,
                },
                Bounds {
                    least: b_least.map(Value::Float),
                    greatest: b_greatest.map(Value::Float),
                    some_null: b.contains(&None),
                    all_null: b.iter().all(Option::is_none),
                    some_nan: true,
                },
            ];
            let predicate = condition(&mut state, 2);
            let bound = BoundPredicate::bind(&predicate, &schema).unwrap();
            let columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(a)), Arc::new(Float64Array::from(b))];
            let passing = bound.evaluate(&columns, rows).unwrap().count_set_bits();
            let may_pass = bound.may_pass(&|column| bounds[column].clone());
            assert!(may_pass || passing == 0, "{predicate:?} {columns:?}");
            pruned += usize::from(!may_pass);
        }
        assert!(pruned > 1000, "{pruned}");
    }
}
