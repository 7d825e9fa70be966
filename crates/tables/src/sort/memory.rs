//! Edges sorted in memory.

use std::ops::Range;

use arrow_array::{Array, ArrayRef, UInt32Array};
use arrow_select::concat::concat;
use arrow_select::take::take;
use isomorph_error::Result;
use isomorph_storage::parallel;

use super::buffer::{Buffer, Chunk};
use super::keys::{Element, Layout, Size, Wide};
use super::payload::arrow;
use super::radix;
use super::rows::Rows;
use super::sequence::Origins;

/// The maximum number of threads that scatter: each of them reads all keys.
const SCATTERING: usize = 8;

/// Packed keys in sorted order.
enum Elements {
    Narrow(Vec<u64>),
    Medium(Vec<u128>),
    Wide(Vec<Wide>),
}

/// Sorted edges: packed keys, and the payload in its original order.
pub(super) struct SortedRows {
    layout: Layout,
    elements: Elements,
    /// The start of each bucket, followed by the number of rows.
    starts: Vec<usize>,
    payload: Vec<ArrayRef>,
    origins: Origins,
}

/// Evaluates an expression with elements of any size.
macro_rules! with_elements {
    ($sorted:expr, $elements:ident => $body:expr) => {
        match &$sorted.elements {
            Elements::Narrow($elements) => $body,
            Elements::Medium($elements) => $body,
            Elements::Wide($elements) => $body,
        }
    };
}

impl SortedRows {
    /// Sorts the edges of the buffer, equal ones by their sequence numbers.
    ///
    /// # Errors
    /// [`Kind::TooLarge`](isomorph_error::Kind::TooLarge) if a text column exceeds 2 GiB.
    pub fn sort(mut buffer: Buffer, columns: usize, threads: usize) -> Result<Self> {
        buffer.order();
        let layout = buffer.layout(columns > 0);
        let ascending = buffer.ascending();
        let mut chunks = buffer.chunks;
        let origins = Origins::of(&mut chunks);
        let starts = bucket_starts(&chunks, &layout, threads);
        let work = Work { chunks: &chunks, layout: &layout, starts: &starts, ascending, origins: &origins, threads };
        let elements = match layout.size() {
            Size::Narrow => Elements::Narrow(work.sort()),
            Size::Medium => Elements::Medium(work.sort()),
            Size::Wide => Elements::Wide(work.sort()),
        };
        let mut parts: Vec<Vec<ArrayRef>> = chunks.drain(..).map(|chunk| chunk.payload).collect();
        let columns = if parts.is_empty() { 0 } else { columns };
        let payload = (0..columns).map(|_| join(&mut parts)).collect::<Result<_>>()?;
        Ok(SortedRows { layout, elements, starts, payload, origins })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Returns the size in memory, bytes.
    pub fn bytes(&self) -> usize {
        let payload: usize = self.payload.iter().map(|column| column.get_buffer_memory_size()).sum();
        payload + with_elements!(self, elements => size_of_val(elements.as_slice()))
    }

    /// Returns the first row whose aligned end is not below `aligned`.
    pub fn lower_bound(&self, aligned: u64) -> usize {
        let bucket = self.layout.first_bucket(aligned);
        let Some(&end) = self.starts.get(bucket + 1) else { return self.len() };
        let start = self.starts[bucket];
        with_elements!(self, elements => {
            let below = |element: &_| Element::ends(*element, &self.layout, bucket).0 < aligned;
            start + elements[start..end].partition_point(below)
        })
    }

    /// Returns the aligned end of a row.
    pub fn aligned(&self, row: usize) -> Option<u64> {
        let bucket = self.starts.partition_point(|start| *start <= row).checked_sub(1)?;
        with_elements!(self, elements => elements.get(row).map(|element| element.ends(&self.layout, bucket).0))
    }

    /// Returns a copy of some rows.
    ///
    /// # Errors
    /// [`Kind::TooLarge`](isomorph_error::Kind::TooLarge) if a text column of these rows exceeds 2 GiB.
    pub fn read(&self, rows: Range<usize>, with_sequence: bool) -> Result<Rows> {
        let mut read = Rows::with_capacity(rows.len());
        let mut index = Vec::with_capacity(if self.payload.is_empty() { 0 } else { rows.len() });
        with_elements!(self, elements => {
            for (bucket, part) in self.buckets(&rows) {
                for element in &elements[part] {
                    let (aligned, other) = element.ends(&self.layout, bucket);
                    read.aligned.push(aligned);
                    read.other.push(other);
                    if !self.payload.is_empty() {
                        index.push(element.index(&self.layout));
                    }
                }
            }
        });
        if with_sequence {
            read.sequence = index.iter().map(|index| self.origins.sequence(*index)).collect();
        }
        read.payload = self.take(index)?;
        Ok(read)
    }

    /// Returns the buckets of `rows`, with the part in each.
    fn buckets(&self, rows: &Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> {
        let first = self.starts.partition_point(|start| *start <= rows.start).saturating_sub(1);
        let bounds = self.starts.windows(2).enumerate().skip(first);
        let (start, end) = (rows.start, rows.end);
        bounds
            .map(move |(bucket, bound)| (bucket, bound[0].max(start)..bound[1].min(end)))
            .take_while(move |(_, part)| part.start < end)
            .filter(|(_, part)| !part.is_empty())
    }

    fn take(&self, index: Vec<u32>) -> Result<Vec<ArrayRef>> {
        let in_place = index.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]));
        if let (true, Some(&first)) = (in_place, index.first()) {
            return Ok(self.payload.iter().map(|column| column.slice(first as usize, index.len())).collect());
        }
        let index = UInt32Array::from(index);
        self.payload.iter().map(|column| take(column, &index, None).map_err(arrow)).collect()
    }
}

