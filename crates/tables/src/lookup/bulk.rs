//! Translates many keys together, with spilling.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use isomorph_error::{Error, Result};

use super::Misses;
use super::column::{KeyColumn, KeyKind, signed};
use super::spilled::{Groups, SpilledKeys, text_ordinal};
use crate::sort::{EdgeSorter, EdgeStream, Sequence, SortedBatch, SortedEdges, arrow_error};

/// Looks keys up in [`SpilledKeys`]: collects them, sorts them like the keys of the nodes, and merges the two.
///
/// Each probe has a tag: any columns that belong to it, such as the other end and the properties of its edge. The
/// answers come in the order of the keys' hashes, not in the order of the probes; each has the sequence number of its
/// probe. If they are pushed into an [`EdgeSorter`] with that number, the original order is restored.
pub struct BulkLookup<'k> {
    keys: &'k SpilledKeys,
    sorter: EdgeSorter,
    /// The sorted columns: the key, or whether it exists, followed by the tags.
    schema: SchemaRef,
}

impl<'k> BulkLookup<'k> {
    /// Creates a look-up whose tags have the columns of `tags`. It may reserve as much memory as the keys.
    ///
    /// # Errors
    /// Same as [`EdgeSorter::new`].
    pub fn new(keys: &'k SpilledKeys, tags: &Schema) -> Result<Self> {
        BulkLookup::within(keys, tags, keys.options.memory)
    }

    /// Creates a look-up with its own share of memory in bytes, for look-ups that collect probes concurrently.
    ///
    /// # Errors
    /// Same as [`EdgeSorter::new`].
    pub fn within(keys: &'k SpilledKeys, tags: &Schema, memory: u64) -> Result<Self> {
        let own = match keys.kind() {
            KeyKind::Text => Field::new("", DataType::Utf8, true),
            KeyKind::Signed | KeyKind::Unsigned => Field::new("", DataType::Boolean, true),
        };
        let fields: Vec<_> = std::iter::once(Arc::new(own)).chain(tags.fields().iter().cloned()).collect();
        let schema = Arc::new(Schema::new(fields));
        let sorter = EdgeSorter::new(keys.options.sort(schema.clone()).memory(memory))?;
        Ok(BulkLookup { keys, sorter, schema })
    }

    /// Adds probes: their keys, their tags, and either the sequence number of the first, if the numbers are consecutive, or all
    /// of them. Several threads may add probes concurrently. Each sequence number may be used only once.
    ///
    /// # Errors
    /// Same as [`EdgeSorter::push`]; [`Kind::Unsupported`](isomorph_error::Kind::Unsupported) if the keys are neither
    /// integers nor texts.
    pub fn add_probes<'s>(
        &self,
        keys: &dyn Array,
        tags: &RecordBatch,
        sequence: impl Into<Sequence<'s>>,
    ) -> Result<()> {
        let keys = KeyColumn::new(keys)?;
        let sequence = sequence.into();
        sequence.check(keys.len())?;
        if keys.len() != tags.num_rows() {
            return Err(Error::usage("the numbers of probes and tags differ"));
        }
        let (ordinals, own) = probe_columns(&keys, self.keys.kind())?;
        let columns = std::iter::once(own).chain(tags.columns().iter().cloned()).collect();
        let batch = RecordBatch::try_new(self.schema.clone(), columns).map_err(arrow_error)?;
        let consecutive: Vec<u64>;
        let numbers = match sequence {
            Sequence::Each(numbers) => numbers,
            Sequence::From(first) => {
                consecutive = (first..first + keys.len() as u64).collect();
                &consecutive
            }
        };
        self.sorter.push(&ordinals, numbers, Some(&batch), sequence)
    }

    /// Returns the answers.
    ///
    /// # Errors
    /// Same as [`EdgeSorter::finish`].
    pub fn finish(self) -> Result<Answers<'k>> {
        Ok(Answers { keys: self.keys, probes: self.sorter.finish()? })
    }
}

/// Returns the number or hash of each probe, and a column with the rest: the text, or for integers true, false if it is
/// outside the range of the keys, null if there is none.
fn probe_columns(keys: &KeyColumn, kind: KeyKind) -> Result<(Vec<u64>, ArrayRef)> {
    let array = keys.array();
    if kind == KeyKind::Text {
        if keys.kind() == KeyKind::Text {
            let ordinals = keys.texts().map(|text| text.map_or(0, text_ordinal)).collect();
            return Ok((ordinals, keys.utf8()?));
        }
        // An integer never equals a text, and no text has this number.
        let texts = StringArray::from_iter((0..array.len()).map(|at| array.is_valid(at).then_some("")));
        return Ok((vec![u64::MAX; array.len()], Arc::new(texts)));
    }
    let Some(ordinals) = keys.ordinals(kind) else {
        let there = BooleanArray::from_iter((0..array.len()).map(|at| array.is_valid(at).then_some(false)));
        return Ok((vec![0; array.len()], Arc::new(there)));
    };
    let mut there: Vec<Option<bool>> = (0..array.len()).map(|at| array.is_valid(at).then_some(true)).collect();
    for at in ordinals.outside {
        there[at] = there[at].map(|_| false);
    }
    Ok((ordinals.numbers.into_owned(), Arc::new(BooleanArray::from(there))))
}

