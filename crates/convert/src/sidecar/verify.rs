//! Whether a sidecar fits the data, and which error to report if it does not.

use isomorph_error::Error;
use isomorph_graphar::OpenOptions as GraphArOptions;

use crate::conversion::undescribed;
use crate::mapping::CARRY_FITS;
use crate::open::Opened;
use crate::options::OpenOptions;

/// The error for data that the names and types of its sidecar do not describe.
pub(crate) fn misfit(error: Error, options: &OpenOptions) -> Error {
    match error.broken_rule() {
        Some(rule) if !std::ptr::eq(rule, &CARRY_FITS) => error,
        Some(_) if options.get::<GraphArOptions>().key_row => keyless(error, options),
        _ => undescribed(error),
    }
}

/// The error of reading `opened`, if the cause is that names and types of its sidecar do not describe the data.
pub(crate) fn of_reading(opened: &Opened, error: Error) -> Error {
    let is_misfit = error.broken_rule().is_some_and(|rule| std::ptr::eq(rule, &CARRY_FITS));
    match &opened.sidecar {
        Some(sidecar) if is_misfit && sidecar.schema_only => undescribed(error).at(opened.location.to_string()),
        _ => error,
    }
}

/// The error for data that is read without keys and does not show the described graph: the option is the cause, not the
/// data.
pub(crate) fn keyless(error: Error, options: &OpenOptions) -> Error {
    let is_misfit = error.broken_rule().is_some_and(|rule| std::ptr::eq(rule, &CARRY_FITS));
    if !is_misfit || !options.get::<GraphArOptions>().key_row {
        return error;
    }
    let message = format!("--key row ignores keys that the sidecar reads: {}", error.message());
    Error::usage(message)
        .at(error.place().clone())
        .hint("--sidecar ignore    read the data as an ordinary graph of its format")
        .hint("without --key row    read the graph as its sidecar shows it")
}
