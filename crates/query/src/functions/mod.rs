//! Functions and aggregates beside or instead of the engine's own.

pub(crate) mod aggregates;
pub(crate) mod array_any;
pub(crate) mod bounded;
pub(crate) mod doubles;
pub(crate) mod durations;
pub(crate) mod extremes;
pub(crate) mod integer_means;
pub(crate) mod intervals;
pub(crate) mod length_parts;
pub(crate) mod local_times;
pub(crate) mod means;
pub(crate) mod moment_functions;
pub(crate) mod moment_lists;
pub(crate) mod operations;
pub(crate) mod ordered_sets;
pub(crate) mod sums;
pub(crate) mod time_formats;
pub(crate) mod truncated;
pub(crate) mod windows;
