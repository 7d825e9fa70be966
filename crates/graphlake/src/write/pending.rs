//! The last triples of a thread, whose terms are looked up together.

use super::intern::Interner;
use super::run::Row;

/// Triples whose terms are looked up together.
const ROWS: usize = 128;

/// Maximum bytes of texts that are gathered.
const BYTES: usize = 256 << 10;

/// Triples whose terms have no numbers yet. In a large table of terms nearly each look-up waits for memory; if many
/// look-ups are made together, the machine waits for several at the same time.
#[derive(Default)]
pub(super) struct Pending {
    texts: Vec<u8>,
    terms: Vec<Term>,
    /// Partition, and positions of subject and object in `terms`.
    rows: Vec<Row>,
    ids: Vec<u32>,
    /// The previous subject: triples of one subject are usually adjacent.
    subject: Option<u32>,
}

struct Term {
    hash: u32,
    tag: u32,
    start: usize,
    end: usize,
}

impl Pending {
    /// Number of terms.
    pub(super) fn terms(&self) -> usize {
        self.terms.len()
    }

    /// Number of triples.
    pub(super) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Bytes of the texts of all terms.
    pub(super) fn text_bytes(&self) -> usize {
        self.texts.len()
    }

    /// Whether it is time to [settle](Pending::settle).
    pub(super) fn is_full(&self) -> bool {
        self.rows.len() >= ROWS || self.texts.len() >= BYTES
    }

    /// The position of the previous subject, if this is the same.
    pub(super) fn subject(&self, text: &str) -> Option<u32> {
        self.subject.filter(|place| {
            let term = self.terms.get(*place as usize);
            term.and_then(|term| self.texts.get(term.start..term.end)) == Some(text.as_bytes())
        })
    }

    /// Takes a term and returns its position.
    #[expect(clippy::cast_possible_truncation, reason = "few are gathered")]
    pub(super) fn term(&mut self, all: &Interner, tag: u32, text: &str) -> u32 {
        let start = self.texts.len();
        self.texts.extend_from_slice(text.as_bytes());
        self.terms.push(Term { hash: all.hash(tag, text.as_bytes()), tag, start, end: self.texts.len() });
        self.terms.len() as u32 - 1
    }

    /// Takes a triple: its partition, and the positions of its terms.
    pub(super) fn row(&mut self, partition: u32, subject: u32, object: u32) {
        self.rows.push([partition, subject, object]);
        self.subject = Some(subject);
    }

    /// Gives all terms numbers, and the triples to `rows`.
    pub(super) fn settle(&mut self, all: &mut Interner, rows: &mut Vec<Row>) {
        std::hint::black_box(all.touch(self.terms.iter().map(|term| term.hash)));
        self.ids.clear();
        for term in &self.terms {
            let text = self.texts.get(term.start..term.end).unwrap_or_default();
            self.ids.push(all.intern_hashed(term.hash, term.tag, text));
        }
        let id = |place: u32| self.ids.get(place as usize).copied().unwrap_or_default();
        rows.extend(self.rows.iter().map(|&[partition, subject, object]| [partition, id(subject), id(object)]));
        self.texts.clear();
        self.terms.clear();
        self.rows.clear();
        self.subject = None;
    }
}
