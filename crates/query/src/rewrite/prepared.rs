//! Plans of the engine's SQL planner, with the meaning that SQL gives the question where the planner's is another.
//!
//! | question | the planner | here |
//! |---|---|---|
//! | `x = any (select x …)` | compares the inner `x` with itself | the inner table has a name of its own |
//! | `x < any (select …)`, where the subquery depends on the outer row, or the comparison is a value | fails | see `quantified` |
//! | a subquery with a limit that depends on the outer row | refuses it | rows that are numbered: see `limited` |
//! | windows of a subquery that depends on the outer row | makes them of the rows of all outer rows | parts of the rows of each: see `limited` |
//! | comparisons with subqueries in `order by` and in the conditions of joins | refuses them | columns of the rows below: see `lifted` |
//! | a subquery as a value that depends on the outer row, without an aggregate | refuses it | an error if it has several rows: see `one_row` |
//! | `intersect` and `except` of two queries that depend on the outer row | refuses them | the condition above both: see `correlated_sets` |
//! | a comparison with a union that depends on the outer row | refuses it | comparisons with its queries: see `correlated_unions` |
//! | `intersect all`, `except all` | keep or drop all equal rows | equal rows are numbered, and their numbers compared too |
//! | `exists (…)` as a value; aggregates that depend on the outer row | refuses it; loses their row | see `marks`, `row_counts` |
//! | numerals with a point | exact decimals everywhere, or floats everywhere | decimals beside decimals, otherwise floats |
//! | decimals beside floats | the float is a decimal of 15 digits after the point | the decimal is a float |
//! | `date_trunc` of a date, or of a time without a zone | nanoseconds, which have no years before 1678 | microseconds, or the unit of the time |
//! | `(a, b) in (select x, y …)`, where the subquery depends on the outer row | loses what the inner table is called | see `correlated` |
//! | `x in (…)` with columns or null | mixes up two lists about one value | see `lists` |
//! | windows in the order of intervals | refuses them | the order of their lengths |
//! | windows in the order of times of day, with distances in their frames | an internal error | the times of one day |
//! | windows in the order of times of day, durations, bytes or structs, without distances in their frames | refuses them | frames of peers, which are the same |
//! | instants beside values without a zone, times of day beside texts | the zone of the column; digits that are cut | UTC; all digits: see `instants` |
//! | parts of instants, and `at time zone` | the zone of the column | UTC; as in PostgreSQL: see `zones` |
//! | a time and an interval or duration with more digits | the digits of the time | all digits |
//! | `range` frames over moments, with intervals | months and days of the zone of the column, digits of its type | those of UTC, all digits |
//! | a date and an interval with hours, minutes or seconds, or one that is calculated | a date, without the part of the day | a time |

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_schema::{DataType, IntervalUnit, TimeUnit};
use datafusion::common::metadata::FieldMetadata;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, NullEquality, Result, ScalarValue};
use datafusion::functions_window::row_number::row_number;
use datafusion::logical_expr::expr::{Between, Cast, InList, ScalarFunction, SetComparison, TryCast};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    BinaryExpr, Distinct, Expr, ExprFunctionExt, ExprSchemable, Join, LogicalPlan, LogicalPlanBuilder, Operator,
    Subquery, SubqueryAlias, Values, WindowFrame, WindowFrameBound, WindowFrameUnits, cast,
};

use crate::functions::doubles::nearest;
use crate::functions::intervals::has_several_fields;
use crate::functions::operations::{begin, length};
use crate::rewrite::correlated::{check_levels, compared_rows, opened, with_outer_types};
use crate::rewrite::correlated_sets::{is_set, with_condition_above};
use crate::rewrite::correlated_unions::divided;
use crate::rewrite::instants::{TIME, instants};
use crate::rewrite::kept_names::map_named;
use crate::rewrite::lifted::lifted;
use crate::rewrite::limited::{limited, of_first_row, partitioned};
use crate::rewrite::lists::lists;
use crate::rewrite::mixed::mixed;
use crate::rewrite::one_row::of_one_row;
use crate::rewrite::quantified::quantified;
use crate::rewrite::row_counts;
use crate::rewrite::unions::{retyped, unions};
use crate::rewrite::zones::{utc_of, zones};
use crate::syntax::casts;

