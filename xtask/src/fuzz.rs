//! Fuzzing with libFuzzer, on stable Rust.

use std::fs;
use std::path::Path;

use crate::process::{Task, Workspace};

/// Default number of seconds for each target.
const SECONDS: u32 = 60;

/// The name that selects every target.
const ALL: &str = "all";

/// Compiler flags that let libFuzzer see which code an input reaches.
const INSTRUMENTED: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-simplifycfg-branch-fold-threshold=0 --cfg fuzzing";

/// `[TARGET|all [SECONDS]]`: one target, or all of them one after another.
pub(crate) struct Request {
    target: Option<String>,
    seconds: u32,
}

impl Request {
    /// Parses the arguments of the task.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, String> {
        let seconds = match arguments.get(1) {
            None => SECONDS,
            Some(text) => text.parse().map_err(|_| format!("`{text}` is not a number of seconds"))?,
        };
        let target = arguments.first().filter(|target| *target != ALL);
        match arguments {
            [_, _, more, ..] => {
                Err(format!("unexpected argument `{more}`: expected cargo xtask fuzz [TARGET|all [SECONDS]]"))
            }
            _ => Ok(Request { target: target.cloned(), seconds }),
        }
    }

    /// The requested targets.
    pub(crate) fn targets(&self, workspace: &Workspace) -> Result<Vec<String>, String> {
        let known = known(&workspace.root.join("fuzz/corpus"))?;
        match &self.target {
            None => Ok(known),
            Some(target) if known.contains(target) => Ok(vec![target.clone()]),
            Some(target) => Err(format!("no such target: `{target}`; known targets: {}", known.join(", "))),
        }
    }
}

/// Every target has a folder in the corpus.
fn known(corpus: &Path) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(corpus).map_err(|error| format!("{}: {error}", corpus.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort();
    Ok(names)
}

/// Runs one target. Its results are in `target/fuzz/TARGET`: new inputs in `corpus`, inputs that fail next to that
/// folder.
pub(crate) fn run(workspace: &Workspace, request: &Request, target: &str) -> Result<(), String> {
    let built = workspace.target.join("fuzz");
    let host = workspace.program("rustc", &["--print", "host-tuple"]).output()?;
    // An explicit platform keeps the flags away from build scripts and macros.
    cargo(workspace, &["build", "--quiet", "--release", "--target", host.trim()])
        .env("CARGO_TARGET_DIR", &built)
        .run()?;
    let found = built.join(target);
    let (corpus, seeds) = (found.join("corpus"), found.join("seeds"));
    for folder in [&corpus, &seeds] {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let binary = built.join(host.trim()).join("release/isomorph-libfuzzer");
    let seconds = format!("-max_total_time={}", request.seconds);
    let failures = format!("-artifact_prefix={}/", found.display());
    let words = format!("-dict={}", found.join("words").display());
    let arguments =
        [&seconds, &failures, &words, "-max_len=65536", "-timeout=10", "-rss_limit_mb=1024", "-print_final_stats=1"];
    let kept = workspace.root.join("fuzz/corpus").join(target);
    let task = workspace.program(binary, &arguments).args([corpus, kept, seeds]);
    task.env("FUZZ_TARGET", target).env("FUZZ_PREPARED", found).run()
}

fn cargo(workspace: &Workspace, arguments: &[&str]) -> Task {
    let manifest = workspace.root.join("fuzz/libfuzzer/Cargo.toml");
    workspace.cargo(arguments).args([Path::new("--manifest-path"), &manifest]).env("RUSTFLAGS", INSTRUMENTED)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Request, String> {
        Request::parse(&arguments.iter().map(|&text| text.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_target_and_a_time_may_be_named() {
        assert_eq!(parse(&[]).unwrap().seconds, SECONDS);
        let request = parse(&["csv", "5"]).unwrap();
        assert_eq!((request.target.as_deref(), request.seconds), (Some("csv"), 5));
        let all = parse(&["all", "9"]).unwrap();
        assert_eq!((all.target, all.seconds), (None, 9));
        assert!(parse(&["csv", "soon"]).is_err());
        assert!(parse(&["csv", "5", "more"]).is_err());
    }
}
