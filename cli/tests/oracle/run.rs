//! Runs the command.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// The result of a run.
#[derive(Debug)]
pub struct Done {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Done {
    /// Returns standard output as JSON; null if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_default()
    }

    /// Returns whether the command failed with a reason: an exit code for bad input, usage or loss, a message, and no
    /// internal error.
    pub fn refused(&self) -> bool {
        matches!(self.code, Some(2..=4)) && !self.err.is_empty() && !self.err.contains("internal error")
    }
}

/// Runs the built command in `home`.
pub fn run(home: &Path, arguments: &[&str]) -> Done {
    let output = Command::new(env!("CARGO_BIN_EXE_isomorph"))
        .args(arguments)
        .current_dir(home)
        .stdin(Stdio::null())
        .env("NO_COLOR", "1")
        .output()
        .expect("the command starts");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Done { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}