/// The most digits of an integer that always has 64 bits.
const DIGITS: u8 = 18;

/// The plan with the meaning of SQL.
///
/// # Errors
/// Those of the engine.
pub(crate) fn prepared(plan: LogicalPlan) -> Result<LogicalPlan> {
    let names = AtomicUsize::new(0);
    let plan = plan.transform_up_with_subqueries(casts::plain)?.data;
    // What a moment is decides what it is compared and united with: by all that follows.
    let zoned = |plan| retyped(zones(plan)?)?.recompute_schema().map(Transformed::yes);
    let plan = with_outer_types(plan.transform_up_with_subqueries(zoned)?.data)?;
    let plan = plan.transform_up_with_subqueries(|plan| lifted(plan).map(Transformed::yes))?.data;
    let plan = plan.transform_up_with_subqueries(|plan| {
        let plan = limited(partitioned(compared_rows(opened(plan)?)?.data)?)?;
        let plan = divided(map_named(plan, |value| value.transform_up(one_value))?.data)?;
        check_levels(&plan)?;
        let plan = row_counts::counted(plan)?;
        let plan = quantified(plan)?;
        let plan = compared(plan, &names)?;
        let plan = with_condition_above(counted(plan)?)?;
        let plan = numerals(plan)?;
        let plan = unions(instants(plan)?)?;
        let plan = mixed(plan)?;
        let plan = row_counts::values(lists(plan)?)?;
        plan.recompute_schema().map(Transformed::yes)
    });
    Ok(plan?.data)
}

/// A subquery of one value that depends on the outer row.
fn one_value(part: Expr) -> Result<Transformed<Expr>> {
    match part {
        Expr::ScalarSubquery(subquery) => of_one_row(of_first_row(subquery)?).map(Transformed::yes),
        other => Ok(Transformed::no(other)),
    }
}

/// Gives tables of `any` and `all` names of their own.
fn compared(plan: LogicalPlan, names: &AtomicUsize) -> Result<LogicalPlan> {
    let named = |comparison: SetComparison| {
        let name = format!("_compared_{}", names.fetch_add(1, Ordering::Relaxed));
        let Subquery { subquery, outer_ref_columns, spans } = comparison.subquery;
        let inner = LogicalPlan::SubqueryAlias(SubqueryAlias::try_new(subquery, name)?);
        let subquery = Subquery { subquery: Arc::new(inner), outer_ref_columns, spans };
        Ok(Expr::SetComparison(SetComparison { subquery, ..comparison }))
    };
    let rename = |expression: Expr| {
        expression.transform_up(|expression| match expression {
            Expr::SetComparison(comparison) => named(comparison).map(Transformed::yes),
            other => Ok(Transformed::no(other)),
        })
    };
    Ok(plan.map_expressions(rename)?.data)
}

/// Numbers the equal rows of both sides of `intersect all` and `except all`. Without `all` the left side has no equal rows.
fn counted(plan: LogicalPlan) -> Result<LogicalPlan> {
    let LogicalPlan::Join(join) = &plan else { return Ok(plan) };
    if !is_set(join) || matches!(&*join.left, LogicalPlan::Distinct(Distinct::All(_))) {
        return Ok(plan);
    }
    let Join { left, right, on, join_type, .. } = join;
    let columns: Vec<Expr> = left.schema().columns().into_iter().map(Expr::Column).collect();
    let (mut of_left, mut of_right): (Vec<_>, Vec<_>) =
        on.iter().filter_map(|(left, right)| Some((left.try_as_col()?.clone(), right.try_as_col()?.clone()))).unzip();
    let (left, left_number) = numbered(left, "_copy_of_left")?;
    let (right, right_number) = numbered(right, "_copy_of_right")?;
    of_left.push(left_number);
    of_right.push(right_number);
    LogicalPlanBuilder::from(left)
        .join_detailed(right, *join_type, (of_left, of_right), None, NullEquality::NullEqualsNull)?
        .project(columns)?
        .build()
}

