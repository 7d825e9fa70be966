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

/// The version of maturin that makes wheels for release.
const MATURIN: &str = "maturin==1.16.0";

/// Builds the library, packs and installs the wheel, runs all tests of the package from it. Further arguments go to pytest.
pub(crate) fn run(workspace: &Workspace, arguments: &[String], report: &mut Report) {
    let mut python = None;
    report.step("python wheel", || {
        workspace.cargo_all(&["build"], &["--lib"]).run()?;
        let requirements = [Requirements { file: "python/tests/requirements.txt", arguments: &[] }];
        let (found, outcome) = installed(workspace, "python-venv", &requirements)?;
        python = found;
        Ok(outcome)
    });
    let Some(python) = python else { return };
    let mut skips = None;
    report.step("python tests", || {
        let record = Record::new(workspace, "python")?;
        let memory = Scratch::in_memory(workspace);
        let cache = format!("cache_dir={}", workspace.target.join("python-cache").display());
        let mut pytest = workspace
            .program(&python, &["-m", "pytest", "-ra", "-q", "-o", &cache])
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

/// Makes the wheel for release, with object stores, by maturin.
pub(crate) fn release(workspace: &Workspace) -> Result<Outcome, String> {
    let (interpreter, folder) = (interpreter(workspace)?, workspace.target.join("python-maturin"));
    let python = python_of(&folder);
    if !python.is_file() {
        workspace.program(interpreter, &["-m", "venv", "--clear"]).args([&folder]).run()?;
    }
    workspace.program(&python, &["-m", "pip", "install", "--quiet", "--disable-pip-version-check", MATURIN]).run()?;
    let wheels = workspace.target.join("wheels");
    let manifest = workspace.root.join("python").join("Cargo.toml");
    let build = workspace.program(&python, &["-m", "maturin", "build", "--profile", "dist", "--manifest-path"]);
    build.args([manifest.as_path(), Path::new("--out"), &wheels]).run()?;
    Ok(Outcome::Noted(wheels.display().to_string()))
}

/// Packages of an environment.
pub(crate) struct Requirements {
    /// The file that names them, relative to the root of the workspace.
    pub(crate) file: &'static str,
    /// Further arguments of pip.
    pub(crate) arguments: &'static [&'static str],
}

/// An environment with what tests need and the wheel of the last build; `None` if there is no interpreter or no package index.
pub(crate) fn installed(
    workspace: &Workspace,
    name: &str,
    requirements: &[Requirements],
) -> Result<(Option<PathBuf>, Outcome), String> {
    let Ok(interpreter) = interpreter(workspace) else {
        return Ok((None, Outcome::Skipped("no Python of version 3.11 or later was found".into())));
    };
    let folder = workspace.target.join(name);
    let (python, stamp) = (python_of(&folder), folder.join("made-from.txt"));
    let mut wanted = String::new();
    for Requirements { file, .. } in requirements {
        let path = workspace.root.join(file);
        wanted += &fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let quiet = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    if !(python.is_file() && fs::read_to_string(&stamp).is_ok_and(|made_from| made_from == wanted)) {
        let make = workspace.program(interpreter, &["-m", "venv", "--clear"]).args([&folder]);
        make.run().map_err(|error| format!("{error}; on Debian run `apt-get install python3-venv`"))?;
        for Requirements { file, arguments } in requirements {
            let install = workspace.program(&python, &quiet).args(*arguments).env("FORCE_ONLY_CPU", "1");
            let install = install.args([Path::new("--requirement"), &workspace.root.join(file)]);
            install.run().map_err(|error| format!("{error}; pip needs a package index that it can reach"))?;
        }
        fs::write(&stamp, wanted).map_err(|error| format!("{}: {error}", stamp.display()))?;
    }
    let library = workspace.target.join("debug").join(library());
    let wheels = workspace.target.join("python-wheel");
    let assemble = workspace.root.join("python").join("assemble.py");
    let wheel = workspace.program(&python, &[]).args([&assemble, &library, &wheels]).output()?;
    let again = ["--force-reinstall", "--no-deps"];
    workspace.program(&python, &quiet).args(again).args([wheel.trim()]).run()?;
    Ok((Some(python), Outcome::Done))
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
