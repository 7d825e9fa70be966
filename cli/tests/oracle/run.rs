//! Running the command.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// What a run came to.
#[derive(Debug)]
pub struct Done {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Done {
    /// Standard output as JSON, null if it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_default()
    }

    /// Whether the command refused for a reason that it gave: an exit code of bad input, of usage or of loss, a message, and no
    /// mention of an internal error.
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
