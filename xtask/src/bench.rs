//! The benchmarks, in the Python environment of the interop tests.

use crate::interop;
use crate::process::{LEAN, Workspace};
use crate::report::{Outcome, Report};

/// Builds for release, prepares the environment, measures.
pub(crate) fn run(workspace: &Workspace, arguments: &[String], report: &mut Report) {
    let mut built = false;
    report.step("release build", || {
        let packages = ["build", "--release", LEAN, "--package", "isomorph-cli", "--package", "isomorph-benches"];
        workspace.cargo(&packages).run()?;
        built = true;
        Ok(Outcome::Done)
    });
    let mut python = None;
    report.step("python", || interop::prepare(workspace, &mut python));
    let Some(python) = python.filter(|_| built) else {
        report.step("bench", || Err("not run, because a previous step failed".into()));
        return;
    };
    report.step("bench", || {
        let release = |name| workspace.target.join("release").join(interop::executable(name));
        workspace
            .program(&python, &["benches/run.py"])
            .args(arguments)
            .env("ISOMORPH_BIN", release("isomorph"))
            .env("ISOMORPH_BENCH_BIN", release("isomorph-bench"))
            .run()
            .map(Into::into)
    });
}
