//! The Python package: a wheel from what cargo has built, and its tests in an environment that holds nothing else.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process::Workspace;
use crate::report::{Outcome, Report};
use crate::scratch::{self, Scratch};
use crate::skips::{Record, VARIABLE};

/// Interpreters to try. The wheel is for 3.11 and everything later; the packages that tests compare with are pinned for 3.11.
const INTERPRETERS: &[&str] = &["python3.11", "python3", "python"];

/// Prints whether an interpreter is new enough.
const IS_SUPPORTED: &str = "import sys; print(sys.version_info >= (3, 11))";

/// Maximum size of the wheel for release, in bytes.
const WHEEL_LIMIT: u64 = 60 << 20;

/// What the tests need.
const REQUIREMENTS: &str = "python/tests/requirements.txt";

/// What an environment that holds nothing but the wheel must do: count the nodes of a graph.
const TRIAL: &str = "import isomorph, sys; print(isomorph.open(sys.argv[1]).nodes('person').count())";

/// Builds the library, packs and installs the wheel, runs all tests of the package from it. Further arguments go to pytest.
pub(crate) fn run(workspace: &Workspace, arguments: &[String], report: &mut Report) {
    let mut python = None;
    report.step("python wheel", || {
        workspace.cargo_all(&["build"], &["--lib"]).run()?;
        let (found, outcome) = installed(workspace, "python-venv", REQUIREMENTS)?;
        python = found;
        Ok(outcome)
    });
    if let Some(python) = python {
        tests(workspace, &python, arguments, report);
    }
}

/// Makes the wheel for release, with object stores, by maturin; checks its size, and that it works where nothing else is installed; runs all
/// tests of the package from it.
pub(crate) fn release(workspace: &Workspace, report: &mut Report) {
    let mut wheel = None;
    report.step("wheel", || {
        let (made, bytes) = built(workspace)?;
        let megabytes = bytes.div_ceil(1 << 20);
        if bytes > WHEEL_LIMIT {
            return Err(format!(
                "{} has {megabytes} MiB; at most {} MiB are allowed",
                made.display(),
                WHEEL_LIMIT >> 20
            ));
        }
        let note = format!("{}, {megabytes} MiB", made.display());
        wheel = Some(made);
        Ok(Outcome::Noted(note))
    });
    let Some(wheel) = wheel else { return };
    report.step("wheel alone", || {
        let python = environment(workspace, "wheel-venv", "")?;
        install(workspace, &python, &wheel)?;
        let social = workspace.root.join("examples").join("social");
        let said = workspace.program(&python, &["-c", TRIAL]).args([social]).output()?;
        Ok(Outcome::Noted(format!("{} persons", said.trim())))
    });
    let mut python = None;
    report.step("test environment", || {
        let found = environment(workspace, "python-venv", REQUIREMENTS)?;
        install(workspace, &found, &wheel)?;
        python = Some(found);
        Ok(Outcome::Done)
    });
    if let Some(python) = python {
        tests(workspace, &python, &[], report);
    }
}

/// Builds the wheel for release; its place and its size.
fn built(workspace: &Workspace) -> Result<(PathBuf, u64), String> {
    let python = environment(workspace, "python-maturin", "python/requirements-wheel.txt")?;
    let wheels = workspace.target.join("wheels");
    // One wheel is left in the folder: the new one.
    if wheels.is_dir() {
        fs::remove_dir_all(&wheels).map_err(|error| format!("{}: {error}", wheels.display()))?;
    }
    let manifest = workspace.root.join("python").join("Cargo.toml");
    let build =
        workspace.program(&python, &["-m", "maturin", "build", "--locked", "--profile", "dist", "--manifest-path"]);
    build.args([manifest.as_path(), Path::new("--out"), &wheels]).run()?;
    let entries = fs::read_dir(&wheels).map_err(|error| format!("{}: {error}", wheels.display()))?;
    let found = entries.flatten().map(|entry| entry.path()).find(|path| path.extension().is_some_and(|is| is == "whl"));
    let found = found.ok_or_else(|| format!("maturin wrote no wheel into {}", wheels.display()))?;
    let bytes = fs::metadata(&found).map_err(|error| format!("{}: {error}", found.display()))?.len();
    Ok((found, bytes))
}

