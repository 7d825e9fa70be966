//! Instants, dates and times of day beside values of other types.
//!
//! | operands | the engine | here |
//! |---|---|---|
//! | an instant (a timestamp with a zone), and a timestamp, date or text without one | reads the latter in the zone of the former | reads it in UTC, as casts do |
//! | instants of two zones | may change the column | changes the constant |
//! | a time of day, and a text or parameter | cuts its digits to those of the time | compares all of them |
//! | a date, and a text with a time of day | ignores the time of day | compares timestamps |
//!
//! What no column is in takes the type of what has one, so that conditions on columns stay what they are.

use std::sync::Arc;

use arrow_schema::{DataType, TimeUnit};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::functions::core::coalesce;
use datafusion::logical_expr::expr::{Case, InList, InSubquery, ScalarFunction, SetComparison};
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    Between, BinaryExpr, Expr, ExprSchemable, JoinConstraint, LogicalPlan, LogicalPlanBuilder, Operator, Subquery, cast,
};
use datafusion::sql::sqlparser::ast::BinaryOperator;
use isomorph::Error;
use isomorph::error::Place;

use crate::errors::inside;
use crate::functions::moment_lists::{compared, item, of_one_type};
use crate::rewrite::kept_names::map_named;
use crate::rewrite::mixed::{UNITING, is_comparison};
use crate::rewrite::times::{in_one_unit, seconds_of};
use crate::syntax::spelling::digits_of_second;

/// The zone of instants that are written down.
pub(crate) const UTC: &str = "+00:00";

/// The widest type of times of day.
pub(crate) const TIME: DataType = DataType::Time64(TimeUnit::Nanosecond);

/// The plan, in which such operands have types that the engine compares by value.
///
/// # Errors
/// Those of the engine.
pub(crate) fn instants(plan: LogicalPlan) -> Result<LogicalPlan> {
    let plan = match plan {
        LogicalPlan::Join(mut join) => {
            let schema = merge_schema(&[join.left.as_ref(), join.right.as_ref()]);
            for (left, right) in &mut join.on {
                let mut both = [left, right];
                let is_changed = of_one_kind(&mut both, &schema);
                if in_one_unit(&mut both, &schema) || is_changed {
                    // The keys of USING are columns.
                    join.join_constraint = JoinConstraint::On;
                }
            }
            LogicalPlan::Join(join)
        }
        other => other,
    };
    let schema = merge_schema(&plan.inputs());
    let changed = map_named(plan, |expression| expression.transform_up(|expression| one(expression, &schema)))?;
    Ok(changed.data)
}

fn one(mut expression: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    check_digits(&expression, schema)?;
    let is_changed = match &mut expression {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_comparison(*op) => {
            of_one_kind(&mut [&mut **left, &mut **right], schema)
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Minus, right }) => {
            let are_moments = [&left, &right]
                .iter()
                .all(|one| one.get_type(schema).is_ok_and(|own| matches!(own, DataType::Timestamp(..))));
            are_moments && of_one_kind(&mut [&mut **left, &mut **right], schema)
        }
        Expr::Between(Between { expr, low, high, .. }) => {
            of_one_kind(&mut [&mut **expr, &mut **low, &mut **high], schema)
        }
        Expr::InList(InList { expr, list, .. }) => {
            of_one_kind(&mut std::iter::once(&mut **expr).chain(list).collect::<Vec<_>>(), schema)
        }
        Expr::Case(Case { expr: Some(expr), when_then_expr, .. }) => {
            let keys = when_then_expr.iter_mut().map(|(when, _)| &mut **when);
            of_one_kind(&mut keys.chain([&mut **expr]).collect::<Vec<_>>(), schema)
        }
        Expr::ScalarFunction(ScalarFunction { func, args }) => match compared(func.name(), args.len()) {
            Some(count) => args.get_mut(..count).is_some_and(|args| of_one_type(args, schema)),
            None => false,
        },
        Expr::InSubquery(InSubquery { expr, subquery, .. }) => of_subquery(expr, subquery, schema)?,
        Expr::SetComparison(SetComparison { expr, subquery, .. }) => of_subquery(expr, subquery, schema)?,
        _ => false,
    };
    let is_changed = united(&mut expression, schema) || is_changed;
    Ok(if is_changed { Transformed::yes(expression) } else { Transformed::no(expression) })
}

