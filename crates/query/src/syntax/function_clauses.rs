//! Clauses and arguments of functions that the engine reads in another way, or not at all.
//!
//! | question | the engine | here |
//! |---|---|---|
//! | `string_agg(a, ',' order by b, b)`, also in windows | an internal error | each expression once: the second decides nothing |
//! | frames that end before they begin: `rows between 2 following and 1 following` | an error | no rows, as in PostgreSQL |
//! | frames from the current row or after it that end before it | no rows, or an error | refused, as in PostgreSQL |
//! | `extract(hour from x)` | its own function, for all types | `date_part('hour', x)`: see `length_parts` |
//! | `to_char(x, 'YYYY-MM-DD')` | the text `YYYY-MM-DD` | refused, with `%Y-%m-%d` |

use std::ops::ControlFlow;

use datafusion::common::ScalarValue;
use datafusion::sql::sqlparser::ast::helpers::attached_token::AttachedToken;
use datafusion::sql::sqlparser::ast::{
    CaseWhen, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments, Interval,
    OrderByExpr, Statement, Value, VisitMut, VisitorMut, WindowFrame, WindowFrameBound, WindowFrameUnits, WindowType,
};
use isomorph::error::Place;
use isomorph::{Error, Result};

use crate::functions::array_any::call;
use crate::functions::time_formats::strftime_of;

/// Functions of windows to which the frame means nothing.
const UNFRAMED: [&str; 8] = ["row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead"];

/// Functions of windows that return a value of the frame.
const OF_FRAME: [&str; 3] = ["first_value", "last_value", "nth_value"];

