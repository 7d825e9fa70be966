//! Looks up single rows: reads only the pages that contain them, and decodes only the wanted values.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use isomorph_error::{Error, Place, Result, index};
use parquet::column::page::Page;

use super::chunk_bytes::{ChunkBytes, THROUGH};
use super::columns::positions;
use super::file::ParquetFile;
use super::fixed_page::{self, Words};
use super::page_cache::Key;
use super::page_check::Column;
use super::page_header::{PageHeader, PageKind};
use super::page_index::OffsetIndex;
use super::page_rows::{PageRows, knows_levels};
use super::pages::ChunkPages;
use super::scan::Scan;
use super::text_page::{self, Texts};
use super::watch::Watch;
use crate::catch_panic::fenced;
use crate::row_order::RowOrder;
use crate::rules::{PARQUET_PAGE, PARQUET_VALUES};
use crate::selection::nth;
use crate::{Selection, convert};

/// Uncompressed pages larger than this are not read completely for a few plain values, bytes.
const LARGE: u64 = 64 << 10;
/// The number of bytes of a large page that are read for its header and levels.
const START: u64 = 1 << 10;

/// Reads the `rows` of `columns`, in the given order; ranges may overlap and be in any order.
pub(crate) fn read_rows(file: &Arc<ParquetFile>, columns: &[&str], rows: &[Range<u64>]) -> Result<RecordBatch> {
    if let Some(outside) = rows.iter().find(|range| range.end > file.row_count() || range.start > range.end) {
        let message =
            format!("rows {} to {} do not exist, there are {} rows", outside.start, outside.end, file.row_count());
        return Err(Error::usage(message).at(file.blob.place()));
    }
    let names: Vec<String> = columns.iter().map(|name| (*name).to_owned()).collect();
    let columns = positions(file.schema(), Some(&names)).map_err(|error| error.at(file.blob.place()))?;
    let schema = file.schema().project(&columns).map_err(|error| Error::usage(error.to_string()))?;
    let mut others = Vec::new();
    let mut arrays: Vec<Option<ArrayRef>> = Vec::with_capacity(columns.len());
    for (column, name) in columns.iter().zip(&names) {
        let array = flat_column(file, *column, rows)?;
        if array.is_none() {
            others.push(name.clone());
        }
        arrays.push(array);
    }
    if !others.is_empty() {
        let mut scanned = scan(file, others, rows)?.into_iter();
        for missing in arrays.iter_mut().filter(|array| array.is_none()) {
            *missing = scanned.next();
        }
    }
    let count = index(rows.iter().map(|range| range.end - range.start).sum::<u64>());
    convert::numbered_batch(arrays.into_iter().flatten().collect(), &Arc::new(schema), count, |row| nth(rows, row))
        .map_err(|error| error.at(file.blob.place()))
}

/// Reads any columns by an ordinary scan.
fn scan(file: &Arc<ParquetFile>, columns: Vec<String>, rows: &[Range<u64>]) -> Result<Vec<ArrayRef>> {
    let order = RowOrder::new(rows);
    let scan = Scan::new(file, &Selection::all().columns(columns).rows(order.sorted().to_vec()))?;
    let schema = Arc::clone(scan.schema());
    let batch = order.arrange(&schema, &scan.collect::<Result<Vec<_>>>()?)?;
    Ok(batch.columns().to_vec())
}

/// The values taken from pages.
enum Taken {
    Words(Words),
    Texts(Texts),
}

/// Reads a column without nested structure directly from its pages; returns `None` if its type or encoding is not supported
/// here, or there is no page index.
fn flat_column(file: &Arc<ParquetFile>, column: usize, rows: &[Range<u64>]) -> Result<Option<ArrayRef>> {
    let data_type = file.columns.decoded_type(column);
    let Some(leaf) = file.columns.flat_leaf(column) else { return Ok(None) };
    let count = rows.iter().map(|range| range.end - range.start).sum::<u64>();
    let count = usize::try_from(count).unwrap_or_default();
    let mut taken = None;
    for range in rows {
        let mut at = range.start;
        while at < range.end {
            let group = file.group_of(at);
            let group_rows = file.rows_of(group);
            let chunk = FlatChunk { file, group, leaf, column: Column::new(file.chunk(group, leaf)?.column_descr()) };
            let taken = match &mut taken {
                Some(taken) => taken,
                none if fixed_page::decodes(data_type, chunk.column) => {
                    none.insert(Taken::Words(Words::with_capacity(count)))
                }
                none if text_page::decodes(data_type, chunk.column) => {
                    none.insert(Taken::Texts(Texts::with_capacity(count)))
                }
                _ => return Ok(None),
            };
            let Some(index) = file.page_places(group, leaf)? else { return Ok(None) };
            let end = range.end.min(group_rows.end);
            if !chunk.append(&index, at - group_rows.start..end - group_rows.start, taken)? {
                return Ok(None);
            }
            at = end;
        }
    }
    match taken {
        None => Ok(None),
        Some(Taken::Words(words)) => Ok(words.finish(data_type)),
        Some(Taken::Texts(texts)) => {
            let place = || file.blob.place().in_field(file.schema().field(column).name());
            texts.finish().map(Some).map_err(|reason| Error::broken(&PARQUET_VALUES, reason).at(place()))
        }
    }
}

