//! Spilling sort and spilling look-ups against naive ones.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod sort;
