//! Tasks of the workspace: test, check, directions
fn main() {}