/// The rows with a number, from 1 in each set of equal rows.
fn numbered(plan: &LogicalPlan, name: &str) -> Result<(LogicalPlan, datafusion::common::Column)> {
    let columns: Vec<Expr> = plan.schema().columns().into_iter().map(Expr::Column).collect();
    let number = row_number().partition_by(columns.clone()).build()?;
    let shown = Expr::Column(datafusion::common::Column::from_name(number.schema_name().to_string()));
    let all = columns.into_iter().chain([shown.alias(name)]);
    let rows = partitioned(LogicalPlanBuilder::from(plan.clone()).window([number])?.build()?)?;
    let plan = LogicalPlanBuilder::from(rows).project(all)?.build()?;
    Ok((plan, datafusion::common::Column::from_name(name)))
}

/// Numerals with a point are decimals beside decimals, and floats elsewhere: the nearest ones.
fn numerals(plan: LogicalPlan) -> Result<LogicalPlan> {
    if let LogicalPlan::Values(Values { values, schema }) = plan {
        let rows: Vec<Vec<Expr>> = values
            .iter()
            .map(|row| row.iter().map(|cell| plain(cell.clone(), &DFSchema::empty())).collect())
            .collect::<Result<_>>()?;
        return match rows == values {
            true => Ok(LogicalPlan::Values(Values { values, schema })),
            false => LogicalPlanBuilder::values(rows)?.build(),
        };
    }
    let schema = merge_schema(&plan.inputs());
    let changed = map_named(plan, |expression| plain(expression, &schema).map(Transformed::yes))?;
    Ok(changed.data)
}

/// An expression whose numerals are what they stand beside: of an expression, they are decided after its other parts.
fn plain(expression: Expr, schema: &DFSchema) -> Result<Expr> {
    let decided = expression.transform_up(|expression| {
        if is_numeral(&expression) {
            return Ok(Transformed::no(expression));
        }
        let expression = measured(timed(truncated(expression, schema), schema), schema);
        if is_beside_decimals(&expression, schema) {
            return Ok(Transformed::yes(expression.map_children(|part| Ok(Transformed::yes(marked(part))))?.data));
        }
        let expression = floated(expression);
        Ok(Transformed::yes(expression.map_children(|part| Ok(Transformed::yes(float(part))))?.data))
    })?;
    let unmarked = float(decided.data).transform_up(|expression| {
        Ok(match expression {
            Expr::Literal(value, Some(mark)) if mark == exact() => Transformed::yes(Expr::Literal(value, None)),
            other => Transformed::no(other),
        })
    })?;
    Ok(unmarked.data)
}

/// A numeral as a float, if it has a point. An integer of more than 64 bits is a decimal.
fn float(expression: Expr) -> Expr {
    match expression {
        Expr::Literal(ScalarValue::Decimal128(Some(value), digits, scale), None) if scale > 0 || digits <= DIGITS => {
            Expr::Literal(ScalarValue::Float64(Some(nearest(value, scale))), None)
        }
        other => other,
    }
}

/// The mark of a literal that stays as it is.
fn exact() -> FieldMetadata {
    std::collections::BTreeMap::from([("isomorph.exact".to_owned(), String::new())]).into()
}

fn marked(expression: Expr) -> Expr {
    match expression {
        Expr::Literal(value @ ScalarValue::Decimal128(..), None) => Expr::Literal(value, Some(exact())),
        other => other,
    }
}

/// `date_trunc` of a date, or of a time whose unit has more years than nanoseconds.
fn truncated(expression: Expr, schema: &DFSchema) -> Expr {
    match expression {
        Expr::ScalarFunction(ScalarFunction { func, args }) if func.name() == "date_trunc" => match args.as_slice() {
            [of @ Expr::Literal(..), time]
                if time.get_type(schema).is_ok_and(|own| match own {
                    DataType::Date32 => true,
                    DataType::Timestamp(unit, None) => unit != TimeUnit::Nanosecond,
                    _ => false,
                }) =>
            {
                begin(of.clone(), time.clone())
            }
            _ => Expr::ScalarFunction(ScalarFunction { func, args }),
        },
        other => other,
    }
}

