//! Subqueries with a limit, or with windows, that depend on the outer row by equal values: `(select … where b.x = a.x order by b.y limit 2)`.
//!
//! The engine does not join them. Here the rows of each value are numbered, and the limit is a condition on the number. Other conditions on the outer row, groups and
//! `distinct` are left to the engine, which refuses them.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::functions_aggregate::first_last::first_value_udaf;
use datafusion::functions_window::row_number::row_number;
use datafusion::logical_expr::expr::Sort;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprFunctionExt, ExprSchemable, FetchType, Filter, Limit, LogicalPlan, LogicalPlanBuilder,
    Operator, Projection, SkipType, Subquery, lit,
};

use isomorph::Error;
use isomorph::error::Place;

use crate::errors::inside;
use crate::rewrite::correlated::below;
use crate::rewrite::kept_names::map_named;

/// What the number of a row is called.
const NUMBER: &str = "_row_of_limit";

/// A limit on rows that depend on the outer row, as a condition.
///
/// # Errors
/// Those of the engine.
pub(crate) fn limited(plan: LogicalPlan) -> Result<LogicalPlan> {
    match plan {
        LogicalPlan::Limit(limit) if !limit.input.all_out_ref_exprs().is_empty() => {
            Ok(numbered(&limit)?.unwrap_or(LogicalPlan::Limit(limit)))
        }
        other => Ok(other),
    }
}

/// A subquery that is one value: that of the only row that such a limit keeps.
///
/// # Errors
/// Those of the engine.
pub(crate) fn of_first_row(subquery: Subquery) -> Result<Subquery> {
    let mut plan = &*subquery.subquery;
    while let LogicalPlan::Projection(projection) = plan {
        plan = &projection.input;
    }
    let is_first = |filter: &Filter| filter.predicate == Expr::Column(Column::from_name(NUMBER)).eq(lit(1_u64));
    if !matches!(plan, LogicalPlan::Filter(filter) if is_first(filter)) {
        return Ok(subquery);
    }
    let Some(column) = subquery.subquery.schema().columns().into_iter().next() else { return Ok(subquery) };
    let rows = LogicalPlanBuilder::from(subquery.subquery.as_ref().clone());
    let first = first_value_udaf().call(vec![Expr::Column(column)]);
    let plan = rows.aggregate(std::iter::empty::<Expr>(), [first])?.build()?;
    Ok(Subquery { subquery: Arc::new(plan), ..subquery })
}

/// A window over rows that depend on the outer row, in parts of the values that these equal: the engine makes it of the rows of all outer rows.
///
/// # Errors
/// [`isomorph::Kind::Unsupported`] for a window over rows that depend on the outer row in another way; those of the engine.
pub(crate) fn partitioned(plan: LogicalPlan) -> Result<LogicalPlan> {
    let LogicalPlan::Window(window) = &plan else { return Ok(plan) };
    if window.input.all_out_ref_exprs().is_empty() {
        return Ok(plan);
    }
    let Some(keys) = keys(&window.input)? else {
        let error = Error::unsupported(
            "a window over rows that depend on the outer row by another condition than = is not supported",
        );
        let error = error.at(Place::file("the question"));
        return Err(inside(
            error.hint("from (select *, row_number() over (partition by a order by b) as n from t) q where q.a = x.a"),
        ));
    };
    let one = |part: Expr| {
        let Expr::WindowFunction(mut window) = part else { return Ok(Transformed::no(part)) };
        let own = &mut window.params.partition_by;
        let new: Vec<Expr> = keys.iter().filter(|key| !own.contains(key)).cloned().collect();
        own.extend(new);
        Ok(Transformed::yes(Expr::WindowFunction(window)))
    };
    map_named(plan, |value| value.transform_up(one))?.data.recompute_schema()
}