/// Changes the values of an expression that become one. Returns whether it has.
pub(crate) fn united(expression: &mut Expr, schema: &DFSchema) -> bool {
    let mut values: Vec<&mut Expr> = match expression {
        Expr::Case(Case { when_then_expr, else_expr, .. }) => {
            let values = when_then_expr.iter_mut().map(|(_, then)| &mut **then);
            values.chain(else_expr.as_deref_mut()).collect()
        }
        Expr::ScalarFunction(ScalarFunction { func, args }) if UNITING.contains(&func.name()) => {
            // The same function, whose types the engine unites better: as `nvl`, two units of timestamps become a text.
            if func.name() == "nvl" {
                *func = coalesce();
            }
            args.iter_mut().collect()
        }
        Expr::ScalarFunction(ScalarFunction { func, args }) if func.name() == "nvl2" => {
            args.iter_mut().skip(1).collect()
        }
        // The default of `lag` and `lead`.
        Expr::WindowFunction(window) => match window.params.args.as_mut_slice() {
            [value, _, default] => vec![value, default],
            _ => return false,
        },
        _ => return false,
    };
    let is_changed = of_one_kind(&mut values, schema);
    of_one_unit(&mut values, schema) || is_changed
}

/// Brings instants to the finest unit among them, so that a function of them knows it. Returns whether it has changed one.
fn of_one_unit(values: &mut [&mut Expr], schema: &DFSchema) -> bool {
    let types: Vec<Option<DataType>> = values.iter().map(|one| one.get_type(schema).ok()).collect();
    let unit = |own: &Option<DataType>| match own {
        Some(DataType::Timestamp(unit, Some(_))) => Some(*unit),
        _ => None,
    };
    let finest = types.iter().filter_map(unit).max();
    let mut is_changed = false;
    for (one, own) in values.iter_mut().zip(&types) {
        if let (Some(own @ DataType::Timestamp(unit, zone @ Some(_))), Some(finest)) = (own, finest)
            && *unit < finest
            && !is_open(one)
        {
            **one = as_moment(std::mem::take(*one), own, &DataType::Timestamp(finest, zone.clone()));
            is_changed = true;
        }
    }
    is_changed
}

/// Refuses texts beside moments that have more digits than a moment has: the engine ignores them.
fn check_digits(expression: &Expr, schema: &DFSchema) -> Result<()> {
    let operands: Vec<&Expr> = match expression {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_comparison(*op) => vec![left, right],
        Expr::Between(Between { expr, low, high, .. }) => vec![expr, low, high],
        Expr::InList(InList { expr, list, .. }) => std::iter::once(&**expr).chain(list).collect(),
        Expr::ScalarFunction(ScalarFunction { func, args })
            if UNITING.contains(&func.name()) || compared(func.name(), args.len()).is_some() =>
        {
            args.iter().collect()
        }
        _ => return Ok(()),
    };
    let Some(text) = operands.iter().filter_map(|one| text(one)).find(|text| digits_of_second(text) > MOST_DIGITS)
    else {
        return Ok(());
    };
    let is_moment = |one: &&Expr| {
        let own = one.get_type(schema).ok();
        own.is_some_and(|own| item(&own).unwrap_or(&own).is_temporal())
    };
    match operands.iter().any(is_moment) {
        true => Err(inside(too_many_digits(text))),
        false => Ok(()),
    }
}

/// The most digits after the point of a second.
pub(crate) const MOST_DIGITS: usize = 9;

/// The error of a text with more digits.
pub(crate) fn too_many_digits(text: &str) -> Error {
    let count = digits_of_second(text);
    Error::usage(format!("a time has at most {MOST_DIGITS} digits after the point, found {count}: {text}"))
        .at(Place::file("the question"))
}

