//! Instants in UTC, wherever their day or their hour is asked for: PostgreSQL takes the zone of the session, which is UTC here.
//!
//! | question | the engine | here |
//! |---|---|---|
//! | an instant cast to a date, a time of day or a text; `extract`, `date_trunc`, `to_char`, `date_bin` of one | the zone of the column | UTC, as in a cast to a timestamp |
//! | an instant and an interval | days and months of the zone of the column | those of UTC |
//! | the same of `coalesce`, `greatest`, `case` and others of instants in several zones and units, or beside other moments | the zone and the unit of one of them | UTC, and the finest unit |
//! | `instant at time zone 'Z'` | the same instant, as a column of the zone | the local time in the zone, a timestamp without a zone |
//! | `timestamp at time zone 'Z'` | the instant in nanoseconds, as a column of the zone | the instant, in UTC |

use std::sync::Arc;

use arrow_schema::{DataType, TimeUnit};
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::functions::datetime::to_local_time;
use datafusion::logical_expr::expr::{Cast, ScalarFunction, TryCast};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator, cast};
use isomorph::Error;
use isomorph::error::Place;

use crate::errors::inside;
use crate::functions::instant_of;
use crate::instants::{UTC, united};
use crate::kept_names::map_named;
use crate::prepared::timed;

/// Functions that ask for parts of an instant.
const PARTS: [&str; 7] = ["date_part", "date_trunc", "date_bin", "to_char", "to_date", "generate_series", "range"];

/// The plan in which these are in UTC.
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
        Expr::Cast(Cast { expr, field }) => {
            let own = type_of(&expr);
            if let (DataType::Timestamp(TimeUnit::Nanosecond, Some(zone)), Some(own)) = (field.data_type(), &own)
                && **zone != *UTC
            {
                return at_zone(*expr, own, zone).map(Transformed::yes);
            }
            match own.filter(|_| is_part(field.data_type())).and_then(|own| utc_of(&own)) {
                Some(utc) => Expr::Cast(Cast { expr: cast(*expr, utc).into(), field }),
                None => return Ok(Transformed::no(Expr::Cast(Cast { expr, field }))),
            }
        }
        Expr::TryCast(TryCast { expr, field }) => {
            match type_of(&expr).filter(|_| is_part(field.data_type())).and_then(|own| utc_of(&own)) {
                Some(utc) => Expr::TryCast(TryCast { expr: cast(*expr, utc).into(), field }),
                None => return Ok(Transformed::no(Expr::TryCast(TryCast { expr, field }))),
            }
        }
        Expr::ScalarFunction(ScalarFunction { func, args }) if PARTS.contains(&func.name()) => {
            let utc = |one: Expr| match type_of(&one).and_then(|own| utc_of(&own)) {
                Some(utc) => cast(one, utc),
                None => one,
            };
            let mut args: Vec<Expr> = args.into_iter().map(utc).collect();
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
                _ => Expr::ScalarFunction(ScalarFunction { func, args }),
            }
        }
        Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::Plus | Operator::Minus), right }) => {
            let types = [type_of(&left), type_of(&right)];
            let is_interval = |own: &Option<DataType>| matches!(own, Some(DataType::Interval(_)));
            let utc = |own: &Option<DataType>| own.as_ref().and_then(utc_of);
            let (left, right, own) = match (utc(&types[0]), utc(&types[1]), types) {
                (Some(utc), _, [Some(own), other]) if is_interval(&other) => (cast(*left, utc).into(), right, own),
                (_, Some(utc), [other, Some(own)]) if is_interval(&other) => (left, cast(*right, utc).into(), own),
                _ => return Ok(Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right }))),
            };
            cast(Expr::BinaryExpr(BinaryExpr { left, op, right }), own)
        }
        other => return Ok(Transformed::no(other)),
    }))
}

/// Whether a type has a part of an instant, or says it in a zone.
fn is_part(to: &DataType) -> bool {
    use DataType as T;
    matches!(to, T::Date32 | T::Date64 | T::Time32(_) | T::Time64(_) | T::Utf8 | T::LargeUtf8 | T::Utf8View)
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
