//! Expressions of analyzed plans that the engine would evaluate to another value than SQL does.
//!
//! | expression | the engine | here |
//! |---|---|---|
//! | `+`, `-`, `*` of integers, shifts | wraps | an error |
//! | floats and decimals cast to integers | cut | rounded |
//! | decimals cast to fewer digits after the point, and compared with a constant | compares the digits that are lost | rounded first |
//! | arithmetic of decimals | more digits than the type has | an error |
//! | `-0.0` as a key of joins, lists, windows, orders and distinct aggregates, in `case x when`, `nullif` and rows | differs from `0.0` | zeros have no sign |
//! | dates, times and texts of times compared with each other | in nanoseconds: an error for years before 1678 and after 2262; seconds and milliseconds with literals of more digits as if these had none | compares, in microseconds where these are enough |
//! | texts cast to moments | must have seconds | `2024-10-27 00:10` has none: see `times` |
//! | decimals cast to floats | a float that may not be the nearest | the nearest |
//! | intervals, in comparisons, orders, groups, joins, `distinct` | by months, then days, then the rest: a day is longer than 36 hours | by length: see `intervals`, `groups` |
//! | `x not in (select …)` with other parts of a condition beside it by `or`, for a constant, or where the subquery depends on the outer row | loses that a null may be anything | `not exists (select … where x = … or it is unknown)`: see `memberships` |
//! | `x in (select …)` as a value | refuses it | true, false or null: see `memberships`, `marks` |

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result, ScalarValue, internal_err};
use datafusion::config::ConfigOptions;
use datafusion::functions::core::coalesce;
use datafusion::logical_expr::binary::BinaryTypeCoercer;
use datafusion::logical_expr::expr::{
    AggregateFunction, Between, Case, Cast, InList, InSubquery, ScalarFunction, Sort, TryCast, WindowFunction,
};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    BinaryExpr, Distinct, Expr, ExprSchemable, JoinConstraint, LogicalPlan, LogicalPlanBuilder, Operator, Subquery, lit,
};
use datafusion::optimizer::AnalyzerRule;

use arrow_schema::{DataType, TimeUnit};

use crate::functions::doubles::nearest;
use crate::functions::intervals::has_several_fields;
use crate::functions::operations::{
    canonical, checked, first_operand, further, in_microseconds, in_nanoseconds, is_in_one_form, length, nearest_float,
    negated, rounded, whole, without_sign_of_zero,
};
use crate::functions::sums::DIGITS;
use crate::rewrite::correlated::with_key_columns;
use crate::rewrite::groups::grouped;
use crate::rewrite::instants::is_text;
use crate::rewrite::kept_names::map_named;
use crate::rewrite::memberships::{as_value, memberships};
use crate::rewrite::times::seconds_of;
use crate::syntax::spelling::digits_of_second;

/// The rule that replaces them.
#[derive(Debug)]
pub(crate) struct Exact;

impl AnalyzerRule for Exact {
    fn name(&self) -> &str {
        "exact"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let plan = plan.transform_up_with_subqueries(|plan| rewritten(plan).map(Transformed::yes))?;
        Ok(plan.data)
    }
}

