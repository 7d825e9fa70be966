//! `any` and `all` of subqueries that depend on the outer row.
//!
//! The engine fails on them, so they are written with `exists`. Where a condition is unknown it counts as false, and below an odd number of `not` as true: there it
//! is asked whether the comparison is not false.
//!
//! | condition | below an even number of `not` | below an odd one |
//! |---|---|---|
//! | `x < any (…)` | there is a row with `x < c` | there is a row with `x < c` true or unknown |
//! | `x < all (…)` | there is no row with `x < c` false or unknown | there is no row with `x < c` false |

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{Exists, SetComparison, SetQuantifier};
use datafusion::logical_expr::{
    BinaryExpr, Expr, Filter, LogicalPlan, LogicalPlanBuilder, Operator, Subquery, binary_expr,
};
use isomorph::Error;
use isomorph::error::Place;

use crate::errors::inside;

/// The plan with such conditions as `exists`.
///
/// # Errors
/// [`isomorph::Kind::Unsupported`] for `any` and `all` of subqueries elsewhere than in conditions; those of the engine.
pub(crate) fn quantified(plan: LogicalPlan) -> Result<LogicalPlan> {
    let LogicalPlan::Filter(Filter { predicate, input, .. }) = plan else {
        refuse(&plan)?;
        return Ok(plan);
    };
    let predicate = of_condition(predicate, false, input.schema())?;
    Filter::try_new(predicate, input).map(LogicalPlan::Filter)
}

/// The engine answers them in conditions only.
fn refuse(plan: &LogicalPlan) -> Result<()> {
    if matches!(plan, LogicalPlan::Join(_)) {
        return Ok(());
    }
    plan.apply_expressions(|expression| {
        expression.apply(|part| match part {
            Expr::SetComparison(_) => {
                let text = "any and all of a subquery are supported in WHERE and HAVING, not among what is selected";
                Err(inside(
                    Error::unsupported(text)
                        .at(Place::file("the question"))
                        .hint("compare with (select min(…) …) or (select max(…) …)"),
                ))
            }
            _ => Ok(TreeNodeRecursion::Continue),
        })
    })?;
    Ok(())
}

fn of_condition(condition: Expr, is_negated: bool, outer: &DFSchema) -> Result<Expr> {
    Ok(match condition {
        Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::And | Operator::Or), right }) => {
            let left = of_condition(*left, is_negated, outer)?;
            binary_expr(left, op, of_condition(*right, is_negated, outer)?)
        }
        Expr::Not(inner) => Expr::Not(Box::new(of_condition(*inner, !is_negated, outer)?)),
        Expr::SetComparison(comparison) if !comparison.subquery.outer_ref_columns.is_empty() => {
            exists(comparison, is_negated, outer)?
        }
        other => other,
    })
}

fn exists(comparison: SetComparison, is_negated: bool, outer: &DFSchema) -> Result<Expr> {
    let SetComparison { expr, subquery: Subquery { subquery, spans, .. }, op, quantifier } = comparison;
    let value = expr.transform_up(|part| match part {
        Expr::Column(column) => {
            let (_, field) = outer.qualified_field_from_column(&column)?;
            Ok(Transformed::yes(Expr::OuterReferenceColumn(Arc::clone(field), column)))
        }
        other => Ok(Transformed::no(other)),
    })?;
    let Some(column) = subquery.schema().columns().into_iter().next() else {
        return Err(inside(Error::unsupported("a subquery without columns")));
    };
    let holds = binary_expr(value.data, op, Expr::Column(column));
    let (found, negated) = match (quantifier, is_negated) {
        (SetQuantifier::Any, false) => (holds, false),
        (SetQuantifier::Any, true) => (Expr::IsNotFalse(Box::new(holds)), false),
        (SetQuantifier::All, false) => (Expr::IsNotTrue(Box::new(holds)), true),
        (SetQuantifier::All, true) => (Expr::IsFalse(Box::new(holds)), true),
    };
    let inner = LogicalPlanBuilder::from(Arc::unwrap_or_clone(subquery)).filter(found)?.build()?;
    let outer_ref_columns = inner.all_out_ref_exprs();
    let subquery = Subquery { subquery: Arc::new(inner), outer_ref_columns, spans };
    Ok(Expr::Exists(Exists { subquery, negated }))
}
