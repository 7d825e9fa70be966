//! A page that a look-up takes some rows out of: its levels and its values.

use std::ops::Range;

use parquet::basic::Encoding;
use parquet::column::page::Page;

use super::hybrid;
use super::page_check::{self, Column};

/// Why a page cannot be decoded.
pub(super) type Reason = &'static str;

pub(super) const SHORT: Reason = "a page ends too early";

/// The levels of a page, if it has any, and its values.
pub(super) struct PageRows<'a> {
    levels: Option<&'a [u8]>,
    pub values: &'a [u8],
    pub encoding: Encoding,
    /// Values, nulls included, that the page claims.
    pub count: usize,
}

/// Values of a page that belong to some rows.
pub(super) struct Present {
    /// Their numbers, nulls not counted.
    pub values: Range<usize>,
    /// For each row whether it has a value; nothing when all have.
    pub rows: Option<Vec<u32>>,
}

/// Whether the levels of a page are kept as look-ups know them; very old files have others.
pub(super) fn knows_levels(column: Column, page: &Page) -> bool {
    match page {
        Page::DataPage { def_level_encoding, .. } => column.max_definition == 0 || *def_level_encoding == Encoding::RLE,
        _ => true,
    }
}

impl<'a> PageRows<'a> {
    /// The parts of a data page.
    pub(super) fn new(column: Column, page: &'a Page) -> Result<Self, Reason> {
        match page {
            Page::DataPage { buf, num_values, encoding, def_level_encoding, rep_level_encoding, .. } => {
                let count = *num_values as usize;
                let parts = page_check::split(column, buf, count, *rep_level_encoding, *def_level_encoding)?;
                if column.max_definition > 0 && parts.definition.is_none() {
                    return Err("levels have an encoding that look-ups do not know");
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
            Page::DictionaryPage { .. } => Err("a dictionary stands where values should be"),
        }
    }

    /// The values of `rows`, counted in the page.
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

/// The dictionary keys number `wanted` of a page.
pub(super) fn keys(values: &[u8], wanted: Range<usize>) -> Result<Vec<u32>, Reason> {
    let (&width, keys) = values.split_first().ok_or(SHORT)?;
    let mut found = Vec::with_capacity(wanted.len());
    hybrid::decode(keys, width.into(), wanted, &mut found)?;
    Ok(found)
}