fn rewritten(plan: LogicalPlan) -> Result<LogicalPlan> {
    let mut schema = merge_schema(&plan.inputs());
    if let LogicalPlan::TableScan(scan) = &plan {
        let own = DFSchema::try_from_qualified_schema(scan.table_name.clone(), &scan.source.schema())?;
        schema.merge(&own);
    }
    let plan = match plan {
        LogicalPlan::Sort(mut sort) => {
            sort.expr = sort.expr.into_iter().map(|one| ordered(one, &schema)).collect();
            LogicalPlan::Sort(sort)
        }
        LogicalPlan::Join(mut join) => {
            for (left, right) in &mut join.on {
                let sides = two_moments(left.clone(), right.clone(), &schema);
                if [&*left, &*right] != [&sides[0], &sides[1]] {
                    [*left, *right] = sides;
                    join.join_constraint = JoinConstraint::On;
                }
                if has_forms(left, &schema) || has_forms(right, &schema) {
                    for side in [left, right] {
                        *side = alike(side.clone(), &schema);
                    }
                    // The keys of USING are columns.
                    join.join_constraint = JoinConstraint::On;
                }
            }
            LogicalPlan::Join(join)
        }
        LogicalPlan::Filter(mut filter) => {
            filter.predicate = memberships(filter.predicate, false, true, &schema)?;
            LogicalPlan::Filter(filter)
        }
        LogicalPlan::Distinct(Distinct::On(mut on)) => {
            on.on_expr = on.on_expr.into_iter().map(|one| interval(zero(one, &schema), &schema)).collect();
            on.sort_expr = on.sort_expr.map(|all| all.into_iter().map(|one| ordered(one, &schema)).collect());
            LogicalPlan::Distinct(Distinct::On(on))
        }
        LogicalPlan::Projection(_) => {
            let one = |part| as_value(part, &schema)?.transform_data(|part| Ok(truth(part)));
            map_named(plan, |value| value.transform_up(one))?.data
        }
        other => other,
    };
    let plan = map_named(plan, |expression| expression.transform_up(|expression| one(expression, &schema)))?;
    grouped(match plan.transformed {
        true => plan.data.recompute_schema()?,
        false => plan.data,
    })
}

/// `x is true`, `x is false` and their opposites, which are never null: the engine says so, and forgets it where it compares with distinctness.
fn truth(part: Expr) -> Transformed<Expr> {
    let with = |value: Box<Expr>, other: bool| coalesce().call(vec![*value, lit(other)]);
    Transformed::yes(match part {
        Expr::IsTrue(value) => with(value, false),
        Expr::IsFalse(value) => Expr::Not(with(value, true).into()),
        Expr::IsNotTrue(value) => Expr::Not(with(value, false).into()),
        Expr::IsNotFalse(value) => with(value, true),
        other => return Transformed::no(other),
    })
}

