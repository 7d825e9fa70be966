//! Instants are in UTC: PostgreSQL has them in the zone of the session, which is UTC here. Columns are (see `columns`), and what a question makes:
//!
//! | question | the engine | here |
//! |---|---|---|
//! | `coalesce`, `greatest`, `case` and others of instants in several units, or beside other moments | the unit of one of them | the finest unit |
//! | `date_trunc` of an instant | nanoseconds, which have no years before 1678 and after 2262 | its own unit |
//! | `arrow_cast(…, 'Timestamp(µs, "Z")')` | a column of the zone | the same instants, in UTC |
//! | `instant at time zone 'Z'` | the same instant, as a column of the zone | the local time in the zone, a timestamp without a zone |
//! | `timestamp at time zone 'Z'` | the instant in nanoseconds, as a column of the zone | the instant, in UTC |

use std::sync::Arc;

use arrow_schema::{DataType, TimeUnit};
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::functions::datetime::to_local_time;
use datafusion::logical_expr::expr::{Cast, ScalarFunction};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, cast};
use isomorph::Error;
use isomorph::error::Place;

use crate::errors::inside;
use crate::functions::operations::instant_of;
use crate::rewrite::instants::{UTC, united};
use crate::rewrite::kept_names::map_named;
use crate::rewrite::prepared::timed;

/// The plan in which all instants are in UTC.
///
/// # Errors
/// [`isomorph::Kind::Usage`] for a text at a time zone; those of the engine.
pub(crate) fn zones(plan: LogicalPlan) -> Result<LogicalPlan> {
    let schema = merge_schema(&plan.inputs());
    let type_of = |one: &Expr| one.get_type(&schema).ok();
    // What is united has the type that the engine gives it only if its parts have one type.
    let each = |part| {
        let mut part = timed(part, &schema);
        united(&mut part, &schema);
        one(part, &type_of)
    };
    Ok(map_named(plan, |value| value.transform_up(each))?.data)
}

fn one(expression: Expr, type_of: &dyn Fn(&Expr) -> Option<DataType>) -> Result<Transformed<Expr>> {
    Ok(Transformed::yes(match expression {
        Expr::Cast(Cast { expr, field }) => match (field.data_type(), type_of(&expr)) {
            (DataType::Timestamp(TimeUnit::Nanosecond, Some(zone)), Some(own)) if **zone != *UTC => {
                at_zone(*expr, &own, zone)?
            }
            _ => return Ok(Transformed::no(Expr::Cast(Cast { expr, field }))),
        },
        Expr::ScalarFunction(ScalarFunction { func, mut args }) => {
            // Of timestamps, with all the years that they have.
            let unit = args.get(1).and_then(type_of).and_then(|own| match own {
                DataType::Timestamp(unit, Some(_)) if unit != TimeUnit::Nanosecond => Some(unit),
                _ => None,
            });
            match (unit.filter(|_| func.name() == "date_trunc"), args.get_mut(1)) {
                (Some(unit), Some(time)) => {
                    *time = cast(std::mem::take(time), DataType::Timestamp(unit, None));
                    let begin = Expr::ScalarFunction(ScalarFunction { func, args });
                    cast(begin, DataType::Timestamp(unit, Some(UTC.into())))
                }
                _ => {
                    let made = Expr::ScalarFunction(ScalarFunction { func, args });
                    // `arrow_cast` alone names a zone.
                    match type_of(&made).and_then(|own| utc_of(&own)) {
                        Some(utc) => cast(made, utc),
                        None => return Ok(Transformed::no(made)),
                    }
                }
            }
        }
        other => return Ok(Transformed::no(other)),
    }))
}

/// The type of the same instants in UTC; nothing, if they are no instants, or are in UTC.
pub(crate) fn utc_of(own: &DataType) -> Option<DataType> {
    match own {
        DataType::Timestamp(unit, Some(zone)) if !matches!(&**zone, "+00:00" | "UTC" | "Etc/UTC" | "Z") => {
            Some(DataType::Timestamp(*unit, Some(UTC.into())))
        }
        _ => None,
    }
}

/// `moment at time zone 'Z'`.
fn at_zone(moment: Expr, own: &DataType, zone: &Arc<str>) -> Result<Expr> {
    Ok(match own {
        DataType::Timestamp(unit, Some(_)) => {
            to_local_time().call(vec![cast(moment, DataType::Timestamp(*unit, Some(Arc::clone(zone))))])
        }
        DataType::Timestamp(_, None) => instant_of(moment, zone),
        DataType::Date32 => instant_of(cast(moment, DataType::Timestamp(TimeUnit::Microsecond, None)), zone),
        other => {
            let error = Error::usage(format!("a value of type {other} is no time that a zone can have"));
            return Err(inside(
                error
                    .at(Place::file("the question"))
                    .hint(format!(
                        "timestamptz '2024-06-01T12:00:00Z' at time zone '{zone}'    the local time of an instant"
                    ))
                    .hint(format!(
                        "timestamp '2024-06-01T12:00:00' at time zone '{zone}'    the instant of a local time"
                    )),
            ));
        }
    })
}
