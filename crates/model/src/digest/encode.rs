//! Encodes values as bytes: equal values of one family have equal bytes, whatever their width or encoding.
//!
//! A value is a tag and what follows it. Parts of variable length that do not come last are preceded by their length. The
//! table of tags is part of the definition in `docs/model.md`.

use isomorph_error::Result;
use xxhash_rust::xxh3::xxh3_128;

use crate::xsd;

/// The byte before each value, so that values of different families never have the same bytes.
#[repr(u8)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    Bool = 1,
    Integer = 2,
    Float = 3,
    Decimal = 4,
    Text = 5,
    Bytes = 6,
    Date = 7,
    Time = 8,
    Instant = 9,
    Local = 10,
    Duration = 11,
    List = 12,
    Set = 13,
    Struct = 14,
    JsonNull = 15,
    JsonArray = 16,
    JsonObject = 17,
    JsonNumber = 18,
    Literal = 19,
    Term = 20,
    Tensor = 21,
    SparseTensor = 22,
    Raw = 23,
    Null = 24,
}

/// The bytes of a value that is being encoded, and scratch space, so that nothing is allocated per value.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    pub bytes: Vec<u8>,
    /// Hashes of the items of the open sets, the innermost last.
    hashes: Vec<u128>,
    /// Members of the open JSON objects, the innermost last.
    pub members: Vec<Member>,
    pub repeats: Vec<u64>,
    pub text: String,
}

/// Returns the bits of a float; all NaNs have the same bits.
pub(super) fn float_bits(value: f64) -> u64 {
    if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() }
}

/// A member of a JSON object that is being encoded.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub hash: u64,
    /// The start of its name in the buffer.
    pub start: usize,
    /// The end of its name, where its value including the length starts.
    pub middle: usize,
    pub end: usize,
}

impl Buffer {
    /// Returns the hash of everything in the buffer.
    pub fn hash(&self) -> u128 {
        xxh3_128(&self.bytes)
    }

    /// Starts a fact with its parts of fixed length: a stem, an owner.
    pub fn begin<const N: usize>(&mut self, parts: [u128; N]) {
        self.bytes.clear();
        parts.into_iter().for_each(|part| self.hashed(part));
    }

    pub fn tag(&mut self, tag: Tag) {
        self.bytes.push(tag as u8);
    }

    pub fn number(&mut self, number: u64) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    pub fn hashed(&mut self, hash: u128) {
        self.bytes.extend_from_slice(&hash.to_le_bytes());
    }

    /// Appends what `write` appends, preceded by its length.
    pub fn sized(&mut self, write: impl FnOnce(&mut Buffer) -> Result<()>) -> Result<()> {
        let start = self.bytes.len();
        self.number(0);
        write(self)?;
        let len = (self.bytes.len() - start - 8) as u64;
        if let Some(slot) = self.bytes.get_mut(start..start + 8) {
            slot.copy_from_slice(&len.to_le_bytes());
        }
        Ok(())
    }

    /// Appends bytes, preceded by their length.
    pub fn sized_bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends an item of a list, a struct or a set, with its length; null if `write` returns false.
    pub fn item(&mut self, write: impl FnOnce(&mut Buffer) -> Result<bool>) -> Result<()> {
        self.sized(|buffer| {
            if !write(buffer)? {
                buffer.tag(Tag::Null);
            }
            Ok(())
        })
    }

    pub fn bool(&mut self, value: bool) {
        self.bytes.extend_from_slice(&[Tag::Bool as u8, value.into()]);
    }

    /// Appends an integer: 8 bytes if it fits an `i64`, otherwise 16.
    pub fn integer(&mut self, value: i128) {
        self.tag(Tag::Integer);
        match i64::try_from(value) {
            Ok(small) => self.bytes.extend_from_slice(&small.to_le_bytes()),
            Err(_) => self.bytes.extend_from_slice(&value.to_le_bytes()),
        }
    }

    /// Appends a float: its bits as `f64`; all NaNs are equal.
    pub fn float(&mut self, value: f64) {
        self.tag(Tag::Float);
        self.number(float_bits(value));
    }

    /// Appends a tag, and bytes up to the end of the value.
    pub fn tail(&mut self, tag: Tag, bytes: &[u8]) {
        self.tag(tag);
        self.bytes.extend_from_slice(bytes);
    }

    pub fn text(&mut self, text: &str) {
        self.tail(Tag::Text, text.as_bytes());
    }

    /// Appends the values of a set, which may be in any order and repeated.
    pub fn set(&mut self, items: usize, mut item: impl FnMut(usize, &mut Buffer) -> Result<bool>) -> Result<()> {
        let (base, end) = (self.hashes.len(), self.bytes.len());
        for at in 0..items {
            if !item(at, self)? {
                self.tag(Tag::Null);
            }
            let hash = xxh3_128(self.bytes.get(end..).unwrap_or_default());
            self.bytes.truncate(end);
            self.hashes.push(hash);
        }
        let hashes = self.hashes.get_mut(base..).unwrap_or_default();
        hashes.sort_unstable();
        let (mut count, mut sum, mut last) = (0u64, 0u128, None);
        for &mut hash in hashes {
            if last.replace(hash) != Some(hash) {
                count += 1;
                sum = sum.wrapping_add(hash);
            }
        }
        self.hashes.truncate(base);
        self.tag(Tag::Set);
        self.number(count);
        self.hashed(sum);
        Ok(())
    }

    /// Appends an RDF literal. A literal that is the canonical form of a plain value is encoded as that value.
    pub fn literal(&mut self, literal: &Literal<'_>) {
        if literal.language.is_none() && literal.direction.is_none() {
            match xsd::read(literal.datatype, literal.lexical) {
                Some(xsd::Scalar::Text) => return self.text(literal.lexical),
                Some(xsd::Scalar::Bool(value)) => return self.bool(value),
                Some(xsd::Scalar::Integer(value)) => return self.integer(value),
                Some(xsd::Scalar::Float(value)) => return self.float(value),
                None => {}
            }
        }
        self.tag(Tag::Literal);
        // The datatype of a literal with a language is implied.
        self.sized_bytes(if literal.language.is_some() { b"" } else { literal.datatype.as_bytes() });
        let language = literal.language.unwrap_or_default();
        self.number(language.len() as u64);
        self.bytes.extend(language.bytes().map(|byte| byte.to_ascii_lowercase()));
        self.sized_bytes(literal.direction.unwrap_or_default().as_bytes());
        self.bytes.extend_from_slice(literal.lexical.as_bytes());
    }
}

/// An RDF literal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Literal<'a> {
    pub lexical: &'a str,
    pub datatype: &'a str,
    pub language: Option<&'a str>,
    pub direction: Option<&'a str>,
}
