//! The file of properties: `graph.NAME.KEY = VALUE`.

use std::collections::BTreeMap;

/// Number of first bytes that are inspected.
pub(super) const LOOK: u64 = 64 << 10;

/// Maximum size of the file in bytes.
pub(super) const MOST: u64 = 1 << 20;

/// Names of values in a line, in order, and whether they are floats.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Values(pub Vec<(String, bool)>);

/// What the properties of a graph state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Properties {
    pub name: String,
    pub vertex_file: String,
    pub edge_file: String,
    pub directed: bool,
    /// Numbers of vertices and edges.
    pub counts: [Option<u64>; 2],
    pub of_vertices: Values,
    pub of_edges: Values,
}

/// Returns whether a text has the properties of a graph.
pub(super) fn begins(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    pairs(&text).any(|(key, _)| key.starts_with("graph.") && key.ends_with(".vertex-file"))
}

/// Returns keys and values.
fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with(['#', '!']));
    lines.filter_map(|line| line.split_once('=').map(|(key, value)| (key.trim(), value.trim())))
}

impl Properties {
    /// Reads the properties of one graph.
    ///
    /// # Errors
    /// Returns what is missing or wrong.
    pub fn of(text: &[u8]) -> Result<Properties, String> {
        let text = std::str::from_utf8(text).map_err(|_| "the file is not UTF-8".to_owned())?;
        let mut all: BTreeMap<&str, &str> = BTreeMap::new();
        for (key, value) in pairs(text) {
            if all.insert(key, value).is_some_and(|before| before != value) {
                return Err(format!("{key} has two values"));
            }
        }
        let mut names = all.keys().filter_map(|key| key.strip_prefix("graph.")?.strip_suffix(".vertex-file"));
        let (Some(name), None) = (names.next(), names.next()) else {
            return Err("there is not exactly one graph.NAME.vertex-file".to_owned());
        };
        let get = |key: &str| all.get(format!("graph.{name}.{key}").as_str()).copied();
        let required = |key: &str| get(key).map(str::to_owned).ok_or_else(|| format!("graph.{name}.{key} is missing"));
        let directed = match required("directed")?.as_str() {
            "true" => true,
            "false" => false,
            other => return Err(format!("graph.{name}.directed is {other}, not true or false")),
        };
        let count = |key: &str| {
            let number = get(key).map(|text| text.parse::<u64>());
            number.transpose().map_err(|_| format!("graph.{name}.{key} is not a number"))
        };
        let values = |of: &str| -> Result<Values, String> {
            let list = |key: &str| -> Vec<&str> {
                let text = get(&format!("{of}.{key}")).unwrap_or_default();
                text.split(',').map(str::trim).filter(|word| !word.is_empty()).collect()
            };
            let (names, types) = (list("names"), list("types"));
            if names.len() != types.len() {
                return Err(format!("{of} has {} names and {} types", names.len(), types.len()));
            }
            let mut all: Vec<(String, bool)> = Vec::new();
            for (own, ty) in names.into_iter().zip(types) {
                let is_real = match ty {
                    "real" => true,
                    "int" => false,
                    other => return Err(format!("{own} has type {other}, not int or real")),
                };
                if all.iter().any(|(other, _)| other == own) {
                    return Err(format!("{of} has the name {own} twice"));
                }
                all.push((own.to_owned(), is_real));
            }
            Ok(Values(all))
        };
        Ok(Properties {
            name: name.to_owned(),
            vertex_file: required("vertex-file")?,
            edge_file: required("edge-file")?,
            directed,
            counts: [count("meta.vertices")?, count("meta.edges")?],
            of_vertices: values("vertex-properties")?,
            of_edges: values("edge-properties")?,
        })
    }
}
