//! Errors of the engine as errors of isomorph.

use datafusion::arrow::error::ArrowError;
use datafusion::common::{Column, DataFusionError, SchemaError, TableReference};
use datafusion::sql::sqlparser::parser::ParserError;
use isomorph::error::Place;
use isomorph::{Error, Kind, did_you_mean};

use crate::functions::array_any;
use crate::syntax::repeated_names::{MARK, shown};

/// An error of isomorph inside one of the engine.
pub(crate) fn inside(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// Whether the engine refuses a question as two columns of one query have one name.
pub(crate) fn is_of_equal_names(error: &DataFusionError) -> bool {
    let text = error.to_string();
    let whys =
        ["require unique expression names", "Schema contains duplicate", "would be ambiguous", "Ambiguous reference"];
    whys.iter().any(|why| text.contains(why))
}

/// An error of the engine after it has found all names of a question: one that is not found then is a name that the engine has given.
pub(crate) fn of_optimizer(error: DataFusionError) -> Error {
    match error.find_root() {
        DataFusionError::SchemaError(..) => subquery_here(),
        _ => of_engine(error),
    }
}

fn subquery_here() -> Error {
    let error = Error::unsupported("a subquery is not supported here").at(Place::file("the question"));
    error.hint("join the tables, or compare in WHERE: exists (select 1 from …)")
}

/// An error of the engine, with the question's place in it as far as it says one.
pub(crate) fn of_engine(error: DataFusionError) -> Error {
    match error {
        DataFusionError::External(inner) => match inner.downcast::<Error>() {
            Ok(error) => *error,
            Err(other) => match other.downcast::<DataFusionError>() {
                Ok(error) => of_engine(*error),
                Err(other) => failed(&other.to_string()),
            },
        },
        DataFusionError::ArrowError(arrow, _) => of_arrow(*arrow),
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => of_engine(*inner),
        DataFusionError::Collection(mut all) if !all.is_empty() => of_engine(all.swap_remove(0)),
        DataFusionError::Shared(shared) => match std::sync::Arc::try_unwrap(shared) {
            Ok(error) => of_engine(error),
            Err(shared) => of_shared(&shared),
        },
        DataFusionError::SQL(error, _) => syntax(&error),
        DataFusionError::SchemaError(error, _) => of_schema(*error),
        DataFusionError::Plan(text) | DataFusionError::Configuration(text) => {
            instead(&text).unwrap_or_else(|| Error::usage(first_line(&text)))
        }
        DataFusionError::NotImplemented(text) => {
            instead(&text).unwrap_or_else(|| Error::unsupported(first_line(&text)))
        }
        DataFusionError::ResourcesExhausted(text) => too_large(&text),
        DataFusionError::IoError(error) => error.into(),
        DataFusionError::Execution(text) => failed(&text),
        other => failed(&other.strip_backtrace()),
    }
}

/// An error that others hold as well, so that only its text and kind can be told.
fn of_shared(error: &DataFusionError) -> Error {
    match error {
        DataFusionError::External(inner) => match inner.downcast_ref::<Error>() {
            Some(own) => copy(own),
            None => failed(&inner.to_string()),
        },
        DataFusionError::Shared(inner) => of_shared(inner),
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => of_shared(inner),
        DataFusionError::ArrowError(arrow, _) => match &**arrow {
            ArrowError::ExternalError(inner) => match inner.downcast_ref::<DataFusionError>() {
                Some(error) => of_shared(error),
                None => inner.downcast_ref::<Error>().map_or_else(|| failed(&inner.to_string()), copy),
            },
            other => failed(&other.to_string()),
        },
        DataFusionError::ResourcesExhausted(text) => too_large(text),
        other => failed(&other.strip_backtrace()),
    }
}

fn of_arrow(error: ArrowError) -> Error {
    match error {
        ArrowError::ExternalError(inner) => match inner.downcast::<DataFusionError>() {
            Ok(error) => of_engine(*error),
            Err(other) => match other.downcast::<Error>() {
                Ok(error) => *error,
                Err(other) => failed(&other.to_string()),
            },
        },
        other => failed(&other.to_string()),
    }
}

fn copy(error: &Error) -> Error {
    let same = Error::new(error.kind(), error.message()).at(error.place().clone());
    let same = error.hints().fold(same, Error::hint);
    match error.broken_rule() {
        Some(rule) => same.rule(rule),
        None => same,
    }
}

fn too_large(text: &str) -> Error {
    Error::new(Kind::TooLarge, format!("the memory limit is too small for this question: {}", first_line(text)))
        .hint("--memory 2GiB    a larger limit")
}

/// The error of a subquery of one value that depends on the outer row by another condition than that values are equal.
pub(crate) fn unequal() -> Error {
    let (_, what, hint) = UNEQUAL;
    Error::unsupported(what).at(Place::file("the question")).hint(hint)
}

/// The error of a subquery that is a value, and has several rows.
pub(crate) fn many_rows() -> Error {
    let error = Error::usage("a subquery that is a value has more than one row").at(Place::file("the question"));
    error.hint("(select max(b) from t where t.a = x.a)    one row, whatever the table has")
}

const UNEQUAL: (&str, &str, &str) = (
    "Physical plan does not support logical expression ScalarSubquery",
    "a subquery whose condition on the outer row is another than = is not supported here",
    "join the tables, and group: select a.id, count(b.id) from a left join b on b.x < a.x group by a.id",
);

/// Questions that the engine does not answer, and what to write instead.
const INSTEAD: [(&str, &str, &str); 5] = [
    (
        "Physical plan does not support logical expression OuterReferenceColumn",
        "a subquery that depends on the outer row is not supported here: one with limit, or of a list",
        "number the rows: from (select *, row_number() over (partition by a order by b) as n from t) where n <= 2",
    ),
    UNEQUAL,
    (
        "Physical plan does not support logical expression",
        "a subquery is not supported here",
        "join the tables, or compare in WHERE: exists (select 1 from …)",
    ),
    (
        "does not satisfy order requirements",
        "a window in such an order is not supported",
        "rank() over (order by o) from (select *, a < b as o from t)    the order as a column",
    ),
    (
        "Too many columns! The subquery should only return one column",
        "a subquery that is compared has one column",
        "exists (select 1 from t where t.a = x.a and t.b = x.b) instead of (x.a, x.b) in (select a, b from t)",
    ),
];

/// How the engine begins to refuse a part of a syntax tree, which it prints.
const TREE: &str = "Unsupported ast node in sqltorel: ";

/// What begins names of the engine's, and of ours, that a question does not have.
const INTERNAL: [&str; 8] =
    ["__always_true", "_of_row", "__correlated_sq", "__scalar_sq", "_compared_", "_own_", "_value_", "_row_of_limit"];

fn instead(text: &str) -> Option<Error> {
    // An error of ours, which the engine has put into a text of its own.
    if let Some((_, own)) = text.split_once("External error: ").filter(|_| text.contains(array_any::NAME)) {
        let own = own.split(" (the question)").next().and_then(|own| own.split(". No function").next());
        return own.map(|own| Error::usage(own.trim()).hint("x = any(array)    x in (1, 2)"));
    }
    if text.contains("Scalar subquery returned more than one row") {
        return Some(many_rows());
    }
    if INTERNAL.iter().any(|name| text.contains(name)) {
        return Some(subquery_here());
    }
    if text.contains("Physical input schema should be the same") {
        let error = Error::unsupported("an expression of a group is not supported here");
        return Some(error.hint("select x, count(*) from (select … as x from t) q group by x"));
    }
    if let Some((_, tree)) = text.split_once(TREE) {
        let name: String = tree.chars().take_while(|one| one.is_ascii_alphanumeric()).collect();
        let error = Error::unsupported(format!("an expression is not supported: {name}"));
        return Some(match name.as_str() {
            "Collate" => {
                error.hint("texts are ordered by their characters' numbers: collate \"C\"; lower(x) ignores case")
            }
            _ => error,
        });
    }
    if let Some(error) = of_join(text).or_else(|| of_signature(text)) {
        return Some(error);
    }
    let (_, what, hint) = INSTEAD.iter().find(|(own, ..)| text.contains(own))?;
    Some(Error::unsupported(*what).hint(*hint))
}

/// A join that the engine has no operator for, of which it prints the syntax tree.
fn of_join(text: &str) -> Option<Error> {
    let (_, tree) = text.split_once("Unsupported JOIN operator ")?;
    let name: String = tree.chars().take_while(|one| one.is_ascii_alphanumeric()).collect();
    let error = Error::unsupported(format!("a join is not supported: {}", name.to_lowercase()));
    Some(match name.as_str() {
        "Semi" | "Anti" => {
            let name = name.to_lowercase();
            error.hint(format!("left {name} join, or right {name} join"))
        }
        _ => error,
    })
}

/// A function that has no form for the types of its arguments. The engine lists all forms that it has.
fn of_signature(text: &str) -> Option<Error> {
    let (_, rest) = text.split_once("Function '")?;
    let (name, rest) = rest.split_once('\'')?;
    if ![" failed to match any signature", " requires "].iter().any(|front| rest.starts_with(front)) {
        return None;
    }
    let (_, found) = rest.split_once("(DataType: ")?;
    let (found, _) = found.split_once(").")?;
    let error = Error::usage(format!("{name} is not defined for a value of type {found}"));
    Some(error.hint("cast(x as double)    a value of another type"))
}

fn failed(text: &str) -> Error {
    if let Some(error) = instead(text) {
        return error;
    }
    Error::usage(format!("the question cannot be answered: {}", first_line(text)))
}

/// The first line, without the words that the engine puts in front of what it says.
fn first_line(text: &str) -> String {
    let mut line = text.lines().next().unwrap_or_default().trim();
    for front in ["Error during planning: ", "Execution error: ", "Arrow error: ", "Optimizer rule "] {
        line = line.strip_prefix(front).unwrap_or(line);
    }
    line.to_owned()
}

/// A syntax error at its line and column.
pub(crate) fn syntax(error: &ParserError) -> Error {
    let text = match error {
        ParserError::ParserError(text) | ParserError::TokenizerError(text) => text.as_str(),
        ParserError::RecursionLimitExceeded => {
            return Error::new(Kind::TooLarge, "the question is nested too deeply").at(Place::file("the question"));
        }
    };
    let (what, line, column) = position(text);
    let what = what.replacen("Expected: ", "expected ", 1).replacen(", found: ", ", found ", 1);
    let place = Place::file("the question");
    match (line, column) {
        (Some(line), Some(column)) => Error::usage(what).at(place.line(line).in_field(format!("column {column}"))),
        _ => Error::usage(what).at(place),
    }
}

/// A text that ends with ` at Line: 3, Column: 14`, and these numbers.
fn position(text: &str) -> (String, Option<u64>, Option<u64>) {
    let Some((what, place)) = text.rsplit_once(" at Line: ") else { return (text.to_owned(), None, None) };
    let mut numbers = place.split(", Column: ").map(|number| number.trim().parse().ok());
    (what.to_owned(), numbers.next().flatten(), numbers.next().flatten())
}

/// The same for an error of a plan: a column that does not exist, or is in several tables, has a place in the question.
pub(crate) fn of_plan(
    error: DataFusionError,
    places: &[(String, Place)],
    functions: &dyn Fn() -> Vec<String>,
) -> Error {
    let named = match error.find_root() {
        DataFusionError::SchemaError(error, _) => match &**error {
            SchemaError::FieldNotFound { field, .. } | SchemaError::AmbiguousReference { field } => {
                places.iter().find(|(name, _)| *name == field.name)
            }
            _ => None,
        },
        _ => None,
    };
    let place = named.map_or_else(|| Place::file("the question"), |(_, place)| place.clone());
    let error = of_engine(error).at(place);
    match error.message().strip_prefix("Invalid function '").and_then(|rest| rest.split('\'').next()) {
        Some(name) => {
            let (name, functions) = (name.to_lowercase(), functions());
            let near = did_you_mean(&name, functions.iter().map(String::as_str));
            Error::usage(format!("there is no function {name}{near}"))
                .at(error.place().clone())
                .hint("select distinct routine_name from information_schema.routines order by 1    all functions")
        }
        None => error,
    }
}

fn of_schema(error: SchemaError) -> Error {
    match error {
        SchemaError::FieldNotFound { field, valid_fields } => {
            let is_same = |column: &&Column| column.name.strip_suffix(MARK) == Some(field.name.as_str());
            let is_of = |column: &&Column| field.relation.is_none() || field.relation == column.relation;
            if let Some(column) = valid_fields.iter().filter(is_same).find(is_of) {
                let table = column.relation.as_ref().map_or("a subquery", TableReference::table);
                let error = Error::usage(format!("two columns of {table} are called {}", field.name));
                return error.hint(format!("give one a name with as: b.{} as other", field.name));
            }
            let names: Vec<&str> = valid_fields.iter().map(|column| shown(&column.name)).collect();
            let near = did_you_mean(&field.name, names.iter().copied());
            let whole = match &field.relation {
                Some(table) => format!("{table}.{}", field.name),
                None => field.name.clone(),
            };
            let error = Error::usage(format!("there is no column {whole} here{near}"));
            let mut shown: Vec<&str> = names.into_iter().take(30).collect();
            shown.dedup();
            if shown.is_empty() { error } else { error.hint(format!("the columns are {}", shown.join(", "))) }
        }
        SchemaError::AmbiguousReference { field } => {
            Error::usage(format!("several tables have a column {}", field.name))
                .hint(format!("name the table: t.{}", field.name))
        }
        SchemaError::DuplicateQualifiedField { name, .. } | SchemaError::DuplicateUnqualifiedField { name } => {
            Error::usage(format!("a subquery has two columns that are called {name}"))
                .hint(format!("select a.{name}, b.{name} as other"))
        }
    }
}

/// The error for work that stopped without a reason.
pub(crate) fn internal(text: &str) -> Error {
    Error::usage(format!("internal error: please report this with the command and `isomorph --version`: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_data() {
        let error = syntax(&ParserError::ParserError("Expected: FROM, found: x at Line: 2, Column: 14".to_owned()));
        assert_eq!(error.message(), "expected FROM, found x");
        assert_eq!((error.place().line, error.place().field.as_deref()), (Some(2), Some("column 14")));
        assert_eq!(position("no place"), ("no place".to_owned(), None, None));
    }

    #[test]
    fn an_own_error_comes_back_as_it_was() {
        let own = || Error::malformed("a page").at(Place::file("x.parquet").row(3)).hint("repair it");
        let through = of_engine(DataFusionError::Context("while".into(), Box::new(inside(own()))));
        assert_eq!((through.kind(), through.place().row), (Kind::Malformed, Some(3)));
        let shared = std::sync::Arc::new(inside(own()));
        let other = std::sync::Arc::clone(&shared);
        let through = of_engine(DataFusionError::Shared(shared));
        assert_eq!((through.message(), through.hints().count()), ("a page", 1));
        drop(other);
    }
}
