//! Comparisons with unions that depend on the outer row, which the engine does not join: with each of the united queries.
//!
//! `x in (A union B)` is `x in A or x in B`, also where nulls may be anything, and so are `exists` and `any`; `x < all (A union B)` is `x < all A and x < all B`.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{ExprSchema, Result};
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison, SetQuantifier};
use datafusion::logical_expr::{Distinct, Expr, LogicalPlan, LogicalPlanBuilder, Subquery, Union, cast, not};

use crate::rewrite::kept_names::map_named;

/// The plan with such comparisons.
///
/// # Errors
/// Those of the engine.
pub(crate) fn divided(plan: LogicalPlan) -> Result<LogicalPlan> {
    Ok(map_named(plan, |value| value.transform_up(one))?.data)
}

fn one(part: Expr) -> Result<Transformed<Expr>> {
    let found = match &part {
        Expr::Exists(Exists { subquery, negated }) => {
            let with = |subquery| Expr::Exists(Exists { subquery, negated: false });
            of_each(subquery, &with, Expr::or)?.map(|any| if *negated { not(any) } else { any })
        }
        Expr::InSubquery(InSubquery { expr, subquery, negated }) => {
            let with = |subquery| Expr::InSubquery(InSubquery { expr: expr.clone(), subquery, negated: false });
            of_each(subquery, &with, Expr::or)?.map(|any| if *negated { not(any) } else { any })
        }
        Expr::SetComparison(comparison) => {
            let with = |subquery| Expr::SetComparison(SetComparison { subquery, ..comparison.clone() });
            let join = match comparison.quantifier {
                SetQuantifier::Any => Expr::or,
                SetQuantifier::All => Expr::and,
            };
            of_each(&comparison.subquery, &with, join)?
        }
        _ => None,
    };
    Ok(found.map_or_else(|| Transformed::no(part), Transformed::yes))
}

/// The comparison with each of the queries that a subquery unites.
fn of_each(subquery: &Subquery, with: &dyn Fn(Subquery) -> Expr, join: fn(Expr, Expr) -> Expr) -> Result<Option<Expr>> {
    if subquery.outer_ref_columns.is_empty() {
        return Ok(None);
    }
    let Some(parts) = parts(&subquery.subquery)? else { return Ok(None) };
    let each = parts.into_iter().map(|plan| {
        let outer_ref_columns = plan.all_out_ref_exprs();
        with(Subquery { subquery: Arc::new(plan), outer_ref_columns, spans: subquery.spans.clone() })
    });
    Ok(each.reduce(join))
}

/// The queries that a plan unites; nothing if it is no union that depends on the outer row. Whether equal rows are one does not matter.
fn parts(plan: &LogicalPlan) -> Result<Option<Vec<LogicalPlan>>> {
    let input = match plan {
        LogicalPlan::Union(union) if !plan.all_out_ref_exprs().is_empty() => return united(union).map(Some),
        LogicalPlan::Distinct(Distinct::All(input)) => return parts(input),
        LogicalPlan::Sort(sort) if sort.fetch.is_none() => return parts(&sort.input),
        LogicalPlan::Projection(projection) => &projection.input,
        LogicalPlan::Filter(filter) => &filter.input,
        LogicalPlan::SubqueryAlias(alias) => &alias.input,
        _ => return Ok(None),
    };
    let Some(inputs) = parts(input)? else { return Ok(None) };
    let above = |input| plan.with_new_exprs(plan.expressions(), vec![input]);
    inputs.into_iter().map(above).collect::<Result<_>>().map(Some)
}

/// The queries of a union with its columns.
fn united(union: &Union) -> Result<Vec<LogicalPlan>> {
    let mut all = Vec::new();
    for input in &union.inputs {
        let own = input.schema().columns().into_iter().zip(union.schema.iter());
        let columns = own.map(|(column, (qualifier, field))| {
            let is_same =
                input.schema().field_from_column(&column).is_ok_and(|own| own.data_type() == field.data_type());
            // With the name of its table it is told from others that the engine adds.
            let is_called_so = qualifier.is_none() && column.name == *field.name();
            let value = Expr::Column(column);
            match is_same {
                true if is_called_so => value,
                true => value.alias_qualified(qualifier.cloned(), field.name()),
                false => cast(value, field.data_type().clone()).alias_qualified(qualifier.cloned(), field.name()),
            }
        });
        let plan = LogicalPlanBuilder::from(input.as_ref().clone()).project(columns.collect::<Vec<_>>())?.build()?;
        match parts(&plan)? {
            Some(inner) => all.extend(inner),
            None => all.push(plan),
        }
    }
    Ok(all)
}
