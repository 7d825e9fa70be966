//! A row group as the decoder sees it: its column chunks as checked pages, of which only the wanted ones are read.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use isomorph_error::Result;
use parquet::arrow::arrow_reader::RowGroups;
use parquet::column::page::{PageIterator, PageReader};
use parquet::errors::Result as ParquetResult;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use super::chunk_bytes::{ChunkBytes, HOPPING, THROUGH};
use super::file::ParquetFile;
use super::page_index::OffsetIndex;
use super::pages::ChunkPages;
use super::watch::Watch;

/// If the wanted part of a row group is not larger than this, it is fetched at once.
const AT_ONCE: u64 = 16 << 20;

/// The wanted part of a column chunk.
struct Plan {
    chunk: Range<u64>,
    wanted: Arc<[Range<u64>]>,
    /// The index that locates the wanted pages.
    index: Option<Arc<OffsetIndex>>,
    /// The index with which the pages are compared.
    compared: Option<Arc<OffsetIndex>>,
    ahead: u64,
    fetched: Vec<(u64, Bytes)>,
}

/// A row group of a file, restricted to some leaves and rows.
pub(super) struct OneRowGroup {
    file: Arc<ParquetFile>,
    group: usize,
    watch: Arc<Watch>,
    plans: HashMap<usize, Plan>,
}

impl OneRowGroup {
    /// Opens the `leaves` of row group `group` and its `rows` (counted in the group); all rows if `None`. If
    /// page indexes are to be compared, they are not used to locate pages.
    ///
    /// # Errors
    /// An invalid page index, and errors of reading.
    pub(super) fn new(
        file: &Arc<ParquetFile>,
        group: usize,
        leaves: impl Iterator<Item = usize>,
        rows: Option<&[Range<u64>]>,
        compare: bool,
        watch: Arc<Watch>,
    ) -> Result<Self> {
        let mut plans = HashMap::new();
        for leaf in leaves {
            plans.insert(leaf, plan(file, group, leaf, rows, compare)?);
        }
        fetch(file, &mut plans)?;
        Ok(OneRowGroup { file: Arc::clone(file), group, watch, plans })
    }

    fn pages(&self, leaf: usize) -> Result<ChunkPages> {
        let (bytes, index, compared) = match self.plans.get(&leaf) {
            Some(plan) => {
                let bytes =
                    ChunkBytes::new(self.file.blob.clone(), plan.chunk.clone(), Arc::clone(&plan.wanted), plan.ahead);
                (bytes.with_fetched(plan.fetched.clone()), plan.index.clone(), plan.compared.clone())
            }
            None => {
                let range = self.file.chunk_range(self.group, leaf)?;
                (ChunkBytes::new(self.file.blob.clone(), range.clone(), Arc::from([range]), THROUGH), None, None)
            }
        };
        let pages = ChunkPages::new(&self.file, (self.group, leaf), bytes, index, Arc::clone(&self.watch))?;
        Ok(pages.compared_with(compared))
    }
}

fn plan(file: &ParquetFile, group: usize, leaf: usize, rows: Option<&[Range<u64>]>, compare: bool) -> Result<Plan> {
    let chunk = file.chunk_range(group, leaf)?;
    let whole = |ahead| Plan {
        chunk: chunk.clone(),
        wanted: Arc::from([chunk.clone()]),
        index: None,
        compared: None,
        ahead,
        fetched: Vec::new(),
    };
    if compare {
        return Ok(Plan { compared: file.page_places(group, leaf)?, ..whole(THROUGH) });
    }
    let Some(rows) = rows else { return Ok(whole(THROUGH)) };
    let Some(index) = file.page_places(group, leaf)? else { return Ok(whole(HOPPING)) };
    let mut wanted: Vec<Range<u64>> = Vec::new();
    let mut want = |part: Range<u64>| match wanted.last_mut() {
        Some(last) if last.end >= part.start => last.end = last.end.max(part.end),
        _ => wanted.push(part),
    };
    if let Some(first) = index.pages().first().filter(|first| first.offset > chunk.start) {
        want(chunk.start..first.offset);
    }
    for range in rows.iter().filter(|range| !range.is_empty()) {
        for page in &index.pages()[index.page_of(range.start)..=index.page_of(range.end - 1)] {
            want(page.offset..page.offset + page.length);
        }
    }
    Ok(Plan { chunk, wanted: wanted.into(), index: Some(index), compared: None, ahead: THROUGH, fetched: Vec::new() })
}

/// Fetches the wanted parts together if they are small; large row groups are read ahead in pieces instead.
fn fetch(file: &ParquetFile, plans: &mut HashMap<usize, Plan>) -> Result<()> {
    let total: u64 = plans.values().flat_map(|plan| plan.wanted.iter()).map(|part| part.end - part.start).sum();
    if total > AT_ONCE || plans.values().any(|plan| plan.ahead == HOPPING) {
        return Ok(());
    }
    let mut parts: Vec<(usize, Range<u64>)> =
        plans.iter().flat_map(|(leaf, plan)| plan.wanted.iter().map(|part| (*leaf, part.clone()))).collect();
    parts.sort_unstable_by_key(|(leaf, part)| (part.start, *leaf));
    let ranges: Vec<Range<u64>> = parts.iter().map(|(_, part)| part.clone()).collect();
    let bytes = file.blob.read_ranges(&ranges)?;
    for ((leaf, part), bytes) in parts.into_iter().zip(bytes) {
        if let Some(plan) = plans.get_mut(&leaf) {
            plan.fetched.push((part.start, bytes));
        }
    }
    Ok(())
}

impl RowGroups for OneRowGroup {
    fn num_rows(&self) -> usize {
        let rows = self.file.rows_of(self.group);
        usize::try_from(rows.end - rows.start).unwrap_or(usize::MAX)
    }

    fn column_chunks(&self, leaf: usize) -> ParquetResult<Box<dyn PageIterator>> {
        let pages = self.pages(leaf).map_err(|error| self.watch.fail(error))?;
        Ok(Box::new(OneChunk(Some(Box::new(pages)))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(self.file.metadata.row_groups().get(self.group).into_iter())
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.file.metadata
    }
}

/// The pages of a single column chunk.
struct OneChunk(Option<Box<dyn PageReader>>);

impl Iterator for OneChunk {
    type Item = ParquetResult<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(Ok)
    }
}

impl PageIterator for OneChunk {}
