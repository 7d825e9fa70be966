//! Encodes triples as records: the choice of prefixes, and the bytes.
//!
//! Callers ensure that each text of a triple has less than 2^31 bytes, and end a file long before it has as many
//! namespaces.

#![expect(
    clippy::cast_possible_truncation,
    reason = "lengths and numbers of namespaces have 31 bits, as is said above"
)]

use std::collections::HashMap;

use isomorph_model::faces::Object;

use super::prefixes::{self, Tree};
use crate::term::Datatype;
use crate::triple::Triple;

/// Where a text is divided into namespace and local part; `None` for blank nodes and for texts without a namespace.
///
/// After the last `#` or `/`; if there is none, after the last colon.
fn split(text: &str) -> Option<(&str, &str)> {
    if text.starts_with("_:") {
        return None;
    }
    let bytes = text.as_bytes();
    let at = memchr::memrchr2(b'#', b'/', bytes).or_else(|| memchr::memrchr(b':', bytes))?;
    let (namespace, local) = text.split_at_checked(at + 1)?;
    namespace.contains(':').then_some((namespace, local))
}

/// A namespace of a file that is being written, by its number there: 0 if a text has none.
type Number = u32;

/// The namespaces of a file and how often each is used; at the end, the number by which records name it.
#[derive(Debug, Default)]
pub(super) struct Namespaces {
    numbers: HashMap<String, Number>,
    all: Vec<Namespace>,
    /// Longer prefixes, once they are chosen.
    tree: Tree,
    /// The last namespaces of subjects, objects and datatypes: they are usually used again.
    last: [Number; 3],
    /// Bytes of the texts.
    bytes: u64,
}

#[derive(Debug)]
struct Namespace {
    text: String,
    uses: u32,
    /// Its number in records; 0 if a prefix is not worthwhile.
    prefix: i32,
}

/// The kind of a prefix: a whole namespace, or one with the beginning of local names.
enum Prefix {
    Namespace(usize),
    Longer(usize),
}

/// Memory of a namespace in addition to its texts, in bytes.
const OVERHEAD: u64 = 120;

impl Namespaces {
    /// Memory that they take, in bytes.
    pub(super) fn memory(&self) -> u64 {
        2 * self.bytes + self.all.len() as u64 * OVERHEAD
    }

    fn get(&self, number: Number) -> Option<&Namespace> {
        self.all.get((number as usize).checked_sub(1)?)
    }

    /// Counts a use of a namespace at one of the three positions of terms.
    fn used(&mut self, text: &str, place: usize) -> Number {
        let last = self.last.get(place).copied().unwrap_or_default();
        let number = match self.get(last).filter(|namespace| namespace.text == text) {
            Some(_) => last,
            None => match self.numbers.get(text) {
                Some(number) => *number,
                None => {
                    self.all.push(Namespace { text: text.to_owned(), uses: 0, prefix: 0 });
                    self.bytes += text.len() as u64;
                    let number = self.all.len() as Number;
                    self.numbers.insert(text.to_owned(), number);
                    number
                }
            },
        };
        if let Some(namespace) = self.all.get_mut((number as usize).wrapping_sub(1)) {
            namespace.uses = namespace.uses.saturating_add(1);
        }
        if let Some(last) = self.last.get_mut(place) {
            *last = number;
        }
        number
    }

    fn draft_term(&mut self, out: &mut Vec<u8>, text: &str, place: usize) {
        let (number, local) = match split(text) {
            Some((namespace, local)) => (self.used(namespace, place), local),
            None => (0, text),
        };
        out.extend_from_slice(&number.to_le_bytes());
        sized(out, local);
    }

    /// Appends the draft of a record of a triple, whose parts are below 2^31 bytes: [`Namespaces::record`] makes a
    /// record from it when the prefixes are chosen.
    pub(super) fn draft(&mut self, out: &mut Vec<u8>, row: &Row<'_>) {
        self.draft_term(out, row.subject, 0);
        match row.datatype {
            None => {
                out.push(0);
                self.draft_term(out, row.object, 1);
            }
            Some(datatype) => {
                out.push(1);
                sized(out, row.object);
                self.draft_term(out, datatype, 2);
            }
        }
    }

    /// Gives prefixes, numbered from 1 on and in the order of their texts, to the namespaces that are used at least
    /// twice and to frequent beginnings of names in them, and returns them. `drafts` has this many records.
    pub(super) fn number(&mut self, drafts: &[u8], rows: u64) -> Vec<(String, i32)> {
        self.tree = Tree::choose(self.sample(drafts, rows), rows);
        let paying = self.all.iter().enumerate().filter(|(_, namespace)| namespace.uses >= 2);
        let mut paying: Vec<(String, Prefix)> =
            paying.map(|(at, namespace)| (namespace.text.clone(), Prefix::Namespace(at))).collect();
        for (number, text, handle) in self.tree.chosen() {
            if let (Some(namespace), Ok(text)) = (self.get(number), std::str::from_utf8(&text)) {
                paying.push((format!("{}{text}", namespace.text), Prefix::Longer(handle)));
            }
        }
        paying.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        let numbered = paying.into_iter().zip(1..).map(|((text, what), prefix)| {
            match what {
                Prefix::Namespace(at) => self.all.get_mut(at).into_iter().for_each(|own| own.prefix = prefix),
                Prefix::Longer(handle) => self.tree.number(handle, prefix),
            }
            (text, prefix)
        });
        numbered.collect()
    }

