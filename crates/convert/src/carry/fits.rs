//! Whether a carry fits what is read beside it, and what is to blame where it does not.

use isomorph_error::Error;
use isomorph_graphar::OpenOptions as GraphArOptions;

use crate::conversion::undescribed;
use crate::mapping::CARRY_FITS;
use crate::open::Opened;
use crate::options::OpenOptions;

/// The error for data that the names and types of its carry do not describe.
pub(crate) fn misfit(error: Error, options: &OpenOptions) -> Error {
    match error.broken_rule() {
        Some(rule) if !std::ptr::eq(rule, &CARRY_FITS) => error,
        Some(_) if selects(options) => unselectable(error, options),
        _ => undescribed(error),
    }
}

/// The error of reading `opened`, where it is that names and types of its carry do not describe the data.
pub(crate) fn of_reading(opened: &Opened, error: Error) -> Error {
    let is_misfit = error.broken_rule().is_some_and(|rule| std::ptr::eq(rule, &CARRY_FITS));
    match &opened.carry {
        Some(carry) if is_misfit && carry.schema_only => undescribed(error).at(opened.location.to_string()),
        _ => error,
    }
}

/// Whether types or columns are left out, or keys.
fn selects(options: &OpenOptions) -> bool {
    let own = options.get::<GraphArOptions>();
    own.types.is_some() || own.columns.is_some() || own.key_row
}

/// The error for a part of the data that is too little to show the carried graph: the selection is to blame, and not the data.
pub(crate) fn unselectable(error: Error, options: &OpenOptions) -> Error {
    let is_misfit = error.broken_rule().is_some_and(|rule| std::ptr::eq(rule, &CARRY_FITS));
    if !is_misfit || !selects(options) {
        return error;
    }
    let message = format!("--types, --columns and --key leave out what the sidecar reads: {}", error.message());
    Error::usage(message)
        .at(error.place().clone())
        .hint("--carry ignore    selects from the data as what it is")
        .hint("without these flags    the graph as its sidecar shows it")
}
