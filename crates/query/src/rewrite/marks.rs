//! `exists` as a value, in what is selected. What is grouped, aggregated, ordered or seen through a window is selected below: see `lifted`.
//!
//! The engine joins subqueries of conditions only: with a mark for each row, which says whether the subquery has a row for it, where `exists` is a part of a condition. Here
//! the same join is made for values: of a condition about all of them, that is dropped again.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Expr, Filter, LogicalPlan, Projection};
use datafusion::optimizer::decorrelate_predicate_subquery::DecorrelatePredicateSubquery;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

use crate::rewrite::kept_names::map_named;

/// The plan with marks in the place of `exists`, as far as the engine joins these.
///
/// # Errors
/// Those of the engine.
pub(crate) fn marked(
    plan: LogicalPlan,
    engine: &DecorrelatePredicateSubquery,
    config: &dyn OptimizerConfig,
) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Projection(Projection { input, .. }) = &plan else { return Ok(Transformed::no(plan)) };
    let asked = asked(&plan)?;
    // Each of them is a part of a condition, not one of its own, which would leave rows out.
    let Some(all) = conjunction(asked.iter().map(|one| one.clone().is_not_null())) else {
        return Ok(Transformed::no(plan));
    };
    let filter = LogicalPlan::Filter(Filter::try_new(all, Arc::clone(input))?);
    let joined = match engine.rewrite(filter, config)?.data {
        LogicalPlan::Projection(projection) => (*projection.input).clone(),
        other => other,
    };
    let LogicalPlan::Filter(Filter { predicate, input, .. }) = joined else { return Ok(Transformed::no(plan)) };
    let marks = split_conjunction_owned(predicate).into_iter().filter_map(|one| match one {
        Expr::IsNotNull(mark) => Some(*mark),
        _ => None,
    });
    let marks: Vec<Expr> = marks.collect();
    if marks == asked || marks.len() != asked.len() {
        return Ok(Transformed::no(plan));
    }
    let plan = map_named(plan, |value| {
        value.transform_down(|part| {
            let mark = asked.iter().position(|one| *one == part).and_then(|at| marks.get(at));
            Ok(match mark {
                Some(mark) => Transformed::new(mark.clone(), true, TreeNodeRecursion::Jump),
                None => Transformed::no(part),
            })
        })
    })?;
    let values = plan.data.expressions();
    plan.data.with_new_exprs(values, vec![(*input).clone()]).map(Transformed::yes)
}

/// Each `exists` in the expressions of a plan, once.
fn asked(plan: &LogicalPlan) -> Result<Vec<Expr>> {
    let mut all = Vec::new();
    plan.apply_expressions(|expression| {
        expression.apply(|part| {
            if matches!(part, Expr::Exists(_)) && !all.contains(part) {
                all.push(part.clone());
            }
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(all)
}
