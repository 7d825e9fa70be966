//! `any` and `all` of subqueries.
//!
//! The engine fails on those that depend on the outer row, and on those that are values, so they are written with `exists`. Where a condition is unknown it counts as
//! false, and below an odd number of `not` as true: there it is asked whether the comparison is not false.
//!
//! | comparison | a condition below an even number of `not` | below an odd one | a value |
//! |---|---|---|---|
//! | `x < any (…)` | there is a row with `x < c` | there is a row with `x < c` true or unknown | true, if there is a row with `x < c`; unknown, if there is one where that is unknown |
//! | `x < all (…)` | there is no row with `x < c` false or unknown | there is no row with `x < c` false | false, if there is a row with `x < c` false; unknown, if there is one where that is unknown |

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::{Exists, SetComparison, SetQuantifier};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    BinaryExpr, Expr, Filter, LogicalPlan, LogicalPlanBuilder, Operator, Subquery, binary_expr, when,
};
use isomorph::Error;

use crate::errors::inside;
use crate::rewrite::instants::instants;
use crate::rewrite::kept_names::map_named;
use crate::rewrite::mixed::mixed;

/// The plan with such comparisons as `exists`.
///
/// # Errors
/// Those of the engine.
pub(crate) fn quantified(plan: LogicalPlan) -> Result<LogicalPlan> {
    let outer = merge_schema(&plan.inputs());
    match plan {
        LogicalPlan::Filter(Filter { predicate, input, .. }) => {
            Filter::try_new(of_condition(predicate, false, &outer)?, input).map(LogicalPlan::Filter)
        }
        other => Ok(map_named(other, |value| value.transform_up(|part| as_value(part, &outer)))?.data),
    }
}

fn of_condition(condition: Expr, is_negated: bool, outer: &DFSchema) -> Result<Expr> {
    Ok(match condition {
        Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::And | Operator::Or), right }) => {
            let left = of_condition(*left, is_negated, outer)?;
            binary_expr(left, op, of_condition(*right, is_negated, outer)?)
        }
        Expr::Not(inner) => Expr::Not(Box::new(of_condition(*inner, !is_negated, outer)?)),
        Expr::SetComparison(comparison) if comparison.subquery.outer_ref_columns.is_empty() => {
            Expr::SetComparison(comparison)
        }
        Expr::SetComparison(comparison) => Compared::of(comparison, outer)?.holds(is_negated)?,
        other => other.transform_up(|part| as_value(part, outer))?.data,
    })
}

fn as_value(part: Expr, outer: &DFSchema) -> Result<Transformed<Expr>> {
    match part {
        Expr::SetComparison(comparison) => Compared::of(comparison, outer)?.value().map(Transformed::yes),
        other => Ok(Transformed::no(other)),
    }
}

/// A comparison of a value with the rows of a subquery.
struct Compared {
    /// The comparison with one of them.
    holds: Expr,
    quantifier: SetQuantifier,
    subquery: Subquery,
}

impl Compared {
    fn of(comparison: SetComparison, outer: &DFSchema) -> Result<Self> {
        let SetComparison { expr, subquery, op, quantifier } = comparison;
        let value = expr.transform_up(|part| match part {
            Expr::Column(column) => {
                let (_, field) = outer.qualified_field_from_column(&column)?;
                Ok(Transformed::yes(Expr::OuterReferenceColumn(Arc::clone(field), column)))
            }
            other => Ok(Transformed::no(other)),
        })?;
        let Some(column) = subquery.subquery.schema().columns().into_iter().next() else {
            return Err(inside(Error::unsupported("a subquery without columns")));
        };
        Ok(Compared { holds: binary_expr(value.data, op, Expr::Column(column)), quantifier, subquery })
    }

    /// Whether it is true, or is not false below an odd number of `not`.
    fn holds(self, is_negated: bool) -> Result<Expr> {
        let holds = || Box::new(self.holds.clone());
        let (found, negated) = match (self.quantifier, is_negated) {
            (SetQuantifier::Any, false) => (self.holds.clone(), false),
            (SetQuantifier::Any, true) => (Expr::IsNotFalse(holds()), false),
            (SetQuantifier::All, false) => (Expr::IsNotTrue(holds()), true),
            (SetQuantifier::All, true) => (Expr::IsFalse(holds()), true),
        };
        self.has_row(found, negated)
    }

    /// True, false or null.
    fn value(&self) -> Result<Expr> {
        let truth = |value: Option<bool>| Expr::Literal(ScalarValue::Boolean(value), None);
        let (decided, is_so) = match self.quantifier {
            SetQuantifier::Any => (self.holds.clone(), true),
            SetQuantifier::All => (Expr::IsFalse(Box::new(self.holds.clone())), false),
        };
        when(self.has_row(decided, false)?, truth(Some(is_so)))
            .when(self.has_row(self.holds.clone().is_null(), false)?, truth(None))
            .otherwise(truth(Some(!is_so)))
    }

    /// Whether the subquery has a row for which that is true.
    fn has_row(&self, condition: Expr, negated: bool) -> Result<Expr> {
        let Subquery { subquery, spans, .. } = self.subquery.clone();
        let rows = LogicalPlanBuilder::from(Arc::unwrap_or_clone(subquery)).filter(condition)?.build()?;
        let rows = mixed(instants(rows)?)?;
        let outer_ref_columns = rows.all_out_ref_exprs();
        let subquery = Subquery { subquery: Arc::new(rows), outer_ref_columns, spans };
        Ok(Expr::Exists(Exists { subquery, negated }))
    }
}
