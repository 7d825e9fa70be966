//! Type-checks for platforms that we do not run on, if their toolchain is installed.

use std::path::Path;

use crate::process::{LEAN, Workspace};
use crate::report::{Outcome, StepResult};

/// A platform, and the C compiler that the C code of dependencies needs even for a check.
struct Platform {
    triple: &'static str,
    compiler: &'static str,
}

const PLATFORMS: &[Platform] = &[
    Platform { triple: "x86_64-pc-windows-gnu", compiler: "x86_64-w64-mingw32-gcc" },
    Platform { triple: "aarch64-apple-darwin", compiler: "aarch64-apple-darwin-clang" },
];

/// The platforms' names, one step each.
pub(crate) fn triples() -> impl Iterator<Item = &'static str> {
    PLATFORMS.iter().map(|platform| platform.triple)
}

/// Type-checks the workspace for the platform `triple`.
pub(crate) fn run(workspace: &Workspace, triple: &str) -> StepResult {
    let Some(platform) = PLATFORMS.iter().find(|platform| platform.triple == triple) else {
        return Err(format!("{triple} is not one of the platforms that are checked"));
    };
    let sysroot = workspace.program("rustc", &["--print", "sysroot"]).output()?;
    if !Path::new(sysroot.trim()).join("lib/rustlib").join(triple).join("lib").is_dir() {
        return Ok(Outcome::Skipped(format!("not installed; run `rustup target add {triple}`")));
    }
    if !has_compiler(workspace, platform) {
        let why = format!("no C compiler for it; install {} or set CC_{}", platform.compiler, variable(triple));
        return Ok(Outcome::Skipped(why));
    }
    workspace.cargo(&["check", "--workspace", LEAN, "--target", triple]).run().map(Into::into)
}

fn has_compiler(workspace: &Workspace, platform: &Platform) -> bool {
    let native = platform.triple.contains("apple") && cfg!(target_os = "macos");
    let named = std::env::var_os(format!("CC_{}", variable(platform.triple))).is_some();
    native || named || workspace.program(platform.compiler, &["--version"]).succeeds()
}

/// The triple as it is spelled in names of variables.
fn variable(triple: &str) -> String {
    triple.replace('-', "_")
}