    /// Namespaces and local names of a sample of the records.
    fn sample<'d>(&self, drafts: &'d [u8], rows: u64) -> Vec<(Number, &'d str)> {
        if prefixes::memory(rows) == 0 {
            return Vec::new();
        }
        let step = prefixes::step(rows);
        let (mut draft, mut sample, mut row) = (Draft { bytes: drafts, at: 0 }, Vec::new(), 0u64);
        while draft.at < drafts.len() {
            let wanted = row.is_multiple_of(step);
            let mut term = |draft: &mut Draft<'d>| {
                let (number, local) = (draft.number(), draft.sized());
                if wanted && self.get(number).is_some_and(|namespace| namespace.uses >= 2) {
                    // Drafts are made from texts; invalid ones would only be missing from the sample.
                    sample.extend(std::str::from_utf8(local).ok().map(|local| (number, local)));
                }
            };
            term(&mut draft);
            if draft.take(1) == [1] {
                draft.sized();
            }
            term(&mut draft);
            row += 1;
        }
        sample
    }

    /// Appends the record for the draft at the start of `drafts`.
    pub(super) fn record<'d>(&'d self, out: &mut Vec<u8>, drafts: &'d [u8]) -> Record<'d> {
        let mut draft = Draft { bytes: drafts, at: 0 };
        let subject = self.term(out, &mut draft);
        let literal = draft.take(1) == [1];
        out.push(u8::from(literal));
        let object = if literal {
            let value = draft.sized();
            out.extend_from_slice(&(value.len() as u32).to_le_bytes());
            out.extend_from_slice(value);
            self.term(out, &mut draft);
            [&[][..], value]
        } else {
            self.term(out, &mut draft)
        };
        Record { subject, object, length: draft.at }
    }

    /// Appends a term and returns its namespace and the rest.
    fn term<'d>(&'d self, out: &mut Vec<u8>, draft: &mut Draft<'d>) -> [&'d [u8]; 2] {
        let number = draft.number();
        let (namespace, local) = (self.get(number), draft.sized());
        let text = namespace.map_or(&[][..], |namespace| namespace.text.as_bytes());
        let mut rest = local;
        match namespace {
            Some(Namespace { prefix: 0, .. }) => {
                out.extend_from_slice(&0i32.to_le_bytes());
                out.extend_from_slice(&((text.len() + local.len()) as u32).to_le_bytes());
                out.extend_from_slice(text);
            }
            known => {
                let mut prefix = known.map_or(0, |namespace| namespace.prefix);
                if let Some((longer, length)) = self.tree.longest(number, local) {
                    (prefix, rest) = (longer, local.get(length..).unwrap_or_default());
                }
                out.extend_from_slice(&prefix.to_le_bytes());
                out.extend_from_slice(&(rest.len() as u32).to_le_bytes());
            }
        }
        out.extend_from_slice(rest);
        [text, local]
    }
}

/// A record made from a draft: subject and object, each as a namespace and the rest, and the length of the draft in
/// bytes.
pub(super) struct Record<'d> {
    pub(super) subject: [&'d [u8]; 2],
    pub(super) object: [&'d [u8]; 2],
    pub(super) length: usize,
}

/// Reads what [`Namespaces::draft`] wrote.
struct Draft<'d> {
    bytes: &'d [u8],
    at: usize,
}

impl<'d> Draft<'d> {
    fn take(&mut self, length: usize) -> &'d [u8] {
        let start = self.at;
        self.at += length;
        self.bytes.get(start..self.at).unwrap_or_default()
    }

    fn number(&mut self) -> u32 {
        self.take(4).first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    fn sized(&mut self) -> &'d [u8] {
        let length = self.number();
        self.take(length as usize)
    }
}

fn sized(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

/// A triple of one predicate, borrowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row<'a> {
    pub(crate) subject: &'a str,
    pub(crate) object: &'a str,
    /// Datatype and language of a literal; empty for plain text.
    pub(crate) datatype: Option<&'a str>,
}

impl<'a> Row<'a> {
    /// The object in the form of the model.
    pub(super) fn as_object(&self) -> Object<'a> {
        match self.datatype {
            None => Object::Term(self.object),
            Some(datatype) => Datatype::of(datatype).literal(self.object),
        }
    }

    /// Bytes that it holds.
    pub(super) fn bytes(&self) -> usize {
        self.subject.len() + self.object.len() + self.datatype.map_or(0, str::len)
    }
}

impl<'a> From<&'a Triple> for Row<'a> {
    fn from(triple: &'a Triple) -> Self {
        let datatype = triple.literal.then_some(triple.datatype.as_str());
        Row { subject: &triple.subject, object: &triple.object, datatype }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;
    use crate::record::{Prefixes, Step, decode};

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
        let mut drafts = Vec::new();
        rows.iter().for_each(|row| namespaces.draft(&mut drafts, row));
        let prefix_map = namespaces.number(&drafts, rows.len() as u64);
        let (mut bytes, mut read) = (Vec::new(), 0);
        while read < drafts.len() {
            read += namespaces.record(&mut bytes, &drafts[read..]).length;
        }
        let file = crate::DataFile { prefix_map, ..crate::DataFile::default() };
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