/// All probes with their rows. They may be read several times, completely or in parts on several threads, until they are
/// [drained](Answers::drain).
pub struct Answers<'k> {
    keys: &'k SpilledKeys,
    probes: SortedEdges,
}

impl Answers<'_> {
    /// Returns the number of probes.
    pub fn len(&self) -> u64 {
        self.probes.rows()
    }

    /// Whether there were no probes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns all answers, in a fixed order.
    ///
    /// # Errors
    /// Same as [`SortedEdges::stream`].
    pub fn stream(&self) -> Result<AnswerStream<'_>> {
        self.stream_part((0, None))
    }

    /// Returns the answers in at most `parts` streams, which several threads may read concurrently.
    ///
    /// # Errors
    /// Same as [`SortedEdges::stream`].
    pub fn streams(&self, parts: usize) -> Result<Vec<AnswerStream<'_>>> {
        self.probes.parts(parts).into_iter().map(|part| self.stream_part(part)).collect()
    }

    /// Same as [`Answers::streams`], for the last time: the temporary files of the probes shrink while the streams are
    /// read, so that only what is computed from the answers takes space.
    ///
    /// # Errors
    /// Same as [`SortedEdges::stream`]; [`Kind::Usage`](isomorph_error::Kind::Usage) for the second call, and for all
    /// requests for answers after the first one.
    pub fn drain(&mut self, parts: usize) -> Result<Vec<AnswerStream<'_>>> {
        let parts = self.probes.parts(parts);
        let probes = self.probes.drain(&parts)?;
        probes.into_iter().zip(parts).map(|(probes, part)| answers(self.keys, probes, part)).collect()
    }

    fn stream_part(&self, part: (u64, Option<u64>)) -> Result<AnswerStream<'_>> {
        answers(self.keys, self.probes.stream_part(part)?, part)
    }
}

/// Returns the answers to the probes of a part.
fn answers<'a>(keys: &'a SpilledKeys, probes: EdgeStream<'a>, part: (u64, Option<u64>)) -> Result<AnswerStream<'a>> {
    let kind = keys.kind();
    let mut keys = Groups::new(keys.sorted.stream_part(part)?, kind == KeyKind::Text);
    let more = keys.advance()?;
    Ok(AnswerStream { probes, keys, more, kind })
}

/// Some of the probes with their rows.
#[derive(Debug, Clone)]
pub struct AnswerBatch {
    /// The row of each probe's key, or [`ABSENT`](super::ABSENT).
    pub rows: Vec<u64>,
    /// Sequence number of each probe.
    pub sequence: UInt64Array,
    /// Tag of each probe.
    pub tags: RecordBatch,
    /// Probes without a row; their positions are those in this batch.
    pub misses: Misses,
    /// The first key that was not found, if it is known.
    pub missing: Option<String>,
}

/// Answers in the order of the keys' numbers or hashes, in batches.
pub struct AnswerStream<'a> {
    probes: EdgeStream<'a>,
    keys: Groups<'a>,
    more: bool,
    kind: KeyKind,
}

impl AnswerStream<'_> {
    /// Returns the next answers.
    ///
    /// # Errors
    /// Same as [`EdgeStream::next_batch`].
    pub fn next_batch(&mut self) -> Result<Option<AnswerBatch>> {
        match self.probes.next_batch()? {
            Some(probes) => self.answer(probes).map(Some),
            None => Ok(None),
        }
    }

    fn answer(&mut self, probes: SortedBatch) -> Result<AnswerBatch> {
        let own = probes.payload.column(0);
        let text = self.kind == KeyKind::Text;
        let texts: Option<&StringArray> = if text { own.as_string_opt() } else { None };
        let there: Option<&BooleanArray> = if text { None } else { own.as_boolean_opt() };
        let mut misses = Misses::default();
        let mut missing = None;
        let mut rows = Vec::with_capacity(probes.aligned.len());
        for (at, ordinal) in probes.aligned.values().iter().enumerate() {
            while self.more && self.keys.ordinal < Some(*ordinal) {
                self.more = self.keys.advance()?;
            }
            let null = own.is_null(at);
            let comparable = !null && there.is_none_or(|there| there.value(at));
            let row = if comparable && self.keys.ordinal == Some(*ordinal) {
                self.keys.find(texts.map_or(b"", |texts| texts.value(at).as_bytes()))
            } else {
                None
            };
            // Integers that are looked up among texts have no text.
            if comparable && row.is_none() && misses.not_found == 0 && !(text && *ordinal == u64::MAX) {
                missing = Some(match texts {
                    Some(texts) => texts.value(at).to_owned(),
                    None => text_of(self.kind, *ordinal),
                });
            }
            rows.push(misses.note(null, row));
        }
        let tags: Range<usize> = 1..probes.payload.num_columns();
        let tags = probes.payload.project(&tags.collect::<Vec<_>>()).map_err(arrow_error)?;
        Ok(AnswerBatch { rows, sequence: probes.other, tags, misses, missing })
    }
}

/// Formats an integer key as text.
fn text_of(kind: KeyKind, number: u64) -> String {
    if kind == KeyKind::Signed { signed(number).to_string() } else { number.to_string() }
}

impl Iterator for AnswerStream<'_> {
    type Item = Result<AnswerBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}
