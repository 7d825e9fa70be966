//! Passes the pages of a column chunk to the decoder one by one, after checking them.

use std::sync::Arc;

use bytes::Bytes;
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_storage::limits;
use parquet::basic::Type;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result as ParquetResult};

use super::chunk_bytes::ChunkBytes;
use super::codec::Codec;
use super::file::ParquetFile;
use super::index_check::PlacesCheck;
use super::page_check::{self, Column, Growth};
use super::page_header::{DataV2, PageHeader, PageKind};
use super::page_index::OffsetIndex;
use super::thrift::ThriftError;
use super::watch::Watch;
use crate::rules::PARQUET_PAGE;

/// The number of bytes that are read first to find a page header; doubled until the header is complete.
const HEADER: usize = 256;
/// The maximum size of a header, enough for long statistics.
const LONGEST_HEADER: usize = 1 << 20;

/// Where to look for the next page.
enum Position {
    /// Page after page, at this offset.
    Walk(u64),
    /// Through the offset index: the next data page. The dictionary, if any, comes before the first.
    Listed { index: Arc<OffsetIndex>, next: usize, dictionary: bool },
}

/// A checked page: the offset of its stored bytes, and its header.
type Found = (u64, PageHeader);

/// The pages of a column chunk.
pub(super) struct ChunkPages {
    bytes: ChunkBytes,
    column: Column,
    codec: Codec,
    file: Arc<ParquetFile>,
    group: usize,
    leaf: usize,
    watch: Arc<Watch>,
    position: Position,
    found: Option<Found>,
    values_left: u64,
    unpacked_left: u64,
    /// The size of the current page, if it is much larger than stored.
    expanded: u64,
    /// The length of the longest entry of the dictionary, after it was read.
    entry: Option<usize>,
    /// The page index with which the pages are compared, if requested.
    listed: Option<PlacesCheck>,
}

impl ChunkPages {
    /// Returns the pages of the column chunk `leaf` of row group `group`, whose stored bytes are `bytes`. With an `index`,
    /// skipped pages are not read.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] for an unknown compression.
    pub(super) fn new(
        file: &Arc<ParquetFile>,
        (group, leaf): (usize, usize),
        bytes: ChunkBytes,
        index: Option<Arc<OffsetIndex>>,
        watch: Arc<Watch>,
    ) -> Result<Self> {
        let chunk = file.chunk(group, leaf)?;
        let range = bytes.range();
        let position = match index {
            Some(index) => {
                let dictionary = index.pages().first().is_some_and(|page| page.offset > range.start);
                Position::Listed { index, next: 0, dictionary }
            }
            None => Position::Walk(range.start),
        };
        let unknown = |reason| Error::unsupported(reason).at(file.place_of(group, leaf));
        Ok(ChunkPages {
            bytes,
            column: Column::new(chunk.column_descr()),
            codec: Codec::new(chunk.compression()).map_err(unknown)?,
            file: Arc::clone(file),
            group,
            leaf,
            watch,
            position,
            found: None,
            values_left: u64::try_from(chunk.num_values()).unwrap_or_default(),
            unpacked_left: u64::try_from(chunk.uncompressed_size()).unwrap_or_default(),
            expanded: 0,
            entry: None,
            listed: None,
        })
    }

    /// Also compares the pages with `index`.
    pub(super) fn compared_with(self, index: Option<Arc<OffsetIndex>>) -> Self {
        ChunkPages { listed: index.map(PlacesCheck::new), ..self }
    }

    /// Moves to data page number `page` of the index.
    pub(super) fn go_to(&mut self, page: usize) {
        if let Position::Listed { next, dictionary, .. } = &mut self.position {
            (*next, *dictionary) = (page, false);
            self.found = None;
        }
    }

    /// Finds the next page with values or a dictionary.
    fn find(&mut self) -> Result<Option<Found>> {
        if self.found.is_some() {
            return Ok(self.found);
        }
        loop {
            let Some((at, end)) = self.next_place() else { return Ok(None) };
            let header = self.header(at, end)?;
            let body = at + header.length as u64;
            if let Position::Walk(next) = &mut self.position {
                *next = body + header.compressed as u64;
            }
            if header.kind == PageKind::Other {
                self.pass();
                continue;
            }
            self.check_place(&header, at)?;
            self.compare_place(&header, at)?;
            self.found = Some((body, header));
            return Ok(self.found);
        }
    }

