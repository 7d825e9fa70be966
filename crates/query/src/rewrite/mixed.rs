//! Operands of several types that are compared or united. For times and texts see `times`.
//!
//! Decimals beside floats are compared and united as floats, as SQL has it. The engine makes the float a decimal of 15 digits after the point,
//! which loses small values and fails on large ones and NaN.

use std::sync::Arc;

use arrow_schema::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::{Between, Case, Cast, InList, InSubquery, ScalarFunction, SetComparison};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprSchemable, JoinConstraint, LogicalPlan, LogicalPlanBuilder, Operator, Subquery, Values,
};

use crate::rewrite::kept_names::map_named;
use crate::rewrite::times::{in_one_unit, of_texts};

/// Functions whose arguments become one type.
pub(crate) const UNITING: [&str; 6] = ["coalesce", "greatest", "least", "nullif", "nvl", "make_array"];

/// The plan, in which decimals beside floats are cast to floats. Its numerals are decided.
///
/// # Errors
/// Those of the engine.
pub(crate) fn mixed(plan: LogicalPlan) -> Result<LogicalPlan> {
    let plan = match plan {
        LogicalPlan::Values(values) => return of_values(values),
        LogicalPlan::Join(mut join) => {
            for (left, right) in &mut join.on {
                let types = [left.get_type(join.left.schema())?, right.get_type(join.right.schema())?];
                for (side, own, other) in [(&mut *left, 0, 1), (&mut *right, 1, 0)] {
                    if types[own].is_decimal() && types[other].is_floating() {
                        *side = float(side.clone());
                        // The keys of USING are columns.
                        join.join_constraint = JoinConstraint::On;
                    }
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

fn float(value: Expr) -> Expr {
    Expr::Cast(Cast::new(Box::new(value), DataType::Float64))
}

/// The operands as floats, if some are floats and others decimals.
fn floats<'e>(operands: impl IntoIterator<Item = &'e mut Expr>, schema: &DFSchema) -> bool {
    let mut operands: Vec<(&mut Expr, Option<DataType>)> = operands
        .into_iter()
        .map(|one| {
            let own = one.get_type(schema).ok();
            (one, own)
        })
        .collect();
    let some = |is: fn(&DataType) -> bool| operands.iter().any(|(_, own)| own.as_ref().is_some_and(is));
    if !some(DataType::is_floating) || !some(DataType::is_decimal) {
        return false;
    }
    for (one, own) in &mut operands {
        if own.as_ref().is_some_and(DataType::is_decimal) {
            **one = float(std::mem::take(*one));
        }
    }
    true
}

/// The operands as values of one type, where the engine would find another one or none.
fn alike<'e>(operands: impl IntoIterator<Item = &'e mut Expr>, schema: &DFSchema) -> bool {
    let mut operands: Vec<&mut Expr> = operands.into_iter().collect();
    let has_floats = floats(operands.iter_mut().map(|one| &mut **one), schema);
    in_one_unit(&mut operands, schema) || has_floats
}

/// The same for a function that returns one of them.
fn united<'e>(operands: impl IntoIterator<Item = &'e mut Expr>, schema: &DFSchema) -> bool {
    let mut operands: Vec<&mut Expr> = operands.into_iter().collect();
    let has_texts = of_texts(&mut operands, schema);
    alike(operands, schema) || has_texts
}

pub(crate) fn is_comparison(op: Operator) -> bool {
    use Operator as O;
    matches!(op, O::Eq | O::NotEq | O::Lt | O::LtEq | O::Gt | O::GtEq | O::IsDistinctFrom | O::IsNotDistinctFrom)
}

fn one(mut expression: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let is_changed = match &mut expression {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_comparison(*op) => {
            alike([&mut **left, &mut **right], schema)
        }
        Expr::Between(Between { expr, low, high, .. }) => alike([&mut **expr, &mut **low, &mut **high], schema),
        Expr::InList(InList { expr, list, .. }) => alike(std::iter::once(&mut **expr).chain(list), schema),
        Expr::Case(Case { expr, when_then_expr, else_expr }) => {
            let of = expr.as_deref_mut();
            let is_simple = of.is_some();
            let mut whens = Vec::new();
            let mut thens = Vec::new();
            for (when, then) in when_then_expr {
                whens.push(&mut **when);
                thens.push(&mut **then);
            }
            let by_key = is_simple && alike(of.into_iter().chain(whens), schema);
            alike(thens.into_iter().chain(else_expr.as_deref_mut()), schema) || by_key
        }
        Expr::ScalarFunction(ScalarFunction { func, args }) if UNITING.contains(&func.name()) => united(args, schema),
        Expr::ScalarFunction(ScalarFunction { func, args }) if func.name() == "nvl2" => {
            united(args.iter_mut().skip(1), schema)
        }
        Expr::InSubquery(InSubquery { expr, subquery, .. }) => of_subquery(expr, subquery, schema)?,
        Expr::SetComparison(SetComparison { expr, subquery, .. }) => of_subquery(expr, subquery, schema)?,
        _ => false,
    };
    Ok(if is_changed { Transformed::yes(expression) } else { Transformed::no(expression) })
}

/// A value and the column of the subquery that it is compared with.
fn of_subquery(value: &mut Expr, subquery: &mut Subquery, schema: &DFSchema) -> Result<bool> {
    let Ok(own) = value.get_type(schema) else { return Ok(false) };
    let inner = &subquery.subquery;
    let [field] = inner.schema().fields().as_ref() else { return Ok(false) };
    if own.is_decimal() && field.data_type().is_floating() {
        *value = float(std::mem::take(value));
        return Ok(true);
    }
    if own.is_floating() && field.data_type().is_decimal() {
        subquery.subquery = Arc::new(in_floats(inner, &[true])?);
        return Ok(true);
    }
    Ok(false)
}

/// The rows of `plan`, with those columns as floats.
fn in_floats(plan: &LogicalPlan, columns: &[bool]) -> Result<LogicalPlan> {
    let all = plan.schema().columns().into_iter().zip(columns).map(|(column, is_float)| match is_float {
        true => {
            let (relation, name) = (column.relation.clone(), column.name.clone());
            float(Expr::Column(column)).alias_qualified(relation, name)
        }
        false => Expr::Column(column),
    });
    LogicalPlanBuilder::from(plan.clone()).project(all.collect::<Vec<_>>())?.build()
}

/// Rows of `values`, whose cells the planner has cast to one type. What the question casts to a decimal is cast twice, see `spelling`.
fn of_values(values: Values) -> Result<LogicalPlan> {
    let Values { values: mut rows, schema } = values;
    let nothing = DFSchema::empty();
    let mut is_changed = false;
    for (at, field) in schema.fields().iter().enumerate() {
        let own = field.data_type();
        let inner = |cell: &Expr| match cell {
            Expr::Cast(Cast { expr, field }) if field.data_type() == own => expr.get_type(&nothing).ok(),
            _ => None,
        };
        let has_float = rows.iter().filter_map(|row| inner(row.get(at)?)).any(|inner| inner.is_floating());
        if !own.is_decimal() || !has_float {
            continue;
        }
        is_changed = true;
        for cell in rows.iter_mut().filter_map(|row| row.get_mut(at)) {
            let value = match std::mem::take(cell) {
                Expr::Cast(Cast { expr, field }) if field.data_type() == own => *expr,
                Expr::Literal(ScalarValue::Decimal128(None, ..), _) => Expr::Literal(ScalarValue::Float64(None), None),
                other => other,
            };
            *cell = match value.get_type(&nothing) {
                Ok(DataType::Float64) => value,
                _ => float(value),
            };
        }
    }
    match is_changed {
        true => LogicalPlanBuilder::values(rows)?.build(),
        false => Ok(LogicalPlan::Values(Values { values: rows, schema })),
    }
}
