//! Checks that every build requests the same features of dependencies, so that none is compiled twice.
//!
//! Cargo unites the features that the crates of one build request. If the tests, or the command alone, request one more
//! feature of a crate at the bottom, everything above it is compiled again, which takes minutes and goes unnoticed.

use std::collections::{BTreeMap, BTreeSet};

use crate::process::{LEAN, SELECTION, Workspace};
use crate::report::{Outcome, StepResult};

/// The build that others are compared with: lints, documentation and programs of `cargo xtask ci`.
const ORDINARY: &[&str] = &["--edges", "normal,build"];

/// A build, and the dependencies that may differ in it.
struct Build {
    what: &'static str,
    /// Arguments of `cargo tree`; `None` stands for the ordinary selection.
    selection: Option<&'static [&'static str]>,
    arguments: &'static [&'static str],
    may_differ: &'static [&'static str],
}

const OTHERS: &[Build] = &[
    Build { what: "the tests", selection: None, arguments: &["--edges", "normal,build,dev"], may_differ: &[] },
    Build {
        what: "the first command of the README",
        selection: Some(&["--package", "isomorph-cli", LEAN]),
        arguments: ORDINARY,
        may_differ: TOP,
    },
    Build {
        what: "the Hadoop build",
        selection: None,
        arguments: &["--edges", "normal,build", "--features", "isomorph-cli/hdfs"],
        may_differ: HADOOP,
    },
];

/// What the features of the command change: the command, the front door, and what lies between no crates that take long to
/// compile.
const TOP: &[&str] = &["isomorph", "isomorph-cli"];

/// The client of Hadoop's file system requests all of chrono, which is below every column crate. It is a separate build: if
/// it were always requested, every other build would be slower.
const HADOOP: &[&str] = &[
    "chrono",
    "digest",
    "getrandom",
    "isomorph",
    "isomorph-cli",
    "isomorph-network",
    "object_store",
    "prost",
    "tokio",
];

/// What only the build of the cluster has: it turns on features of the query engine.
const CLUSTER: &str = "ballista";

/// Features by package: a package can be built twice, for the build machine and for the target.
type Features = BTreeMap<String, BTreeSet<String>>;

/// Compares the features of every build with those of the ordinary one.
pub(crate) fn run(workspace: &Workspace) -> StepResult {
    let ordinary = features(workspace, SELECTION, ORDINARY)?;
    let mut problems = Vec::new();
    if ordinary.keys().any(|package| package.starts_with(CLUSTER)) {
        problems.push(format!("{CLUSTER}… is in the ordinary build; only `cargo xtask cluster` has it"));
    }
    for Build { what, selection, arguments, may_differ } in OTHERS {
        let other = features(workspace, selection.unwrap_or(SELECTION), arguments)?;
        problems.extend(differences(&ordinary, &other, may_differ).into_iter().map(|text| format!("{what}: {text}")));
    }
    if problems.is_empty() {
        println!("   {} packages have the same features in every build", ordinary.len());
        return Ok(Outcome::Done);
    }
    problems.push("add the missing features to the others in crates/storage/Cargo.toml".into());
    Err(problems.join("\n       "))
}

fn features(workspace: &Workspace, selection: &[&str], arguments: &[&str]) -> Result<Features, String> {
    let format = ["--prefix", "none", "--format", "{p}|{f}"];
    Ok(parse(&workspace.cargo(&[&["tree"], selection, arguments, &format].concat()).output()?))
}

/// Parses lines like `bytes v1.11.0|default,std (*)`.
fn parse(tree: &str) -> Features {
    let mut features = Features::new();
    for line in tree.lines() {
        let Some((package, list)) = line.split_once('|') else { continue };
        let package: Vec<&str> = package.split_whitespace().take(2).collect();
        let list = list.split_whitespace().next().filter(|list| *list != "(*)").unwrap_or_default();
        features.entry(package.join(" ")).or_default().insert(list.to_owned());
    }
    features
}

fn differences(ordinary: &Features, other: &Features, may_differ: &[&str]) -> Vec<String> {
    let counts = |package: &str| !may_differ.contains(&package.split(' ').next().unwrap_or_default());
    let both = ordinary.iter().filter_map(|(package, here)| Some((package, here, other.get(package)?)));
    both.filter(|(package, here, there)| here != there && counts(package))
        .map(|(package, here, there)| format!("{package} has {}, expected {}", shown(there), shown(here)))
        .collect()
}

fn shown(lists: &BTreeSet<String>) -> String {
    lists.iter().map(|list| format!("[{list}]")).collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_more_is_named() {
        let here =
            parse("chrono v0.4.45|std\nbytes v1.11.0|default,std\nbytes v1.11.0|default,std (*)\nempty v1.0.0|\n");
        let there = parse("chrono v0.4.45|serde,std\nbytes v1.11.0|default,std\nempty v1.0.0| (*)\nnew v1.0.0|x\n");
        assert_eq!(differences(&here, &there, &[]), ["chrono v0.4.45 has [serde,std], expected [std]"]);
        assert_eq!(differences(&here, &there, &["chrono"]), Vec::<String>::new());
        assert_eq!(differences(&here, &here, &[]), Vec::<String>::new());
    }
}