    /// Returns the offset of the next page, and the offset where it must end at the latest.
    fn next_place(&self) -> Option<(u64, u64)> {
        let chunk = self.bytes.range();
        match &self.position {
            Position::Walk(at) => (*at < chunk.end).then_some((*at, chunk.end)),
            Position::Listed { index, dictionary: true, .. } => {
                Some((chunk.start, index.pages().first().map_or(chunk.end, |page| page.offset)))
            }
            Position::Listed { index, next, .. } => {
                index.pages().get(*next).map(|page| (page.offset, page.offset + page.length))
            }
        }
    }

    fn header(&mut self, at: u64, end: u64) -> Result<PageHeader> {
        let room = end - at;
        let mut glance = HEADER;
        loop {
            let bytes = self.bytes.glance(at, glance)?;
            let bytes = &bytes[..bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX))];
            match PageHeader::parse(bytes) {
                Ok(header) if header.compressed as u64 > room - header.length as u64 => {
                    return Err(self.broken(at, "a page is longer than the space for it"));
                }
                Ok(header) => return Ok(header),
                Err(ThriftError::Invalid(reason)) => return Err(self.broken(at, reason)),
                Err(ThriftError::Truncated) if bytes.len() as u64 == room => {
                    return Err(self.broken(at, "unexpected end of a page header"));
                }
                Err(ThriftError::Truncated) if glance >= LONGEST_HEADER => {
                    return Err(self.broken(at, "a page header is too long"));
                }
                Err(ThriftError::Truncated) => glance *= 8,
            }
        }
    }

    /// Checks that a page of this kind is allowed here, and the sizes that it claims.
    fn check_place(&mut self, header: &PageHeader, at: u64) -> Result<()> {
        let values = match header.kind {
            PageKind::Dictionary { .. }
                if self.entry.is_some() || matches!(self.position, Position::Listed { dictionary: false, .. }) =>
            {
                return Err(self.broken(at, "a dictionary comes after other pages"));
            }
            PageKind::Dictionary { .. } | PageKind::Other => None,
            PageKind::Data { values, .. } | PageKind::DataV2(DataV2 { values, .. }) => Some(u64::from(values)),
        };
        if values.is_some() && matches!(self.position, Position::Listed { dictionary: true, .. }) {
            return Err(self.broken(at, "expected a dictionary, found a data page"));
        }
        if let (Some(values), Position::Listed { index, next, .. }) = (values, &self.position) {
            let rows = index.rows_of(*next);
            if self.column.max_repetition == 0 && values != rows.end - rows.start {
                return Err(self.broken(at, "the number of rows of a page differs from the page index"));
            }
        }
        let values = values.unwrap_or_default();
        if values > self.values_left {
            return Err(self.broken(at, "the pages have more values than their column chunk declares"));
        }
        self.values_left -= values;
        let unpacked = header.uncompressed as u64;
        if unpacked > self.unpacked_left {
            return Err(self.broken(at, "the decompressed pages are larger than their column chunk declares"));
        }
        self.unpacked_left -= unpacked;
        let limits = &self.file.limits;
        let ratio = limits.page_ratio.min(self.codec.largest_ratio());
        let most = (header.compressed as u64).saturating_mul(ratio).saturating_add(limits.page_slack_bytes);
        let most = if self.codec.is_none() { u64::MAX } else { most };
        if unpacked > most.min(limits.page_bytes) {
            let message = format!("a page of {} bytes claims a decompressed size of {unpacked}", header.compressed);
            return Err(self.broken(at, &message).of_kind(Kind::TooLarge));
        }
        Ok(())
    }

    /// Compares a page with the page index, if requested.
    fn compare_place(&mut self, header: &PageHeader, at: u64) -> Result<()> {
        let Some(listed) = &mut self.listed else { return Ok(()) };
        let length = header.length as u64 + header.compressed as u64;
        let compared = match header.kind {
            PageKind::Dictionary { .. } | PageKind::Other => listed.other(at, length),
            PageKind::Data { values, .. } if self.column.max_repetition == 0 => {
                listed.page(at, length).and_then(|()| listed.rows(values.into()))
            }
            // The rows are counted when the page is decompressed.
            PageKind::Data { .. } => listed.page(at, length),
            PageKind::DataV2(page) => listed.page(at, length).and_then(|()| listed.rows(page.rows.into())),
        };
        compared.map_err(|reason| self.file.broken_index(self.group, self.leaf, ThriftError::Invalid(reason)))
    }

    /// Moves to the page after the current one.
    fn pass(&mut self) {
        self.found = None;
        match &mut self.position {
            Position::Walk(_) => {}
            Position::Listed { dictionary, .. } if *dictionary => *dictionary = false,
            Position::Listed { next, .. } => *next += 1,
        }
    }

    /// Returns the next page, decompressed and checked.
    pub(super) fn load(&mut self) -> Result<Option<Page>> {
        let Some((at, header)) = self.find()? else { return Ok(None) };
        let stored = self.bytes.read(at, header.compressed)?;
        if header.crc.is_some_and(|crc| crc != crc32fast::hash(&stored)) {
            return Err(self.broken(at, "the checksum of a page does not match its bytes"));
        }
        self.count_expanded(&header)?;
        let levels = match header.kind {
            PageKind::DataV2(page) => page.definition_bytes.saturating_add(page.repetition_bytes),
            _ => 0,
        };
        let packed = !matches!(header.kind, PageKind::DataV2(DataV2 { compressed: false, .. }));
        let body = if packed { self.unpack(stored, levels, header.uncompressed) } else { Ok(stored) };
        let body = body.map_err(|reason| self.broken(at, &reason))?;
        let page = self.page(&header, body).map_err(|reason| self.broken(at, reason))?;
        let growth = self.growth(&header, &page).map_err(|reason| self.broken(at, reason))?;
        self.compare_rows(&header, &page)?;
        self.announce(&header, growth)?;
        self.pass();
        Ok(Some(page))
    }

    /// Counts the size of a page that is much larger than stored, replacing that of the previous page, which the decoder
    /// does not need any more.
    fn count_expanded(&mut self, header: &PageHeader) -> Result<()> {
        let unpacked = header.uncompressed as u64;
        let is_expanded = unpacked / limits::EXPANDED_PAGE_RATIO > header.compressed as u64;
        let now = if is_expanded && !self.codec.is_none() { unpacked } else { 0 };
        let before = std::mem::replace(&mut self.expanded, now);
        self.watch.expand(before, now, self.file.limits.expanded_pages_bytes)
    }

    /// Decompresses a page whose first `plain` bytes are not compressed.
    fn unpack(&mut self, stored: Bytes, plain: usize, size: usize) -> std::result::Result<Bytes, String> {
        if self.codec.is_none() {
            return Ok(stored);
        }
        let inside = "the levels of a page end beyond the page";
        let (levels, values) = stored.split_at_checked(plain).ok_or(inside)?;
        let values_size = size.checked_sub(plain).ok_or(inside)?;
        let mut unpacked = Vec::with_capacity(size);
        unpacked.extend_from_slice(levels);
        self.codec
            .unpack(values, values_size, &mut unpacked)
            .map_err(|reason| format!("a page cannot be decompressed: {reason}"))?;
        Ok(unpacked.into())
    }

    fn page(&mut self, header: &PageHeader, buf: Bytes) -> std::result::Result<Page, &'static str> {
        Ok(match header.kind {
            PageKind::Dictionary { values, encoding } => {
                self.entry = Some(page_check::dictionary(self.column, &buf, values as usize, encoding)?);
                Page::DictionaryPage { buf, num_values: values, encoding, is_sorted: false }
            }
            PageKind::Data { values, encoding, definition, repetition } => Page::DataPage {
                buf,
                num_values: values,
                encoding,
                def_level_encoding: definition,
                rep_level_encoding: repetition,
                statistics: None,
            },
            PageKind::DataV2(page) => {
                if page.nulls > page.values || page.rows > page.values {
                    return Err("a page declares more nulls or rows than values");
                }
                if self.column.max_repetition == 0 && page.rows != page.values {
                    return Err("a page declares fewer rows than values");
                }
                let length = |bytes| u32::try_from(bytes).map_err(|_| "the levels of a page are too long");
                Page::DataPageV2 {
                    buf,
                    num_values: page.values,
                    encoding: page.encoding,
                    num_nulls: page.nulls,
                    num_rows: page.rows,
                    def_levels_byte_len: length(page.definition_bytes)?,
                    rep_levels_byte_len: length(page.repetition_bytes)?,
                    is_compressed: page.compressed,
                    statistics: None,
                }
            }
            PageKind::Other => return Err("a page has no data"),
        })
    }

    /// Checks the values of a data page; returns their maximum decoded size.
    fn growth(&self, header: &PageHeader, page: &Page) -> std::result::Result<Option<Growth>, &'static str> {
        let entry = self.entry.unwrap_or_default();
        let buffer = page.buffer();
        match header.kind {
            PageKind::Data { values, encoding, definition, repetition } => {
                let count = values as usize;
                let parts = page_check::split(self.column, buffer, count, repetition, definition)?;
                page_check::levels(self.column, &parts, count)?;
                page_check::values(self.column, &parts, count, encoding, entry).map(Some)
            }
            PageKind::DataV2(page) => {
                let outside = "the levels of a page end beyond the page";
                let (repetition, behind) = buffer.split_at_checked(page.repetition_bytes).ok_or(outside)?;
                let (definition, values) = behind.split_at_checked(page.definition_bytes).ok_or(outside)?;
                let repetition = (self.column.max_repetition > 0).then_some(repetition);
                let definition = (self.column.max_definition > 0).then_some(definition);
                let parts = page_check::Parts { repetition, definition, values };
                page_check::levels(self.column, &parts, page.values as usize)?;
                page_check::values(self.column, &parts, page.values as usize, page.encoding, entry).map(Some)
            }
            PageKind::Dictionary { .. } | PageKind::Other => Ok(None),
        }
    }

    /// Compares the number of rows in a first-generation page of a list with the page index, if requested.
    fn compare_rows(&self, header: &PageHeader, page: &Page) -> Result<()> {
        let (Some(listed), PageKind::Data { values, definition, repetition, .. }) = (&self.listed, header.kind) else {
            return Ok(());
        };
        let count = values as usize;
        let compared = page_check::split(self.column, page.buffer(), count, repetition, definition)
            .and_then(|parts| parts.repetition.map(|levels| page_check::rows(self.column, levels, count)).transpose())
            .and_then(|rows| rows.map_or(Ok(()), |rows| listed.rows(rows)));
        compared.map_err(|reason| self.file.broken_index(self.group, self.leaf, ThriftError::Invalid(reason)))
    }

    /// Reports to the watch by how much this page can enlarge the current batch.
    fn announce(&self, header: &PageHeader, growth: Option<Growth>) -> Result<()> {
        let (PageKind::Data { values, .. } | PageKind::DataV2(DataV2 { values, .. }), Some(growth)) =
            (header.kind, growth)
        else {
            return Ok(());
        };
        let values = u64::from(values);
        let bytes = if self.column.max_repetition > 0 {
            // The number of values per row is unknown before the levels are decoded; count two levels of two bytes each.
            growth.total.saturating_add(values * 4)
        } else if self.column.physical == Type::BYTE_ARRAY {
            growth.total.min(growth.longest.saturating_mul(values.min(self.watch.batch_rows as u64)))
        } else {
            0
        };
        self.watch.grow(bytes, self.file.limits.page_bytes)
    }

    fn broken(&self, at: u64, reason: &str) -> Error {
        Error::broken(&PARQUET_PAGE, reason).at(Place::default().offset(at))
    }

    /// Returns what the decoder needs to know of the next page before it decides to read it.
    fn peek(&mut self) -> Result<Option<PageMetadata>> {
        if let (None, Position::Listed { index, next, dictionary: false }) = (&self.found, &self.position) {
            let rows = index.rows_of(*next);
            let rows = usize::try_from(rows.end - rows.start).ok();
            return Ok((*next < index.pages().len()).then_some(PageMetadata {
                num_rows: rows,
                num_levels: None,
                is_dict: false,
            }));
        }
        Ok(self.find()?.map(|(_, header)| match header.kind {
            PageKind::Dictionary { .. } | PageKind::Other => {
                PageMetadata { num_rows: None, num_levels: None, is_dict: true }
            }
            PageKind::Data { values, .. } => {
                PageMetadata { num_rows: None, num_levels: Some(values as usize), is_dict: false }
            }
            PageKind::DataV2(page) => PageMetadata {
                num_rows: Some(page.rows as usize),
                num_levels: Some(page.values as usize),
                is_dict: false,
            },
        }))
    }

    fn skip(&mut self) -> Result<()> {
        // A page that is listed in the index is skipped without reading it.
        if self.found.is_some() || matches!(self.position, Position::Listed { .. }) || self.find()?.is_some() {
            self.pass();
        }
        Ok(())
    }

    fn stop(&self, error: Error) -> ParquetError {
        self.watch.fail(error.at(self.file.place_of(self.group, self.leaf)))
    }
}

impl Iterator for ChunkPages {
    type Item = ParquetResult<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for ChunkPages {
    fn get_next_page(&mut self) -> ParquetResult<Option<Page>> {
        self.load().map_err(|error| self.stop(error))
    }

    fn peek_next_page(&mut self) -> ParquetResult<Option<PageMetadata>> {
        self.peek().map_err(|error| self.stop(error))
    }

    fn skip_next_page(&mut self) -> ParquetResult<()> {
        self.skip().map_err(|error| self.stop(error))
    }

    fn at_record_boundary(&mut self) -> ParquetResult<bool> {
        // By the format, pages with an offset index, and pages of the second generation, start with a new row.
        match self.peek_next_page()? {
            None => Ok(true),
            Some(page) => Ok(page.num_rows.is_some()),
        }
    }
}
