//! The page index of a column chunk, parsed only for the chunks that are needed: the positions of its pages (offset
//! index) and the bounds of their values (column index).
//!
//! Source: <https://parquet.apache.org/docs/file-format/pageindex/>.

use std::ops::Range;

use bytes::Bytes;

use super::thrift::{Reader, Thrift, ThriftError, Wire};

/// The reason why an index is refused in which two pages start with the same row.
pub(super) const DIVIDED_ROW: &str = "a row is split between pages";

/// The position of a data page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PagePlace {
    /// The offset of its header in the file.
    pub offset: u64,
    /// Its size, including the header, bytes.
    pub length: u64,
    /// Its first row, counted in the row group.
    pub first_row: u64,
}

/// The data pages of a column chunk, in order. They are inside the chunk, do not overlap, and have at least one row each.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OffsetIndex {
    pages: Vec<PagePlace>,
    rows: u64,
}

impl OffsetIndex {
    /// Parses the index of a chunk at `chunk` in the file, which has `rows` rows.
    pub(super) fn parse(bytes: &[u8], chunk: &Range<u64>, rows: u64) -> Thrift<Self> {
        let mut reader = Reader::new(bytes);
        let mut pages = Vec::new();
        let mut last = 0;
        while let Some((number, wire)) = reader.field(&mut last)? {
            match (number, wire) {
                (1, Wire::List) => {
                    let (element, count) = reader.list()?;
                    if count > 0 && element != Wire::Struct {
                        return Err(ThriftError::Invalid("the page locations are not structures"));
                    }
                    for _ in 0..count {
                        pages.push(page_place(&mut reader)?);
                    }
                }
                (_, wire) => reader.skip(wire)?,
            }
        }
        let index = OffsetIndex { pages, rows };
        index.check(chunk).map_err(ThriftError::Invalid)?;
        Ok(index)
    }

    fn check(&self, chunk: &Range<u64>) -> Result<(), &'static str> {
        let mut free = chunk.start;
        for page in &self.pages {
            let end = page.offset.checked_add(page.length).ok_or("a page is outside its column chunk")?;
            if page.offset < free || end > chunk.end {
                return Err("a page is outside its column chunk or overlaps another");
            }
            free = end;
        }
        if self.pages.first().is_some_and(|page| page.first_row != 0) || self.pages.is_empty() && self.rows > 0 {
            return Err("no page contains the first row");
        }
        if self.pages.windows(2).any(|pair| pair[0].first_row > pair[1].first_row)
            || self.pages.last().is_some_and(|page| page.first_row >= self.rows)
        {
            return Err("the first rows of the pages do not increase");
        }
        match self.pages.windows(2).any(|pair| pair[0].first_row == pair[1].first_row) {
            true => Err(DIVIDED_ROW),
            false => Ok(()),
        }
    }

    /// The pages.
    pub(super) fn pages(&self) -> &[PagePlace] {
        &self.pages
    }

    /// The rows of page number `page`, counted in the row group.
    pub(super) fn rows_of(&self, page: usize) -> Range<u64> {
        let end = self.pages.get(page + 1).map_or(self.rows, |next| next.first_row);
        self.pages.get(page).map_or(end, |page| page.first_row)..end
    }

    /// The number of the page that holds `row`, which is one of the row group's.
    pub(super) fn page_of(&self, row: u64) -> usize {
        self.pages.partition_point(|page| page.first_row <= row).saturating_sub(1)
    }
}

fn page_place(reader: &mut Reader<'_>) -> Thrift<PagePlace> {
    let (mut offset, mut length, mut first_row) = (None, None, None);
    let mut last = 0;
    while let Some((number, wire)) = reader.field(&mut last)? {
        let target = match (number, wire) {
            (1, Wire::I64) => &mut offset,
            (2, Wire::I32) => &mut length,
            (3, Wire::I64) => &mut first_row,
            (_, wire) => {
                reader.skip(wire)?;
                continue;
            }
        };
        *target = u64::try_from(reader.int()?).ok();
    }
    match (offset, length, first_row) {
        (Some(offset), Some(length), Some(first_row)) => Ok(PagePlace { offset, length, first_row }),
        _ => Err(ThriftError::Invalid("a page location lacks a field or has a negative one")),
    }
}

