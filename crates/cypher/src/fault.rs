//! Errors of queries: with the class and the detail that the openCypher TCK names, and the place in the text.

use isomorph::{Error, Kind};
use open_cypher::Span;

/// The class of an error, as openCypher names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The query is no valid query.
    SyntaxError,
    /// A value has a type that does not fit.
    TypeError,
    /// A value is out of range.
    ArgumentError,
    /// A parameter has no value.
    ParameterMissing,
    /// A number is too large, or divided by zero.
    ArithmeticError,
    /// A procedure does not exist.
    ProcedureError,
}

/// An error of a query.
#[derive(Debug)]
pub enum Fault {
    /// Of the query itself.
    Query {
        /// Its class.
        class: Class,
        /// The word of the TCK, such as `UndefinedVariable`.
        detail: &'static str,
        /// One line in lower case.
        message: String,
        /// Where in the text, if known.
        span: Option<Span>,
        /// Whether it was found before any row was read.
        at_compile_time: bool,
        /// What to try.
        hint: Option<String>,
    },
    /// Of reading the graph, of a limit, or an interruption.
    Other(Error),
}

/// A result of parsing or evaluating.
pub type Result<T> = std::result::Result<T, Fault>;

impl Fault {
    /// An error in the text of a query.
    pub fn syntax(detail: &'static str, message: impl Into<String>, span: Span) -> Fault {
        Fault::compile(Class::SyntaxError, detail, message, span)
    }

    pub(crate) fn compile(class: Class, detail: &'static str, message: impl Into<String>, span: Span) -> Fault {
        let (span, message) = (Some(span), message.into());
        Fault::Query { class, detail, message, span, at_compile_time: true, hint: None }
    }

    /// An error of a value.
    pub fn runtime(class: Class, detail: &'static str, message: impl Into<String>) -> Fault {
        Fault::Query { class, detail, message: message.into(), span: None, at_compile_time: false, hint: None }
    }

    /// A value of a type that does not fit.
    pub fn argument_type(message: impl Into<String>) -> Fault {
        Fault::runtime(Class::TypeError, "InvalidArgumentType", message)
    }

    /// A value that does not fit.
    pub fn argument_value(message: impl Into<String>) -> Fault {
        Fault::runtime(Class::TypeError, "InvalidArgumentValue", message)
    }

    pub(crate) fn overflow(message: impl Into<String>) -> Fault {
        Fault::runtime(Class::ArithmeticError, "IntegerOverflow", message)
    }

    pub(crate) fn hint(mut self, text: impl Into<String>) -> Fault {
        if let Fault::Query { hint, .. } = &mut self {
            *hint = Some(text.into());
        }
        self
    }

    /// The same with its place in another text.
    pub(crate) fn moved(mut self, place: impl Fn(Span) -> Span) -> Fault {
        if let Fault::Query { span: Some(span), .. } = &mut self {
            *span = place(*span);
        }
        self
    }

    /// The error as the rest of the workspace reports it, with line and column in `text`.
    pub fn into_error(self, text: &str) -> Error {
        match self {
            Fault::Other(error) => error,
            Fault::Query { class, detail, message, span, hint, .. } => {
                let kind = if detail == UNSUPPORTED { Kind::Unsupported } else { Kind::Usage };
                let place = span.map(|span| {
                    let (line, column) = line_and_column(text, span.start);
                    format!(" at line {line}, column {column}")
                });
                let place = place.unwrap_or_default();
                let class =
                    if detail == UNSUPPORTED || detail.is_empty() { String::new() } else { format!("{class:?}: ") };
                let error = Error::new(kind, format!("{class}{message}{place}"));
                match hint {
                    Some(hint) => error.hint(hint),
                    None => error,
                }
            }
        }
    }
}

/// The detail of what openCypher has and this crate refuses.
pub(crate) const UNSUPPORTED: &str = "Unsupported";

/// Line and column of a byte, from 1; the column counts characters.
pub(crate) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
    (line, column)
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault::Other(error)
    }
}
