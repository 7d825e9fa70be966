//! Ids of triples: what makes a triple a thing that can be spoken about.

use std::fmt;
use std::str::FromStr;

use isomorph_error::Error;
use isomorph_model::faces::Object;
use sha2::{Digest, Sha256};

use isomorph_model::ntriples::push_triple;

/// The id of a triple: the SHA-256 of its line of canonical N-Triples, line feed included. The graph is no part of it.
///
/// Blank nodes enter by their labels, so that ids of triples with blank nodes mean something in one store only.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TripleId(pub [u8; 32]);

impl TripleId {
    /// The id of a triple of canonical terms (see [`isomorph_model::term`]).
    pub fn of(subject: &str, predicate: &str, object: &Object<'_>) -> Self {
        TripleId::with(&mut String::new(), subject, predicate, object)
    }

    /// The same with a buffer for the line.
    pub(crate) fn with(line: &mut String, subject: &str, predicate: &str, object: &Object<'_>) -> Self {
        line.clear();
        push_triple(line, subject, predicate, object);
        line.push_str(".\n");
        TripleId(Sha256::digest(line.as_bytes()).into())
    }
}

impl fmt::Display for TripleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Each quoted triple is named so: digit by digit, not number by number.
        let digit = |half: u8| char::from(if half < 10 { b'0' + half } else { b'a' - 10 + half });
        let digits: String = self.0.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect();
        f.write_str(&digits)
    }
}

impl fmt::Debug for TripleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TripleId({self})")
    }
}

impl FromStr for TripleId {
    type Err = Error;

    fn from_str(hex: &str) -> Result<Self, Error> {
        let digit = |byte: u8| char::from(byte).to_digit(16).filter(|_| !byte.is_ascii_uppercase());
        let mut id = [0; 32];
        let sound = hex.len() == 64
            && id.iter_mut().zip(hex.as_bytes().chunks(2)).all(|(byte, pair)| match (digit(pair[0]), digit(pair[1])) {
                (Some(high), Some(low)) => {
                    *byte = (high * 16 + low) as u8;
                    true
                }
                _ => false,
            });
        if sound { Ok(TripleId(id)) } else { Err(Error::usage("the id of a triple has 64 hexadecimal digits")) }
    }
}
