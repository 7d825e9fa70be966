//! Subqueries that depend on the outer row, as the engine can join them.
//!
//! | subquery | the engine | here |
//! |---|---|---|
//! | one value, where an expression of the inner row equals one of the outer row | joins by columns alone | the expression is a column of the inner table |
//! | a table inside, `from (select b from t where t.a = x.a) q` | has no column `a` in it | a selection |
//! | a row that is compared with those of a subquery that depends on the outer row | loses what the inner table is called | the comparison is one of the expressions that the subquery selects |

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, ExprSchema, Result};
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison};
use datafusion::logical_expr::utils::{conjunction, merge_schema, split_conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    BinaryExpr, Distinct, Expr, Filter, JoinType, LogicalPlan, LogicalPlanBuilder, Operator, Projection, Subquery,
};

use isomorph::Error;
use isomorph::error::Place;

use crate::errors::{inside, unequal};
use crate::syntax::subqueries::COMPARED_ROWS;

/// A subquery of one value, whose conditions on the outer row compare columns.
///
/// # Errors
/// Those of the engine.
pub(crate) fn with_key_columns(subquery: Subquery) -> Result<Subquery> {
    if subquery.outer_ref_columns.is_empty() {
        return Ok(subquery);
    }
    let mut count = 0;
    let plan = subquery.subquery.as_ref().clone().transform_up(|plan| match plan {
        LogicalPlan::Filter(filter) if filter.predicate.contains_outer() => keyed(filter, &mut count),
        other => Ok(Transformed::no(other)),
    })?;
    check_keys(&plan.data)?;
    Ok(Subquery { subquery: plan.data.into(), ..subquery })
}

