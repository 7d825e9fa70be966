//! Subqueries by how many rows they have.
//!
//! | subquery | the engine | here |
//! |---|---|---|
//! | an aggregate without groups that depends on the outer row, in `exists`, `in`, `any` and `all` | has no row where nothing is counted | its one row is a value |
//! | `exists (…)` that does not depend on the outer row, as a value | refuses it | whether the number of rows is more than 0 |
//! | `(select x …)` as a value, where `x` is a column that is never null | takes the value for one that is never null, also without a row | may be null |

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::functions_aggregate::count::count_all;
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison, SetQuantifier};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{
    Distinct, Expr, FetchType, Filter, Limit, LogicalPlan, LogicalPlanBuilder, SkipType, Subquery, binary_expr, lit,
    not,
};

use crate::functions::operations::perhaps;
use crate::rewrite::kept_names::map_named;

/// Writes them in another way in the expressions of a plan.
///
/// # Errors
/// Those of the engine.
pub(crate) fn counted(plan: LogicalPlan) -> Result<LogicalPlan> {
    let (names, is_value) = (NamePreserver::new(&plan), !matches!(plan, LogicalPlan::Filter(_) | LogicalPlan::Join(_)));
    let changed = plan.map_expressions(|expression| {
        let name = names.save(&expression);
        let changed = expression.transform_up(|part| of_one_row(part, is_value))?;
        changed.map_data(|expression| Ok(name.restore(expression)))
    })?;
    Ok(changed.data)
}

fn of_one_row(expression: Expr, is_value: bool) -> Result<Transformed<Expr>> {
    Ok(Transformed::yes(match expression {
        Expr::Exists(Exists { subquery, negated }) => match OneRow::of(&subquery) {
            Some(row) => {
                let is_there = row.is_there()?;
                if negated { not(is_there) } else { is_there }
            }
            None if is_value && subquery.outer_ref_columns.is_empty() => {
                let has_rows = has_rows(subquery)?;
                if negated { not(has_rows) } else { has_rows }
            }
            None => return Ok(Transformed::no(Expr::Exists(Exists { subquery, negated }))),
        },
        Expr::InSubquery(InSubquery { expr, subquery, negated }) => match OneRow::of(&subquery) {
            Some(row) => {
                let is_in = row.is_there()?.and((*expr).eq(row.value()?));
                if negated { not(is_in) } else { is_in }
            }
            None => return Ok(Transformed::no(Expr::InSubquery(InSubquery { expr, subquery, negated }))),
        },
        Expr::SetComparison(comparison) => match OneRow::of(&comparison.subquery) {
            Some(row) => {
                let SetComparison { expr, op, quantifier, .. } = comparison;
                let holds = binary_expr(*expr, op, row.value()?);
                match quantifier {
                    SetQuantifier::Any => row.is_there()?.and(holds),
                    SetQuantifier::All => not(row.is_there()?).or(holds),
                }
            }
            None => return Ok(Transformed::no(Expr::SetComparison(comparison))),
        },
        other => return Ok(Transformed::no(other)),
    }))
}

/// Subqueries as values are null where they have no row.
///
/// # Errors
/// Those of the engine.
pub(crate) fn values(plan: LogicalPlan) -> Result<LogicalPlan> {
    let one = |part: Expr| {
        Ok(match part {
            Expr::ScalarSubquery(subquery) if is_taken_as_known(&subquery) => {
                Transformed::yes(perhaps(Expr::ScalarSubquery(subquery)))
            }
            other => Transformed::no(other),
        })
    };
    Ok(map_named(plan, |value| value.transform_up(one))?.data)
}

