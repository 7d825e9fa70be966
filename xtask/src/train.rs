//! Tests of `isomorph.pyg` against PyTorch Geometric, and the example of training, in an environment that holds gigabytes.

use crate::process::Workspace;
use crate::python::installed;
use crate::report::{Outcome, Report};

/// Builds the library, installs it beside torch, and runs the tests and the example. Further arguments go to pytest.
pub(crate) fn run(workspace: &Workspace, arguments: &[String], report: &mut Report) {
    let folder = workspace.root.join("python").join("train");
    let mut python = None;
    report.step("train environment", || {
        workspace.cargo_all(&["build"], &["--lib"]).run()?;
        let (found, outcome) = installed(workspace, "train-venv", "python/train/requirements.txt")?;
        if let Some(python) = &found {
            workspace.program(python, &[]).args([folder.join("peer_sampler.py")]).run()?;
        }
        python = found;
        Ok(outcome)
    });
    let Some(python) = python else { return };
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
