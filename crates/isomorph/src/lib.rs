//! The front door: what a Rust user depends on