/// One expression, whose parts are rewritten.
fn one(expression: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let no = |expression| Ok(Transformed::no(expression));
    let yes = |expression| Ok(Transformed::yes(expression));
    match expression {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => binary(*left, op, *right, schema),
        Expr::Negative(value) if type_of(&value, schema).is_some_and(|own| own.is_integer()) => yes(negated(*value)),
        Expr::Cast(Cast { expr, field }) if *field.data_type() == DataType::Float64 => match *expr {
            Expr::Literal(ScalarValue::Decimal128(Some(value), _, scale), _) => {
                yes(Expr::Literal(ScalarValue::Float64(Some(nearest(value, scale))), None))
            }
            value if matches!(type_of(&value, schema), Some(DataType::Decimal128(..))) => yes(nearest_float(value)),
            value => no(Expr::Cast(Cast { expr: Box::new(value), field })),
        },
        Expr::Cast(Cast { expr, field }) => match near(*expr, field.data_type(), schema) {
            Ok(expr) => yes(Expr::Cast(Cast { expr: Box::new(expr), field })),
            Err(expr) => no(Expr::Cast(Cast { expr: Box::new(expr), field })),
        },
        Expr::TryCast(TryCast { expr, field }) => match near(*expr, field.data_type(), schema) {
            Ok(expr) => yes(Expr::TryCast(TryCast { expr: Box::new(expr), field })),
            Err(expr) => no(Expr::TryCast(TryCast { expr: Box::new(expr), field })),
        },
        Expr::Between(Between { expr, negated, low, high }) => {
            if is_mixed(&[&expr, &low, &high], schema) {
                let low = binary(expr.as_ref().clone(), Operator::GtEq, *low, schema)?.data;
                let both = low.and(binary(*expr, Operator::LtEq, *high, schema)?.data);
                return yes(if negated { Expr::Not(both.into()) } else { both });
            }
            let all = moments(vec![*expr, *low, *high], schema).into_iter();
            let mut all = all.map(|one| interval(one, schema));
            let [Some(expr), Some(low), Some(high)] = [all.next(), all.next(), all.next()] else {
                return internal_err!("between without bounds");
            };
            yes(Expr::Between(Between { expr: expr.into(), negated, low: low.into(), high: high.into() }))
        }
        Expr::InList(InList { expr, list, negated }) => {
            if is_mixed(&std::iter::once(&*expr).chain(&list).collect::<Vec<_>>(), schema) {
                let equal = |one| Ok(binary(expr.as_ref().clone(), Operator::Eq, one, schema)?.data);
                let any = list.into_iter().map(equal).collect::<Result<Vec<_>>>()?.into_iter().reduce(Expr::or);
                let any = any.unwrap_or_else(|| Expr::Literal(ScalarValue::Boolean(Some(false)), None));
                return yes(if negated { Expr::Not(any.into()) } else { any });
            }
            let all = moments(std::iter::once(*expr).chain(list).collect(), schema).into_iter();
            let mut all: Vec<Expr> = all.map(|one| interval(one, schema)).collect();
            if is_float(&all[0], schema) && all[1..].iter().any(may_be_zero) {
                all = all.into_iter().map(|one| alike(one, schema)).collect();
            }
            let expr = Box::new(all.remove(0));
            yes(Expr::InList(InList { expr, list: all, negated }))
        }
        Expr::InSubquery(InSubquery { expr, subquery, negated }) if has_forms(&expr, schema) => {
            let Subquery { subquery, outer_ref_columns, spans } = subquery;
            let inner = subquery.schema().columns().into_iter().map(Expr::Column);
            let inner: Vec<Expr> = inner
                .map(|column| {
                    let (relation, name) = column.qualified_name();
                    alike(column, subquery.schema()).alias_qualified(relation, name)
                })
                .collect();
            let subquery = LogicalPlanBuilder::from(subquery.as_ref().clone()).project(inner)?.build()?;
            let subquery = Subquery { subquery: subquery.into(), outer_ref_columns, spans };
            yes(Expr::InSubquery(InSubquery { expr: Box::new(alike(*expr, schema)), subquery, negated }))
        }
        Expr::Case(Case { expr: Some(of), when_then_expr, else_expr }) if has_forms(&of, schema) => {
            let each = |(when, then): (Box<Expr>, Box<Expr>)| (Box::new(alike(*when, schema)), then);
            let when_then_expr = when_then_expr.into_iter().map(each).collect();
            yes(Expr::Case(Case { expr: Some(Box::new(alike(*of, schema))), when_then_expr, else_expr }))
        }
        Expr::ScalarFunction(ScalarFunction { func, args })
            if func.name() == "nullif" && args.len() == 2 && !args.iter().any(Expr::is_volatile) =>
        {
            let has_forms = args.iter().any(|one| has_forms(one, schema));
            match (has_forms, <[Expr; 2]>::try_from(args)) {
                (true, Ok([value, other])) => {
                    let then = ScalarValue::try_from(&value.get_type(schema)?)?;
                    let when = binary(value.clone(), Operator::Eq, other, schema)?.data;
                    let when_then_expr = vec![(Box::new(when), Box::new(Expr::Literal(then, None)))];
                    yes(Expr::Case(Case { expr: None, when_then_expr, else_expr: Some(Box::new(value)) }))
                }
                (_, Ok(args)) => no(Expr::ScalarFunction(ScalarFunction { func, args: args.into() })),
                (_, Err(args)) => no(Expr::ScalarFunction(ScalarFunction { func, args })),
            }
        }
        Expr::ScalarFunction(ScalarFunction { func, args })
            if matches!(func.name(), "greatest" | "least") && args.iter().any(|one| is_interval(one, schema)) =>
        {
            let is_greatest = func.name() == "greatest";
            match args.into_iter().reduce(|one, other| further(one, other, is_greatest)) {
                Some(found) => yes(found),
                None => internal_err!("the greatest of nothing"),
            }
        }
        Expr::ScalarSubquery(subquery) => yes(Expr::ScalarSubquery(with_key_columns(subquery)?)),
        Expr::AggregateFunction(AggregateFunction { func, mut params }) => {
            if params.distinct {
                params.args = params.args.into_iter().map(|one| alike(one, schema)).collect();
            }
            params.order_by = params.order_by.into_iter().map(|one| ordered(one, schema)).collect();
            yes(Expr::AggregateFunction(AggregateFunction { func, params }))
        }
        Expr::WindowFunction(window) => {
            let WindowFunction { fun, mut params } = *window;
            params.order_by = params.order_by.into_iter().map(|one| ordered(one, schema)).collect();
            params.partition_by = params.partition_by.into_iter().map(|one| alike(one, schema)).collect();
            if params.distinct {
                params.args = params.args.into_iter().map(|one| alike(one, schema)).collect();
            }
            yes(Expr::WindowFunction(Box::new(WindowFunction { fun, params })))
        }
        other => no(other),
    }
}

