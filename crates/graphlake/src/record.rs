//! Records: the bytes of one triple, with prefixes as numbers.

use std::sync::Arc;

use isomorph_error::{Error, Result};

use crate::options::{OpenOptions, Tolerance};
use crate::rules;
use crate::snapshot::DataFile;
use crate::term;
use crate::triple::Triple;

/// What the buffered bytes begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// A record of this length, in bytes.
    Record(usize),
    /// A record that needs at least this many bytes.
    Needs(usize),
}

/// Whether a file has the mark of the files that this crate writes.
pub(crate) fn is_marked(file: &DataFile) -> bool {
    file.sort_order.as_deref() == Some("codepoint")
}

/// The prefixes of one file, by their numbers.
#[derive(Debug, Clone)]
pub(crate) struct Prefixes {
    /// Ascending by number. If numbers are dense from 1 on, number n is at n − 1.
    sorted: Arc<[(i32, String)]>,
}

impl Prefixes {
    /// Returns the prefixes of a file, with the namespaces that the user gave for short ones.
    ///
    /// # Errors
    /// Returns an error if a prefix is not a namespace and the user gave none for it; [`rules::PREFIXES_CHANGED`].
    pub(crate) fn of(file: &DataFile, options: &OpenOptions) -> Result<Self> {
        let text = |prefix: &String| match options.namespaces.get(prefix) {
            Some(namespace) => Ok(namespace.clone()),
            None if prefix.contains(':') => Ok(prefix.clone()),
            None => Err(Error::broken(&rules::PREFIX_SHORT, format!("{prefix:?} is not a namespace"))
                .hint(format!("--ns {prefix}=http://…"))),
        };
        let mut named: Vec<(i32, &String)> = file.prefix_map.iter().map(|(prefix, id)| (*id, prefix)).collect();
        named.sort_unstable();
        // For files of other writers, prefix_map counts (R18). A writer that sets the mark of this crate writes both
        // lists alike: if they differ, one of them was changed, and each IRI with that prefix would be a different one.
        let is_strict = is_marked(file) && options.tolerance != Tolerance::Lenient;
        if is_strict && !named.iter().map(|(_, prefix)| *prefix).eq(&file.prefixes) {
            return Err(Error::broken(&rules::PREFIXES_CHANGED, "prefixes and prefix_map differ"));
        }
        let entries = named.into_iter().map(|(id, prefix)| Ok((id, text(prefix)?)));
        let sorted = entries.collect::<Result<Vec<(i32, String)>>>()?;
        Ok(Prefixes { sorted: sorted.into() })
    }

    fn get(&self, id: i32) -> Option<&str> {
        if id == 0 {
            return Some("");
        }
        let dense = id
            .checked_sub(1)
            .and_then(|at| usize::try_from(at).ok())
            .and_then(|at| self.sorted.get(at))
            .filter(|(found, _)| *found == id);
        let found = dense.or_else(|| self.sorted.get(self.sorted.binary_search_by_key(&id, |(id, _)| *id).ok()?));
        found.map(|(_, text)| text.as_str())
    }
}

/// Reads the record at the start of `bytes` into `triple`. The file has `left` bytes from there on, these included.
///
/// # Errors
/// [`rules::RECORD`]; lengths are checked against the size of the file before anything is read or kept.
pub(crate) fn decode(bytes: &[u8], left: u64, prefixes: &Prefixes, triple: &mut Triple) -> Result<Step> {
    let mut reader = Reader { bytes, left, at: 0 };
    let whole = reader.fields(prefixes, triple)?;
    Ok(if whole { Step::Record(reader.at) } else { Step::Needs(reader.at) })
}

struct Reader<'a> {
    bytes: &'a [u8],
    left: u64,
    at: usize,
}

fn broken(message: impl Into<String>) -> Error {
    Error::broken(&rules::RECORD, message)
}

impl<'a> Reader<'a> {
    /// Whether all fields are in the buffer; if not, `at` is the length that they need.
    fn fields(&mut self, prefixes: &Prefixes, triple: &mut Triple) -> Result<bool> {
        if !self.term(prefixes, &mut triple.subject)? {
            return Ok(false);
        }
        if triple.subject.is_empty() {
            return Err(broken("the subject is empty"));
        }
        let Some(kind) = self.take(1)? else { return Ok(false) };
        triple.literal = match kind {
            [0] => false,
            [1] => true,
            other => return Err(broken(format!("IsLiteral is {}, expected 0 or 1", other.first().unwrap_or(&0)))),
        };
        triple.datatype.clear();
        triple.untagged = false;
        triple.written = None;
        if !triple.literal {
            return self.term(prefixes, &mut triple.object);
        }
        let Some(value) = self.text()? else { return Ok(false) };
        triple.object.clear();
        triple.object.push_str(value);
        let whole = self.term(prefixes, &mut triple.datatype)?;
        triple.untagged = triple.datatype == term::LANG_STRING;
        triple.written = term::normalize(&mut triple.datatype);
        Ok(whole)
    }

    fn term(&mut self, prefixes: &Prefixes, out: &mut String) -> Result<bool> {
        let Some(id) = self.number()? else { return Ok(false) };
        let prefix = prefixes.get(id).ok_or_else(|| broken(format!("prefix {id} is not in prefix_map")))?;
        let Some(local) = self.text()? else { return Ok(false) };
        out.clear();
        out.push_str(prefix);
        out.push_str(local);
        Ok(true)
    }

