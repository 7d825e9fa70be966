//! The isomorph command
fn main() {}
