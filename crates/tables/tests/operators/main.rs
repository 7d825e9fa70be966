//! Compares the spilling sort and the spilling look-ups with simple implementations.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod ids;
mod lookup;
mod row_columns;
mod sort;