fn numbered(limit: &Limit) -> Result<Option<LogicalPlan>> {
    let (SkipType::Literal(skip), FetchType::Literal(fetch)) = (limit.get_skip_type()?, limit.get_fetch_type()?) else {
        return Ok(None);
    };
    let mut selected: Vec<&Projection> = Vec::new();
    let mut order: Option<Vec<Sort>> = None;
    let mut rows = &*limit.input;
    loop {
        rows = match rows {
            LogicalPlan::Projection(projection) => {
                let down = |sort: Sort| Ok(Sort { expr: below(sort.expr, projection)?, ..sort });
                order = order.map(|order| order.into_iter().map(down).collect::<Result<_>>()).transpose()?;
                selected.push(projection);
                &projection.input
            }
            LogicalPlan::Sort(sort) if order.is_none() && sort.fetch.is_none() => {
                order = Some(sort.expr.clone());
                &sort.input
            }
            LogicalPlan::Filter(_) => break,
            _ => return Ok(None),
        };
    }
    let order = order.unwrap_or_default();
    let Some(keys) = keys(rows)?.filter(|keys| !keys.is_empty()) else { return Ok(None) };
    let is_plain = |one: &Expr| !one.contains_outer() && !one.is_volatile();
    if !order.iter().all(|sort| is_plain(&sort.expr)) {
        return Ok(None);
    }
    let number = row_number().partition_by(keys);
    let number = if order.is_empty() { number.build()? } else { number.order_by(order).build()? };
    let shown = Expr::Column(Column::from_name(number.schema_name().to_string()));
    let columns: Vec<Expr> = rows.schema().columns().into_iter().map(Expr::Column).collect();
    let rows = LogicalPlanBuilder::from(rows.clone()).window([number])?;
    let rows = rows.project(columns.into_iter().chain([shown.alias(NUMBER)]))?;
    let (skip, number) = (skip as u64, || Expr::Column(Column::from_name(NUMBER)));
    let after = || number().gt(lit(skip));
    let condition = match fetch.map(|fetch| skip.saturating_add(fetch as u64)) {
        Some(1) if skip == 0 => number().eq(lit(1_u64)),
        Some(last) => after().and(number().lt_eq(lit(last))),
        None => after(),
    };
    let mut rows = rows.filter(condition)?;
    for projection in selected.into_iter().rev() {
        rows = rows.project(projection.expr.clone())?;
    }
    rows.build().map(Some)
}

/// The values of a row that equal values of the outer row, in conditions above one another. `None`, if the rows depend on the outer row in another way.
fn keys(mut rows: &LogicalPlan) -> Result<Option<Vec<Expr>>> {
    let mut keys = Vec::new();
    while let LogicalPlan::Filter(filter) = rows {
        for part in split_conjunction(&filter.predicate).into_iter().filter(|part| depends(part)) {
            match key(part, filter.input.schema())? {
                Some((key, _)) => keys.push(key),
                None => return Ok(None),
            }
        }
        rows = &filter.input;
    }
    Ok(rows.all_out_ref_exprs().is_empty().then_some(keys))
}

/// Whether a condition reads the outer row, also in a subquery of its own.
pub(crate) fn depends(part: &Expr) -> bool {
    part.contains_outer()
        || crate::rewrite::lifted::has_subquery(part)
        || part.exists(|one| Ok(matches!(one, Expr::ScalarSubquery(_)))).unwrap_or(true)
}

/// The value of the row and that of the outer row in a condition that they are equal, of one type.
///
/// # Errors
/// Those of the engine.
pub(crate) fn key(part: &Expr, schema: &DFSchema) -> Result<Option<(Expr, Expr)>> {
    let Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) = part else { return Ok(None) };
    let is_inner = |one: &Expr| !one.contains_outer() && one.any_column_refs() && !one.is_volatile();
    let is_outer = |one: &Expr| one.contains_outer() && !one.any_column_refs();
    let (inner, outer) = match () {
        () if is_inner(left) && is_outer(right) => (left, right),
        () if is_inner(right) && is_outer(left) => (right, left),
        () => return Ok(None),
    };
    let (own, other) = (inner.get_type(schema)?, outer.get_type(schema)?);
    let is_same = own == other || own.is_integer() && other.is_integer();
    Ok(is_same.then(|| (inner.as_ref().clone(), outer.as_ref().clone())))
}