/// A value, and the column of the subquery that it is compared with.
fn of_subquery(value: &mut Expr, subquery: &mut Subquery, schema: &DFSchema) -> Result<bool> {
    let Some(column) = subquery.subquery.schema().columns().into_iter().next() else { return Ok(false) };
    let own = value.get_type(schema)?;
    let inner = subquery.subquery.schema().field(0).data_type().clone();
    let common = match (&own, &inner) {
        (own, inner) if own == inner => return Ok(false),
        (DataType::Time32(_) | DataType::Time64(_), DataType::Time32(_) | DataType::Time64(_)) => TIME,
        (DataType::Timestamp(unit, zone), DataType::Timestamp(other, of_other))
            if zone.is_some() || of_other.is_some() =>
        {
            DataType::Timestamp(*unit.max(other), Some(UTC.into()))
        }
        _ => return Ok(false),
    };
    let name = column.name.clone();
    let changed = as_moment(Expr::Column(column), &inner, &common);
    let plan = LogicalPlanBuilder::from(subquery.subquery.as_ref().clone()).project([changed.alias(name)])?.build()?;
    subquery.subquery = Arc::new(plan);
    *value = as_moment(std::mem::take(value), &own, &common);
    Ok(true)
}

/// Changes the operands of a comparison, or values that become one column. Returns whether it has.
fn of_one_kind(operands: &mut [&mut Expr], schema: &DFSchema) -> bool {
    let types: Vec<Option<DataType>> = operands.iter().map(|one| one.get_type(schema).ok()).collect();
    let has = |is: fn(&DataType) -> bool| {
        operands.iter().zip(&types).any(|(one, own)| !is_open(one) && own.as_ref().is_some_and(is))
    };
    if has(|own| matches!(own, DataType::Time32(_) | DataType::Time64(_))) {
        return of_times(operands, &types);
    }
    if has(|own| matches!(own, DataType::Timestamp(_, Some(_)))) {
        return of_instants(operands, &types);
    }
    if has(|own| *own == DataType::Date32) {
        return of_dates(operands);
    }
    false
}

fn is_open(operand: &Expr) -> bool {
    matches!(operand, Expr::Placeholder(_))
}

pub(crate) fn is_text(data_type: Option<&DataType>) -> bool {
    matches!(data_type, Some(DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View))
}

/// The text of a literal.
pub(crate) fn text(operand: &Expr) -> Option<&str> {
    match operand {
        Expr::Literal(value, _) => value.try_as_str().flatten(),
        _ => None,
    }
}

/// Texts and parameters beside times of day have all of their digits.
fn of_times(operands: &mut [&mut Expr], types: &[Option<DataType>]) -> bool {
    let mut is_changed = false;
    for (one, own) in operands.iter_mut().zip(types) {
        if is_open(one) || is_text(own.as_ref()) {
            **one = cast(std::mem::take(*one), TIME);
            is_changed = true;
        }
    }
    is_changed
}

/// Texts with a time of day beside dates are timestamps.
fn of_dates(operands: &mut [&mut Expr]) -> bool {
    let mut is_changed = false;
    for one in operands {
        if let Some(unit) = text(one).filter(|text| text.contains(':')).map(|text| unit(text, TimeUnit::Microsecond)) {
            **one = cast(std::mem::take(*one), DataType::Timestamp(unit, None));
            is_changed = true;
        }
    }
    is_changed
}

/// The unit that has all digits of a text.
pub(crate) fn unit(text: &str, least: TimeUnit) -> TimeUnit {
    least.max(match digits_of_second(text) {
        0 => TimeUnit::Second,
        1..=3 => TimeUnit::Millisecond,
        4..=6 => TimeUnit::Microsecond,
        _ => TimeUnit::Nanosecond,
    })
}

