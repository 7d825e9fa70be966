//! The keys of one mapping, taken one by one; the remaining keys are unknown and are kept.

use isomorph_error::{Error, Findings, Place, Result, Rule, nearest};

use super::{Map, Node, is_written_again};
use crate::rules;

/// The keys of a mapping that have not been read yet.
pub(crate) struct Fields<'a> {
    file: &'a str,
    line: u64,
    left: Vec<(String, Node)>,
    /// Keys of lists that were asked for and do not exist.
    absent: Vec<String>,
    findings: &'a mut Findings,
}

impl<'a> Fields<'a> {
    pub fn new(file: &'a str, map: Map, findings: &'a mut Findings) -> Self {
        Fields { file, line: map.line, left: map.entries, absent: Vec::new(), findings }
    }

    /// Returns the place of a key of this mapping.
    pub fn place(&self, key: &str, line: u64) -> Place {
        Place::file(self.file).line(line).in_field(key)
    }

    /// Adds a finding about a key of the mapping.
    pub fn find(&mut self, rule: &'static Rule, message: impl Into<String>, key: &str) {
        let place = self.place(key, self.line);
        self.findings.push(rule, message, place);
    }

    /// Adds a finding at a place of this file.
    pub fn find_at(&mut self, rule: &'static Rule, message: impl Into<String>, place: Place) {
        self.findings.push(rule, message, place);
    }

    /// Returns an error about a key of the mapping.
    pub fn error(&self, rule: &'static Rule, message: impl Into<String>, key: &str) -> Error {
        Error::broken(rule, message).at(self.place(key, self.line))
    }

    /// Returns whether the key exists.
    pub fn has(&self, key: &str) -> bool {
        self.left.iter().any(|(name, _)| name == key)
    }

    fn take(&mut self, key: &str) -> Option<Node> {
        let at = self.left.iter().position(|(name, _)| name == key)?;
        let (_, node) = self.left.remove(at);
        (!node.is_null()).then_some(node)
    }

    fn not(&self, key: &str, line: u64, what: &str) -> Error {
        Error::broken(&rules::META_VALUE, format!("expected {what}")).at(self.place(key, line))
    }

    /// Returns the text of `key`, with its line.
    pub fn text(&mut self, key: &str) -> Result<Option<(String, u64)>> {
        match self.take(key) {
            None => Ok(None),
            Some(Node::Scalar { text, line, .. }) => Ok(Some((text, line))),
            Some(other) => Err(self.not(key, other.line(), "a text")),
        }
    }

    /// Returns the text of `key`, which must exist and not be empty.
    pub fn required(&mut self, key: &str) -> Result<(String, u64)> {
        match self.text(key)? {
            Some((text, line)) if !text.is_empty() => Ok((text, line)),
            _ => Err(self.error(&rules::META_KEY_MISSING, "the key is missing", key)),
        }
    }

    /// Reads a chunk size: a whole number from 1 to 2^63 − 1, the largest that the published library reads.
    pub fn chunk_size(&mut self, key: &str) -> Result<u64> {
        let (text, line) = self.required(key)?;
        match text.parse::<i64>().map(u64::try_from) {
            Ok(Ok(number)) if number > 0 => Ok(number),
            _ => Err(self.not(key, line, "a whole number from 1 to 2^63 - 1")),
        }
    }

    /// Reads a boolean; true, yes and 1 in any case are true, as in the published library. A key without a value is
    /// present and false, as is any other text.
    pub fn flag(&mut self, key: &str) -> Result<Option<bool>> {
        let found = self.left.iter().find(|(name, node)| name == key && node.is_null());
        let empty = found.map(|(_, node)| node.line());
        let (text, line) = match (self.text(key)?, empty) {
            (Some(stated), _) => stated,
            (None, Some(line)) => (String::new(), line),
            (None, None) => return Ok(None),
        };
        let value = matches!(text.to_ascii_lowercase().as_str(), "true" | "yes" | "1");
        if !matches!(text.to_ascii_lowercase().as_str(), "true" | "false") {
            let place = self.place(key, line);
            self.findings.push(&rules::META_BOOL, format!("{text:?} is read as {value}"), place);
        }
        Ok(Some(value))
    }

    /// Returns the items of a list; an empty list if the key is absent.
    pub fn list(&mut self, key: &str) -> Result<Vec<Node>> {
        if !self.has(key) {
            self.absent.push(key.to_owned());
        }
        match self.take(key) {
            None => Ok(Vec::new()),
            Some(Node::List { items, .. }) => Ok(items),
            Some(other) => Err(self.not(key, other.line(), "a list")),
        }
    }

    /// Returns the items of a list of texts.
    pub fn texts(&mut self, key: &str) -> Result<Vec<String>> {
        let items = self.list(key)?;
        items
            .into_iter()
            .map(|item| match item {
                Node::Scalar { text, .. } if !text.is_empty() => Ok(text),
                other => Err(self.not(key, other.line(), "a list of texts")),
            })
            .collect()
    }