/// A value that is changed before it is cast: texts of moments get seconds, and what is cast to a type of fewer digits after the point is rounded. The engine cuts what it casts to integers, and compares what it
/// casts to shorter decimals as if it had been cast back. `Err` is the value as it is.
fn near(value: Expr, to: &DataType, schema: &DFSchema) -> std::result::Result<Expr, Expr> {
    let scale = match to {
        DataType::Decimal128(_, scale) => *scale,
        to if to.is_integer() => 0,
        DataType::Timestamp(..) | DataType::Date32 | DataType::Date64 if is_text(type_of(&value, schema).as_ref()) => {
            return Ok(seconds_of(value));
        }
        _ => return Err(value),
    };
    match type_of(&value, schema) {
        Some(DataType::Decimal128(_, from)) if from > scale => Ok(rounded(value, scale)),
        Some(DataType::Float32 | DataType::Float64) if to.is_integer() => Ok(whole(value)),
        _ => Err(value),
    }
}

fn binary(left: Expr, op: Operator, right: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let of = |left: Expr, right: Expr| Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right)));
    let is_shift = matches!(op, Operator::BitwiseShiftLeft | Operator::BitwiseShiftRight);
    if is_shift || matches!(op, Operator::Plus | Operator::Minus | Operator::Multiply) {
        let types = [type_of(&left, schema), type_of(&right, schema)];
        let is_whole = types[0] == types[1] && types[0].as_ref().is_some_and(DataType::is_integer);
        if is_whole {
            return Ok(Transformed::yes(checked(left, op, right, false)));
        }
    }
    if matches!(op, Operator::Plus | Operator::Minus | Operator::Multiply | Operator::Divide | Operator::Modulo) {
        let types = [type_of(&left, schema), type_of(&right, schema)];
        // Of fewer digits, the type of the result has room for all of them.
        let is_long = match &types {
            [Some(one @ DataType::Decimal128(..)), Some(other @ DataType::Decimal128(..))] => {
                matches!(BinaryTypeCoercer::new(one, &op, other).get_result_type()?, DataType::Decimal128(DIGITS, _))
            }
            _ => false,
        };
        return Ok(match is_long {
            true => Transformed::yes(checked(left, op, right, true)),
            false => Transformed::no(of(left, right)),
        });
    }
    let is_comparison = matches!(
        op,
        Operator::Eq
            | Operator::NotEq
            | Operator::Lt
            | Operator::LtEq
            | Operator::Gt
            | Operator::GtEq
            | Operator::IsDistinctFrom
            | Operator::IsNotDistinctFrom
    );
    if !is_comparison {
        return Ok(Transformed::no(of(left, right)));
    }
    let [left, right] = two_moments(left, right, schema).map(|side| interval(side, schema));
    // Rows are compared field by field.
    let [left, right] = [left, right].map(|side| match side {
        Expr::ScalarFunction(ScalarFunction { func, args })
            if matches!(func.name(), "struct" | "row" | "named_struct") =>
        {
            let args = args.into_iter().map(|one| alike(one, schema)).collect();
            Expr::ScalarFunction(ScalarFunction { func, args })
        }
        other => other,
    });
    // Equal floats of two tables are keys of a join.
    let is_key = matches!(op, Operator::Eq | Operator::IsNotDistinctFrom)
        && ![&left, &right].iter().any(|side| matches!(side, Expr::Literal(..)))
        && is_float(&left, schema);
    let [left, right] = match is_key {
        true => [left, right].map(|side| zero(side, schema)),
        false => [left, right],
    };
    Ok(Transformed::yes(of(left, right)))
}

