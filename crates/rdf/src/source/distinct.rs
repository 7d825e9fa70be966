//! Finds duplicate quads in a text: a graph has each quad once.

use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write;

use isomorph_error::{Error, Result};
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::{Budget, Reservation, Scratch, ScratchFile, parallel};

/// Hashes are partitioned by their first byte.
const PARTS: usize = 256;

/// Number of hashes of a partition that are collected before they are written, and the size of each in bytes.
const AT_ONCE: usize = 4 << 10;
const WIDTH: usize = size_of::<Entry>();

/// Size of a set for one hash, in bytes.
const EACH: u64 = 48;

/// Size of a position, in bytes.
const PLACE: u64 = size_of::<u64>() as u64;

/// Stands for an unknown position.
pub(super) const UNKNOWN: u64 = u64::MAX;

/// The two halves of a hash, and the position of its quad.
type Entry = [u64; 3];

fn hash_of([high, low, _]: &Entry) -> u128 {
    u128::from(*high) << 64 | u128::from(*low)
}

/// Hashes quads with two random keys, so that nobody can construct two quads with the same hash.
#[derive(Clone, Default)]
pub(super) struct Keys(RandomState, RandomState);

impl Keys {
    /// The hash of a quad, whose parts are copied to `buffer`: hashing one long text is much faster than hashing many
    /// short ones.
    pub(super) fn hash(&self, quad: &Quad<'_>, buffer: &mut Vec<u8>) -> u128 {
        buffer.clear();
        let mut part = |text: Option<&str>| {
            // A missing text is marked by a length that no text has.
            buffer.extend_from_slice(&text.map_or(u64::MAX, |text| text.len() as u64).to_le_bytes());
            buffer.extend_from_slice(text.unwrap_or_default().as_bytes());
        };
        [Some(quad.subject), Some(quad.predicate), quad.graph].into_iter().for_each(&mut part);
        match quad.object {
            Object::Term(term) => part(Some(term)),
            Object::Literal { lexical, datatype, language, direction } => {
                [Some(lexical), Some(datatype), language, direction].into_iter().for_each(part);
            }
        }
        let of = |keys: &RandomState| {
            let mut hasher = keys.build_hasher();
            hasher.write(buffer);
            hasher.finish()
        };
        u128::from(of(&self.0)) << 64 | u128::from(of(&self.1))
    }
}

/// Collects the hashes of all quads and their positions, 24 bytes each: in memory, then in temporary files.
pub(super) struct Gather {
    keys: Keys,
    parts: Vec<Vec<Entry>>,
    files: Vec<ScratchFile>,
    memory: Reservation,
    /// Number of hashes for which memory was reserved, and number of hashes in it.
    room: u64,
    held: u64,
    scratch: Option<Scratch>,
    budget: Budget,
}

impl Gather {
    pub(super) fn new(budget: &Budget, scratch: Option<&Scratch>) -> Result<Self> {
        Ok(Gather {
            keys: Keys::default(),
            parts: vec![Vec::new(); PARTS],
            files: Vec::new(),
            memory: budget.reserve(0)?,
            room: 0,
            held: 0,
            scratch: scratch.cloned(),
            budget: budget.clone(),
        })
    }

    /// The keys of the hashes.
    pub(super) fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Adds the hash of a quad and its position: a number that is higher for later quads, or [`UNKNOWN`].
    #[expect(clippy::cast_possible_truncation, reason = "the two halves of the hash")]
    pub(super) fn push(&mut self, hash: u128, position: u64) -> Result<()> {
        if self.held == self.room {
            // Vectors double, so up to half of their memory may be unused.
            let more = (PARTS * AT_ONCE) as u64;
            let may = self.budget.available() / 4 > more * WIDTH as u64 * 2;
            if may && self.memory.try_grow(more * WIDTH as u64 * 2) {
                self.room += more;
            } else if self.room == 0 {
                let least = self.budget.limit() / 64;
                self.memory.grow(least)?;
                self.room = (least / (WIDTH as u64 * 2)).max(1);
            } else {
                self.spill()?;
            }
        }
        let part = (hash >> 120) as usize;
        if let Some(part) = self.parts.get_mut(part) {
            part.push([(hash >> 64) as u64, hash as u64, position]);
        }
        self.held += 1;
        Ok(())
    }

    fn spill(&mut self) -> Result<()> {
        if self.files.is_empty() {
            let scratch = self.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?;
            self.files = (0..PARTS).map(|_| scratch.create()).collect::<Result<_>>()?;
        }
        for (part, file) in self.parts.iter_mut().zip(&mut self.files) {
            let bytes: Vec<u8> = part.iter().flatten().flat_map(|number| number.to_le_bytes()).collect();
            file.write_all(&bytes)?;
            part.clear();
        }
        self.held = 0;
        Ok(())
    }

    /// Finds the hashes that occur more than once, on this number of threads.
    pub(super) fn finish(mut self, threads: usize) -> Result<Distinct> {
        let mut distinct = Distinct {
            keys: self.keys.clone(),
            repeated: HashSet::new(),
            surplus: 0,
            again: Some(Vec::new()),
            memory: self.budget.reserve(0)?,
        };
        if !self.files.is_empty() {
            self.spill()?;
            self.parts.iter_mut().for_each(|part| *part = Vec::new());
            self.memory.shrink(self.memory.bytes());
        }
        let parts = std::mem::take(&mut self.parts);
        if self.files.is_empty() {
            let repeated = parallel::map(threads, parts, |mut entries| {
                entries.sort_unstable();
                repeated(&entries).flatten().copied().collect::<Vec<Entry>>()
            });
            repeated.iter().try_for_each(|entries| distinct.add(entries))?;
        }
        for file in &self.files {
            let mut memory = self.budget.reserve(0)?;
            memory.grow(file.size().saturating_mul(2))?;
            let bytes = file.read_at(0..file.size())?;
            // Chunks have the size of an entry, so none is missed.
            let number = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
            let entries = bytes.as_chunks::<8>().0.as_chunks::<3>().0;
            let mut entries: Vec<Entry> = entries.iter().map(|entry| entry.each_ref().map(number)).collect();
            entries.sort_unstable();
            distinct.add(&entries)?;
        }
        if let Some(again) = &mut distinct.again {
            again.sort_unstable();
        }
        Ok(distinct)
    }
}

