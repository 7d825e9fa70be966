//! Spellings that the engine does not know, or reads in another way.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident,
    ObjectName, Statement, TimezoneInfo, TypedString, Value, VisitMut, VisitorMut,
};

/// The most digits of a numeral that may be a decimal.
const DIGITS: usize = 38;

/// Rewrites them in `statement`.
pub(crate) fn respell(statement: &mut Statement) {
    let _ = statement.visit(&mut Respell);
}

struct Respell;

impl VisitorMut for Respell {
    type Break = ();

    fn post_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<()> {
        match expression {
            Expr::Value(value) => {
                if let Value::Number(text, _) = &value.value
                    && is_float(text)
                {
                    let text = text.replace('_', "");
                    *expression = Expr::Cast {
                        kind: CastKind::Cast,
                        expr: Box::new(Expr::Value(Value::SingleQuotedString(text).into())),
                        data_type: DataType::Double(datafusion::sql::sqlparser::ast::ExactNumberInfo::None),
                        array: false,
                        format: None,
                    };
                }
            }
            Expr::TypedString(TypedString { data_type, value, .. }) => {
                if let Value::SingleQuotedString(text) = &value.value {
                    in_nanoseconds(text, data_type);
                }
            }
            Expr::Cast { expr, data_type, .. } => {
                if let Expr::Value(value) = &**expr
                    && let Value::SingleQuotedString(text) = &value.value
                {
                    in_nanoseconds(&text.clone(), data_type);
                }
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

/// Whether a numeral is a float: with an exponent, with more digits than a decimal has, or zero with a point, whose sign a decimal does not keep.
fn is_float(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'_'));
    let is_zero = text.contains('.') && text.bytes().all(|byte| matches!(byte, b'0' | b'.' | b'_'));
    !is_decimal || digits > DIGITS || is_zero
}

/// A time with more digits than microseconds have.
fn in_nanoseconds(text: &str, data_type: &mut DataType) {
    let digits = text.rsplit_once('.').map_or(0, |(_, part)| part.bytes().take_while(u8::is_ascii_digit).count());
    if let DataType::Timestamp(digits_of_type @ None, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) = data_type
        && digits > 6
    {
        *digits_of_type = Some(9);
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
            [
                FunctionArg::Unnamed(FunctionArgExpr::Expr(left)),
                FunctionArg::Unnamed(FunctionArgExpr::Expr(right)),
            ],
        ) => {
            let [left, right] = [left, right].map(|side| Box::new(Expr::Nested(Box::new(side.clone()))));
            Some(Expr::Nested(Box::new(Expr::BinaryOp { left, op: BinaryOperator::Modulo, right })))
        }
        ("sign", [_]) => {
            function.name = ObjectName::from(vec![Ident::new("signum")]);
            None
        }
        _ => None,
    }
}
