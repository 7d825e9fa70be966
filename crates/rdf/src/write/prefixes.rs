//! Prefixes for namespaces.

use std::collections::HashMap;

use super::WriteOptions;

/// Prefixes by namespace.
pub(super) struct Prefixes {
    by_namespace: HashMap<String, String>,
    /// Sorted by name.
    all: Vec<(String, String)>,
}

impl Prefixes {
    pub(super) fn new(options: &WriteOptions) -> Self {
        let sound = |(name, namespace): &&(String, String)| is_prefix(name) && is_namespace(namespace);
        let mut all: Vec<(String, String)> = options.prefixes.iter().filter(sound).cloned().collect();
        all.sort();
        all.dedup_by(|next, before| next.0 == before.0);
        let mut by_namespace = HashMap::new();
        for (name, namespace) in &all {
            by_namespace.entry(namespace.clone()).or_insert_with(|| name.clone());
        }
        Prefixes { by_namespace, all }
    }

    pub(super) fn all(&self) -> &[(String, String)] {
        &self.all
    }

    /// The prefix of a namespace.
    pub(super) fn of(&self, namespace: &str) -> Option<&str> {
        self.by_namespace.get(namespace).map(String::as_str)
    }

    /// An IRI as prefix and local name, if the local name needs no escapes in Turtle.
    pub(super) fn shorten<'a>(&'a self, iri: &'a str) -> Option<(&'a str, &'a str)> {
        if self.all.is_empty() {
            return None;
        }
        let ends = ['#', '/', ':'].into_iter().filter_map(|end| iri.rfind(end)).map(|at| at + 1);
        ends.into_iter().find_map(|at| {
            let (namespace, local) = iri.split_at(at);
            self.of(namespace).filter(|_| is_local(local)).map(|prefix| (prefix, local))
        })
    }
}

/// Whether a name is a valid prefix in Turtle and XML.
fn is_prefix(name: &str) -> bool {
    let sound = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    name.is_empty()
        || name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.bytes().all(sound)
            && !name.ends_with('.')
            && !name.to_ascii_lowercase().starts_with("xml")
}

fn is_namespace(iri: &str) -> bool {
    let bad = |byte: u8| byte <= b' ' || matches!(byte, b'<' | b'>' | b'"' | b'{' | b'}' | b'|' | b'^' | b'`' | b'\\');
    iri.contains(':') && !iri.bytes().any(bad)
}

/// Whether a local name of Turtle needs no escapes.
fn is_local(name: &str) -> bool {
    let sound = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    name.bytes().all(sound) && !name.starts_with(['-', '.']) && !name.ends_with('.')
}
