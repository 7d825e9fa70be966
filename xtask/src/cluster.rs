//! Tests of `isomorph cluster`, which no other build has: Ballista turns on features of the query engine, so that everything from the column crates on is
//! compiled once more.

use crate::process::Workspace;
use crate::report::Report;

/// The command with the cluster, and the crates whose tests need it.
const SELECTION: &[&str] = &[
    "--package",
    "isomorph-cli",
    "--package",
    "isomorph-cluster",
    "--package",
    "isomorph-query",
    "--no-default-features",
    "--features",
    "isomorph-cli/cluster",
];

/// Runs the lints and tests, in a target folder of their own.
pub(crate) fn run(workspace: &Workspace, report: &mut Report) {
    let target = workspace.target.join("cluster");
    let cargo = |words: &[&str], more: &[&str]| {
        workspace.cargo(&[words, SELECTION, more].concat()).env("CARGO_TARGET_DIR", &target).run().map(Into::into)
    };
    report.step("clippy", || cargo(&["clippy"], &["--all-targets", "--", "-D", "warnings"]));
    report.step("units", || cargo(&["test"], &["--lib"]));
    report.step("cluster", || cargo(&["test"], &["--test", "cluster"]));
}
