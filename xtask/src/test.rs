//! All tests.

use crate::process::Workspace;
use crate::report::{Outcome, Report};
use crate::scratch::Scratch;
use crate::skips::{Record, VARIABLE};
use crate::{data, interop, python, scratch};

/// Runs the Rust tests, the examples in the documentation, and the tests against the published libraries.
pub(crate) fn run(workspace: &Workspace, report: &mut Report) {
    report.step("data", || data::run(workspace));
    let nextest = workspace.has_cargo_command("nextest");
    // Without nextest, this also runs the examples in the documentation.
    let tests: &[&str] = if nextest { &["nextest", "run"] } else { &["test"] };
    let mut skips = None;
    report.step("tests", || {
        let record = Record::new(workspace, "tests")?;
        let memory = Scratch::in_memory(workspace);
        let mut task = workspace.cargo_all(tests, &["--no-fail-fast"]).env(VARIABLE, record.path());
        if let Some(memory) = &memory {
            task = task.env(scratch::VARIABLE, memory.folder());
        }
        let done = task.run();
        drop(memory);
        let found = record.read()?;
        let (note, justified) = (format!("{} skipped", found.count()), found.justified(workspace));
        skips = Some(found);
        done.and(justified).map(|()| Outcome::Noted(note))
    });
    skips.into_iter().for_each(|skips| report.add_skips(skips));
    if nextest {
        report.step("doc tests", || workspace.cargo_all(&["test"], &["--doc"]).run().map(Into::into));
    }
    interop::run(workspace, &[], report);
    python::run(workspace, &[], report);
}
