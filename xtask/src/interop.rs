//! The tests against the published libraries, in a separate Python environment.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process::Workspace;
use crate::report::{Outcome, Report};
use crate::scratch::{self, Scratch};
use crate::skips::{Record, VARIABLE};

/// Interpreters to try, the tested one first.
const INTERPRETERS: &[&str] = &["python3.11", "python3", "python"];

/// The version with which the pinned packages were tested.
const PYTHON: &str = "3.11";

/// The server that implements Azure's protocol for blobs, as an npm package.
const AZURITE: &str = "azurite@3.37.0";

/// Prints the version of an interpreter as MAJOR.MINOR.
const SAY_VERSION: &str = "import sys; print('%d.%d' % sys.version_info[:2])";

/// Builds the command, prepares the environment, runs the tests.
pub(crate) fn run(workspace: &Workspace, arguments: &[String], report: &mut Report) {
    let mut built = false;
    report.step("build", || {
        workspace.cargo_all(&["build"], &["--bin", "isomorph", "--bin", "isomorph-bench"]).run()?;
        built = true;
        Ok(Outcome::Done)
    });
    let mut azurite = None;
    report.step("azurite", || {
        let (server, outcome) = azurite_of_npm(workspace)?;
        azurite = server;
        Ok(outcome)
    });
    let (mut python, mut complete) = (None, false);
    report.step("python", || {
        let outcome = prepare(workspace, &mut python)?;
        complete = matches!(outcome, Outcome::Done);
        Ok(outcome)
    });
    let Some(python) = python.filter(|_| built) else {
        report.step("interop", || Err("not run, because a previous step failed".into()));
        return;
    };
    let mut skips = None;
    report.step("interop", || {
        let record = Record::new(workspace, "interop")?;
        let memory = Scratch::in_memory(workspace);
        let cache = format!("cache_dir={}", workspace.target.join("interop-cache").display());
        let mut pytest = workspace
            .program(&python, &["-m", "pytest", "-ra", "-n", "auto", "--dist", "loadfile", "-o", &cache])
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env(VARIABLE, record.path())
            .env("ISOMORPH_BIN", command_of(workspace))
            .env("ISOMORPH_BENCH_BIN", built_as(workspace, "isomorph-bench"));
        if let Some(memory) = &memory {
            pytest = pytest.env(scratch::VARIABLE, memory.folder());
        }
        if let Some(azurite) = &azurite {
            pytest = pytest.env("ISOMORPH_AZURITE", azurite);
        }
        let arguments = if arguments.is_empty() { vec!["interop".to_owned()] } else { arguments.to_vec() };
        let done = pytest.args(arguments).run();
        let found = record.read()?;
        let (note, justified) = (format!("{} skipped", found.count()), found.justified(workspace));
        let justified = if complete { justified.and(found.none_lacks_a_library()) } else { justified };
        skips = Some(found);
        done.and(justified).map(|()| Outcome::Noted(note))
    });
    skips.into_iter().for_each(|skips| report.add_skips(skips));
}

/// Prepares the environment, and returns the path of its interpreter.
pub(crate) fn prepare(workspace: &Workspace, python: &mut Option<PathBuf>) -> Result<Outcome, String> {
    let environment = Environment::of(workspace);
    let missing = environment.prepare(workspace)?;
    *python = Some(environment.python());
    match missing.as_slice() {
        [] => Ok(Outcome::Done),
        missing => Ok(Outcome::Skipped(format!("pip could not install {}", missing.join(", ")))),
    }
}

/// The server that emulates Azure, below the target folder. Without npm, or a registry that it can reach, it is not
/// installed, and its tests are skipped.
fn azurite_of_npm(workspace: &Workspace) -> Result<(Option<PathBuf>, Outcome), String> {
    let folder = workspace.target.join("interop-azurite");
    let name = if cfg!(windows) { "azurite-blob.cmd" } else { "azurite-blob" };
    let server = folder.join("node_modules").join(".bin").join(name);
    let stamp = folder.join("made-from.txt");
    if server.is_file() && fs::read_to_string(&stamp).is_ok_and(|made_from| made_from == AZURITE) {
        println!("   {} is up to date", folder.display());
        return Ok((Some(server), Outcome::Done));
    }
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    if workspace.program(npm, &["--version"]).output().is_err() {
        return Ok((None, Outcome::Skipped("npm was not found".into())));
    }
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let quiet = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error", "--prefix"];
    if let Err(error) = workspace.program(npm, &quiet).args([&folder]).args([AZURITE]).run() {
        return Ok((None, Outcome::Skipped(format!("npm could not install {AZURITE}: {error}"))));
    }
    fs::write(&stamp, AZURITE).map_err(|error| format!("{}: {error}", stamp.display()))?;
    Ok((Some(server), Outcome::Done))
}