fn type_of(expression: &Expr, schema: &DFSchema) -> Option<DataType> {
    match first_operand(expression) {
        Some(first) => type_of(first, schema),
        None => expression.get_type(schema).ok(),
    }
}

fn is_float(expression: &Expr, schema: &DFSchema) -> bool {
    type_of(expression, schema).is_some_and(|own| own.is_floating())
}

/// Whether a value of a list may be a zero.
fn may_be_zero(value: &Expr) -> bool {
    match value {
        Expr::Literal(ScalarValue::Float64(value), _) => value.is_some_and(|value| value == 0.0),
        Expr::Literal(ScalarValue::Float32(value), _) => value.is_some_and(|value| value == 0.0),
        _ => true,
    }
}

/// A float without the sign of zero; other values as they are.
fn zero(value: Expr, schema: &DFSchema) -> Expr {
    match is_float(&value, schema) && !is_in_one_form(&value) {
        true => without_sign_of_zero(value),
        false => value,
    }
}

fn is_interval(expression: &Expr, schema: &DFSchema) -> bool {
    type_of(expression, schema).is_some_and(|own| has_several_fields(&own))
}

/// Whether equal values may not be the same.
fn has_forms(expression: &Expr, schema: &DFSchema) -> bool {
    is_float(expression, schema) || is_interval(expression, schema)
}

/// A value that is the same as all that equal it: a float without the sign of zero, the interval that stands for all of its length; other values as they are.
pub(crate) fn alike(value: Expr, schema: &DFSchema) -> Expr {
    match is_interval(&value, schema) && !is_in_one_form(&value) {
        true => canonical(value),
        false => zero(value, schema),
    }
}

/// The length of an interval; other values as they are.
fn interval(value: Expr, schema: &DFSchema) -> Expr {
    match is_interval(&value, schema) {
        true => length(value),
        false => value,
    }
}

fn ordered(sort: Sort, schema: &DFSchema) -> Sort {
    Sort { expr: interval(zero(sort.expr, schema), schema), ..sort }
}

/// A value that is cast to nanoseconds for a comparison, without that cast, if it is a date, a time or a literal without nanoseconds. What other texts say is
/// not known: those that are too far away for nanoseconds are an error.
fn coarse<'e>(value: &'e Expr, schema: &DFSchema) -> Option<(&'e Expr, DataType)> {
    let Expr::Cast(Cast { expr, field }) = value else { return None };
    let own = type_of(expr, schema)?;
    let is_near = match (field.data_type(), &own) {
        (DataType::Timestamp(TimeUnit::Nanosecond, to), DataType::Timestamp(_, from)) => to == from,
        (DataType::Timestamp(TimeUnit::Nanosecond, None), DataType::Date32) => true,
        (DataType::Timestamp(TimeUnit::Nanosecond, None), _) => match &**expr {
            Expr::Literal(ScalarValue::Utf8(Some(text)), _) => digits_of_second(text) <= 6,
            _ => false,
        },
        _ => false,
    };
    is_near.then_some((expr, own))
}

/// Whether of more than two values that are compared some have nanoseconds, and others may be too far away for them: these are compared in pairs.
fn is_mixed(all: &[&Expr], schema: &DFSchema) -> bool {
    let count = all.iter().filter(|one| coarse(one, schema).is_some()).count();
    count > 0 && all.iter().any(|one| coarse(one, schema).is_none() && !is_null(one))
}

fn is_null(one: &Expr) -> bool {
    match one {
        Expr::Literal(value, _) => value.is_null(),
        Expr::Cast(Cast { expr, .. }) => matches!(&**expr, Expr::Literal(value, _) if value.is_null()),
        _ => false,
    }
}

fn two_moments(left: Expr, right: Expr, schema: &DFSchema) -> [Expr; 2] {
    let mut both = moments(vec![left, right], schema).into_iter();
    [both.next().unwrap_or_default(), both.next().unwrap_or_default()]
}