/// Rewrites them in `statement`, whose named windows are written out.
///
/// # Errors
/// [`isomorph::Kind::Usage`] for a frame that cannot be, and for a format of another system.
pub(crate) fn respell(statement: &mut Statement) -> Result<()> {
    match statement.visit(&mut Clauses) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Clauses;

impl VisitorMut for Clauses {
    type Break = Error;

    fn post_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<Error> {
        if let Expr::Extract { field, expr, .. } = expression {
            let field = Expr::Value(Value::SingleQuotedString(field.to_string()).into());
            let value = std::mem::replace(&mut **expr, Expr::Value(Value::Null.into()));
            *expression = call("date_part".to_owned(), vec![field, value]);
        }
        let Expr::Function(function) = expression else { return ControlFlow::Continue(()) };
        ordered_once(function);
        if let Some(error) = of_other_format(function) {
            return ControlFlow::Break(error);
        }
        match framed(function) {
            Ok(None) => ControlFlow::Continue(()),
            Ok(Some(other)) => {
                *expression = other;
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    }
}

/// Orders in which no expression is a second time.
fn ordered_once(function: &mut Function) {
    let once = |order: &mut Vec<OrderByExpr>| {
        let mut seen: Vec<Expr> = Vec::new();
        order.retain(|one| {
            let is_new = !seen.contains(&one.expr);
            seen.push(one.expr.clone());
            is_new
        });
    };
    if let FunctionArguments::List(arguments) = &mut function.args {
        for clause in &mut arguments.clauses {
            if let FunctionArgumentClause::OrderBy(order) = clause {
                once(order);
            }
        }
    }
    if let Some(WindowType::WindowSpec(window)) = &mut function.over {
        once(&mut window.order_by);
    }
}

fn name_of(function: &Function) -> Option<String> {
    match function.name.0.as_slice() {
        [name] => Some(name.as_ident()?.value.to_lowercase()),
        _ => None,
    }
}

/// The error of a format of `to_char` without a part of the time.
fn of_other_format(function: &Function) -> Option<Error> {
    let name = name_of(function).filter(|name| ["to_char", "date_format"].contains(&name.as_str()))?;
    let FunctionArguments::List(arguments) = &function.args else { return None };
    let [FunctionArg::Unnamed(FunctionArgExpr::Expr(value)), FunctionArg::Unnamed(FunctionArgExpr::Expr(format))] =
        arguments.args.as_slice()
    else {
        return None;
    };
    let Expr::Value(format) = format else { return None };
    let Value::SingleQuotedString(format) = &format.value else { return None };
    if format.contains('%') || format.is_empty() {
        return None;
    }
    let error = Error::usage(format!("'{format}' has no part of the time: formats are those of strftime"));
    let error = error.at(Place::file("the question"));
    Some(match strftime_of(format) {
        Some(other) => error.hint(format!("{name}({value}, '{other}')")),
        None => error.hint(format!("{name}({value}, '%Y-%m-%d %H:%M:%S')    year, month, day, and the time of day")),
    })
}

/// What stands for a function over a frame without rows; nothing for other functions.
fn framed(function: &mut Function) -> Result<Option<Expr>> {
    let name = name_of(function);
    let Some(WindowType::WindowSpec(window)) = &mut function.over else { return Ok(None) };
    let Some(frame) = &window.window_frame else { return Ok(None) };
    check(frame)?;
    if !is_empty(frame) {
        return Ok(None);
    }
    window.window_frame = None;
    let is_of = |names: &[&str]| name.as_deref().is_some_and(|name| names.contains(&name));
    let constant = |value| Expr::Value(value);
    let never = || constant(Value::Boolean(false).into());
    if is_of(&OF_FRAME) {
        // Null, of the type of the function.
        return Ok(Some(Expr::Case {
            case_token: AttachedToken::empty(),
            end_token: AttachedToken::empty(),
            operand: None,
            conditions: vec![CaseWhen { condition: never(), result: Expr::Function(function.clone()) }],
            else_result: None,
        }));
    }
    if !is_of(&UNFRAMED) {
        function.filter = Some(Box::new(never()));
    }
    Ok(None)
}

/// Refuses a frame whose end is of a kind that comes before that of its begin.
fn check(frame: &WindowFrame) -> Result<()> {
    use WindowFrameBound as B;
    let end = frame.end_bound.as_ref().unwrap_or(&B::CurrentRow);
    let what = match (&frame.start_bound, end) {
        (B::Following(None), _) => "a frame cannot begin with unbounded following",
        (_, B::Preceding(None)) => "a frame cannot end with unbounded preceding",
        (B::CurrentRow, B::Preceding(_)) => "a frame that begins with the current row cannot end before it",
        (B::Following(_), B::CurrentRow | B::Preceding(_)) => {
            "a frame that begins after the current row cannot end with it or before it"
        }
        _ => return Ok(()),
    };
    let error = Error::usage(what).at(Place::file("the question"));
    Err(error.hint(format!("{} between 1 preceding and 1 following", frame.units.to_string().to_lowercase())))
}

/// Whether a frame has no rows, in whatever row.
fn is_empty(frame: &WindowFrame) -> bool {
    use WindowFrameBound as B;
    let is_less = |one: &Expr, other: &Expr| match (distance(one, frame.units), distance(other, frame.units)) {
        (Some(one), Some(other)) => one < other,
        _ => false,
    };
    match (&frame.start_bound, &frame.end_bound) {
        (B::Following(Some(from)), Some(B::Following(Some(to)))) => is_less(to, from),
        (B::Preceding(Some(from)), Some(B::Preceding(Some(to)))) => is_less(from, to),
        _ => false,
    }
}

/// The distance of a bound from the current row: a number, or the nanoseconds of an interval without months, which have no one length.
fn distance(bound: &Expr, units: WindowFrameUnits) -> Option<f64> {
    match bound {
        Expr::Value(value) => match &value.value {
            Value::Number(text, _) => text.parse().ok(),
            Value::SingleQuotedString(text) if units != WindowFrameUnits::Range => text.parse().ok(),
            _ => None,
        },
        Expr::Interval(Interval { value, leading_field, leading_precision: None, last_field: None, .. }) => {
            let Expr::Value(value) = &**value else { return None };
            let Value::SingleQuotedString(text) = &value.value else { return None };
            let text = leading_field.as_ref().map_or_else(|| text.clone(), |field| format!("{text} {field}"));
            let own = arrow_schema::DataType::Interval(arrow_schema::IntervalUnit::MonthDayNano);
            match ScalarValue::try_from_string(text, &own).ok()? {
                ScalarValue::IntervalMonthDayNano(Some(one)) if one.months == 0 => {
                    #[expect(clippy::cast_precision_loss, reason = "distances are compared")]
                    let rest = one.nanoseconds as f64;
                    Some(f64::from(one.days) * 86_400e9 + rest)
                }
                _ => None,
            }
        }
        _ => None,
    }
}