/// A window in the order of intervals, in the order of their lengths: the engine has no frames of intervals. Nor of values that have no distances: without a distance
/// in the frame, peers are what the frame counts.
fn measured(expression: Expr, schema: &DFSchema) -> Expr {
    let Expr::WindowFunction(mut window) = expression else { return expression };
    let is_plain = |bound: &WindowFrameBound| match bound {
        WindowFrameBound::CurrentRow => true,
        WindowFrameBound::Preceding(rows) | WindowFrameBound::Following(rows) => rows.is_null(),
    };
    let frame = &window.params.window_frame;
    if is_plain(&frame.start_bound) && is_plain(&frame.end_bound) {
        for sort in &mut window.params.order_by {
            if sort.expr.get_type(schema).is_ok_and(|own| has_several_fields(&own)) {
                sort.expr = length(std::mem::take(&mut sort.expr));
            }
        }
        let first = window.params.order_by.first().and_then(|sort| sort.expr.get_type(schema).ok());
        let frame = &mut window.params.window_frame;
        if frame.units == WindowFrameUnits::Range && first.is_some_and(|own| !has_distances(&own)) {
            frame.units = WindowFrameUnits::Groups;
        }
    } else if let [sort] = window.params.order_by.as_mut_slice()
        && let Some(to) = sort.expr.get_type(schema).ok().and_then(|own| framed(&own, &window.params.window_frame))
    {
        sort.expr = cast(std::mem::take(&mut sort.expr), to);
    } else if let [sort] = window.params.order_by.as_mut_slice()
        && sort.expr.get_type(schema).is_ok_and(|own| matches!(own, DataType::Time32(_) | DataType::Time64(_)))
    {
        // Distances of times of day are those of times of one day.
        let types = [TIME, DataType::Int64, DataType::Timestamp(TimeUnit::Nanosecond, None)];
        sort.expr = types.into_iter().fold(std::mem::take(&mut sort.expr), cast);
    }
    Expr::WindowFunction(window)
}

/// The type of a moment in whose order frames with distances have months and days of UTC, and all digits of the distances; nothing, if its own does.
fn framed(own: &DataType, frame: &WindowFrame) -> Option<DataType> {
    let distances = [&frame.start_bound, &frame.end_bound].into_iter().filter_map(|bound| match bound {
        WindowFrameBound::Preceding(rows) | WindowFrameBound::Following(rows) => {
            match rows.cast_to(&DataType::Interval(IntervalUnit::MonthDayNano)) {
                Ok(ScalarValue::IntervalMonthDayNano(Some(distance))) => Some(distance.nanoseconds),
                _ => None,
            }
        }
        WindowFrameBound::CurrentRow => None,
    });
    let to = match own {
        DataType::Timestamp(unit, zone) => {
            DataType::Timestamp(distances.map(unit_of).fold(*unit, TimeUnit::max), zone.clone())
        }
        DataType::Date32 if distances.into_iter().any(|distance| distance != 0) => {
            DataType::Timestamp(TimeUnit::Microsecond, None)
        }
        _ => return None,
    };
    let to = utc_of(&to).unwrap_or(to);
    (to != *own).then_some(to)
}

/// The coarsest unit that has so many nanoseconds.
fn unit_of(nanoseconds: i64) -> TimeUnit {
    match nanoseconds {
        all if all % 1_000_000_000 == 0 => TimeUnit::Second,
        all if all % 1_000_000 == 0 => TimeUnit::Millisecond,
        all if all % 1000 == 0 => TimeUnit::Microsecond,
        _ => TimeUnit::Nanosecond,
    }
}

/// Whether the engine has frames of such values.
fn has_distances(own: &DataType) -> bool {
    use DataType as T;
    !matches!(
        own,
        T::Time32(_)
            | T::Time64(_)
            | T::Duration(_)
            | T::Binary
            | T::LargeBinary
            | T::BinaryView
            | T::FixedSizeBinary(_)
            | T::Struct(_)
            | T::Map(..)
    )
}