/// Refuses aggregates of rows that depend on the outer row by another condition than that a column equals a value: the engine groups by such columns.
fn check_keys(plan: &LogicalPlan) -> Result<()> {
    let is_key = |part: &Expr| match part {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => match (&**left, &**right) {
            (Expr::Column(_), other) | (other, Expr::Column(_)) => !other.any_column_refs(),
            _ => false,
        },
        _ => false,
    };
    let mut is_below = false;
    let mut has_other = false;
    plan.apply(|node| {
        match node {
            LogicalPlan::Aggregate(_) => is_below = true,
            LogicalPlan::Filter(filter) if is_below => {
                let mut parts = split_conjunction(&filter.predicate).into_iter();
                has_other |= parts.any(|part| part.contains_outer() && !is_key(part));
            }
            _ => {}
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    match has_other {
        true => Err(inside(unequal())),
        false => Ok(()),
    }
}

fn keyed(filter: Filter, count: &mut usize) -> Result<Transformed<LogicalPlan>> {
    let mut keys: Vec<Expr> = Vec::new();
    let mut key = |value: Expr| {
        let name = format!("_key_{count}");
        *count += 1;
        keys.push(value.alias(&name));
        Box::new(Expr::Column(Column::from_name(name)))
    };
    let parts = split_conjunction_owned(filter.predicate.clone());
    let parts = parts.into_iter().map(|part| match part {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => {
            let is_inner = |one: &Expr| {
                !matches!(one, Expr::Column(_)) && one.any_column_refs() && !one.contains_outer() && !one.is_volatile()
            };
            let is_outer = |one: &Expr| one.contains_outer() && !one.any_column_refs();
            let (left, right) = match () {
                () if is_inner(&left) && is_outer(&right) => (key(*left), right),
                () if is_outer(&left) && is_inner(&right) => (left, key(*right)),
                () => (left, right),
            };
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right })
        }
        other => other,
    });
    let parts: Vec<Expr> = parts.collect();
    if keys.is_empty() {
        return Ok(Transformed::no(LogicalPlan::Filter(filter)));
    }
    let columns: Vec<Expr> = filter.input.schema().columns().into_iter().map(Expr::Column).collect();
    let plan = LogicalPlanBuilder::from(filter.input.as_ref().clone()).project(columns.iter().cloned().chain(keys))?;
    let condition = conjunction(parts).unwrap_or(filter.predicate);
    plan.filter(condition)?.project(columns)?.build().map(Transformed::yes)
}

/// A comparison of a row with the rows of a subquery, as `subqueries` writes it: of the expressions that the subquery selects, if these depend on the outer row.
///
/// # Errors
/// Those of the engine.
pub(crate) fn compared_rows(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Filter(filter) = &plan else { return Ok(Transformed::no(plan)) };
    let LogicalPlan::SubqueryAlias(alias) = filter.input.as_ref() else { return Ok(Transformed::no(plan)) };
    if alias.alias.table() != COMPARED_ROWS || alias.input.all_out_ref_exprs().is_empty() {
        return Ok(Transformed::no(plan));
    }
    let Some((values, input)) = selected(&alias.input)? else { return Ok(Transformed::no(plan)) };
    let columns = alias.input.schema().columns();
    let condition = filter.predicate.clone().transform_up(|part| match part {
        Expr::Column(column) if column.relation.as_ref().is_some_and(|table| table.table() == COMPARED_ROWS) => {
            let place = columns.iter().position(|own| own.name == column.name);
            Ok(match place.and_then(|at| values.get(at)) {
                Some(value) => Transformed::yes(value.clone()),
                None => Transformed::no(Expr::Column(column)),
            })
        }
        other => Ok(Transformed::no(other)),
    })?;
    with_condition(input, condition.data).map(Transformed::yes)
}

/// A table of a subquery that depends on the outer row, as a selection: the engine takes what the outer row is compared with through selections, and not through tables.
///
/// # Errors
/// Those of the engine.
pub(crate) fn opened(plan: LogicalPlan) -> Result<LogicalPlan> {
    let LogicalPlan::SubqueryAlias(table) = &plan else { return Ok(plan) };
    let is_other = table.alias.table() == COMPARED_ROWS || matches!(&*table.input, LogicalPlan::Subquery(_));
    if is_other || table.input.all_out_ref_exprs().is_empty() {
        return Ok(plan);
    }
    let columns = table.input.schema().columns().into_iter().map(|column| {
        let name = column.name.clone();
        Expr::Column(column).alias_qualified(Some(table.alias.clone()), name)
    });
    LogicalPlanBuilder::from(table.input.as_ref().clone()).project(columns.collect::<Vec<_>>())?.build()
}

/// Rows for which a condition holds, beside the conditions that they have: of conditions on the outer row above one another the engine forgets the columns.
///
/// # Errors
/// Those of the engine.
pub(crate) fn with_condition(rows: &LogicalPlan, condition: Expr) -> Result<LogicalPlan> {
    let (mut rows, mut all) = (rows, condition);
    while let LogicalPlan::Filter(filter) = rows {
        all = filter.predicate.clone().and(all);
        rows = &filter.input;
    }
    LogicalPlanBuilder::from(rows.clone()).filter(all)?.build()
}

/// What a subquery selects, as expressions on the rows from which it selects, if there is one of its rows for each of these, or several that are equal. `None` if it
/// would be another value each time.
///
/// # Errors
/// Those of the engine.
pub(crate) fn selected(plan: &LogicalPlan) -> Result<Option<(Vec<Expr>, &LogicalPlan)>> {
    let mut values: Vec<Expr> = plan.schema().columns().into_iter().map(Expr::Column).collect();
    let mut input = plan;
    loop {
        input = match input {
            LogicalPlan::Projection(projection) => {
                values = values.into_iter().map(|value| below(value, projection)).collect::<Result<_>>()?;
                &projection.input
            }
            LogicalPlan::Distinct(Distinct::All(inner)) => inner,
            _ => break,
        };
    }
    Ok((!values.iter().any(Expr::is_volatile)).then_some((values, input)))
}

/// An expression on the columns of a projection, on those of its input.
///
/// # Errors
/// Those of the engine.
pub(crate) fn below(value: Expr, projection: &Projection) -> Result<Expr> {
    let found = value.transform_up(|part| match part {
        Expr::Column(column) => {
            let place = projection.schema.maybe_index_of_column(&column);
            Ok(match place.and_then(|at| projection.expr.get(at)) {
                Some(inner) => Transformed::yes(inner.clone().unalias()),
                None => Transformed::no(Expr::Column(column)),
            })
        }
        other => Ok(Transformed::no(other)),
    })?;
    Ok(found.data)
}

/// The plan, in which the columns of the outer row that subqueries read have the types that they have now.
///
/// # Errors
/// Those of the engine.
pub(crate) fn with_outer_types(plan: LogicalPlan) -> Result<LogicalPlan> {
    let each = |plan: LogicalPlan| {
        let schema = merge_schema(&plan.inputs());
        plan.map_expressions(|value| {
            value.transform_down(|mut part| {
                let subquery = match &mut part {
                    Expr::Exists(Exists { subquery, .. })
                    | Expr::InSubquery(InSubquery { subquery, .. })
                    | Expr::SetComparison(SetComparison { subquery, .. })
                    | Expr::ScalarSubquery(subquery) => subquery,
                    _ => return Ok(Transformed::no(part)),
                };
                let is_changed = retyped(subquery, &schema)?;
                Ok(if is_changed { Transformed::yes(part) } else { Transformed::no(part) })
            })
        })
    };
    Ok(plan.transform_down_with_subqueries(each)?.data)
}

/// Gives what a subquery reads of the outer row its types in that row. Returns whether some have changed.
fn retyped(subquery: &mut Subquery, schema: &DFSchema) -> Result<bool> {
    let one = |part: Expr| {
        Ok(match part {
            Expr::OuterReferenceColumn(old, column) => match schema.field_from_column(&column) {
                Ok(new) if new.data_type() != old.data_type() => {
                    Transformed::yes(Expr::OuterReferenceColumn(Arc::clone(new), column))
                }
                _ => Transformed::no(Expr::OuterReferenceColumn(old, column)),
            },
            other => Transformed::no(other),
        })
    };
    let mut is_changed = false;
    for outer in &mut subquery.outer_ref_columns {
        let new = std::mem::take(outer).transform_up(one)?;
        is_changed |= new.transformed;
        *outer = new.data;
    }
    if is_changed {
        let plan = subquery.subquery.as_ref().clone();
        let plan = plan.transform_up_with_subqueries(|plan| {
            let plan = plan.map_expressions(|value| value.transform_up(one))?;
            plan.map_data(LogicalPlan::recompute_schema)
        })?;
        subquery.subquery = Arc::new(plan.data);
    }
    Ok(is_changed)
}

/// Refuses a subquery in which a table that depends on the outer row is joined so that rows without it stay, or so that it only says which rows these are: the engine asks for
/// its conditions above the join.
fn check_sides(subquery: &Subquery) -> Result<()> {
    let depends =
        |side: &LogicalPlan| side.all_out_ref_exprs().iter().any(|outer| subquery.outer_ref_columns.contains(outer));
    subquery.subquery.apply(|node| {
        let LogicalPlan::Join(join) = node else { return Ok(TreeNodeRecursion::Continue) };
        use JoinType as J;
        let is_wrong = match join.join_type {
            J::Inner => false,
            J::Left | J::LeftSemi | J::LeftAnti | J::LeftMark => depends(&join.right),
            J::Right | J::RightSemi | J::RightAnti | J::RightMark => depends(&join.left),
            J::Full => depends(&join.left) || depends(&join.right),
        };
        match is_wrong {
            true => {
                let text =
                    "a table of an outer join, or the second query of intersect or except, depends on the outer row";
                let error = Error::unsupported(text).at(Place::file("the question"));
                Err(inside(error.hint("compare with the outer row in the subquery's own where, after the joins")))
            }
            false => Ok(TreeNodeRecursion::Continue),
        }
    })?;
    Ok(())
}

/// Refuses subqueries that depend on a query which is not the next one outside: the engine finds no columns there.
///
/// # Errors
/// [`isomorph::Kind::Unsupported`] for those.
pub(crate) fn check_levels(plan: &LogicalPlan) -> Result<()> {
    let schema = merge_schema(&plan.inputs());
    let check = |subquery: &Subquery| {
        let far = subquery.outer_ref_columns.iter().find_map(|one| match one {
            Expr::OuterReferenceColumn(_, column) if !schema.has_column(column) => Some(column),
            _ => None,
        });
        match far {
            Some(column) => Err(inside(
                Error::unsupported(format!("a subquery depends on {column}, which is not in the next query outside"))
                    .hint("join the tables that the inner subquery compares"),
            )),
            None => check_sides(subquery),
        }
    };
    if let LogicalPlan::Subquery(lateral) = plan {
        check_sides(lateral)?;
    }
    plan.apply_expressions(|expression| {
        expression.apply(|part| {
            match part {
                Expr::Exists(Exists { subquery, .. })
                | Expr::InSubquery(InSubquery { subquery, .. })
                | Expr::SetComparison(SetComparison { subquery, .. })
                | Expr::ScalarSubquery(subquery) => check(subquery)?,
                _ => {}
            }
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(())
}