/// The bounds of a page's values, in the plain encoding of the column's physical type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PageBounds {
    /// Whether every value is null; then `least` and `greatest` have no meaning.
    pub all_null: bool,
    pub least: Bytes,
    pub greatest: Bytes,
    pub nulls: Option<u64>,
}

/// Parses the column index of a chunk with `pages` data pages.
pub(super) fn parse_column_index(bytes: &Bytes, pages: usize) -> Thrift<Vec<PageBounds>> {
    let mut reader = Reader::new(bytes);
    let (mut all_null, mut least, mut greatest, mut nulls) = (Vec::new(), Vec::new(), Vec::new(), None);
    let mut last = 0;
    while let Some((number, wire)) = reader.field(&mut last)? {
        if !matches!(number, 1 | 2 | 3 | 5) || wire != Wire::List {
            reader.skip(wire)?;
            continue;
        }
        let (element, count) = reader.list()?;
        if count != pages {
            return Err(ThriftError::Invalid("the numbers of pages in the column index and the offset index differ"));
        }
        match (number, element) {
            (1, Wire::True | Wire::False) => {
                all_null = (0..count).map(|_| reader.list_bool()).collect::<Thrift<_>>()?;
            }
            (2 | 3, Wire::Binary) => {
                let bounds = if number == 2 { &mut least } else { &mut greatest };
                *bounds = (0..count).map(|_| Ok(bytes.slice_ref(reader.binary()?))).collect::<Thrift<_>>()?;
            }
            (5, Wire::I64) => nulls = Some((0..count).map(|_| reader.int()).collect::<Thrift<Vec<_>>>()?),
            _ => return Err(ThriftError::Invalid("the column index contains a list of the wrong type")),
        }
    }
    if [all_null.len(), least.len(), greatest.len()] != [pages; 3] {
        return Err(ThriftError::Invalid("the column index lacks a required list"));
    }
    let nulls = nulls.unwrap_or_else(|| vec![-1; pages]);
    let rows = all_null.into_iter().zip(least).zip(greatest).zip(nulls);
    Ok(rows
        .map(|(((all_null, least), greatest), nulls)| PageBounds {
            all_null,
            least,
            greatest,
            nulls: u64::try_from(nulls).ok(),
        })
        .collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Two pages: 40 bytes at 100 with rows from 0, 30 bytes at 140 with rows from 5.
    const TWO: [u8; 20] = [0x19, 0x2c, 0x16, 200, 1, 0x15, 80, 0x16, 0, 0, 0x16, 152, 2, 0x15, 60, 0x16, 10, 0, 0, 0];

    #[test]
    fn pages_and_their_rows() {
        let index = OffsetIndex::parse(&TWO, &(90..200), 9).unwrap();
        assert_eq!(index.pages()[1], PagePlace { offset: 140, length: 30, first_row: 5 });
        assert_eq!((index.rows_of(0), index.rows_of(1)), (0..5, 5..9));
        assert_eq!([0, 4, 5, 8].map(|row| index.page_of(row)), [0, 0, 1, 1]);
    }

    #[test]
    fn places_outside_the_chunk_and_rows_that_do_not_rise_are_refused() {
        assert!(OffsetIndex::parse(&TWO, &(90..169), 9).is_err());
        assert!(OffsetIndex::parse(&TWO, &(101..200), 9).is_err());
        assert!(OffsetIndex::parse(&TWO, &(90..200), 5).is_err());
        let mut same_row = TWO;
        same_row[16] = 0;
        assert!(OffsetIndex::parse(&same_row, &(90..200), 9).is_err());
        for end in 0..TWO.len() - 1 {
            assert!(OffsetIndex::parse(&TWO[..end], &(90..200), 9).is_err());
        }
    }
}
