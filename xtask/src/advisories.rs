//! Known advisories against dependencies, if a tool and its data are installed.

use std::path::PathBuf;

use crate::process::Workspace;
use crate::report::{Outcome, StepResult};

/// Runs `cargo deny` or `cargo audit` with the data that they fetched before: a check must not need the network.
pub(crate) fn run(workspace: &Workspace) -> StepResult {
    let home = cargo_home();
    let fetched = |name: &str| home.as_ref().is_some_and(|home| home.join(name).is_dir());
    if workspace.has_cargo_command("deny") && fetched("advisory-dbs") {
        return workspace.cargo(&["deny", "check", "--disable-fetch", "advisories"]).run().map(Into::into);
    }
    if workspace.has_cargo_command("audit") && fetched("advisory-db") {
        return workspace.cargo(&["audit", "--no-fetch"]).run().map(Into::into);
    }
    Ok(Outcome::Skipped("no tool with data; run `cargo install cargo-deny && cargo deny fetch`".into()))
}

fn cargo_home() -> Option<PathBuf> {
    let home = |name: &str| std::env::var_os(name).map(PathBuf::from);
    home("CARGO_HOME").or_else(|| home("HOME").map(|home| home.join(".cargo")))
}
