//! All tests.

use crate::interop;
use crate::process::{SELECTION, Workspace};
use crate::report::Report;

/// Runs the Rust tests, the examples in the documentation, and the tests against the published libraries.
pub(crate) fn run(workspace: &Workspace, report: &mut Report) {
    if !workspace.root.join("../shared/data").is_dir() {
        let why = "`../shared/data` is not beside the project; tests that read it say so and check nothing";
        report.skipped("public data", why);
    }
    if workspace.has_cargo_command("nextest") {
        report
            .step("tests", || workspace.cargo(&["nextest", "run", SELECTION, "--no-fail-fast"]).run().map(Into::into));
        report.step("doc tests", || workspace.cargo(&["test", SELECTION, "--doc"]).run().map(Into::into));
    } else {
        report.step("tests", || workspace.cargo(&["test", SELECTION, "--no-fail-fast"]).run().map(Into::into));
    }
    interop::run(workspace, &[], report);
}
