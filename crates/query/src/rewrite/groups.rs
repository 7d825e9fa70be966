//! Groups of intervals, and their different values: those of one length are one. The least of them, by its fields, is shown.

use std::sync::Arc;

use datafusion::common::{Column, Result, ScalarValue};
use datafusion::functions_aggregate::min_max::min;
use datafusion::logical_expr::expr::GroupingSet;
use datafusion::logical_expr::utils::grouping_set_to_exprlist;
use datafusion::logical_expr::{Aggregate, Distinct, Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, when};

use crate::functions::intervals::has_several_fields;
use crate::functions::operations::canonical;

/// A plan whose groups, or different rows, are those of SQL.
///
/// # Errors
/// Those of the engine.
pub(crate) fn grouped(plan: LogicalPlan) -> Result<LogicalPlan> {
    match plan {
        LogicalPlan::Aggregate(aggregate) => of_aggregate(aggregate),
        LogicalPlan::Distinct(Distinct::All(input))
            if input.schema().fields().iter().any(|field| has_several_fields(field.data_type())) =>
        {
            let columns: Vec<Expr> = input.schema().columns().into_iter().map(Expr::Column).collect();
            let all = LogicalPlanBuilder::from(Arc::unwrap_or_clone(input)).aggregate(columns, Vec::<Expr>::new())?;
            grouped(all.build()?)
        }
        other => Ok(other),
    }
}

fn of_aggregate(aggregate: Aggregate) -> Result<LogicalPlan> {
    let of_input = Arc::clone(aggregate.input.schema());
    let is_interval = |key: &Expr| key.get_type(&of_input).is_ok_and(|own| has_several_fields(&own));
    let keys: Vec<Expr> = grouping_set_to_exprlist(&aggregate.group_expr)?.into_iter().cloned().collect();
    if !keys.iter().any(is_interval) {
        return Ok(LogicalPlan::Aggregate(aggregate));
    }
    let one = |key: Expr| if is_interval(&key) { canonical(key) } else { key };
    let set = |keys: Vec<Expr>| keys.into_iter().map(one).collect::<Vec<_>>();
    let groups = aggregate.group_expr.into_iter().map(|group| match group {
        Expr::GroupingSet(GroupingSet::Rollup(keys)) => Expr::GroupingSet(GroupingSet::Rollup(set(keys))),
        Expr::GroupingSet(GroupingSet::Cube(keys)) => Expr::GroupingSet(GroupingSet::Cube(set(keys))),
        Expr::GroupingSet(GroupingSet::GroupingSets(sets)) => {
            Expr::GroupingSet(GroupingSet::GroupingSets(sets.into_iter().map(set).collect()))
        }
        key => one(key),
    });
    // The values that are shown, behind all others.
    let shown = keys.iter().enumerate().filter(|(_, key)| is_interval(key));
    let shown: Vec<(usize, Expr)> =
        shown.map(|(at, key)| (at, min(key.clone()).alias(format!("_shown_{at}")))).collect();
    let (groups, schema, first) = (groups.collect::<Vec<_>>(), aggregate.schema, aggregate.aggr_expr.len());
    let all = aggregate.aggr_expr.into_iter().chain(shown.iter().map(|(_, value)| value.clone())).collect();
    let plan = LogicalPlan::Aggregate(Aggregate::try_new(aggregate.input, groups, all)?);
    let column = |at: usize| Expr::Column(Column::from(plan.schema().qualified_field(at)));
    let before = schema.fields().len() - first;
    let columns = (0..schema.fields().len()).map(|at| {
        let (qualifier, field) = schema.qualified_field(at);
        let name = |value: Expr| value.alias_qualified(qualifier.cloned(), field.name());
        Ok(match shown.iter().position(|(key, _)| *key == at && at < before) {
            // A key that a grouping set leaves out is null.
            Some(place) => {
                let least = column(before + first + place);
                let nothing = Expr::Literal(ScalarValue::try_from(field.data_type())?, None);
                name(when(column(at).is_null(), nothing).otherwise(least)?)
            }
            None => name(column(at)),
        })
    });
    LogicalPlanBuilder::from(plan.clone()).project(columns.collect::<Result<Vec<_>>>()?)?.build()
}