/// The entries of each hash that occurs more than once, in the order of positions.
fn repeated(sorted: &[Entry]) -> impl Iterator<Item = &[Entry]> {
    sorted.chunk_by(|one, other| one[..2] == other[..2]).filter(|same| same.len() > 1)
}

/// The quads that occur more than once.
pub(super) struct Distinct {
    keys: Keys,
    repeated: HashSet<u128>,
    surplus: u64,
    /// Positions of quads that are duplicates of earlier ones, ascending; `None` if one is unknown.
    again: Option<Vec<u64>>,
    memory: Reservation,
}

impl Distinct {
    /// Adds the sorted entries of some hashes.
    fn add(&mut self, entries: &[Entry]) -> Result<()> {
        for same in repeated(entries) {
            self.surplus += same.len() as u64 - 1;
            self.memory.grow(EACH)?;
            self.repeated.extend(same.first().map(hash_of));
            let mut positions = same.iter().map(|[.., position]| *position);
            let is_known = positions.clone().all(|position| position != UNKNOWN);
            match &mut self.again {
                Some(again) if is_known && self.memory.try_grow(PLACE * (same.len() as u64 - 1)) => {
                    positions.next();
                    again.extend(positions);
                }
                again => *again = None,
            }
        }
        Ok(())
    }

    /// The positions of quads that are duplicates of earlier ones, ascending; `None` if one is unknown.
    pub(super) fn again(&self) -> Option<&[u64]> {
        self.again.as_deref()
    }

    /// Number of quads that are duplicates of earlier ones.
    pub(super) fn surplus(&self) -> u64 {
        self.surplus
    }

    /// Determines for each quad in a pass over the text whether it is the first of its kind.
    pub(super) fn once(&self, budget: &Budget) -> Result<Once<'_>> {
        let memory = budget.reserve(self.repeated.len() as u64 * EACH).map_err(|error| too_many(error, self))?;
        Ok(Once { distinct: self, seen: HashSet::new(), buffer: Vec::new(), _memory: memory })
    }
}

fn too_many(error: Error, distinct: &Distinct) -> Error {
    let many = distinct.repeated.len();
    error.hint(format!("{many} statements are duplicated: sort -u removes duplicate lines"))
}

/// One pass over a text.
pub(super) struct Once<'d> {
    distinct: &'d Distinct,
    seen: HashSet<u128>,
    buffer: Vec<u8>,
    _memory: Reservation,
}

impl Once<'_> {
    pub(super) fn is_new(&mut self, quad: &Quad<'_>) -> bool {
        if self.distinct.repeated.is_empty() {
            return true;
        }
        let hash = self.distinct.keys.hash(quad, &mut self.buffer);
        !self.distinct.repeated.contains(&hash) || self.seen.insert(hash)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A number of quads of which every third occurs again later, with this budget.
    fn surplus(count: u64, budget: u64) -> (u64, u64) {
        let numbered: Vec<u64> = (0..count.div_ceil(3)).map(|number| count + number).collect();
        let budget = Budget::new(budget);
        let mut gather = Gather::new(&budget, None).unwrap();
        let subjects: Vec<String> = (0..count).map(|n| format!("urn:s{n}")).collect();
        let again = subjects.iter().step_by(3);
        let all: Vec<&String> = subjects.iter().chain(again).collect();
        let quad = |subject| Quad { subject, predicate: "urn:p", object: Object::Term("urn:o"), graph: None };
        let keys = gather.keys().clone();
        // In another order than that of their positions.
        for (position, subject) in all.iter().enumerate().rev() {
            gather.push(keys.hash(&quad(subject), &mut Vec::new()), position as u64).unwrap();
        }
        let distinct = gather.finish(2).unwrap();
        assert_eq!(distinct.again(), Some(numbered.as_slice()));
        let mut once = distinct.once(&budget).unwrap();
        (distinct.surplus(), all.iter().filter(|subject| once.is_new(&quad(subject))).count() as u64)
    }

    #[test]
    fn repeats_are_found_in_memory_and_beyond() {
        assert_eq!(surplus(0, 1 << 30), (0, 0));
        assert_eq!(surplus(10_000, 1 << 30), (3_334, 10_000));
        // So little memory that hashes go to files.
        assert_eq!(surplus(10_000, 2 << 20), (3_334, 10_000));
    }

    #[test]
    fn quads_that_differ_are_not_taken_for_one() {
        let mut gather = Gather::new(&Budget::default(), None).unwrap();
        let term = Object::Term("x");
        let quad = Quad { subject: "a", predicate: "b", object: term, graph: None };
        let others = [
            Quad { object: Object::plain("x", ""), ..quad },
            Quad { object: Object::plain("x", "d"), ..quad },
            Quad { graph: Some(""), ..quad },
            Quad { graph: Some("x"), ..quad },
            Quad { subject: "ab", predicate: "", ..quad },
            quad,
        ];
        let keys = gather.keys().clone();
        others.iter().for_each(|quad| gather.push(keys.hash(quad, &mut Vec::new()), UNKNOWN).unwrap());
        assert_eq!(gather.finish(1).unwrap().surplus(), 0);
    }
}
