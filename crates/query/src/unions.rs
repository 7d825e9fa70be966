//! Unions of moments with and without a zone, and of times of day of several units.
//!
//! The engine reads a timestamp without a zone in the zone of the column that it joins, and refuses two units of times of day. Here it is in UTC, as in
//! comparisons (see `instants`), and times of day have nanoseconds.

use std::sync::Arc;

use arrow_schema::DataType;
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Union};

use crate::instants::{TIME, as_moment};

/// The union with inputs of one type, where the engine would find another one or none.
///
/// # Errors
/// Those of the engine.
pub(crate) fn unions(plan: LogicalPlan) -> Result<LogicalPlan> {
    let LogicalPlan::Union(Union { inputs, schema }) = plan else { return Ok(plan) };
    let types_of =
        |at: usize| inputs.iter().filter_map(move |input| Some(input.schema().fields().get(at)?.data_type()));
    let wanted: Vec<Option<DataType>> = (0..schema.fields().len()).map(|at| common(types_of(at))).collect();
    if wanted.iter().all(Option::is_none) {
        return Ok(LogicalPlan::Union(Union { inputs, schema }));
    }
    let inputs = inputs.iter().map(|input| {
        let columns = input.schema().iter().zip(&wanted).map(|((relation, field), wanted)| {
            let column = Expr::Column(Column::new(relation.cloned(), field.name()));
            match wanted {
                Some(wanted) if wanted != field.data_type() => {
                    as_moment(column, field.data_type(), wanted).alias_qualified(relation.cloned(), field.name())
                }
                _ => column,
            }
        });
        let columns: Vec<Expr> = columns.collect();
        LogicalPlanBuilder::from(input.as_ref().clone()).project(columns)?.build().map(Arc::new)
    });
    Union::try_new_with_loose_types(inputs.collect::<Result<_>>()?).map(LogicalPlan::Union)
}

/// The type of a column of these types; nothing, if the engine finds the right one.
fn common<'t>(types: impl Iterator<Item = &'t DataType> + Clone) -> Option<DataType> {
    let is_time = |own: &DataType| matches!(own, DataType::Time32(_) | DataType::Time64(_));
    if types.clone().all(is_time) {
        let first = types.clone().next();
        return types.clone().any(|own| Some(own) != first).then_some(TIME);
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
