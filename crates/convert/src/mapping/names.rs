//! Unique names: a name that the target forbids, reserves or already has is altered, once for the whole graph.

use std::collections::HashSet;

/// Assigns a legal, unused name to each name of a graph. The result depends only on the set of names, never on rows.
#[derive(Debug, Default)]
pub struct Names {
    used: HashSet<String>,
    reserved_prefix: &'static str,
}

impl Names {
    /// Creates a set of reserved names.
    pub fn reserving<'a>(reserved: impl IntoIterator<Item = &'a str>) -> Self {
        Names { used: reserved.into_iter().map(str::to_owned).collect(), reserved_prefix: "" }
    }

    /// The same, with a prefix that is reserved.
    pub fn reserving_prefix(mut self, prefix: &'static str) -> Self {
        self.reserved_prefix = prefix;
        self
    }

    /// The new name for `name`: unchanged if `legal` and unused, otherwise altered.
    pub fn give(&mut self, name: &str, legal: impl Fn(char) -> bool) -> String {
        let mut given: String =
            name.chars().flat_map(|c| if legal(c) { vec![c] } else { escape(c).chars().collect() }).collect();
        if given.is_empty() {
            given.push('_');
        }
        if !self.reserved_prefix.is_empty() && given.starts_with(self.reserved_prefix) {
            given.insert(0, 'x');
        }
        let stem = given.clone();
        let mut number = 1;
        while self.used.contains(&given) {
            number += 1;
            given = format!("{stem}_{number}");
        }
        self.used.insert(given.clone());
        given
    }
}

/// A readable replacement for a character that is not allowed.
fn escape(c: char) -> String {
    match c {
        ' ' | ',' | '/' | '-' | ':' => "_".to_owned(),
        other => format!("_u{:x}", other as u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_apart() {
        let mut names = Names::reserving(["labels"]);
        let legal = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let given: Vec<String> =
            ["a_b", "a,b", "a b", "labels", "é", ""].iter().map(|name| names.give(name, legal)).collect();
        assert_eq!(given, ["a_b", "a_b_2", "a_b_3", "labels_2", "_ue9", "_"]);
        let mut names = Names::default().reserving_prefix("_own");
        assert_eq!(
            ["_own", "_ownX", " own", "own"].map(|name| names.give(name, legal)),
            ["x_own", "x_ownX", "x_own_2", "own"]
        );
    }
}
