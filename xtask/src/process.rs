//! The location of the workspace, and how its tasks start other programs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The crates and features of lints, documentation, tests and interop alike: a different selection would change the
/// features of shared dependencies and compile them again. All that `cargo install` builds is in it.
pub(crate) const SELECTION: &[&str] = &[
    "--workspace",
    "--no-default-features",
    "--features",
    "isomorph-cli/cloud,isomorph-cli/query,isomorph-cli/serve,isomorph-fuzz/serve,isomorph-query/distributed",
];

/// What `cargo install` builds: without the parts of the query engine that only a cluster needs.
pub(crate) const INSTALLED: &[&str] =
    &["--workspace", "--no-default-features", "--features", "isomorph-cli/cloud,isomorph-cli/query,isomorph-cli/serve"];

/// The features of builds of single programs: those of the first command of the README.
pub(crate) const LEAN: &str = "--no-default-features";

/// The workspace that this task belongs to.
pub(crate) struct Workspace {
    /// The folder of the root `Cargo.toml`.
    pub(crate) root: PathBuf,
    /// The folder for everything that is built.
    pub(crate) target: PathBuf,
}

impl Workspace {
    /// Finds the workspace from the folder of this crate.
    pub(crate) fn find() -> Result<Self, String> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = here.parent().ok_or("the task crate has no parent folder")?.to_owned();
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir));
        Ok(Workspace { root, target })
    }

    /// A command in the root of the workspace.
    pub(crate) fn program(&self, program: impl AsRef<OsStr>, arguments: &[&str]) -> Task {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.root);
        Task { command }
    }

    /// Cargo, the same one that runs this task. It is not told about the task's own package: build scripts that look at these variables would
    /// run again whenever a person and a task build in turn, and what depends on them, half of all crates, would be compiled again.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Task {
        let mut task = self.program(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), arguments);
        let of_package = |name: &OsStr| {
            let name = name.to_string_lossy();
            name.starts_with("CARGO_MANIFEST_") || name.starts_with("CARGO_PKG_")
        };
        let names = std::env::vars_os().map(|(name, _)| name).filter(|name| of_package(name));
        names.for_each(|name| _ = task.command.env_remove(name));
        task
    }

    /// A subcommand of cargo for [`SELECTION`].
    pub(crate) fn cargo_all(&self, subcommand: &[&str], arguments: &[&str]) -> Task {
        self.cargo(&[subcommand, SELECTION, arguments].concat())
    }

    /// Whether `cargo NAME` is installed.
    pub(crate) fn has_cargo_command(&self, name: &str) -> bool {
        self.cargo(&[name, "--version"]).succeeds()
    }
}

/// A program to run.
pub(crate) struct Task {
    command: Command,
}

impl Task {
    /// Sets a variable of its environment.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Adds arguments that are not our own text: paths, user input.
    pub(crate) fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.command.args(arguments);
        self
    }

    /// Prints the command, runs it with its output shown, and fails if it fails.
    pub(crate) fn run(mut self) -> Result<(), String> {
        let shown = self.shown();
        println!("   {shown}");
        let status = self.command.stdin(Stdio::null()).status().map_err(|error| cannot_start(&shown, &error))?;
        if status.success() { Ok(()) } else { Err(format!("`{shown}` failed ({status})")) }
    }

    /// Runs it silently and returns its exit code, standard output and standard error.
    pub(crate) fn answer(mut self) -> Result<(Option<i32>, String, String), String> {
        let shown = self.shown();
        let output = self.command.stdin(Stdio::null()).output().map_err(|error| cannot_start(&shown, &error))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok((output.status.code(), text(&output.stdout), text(&output.stderr)))
    }

    /// Runs it silently and returns its standard output.
    pub(crate) fn output(mut self) -> Result<String, String> {
        let shown = self.shown();
        let output = self.command.stdin(Stdio::null()).output().map_err(|error| cannot_start(&shown, &error))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let complaint = String::from_utf8_lossy(&output.stderr);
        Err(format!("`{shown}` failed ({}): {}", output.status, complaint.trim()))
    }

    /// Runs it silently and returns whether it succeeded.
    pub(crate) fn succeeds(mut self) -> bool {
        let silent = self.command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        silent.status().is_ok_and(|status| status.success())
    }

    fn shown(&self) -> String {
        let program = Path::new(self.command.get_program()).file_name().unwrap_or_default().to_string_lossy();
        let arguments = self.command.get_args().map(OsStr::to_string_lossy);
        std::iter::once(program).chain(arguments).collect::<Vec<_>>().join(" ")
    }
}

fn cannot_start(shown: &str, error: &std::io::Error) -> String {
    format!("`{shown}` cannot be started: {error}")
}