/// A column chunk without nested structure.
struct FlatChunk<'a> {
    file: &'a Arc<ParquetFile>,
    group: usize,
    leaf: usize,
    column: Column,
}

impl FlatChunk<'_> {
    /// Appends `rows`, counted in the row group. Returns whether their pages have supported encodings.
    fn append(&self, index: &Arc<OffsetIndex>, rows: Range<u64>, out: &mut Taken) -> Result<bool> {
        for number in index.page_of(rows.start)..=index.page_of(rows.end - 1) {
            let page_rows = index.rows_of(number);
            let wanted =
                rows.start.max(page_rows.start) - page_rows.start..rows.end.min(page_rows.end) - page_rows.start;
            let wanted = isomorph_error::index(wanted.start)..isomorph_error::index(wanted.end);
            let key = Key { file: self.file.number, group: self.group, leaf: self.leaf, page: number };
            let cached = self.file.cache.get(&key);
            if let (None, Taken::Words(words)) = (&cached, &mut *out)
                && self.append_plain(index, number, wanted.clone(), words)?
            {
                continue;
            }
            let page = match cached {
                Some(page) => page,
                None => self.load(index, key)?,
            };
            let is_text = matches!(out, Taken::Texts(_));
            if !knows_levels(self.column, &page) || is_text && !text_page::knows(page.encoding()) {
                return Ok(false);
            }
            let dictionary = if uses_dictionary(&page) {
                let key = Key { page: Key::DICTIONARY, ..key };
                Some(self.file.cache.get(&key).map_or_else(|| self.load(index, key), Ok)?)
            } else {
                None
            };
            let dictionary = dictionary.as_ref().map(|page| page.buffer().as_ref());
            fenced(&PARQUET_VALUES, || {
                let appended = PageRows::new(self.column, &page).and_then(|page| match out {
                    Taken::Words(words) => words.append(self.column, &page, dictionary, wanted),
                    Taken::Texts(texts) => texts.append(&page, dictionary, wanted),
                });
                appended.map_err(|reason| Error::broken(&PARQUET_VALUES, reason))
            })
            .map_err(|error| error.at(self.place()))?;
        }
        Ok(true)
    }

    /// Reads a page, or the dictionary, and caches it.
    fn load(&self, index: &Arc<OffsetIndex>, key: Key) -> Result<Arc<Page>> {
        let chunk = self.file.chunk_range(self.group, self.leaf)?;
        let wanted = match index.pages().get(key.page) {
            Some(page) => page.offset..page.offset + page.length,
            None => chunk.start..index.pages().first().map_or(chunk.end, |first| first.offset),
        };
        let bytes = ChunkBytes::new(self.file.blob.clone(), chunk, Arc::from([wanted]), THROUGH);
        let watch = Arc::new(Watch::new(1, self.file.limits.page_bytes));
        let mut pages = ChunkPages::new(self.file, (self.group, self.leaf), bytes, Some(Arc::clone(index)), watch)?;
        if key.page != Key::DICTIONARY {
            pages.go_to(key.page);
        }
        let page = pages.load().map_err(|error| error.at(self.place()))?;
        let missing = || Error::broken(&PARQUET_PAGE, "a page is missing").at(self.place());
        let page = Arc::new(page.ok_or_else(missing)?);
        self.file.cache.keep(key, &page);
        Ok(page)
    }

    /// Takes values from a large, uncompressed page without reading the rest of it. Returns whether that was possible.
    fn append_plain(&self, index: &OffsetIndex, number: usize, rows: Range<usize>, out: &mut Words) -> Result<bool> {
        let Some(page) = index.pages().get(number).filter(|page| page.length > LARGE) else { return Ok(false) };
        let chunk = self.file.chunk(self.group, self.leaf)?;
        if chunk.compression() != parquet::basic::Compression::UNCOMPRESSED {
            return Ok(false);
        }
        let start = self.file.blob.read(page.offset..page.offset + START)?;
        // The ordinary scan reads the whole page and reports what is wrong with it.
        let Ok(header) = PageHeader::parse(&start) else { return Ok(false) };
        let PageKind::Data { values, encoding, .. } = header.kind else { return Ok(false) };
        let page_rows = index.rows_of(number);
        if u64::from(values) != page_rows.end - page_rows.start || header.crc.is_some() {
            return Ok(false);
        }
        let Some(at) = fixed_page::plain_values_at(self.column, encoding, &start[header.length..], rows.end) else {
            return Ok(false);
        };
        let first = page.offset + (header.length + at + rows.start * self.column.width) as u64;
        let end = first + (rows.len() * self.column.width) as u64;
        if end > page.offset + page.length {
            return Ok(false);
        }
        let bytes = self.file.blob.read(first..end)?;
        out.append_plain(self.column, &bytes, rows.len())
            .map_err(|reason| Error::broken(&PARQUET_VALUES, reason).at(self.place()))?;
        Ok(true)
    }

    fn place(&self) -> Place {
        self.file.place_of(self.group, self.leaf)
    }
}

fn uses_dictionary(page: &Page) -> bool {
    use parquet::basic::Encoding;
    matches!(page.encoding(), Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY)
}
