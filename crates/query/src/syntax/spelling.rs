//! Spellings that the engine does not know, or reads in another way.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CaseWhen, CastKind, DataType, ExactNumberInfo, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArguments, Ident, LimitClause, ObjectName, Query, SetExpr, Statement, TableFactor, TimezoneInfo,
    TypedString, UnaryOperator, Value, VisitMut, VisitorMut,
};
use isomorph::error::Place;
use isomorph::{Error, Result};

use crate::functions::array_any;
use crate::rewrite::instants::{MOST_DIGITS, UTC, too_many_digits};

/// The most digits of a numeral that may be a decimal.
const DIGITS: usize = 38;

/// Rewrites them in `statement`.
///
/// # Errors
/// [`isomorph::Kind::Usage`] for a timestamp without a time zone that has an offset; [`isomorph::Kind::Unsupported`] for samples of tables, and for `^`.
pub(crate) fn respell(statement: &mut Statement) -> Result<()> {
    match statement.visit(&mut Respell) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Respell;

impl VisitorMut for Respell {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        of_values(&mut query.body);
        match fetched(query) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }

    /// The engine ignores samples.
    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Error> {
        match factor {
            TableFactor::Table { sample: Some(_), .. } | TableFactor::Derived { sample: Some(_), .. } => {
                let error = Error::unsupported("samples of tables are not supported").at(Place::file("the question"));
                ControlFlow::Break(error.hint("where random() < 0.1    about a tenth of the rows"))
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<Error> {
        if let Some(other) = array_any::respelled(expression) {
            *expression = other;
        }
        // A decimal has no negative zero.
        if let Expr::UnaryOp { op: UnaryOperator::Minus, expr } = expression
            && let Some(text) = numeral(expr).filter(|text| is_zero(text))
        {
            *expression = double(&format!("-{text}"));
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<Error> {
        match expression {
            Expr::Value(_) => {
                if let Some(text) = numeral(expression).filter(|text| is_float(text)) {
                    *expression = double(text);
                }
            }
            Expr::TypedString(TypedString { data_type, value, .. }) => {
                if let Value::SingleQuotedString(text) = &value.value {
                    if let Some(error) = has_offset(text, data_type).or_else(|| has_more_digits(text, data_type)) {
                        return ControlFlow::Break(error);
                    }
                    in_nanoseconds(text, data_type);
                }
            }
            Expr::Cast { expr, data_type, .. } => {
                if let Expr::Value(value) = &**expr
                    && let Value::SingleQuotedString(text) = &value.value
                {
                    if let Some(error) = has_offset(text, data_type).or_else(|| has_more_digits(text, data_type)) {
                        return ControlFlow::Break(error);
                    }
                    in_nanoseconds(&text.clone(), data_type);
                }
            }
            // As operators, they have their operands' types united.
            Expr::IsDistinctFrom(left, right) => {
                let [left, right] =
                    [left, right].map(|one| std::mem::replace(&mut **one, Expr::Value(Value::Null.into())));
                *expression = Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(same(left, right)) };
            }
            Expr::IsNotDistinctFrom(left, right) => {
                let [left, right] =
                    [left, right].map(|one| std::mem::replace(&mut **one, Expr::Value(Value::Null.into())));
                *expression = same(left, right);
            }
            // Of a zone that instants have by themselves.
            Expr::AtTimeZone { time_zone, .. } => {
                if let Expr::Value(zone) = &mut **time_zone
                    && matches!(&zone.value, Value::SingleQuotedString(name) if name == UTC)
                {
                    zone.value = Value::SingleQuotedString("UTC".to_owned());
                }
            }
            // The power of some systems, and the exclusive or of others.
            Expr::BinaryOp { op: BinaryOperator::BitwiseXor, .. } => {
                let error = Error::unsupported("the operator ^ is not supported").at(Place::file("the question"));
                return ControlFlow::Break(
                    error.hint("power(2, 3)    the power").hint("2 xor 3    the bits that differ"),
                );
            }
            // As a function, it has its items' types united.
            Expr::Array(array) if !array.elem.is_empty() => {
                *expression = array_any::call("make_array".to_owned(), std::mem::take(&mut array.elem));
            }
            Expr::Cube(sets) => return repeated("cube", sets.iter().flatten()),
            Expr::Rollup(sets) => return repeated("rollup", sets.iter().flatten()),
            Expr::GroupingSets(sets) => {
                for set in &*sets {
                    if let found @ ControlFlow::Break(_) = repeated("a grouping set", set.iter()) {
                        return found;
                    }
                }
            }
            // The order of all texts.
            Expr::Collate { expr, collation } if is_of_bytes(collation) => {
                *expression = std::mem::replace(&mut **expr, Expr::Value(Value::Null.into()));
            }
            Expr::Function(function) => {
                if let Some(other) = renamed(function) {
                    *expression = other;
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Writes `fetch first 3 rows only` as `limit 3`.
fn fetched(query: &mut Query) -> Result<()> {
    let Some(fetch) = query.fetch.take() else { return Ok(()) };
    let refused = |what: &str, hint: &str| {
        let error = Error::unsupported(format!("fetch first {what} is not supported")).at(Place::file("the question"));
        Err(error.hint(hint))
    };
    if fetch.with_ties {
        return refused("… with ties", "from (select *, rank() over (order by b) as n from t) where n <= 3");
    }
    if fetch.percent {
        return refused("… percent", "from (select *, percent_rank() over (order by b) as n from t) where n < 0.1");
    }
    let rows = fetch.quantity.unwrap_or_else(|| Expr::Value(Value::Number("1".to_owned(), false).into()));
    match query.limit_clause.get_or_insert(LimitClause::LimitOffset { limit: None, offset: None, limit_by: Vec::new() })
    {
        LimitClause::LimitOffset { limit: limit @ None, .. } => {
            *limit = Some(rows);
            Ok(())
        }
        _ => {
            let error = Error::usage("a query has limit and fetch first").at(Place::file("the question"));
            Err(error.hint("order by a limit 3    one of them"))
        }
    }
}

/// Whether a collation orders texts by their bytes, which is the order of their characters' numbers.
fn is_of_bytes(collation: &ObjectName) -> bool {
    let last = collation.0.last().and_then(|part| part.as_ident());
    last.is_some_and(|name| {
        ["C", "POSIX", "ucs_basic", "binary"].iter().any(|own| name.value.eq_ignore_ascii_case(own))
    })
}

fn numeral(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Value(value) => match &value.value {
            Value::Number(text, _) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

fn double(text: &str) -> Expr {
    Expr::Cast {
        kind: CastKind::Cast,
        expr: Box::new(Expr::Value(Value::SingleQuotedString(text.replace('_', "")).into())),
        data_type: DataType::Double(ExactNumberInfo::None),
        array: false,
        format: None,
    }
}

/// The types of `values` are found before it is known what they stand beside: its numerals with a point are floats.
fn of_values(body: &mut SetExpr) {
    match body {
        SetExpr::Values(values) => {
            for cell in values.rows.iter_mut().flat_map(|row| row.content.iter_mut()) {
                let (sign, value): (&str, &Expr) = match &*cell {
                    Expr::UnaryOp { op: UnaryOperator::Minus, expr } => ("-", expr),
                    other => ("", other),
                };
                let float =
                    numeral(value).filter(|text| text.contains('.')).map(|text| double(&format!("{sign}{text}")));
                if let Some(float) = float {
                    *cell = float;
                } else if is_cast_to_decimal(cell) {
                    // The planner casts cells once more where a column has several types: its casts are told from these.
                    let data_type = match &*cell {
                        Expr::Cast { data_type, .. } => data_type.clone(),
                        _ => continue,
                    };
                    let expr = Box::new(std::mem::replace(cell, Expr::Value(Value::Null.into())));
                    *cell = Expr::Cast { kind: CastKind::Cast, expr, data_type, array: false, format: None };
                }
            }
        }
        SetExpr::SetOperation { left, right, .. } => {
            of_values(left);
            of_values(right);
        }
        _ => {}
    }
}

fn is_cast_to_decimal(cell: &Expr) -> bool {
    matches!(
        cell,
        Expr::Cast { data_type: DataType::Decimal(_) | DataType::Numeric(_) | DataType::Dec(_), format: None, .. }
    )
}

/// Whether a numeral is a float: with an exponent, or with more digits than a decimal has.
fn is_float(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'_'));
    !is_decimal || digits > DIGITS
}

fn is_zero(text: &str) -> bool {
    text.contains('.') && text.bytes().all(|byte| matches!(byte, b'0' | b'.' | b'_'))
}

/// Refuses keys of groups that are named twice, which the engine takes for two columns of one name.
fn repeated<'e>(what: &str, keys: impl Iterator<Item = &'e Expr>) -> ControlFlow<Error> {
    let mut seen: Vec<&Expr> = Vec::new();
    for key in keys {
        if seen.contains(&key) {
            let error = Error::unsupported(format!("{what} names {key} twice"));
            return ControlFlow::Break(error.at(Place::file("the question")).hint("name each key once"));
        }
        seen.push(key);
    }
    ControlFlow::Continue(())
}

/// The error of a text that is a timestamp without a time zone, and has an offset: other systems ignore it, the engine adds it.
fn has_offset(text: &str, data_type: &DataType) -> Option<Error> {
    let is_plain = matches!(
        data_type,
        DataType::Timestamp(_, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) | DataType::Datetime(_)
    );
    // A date has signs, too.
    let time = text.trim_end().split_once([' ', 'T']).filter(|_| is_plain)?.1;
    let offset = time.get(time.rfind(['+', '-'])?..)?;
    let is_utc = offset.bytes().all(|byte| matches!(byte, b'+' | b'-' | b':' | b'0'));
    let is_offset = offset.bytes().skip(1).all(|byte| byte.is_ascii_digit() || byte == b':') && offset.len() > 1;
    (is_offset && !is_utc).then(|| {
        Error::usage(format!("a timestamp without a time zone cannot have the offset {offset}"))
            .at(Place::file("the question"))
            .hint(format!("timestamptz '{text}'    the instant"))
            .hint(format!("timestamp '{}'    without the offset", text.trim_end().trim_end_matches(offset).trim_end()))
    })
}

/// `left is not distinct from right` as an operator.
fn same(left: Expr, right: Expr) -> Expr {
    let [left, right] = [left, right].map(|one| Box::new(Expr::Nested(Box::new(one))));
    Expr::Nested(Box::new(Expr::BinaryOp { left, op: BinaryOperator::Spaceship, right }))
}

/// The error of a text of a time that has more digits than a time has.
fn has_more_digits(text: &str, data_type: &DataType) -> Option<Error> {
    let is_moment = matches!(data_type, DataType::Timestamp(..) | DataType::Datetime(_) | DataType::Time(..));
    (is_moment && digits_of_second(text) > MOST_DIGITS).then(|| too_many_digits(text))
}

/// How many digits after the point a time has.
pub(crate) fn digits_of_second(text: &str) -> usize {
    text.rsplit_once('.').map_or(0, |(_, part)| part.bytes().take_while(u8::is_ascii_digit).count())
}

/// A time with more digits than microseconds have.
fn in_nanoseconds(text: &str, data_type: &mut DataType) {
    if let DataType::Timestamp(digits_of_type @ None, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) = data_type
        && digits_of_second(text) > 6
    {
        *digits_of_type = Some(9);
    }
}

/// A value of another row of a window, or `default` if there is none: whether there is a row is asked of a constant.
fn with_default(function: &Function, default: Expr) -> Expr {
    let mut row = function.clone();
    if let FunctionArguments::List(arguments) = &mut row.args
        && let Some(value) = arguments.args.first_mut()
    {
        *value = FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(Value::Boolean(true).into())));
    }
    let condition = Expr::IsNull(Box::new(Expr::Function(row)));
    let token = || datafusion::sql::sqlparser::ast::helpers::attached_token::AttachedToken::empty();
    Expr::Case {
        case_token: token(),
        end_token: token(),
        operand: None,
        conditions: vec![CaseWhen { condition, result: default }],
        else_result: Some(Box::new(Expr::Function(function.clone()))),
    }
}

/// Whether a value is written down.
fn is_constant(value: &Expr) -> bool {
    match value {
        Expr::Value(_) | Expr::TypedString(_) => true,
        Expr::UnaryOp { expr, .. } | Expr::Cast { expr, .. } | Expr::Nested(expr) => is_constant(expr),
        _ => false,
    }
}

/// Functions of SQL with another name or spelling in the engine.
fn renamed(function: &mut Function) -> Option<Expr> {
    let [name] = function.name.0.as_slice() else { return None };
    let name = name.as_ident()?.value.to_lowercase();
    let FunctionArguments::List(arguments) = &mut function.args else { return None };
    match (name.as_str(), arguments.args.as_mut_slice()) {
        (
            "mod",
            [FunctionArg::Unnamed(FunctionArgExpr::Expr(left)), FunctionArg::Unnamed(FunctionArgExpr::Expr(right))],
        ) => {
            let [left, right] = [left, right].map(|side| Box::new(Expr::Nested(Box::new(side.clone()))));
            Some(Expr::Nested(Box::new(Expr::BinaryOp { left, op: BinaryOperator::Modulo, right })))
        }
        ("lag" | "lead", [_, _, FunctionArg::Unnamed(FunctionArgExpr::Expr(default))]) => {
            let (default, is_plain) = (default.clone(), function.null_treatment.is_none());
            if is_constant(&default) || !is_plain || !arguments.clauses.is_empty() {
                return None;
            }
            arguments.args.pop();
            Some(with_default(function, default))
        }
        ("sign", [_]) => {
            function.name = ObjectName::from(vec![Ident::new("signum")]);
            None
        }
        _ => None,
    }
}
