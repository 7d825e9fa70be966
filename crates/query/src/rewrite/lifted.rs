//! Comparisons with subqueries in orders, groups, windows and the conditions of joins, which become columns of the rows below.
//!
//! | question | the engine | here |
//! |---|---|---|
//! | `order by x in (select …)`, `order by (select …)` | refuses it | a column, which is dropped above |
//! | groups, arguments of aggregates, and windows with `x in (select …)`, or with a value of a subquery that depends on the row | refuses them | a column |
//! | windows in the order of comparisons or of subqueries, and divided by them | forgets the order, where a function is compared | a column |
//! | `x in (select …)`, where `x` has a subquery itself | looks for one inside of the other | `x` is a column |
//! | `a join b on a.x in (select …)` | refuses it in outer joins, and forgets that a null may be anything | a condition above an inner join; a column of the table that an outer one depends on |

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Expr, Join, JoinType, LogicalPlan, LogicalPlanBuilder, Sort};
use isomorph::Error;

use crate::errors::inside;
use crate::rewrite::correlated::below;
use crate::rewrite::kept_names::map_named;
use crate::rewrite::mixed::is_comparison;

/// The plan with such columns.
///
/// # Errors
/// [`isomorph::Kind::Unsupported`] for a subquery in the condition of an outer join that depends on both tables; those of the engine.
pub(crate) fn lifted(plan: LogicalPlan) -> Result<LogicalPlan> {
    match plan {
        LogicalPlan::Sort(sort) if sort.expr.iter().any(|one| is_of_subquery(&one.expr)) => of_order(sort),
        LogicalPlan::Join(join) if join.filter.as_ref().is_some_and(is_joined) => of_join(join),
        LogicalPlan::Aggregate(_) if plan.expressions().iter().any(is_joined) => of_values(plan),
        LogicalPlan::Window(_) if plan.expressions().iter().any(|one| is_joined(one) || has_lost_order(one)) => {
            of_values(plan)
        }
        LogicalPlan::Projection(_) | LogicalPlan::Filter(_) if plan.expressions().iter().any(has_subquery) => {
            of_comparisons(plan)
        }
        other => Ok(other),
    }
}

/// Whether a window is in the order of values of which the engine forgets that rows are in it, or divided by them.
fn has_lost_order(value: &Expr) -> bool {
    let is_one = |part: &Expr| match part {
        Expr::WindowFunction(one) => {
            let sorted = one.params.order_by.iter().map(|sort| &sort.expr);
            Ok(one.params.partition_by.iter().chain(sorted).any(is_lost))
        }
        _ => Ok(false),
    };
    value.exists(is_one).unwrap_or(false)
}

/// Whether a value compares others, or has a subquery.
fn is_lost(value: &Expr) -> bool {
    let is_one = |part: &Expr| match part {
        Expr::BinaryExpr(one) => Ok(is_comparison(one.op)),
        other => Ok(matches!(other, Expr::Between(_))),
    };
    is_of_subquery(value) || value.exists(is_one).unwrap_or(false)
}

/// Whether a value has a subquery that the engine joins with the rows: one that is compared with, or one that depends on the row.
fn is_joined(value: &Expr) -> bool {
    let depends =
        |part: &Expr| Ok(matches!(part, Expr::ScalarSubquery(subquery) if !subquery.outer_ref_columns.is_empty()));
    has_subquery(value) || value.exists(depends).unwrap_or(false)
}

/// Whether a value compares with a subquery.
pub(crate) fn has_subquery(value: &Expr) -> bool {
    let is_one = |part: &Expr| Ok(matches!(part, Expr::Exists(_) | Expr::InSubquery(_) | Expr::SetComparison(_)));
    value.exists(is_one).unwrap_or(false)
}

/// Whether a value has a subquery inside, compared with or as a value.
fn is_of_subquery(value: &Expr) -> bool {
    has_subquery(value) || value.exists(|part| Ok(matches!(part, Expr::ScalarSubquery(_)))).unwrap_or(false)
}

