//! Errors of isomorph on their way from an executor to the client. The scheduler hands texts on, some as they are and some as Rust shows them for debugging,
//! so an error is written in letters and digits alone.

use arrow_schema::ArrowError;
use ballista_core::error::BallistaError;
use datafusion::common::DataFusionError;
use isomorph::error::Place;
use isomorph::{Error, Kind};
use isomorph_query::distributed::error_of_engine;
use serde::{Deserialize, Serialize};

/// What an error begins with, and what it ends with.
const BEGIN: &str = "isomorph-error-";
const END: char = '.';

/// All kinds, by the names that they have in JSON.
const KINDS: [Kind; 14] = [
    Kind::Usage,
    Kind::Malformed,
    Kind::Incomplete,
    Kind::Unsupported,
    Kind::TooLarge,
    Kind::WouldLose,
    Kind::StaleSidecar,
    Kind::NotFound,
    Kind::AlreadyExists,
    Kind::Io,
    Kind::NoSpace,
    Kind::Conflict,
    Kind::Poisoned,
    Kind::Cancelled,
];

/// An error as it travels.
#[derive(Debug, Serialize, Deserialize)]
struct Message {
    kind: String,
    message: String,
    hints: Vec<String>,
    rule: Option<String>,
    file: Option<String>,
    row: Option<u64>,
    line: Option<u64>,
    offset: Option<u64>,
    field: Option<String>,
}

/// An error as text.
pub(crate) fn to_text(error: &Error) -> String {
    let place = error.place();
    let message = Message {
        kind: error.kind().name().to_owned(),
        message: error.message().to_owned(),
        hints: error.hints().map(ToOwned::to_owned).collect(),
        rule: error.broken_rule().map(|rule| rule.id.to_owned()),
        file: place.file.clone(),
        row: place.row,
        line: place.line,
        offset: place.offset,
        field: place.field.clone(),
    };
    let json = serde_json::to_vec(&message).unwrap_or_default();
    let digits: String = json.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{BEGIN}{digits}{END}")
}

/// The first error that a text has.
pub(crate) fn of_text(text: &str) -> Option<Error> {
    let (_, rest) = text.split_once(BEGIN)?;
    let (digits, _) = rest.split_once(END)?;
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let json = digits.as_bytes().chunks(2).map(byte).collect::<Option<Vec<u8>>>()?;
    let Message { kind, message, hints, rule, file, row, line, offset, field } = serde_json::from_slice(&json).ok()?;
    let kind = KINDS.into_iter().find(|own| own.name() == kind)?;
    let mut error = Error::new(kind, message);
    // A place without a file is the whole place of an error.
    let place = Place { file, row, line, offset, field };
    if place != Place::default() {
        error = error.at(place);
    }
    error = hints.into_iter().fold(error, Error::hint);
    Some(match rule {
        Some(id) => error.hint(format!("isomorph explain {id}    the rule that is broken")),
        None => error,
    })
}

/// An error of an operator as it leaves an executor. What the scheduler must recognise to repeat a task stays as it is: a part of another stage that cannot be
/// fetched, and input and output that fail.
pub(crate) fn leaving(error: DataFusionError) -> DataFusionError {
    if is_repeated(&error) {
        return error;
    }
    let cause = cause(&error);
    // It may have been written where it happened.
    if cause.to_string().contains(BEGIN) {
        return cause;
    }
    DataFusionError::Execution(to_text(&error_of_engine(cause)))
}

/// Whether a scheduler repeats a task that fails like this.
fn is_repeated(error: &DataFusionError) -> bool {
    match error {
        DataFusionError::IoError(_) => true,
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => is_repeated(inner),
        DataFusionError::Shared(inner) => is_repeated(inner),
        DataFusionError::ArrowError(arrow, _) => match &**arrow {
            ArrowError::ExternalError(inner) => inner.downcast_ref::<DataFusionError>().is_some_and(is_repeated),
            _ => false,
        },
        DataFusionError::External(inner) => match inner.downcast_ref::<BallistaError>() {
            // A stage wraps what its operators say.
            Some(BallistaError::DataFusionError(own)) => is_repeated(own),
            Some(BallistaError::ArrowError(_)) | None => false,
            Some(_) => true,
        },
        _ => false,
    }
}