/// Concatenates the next column of all parts.
fn join(parts: &mut [Vec<ArrayRef>]) -> Result<ArrayRef> {
    let column: Vec<ArrayRef> = parts.iter_mut().filter(|part| !part.is_empty()).map(|part| part.remove(0)).collect();
    match column.as_slice() {
        [only] => Ok(only.clone()),
        several => concat(&several.iter().map(|part| part.as_ref()).collect::<Vec<_>>()).map_err(arrow),
    }
}

/// Returns the start of each bucket, followed by the number of rows.
fn bucket_starts(chunks: &[Chunk], layout: &Layout, threads: usize) -> Vec<usize> {
    let group = chunks.len().div_ceil(threads.max(1)).max(1);
    let counts = parallel::map(threads, chunks.chunks(group).collect(), |chunks| {
        let mut counts = vec![0usize; layout.buckets()];
        for chunk in chunks {
            chunk.each(|aligned, other| counts[layout.bucket(aligned, other)] += 1);
        }
        counts
    });
    let mut starts = vec![0; layout.buckets() + 1];
    for bucket in 0..layout.buckets() {
        starts[bucket + 1] = starts[bucket] + counts.iter().map(|counts| counts[bucket]).sum::<usize>();
    }
    starts
}

/// The parameters of packing and sorting edges.
struct Work<'a> {
    chunks: &'a [Chunk],
    layout: &'a Layout,
    starts: &'a [usize],
    /// Whether the edges are already in order.
    ascending: bool,
    origins: &'a Origins,
    threads: usize,
}

impl Work<'_> {
    /// Packs and sorts the edges.
    fn sort<E: Element>(&self) -> Vec<E> {
        let rows = self.starts.last().copied().unwrap_or(0);
        let mut elements = vec![E::default(); rows];
        let mut shares = Vec::new();
        let mut rest = elements.as_mut_slice();
        for buckets in shares_of(self.starts, self.threads.min(SCATTERING)) {
            let (share, behind) = rest.split_at_mut(self.starts[buckets.end] - self.starts[buckets.start]);
            shares.push((buckets, share));
            rest = behind;
        }
        parallel::map(self.threads, shares, |(buckets, share)| self.sort_buckets(buckets, share));
        elements
    }

    /// Packs and sorts the edges of some buckets.
    fn sort_buckets<E: Element>(&self, buckets: Range<usize>, mut share: &mut [E]) {
        let starts = &self.starts[buckets.start..=buckets.end];
        self.scatter(starts, buckets.start, share);
        let start = E::key_start(self.layout);
        let ties = self.layout.indexed() && !self.origins.in_order();
        let mut scratch = Vec::new();
        for bounds in starts.windows(2) {
            let (bucket, behind) = share.split_at_mut(bounds[1] - bounds[0]);
            if !self.ascending {
                radix::sort(bucket, &mut scratch, start);
            }
            if ties {
                for tied in bucket.chunk_by_mut(|a, b| E::spread(&[*a, *b]) <= start) {
                    tied.sort_unstable_by_key(|element| self.origins.sequence(element.index(self.layout)));
                }
            }
            share = behind;
        }
    }

    /// Writes the edges of some buckets into `share`, those of one bucket in their original order. `starts` are
    /// the starts of these buckets, of which the first has the number `first`.
    fn scatter<E: Element>(&self, starts: &[usize], first: usize, share: &mut [E]) {
        let layout = self.layout;
        let base = starts.first().copied().unwrap_or(0);
        let mut next: Vec<usize> = starts.iter().map(|start| start - base).collect();
        next.pop();
        let mut at = 0u32;
        for chunk in self.chunks {
            chunk.each(|aligned, other| {
                if let Some(next) = next.get_mut(layout.bucket(aligned, other).wrapping_sub(first)) {
                    // There are fewer than 2^32 rows in memory.
                    let index = if layout.indexed() { at } else { 0 };
                    share[*next] = E::pack(layout, aligned, other, index);
                    *next += 1;
                }
                at += 1;
            });
        }
    }
}

/// Divides consecutive buckets among `shares` threads, with about the same number of rows each.
fn shares_of(starts: &[usize], shares: usize) -> Vec<Range<usize>> {
    let rows = starts.last().copied().unwrap_or(0);
    let buckets = starts.len().saturating_sub(1);
    let mut bounds = vec![0];
    for share in 1..shares {
        bounds.push(starts.partition_point(|start| *start < rows / shares * share).min(buckets));
    }
    bounds.push(buckets);
    bounds.windows(2).map(|pair| pair[0]..pair[1]).filter(|range| !range.is_empty()).collect()
}