fn of_order(mut sort: Sort) -> Result<LogicalPlan> {
    let shown = columns(&sort.input);
    // What a subquery reads of the outer row may be a column that is not selected.
    let is_selected = sort.expr.iter().all(|one| is_of(&one.expr, sort.input.schema()));
    let (rows, mut all) = match &*sort.input {
        LogicalPlan::Projection(projection) if !is_selected => {
            for one in &mut sort.expr {
                one.expr = below(std::mem::take(&mut one.expr), projection)?;
            }
            (Arc::clone(&projection.input), projection.expr.clone())
        }
        _ => (Arc::clone(&sort.input), shown.clone()),
    };
    for (at, one) in sort.expr.iter_mut().enumerate() {
        if !is_selected || is_of_subquery(&one.expr) {
            all.push(column(&mut one.expr, &format!("_order_{at}")));
        }
    }
    let input = lifted(LogicalPlanBuilder::from((*rows).clone()).project(all)?.build()?)?;
    LogicalPlanBuilder::from(LogicalPlan::Sort(Sort { input: Arc::new(input), ..sort })).project(shown)?.build()
}

/// Values that become columns of the rows below.
#[derive(Default)]
struct Columns(Vec<Expr>);

impl Columns {
    /// Puts a column in the place of a value with such a subquery.
    fn lift(&mut self, value: &mut Expr) {
        match value {
            Expr::Alias(alias) => self.lift(&mut alias.expr),
            value if is_joined(value) => self.add(value),
            _ => {}
        }
    }

    fn add(&mut self, value: &mut Expr) {
        let name = format!("_value_{}", self.0.len());
        self.0.push(column(value, &name));
    }

    /// The plan, whose input has these columns.
    fn below(self, plan: LogicalPlan) -> Result<LogicalPlan> {
        let (values, inputs) = (plan.expressions(), plan.inputs());
        let (false, [input]) = (self.0.is_empty(), inputs.as_slice()) else { return Ok(plan) };
        let all = columns(input).into_iter().chain(self.0);
        let rows = lifted(LogicalPlanBuilder::from((*input).clone()).project(all)?.build()?)?;
        let shown: Vec<Expr> = plan.schema().columns().into_iter().map(Expr::Column).collect();
        let is_open = matches!(plan, LogicalPlan::Filter(_) | LogicalPlan::Window(_));
        let plan = plan.with_new_exprs(values, vec![rows])?;
        if is_open { LogicalPlanBuilder::from(plan).project(shown)?.build() } else { Ok(plan) }
    }
}

/// Groups, and what aggregates and windows read.
fn of_values(plan: LogicalPlan) -> Result<LogicalPlan> {
    let mut all = Columns::default();
    let is_group = |value: &Expr| !value.exists(|part| Ok(is_aggregate(part))).unwrap_or(true);
    let plan = map_named(plan, |mut value| {
        if is_group(&value) {
            all.lift(&mut value);
            return Ok(Transformed::yes(value));
        }
        value.transform_down(|part| {
            Ok(match part {
                Expr::AggregateFunction(mut one) => {
                    one.params.args.iter_mut().for_each(|one| all.lift(one));
                    one.params.filter.iter_mut().for_each(|one| all.lift(one));
                    one.params.order_by.iter_mut().for_each(|sort| all.lift(&mut sort.expr));
                    Transformed::yes(Expr::AggregateFunction(one))
                }
                Expr::WindowFunction(mut one) => {
                    one.params.args.iter_mut().for_each(|one| all.lift(one));
                    one.params.filter.iter_mut().for_each(|one| all.lift(one));
                    let sorted = one.params.order_by.iter_mut().map(|sort| &mut sort.expr);
                    for value in one.params.partition_by.iter_mut().chain(sorted) {
                        match is_lost(value) {
                            true => all.add(value),
                            false => all.lift(value),
                        }
                    }
                    Transformed::yes(Expr::WindowFunction(one))
                }
                other => Transformed::no(other),
            })
        })
    })?;
    all.below(plan.data)
}