    /// Reads each item of a list, which must be mappings.
    pub fn each<T>(&mut self, key: &str, mut read: impl FnMut(Fields<'_>) -> Result<T>) -> Result<Vec<T>> {
        let items = self.list(key)?;
        let mut all = Vec::with_capacity(items.len());
        for item in items {
            match item {
                Node::Map(map) => all.push(read(Fields::new(self.file, map, self.findings))?),
                other => return Err(self.not(key, other.line(), "a list of mappings")),
            }
        }
        Ok(all)
    }

    /// Returns the keys that were not read, with their values as text; lists and mappings as JSON.
    pub fn rest(mut self) -> Vec<(String, String)> {
        let text = |node: &Node| match node {
            Node::Scalar { text, .. } => text.clone(),
            other => json(other).to_string(),
        };
        self.find_rest(|key, node| match is_written_again(key, &text(node)) {
            true => "unknown key; a conversion to GraphAr keeps it",
            false => "unknown key; conversions drop it",
        });
        self.left
            .into_iter()
            .map(|(key, node)| {
                let text = text(&node);
                (key, text)
            })
            .collect()
    }

    /// Skips the keys that were not read.
    pub fn pass_over_rest(mut self) {
        self.find_rest(|_, _| "unknown key; conversions drop it");
    }

    fn find_rest(&mut self, message: impl Fn(&str, &Node) -> &'static str) {
        for (key, node) in &self.left {
            let place = Place::file(self.file).line(node.line()).in_field(key.clone());
            let is_list = matches!(node, Node::List { .. });
            match nearest(key, self.absent.iter().map(String::as_str)).filter(|_| is_list) {
                // A list that is not read is data that is not read.
                Some(near) => {
                    let message = format!("unknown key {key}, and {near} is missing");
                    self.findings.push(&rules::META_KEY_MISTYPED, message, place);
                }
                None => self.findings.push(&rules::META_KEY_UNKNOWN, message(key, node), place),
            }
        }
    }
}

/// Converts a node to JSON, with scalars as strings.
fn json(node: &Node) -> serde_json::Value {
    match node {
        Node::Scalar { text, .. } => serde_json::Value::String(text.clone()),
        Node::List { items, .. } => items.iter().map(json).collect(),
        Node::Map(map) => map.entries.iter().map(|(key, node)| (key.clone(), json(node))).collect(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn keys_are_taken_once_and_the_rest_is_kept() {
        let text = b"chunk_size: 100\ndirected: YES\nowner: me\nmore:\n  - a: b\n";
        let mut findings = Findings::default();
        let map = super::super::parse("x.yml", text, &mut findings).unwrap();
        let mut fields = Fields::new("x.yml", map, &mut findings);
        assert_eq!(fields.chunk_size("chunk_size").unwrap(), 100);
        assert_eq!(fields.flag("directed").unwrap(), Some(true));
        assert_eq!(fields.flag("ordered").unwrap(), None);
        assert_eq!(fields.required("type").unwrap_err().broken_rule().unwrap().id, "GAR-META-KEY-MISSING");
        let rest = fields.rest();
        assert_eq!(rest, [("owner".into(), "me".into()), ("more".into(), r#"[{"a":"b"}]"#.into())]);
        assert_eq!(findings.count(&rules::META_KEY_UNKNOWN), 2);
        assert_eq!(findings.count(&rules::META_BOOL), 1);
    }

    #[test]
    fn a_flag_without_a_value_is_false_and_found() {
        for text in ["f:\n", "f: ~\n", "f: null\n"] {
            let mut findings = Findings::default();
            let map = super::super::parse("x.yml", format!("a: 1\n{text}").as_bytes(), &mut findings).unwrap();
            assert_eq!(Fields::new("x.yml", map, &mut findings).flag("f").unwrap(), Some(false), "{text}");
            assert_eq!(findings.count(&rules::META_BOOL), 1);
        }
    }

    #[test]
    fn a_chunk_size_is_a_number_above_zero() {
        for text in ["0", "-1", "abc", "1.5", "9223372036854775808", "9999999999999999999", "[1]"] {
            let mut findings = Findings::default();
            let map = super::super::parse("x.yml", format!("n: {text}\n").as_bytes(), &mut findings).unwrap();
            let error = Fields::new("x.yml", map, &mut findings).chunk_size("n").unwrap_err();
            assert_eq!(error.broken_rule().unwrap().id, "GAR-META-VALUE", "{text}");
            assert_eq!(error.place().line, Some(1));
        }
    }

    #[test]
    fn a_list_under_a_mistyped_key_is_an_error_only_if_the_key_is_missing() {
        let read = |text: &str| {
            let mut findings = Findings::default();
            let map = super::super::parse("x.yml", text.as_bytes(), &mut findings).unwrap();
            let mut fields = Fields::new("x.yml", map, &mut findings);
            fields.texts("vertices").unwrap();
            fields.pass_over_rest();
            (findings.count(&rules::META_KEY_MISTYPED), findings.count(&rules::META_KEY_UNKNOWN))
        };
        assert_eq!(read("verticess:\n  - a.yml\n"), (1, 0));
        assert_eq!(read("vertices:\n  - a.yml\nverticess:\n  - b.yml\n"), (0, 1));
        assert_eq!(read("verticess: three\n"), (0, 1));
        assert_eq!(read("owners:\n  - me\n"), (0, 1));
    }
}
