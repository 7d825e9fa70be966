//! `x not in (select …)` with its three truth values.
//!
//! If the subquery has a null, or `x` is one, `x` may be in it: the comparison is unknown, and a condition takes that for false. The engine knows it where the
//! comparison is a condition of its own about a column, and the subquery stands alone: a join that heeds nulls. It forgets it beside `or`, for a constant, and where the
//! subquery depends on the outer row. There the comparison is asked row by row: no row is equal to `x`, and of none it is unknown.

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result, plan_err};
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlanBuilder, Operator, Subquery};

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
        Expr::InSubquery(InSubquery { expr, subquery, negated })
            if is_negated != negated
                && !(is_alone && subquery.outer_ref_columns.is_empty() && !expr.column_refs().is_empty()) =>
        {
            let found = Expr::Exists(Exists { subquery: maybe_equal(*expr, subquery, schema)?, negated: false });
            Ok(if negated { Expr::Not(found.into()) } else { found })
        }
        other => Ok(other),
    }
}

/// The rows of a subquery that equal `value`, or of which that is unknown.
fn maybe_equal(value: Expr, subquery: Subquery, schema: &DFSchema) -> Result<Subquery> {
    let Subquery { subquery, mut outer_ref_columns, spans } = subquery;
    let inner = subquery.schema();
    let Some(column) = inner.columns().into_iter().next() else { return plan_err!("a subquery without columns") };
    let outer = alike(value, schema).transform_up(|part| match part {
        Expr::Column(column) => {
            let (_, field) = schema.qualified_field_from_column(&column)?;
            let outer = Expr::OuterReferenceColumn(std::sync::Arc::clone(field), column);
            outer_ref_columns.push(outer.clone());
            Ok(Transformed::yes(outer))
        }
        other => Ok(Transformed::no(other)),
    })?;
    let equal = alike(Expr::Column(column), inner).eq(outer.data);
    let rows = LogicalPlanBuilder::from(subquery.as_ref().clone()).filter(equal.is_not_false())?.build()?;
    Ok(Subquery { subquery: rows.into(), outer_ref_columns, spans })
}