/// Runs the tests of the package that is installed.
fn tests(workspace: &Workspace, python: &Path, arguments: &[String], report: &mut Report) {
    let mut skips = None;
    report.step("python tests", || {
        let record = Record::new(workspace, "python")?;
        let memory = Scratch::in_memory(workspace);
        let cache = format!("cache_dir={}", workspace.target.join("python-cache").display());
        let mut pytest = workspace
            .program(python, &["-m", "pytest", "-ra", "-q", "-o", &cache])
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env(VARIABLE, record.path());
        if let Some(memory) = &memory {
            pytest = pytest.env(scratch::VARIABLE, memory.folder());
        }
        let arguments = if arguments.is_empty() { vec!["python/tests".to_owned()] } else { arguments.to_vec() };
        let done = pytest.args(arguments).run();
        drop(memory);
        let found = record.read()?;
        let (note, justified) = (format!("{} skipped", found.count()), found.justified(workspace));
        let justified = justified.and(found.none_lacks_a_library());
        skips = Some(found);
        done.and(justified).map(|()| Outcome::Noted(note))
    });
    skips.into_iter().for_each(|skips| report.add_skips(skips));
}

/// An environment with the packages that a file of the workspace names and the wheel of the last build; `None` if there is no interpreter.
pub(crate) fn installed(
    workspace: &Workspace,
    name: &str,
    requirements: &str,
) -> Result<(Option<PathBuf>, Outcome), String> {
    if interpreter(workspace).is_err() {
        return Ok((None, Outcome::Skipped("no Python of version 3.11 or later was found".into())));
    }
    let python = environment(workspace, name, requirements)?;
    let library = workspace.target.join("debug").join(library());
    let wheels = workspace.target.join("python-wheel");
    let assemble = workspace.root.join("python").join("assemble.py");
    let wheel = workspace.program(&python, &[]).args([&assemble, &library, &wheels]).output()?;
    install(workspace, &python, Path::new(wheel.trim()))?;
    Ok((Some(python), Outcome::Done))
}

/// Quiet installation by pip.
const PIP: [&str; 5] = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];

/// The interpreter of an environment with the packages that a file of the workspace names, or with none; it is made again when the file changes.
fn environment(workspace: &Workspace, name: &str, requirements: &str) -> Result<PathBuf, String> {
    let folder = workspace.target.join(name);
    let (python, stamp) = (python_of(&folder), folder.join("made-from.txt"));
    let wanted = match requirements {
        "" => String::new(),
        file => fs::read_to_string(workspace.root.join(file)).map_err(|error| format!("{file}: {error}"))?,
    };
    if python.is_file() && fs::read_to_string(&stamp).is_ok_and(|made_from| made_from == wanted) {
        return Ok(python);
    }
    let make = workspace.program(interpreter(workspace)?, &["-m", "venv", "--clear"]).args([&folder]);
    make.run().map_err(|error| format!("{error}; on Debian run `apt-get install python3-venv`"))?;
    if !requirements.is_empty() {
        let install = workspace.program(&python, &PIP).args(["--requirement", requirements]);
        install.run().map_err(|error| format!("{error}; pip needs a package index that it can reach"))?;
    }
    fs::write(&stamp, wanted).map_err(|error| format!("{}: {error}", stamp.display()))?;
    Ok(python)
}

/// Installs a wheel in place of the one before.
fn install(workspace: &Workspace, python: &Path, wheel: &Path) -> Result<(), String> {
    workspace.program(python, &PIP).args(["--force-reinstall", "--no-deps"]).args([wheel]).run()
}

/// The file name of the library.
fn library() -> &'static str {
    if cfg!(windows) {
        "_isomorph.dll"
    } else if cfg!(target_os = "macos") {
        "lib_isomorph.dylib"
    } else {
        "lib_isomorph.so"
    }
}

fn python_of(folder: &Path) -> PathBuf {
    folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
}

/// The first interpreter that is installed and new enough.
fn interpreter(workspace: &Workspace) -> Result<&'static str, String> {
    let is_supported =
        |name: &&&str| workspace.program(name, &["-c", IS_SUPPORTED]).output().is_ok_and(|said| said.trim() == "True");
    let found = INTERPRETERS.iter().find(is_supported).copied();
    found.ok_or_else(|| "no Python of version 3.11 or later was found".to_owned())
}
