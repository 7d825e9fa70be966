//! `intersect` and `except` of queries that both depend on the outer row by values that they equal: `(select … where a.x = o.x except select … where b.y = o.x)`.
//!
//! The engine joins both sides by their columns, and finds no condition on the outer row below. Here both sides have all rows, and the values that equal those of the outer
//! row are columns by which they are joined, too. The condition is asked above.

use std::sync::Arc;

use datafusion::common::{Column, NullEquality, Result};
use datafusion::logical_expr::utils::{conjunction, split_conjunction};
use datafusion::logical_expr::{Distinct, Expr, Join, JoinType, LogicalPlan, LogicalPlanBuilder};

use crate::rewrite::limited::{depends, key};

/// The values of a row and those of the outer row that they equal.
type Equal = Vec<(Expr, Expr)>;

/// Whether a join is what the engine makes of `intersect` and `except`.
pub(crate) fn is_set(join: &Join) -> bool {
    join.null_equality == NullEquality::NullEqualsNull
        && matches!(join.join_type, JoinType::LeftSemi | JoinType::LeftAnti)
        && join.filter.is_none()
        && join.on.len() == join.left.schema().fields().len()
}

/// The plan, in which such a join has its conditions on the outer row above.
///
/// # Errors
/// Those of the engine.
pub(crate) fn with_condition_above(plan: LogicalPlan) -> Result<LogicalPlan> {
    let LogicalPlan::Join(join) = &plan else { return Ok(plan) };
    let is_distinct = matches!(&*join.left, LogicalPlan::Distinct(Distinct::All(_)));
    if !is_set(join) || !is_distinct || plan.all_out_ref_exprs().is_empty() {
        return Ok(plan);
    }
    let (Some(left), Some(right)) = (equal(&join.left)?, equal(&join.right)?) else { return Ok(plan) };
    let column = |side: &str, at: usize| Column::from_name(format!("_{side}_key_{at}"));
    let named = |side: &str, all: &Equal| -> Vec<Expr> {
        all.iter().enumerate().map(|(at, (inner, _))| inner.clone().alias(column(side, at).name)).collect()
    };
    let (mut on_left, mut on_right): (Vec<Column>, Vec<Column>) = join
        .on
        .iter()
        .filter_map(|(one, other)| Some((one.try_as_col()?.clone(), other.try_as_col()?.clone())))
        .unzip();
    if on_left.len() != join.on.len() {
        return Ok(plan);
    }
    for (at, (_, outer)) in right.iter().enumerate() {
        let Some(same) = left.iter().position(|(_, other)| other == outer) else { return Ok(plan) };
        on_left.push(column("left", same));
        on_right.push(column("right", at));
    }
    let condition = left.iter().enumerate().map(|(at, (_, outer))| Expr::Column(column("left", at)).eq(outer.clone()));
    let Some(condition) = conjunction(condition) else { return Ok(plan) };
    let shown: Vec<Expr> = join.schema.columns().into_iter().map(Expr::Column).collect();
    LogicalPlanBuilder::from(with_columns(&join.left, &named("left", &left))?)
        .join_detailed(
            with_columns(&join.right, &named("right", &right))?,
            join.join_type,
            (on_left, on_right),
            None,
            NullEquality::NullEqualsNull,
        )?
        .filter(condition)?
        .project(shown)?
        .build()
}

/// What the rows of a query equal of the outer row; nothing, if they depend on it in another way.
fn equal(plan: &LogicalPlan) -> Result<Option<Equal>> {
    let mut all = Equal::new();
    let mut rows = plan;
    loop {
        rows = match rows {
            LogicalPlan::Distinct(Distinct::All(input)) => input,
            LogicalPlan::Projection(projection) if projection.expr.iter().any(depends) => return Ok(None),
            LogicalPlan::Projection(projection) => &projection.input,
            LogicalPlan::Filter(filter) => {
                for part in split_conjunction(&filter.predicate).into_iter().filter(|part| depends(part)) {
                    match key(part, filter.input.schema())? {
                        Some(pair) => all.push(pair),
                        None => return Ok(None),
                    }
                }
                &filter.input
            }
            other => return Ok(other.all_out_ref_exprs().is_empty().then_some(all)),
        }
    }
}

/// A query with these columns behind its own, and without its conditions on the outer row.
fn with_columns(plan: &LogicalPlan, keys: &[Expr]) -> Result<LogicalPlan> {
    match plan {
        LogicalPlan::Distinct(Distinct::All(input)) => {
            LogicalPlanBuilder::from(with_columns(input, keys)?).distinct()?.build()
        }
        LogicalPlan::Projection(projection) => {
            let rows = with_columns(&projection.input, keys)?;
            let keys = keys.iter().map(|key| Expr::Column(Column::from_name(key.schema_name().to_string())));
            LogicalPlanBuilder::from(rows).project(projection.expr.iter().cloned().chain(keys))?.build()
        }
        _ => {
            let rows = without_outer(plan)?;
            let columns = rows.schema().columns().into_iter().map(Expr::Column).chain(keys.iter().cloned());
            LogicalPlanBuilder::from(rows).project(columns.collect::<Vec<_>>())?.build()
        }
    }
}

/// The rows without their conditions on the outer row.
fn without_outer(plan: &LogicalPlan) -> Result<LogicalPlan> {
    let LogicalPlan::Filter(filter) = plan else { return Ok(plan.clone()) };
    let rows = without_outer(&filter.input)?;
    let parts = split_conjunction(&filter.predicate).into_iter().filter(|part| !depends(part)).cloned();
    match conjunction(parts) {
        Some(condition) => LogicalPlanBuilder::from(Arc::new(rows)).filter(condition)?.build(),
        None => Ok(rows),
    }
}
