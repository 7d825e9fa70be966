//! Spilling sort and spilling look-ups against naive ones.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod lookup;
mod row_columns;
mod sort;
