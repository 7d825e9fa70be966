//! Checks that dependencies between our crates point down only.

use crate::layers::{FORBIDDEN, LAYERS, height, short};
use crate::metadata::{self, Package};
use crate::process::Workspace;
use crate::report::{Outcome, StepResult};

/// The task crate is outside the layers: it depends on none of our crates, and none depends on it.
const OUTSIDE: &str = "xtask";

/// Reads the dependencies of the workspace and reports every one that does not point down.
pub(crate) fn run(workspace: &Workspace) -> StepResult {
    let packages = metadata::ours(workspace)?;
    let problems = problems(&packages);
    if !problems.is_empty() {
        return Err(problems.join("\n       "));
    }
    println!("   {} crates, every dependency points down", packages.len());
    Ok(Outcome::Done)
}

fn problems(packages: &[Package]) -> Vec<String> {
    let ours = |name: &str| packages.iter().any(|package| package.name == name);
    let mut problems = Vec::new();
    for package in packages {
        let from = short(&package.name);
        let from_height = height(from);
        if from_height.is_none() && from != OUTSIDE {
            problems.push(format!("{from} is in no layer: add it to xtask/src/layers.rs"));
        }
        for dependency in &package.dependencies {
            problems.extend(forbidden(from, dependency));
            if ours(dependency) {
                problems.extend(arrow(from, from_height, short(dependency)));
            }
        }
    }
    problems
}

/// Describes what is wrong with the dependency `from` → `to`, both ours.
fn arrow(from: &str, from_height: Option<usize>, to: &str) -> Option<String> {
    if to == OUTSIDE || from == OUTSIDE {
        return Some(format!("{from} → {to}: {OUTSIDE} is outside the layers and must build without them"));
    }
    let (from_height, to_height) = (from_height?, height(to)?);
    let what = |height: usize| LAYERS.get(height).map_or("?", |layer| layer.what);
    match to_height.cmp(&from_height) {
        std::cmp::Ordering::Less => None,
        std::cmp::Ordering::Equal if from == to => Some(format!("{from} → {to}: the crate depends on itself")),
        std::cmp::Ordering::Equal => {
            Some(format!("{from} → {to}: points sideways, both are in the layer “{}”", what(to_height)))
        }
        std::cmp::Ordering::Greater => {
            Some(format!("{from} → {to}: points up, from “{}” to “{}”", what(from_height), what(to_height)))
        }
    }
}

fn forbidden(from: &str, dependency: &str) -> Option<String> {
    let (_, _, why) = FORBIDDEN.iter().find(|(name, list, _)| *name == from && list.contains(&dependency))?;
    Some(format!("{from} → {dependency}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(arrows: &[(&str, &[&str])]) -> Vec<Package> {
        arrows
            .iter()
            .map(|(name, dependencies)| Package {
                name: (*name).to_owned(),
                dependencies: dependencies.iter().map(|&name| name.to_owned()).collect(),
                ours: true,
                ..Package::default()
            })
            .collect()
    }

    #[test]
    fn arrows_down_are_fine_however_far() {
        let packages = graph(&[
            ("isomorph-error", &["serde"]),
            ("isomorph-model", &["isomorph-error", "arrow-array"]),
            ("isomorph-nock", &["isomorph-error", "isomorph-model"]),
            ("isomorph-cli", &["isomorph-nock", "isomorph-error"]),
            ("xtask", &["serde_json"]),
        ]);
        assert_eq!(problems(&packages), Vec::<String>::new());
    }

    #[test]
    fn an_arrow_up_is_named() {
        let packages = graph(&[("isomorph-model", &["isomorph-convert"]), ("isomorph-convert", &[])]);
        let problems = problems(&packages);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].starts_with("model → convert: points up"), "{problems:?}");
    }

    #[test]
    fn a_format_knows_no_other_format() {
        let packages = graph(&[("isomorph-nock", &["isomorph-graphar"]), ("isomorph-graphar", &[])]);
        assert!(problems(&packages)[0].starts_with("nock → graphar: points sideways"));
    }

    #[test]
    fn dependencies_for_tests_count_too() {
        let packages = graph(&[("isomorph-tables", &["isomorph-isomorph", "isomorph"]), ("isomorph", &[])]);
        assert_eq!(problems(&packages).len(), 1);
    }

    #[test]
    fn an_unknown_crate_needs_a_place_first() {
        assert!(problems(&graph(&[("isomorph-helpers", &[])]))[0].contains("helpers is in no layer"));
    }

    #[test]
    fn the_task_crate_stands_alone() {
        let packages = graph(&[("xtask", &["isomorph"]), ("isomorph", &[])]);
        assert!(problems(&packages)[0].starts_with("xtask → isomorph"));
    }

    #[test]
    fn the_model_does_no_io() {
        assert!(problems(&graph(&[("isomorph-model", &["tokio"])]))[0].starts_with("model → tokio"));
    }

    #[test]
    fn no_crate_is_in_two_layers() {
        let mut names: Vec<&str> = LAYERS.iter().flat_map(|layer| layer.crates).copied().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
