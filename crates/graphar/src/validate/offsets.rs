//! Validation of the offsets of one part against its edges, in a single pass over both.

use arrow_buffer::ScalarBuffer;
use arrow_schema::DataType;
use isomorph_error::{Findings, Place, Result};
use isomorph_storage::Root;
use isomorph_tables::{Batches, Encoding};

use super::chunks::{embedded, everything};
use crate::read::as_index;
use crate::rules;
use crate::table::{OFFSET, offset_values, open_offsets};

/// The offsets of a part: offset `k` is the number of its edges whose aligned end is before vertex `k` of the part.
pub(super) struct Offsets {
    path: String,
    batches: Batches,
    current: ScalarBuffer<i64>,
    /// Number of values of `current` that were compared.
    taken: usize,
    /// Number of offsets that were compared.
    seen: u64,
    last: i64,
    /// Number of edges of the part according to its count file.
    edges: u64,
    /// Whether a difference between edges and offsets was reported; it is reported once.
    wrong: bool,
    falls: bool,
}

impl Offsets {
    /// Opens the offset file of a part with `edges` edges.
    ///
    /// # Errors
    /// Returns the errors of [`open_offsets`].
    pub fn open(root: &Root, path: String, encoding: Encoding, edges: u64, findings: &mut Findings) -> Result<Self> {
        let reader = open_offsets(root, &path, encoding)?;
        embedded(&path, &reader, findings)?;
        if reader.schema().field_with_name(OFFSET).is_ok_and(|field| field.data_type() == &DataType::Int32) {
            findings.push(&rules::OFFSET_INT32, "offsets have 32 bits", Place::file(&path).in_field(OFFSET));
        }
        let batches = reader.batches(&everything().columns([OFFSET]))?;
        let (current, taken, seen, last) = (ScalarBuffer::default(), 0, 0, 0);
        Ok(Offsets { path, batches, current, taken, seen, last, edges, wrong: false, falls: false })
    }

    /// Reads the next values; returns whether there are any.
    fn fill(&mut self, findings: &mut Findings) -> Result<bool> {
        while self.taken == self.current.len() {
            let Some(batch) = self.batches.next() else { return Ok(false) };
            let batch = batch.map_err(|error| error.at(Place::file(&self.path)))?;
            self.current = offset_values(batch.column(0), &self.path)?;
            self.taken = 0;
            if self.seen == 0
                && let Some(first) = self.current.first().filter(|first| **first != 0)
            {
                findings.push(&rules::OFFSET_FIRST, format!("the first offset is {first}, expected 0"), self.place(0));
            }
            let mut before = self.last;
            for (at, value) in self.current.iter().enumerate() {
                if *value < before && !self.falls {
                    self.falls = true;
                    let row = self.seen + at as u64;
                    findings.push(&rules::OFFSET_FALLS, format!("offset {value} follows {before}"), self.place(row));
                }
                before = *value;
            }
            self.last = before;
        }
        Ok(true)
    }

    fn place(&self, row: u64) -> Place {
        Place::file(&self.path).row(row)
    }

    /// Compares all offsets up to that of vertex `vertex` of the part: it must be the first whose edges begin at row
    /// `row`.
    ///
    /// # Errors
    /// Returns the errors of reading.
    pub fn expect(&mut self, vertex: u64, row: u64, findings: &mut Findings) -> Result<()> {
        let wanted = as_index(row);
        while self.seen <= vertex && self.fill(findings)? {
            let left = usize::try_from(vertex + 1 - self.seen).unwrap_or(usize::MAX);
            let end = self.taken.saturating_add(left).min(self.current.len());
            let values = self.current.get(self.taken..end).unwrap_or_default();
            if !self.wrong
                && let Some(at) = values.iter().position(|value| *value != wanted)
            {
                self.wrong = true;
                let vertex = self.seen + at as u64;
                // Offsets that are outside the part or decrease are reported by their own rules.
                if !self.falls && self.last <= as_index(self.edges) {
                    let message = format!("offset is {}, but this vertex's edges start at {row}", values[at]);
                    findings.push(&rules::OFFSET_DEGREE, message, self.place(vertex));
                }
            }
            self.seen += (end - self.taken) as u64;
            self.taken = end;
        }
        Ok(())
    }

    /// Compares the remaining offsets, which must equal the number of edges. `vertices` is the number in the part, `size` that of
    /// a full part.
    ///
    /// # Errors
    /// Returns the errors of reading.
    pub fn finish(mut self, vertices: u64, size: u64, compare: bool, findings: &mut Findings) -> Result<()> {
        self.wrong |= !compare;
        self.expect(u64::MAX - 1, self.edges, findings)?;
        if self.seen != vertices + 1 && self.seen != size.saturating_add(1) {
            let message = format!("found {} offsets for {vertices} vertices", self.seen);
            findings.push(&rules::OFFSET_ROWS, message, self.path.as_str());
        }
        if self.seen > 0 && self.last != as_index(self.edges) {
            let message = format!("the last offset is {}, but the edge count is {}", self.last, self.edges);
            findings.push(&rules::OFFSET_END, message, self.place(self.seen - 1));
        }
        Ok(())
    }
}
