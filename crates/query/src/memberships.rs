//! `x in (select …)` and `x not in (select …)` with their three truth values.
//!
//! If the subquery has a null, or `x` is one, `x` may be in it: the comparison is unknown, and a condition takes that for false. The engine knows it where the
//! comparison is a condition of its own about a column, and the subquery stands alone: a join that heeds nulls. It forgets it beside `or`, for a constant, and where the
//! subquery depends on the outer row. There the comparison is asked row by row: no row is equal to `x`, and of none it is unknown. Where it is not a condition, but a value, as
//! in `x in (select …) is null`, both are asked.

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result, ScalarValue, plan_err};
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator, Subquery, when};

use crate::correlated::{selected, with_condition};
use crate::exact::alike;

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
            let wanted = if is_negated == one.negated { Is::Equal } else { Is::MaybeEqual };
            let found = any(&one, wanted, schema)?;
            Ok(if one.negated { Expr::Not(found.into()) } else { found })
        }
        other => Ok(other.transform_down(|part| as_value(part, schema))?.data),
    }
}

/// A comparison that is a value: true, false or null.
fn as_value(part: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let Expr::InSubquery(one) = part else { return Ok(Transformed::no(part)) };
    let truth = |value: Option<bool>| Expr::Literal(ScalarValue::Boolean(value), None);
    let is_in = when(any(&one, Is::Equal, schema)?, truth(Some(true)))
        .when(any(&one, Is::Unknown, schema)?, truth(None))
        .otherwise(truth(Some(false)))?;
    Ok(Transformed::yes(if one.negated { Expr::Not(is_in.into()) } else { is_in }))
}

/// What is asked of a value and a row of a subquery.
#[derive(Debug, Clone, Copy)]
enum Is {
    Equal,
    /// Not that they differ.
    MaybeEqual,
    Unknown,
}

/// Whether the engine would have to rename what a subquery selects: it is no column.
fn is_calculated(plan: &LogicalPlan) -> bool {
    matches!(plan, LogicalPlan::Projection(projection) if !projection.expr.iter().all(|one| matches!(one, Expr::Column(_))))
}

/// Whether a row of the subquery is so.
fn any(one: &InSubquery, wanted: Is, schema: &DFSchema) -> Result<Expr> {
    let Subquery { subquery, outer_ref_columns, spans } = one.subquery.clone();
    let mut outer_ref_columns = outer_ref_columns;
    let own = || (subquery.schema().columns().into_iter().map(Expr::Column).collect(), &*subquery);
    // Where the subquery depends on the outer row, its conditions on that are next to this one.
    let found = if outer_ref_columns.is_empty() { None } else { selected(&subquery)? };
    let (values, rows): (Vec<Expr>, &LogicalPlan) = found.unwrap_or_else(own);
    let Some(value) = values.into_iter().next() else { return plan_err!("a subquery without columns") };
    let outer = alike(one.expr.as_ref().clone(), schema).transform_up(|part| match part {
        Expr::Column(column) => {
            let (_, field) = schema.qualified_field_from_column(&column)?;
            let outer = Expr::OuterReferenceColumn(std::sync::Arc::clone(field), column);
            outer_ref_columns.push(outer.clone());
            Ok(Transformed::yes(outer))
        }
        other => Ok(Transformed::no(other)),
    })?;
    let equal = alike(value, rows.schema()).eq(outer.data);
    let condition = match wanted {
        Is::Equal => equal,
        Is::MaybeEqual => equal.is_not_false(),
        Is::Unknown => equal.is_null(),
    };
    let rows = with_condition(rows, condition)?;
    let subquery = Subquery { subquery: rows.into(), outer_ref_columns, spans };
    Ok(Expr::Exists(Exists { subquery, negated: false }))
}
