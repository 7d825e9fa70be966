//! Whether a carry fits what is read beside it, and what is to blame where it does not.

use isomorph_error::Error;
use isomorph_graphlake::GraphLake;
use isomorph_model::Source;

use crate::conversion::undescribed;
use crate::mapping::CARRY_FITS;
use crate::open::Opened;
use crate::options::OpenOptions;

/// Whether `native` may be another graph than that of the files that its carry is bound to, though these are as they were: a store keeps
/// its older versions beside the newest, which alone the carry was made for, and some options read the same files as another graph, or
/// other files.
pub(crate) fn reads_otherwise(native: &dyn Source, options: &OpenOptions) -> bool {
    let lake = native.as_any().and_then(|native| native.downcast_ref::<GraphLake>());
    let is_older = lake.is_some_and(|lake| {
        let newest = lake.store().snapshots.last();
        newest.is_some_and(|newest| newest.version != lake.snapshot().version)
    });
    let lake = &options.graphlake;
    is_older || lake.naive || !lake.namespaces.is_empty() || options.graphar.root.is_some()
}

/// The error for data that the names and types of its carry do not describe.
pub(crate) fn misfit(error: Error, options: &OpenOptions) -> Error {
    match error.broken_rule() {
        Some(rule) if !std::ptr::eq(rule, &CARRY_FITS) => error,
        Some(_) if options.graphar.key_row => keyless(error, options),
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

/// The error for data without keys that does not show the carried graph: the option is to blame, and not the data.
pub(crate) fn keyless(error: Error, options: &OpenOptions) -> Error {
    let is_misfit = error.broken_rule().is_some_and(|rule| std::ptr::eq(rule, &CARRY_FITS));
    if !is_misfit || !options.graphar.key_row {
        return error;
    }
    let message = format!("--key row leaves out keys that the sidecar reads: {}", error.message());
    Error::usage(message)
        .at(error.place().clone())
        .hint("--carry ignore    reads the data as what it is")
        .hint("without --key row    the graph as its sidecar shows it")
}
