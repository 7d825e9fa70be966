//! Lints and tests of `isomorph cluster`, which no other build has: Ballista turns on features of the query engine, so that everything from the column crates
//! on is compiled once more.

use crate::process::Workspace;
use crate::report::Report;

/// The command with the cluster and object stores, and the crates whose code differs with it.
const SELECTION: &[&str] = &[
    "--package",
    "isomorph-cli",
    "--package",
    "isomorph-cluster",
    "--package",
    "isomorph-query",
    "--no-default-features",
    "--features",
    "isomorph-cli/cluster,isomorph-cli/cloud",
];

/// Runs them, in a target folder of their own.
pub(crate) fn run(workspace: &Workspace, report: &mut Report) {
    let target = workspace.target.join("cluster");
    let cargo = |words: &[&str], more: &[&str]| {
        workspace.cargo(&[words, SELECTION, more].concat()).env("CARGO_TARGET_DIR", &target)
    };
    report.step("clippy", || cargo(&["clippy"], &["--all-targets", "--", "-D", "warnings"]).run().map(Into::into));
    report.step("docs", || cargo(&["doc"], &["--no-deps"]).env("RUSTDOCFLAGS", "-D warnings").run().map(Into::into));
    report.step("units", || cargo(&["test"], &["--lib", "--bins"]).run().map(Into::into));
    report.step("cluster", || cargo(&["test"], &["--test", "cluster"]).run().map(Into::into));
}