/// Values that are compared with each other. If none of them has nanoseconds, microseconds are enough, and reach further.
fn moments(all: Vec<Expr>, schema: &DFSchema) -> Vec<Expr> {
    let are_coarse = all.iter().all(|one| is_null(one) || coarse(one, schema).is_some());
    let one = |one: Expr| match coarse(&one, schema) {
        None => one,
        Some((inner, own)) => match own {
            DataType::Timestamp(TimeUnit::Microsecond, _) if are_coarse => inner.clone(),
            DataType::Timestamp(_, zone) if are_coarse => {
                let to = DataType::Timestamp(TimeUnit::Microsecond, zone);
                Expr::Cast(Cast::new(Box::new(inner.clone()), to))
            }
            _ if are_coarse => in_microseconds(inner.clone()),
            // What is too far away becomes the first or last nanosecond: before or after all others.
            DataType::Date32 | DataType::Timestamp(..) => in_nanoseconds(inner.clone()),
            _ => one,
        },
    };
    let has_moments = all.iter().any(|one| coarse(one, schema).is_some());
    let all = if has_moments { all.into_iter().map(one).collect() } else { all };
    with_all_digits(all, schema)
}

/// The same in microseconds, if they are cast to fewer and others have digits that the values which are cast cannot have: the engine compares a cast with a literal in the
/// type that is cast, as if the literal had no more digits than that.
fn with_all_digits(all: Vec<Expr>, schema: &DFSchema) -> Vec<Expr> {
    let casts: Vec<usize> = all.iter().filter_map(|one| widened(one, schema)).map(|(_, digits)| digits).collect();
    let Some(fewest) = casts.iter().min() else { return all };
    let digits = |one: &Expr| widened(one, schema).map_or_else(|| digits_of(one, schema), |(_, digits)| Some(digits));
    if all.iter().all(|one| is_null(one) || digits(one).is_some_and(|digits| digits <= *fewest)) {
        return all;
    }
    let one = |one: Expr| match (widened(&one, schema), type_of(&one, schema)) {
        (Some((inner, _)), _) => in_microseconds(inner.clone()),
        (None, Some(DataType::Timestamp(TimeUnit::Second | TimeUnit::Millisecond, _))) => in_microseconds(one),
        _ => one,
    };
    all.into_iter().map(one).collect()
}

/// A moment that is cast to microseconds or fewer, of which it has fewer, and how many digits after the point its seconds have.
fn widened<'e>(value: &'e Expr, schema: &DFSchema) -> Option<(&'e Expr, usize)> {
    let Expr::Cast(Cast { expr, field }) = value else { return None };
    match (type_of(expr, schema)?, field.data_type()) {
        (DataType::Timestamp(from, zone), DataType::Timestamp(to, other))
            if from < *to && *to <= TimeUnit::Microsecond && zone == *other =>
        {
            Some((expr, digits_of_unit(from)))
        }
        _ => None,
    }
}

/// How many digits after the point the seconds of a moment may have; `None` if any number.
fn digits_of(moment: &Expr, schema: &DFSchema) -> Option<usize> {
    let of_units = |value: i64, most: usize| {
        let zeros = std::iter::successors(Some(value), |left| (left % 10 == 0).then_some(left / 10)).skip(1).take(most);
        most - zeros.count()
    };
    match moment {
        Expr::Literal(ScalarValue::TimestampMicrosecond(Some(value), _), _) => Some(of_units(*value, 6)),
        Expr::Literal(ScalarValue::TimestampMillisecond(Some(value), _), _) => Some(of_units(*value, 3)),
        Expr::Literal(ScalarValue::Utf8(Some(text)), _) => Some(digits_of_second(text)),
        Expr::Cast(Cast { expr, .. }) if matches!(&**expr, Expr::Literal(..)) => digits_of(expr, schema),
        Expr::ScalarFunction(ScalarFunction { args, .. }) if matches!(args.as_slice(), [Expr::Literal(..)]) => {
            args.first().and_then(|one| digits_of(one, schema))
        }
        other => match type_of(other, schema)? {
            DataType::Date32 => Some(0),
            DataType::Timestamp(unit, _) => Some(digits_of_unit(unit)),
            _ => None,
        },
    }
}

fn digits_of_unit(unit: TimeUnit) -> usize {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    }
}
