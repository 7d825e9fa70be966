//! Ids of triples, by which statements can refer to a triple.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use isomorph_error::Error;
use isomorph_model::faces::Object;
use sha2::{Digest, Sha256};

use isomorph_model::ntriples::{push_object, push_term, push_triple};

/// The id of a triple: the SHA-256 of its line of canonical N-Triples, line feed included. The graph is not part of it.
///
/// Blank nodes are included by their labels, so ids of triples with blank nodes are only meaningful within one store.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TripleId(pub [u8; 32]);

impl TripleId {
    /// Returns the id of a triple of canonical terms (see [`isomorph_model::term`]).
    pub fn of(subject: &str, predicate: &str, object: &Object<'_>) -> Self {
        TripleId::with(&mut String::new(), subject, predicate, object)
    }

    /// The same, with a buffer for the line.
    pub(crate) fn with(line: &mut String, subject: &str, predicate: &str, object: &Object<'_>) -> Self {
        line.clear();
        push_triple(line, subject, predicate, object);
        TripleId::of_line(line)
    }

    /// The same for a triple whose line is written up to its full stop.
    fn of_line(line: &mut String) -> Self {
        line.push_str(".\n");
        TripleId(Sha256::digest(line.as_bytes()).into())
    }

    /// The IRI that is written for the triple (R32).
    pub fn iri(&self) -> String {
        let mut iri = String::with_capacity(URN.len() + 2 * self.0.len());
        iri.push_str(URN);
        self.push_hex(&mut iri);
        iri
    }

    /// Appends its digits. Called for each quoted triple, so digits are written without formatting.
    fn push_hex(&self, out: &mut String) {
        let digit = |half: u8| if half < 10 { b'0' + half } else { b'a' - 10 + half };
        let mut digits = [0; 2 * 32];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.0) {
            pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
        }
        out.push_str(std::str::from_utf8(&digits).unwrap_or_default());
    }

    /// The other IRI that foreign stores use for it: a name of RFC 6920, without an authority.
    pub fn ni(&self) -> String {
        format!("{NI}{}", URL_SAFE_NO_PAD.encode(self.0))
    }

    /// Returns the id that a term of a store represents, if the term is one of the two IRIs.
    ///
    /// Each id has one IRI of each kind: digits are lower case, and a name has neither an authority nor a query. RFC
    /// 6920 ignores both in comparisons, but they say where the content can be found, which would be lost if such a
    /// term were read as the triple.
    pub fn of_term(iri: &str) -> Option<Self> {
        match iri.strip_prefix(URN) {
            Some(hex) => TripleId::of_digits(hex, &LOWER),
            None => TripleId::of_base64(iri.strip_prefix(NI)?),
        }
    }

    /// Parses an id that a user gives, in any of the forms of [`TripleId::from_str`].
    pub(crate) fn given(text: &str) -> Option<Self> {
        let Some(name) = text.strip_prefix("ni://") else {
            return TripleId::of_hex(text.strip_prefix(URN).unwrap_or(text));
        };
        let (authority, value) = name.split_once("/sha-256;")?;
        let (value, _query) = value.split_once('?').unwrap_or((value, ""));
        if authority.contains(['/', '?']) { None } else { TripleId::of_base64(value) }
    }

    /// Parses digits of either case.
    fn of_hex(hex: &str) -> Option<Self> {
        TripleId::of_digits(hex, &ANY_CASE)
    }

    /// Parses digits with these values. Called for each term that may be an id, so a wrong digit is noticed at the end.
    fn of_digits(hex: &str, values: &[u8; 256]) -> Option<Self> {
        let hex: &[u8; 64] = hex.as_bytes().try_into().ok()?;
        let (mut id, mut wrong) = ([0; 32], 0);
        for (byte, pair) in id.iter_mut().zip(hex.as_chunks::<2>().0) {
            let [high, low] = pair.map(|digit| values[usize::from(digit)]);
            wrong |= high | low;
            *byte = high << 4 | low & 15;
        }
        (wrong < 16).then_some(TripleId(id))
    }

    fn of_base64(text: &str) -> Option<Self> {
        // Capacity for as many bytes as the length of the text suggests.
        let mut bytes = [0; 33];
        if text.len() != 43 || URL_SAFE_NO_PAD.decode_slice(text, &mut bytes).ok()? != 32 {
            return None;
        }
        bytes.first_chunk().copied().map(TripleId)
    }
}

/// The values of hexadecimal digits, by byte; 255 for all other bytes.
const fn values(upper: bool) -> [u8; 256] {
    let mut values = [u8::MAX; 256];
    let mut value = 0;
    while value < 16 {
        values[b"0123456789abcdef"[value as usize] as usize] = value;
        if upper {
            values[b"0123456789ABCDEF"[value as usize] as usize] = value;
        }
        value += 1;
    }
    values
}

/// Those of lower case, and of either case.
const LOWER: [u8; 256] = values(false);
const ANY_CASE: [u8; 256] = values(true);

