//! Errors as exceptions.

use isomorph::{Error, Kind};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The exception for `error`: a subclass of `isomorph.Error` for its kind. If that cannot be made, the reason is raised.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    exception(py, error).unwrap_or_else(|other| other)
}

fn exception(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let place = PyDict::new(py);
    let known = error.place();
    place.set_item("file", known.file.as_deref())?;
    place.set_item("row", known.row)?;
    place.set_item("line", known.line)?;
    place.set_item("offset", known.offset)?;
    place.set_item("field", known.field.as_deref())?;
    let hints: Vec<&str> = error.hints().collect();
    let rule = error.broken_rule().map(|rule| (rule.id, rule.says));
    let cause = std::error::Error::source(error).map(ToString::to_string);
    let make = py.import("isomorph._errors")?.getattr("_of")?;
    let made = make.call1((error.kind().name(), error.message(), error.to_string(), rule, place, hints, cause))?;
    Ok(PyErr::from_value(made))
}

/// The error for a thread that panicked: a defect of this package.
pub(crate) fn panicked() -> Error {
    Error::new(Kind::Unsupported, "internal error: please report this with what was called and `isomorph.__version__`")
}

/// The error for a graph that was closed.
pub(crate) fn closed() -> Error {
    Error::usage("the graph is closed").hint("open it again")
}
