//! Unions of columns of several types, which are united as they are compared (see `instants`, `mixed`).
//!
//! The engine reads a timestamp without a zone in the zone of the column that it joins, and refuses two units of times of day. Here it is in UTC, and times
//! of day have nanoseconds. Decimals beside floats are floats.

use std::sync::Arc;

use arrow_schema::DataType;
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Union};

use crate::rewrite::instants::{TIME, as_moment};

/// The union with inputs of one type, where the engine would find another one or none.
///
/// # Errors
/// Those of the engine.
pub(crate) fn unions(plan: LogicalPlan) -> Result<LogicalPlan> {
    let LogicalPlan::Union(Union { inputs, schema }) = plan else { return Ok(plan) };
    let types = |at: usize| inputs.iter().filter_map(move |input| Some(input.schema().fields().get(at)?.data_type()));
    let changed = |input: &Arc<LogicalPlan>| {
        let mut is_changed = false;
        let columns = input.schema().iter().enumerate().map(|(at, (relation, field))| {
            let column = Expr::Column(Column::new(relation.cloned(), field.name()));
            match wanted(field.data_type(), types(at)) {
                Some(wanted) if wanted != *field.data_type() => {
                    is_changed = true;
                    as_moment(column, field.data_type(), &wanted).alias_qualified(relation.cloned(), field.name())
                }
                _ => column,
            }
        });
        let columns: Vec<Expr> = columns.collect();
        match is_changed {
            true => LogicalPlanBuilder::from(input.as_ref().clone()).project(columns)?.build().map(Arc::new),
            false => Ok(Arc::clone(input)),
        }
    };
    let all = inputs.iter().map(changed).collect::<Result<Vec<_>>>()?;
    match all.iter().zip(&inputs).all(|(new, old)| Arc::ptr_eq(new, old)) {
        true => Ok(LogicalPlan::Union(Union { inputs, schema })),
        false => Union::try_new_with_loose_types(all).map(LogicalPlan::Union),
    }
}

/// The union with the types that its inputs have now. The engine keeps those that they had when the union was made.
///
/// # Errors
/// Those of the engine.
pub(crate) fn retyped(plan: LogicalPlan) -> Result<LogicalPlan> {
    let LogicalPlan::Union(Union { inputs, schema }) = plan else { return Ok(plan) };
    let types = |schema: &DFSchema| schema.fields().iter().map(|field| field.data_type().clone()).collect::<Vec<_>>();
    let own = types(&schema);
    match inputs.iter().all(|input| types(input.schema()) == own) {
        true => Ok(LogicalPlan::Union(Union { inputs, schema })),
        false => Union::try_new_with_loose_types(inputs).map(LogicalPlan::Union),
    }
}

/// The type of a column of the type `own` among others; nothing, if the engine finds the right one.
fn wanted<'t>(own: &DataType, types: impl Iterator<Item = &'t DataType> + Clone) -> Option<DataType> {
    let is_time = |own: &DataType| matches!(own, DataType::Time32(_) | DataType::Time64(_));
    if own.is_decimal() {
        return types.clone().any(DataType::is_floating).then_some(DataType::Float64);
    }
    if types.clone().all(is_time) {
        return types.clone().any(|other| other != own).then_some(TIME);
    }
    let zone =
        types.clone().find_map(|own| if let DataType::Timestamp(_, Some(zone)) = own { Some(zone) } else { None })?;
    let is_plain = |own: &DataType| matches!(own, DataType::Timestamp(_, None) | DataType::Date32);
    if !types.clone().any(is_plain) || !types.clone().all(|own| is_plain(own) || matches!(own, DataType::Timestamp(..)))
    {
        return None;
    }
    let unit = types.filter_map(|own| if let DataType::Timestamp(unit, _) = own { Some(*unit) } else { None }).max()?;
    Some(DataType::Timestamp(unit, Some(Arc::clone(zone))))
}