/// Makes the ids of triples of one predicate, which often have the same subject.
pub(crate) struct Identifier {
    predicate: String,
    line: String,
    /// The end of subject and predicate in the line.
    start: usize,
}

impl Identifier {
    pub(crate) fn new(predicate: &str) -> Self {
        let mut text = String::from(" ");
        push_term(&mut text, predicate);
        text.push(' ');
        Identifier { predicate: text, line: String::new(), start: 0 }
    }

    /// The id of the triple with this object. `subject` is `None` if it is that of the call before.
    pub(crate) fn id(&mut self, subject: Option<&str>, object: &Object<'_>) -> TripleId {
        match subject {
            None => self.line.truncate(self.start),
            Some(subject) => {
                self.line.clear();
                push_term(&mut self.line, subject);
                self.line.push_str(&self.predicate);
                self.start = self.line.len();
            }
        }
        push_object(&mut self.line, object);
        self.line.push(' ');
        TripleId::of_line(&mut self.line)
    }
}

/// How IRIs of ids begin.
const URN: &str = "urn:triple:sha256:";

/// The same for names of RFC 6920.
const NI: &str = "ni:///sha-256;";

impl fmt::Display for TripleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits = String::with_capacity(2 * self.0.len());
        self.push_hex(&mut digits);
        f.write_str(&digits)
    }
}

impl fmt::Debug for TripleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TripleId({self})")
    }
}

/// Parses an id that a user gives: 64 hexadecimal digits of either case, optionally after `urn:triple:sha256:`, or a
/// name of RFC 6920, whose authority and query are ignored.
impl FromStr for TripleId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        TripleId::given(text).ok_or_else(|| {
            Error::usage(format!("{:?} is not the id of a triple", crate::cursor::shown(text)))
                .hint("expected 64 hexadecimal digits, urn:triple:sha256:<64 digits>, or ni:///sha-256;<43 characters of Base64>")
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// The test vector of R31.
    const HEX: &str = "bea6dbc5d93a3b69e7111bc2188c91db89606697db912846098af9d89fa98843";

    #[test]
    fn ids_of_a_predicate_are_those_of_its_triples() {
        let objects = [
            Object::Term("urn:o"),
            Object::Term("_:o"),
            Object::plain("5", "http://www.w3.org/2001/XMLSchema#integer"),
            Object::Literal { lexical: "a\n\"", datatype: "", language: Some("EN"), direction: Some("ltr") },
        ];
        for predicate in ["urn:p", "urn:p<q>"] {
            let mut ids = Identifier::new(predicate);
            for subject in ["urn:s", "_:longer", "urn:<", "urn:s"] {
                for (at, object) in objects.iter().enumerate() {
                    let id = ids.id((at == 0).then_some(subject), object);
                    assert_eq!(id, TripleId::of(subject, predicate, object), "{subject} {predicate} {object:?}");
                }
            }
        }
    }

    #[test]
    fn ids_are_given_in_three_ways_and_stand_in_two() {
        let id = TripleId::of("http://example.org/s", "http://example.org/p", &Object::Term("http://example.org/o"));
        assert_eq!((id.to_string().as_str(), id.iri()), (HEX, format!("urn:triple:sha256:{HEX}")));
        // printf '%s' HEX | xxd -r -p | basenc --base64url, without its padding.
        assert_eq!(id.ni(), "ni:///sha-256;vqbbxdk6O2nnERvCGIyR24lgZpfbkShGCYr52J-piEM");
        let ni = id.ni();
        let far = ni.replace("ni:///", "ni://example.org/") + "?ct=text";
        for given in [HEX, &HEX.to_uppercase(), &id.iri(), &ni, &far] {
            assert_eq!(given.parse::<TripleId>().unwrap(), id, "{given}");
        }
        for term in [&id.iri(), &ni] {
            assert_eq!(TripleId::of_term(term), Some(id), "{term}");
        }
        for other in [HEX, &id.iri().replace("bea6", "BEA6"), &far, "urn:triple:sha256:", "ni:///sha-256;"] {
            assert_eq!(TripleId::of_term(other), None, "{other}");
        }
    }

    #[test]
    fn what_is_no_id_is_refused() {
        let ni = TripleId([7; 32]).ni();
        let padded = format!("{ni}=");
        // The last character has two bits that no id uses.
        let loose = format!("{}d", ni.strip_suffix('c').unwrap());
        let (short, other) = (&ni[..ni.len() - 1], ni.replace("sha-256", "sha-512"));
        let wide = format!("{}é", &HEX[..62]);
        let signed = format!("+{}", &HEX[1..]);
        for text in [
            "",
            "x",
            &HEX[1..],
            &padded,
            &loose,
            short,
            &other,
            &wide,
            &signed,
            "ni://",
            "ni:///sha-256;",
            &format!("ni://?{}", &ni[5..]),
        ] {
            assert!(text.parse::<TripleId>().is_err(), "{text}");
            assert_eq!(TripleId::of_term(text), None, "{text}");
        }
    }
}