/// The command from the last build.
fn command_of(workspace: &Workspace) -> PathBuf {
    built_as(workspace, "isomorph")
}

/// A program from the last build.
fn built_as(workspace: &Workspace, name: &str) -> PathBuf {
    workspace.target.join("debug").join(executable(name))
}

/// The name of a program's file.
pub(crate) fn executable(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

/// A virtual environment below the target folder, created again if its requirements change.
struct Environment {
    folder: PathBuf,
    requirements: PathBuf,
    constraints: PathBuf,
}

impl Environment {
    fn of(workspace: &Workspace) -> Self {
        let interop = workspace.root.join("interop");
        Environment {
            folder: workspace.target.join("interop-venv"),
            requirements: interop.join("requirements.txt"),
            constraints: interop.join("constraints.txt"),
        }
    }

    fn python(&self) -> PathBuf {
        self.folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
    }

    /// Installs the requirements. Returns the packages that could not be installed.
    fn prepare(&self, workspace: &Workspace) -> Result<Vec<String>, String> {
        let stamp = self.folder.join("made-from.txt");
        let wanted = read(&self.requirements)? + &read(&self.constraints)?;
        if self.python().is_file() && fs::read_to_string(&stamp).is_ok_and(|made_from| made_from == wanted) {
            println!("   {} is up to date", self.folder.display());
            return Ok(Vec::new());
        }
        let (interpreter, version) = interpreter(workspace)?;
        if version != PYTHON {
            println!("   the pinned packages were tested with Python {PYTHON}; {interpreter} is {version}");
        }
        let make = workspace.program(interpreter, &["-m", "venv", "--clear"]).args([&self.folder]);
        make.run().map_err(|error| format!("{error}; on Debian run `apt-get install python3-venv`"))?;
        if self.install(workspace, &["--requirement".as_ref(), self.requirements.as_os_str()]).is_ok() {
            fs::write(&stamp, wanted).map_err(|error| format!("{}: {error}", stamp.display()))?;
            return Ok(Vec::new());
        }
        self.install_singly(workspace)
    }

    /// Installs package by package, so that a missing one only disables its own tests.
    fn install_singly(&self, workspace: &Workspace) -> Result<Vec<String>, String> {
        let mut missing = Vec::new();
        for package in packages(&read(&self.requirements)?) {
            if let Err(error) = self.install(workspace, &[package.as_ref()]) {
                if package.starts_with("pytest") {
                    return Err(format!(
                        "{error}; pip needs a package index that it can reach (see `pip config list`)"
                    ));
                }
                missing.push(package);
            }
        }
        Ok(missing)
    }

    fn install(&self, workspace: &Workspace, what: &[&std::ffi::OsStr]) -> Result<(), String> {
        let quiet = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--constraint"];
        workspace.program(self.python(), &quiet).args([&self.constraints]).args(what).run()
    }
}

/// The first interpreter that is installed and new enough.
fn interpreter(workspace: &Workspace) -> Result<(&'static str, String), String> {
    for &name in INTERPRETERS {
        if let Ok(version) = workspace.program(name, &["-c", SAY_VERSION]).output() {
            let version = version.trim().to_owned();
            if supported(&version) {
                return Ok((name, version));
            }
        }
    }
    let fix = "on Debian run `apt-get install python3 python3-venv`";
    Err(format!("no Python of version 3.11 to 3.13 was found ({}); {fix}", INTERPRETERS.join(", ")))
}

/// The Python versions that have a wheel of GraphAr and that the pinned packages allow.
fn supported(version: &str) -> bool {
    matches!(version, "3.11" | "3.12" | "3.13")
}

/// The packages of a requirements file, without comments and blank lines.
fn packages(requirements: &str) -> Vec<String> {
    let without_comment = requirements.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    without_comment.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_read_without_comments() {
        assert_eq!(
            packages("# peers\npynock==1.2.1\n\nmoto[s3]==5.2.5  # a server\n"),
            ["pynock==1.2.1", "moto[s3]==5.2.5"]
        );
    }

    #[test]
    fn old_and_untried_pythons_are_refused() {
        assert!(supported("3.11") && supported("3.13"));
        assert!(!supported("3.9") && !supported("3.14") && !supported("2.7"));
    }
}
