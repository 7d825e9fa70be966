//! What CSV and JSON lines share: values as text, and selection over a source that is read from its first row on.

pub(crate) mod cells;
pub(crate) mod civil;
pub(crate) mod column;
pub(crate) mod number;
pub(crate) mod select;