/// Whether the engine takes the value of a subquery for one that is never null, and there may be no row.
fn is_taken_as_known(subquery: &Subquery) -> bool {
    let is_known = subquery.subquery.schema().fields().first().is_some_and(|field| !field.is_nullable());
    if !is_known {
        return false;
    }
    let mut plan = subquery.subquery.as_ref();
    loop {
        plan = match plan {
            LogicalPlan::Projection(projection) => &projection.input,
            LogicalPlan::SubqueryAlias(alias) => &alias.input,
            LogicalPlan::Sort(sort) if sort.fetch.is_none() => &sort.input,
            LogicalPlan::Limit(limit) if keeps_a_row(limit) => &limit.input,
            LogicalPlan::Aggregate(aggregate) => return !aggregate.group_expr.is_empty(),
            LogicalPlan::EmptyRelation(empty) => return !empty.produce_one_row,
            _ => return true,
        };
    }
}

/// A subquery that depends on the outer row and has one row, or none if its condition on aggregates does not hold.
struct OneRow<'s> {
    subquery: &'s Subquery,
    having: Option<&'s Filter>,
}

impl<'s> OneRow<'s> {
    fn of(subquery: &'s Subquery) -> Option<Self> {
        if subquery.outer_ref_columns.is_empty() {
            return None;
        }
        let (mut plan, mut having) = (subquery.subquery.as_ref(), None);
        loop {
            plan = match plan {
                LogicalPlan::Projection(projection) => &projection.input,
                LogicalPlan::Distinct(Distinct::All(input)) => input,
                LogicalPlan::Sort(sort) if sort.fetch.is_none() => &sort.input,
                LogicalPlan::Limit(limit) if keeps_a_row(limit) => &limit.input,
                LogicalPlan::Filter(filter) if having.is_none() => {
                    having = Some(filter);
                    &filter.input
                }
                LogicalPlan::Aggregate(aggregate) if aggregate.group_expr.is_empty() => {
                    return Some(OneRow { subquery, having });
                }
                _ => return None,
            }
        }
    }

    /// Whether the row is there.
    fn is_there(&self) -> Result<Expr> {
        let Some(Filter { predicate, input, .. }) = self.having else { return Ok(lit(true)) };
        let holds = LogicalPlanBuilder::from(input.as_ref().clone()).project([predicate.clone()])?.build()?;
        Ok(self.scalar(holds).is_true())
    }

    /// The value of its only column, whether the row is there or not.
    fn value(&self) -> Result<Expr> {
        let plan = self.subquery.subquery.as_ref().clone();
        let plan = plan.transform_down(|plan| {
            Ok(match plan {
                LogicalPlan::Filter(filter) => {
                    Transformed::new(Arc::unwrap_or_clone(filter.input), true, TreeNodeRecursion::Stop)
                }
                LogicalPlan::Aggregate(_) => Transformed::new(plan, false, TreeNodeRecursion::Stop),
                LogicalPlan::Limit(limit) => Transformed::yes(Arc::unwrap_or_clone(limit.input)),
                other => Transformed::no(other),
            })
        })?;
        Ok(self.scalar(plan.data))
    }

    fn scalar(&self, plan: LogicalPlan) -> Expr {
        let Subquery { outer_ref_columns, spans, .. } = self.subquery.clone();
        Expr::ScalarSubquery(Subquery { subquery: Arc::new(plan), outer_ref_columns, spans })
    }
}

/// Whether the first row is among those that are kept.
fn keeps_a_row(limit: &Limit) -> bool {
    let (skip, fetch) = (limit.get_skip_type(), limit.get_fetch_type());
    matches!(skip, Ok(SkipType::Literal(0)))
        && matches!(fetch, Ok(FetchType::Literal(most)) if most.is_none_or(|most| most > 0))
}

/// Whether a subquery that does not depend on the outer row has rows.
///
/// # Errors
/// Those of the engine.
pub(crate) fn has_rows(subquery: Subquery) -> Result<Expr> {
    let Subquery { subquery, outer_ref_columns, spans } = subquery;
    let rows = LogicalPlanBuilder::from(Arc::unwrap_or_clone(subquery)).limit(0, Some(1))?;
    let rows = Arc::new(rows.aggregate(std::iter::empty::<Expr>(), [count_all()])?.build()?);
    let number = Expr::ScalarSubquery(Subquery { subquery: rows, outer_ref_columns, spans });
    Ok(number.gt(lit(0_i64)))
}
