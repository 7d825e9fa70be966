//! A triple of one predicate, as texts, and the two orders.

use std::cmp::Ordering;

use isomorph_model::faces::Object;
use twox_hash::XxHash64;

use crate::read::Order;
use crate::term::Datatype;

/// Subject, object and kind of object, expanded. Allocated once and refilled.
#[derive(Debug, Clone, Default)]
pub(crate) struct Triple {
    pub(crate) subject: String,
    /// IRI, blank node or lexical form.
    pub(crate) object: String,
    pub(crate) literal: bool,
    /// Datatype and language of a literal; empty for plain text.
    pub(crate) datatype: String,
    /// The datatype as its record spells it, if that is another text: `xsd:string`, or a language in upper case.
    pub(crate) written: Option<String>,
    /// Whether its record has rdf:langString without a language, which is plain text and a violation.
    pub(crate) untagged: bool,
}

/// Triples are equal if they are the same triple, however their records spell them.
impl PartialEq for Triple {
    fn eq(&self, other: &Triple) -> bool {
        self.subject == other.subject && self.object_key() == other.object_key()
    }
}

impl Eq for Triple {}

impl Triple {
    /// The key of objects: their text, IRIs before literals, then the datatype.
    fn object_key(&self) -> (&[u8], bool, &[u8]) {
        (self.object.as_bytes(), self.literal, self.datatype.as_bytes())
    }

    pub(crate) fn compare(&self, other: &Triple, order: Order) -> Ordering {
        let subjects = || self.subject.as_bytes().cmp(other.subject.as_bytes());
        let objects = || self.object_key().cmp(&other.object_key());
        match order {
            Order::Subject => subjects().then_with(objects),
            Order::Object => objects().then_with(subjects),
        }
    }

    /// Whether it precedes another triple if datatypes are compared as records spell them: that is the order of the
    /// file, but not that of the triples.
    pub(crate) fn is_written_before(&self, other: &Triple, order: Order) -> bool {
        let datatypes = [self, other].map(|one| one.written.as_deref().unwrap_or(&one.datatype));
        let [own, others] = [self, other].map(|one| (one.object.as_str(), one.literal));
        let objects = || own.cmp(&others).then_with(|| datatypes[0].cmp(datatypes[1]));
        let subjects = || self.subject.cmp(&other.subject);
        match order {
            Order::Subject => subjects().then_with(objects),
            Order::Object => objects().then_with(subjects),
        }
        .is_lt()
    }

    /// The text that an order sorts by first.
    pub(crate) fn first(&self, order: Order) -> &str {
        match order {
            Order::Subject => &self.subject,
            Order::Object => &self.object,
        }
    }

    /// The object in the form of the model.
    pub(crate) fn as_object(&self) -> Object<'_> {
        if !self.literal {
            return Object::Term(&self.object);
        }
        Datatype::of(&self.datatype).literal(&self.object)
    }

    /// A hash that equal triples share in either order; `bytes` is a buffer.
    pub(crate) fn fingerprint(&self, bytes: &mut Vec<u8>) -> u64 {
        bytes.clear();
        // Lengths separate the texts.
        for text in [&self.subject, &self.object, &self.datatype] {
            bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        XxHash64::oneshot(u64::from(self.literal), bytes)
    }

    /// Bytes that it holds.
    pub(crate) fn bytes(&self) -> usize {
        let written = self.written.as_ref().map_or(0, String::len);
        self.subject.len() + self.object.len() + self.datatype.len() + written
    }
}
