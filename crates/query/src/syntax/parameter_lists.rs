//! Parameters that are lists, in the places where a list can stand: `x = any($ids)`, `x in ($ids)`, `unnest($ids)`. Each item becomes a parameter of its own, which
//! takes the type of what it is compared with. Elsewhere a value is a text, whatever it looks like. And the zone of `at time zone $z`, which the engine takes as a literal.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Array, DataType, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Statement, TableFactor, Value, VisitMut,
    VisitorMut,
};
use isomorph::error::Place;
use isomorph::{Error, Result};

use crate::parameters::Parameters;

/// Puts items in the place of such parameters in a statement. Returns all values with those of the items, and the names of parameters that are used so.
///
/// # Errors
/// [`isomorph::Kind::Usage`] for a parameter beside `any` and `all` that is no list.
pub(crate) fn spread(statement: &mut Statement, parameters: &Parameters) -> Result<(Parameters, BTreeSet<String>)> {
    let mut lists = Lists { all: parameters.clone(), own: parameters, used: BTreeSet::new() };
    match statement.visit(&mut lists) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok((lists.all, lists.used)),
    }
}

struct Lists<'p> {
    own: &'p Parameters,
    all: Parameters,
    used: BTreeSet<String>,
}

/// The name of a parameter.
fn name_of(value: &Expr) -> Option<&str> {
    match value {
        Expr::Nested(inner) => name_of(inner),
        Expr::Value(value) => match &value.value {
            Value::Placeholder(id) => id.strip_prefix('$'),
            _ => None,
        },
        _ => None,
    }
}

impl VisitorMut for Lists<'_> {
    type Break = Error;

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Error> {
        if let TableFactor::UNNEST { array_exprs, .. } = factor {
            array_exprs.iter_mut().for_each(|one| self.array(one));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<Error> {
        match expression {
            Expr::AnyOp { right, .. } | Expr::AllOp { right, .. } => {
                self.array(right);
                if let Some((name, text)) = name_of(right).and_then(|name| Some((name, self.own.value(name)??))) {
                    let error = Error::usage(format!("parameter {name} is {text:?}, but is compared as a list"));
                    let error = error.at(Place::file("the question"));
                    return ControlFlow::Break(error.hint(format!("--param '{name}=[1,2]'")));
                }
            }
            Expr::InList { list, negated, .. } => {
                let items = std::mem::take(list).into_iter();
                *list = items.flat_map(|item| self.items(&item).unwrap_or_else(|| vec![item])).collect();
                // Nothing is among no values, and a null is not either.
                if list.is_empty() {
                    *expression = Expr::Value(Value::Boolean(*negated).into());
                }
            }
            Expr::Function(function) => {
                let name =
                    function.name.0.last().and_then(|part| part.as_ident()).map(|name| name.value.to_lowercase());
                if let FunctionArguments::List(list) = &mut function.args
                    && name.is_some_and(|name| takes_lists(&name))
                {
                    for argument in &mut list.args {
                        if let FunctionArg::Unnamed(FunctionArgExpr::Expr(value)) = argument {
                            self.array(value);
                        }
                    }
                }
            }
            Expr::AtTimeZone { time_zone, .. } => {
                if let Some((name, zone)) = name_of(time_zone).and_then(|name| Some((name, self.own.value(name)??))) {
                    self.used.insert(name.to_owned());
                    **time_zone = Expr::Value(Value::SingleQuotedString(zone.to_owned()).into());
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Whether a function is one of arrays.
fn takes_lists(name: &str) -> bool {
    matches!(name, "unnest" | "cardinality") || name.starts_with("array_") || name.starts_with("list_")
}

impl Lists<'_> {
    /// Writes a parameter that is a list as an array, also one that is cast.
    fn array(&mut self, value: &mut Expr) {
        let items = match &*value {
            Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => self.items(inner),
            other => self.items(other),
        };
        let Some(items) = items else { return };
        let array = |elem| Expr::Array(Array { elem, named: true });
        match value {
            // The items of `$ids::bigint[]` are cast.
            Expr::Cast { kind, data_type: DataType::Array(of), array: is_array, format, .. } => {
                use datafusion::sql::sqlparser::ast::ArrayElemTypeDef as Of;
                let (Of::AngleBracket(own) | Of::SquareBracket(own, _) | Of::Parenthesis(own)) = of else { return };
                let cast = |item| Expr::Cast {
                    kind: kind.clone(),
                    expr: Box::new(item),
                    data_type: own.as_ref().clone(),
                    array: *is_array,
                    format: format.clone(),
                };
                *value = array(items.into_iter().map(cast).collect());
            }
            Expr::Cast { .. } => {}
            other => *other = array(items),
        }
    }

    /// The items of a parameter that is a list, as parameters of their own.
    fn items(&mut self, value: &Expr) -> Option<Vec<Expr>> {
        let name = name_of(value)?;
        let items = listed(self.own.value(name)??)?;
        self.used.insert(name.to_owned());
        let own = items.into_iter().enumerate().map(|(at, item)| {
            let id = format!("{name}[{at}]");
            self.used.insert(id.clone());
            self.all.set(id.clone(), item);
            Expr::Value(Value::Placeholder(format!("${id}")).into())
        });
        Some(own.collect())
    }
}

/// The items of a list as JSON writes it, `None` for null; nothing if a text is no list, or has lists and objects inside.
fn listed(text: &str) -> Option<Vec<Option<String>>> {
    let items: Vec<serde_json::Value> = serde_json::from_str(text).ok()?;
    if items.is_empty() {
        return Some(Vec::new());
    }
    let inside = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    let (mut is_text, mut is_escaped) = (false, false);
    let is_end = |letter: char| {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' if is_text => is_escaped = true,
            '"' => is_text = !is_text,
            ',' => return !is_text,
            _ => {}
        }
        false
    };
    let written = inside.split(is_end).map(str::trim);
    // A number is what is written, with all of its digits.
    items
        .iter()
        .zip(written)
        .map(|(item, written)| match item {
            serde_json::Value::Null => Some(None),
            serde_json::Value::String(text) => Some(Some(text.clone())),
            serde_json::Value::Bool(_) | serde_json::Value::Number(_) => Some(Some(written.to_owned())),
            serde_json::Value::Array(_) | serde_json::Value::Object(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_written_as_in_json() {
        let of =
            |text: &str| listed(text).map(|items| items.into_iter().map(Option::unwrap_or_default).collect::<Vec<_>>());
        assert_eq!(of("[1, 2.50,-3e2 ]").unwrap_or_default(), ["1", "2.50", "-3e2"]);
        assert_eq!(of(r#" ["a,\"b", null, "[", "\\", true]"#).unwrap_or_default(), ["a,\"b", "", "[", "\\", "true"]);
        assert_eq!(of("[]"), Some(Vec::new()));
        for text in ["1", "[1", "[a]", "[[1]]", "{}", "", "[0-9]"] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
