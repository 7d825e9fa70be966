//! The levels and values of a page from which a look-up takes some rows.

use std::ops::Range;

use parquet::basic::Encoding;
use parquet::column::page::Page;

use super::hybrid;
use super::page_check::{self, Column};

/// The reason why a page cannot be decoded.
pub(super) type Reason = &'static str;

pub(super) const SHORT: Reason = "unexpected end of a page";

/// The levels of a page, if it has any, and its values.
pub(super) struct PageRows<'a> {
    levels: Option<&'a [u8]>,
    pub values: &'a [u8],
    pub encoding: Encoding,
    /// The declared number of values, including nulls.
    pub count: usize,
}

/// The values of a page that belong to some rows.
pub(super) struct Present {
    /// Their numbers, counted without nulls.
    pub values: Range<usize>,
    /// For each row, whether it has a value; `None` if all have one.
    pub rows: Option<Vec<u32>>,
}

/// Whether look-ups support the encoding of a page's levels; very old files have others.
pub(super) fn knows_levels(column: Column, page: &Page) -> bool {
    match page {
        Page::DataPage { def_level_encoding, .. } => column.max_definition == 0 || *def_level_encoding == Encoding::RLE,
        _ => true,
    }
}

impl<'a> PageRows<'a> {
    /// Splits a data page into its parts.
    pub(super) fn new(column: Column, page: &'a Page) -> Result<Self, Reason> {
        match page {
            Page::DataPage { buf, num_values, encoding, def_level_encoding, rep_level_encoding, .. } => {
                let count = *num_values as usize;
                let parts = page_check::split(column, buf, count, *rep_level_encoding, *def_level_encoding)?;
                if column.max_definition > 0 && parts.definition.is_none() {
                    return Err("the encoding of levels is not supported by look-ups");
                }
                Ok(PageRows { levels: parts.definition, values: parts.values, encoding: *encoding, count })
            }
            Page::DataPageV2 { buf, num_values, encoding, def_levels_byte_len, rep_levels_byte_len, .. } => {
                let start = *rep_levels_byte_len as usize;
                let end = start + *def_levels_byte_len as usize;
                let levels = buf.get(start..end).ok_or(SHORT)?;
                let values = buf.get(end..).ok_or(SHORT)?;
                let levels = (column.max_definition > 0).then_some(levels);
                Ok(PageRows { levels, values, encoding: *encoding, count: *num_values as usize })
            }
            Page::DictionaryPage { .. } => Err("expected values, found a dictionary"),
        }
    }

    /// Returns the values of `rows`, counted in the page.
    pub(super) fn present(&self, rows: Range<usize>) -> Result<Present, Reason> {
        let levels = self.levels.filter(|levels| !hybrid::starts_with_run(levels, 1, 1, rows.end));
        let Some(levels) = levels else { return Ok(Present { values: rows, rows: None }) };
        let mut present = Vec::new();
        hybrid::decode(levels, 1, 0..rows.end, &mut present)?;
        let wanted = present.split_off(rows.start);
        let count = |levels: &[u32]| levels.iter().filter(|level| **level == 1).count();
        let before = count(&present);
        Ok(Present { values: before..before + count(&wanted), rows: Some(wanted) })
    }
}

/// Returns the dictionary keys with the numbers `wanted` of a page.
pub(super) fn keys(values: &[u8], wanted: Range<usize>) -> Result<Vec<u32>, Reason> {
    let (&width, keys) = values.split_first().ok_or(SHORT)?;
    let mut found = Vec::with_capacity(wanted.len());
    hybrid::decode(keys, width.into(), wanted, &mut found)?;
    Ok(found)
}