fn is_aggregate(part: &Expr) -> bool {
    matches!(part, Expr::AggregateFunction(_) | Expr::WindowFunction(_))
}

/// Values with a subquery of their own that are compared with another subquery, in which the former has no place.
fn of_comparisons(plan: LogicalPlan) -> Result<LogicalPlan> {
    let mut all = Columns::default();
    let plan = map_named(plan, |value| {
        value.transform_down(|mut part| {
            match &mut part {
                Expr::InSubquery(one) if is_of_subquery(&one.expr) => all.add(&mut one.expr),
                Expr::SetComparison(one) if is_of_subquery(&one.expr) => all.add(&mut one.expr),
                _ => return Ok(Transformed::no(part)),
            }
            Ok(Transformed::yes(part))
        })
    })?;
    all.below(plan.data)
}

fn of_join(join: Join) -> Result<LogicalPlan> {
    let shown: Vec<Expr> = join.schema.columns().into_iter().map(Expr::Column).collect();
    let Join { left, right, on, filter, join_type, .. } = join;
    let (mut of_left, mut of_right) = (columns(&left), columns(&right));
    let (mut parts, mut above) = (Vec::new(), Vec::new());
    for (at, mut part) in filter.into_iter().flat_map(split_conjunction_owned).enumerate() {
        let name = format!("_condition_{at}");
        match () {
            () if !is_joined(&part) => {}
            () if join_type == JoinType::Inner => {
                above.push(part);
                continue;
            }
            () if is_of(&part, left.schema()) => of_left.push(column(&mut part, &name)),
            () if is_of(&part, right.schema()) => of_right.push(column(&mut part, &name)),
            () => {
                let text = "a subquery in the condition of an outer join depends on both tables";
                return Err(inside(
                    Error::unsupported(text).hint("join with the rows of the subquery as a third table"),
                ));
            }
        }
        parts.push(part);
    }
    let left = lifted(LogicalPlanBuilder::from((*left).clone()).project(of_left)?.build()?)?;
    let right = lifted(LogicalPlanBuilder::from((*right).clone()).project(of_right)?.build()?)?;
    let equal = on.into_iter().map(|(left, right)| left.eq(right));
    let condition = conjunction(equal.chain(parts));
    let mut plan = LogicalPlanBuilder::from(left).join_on(right, join_type, condition)?;
    if let Some(above) = conjunction(above) {
        plan = LogicalPlanBuilder::from(lifted(plan.filter(above)?.build()?)?);
    }
    plan.project(shown)?.build()
}

fn columns(plan: &LogicalPlan) -> Vec<Expr> {
    plan.schema().columns().into_iter().map(Expr::Column).collect()
}

/// Puts a column in the place of a value, which is returned with the column's name.
fn column(value: &mut Expr, name: &str) -> Expr {
    std::mem::replace(value, Expr::Column(Column::from_name(name))).alias(name)
}

/// Whether all columns of a value, and of its subqueries outside of them, are of these.
fn is_of(value: &Expr, schema: &DFSchema) -> bool {
    let mut is_of = value.column_refs().into_iter().all(|column| schema.has_column(column));
    let _ = value.apply(|part| {
        let outer = match part {
            Expr::Exists(one) => &one.subquery.outer_ref_columns,
            Expr::InSubquery(one) => &one.subquery.outer_ref_columns,
            Expr::SetComparison(one) => &one.subquery.outer_ref_columns,
            Expr::ScalarSubquery(subquery) => &subquery.outer_ref_columns,
            _ => return Ok(TreeNodeRecursion::Continue),
        };
        is_of &=
            outer.iter().all(|one| matches!(one, Expr::OuterReferenceColumn(_, column) if schema.has_column(column)));
        Ok(TreeNodeRecursion::Continue)
    });
    is_of
}