    fn text(&mut self) -> Result<Option<&'a str>> {
        let Some(length) = self.number()? else { return Ok(None) };
        let length = usize::try_from(length).map_err(|_| broken(format!("invalid length {length}")))?;
        let Some(bytes) = self.take(length)? else { return Ok(None) };
        let text = std::str::from_utf8(bytes).map_err(|error| broken("a text is not UTF-8").caused_by(error))?;
        Ok(Some(text))
    }

    fn number(&mut self) -> Result<Option<i32>> {
        Ok(self.take(4)?.and_then(|bytes| bytes.try_into().ok()).map(i32::from_le_bytes))
    }

    /// Returns the next bytes, or `None` if they are in the file but not in the buffer.
    fn take(&mut self, length: usize) -> Result<Option<&'a [u8]>> {
        let start = self.at;
        self.at = start.checked_add(length).ok_or_else(|| broken("the length of a field overflows"))?;
        if self.at as u64 > self.left {
            let message = format!("a record needs {} bytes, but the file has {}", self.at, self.left);
            return Err(broken(message));
        }
        Ok(self.bytes.get(start..self.at))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// The worked examples of the resolutions.
    const EXAMPLES: &[(&[u8], &str, &str, Option<&str>)] = &[
        (
            b"\x01\0\0\0\x05\0\0\0alice\0\x01\0\0\0\x03\0\0\0bob",
            "http://example.org/alice",
            "http://example.org/bob",
            None,
        ),
        (
            b"\x01\0\0\0\x05\0\0\0alice\x01\x05\0\0\0Alice\0\0\0\0\0\0\0\0",
            "http://example.org/alice",
            "Alice",
            Some(""),
        ),
        (
            b"\x01\0\0\0\x05\0\0\0alice\x01\x02\0\0\x0042\x02\0\0\0\x07\0\0\0integer",
            "http://example.org/alice",
            "42",
            Some("http://www.w3.org/2001/XMLSchema#integer"),
        ),
        (
            b"\x01\0\0\0\x03\0\0\0bob\x01\x04\0\0\0B\xc3\xb3b\x03\0\0\0\x0d\0\0\0langString@pl",
            "http://example.org/bob",
            "Bób",
            Some("http://www.w3.org/1999/02/22-rdf-syntax-ns#langString@pl"),
        ),
        (b"\0\0\0\0\x04\0\0\0_:x1\0\x01\0\0\0\x05\0\0\0alice", "_:x1", "http://example.org/alice", None),
        (b"\x01\0\0\0\x05\0\0\0alice\x01\0\0\0\0\0\0\0\0\0\0\0\0", "http://example.org/alice", "", Some("")),
    ];

    fn prefixes() -> Prefixes {
        let names = ["http://example.org/", "http://www.w3.org/2001/XMLSchema#", term::RDF];
        Prefixes { sorted: (1..).zip(names.map(str::to_owned)).collect() }
    }

    #[test]
    fn the_worked_examples_are_read() {
        for (bytes, subject, object, datatype) in EXAMPLES {
            let mut triple = Triple::default();
            let step = decode(bytes, bytes.len() as u64, &prefixes(), &mut triple).unwrap();
            assert_eq!(step, Step::Record(bytes.len()));
            assert_eq!((triple.subject.as_str(), triple.object.as_str()), (*subject, *object));
            assert_eq!((triple.literal, triple.datatype.as_str()), (datatype.is_some(), datatype.unwrap_or_default()));
        }
    }

    #[test]
    fn every_cut_and_every_wrong_number_is_an_error_or_needs_more() {
        let mut triple = Triple::default();
        for (bytes, ..) in EXAMPLES {
            for end in 0..bytes.len() {
                // The file has more bytes: more are requested, but never more than the file has.
                let step = decode(&bytes[..end], bytes.len() as u64, &prefixes(), &mut triple).unwrap();
                assert!(matches!(step, Step::Needs(needed) if needed > end && needed <= bytes.len()));
                // The file ends here.
                assert!(decode(&bytes[..end], end as u64, &prefixes(), &mut triple).is_err());
            }
            for at in 0..bytes.len() {
                for value in [0xff, 0x7f, 0x80] {
                    let mut bytes = bytes.to_vec();
                    bytes[at] = value;
                    // No panic, and no length beyond the file.
                    let _ = decode(&bytes, bytes.len() as u64, &prefixes(), &mut triple);
                    assert!(triple.bytes() <= 3 * 64 + bytes.len());
                }
            }
        }
    }

    #[test]
    fn errors_are_named() {
        let mut triple = Triple::default();
        let mut fails =
            |bytes: &[u8]| decode(bytes, bytes.len() as u64, &prefixes(), &mut triple).unwrap_err().to_string();
        assert!(fails(b"\x09\0\0\0\x01\0\0\0a\0\0\0\0\0\x01\0\0\0b").contains("prefix 9"));
        assert!(fails(b"\xff\xff\xff\xff\x01\0\0\0a\0\0\0\0\0\x01\0\0\0b").contains("prefix -1"));
        assert!(fails(b"\0\0\0\0\xff\xff\xff\xffa\0\0\0\0\0\x01\0\0\0b").contains("invalid length -1"));
        assert!(fails(b"\0\0\0\0\x01\0\0\0a\x02\0\0\0\0\x01\0\0\0b").contains("IsLiteral is 2"));
        assert!(fails(b"\0\0\0\0\x01\0\0\0\xff\0\0\0\0\0\x01\0\0\0b").contains("UTF-8"));
        assert!(fails(b"\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0b").contains("subject is empty"));
        assert!(fails(b"\0\0\0\0\xff\xff\xff\x7fa").contains("the file has 9"));
    }
}
