//! `x in (select …)` and `x not in (select …)` with their three truth values.
//!
//! If the subquery has a null, or `x` is one, `x` may be in it: the comparison is unknown, and a condition takes that for false. The engine knows it where the
//! comparison is a condition of its own about a column, and the subquery stands alone: a join that heeds nulls. It forgets it beside `or`, for a constant, and where the
//! subquery depends on the outer row; and it refuses comparisons that are values, as in `x in (select …) is null` or among what is selected. There it is asked whether a row is
//! equal to `x`, and whether of one it is unknown. The latter is asked once of a subquery that stands alone: whether it has a row with a null, and whether it has any row, if `x` is null.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result, ScalarValue, plan_err};
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator, Subquery, lit, when};

use crate::rewrite::correlated::{selected, with_condition};
use crate::rewrite::exact::alike;
use crate::rewrite::row_counts::has_rows;

/// A condition whose comparisons with subqueries are what SQL says. It is below an odd number of `not` if `is_negated`, and alone, or joined with others by `and`, if
/// `is_alone`.
///
/// # Errors
/// Those of the engine.
pub(crate) fn memberships(condition: Expr, is_negated: bool, is_alone: bool, schema: &DFSchema) -> Result<Expr> {
    match condition {
        Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::And | Operator::Or), right }) => {
            let is_alone = is_alone && (op == Operator::And) != is_negated;
            let [left, right] =
                [memberships(*left, is_negated, is_alone, schema)?, memberships(*right, is_negated, is_alone, schema)?];
            Ok(Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right))))
        }
        Expr::Not(inner) => memberships(*inner, !is_negated, is_alone, schema).map(|inner| Expr::Not(inner.into())),
        Expr::InSubquery(one) => {
            let is_correlated = !one.subquery.outer_ref_columns.is_empty();
            let is_engines = match is_negated == one.negated {
                true => !(is_correlated && is_calculated(&one.subquery.subquery)),
                false => is_alone && !is_correlated && !one.expr.column_refs().is_empty(),
            };
            if is_engines {
                return Ok(Expr::InSubquery(one));
            }
            let found = match is_negated == one.negated {
                true => equal(&one, schema)?,
                false => equal(&one, schema)?.or(unknown(&one, schema)?),
            };
            Ok(if one.negated { Expr::Not(found.into()) } else { found })
        }
        other => Ok(other.transform_down(|part| as_value(part, schema))?.data),
    }
}

/// A comparison that is a value: true, false or null.
///
/// # Errors
/// Those of the engine.
pub(crate) fn as_value(part: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let Expr::InSubquery(one) = part else { return Ok(Transformed::no(part)) };
    let truth = |value: Option<bool>| Expr::Literal(ScalarValue::Boolean(value), None);
    let is_in = when(equal(&one, schema)?, truth(Some(true)))
        .when(unknown(&one, schema)?, truth(None))
        .otherwise(truth(Some(false)))?;
    Ok(Transformed::yes(if one.negated { Expr::Not(is_in.into()) } else { is_in }))
}

/// Whether the engine would have to rename what a subquery selects: it is no column.
fn is_calculated(plan: &LogicalPlan) -> bool {
    matches!(plan, LogicalPlan::Projection(projection) if !projection.expr.iter().all(|one| matches!(one, Expr::Column(_))))
}

/// Whether a row of the subquery is equal.
fn equal(one: &InSubquery, schema: &DFSchema) -> Result<Expr> {
    any(one, |equal| equal, schema)
}

/// Whether of a row of the subquery it is unknown whether it is equal. True as well, or false, if another row is equal.
fn unknown(one: &InSubquery, schema: &DFSchema) -> Result<Expr> {
    let Subquery { subquery: rows, outer_ref_columns, .. } = &one.subquery;
    if !outer_ref_columns.is_empty() {
        return any(one, Expr::is_null, schema);
    }
    let mut all = Vec::new();
    let Some(column) = rows.schema().columns().into_iter().next() else { return no_columns() };
    if rows.schema().field(0).is_nullable() {
        all.push(has_rows(of_rows(one, with_condition(rows, Expr::Column(column).is_null())?))?);
    }
    if one.expr.nullable(schema)? {
        all.push(one.expr.as_ref().clone().is_null().and(has_rows(one.subquery.clone())?));
    }
    Ok(all.into_iter().reduce(Expr::or).unwrap_or_else(|| lit(false)))
}

/// Whether the subquery has a row for which a condition on the comparison holds.
fn any(one: &InSubquery, condition: impl Fn(Expr) -> Expr, schema: &DFSchema) -> Result<Expr> {
    let Subquery { subquery, outer_ref_columns, .. } = &one.subquery;
    let own = || (subquery.schema().columns().into_iter().map(Expr::Column).collect(), &**subquery);
    // Where the subquery depends on the outer row, its conditions on that are next to this one.
    let found = if outer_ref_columns.is_empty() { None } else { selected(subquery)? };
    let (values, rows): (Vec<Expr>, &LogicalPlan) = found.unwrap_or_else(own);
    let Some(value) = values.into_iter().next() else { return no_columns() };
    let outer = alike(one.expr.as_ref().clone(), schema).transform_up(|part| match part {
        Expr::Column(column) => {
            let (_, field) = schema.qualified_field_from_column(&column)?;
            Ok(Transformed::yes(Expr::OuterReferenceColumn(Arc::clone(field), column)))
        }
        other => Ok(Transformed::no(other)),
    })?;
    let equal = alike(value, rows.schema()).eq(outer.data);
    let subquery = of_rows(one, with_condition(rows, condition(equal))?);
    match subquery.outer_ref_columns.is_empty() {
        true => has_rows(subquery),
        false => Ok(Expr::Exists(Exists { subquery, negated: false })),
    }
}

/// Other rows in the place of those of a subquery.
fn of_rows(one: &InSubquery, rows: LogicalPlan) -> Subquery {
    let outer_ref_columns = rows.all_out_ref_exprs();
    Subquery { subquery: rows.into(), outer_ref_columns, spans: one.subquery.spans.clone() }
}

fn no_columns<T>() -> Result<T> {
    plan_err!("a subquery without columns")
}
