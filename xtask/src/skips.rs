//! Skipped tests: counted, grouped by reason, and an error if they could have run.
//!
//! For the test runner, a test that lacks something passes. It appends a line with its name, a tab and the reason to the
//! file that `ISOMORPH_SKIPPED` names: see `fixtures/src/lib.rs` for tests in Rust, `interop/conftest.py` for those in
//! Python.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use crate::data;
use crate::process::Workspace;

/// The variable that names the file.
pub(crate) const VARIABLE: &str = "ISOMORPH_SKIPPED";

/// The file that collects the lines of one run.
pub(crate) struct Record {
    path: PathBuf,
}

/// The names of the tests that were skipped, by reason.
#[derive(Default)]
pub(crate) struct Skips {
    tests: BTreeMap<String, BTreeSet<String>>,
}

impl Record {
    /// Starts an empty record below the target folder.
    pub(crate) fn new(workspace: &Workspace, name: &str) -> Result<Self, String> {
        let path = workspace.target.join(format!("skipped-{name}.txt"));
        fs::create_dir_all(&workspace.target).map_err(|error| format!("{}: {error}", workspace.target.display()))?;
        fs::write(&path, "").map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Record { path })
    }

    /// The value of the variable.
    pub(crate) fn path(&self) -> &PathBuf {
        &self.path
    }

    /// Reads what the tests wrote.
    pub(crate) fn read(&self) -> Result<Skips, String> {
        let text = fs::read_to_string(&self.path).map_err(|error| format!("{}: {error}", self.path.display()))?;
        Ok(Skips::parse(&text))
    }
}

impl Skips {
    fn parse(text: &str) -> Self {
        let mut skips = Skips::default();
        for line in text.lines() {
            let (test, why) = line.split_once('\t').unwrap_or((line, "no reason is given"));
            skips.tests.entry(why.to_owned()).or_default().insert(test.to_owned());
        }
        skips
    }

    /// Adds those of another run.
    pub(crate) fn add(&mut self, other: Skips) {
        for (why, tests) in other.tests {
            self.tests.entry(why).or_default().extend(tests);
        }
    }

    /// The number of skipped tests, and the number for each reason.
    pub(crate) fn describe(&self) -> String {
        let count = self.count();
        if count == 0 {
            return "no test was skipped".into();
        }
        let reasons = self.tests.iter().map(|(why, tests)| format!("{} because {why}", tests.len()));
        let tests = if count == 1 { "1 test was skipped" } else { &format!("{count} tests were skipped") };
        format!("{tests}: {}", reasons.collect::<Vec<_>>().join("; "))
    }

    /// The number of tests that were skipped.
    pub(crate) fn count(&self) -> usize {
        self.tests.values().map(BTreeSet::len).sum()
    }

    /// Fails if a test was skipped although what it lacks is available.
    pub(crate) fn justified(&self, workspace: &Workspace) -> Result<(), String> {
        let there = |why: &str| {
            lacking(why).is_some_and(|lacking| match lacking {
                Lacking::Suite(name) => data::find(workspace, name).is_some(),
                Lacking::Program(name) => on_path(name),
            })
        };
        self.none_for(there)
    }

    /// Fails if a test lacks a Python library. For an environment in which all of them were installed.
    pub(crate) fn none_lacks_a_library(&self) -> Result<(), String> {
        self.none_for(|why| lacking(why).is_none() && why.ends_with(" is not installed"))
    }

    fn none_for(&self, wrong: impl Fn(&str) -> bool) -> Result<(), String> {
        let tests = |tests: &BTreeSet<String>| tests.iter().cloned().collect::<Vec<_>>().join(", ");
        let wrong = self.tests.iter().filter(|(why, _)| wrong(why));
        let wrong: Vec<String> = wrong.map(|(why, of)| format!("it is not true that {why}: {}", tests(of))).collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n       ")) }
    }
}

/// What a test lacks, if this program can look for it, too.
enum Lacking<'a> {
    Suite(&'a str),
    Program(&'a str),
}

/// Parses the reasons that `public_data` and `without_program` of the fixtures write.
fn lacking(why: &str) -> Option<Lacking<'_>> {
    if let Some((suite, _)) = why.split_once(" is not on this machine") {
        return Some(Lacking::Suite(suite));
    }
    let program = why.strip_prefix("the program `")?.strip_suffix("` is not installed")?;
    Some(Lacking::Program(program))
}

/// Whether a program with that name can be started.
fn on_path(name: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&folders).any(|folder| folder.join(&file).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace() -> Workspace {
        let root = std::env::temp_dir().join("isomorph-xtask-no-workspace");
        Workspace { target: root.join("target"), root }
    }

    #[test]
    fn tests_are_counted_by_reason_and_once() {
        let text = "a::b\tno-suite is not on this machine: run `cargo xtask data`\n\
            a::b\tno-suite is not on this machine: run `cargo xtask data`\na::c\tno server\n";
        let mut skips = Skips::parse(text);
        skips.add(Skips::parse("x.py::d\tno server\n"));
        assert_eq!(
            skips.describe(),
            "3 tests were skipped: 2 because no server; 1 because no-suite is not on this machine: run `cargo xtask data`"
        );
        assert_eq!(skips.justified(&workspace()), Ok(()));
        assert_eq!(Skips::default().describe(), "no test was skipped");
    }

    #[test]
    fn a_test_that_could_have_run_is_an_error() {
        let skips =
            Skips::parse("a::b\tthe program `cargo` is not installed\nc\tthe program `no-such` is not installed");
        let wrong = skips.justified(&workspace());
        assert_eq!(wrong, Err("it is not true that the program `cargo` is not installed: a::b".into()));
        assert_eq!(skips.none_lacks_a_library(), Ok(()));
        let skips = Skips::parse("interop/test_rdf.py\trdflib is not installed");
        assert_eq!(skips.justified(&workspace()), Ok(()));
        let wrong = skips.none_lacks_a_library();
        assert_eq!(wrong, Err("it is not true that rdflib is not installed: interop/test_rdf.py".into()));
    }
}