/// What is inside of an error. The tasks of a stage share theirs, so that it cannot be moved.
fn cause(error: &DataFusionError) -> DataFusionError {
    match error {
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => cause(inner),
        DataFusionError::Shared(inner) => cause(inner),
        DataFusionError::ArrowError(arrow, _) => cause_of_arrow(arrow),
        DataFusionError::External(inner) => match inner.downcast_ref::<BallistaError>() {
            Some(BallistaError::DataFusionError(own)) => cause(own),
            Some(BallistaError::ArrowError(arrow)) => cause_of_arrow(arrow),
            _ => cause_of_other(&**inner),
        },
        DataFusionError::Execution(text) => DataFusionError::Execution(text.clone()),
        DataFusionError::Plan(text) => DataFusionError::Plan(text.clone()),
        DataFusionError::NotImplemented(text) => DataFusionError::NotImplemented(text.clone()),
        DataFusionError::ResourcesExhausted(text) => DataFusionError::ResourcesExhausted(text.clone()),
        other => DataFusionError::Execution(other.strip_backtrace()),
    }
}

fn cause_of_arrow(error: &ArrowError) -> DataFusionError {
    match error {
        ArrowError::ExternalError(inner) => cause_of_other(&**inner),
        other => DataFusionError::Execution(other.to_string()),
    }
}

fn cause_of_other(error: &(dyn std::error::Error + Send + Sync + 'static)) -> DataFusionError {
    match (error.downcast_ref::<DataFusionError>(), error.downcast_ref::<Error>()) {
        (Some(inner), _) => cause(inner),
        (_, Some(own)) => DataFusionError::Execution(to_text(own)),
        _ => DataFusionError::Execution(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn an_error_comes_back_from_any_text_around_it() {
        let error = Error::new(Kind::Conflict, "a \"name\"\nwith lines, and €").at(Place::file("a/b.parquet").row(7));
        let error = error.hint("ask again");
        let text = to_text(&error);
        let shown = format!("{:?}", Some(DataFusionError::Execution(text.clone())));
        for text in [text, shown] {
            let back = of_text(&format!("Job x failed: {text} and so on")).unwrap();
            assert_eq!((back.kind(), back.message()), (error.kind(), error.message()));
            assert_eq!((back.place(), back.hints().count()), (error.place(), 1));
        }
        assert!(of_text("isomorph-error-zz.").is_none() && of_text("isomorph-error-").is_none());
    }

    #[test]
    fn errors_leave_as_text_but_for_those_that_repeat_a_task() {
        let own = || DataFusionError::External(Box::new(Error::malformed("a page").at("x.parquet")));
        let wrapped = DataFusionError::External(Box::new(BallistaError::DataFusionError(Box::new(own()))));
        let wrapped = DataFusionError::Shared(std::sync::Arc::new(wrapped));
        for error in [own(), wrapped, DataFusionError::Context("while".to_owned(), Box::new(own()))] {
            let left = leaving(error).to_string();
            let back = of_text(&left).unwrap();
            assert_eq!((back.kind(), back.message()), (Kind::Malformed, "a page"), "{left}");
            // Once is enough.
            assert_eq!(
                leaving(DataFusionError::Execution(left.clone())).to_string(),
                format!("Execution error: {left}")
            );
        }
        let lost = BallistaError::FetchFailed("one".to_owned(), 1, 2, "gone".to_owned());
        let lost = leaving(DataFusionError::External(Box::new(lost)));
        assert!(matches!(lost, DataFusionError::External(inner) if inner.is::<BallistaError>()));
        let io = leaving(DataFusionError::IoError(std::io::Error::other("disk")));
        assert!(matches!(io, DataFusionError::IoError(_)));
    }

    #[test]
    fn every_kind_has_a_name_of_its_own() {
        let mut names = KINDS.map(Kind::name).to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), KINDS.len());
    }
}