/// A date to which an interval is added, or from which one is subtracted, as a time, not if the interval is known to have whole days; and a time with all the digits
/// that the interval has.
pub(crate) fn timed(expression: Expr, schema: &DFSchema) -> Expr {
    let Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::Plus | Operator::Minus), right }) = expression else {
        return expression;
    };
    let is = |one: &Expr, wanted: fn(&DataType) -> bool| one.get_type(schema).is_ok_and(|own| wanted(&own));
    let is_date = |one: &Expr| is(one, |own| *own == DataType::Date32);
    let has_time = |one: &Expr| match one {
        Expr::Literal(ScalarValue::IntervalMonthDayNano(Some(value)), _) => value.nanoseconds != 0,
        other => is(other, |own| matches!(own, DataType::Interval(_))),
    };
    let time =
        |date: Box<Expr>| Box::new(Expr::Cast(Cast::new(date, DataType::Timestamp(TimeUnit::Microsecond, None))));
    let (left, right) = match (is_date(&left) && has_time(&right), has_time(&left) && is_date(&right)) {
        (true, _) => (time(left), right),
        (_, true) => (left, time(right)),
        _ => match (finer(&left, &right, schema), finer(&right, &left, schema)) {
            (Some(to), _) => (cast(*left, to).into(), right),
            (_, Some(to)) => (left, cast(*right, to).into()),
            _ => (left, right),
        },
    };
    Expr::BinaryExpr(BinaryExpr { left, op, right })
}

/// The type of a time to which such an interval or duration can be added, if its own loses digits of it. An interval that is calculated has microseconds.
fn finer(time: &Expr, interval: &Expr, schema: &DFSchema) -> Option<DataType> {
    let DataType::Timestamp(own, zone) = time.get_type(schema).ok()? else { return None };
    let unit = match interval {
        Expr::Literal(ScalarValue::IntervalMonthDayNano(Some(value)), _) => unit_of(value.nanoseconds),
        other => match other.get_type(schema).ok()? {
            DataType::Interval(IntervalUnit::MonthDayNano | IntervalUnit::DayTime) => TimeUnit::Microsecond,
            DataType::Duration(unit) => unit,
            _ => return None,
        },
    };
    (unit > own).then_some(DataType::Timestamp(unit, zone))
}

/// Whether other operands than numerals are decimals.
fn is_beside_decimals(expression: &Expr, schema: &DFSchema) -> bool {
    let operands: Vec<&Expr> = match expression {
        Expr::BinaryExpr(BinaryExpr { left, right, .. }) => vec![left, right],
        Expr::Between(Between { expr, low, high, .. }) => vec![expr, low, high],
        Expr::InList(InList { expr, list, .. }) => std::iter::once(&**expr).chain(list).collect(),
        Expr::Case(case) => {
            let then = case.when_then_expr.iter().map(|(_, then)| &**then);
            then.chain(case.else_expr.iter().map(|other| &**other)).collect()
        }
        Expr::ScalarFunction(ScalarFunction { args, .. }) => args.iter().collect(),
        // Rounded as decimals are: halves away from zero.
        Expr::Cast(Cast { field, .. }) | Expr::TryCast(TryCast { field, .. }) => {
            return field.data_type().is_decimal() || field.data_type().is_integer();
        }
        _ => return false,
    };
    let has_numeral = operands.iter().any(|one| is_numeral(one));
    let is_decimal =
        |one: &Expr| !is_numeral(one) && !is_open(one) && one.get_type(schema).is_ok_and(|own| own.is_decimal());
    has_numeral && operands.iter().any(|one| is_decimal(one))
}

/// A parameter beside numerals alone is a float, as they are.
fn floated(mut expression: Expr) -> Expr {
    let operands: Vec<&mut Expr> = match &mut expression {
        Expr::BinaryExpr(BinaryExpr { left, right, .. }) => vec![left, right],
        Expr::Between(Between { expr, low, high, .. }) => vec![expr, low, high],
        Expr::InList(InList { expr, list, .. }) => std::iter::once(&mut **expr).chain(list).collect(),
        _ => return expression,
    };
    if operands.iter().all(|one| is_numeral(one) || is_open(one)) {
        for one in operands {
            if let Expr::Placeholder(open) = one
                && open.field.as_ref().is_some_and(|field| field.data_type().is_decimal())
            {
                open.field = Some(Arc::new(arrow_schema::Field::new("", DataType::Float64, true)));
            }
        }
    }
    expression
}

fn is_open(expression: &Expr) -> bool {
    matches!(expression, Expr::Placeholder(_))
}

fn is_numeral(expression: &Expr) -> bool {
    matches!(expression, Expr::Literal(ScalarValue::Decimal128(..), None))
}