/// Brings what is beside instants into their zone, or, if only others are columns, instants to UTC without a zone.
fn of_instants(operands: &mut [&mut Expr], types: &[Option<DataType>]) -> bool {
    let moments = || {
        operands.iter().zip(types).filter_map(|(one, own)| match own.as_ref()? {
            DataType::Timestamp(unit, zone) if !is_open(one) => Some((&**one, *unit, zone.clone())),
            DataType::Date32 => Some((&**one, TimeUnit::Second, None)),
            _ => None,
        })
    };
    let has_column = |one: &Expr| !one.column_refs().is_empty() || one.contains_outer();
    let of_column = moments().filter(|(one, ..)| has_column(one)).collect::<Vec<_>>();
    let zone = match of_column.iter().find(|(.., zone)| zone.is_some()).or(of_column.first()) {
        Some((.., zone)) => zone.clone(),
        None => moments().find_map(|(.., zone)| zone),
    };
    // The coarsest unit that all columns, and constants beside them, have.
    let least = moments().map(|(_, unit, _)| unit).max().unwrap_or(TimeUnit::Microsecond);
    let mut is_changed = false;
    for (one, own) in operands.iter_mut().zip(types) {
        let Some(own) = own.as_ref().filter(|_| !is_open(one)) else { continue };
        let to = match own {
            DataType::Timestamp(_, of_one) if *of_one == zone => continue,
            DataType::Timestamp(unit, _) => DataType::Timestamp(*unit, zone.clone()),
            // Dates beside timestamps without a zone are compared as they are.
            DataType::Date32 if zone.is_none() => continue,
            DataType::Date32 => DataType::Timestamp(least, zone.clone()),
            own if is_text(Some(own)) => {
                let unit = text(one).map_or(TimeUnit::Nanosecond, |text| unit(text, least));
                DataType::Timestamp(unit, zone.clone())
            }
            _ => continue,
        };
        **one = in_zone(std::mem::take(*one), own, zone.as_ref(), &to);
        is_changed = true;
    }
    is_changed
}

/// A moment as a timestamp of a zone, or without one: the same instant, where what has no zone is UTC.
fn in_zone(moment: Expr, own: &DataType, zone: Option<&Arc<str>>, to: &DataType) -> Expr {
    let DataType::Timestamp(unit, _) = to else { return moment };
    let utc = DataType::Timestamp(*unit, Some(UTC.into()));
    // A constant stays one: conditions on columns are known before the plan is made.
    let moment = if is_text(Some(own)) && text(&moment).is_some() { seconds_of(moment) } else { moment };
    if let Expr::Literal(value, metadata) = &moment
        && let Ok(found) = value.cast_to(&utc).and_then(|value| value.cast_to(to))
    {
        return Expr::Literal(found, metadata.clone());
    }
    let is_direct = zone.is_some() && matches!(own, DataType::Timestamp(_, Some(_)));
    match is_direct || utc == *to {
        true => cast(moment, to.clone()),
        false => cast(cast(moment, utc), to.clone()),
    }
}

/// A moment of the type `own` as one of another type with the zone of an instant, or a time of day.
pub(crate) fn as_moment(moment: Expr, own: &DataType, to: &DataType) -> Expr {
    match to {
        DataType::Timestamp(_, zone) => in_zone(moment, own, zone.as_ref(), to),
        other => cast(moment, other.clone()),
    }
}

/// Times of day of two units are compared in nanoseconds, already where the planner finds the types of what is selected.
#[derive(Debug)]
pub(crate) struct Times;

impl ExprPlanner for Times {
    fn plan_binary_op(&self, mut raw: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        use BinaryOperator as O;
        if matches!(raw.op, O::Eq | O::NotEq | O::Lt | O::LtEq | O::Gt | O::GtEq | O::Spaceship) {
            in_one_unit(&mut [&mut raw.left, &mut raw.right], schema);
        }
        let is_moment = |one: &Expr| one.get_type(schema).is_ok_and(|own| matches!(own, DataType::Timestamp(..)));
        if raw.op == O::Minus && is_moment(&raw.left) && is_moment(&raw.right) {
            of_one_kind(&mut [&mut raw.left, &mut raw.right], schema);
        }
        Ok(PlannerResult::Original(raw))
    }
}

/// The value of a text as an instant of a zone: without an offset it is UTC.
///
/// # Errors
/// If it is no time.
pub(crate) fn instant(text: &str, unit: TimeUnit, zone: &Arc<str>) -> Result<ScalarValue> {
    let utc = DataType::Timestamp(unit, Some(UTC.into()));
    let value = ScalarValue::try_from_string(text.to_owned(), &utc)?;
    value.cast_to(&DataType::Timestamp(unit, Some(Arc::clone(zone))))
}
