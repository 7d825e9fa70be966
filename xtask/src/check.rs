//! Checks that must pass before tests are worth running.

use crate::process::{INSTALLED, Workspace};
use crate::report::Report;
use crate::{advisories, cross, directions, features, licences};

/// Runs every check, the fast ones first.
pub(crate) fn run(workspace: &Workspace, report: &mut Report) {
    report.step("format", || workspace.cargo(&["fmt", "--all", "--", "--check"]).run().map(Into::into));
    report.step("directions", || directions::run(workspace));
    report.step("features", || features::run(workspace));
    report.step("licences", || licences::run(workspace));
    report.step("advisories", || advisories::run(workspace));
    report.step("clippy", || {
        workspace.cargo_all(&["clippy"], &["--all-targets", "--", "-D", "warnings"]).run().map(Into::into)
    });
    report.step("clippy, as installed", || {
        let words = [&["clippy"], INSTALLED, &["--lib", "--bins", "--", "-D", "warnings"]];
        workspace.cargo(&words.concat()).run().map(Into::into)
    });
    report.step("docs", || {
        let docs = workspace.cargo_all(&["doc"], &["--no-deps"]);
        docs.env("RUSTDOCFLAGS", "-D warnings").run().map(Into::into)
    });
    for triple in cross::triples() {
        report.step(triple, || cross::run(workspace, triple));
    }
}
