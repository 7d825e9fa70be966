//! Version strings: `gar/v1`, `gar/v1 (t1,t2)`.

/// A version as written, and its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// The text as written.
    pub text: String,
    /// The number after `gar/v`, if the text follows the grammar.
    pub number: Option<u64>,
    /// Names of user-defined types.
    pub types: Vec<String>,
}

impl Version {
    /// Parses a version; any text is accepted, see [`Version::is_known`].
    pub fn parse(text: &str) -> Self {
        let rest = text.strip_prefix("gar/v").unwrap_or_default();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = rest.split_at(digits);
        let types = rest.trim_start_matches(' ').strip_prefix('(').and_then(|rest| rest.split_once(')'));
        let types = types.map_or(Vec::new(), |(list, _)| {
            list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
        });
        Version { text: text.to_owned(), number: number.parse().ok(), types }
    }

    /// Returns whether it is version 1, the only one that exists.
    pub fn is_known(&self) -> bool {
        self.number == Some(1)
    }
}

impl Default for Version {
    fn default() -> Self {
        Version::parse("gar/v1")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_of_versions() {
        assert!(Version::parse("gar/v1").is_known());
        assert_eq!(Version::parse("gar/v1 (t1, t2)").types, ["t1", "t2"]);
        assert_eq!(Version::parse("gar/v1(t1,t2) more").types, ["t1", "t2"]);
        for text in ["gar/v2", "gar/v", "v1", "", "gar/v11", "gar/v99999999999999999999999"] {
            assert!(!Version::parse(text).is_known(), "{text}");
        }
    }
}
