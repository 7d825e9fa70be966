//! Checks that every build requests the same features of dependencies, so that none is compiled twice.
//!
//! Cargo unites the features that the crates of one build request. If the tests, or the `cloud` build, request one more
//! feature of a crate at the bottom, everything above it is compiled again, which takes minutes and goes unnoticed.

use std::collections::{BTreeMap, BTreeSet};

use crate::process::{FEATURES, SELECTION, Workspace};
use crate::report::{Outcome, StepResult};

/// The build that others are compared with.
const ORDINARY: &[&str] = &["tree", SELECTION, FEATURES, "--edges", "normal,build"];

/// Other builds, with the dependencies that may differ in each.
const OTHERS: &[(&str, &[&str], &[&str])] = &[
    ("the tests", &["tree", SELECTION, FEATURES, "--edges", "normal,build,dev"], ZOO),
    ("the command alone", &["tree", "--package", "isomorph-cli", FEATURES, "--edges", "normal,build"], &[]),
    (
        "the cloud build",
        &["tree", SELECTION, FEATURES, "--edges", "normal,build", "--features", "isomorph-storage/cloud"],
        NETWORK,
    ),
    (
        "the Hadoop build",
        &["tree", SELECTION, FEATURES, "--edges", "normal,build", "--features", "isomorph-storage/hdfs"],
        HADOOP,
    ),
    (
        "the server build",
        &["tree", SELECTION, FEATURES, "--edges", "normal,build", "--features", "isomorph-cli/serve"],
        SERVER,
    ),
];

/// The graphs for tests: a feature of the model that only tests request.
const ZOO: &[&str] = &["isomorph-model"];

/// Packages between storage and the network, and below nothing that takes long to compile.
const NETWORK: &[&str] = &[
    "form_urlencoded",
    "futures-channel",
    "futures-sink",
    "isomorph",
    "isomorph-cli",
    "isomorph-convert",
    "isomorph-storage",
    "object_store",
    "slab",
    "smallvec",
    "tokio",
];

/// The same for Hadoop's file system, whose client requests all of chrono, which is below every column crate. It is a
/// separate build, and nobody has both: if it were always requested, every other build would be slower.
const HADOOP: &[&str] = &[
    "chrono",
    "digest",
    "getrandom",
    "isomorph",
    "isomorph-cli",
    "isomorph-convert",
    "isomorph-storage",
    "object_store",
    "tokio",
];

/// Packages between the command and the network, for the server. It is built with the object stores, for the tests of
/// both.
const SERVER: &[&str] =
    &["futures-channel", "futures-sink", "isomorph-cli", "isomorph-server", "slab", "smallvec", "tokio"];

/// Features by package: a package can be built twice, for the build machine and for the target.
type Features = BTreeMap<String, BTreeSet<String>>;

/// Compares the features of every build with those of the ordinary one.
pub(crate) fn run(workspace: &Workspace) -> StepResult {
    let ordinary = features(workspace, ORDINARY)?;
    let mut problems = Vec::new();
    for (what, arguments, may_differ) in OTHERS {
        let other = features(workspace, arguments)?;
        problems.extend(differences(&ordinary, &other, may_differ).into_iter().map(|text| format!("{what}: {text}")));
    }
    if problems.is_empty() {
        println!("   {} packages have the same features in every build", ordinary.len());
        return Ok(Outcome::Done);
    }
    problems.push("add the missing features to the others in crates/storage/Cargo.toml".into());
    Err(problems.join("\n       "))
}

fn features(workspace: &Workspace, arguments: &[&str]) -> Result<Features, String> {
    let format = ["--prefix", "none", "--format", "{p}|{f}"];
    Ok(parse(&workspace.cargo(&[arguments, &format].concat()).output()?))
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
