//! Tests of `isomorph.pyg` against PyTorch Geometric, and the example of training, in an environment that holds gigabytes.

use crate::process::Workspace;
use crate::python::{Requirements, installed};
use crate::report::{Outcome, Report};

/// What is installed: torch first, because the samplers in memory are compiled with it.
const REQUIREMENTS: [Requirements; 2] = [
    Requirements { file: "python/train/requirements.txt", arguments: &[] },
    Requirements { file: "python/train/requirements-compiled.txt", arguments: &["--no-build-isolation"] },
];

/// Builds the library, installs it beside torch, and runs the tests and the example. Further arguments go to pytest.
pub(crate) fn run(workspace: &Workspace, arguments: &[String], report: &mut Report) {
    let mut python = None;
    report.step("train environment", || {
        workspace.cargo_all(&["build"], &["--lib"]).run()?;
        let (found, outcome) = installed(workspace, "train-venv", &REQUIREMENTS)?;
        python = found;
        Ok(outcome)
    });
    let Some(python) = python else { return };
    let folder = workspace.root.join("python").join("train");
    report.step("loaders", || {
        let cache = format!("cache_dir={}", workspace.target.join("train-cache").display());
        let pytest = workspace.program(&python, &["-m", "pytest", "-ra", "-q", "-o", &cache]);
        pytest.env("PYTHONDONTWRITEBYTECODE", "1").args([&folder]).args(arguments).run()?;
        Ok(Outcome::Done)
    });
    report.step("training", || {
        let said = workspace.program(&python, &[]).args([folder.join("train.py")]).output()?;
        Ok(Outcome::Noted(said.trim().replace('\n', "; ")))
    });
}
