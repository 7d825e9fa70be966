//! What `cargo metadata` reports about our crates and their dependencies.

use serde_json::Value;

use crate::process::Workspace;

/// One package, ours or a dependency.
#[derive(Debug, Clone, Default)]
pub(crate) struct Package {
    /// Its name on the registry.
    pub(crate) name: String,
    /// Its version.
    pub(crate) version: String,
    /// Its licence as an SPDX expression, if it states one.
    pub(crate) licence: Option<String>,
    /// Names of the packages that it depends on, of any kind: normal, build and for tests.
    pub(crate) dependencies: Vec<String>,
    /// Whether it is one of our packages.
    pub(crate) ours: bool,
}

/// Reads our own packages.
pub(crate) fn ours(workspace: &Workspace) -> Result<Vec<Package>, String> {
    parse(&workspace.cargo(&["metadata", "--no-deps", "--format-version", "1"]).output()?)
}

/// Reads our own packages and all their dependencies.
pub(crate) fn all(workspace: &Workspace) -> Result<Vec<Package>, String> {
    parse(&workspace.cargo(&["metadata", "--all-features", "--format-version", "1"]).output()?)
}

fn parse(text: &str) -> Result<Vec<Package>, String> {
    let metadata: Value = serde_json::from_str(text).map_err(|error| format!("cargo metadata: {error}"))?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    Ok(packages.iter().map(package).collect())
}

fn package(value: &Value) -> Package {
    let text = |key: &str| value[key].as_str().map(str::to_owned);
    let dependencies = value["dependencies"].as_array().into_iter().flatten();
    Package {
        name: text("name").unwrap_or_default(),
        version: text("version").unwrap_or_default(),
        licence: text("license"),
        dependencies: dependencies.filter_map(|dependency| dependency["name"].as_str().map(str::to_owned)).collect(),
        ours: value["source"].is_null(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn packages_are_read() {
        let text = r#"{"packages":[
            {"name":"isomorph-nock","version":"0.1.0","license":null,"source":null,
             "dependencies":[{"name":"isomorph-model","kind":null},{"name":"proptest","kind":"dev"}]},
            {"name":"bytes","version":"1.2.3","license":"MIT","source":"registry","dependencies":[]}]}"#;
        let packages = parse(text).unwrap();
        assert_eq!(packages[0].dependencies, ["isomorph-model", "proptest"]);
        assert!(packages[0].ours && !packages[1].ours);
        assert_eq!(packages[1].licence.as_deref(), Some("MIT"));
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(parse("{}").is_err());
        assert!(parse("[").is_err());
    }
}
