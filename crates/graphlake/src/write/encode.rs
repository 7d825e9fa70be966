//! Triples as records: which namespaces become prefixes, and the bytes.

use std::collections::BTreeMap;

use isomorph_model::faces::Object;

use crate::term::Datatype;

/// Where a text is divided into namespace and local part; nothing for blank nodes, and where there is no namespace.
///
/// Behind the last `#` or `/`; where there is none, behind the last colon.
fn split(text: &str) -> Option<(&str, &str)> {
    if text.starts_with("_:") {
        return None;
    }
    let at = text.rfind(['#', '/']).or_else(|| text.rfind(':'))?;
    let (namespace, local) = text.split_at_checked(at + 1)?;
    namespace.contains(':').then_some((namespace, local))
}

/// How often each namespace is used, and then its number.
#[derive(Debug, Default)]
pub(super) struct Namespaces {
    uses: BTreeMap<String, i32>,
}

impl Namespaces {
    /// Counts what a triple uses.
    pub(super) fn count(&mut self, triple: &Row<'_>) {
        for (namespace, _) in triple.terms().into_iter().flatten().filter_map(split) {
            match self.uses.get_mut(namespace) {
                Some(uses) => *uses = uses.saturating_add(1),
                None => {
                    self.uses.insert(namespace.to_owned(), 1);
                }
            }
        }
    }

    /// Gives numbers, from 1 on and in the order of their texts, to those that are used at least twice.
    pub(super) fn number(&mut self) {
        self.uses.retain(|_, uses| *uses >= 2);
        self.uses.values_mut().zip(1..).for_each(|(number, next)| *number = next);
    }

    /// Prefixes with their numbers.
    pub(super) fn prefixes(self) -> Vec<(String, i32)> {
        self.uses.into_iter().collect()
    }

    fn term(&self, out: &mut Vec<u8>, text: &str) {
        let (number, local) = match split(text).and_then(|(namespace, local)| Some((*self.uses.get(namespace)?, local)))
        {
            Some((number, local)) => (number, local),
            None => (0, text),
        };
        out.extend_from_slice(&number.to_le_bytes());
        sized(out, local);
    }

    /// Appends the record of a triple, whose parts are below 2^31 bytes.
    pub(super) fn record(&self, out: &mut Vec<u8>, row: &Row<'_>) {
        self.term(out, row.subject);
        match row.datatype {
            None => {
                out.push(0);
                self.term(out, row.object);
            }
            Some(datatype) => {
                out.push(1);
                sized(out, row.object);
                self.term(out, datatype);
            }
        }
    }
}

fn sized(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

/// A triple of one predicate, borrowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row<'a> {
    pub(super) subject: &'a str,
    pub(super) object: &'a str,
    /// Datatype and language of a literal; empty for plain text.
    pub(super) datatype: Option<&'a str>,
}

impl<'a> Row<'a> {
    /// The object as the model has it.
    pub(super) fn as_object(&self) -> Object<'a> {
        match self.datatype {
            None => Object::Term(self.object),
            Some(datatype) => Datatype::of(datatype).literal(self.object),
        }
    }

    /// The texts that may have a namespace.
    fn terms(&self) -> [Option<&'a str>; 2] {
        [Some(self.subject), self.datatype.or(Some(self.object)).filter(|text| !text.is_empty())]
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;
    use crate::record::{Prefixes, Step, decode};
    use crate::triple::Triple;

    #[test]
    fn namespaces_end_where_the_rule_says() {
        assert_eq!(split("http://example.org/a#b"), Some(("http://example.org/a#", "b")));
        assert_eq!(split("http://example.org/"), Some(("http://example.org/", "")));
        assert_eq!(split("urn:a:b"), Some(("urn:a:", "b")));
        assert_eq!(split("_:x"), None);
        assert_eq!(split("plain/text"), None);
    }

    #[test]
    fn records_come_back() {
        let rows = [
            ("http://example.org/alice", "http://example.org/bob", None),
            ("http://example.org/alice", "", Some("")),
            ("_:x/1", "Bób \u{0}\u{10ffff}", Some("http://www.w3.org/1999/02/22-rdf-syntax-ns#langString@pl")),
            ("urn:a", "http://example.org/ no prefix in a value", Some("urn:b")),
        ];
        let rows = rows.map(|(subject, object, datatype)| Row { subject, object, datatype });
        let mut namespaces = Namespaces::default();
        rows.iter().for_each(|row| namespaces.count(row));
        namespaces.number();
        let mut bytes = Vec::new();
        rows.iter().for_each(|row| namespaces.record(&mut bytes, row));
        let file = crate::DataFile { prefix_map: namespaces.prefixes(), ..crate::DataFile::default() };
        assert_eq!(file.prefix_map, [("http://example.org/".to_owned(), 1), ("urn:".to_owned(), 2)]);
        let prefixes = Prefixes::of(&file, &crate::OpenOptions::default()).unwrap();
        let (mut at, mut triple) = (0, Triple::default());
        for row in rows {
            let left = (bytes.len() - at) as u64;
            let Step::Record(length) = decode(&bytes[at..], left, &prefixes, &mut triple).unwrap() else { panic!() };
            let datatype = triple.literal.then_some(triple.datatype.as_str());
            assert_eq!(Row { subject: &triple.subject, object: &triple.object, datatype }, row);
            at += length;
        }
        assert_eq!(at, bytes.len());
    }
}
