//! Checks that the licence of every dependency is compatible with ours.

use crate::metadata::{self, Package};
use crate::process::Workspace;
use crate::report::{Outcome, StepResult};
use crate::spdx;

/// Licences that a dependency of Apache-2.0 software may have: permissive ones, and MPL-2.0, whose copyleft covers only
/// its own files.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
    // As BSD's: of libbz2-rs-sys, which Ballista brings.
    "bzip2-1.0.6",
];

/// Checks the licence of every package in the lock file, for all features and platforms.
pub(crate) fn run(workspace: &Workspace) -> StepResult {
    let packages = metadata::all(workspace)?;
    let foreign: Vec<&Package> = packages.iter().filter(|package| !package.ours).collect();
    let problems: Vec<String> = foreign.iter().filter_map(|package| problem(package)).collect();
    if !problems.is_empty() {
        return Err(problems.join("\n       "));
    }
    println!("   {} dependencies, all licences are on the list", foreign.len());
    Ok(Outcome::Done)
}

fn problem(package: &Package) -> Option<String> {
    let name = format!("{} {}", package.name, package.version);
    let Some(licence) = &package.licence else {
        return Some(format!("{name} states no licence"));
    };
    match spdx::satisfied(licence, &|licence| ALLOWED.contains(&licence)) {
        Ok(true) => None,
        Ok(false) => Some(format!("{name} is under {licence}, which is not on the list in xtask/src/licences.rs")),
        Err(message) => Some(format!("{name}: {message}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn licensed(licence: Option<&str>) -> Package {
        Package { name: "thing".into(), licence: licence.map(str::to_owned), ..Package::default() }
    }

    #[test]
    fn problems_name_the_package_and_the_licence() {
        assert_eq!(problem(&licensed(Some("MIT OR Apache-2.0"))), None);
        assert!(
            problem(&licensed(Some("GPL-3.0-only")))
                .is_some_and(|text| text.contains("thing") && text.contains("GPL-3.0"))
        );
        assert!(problem(&licensed(None)).is_some_and(|text| text.contains("no licence")));
        assert!(problem(&licensed(Some("MIT AND"))).is_some());
    }
}
