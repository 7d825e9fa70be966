//! Integers of some rows of one page, for look-ups: unpacked from where they lie, without the machinery of a scan.

use std::ops::Range;

use arrow_buffer::NullBufferBuilder;
use parquet::basic::{Encoding, Type};
use parquet::column::page::Page;

use super::page_check::{self, Column};
use super::{delta, hybrid};

/// Why a page cannot be decoded.
pub(super) type Reason = &'static str;

const SHORT: Reason = "a page ends too early";

/// Integers, nulls as zeros.
#[derive(Debug)]
pub(super) struct Ints {
    pub values: Vec<i64>,
    pub nulls: NullBufferBuilder,
}

impl Ints {
    pub(super) fn with_capacity(rows: usize) -> Self {
        Ints { values: Vec::with_capacity(rows), nulls: NullBufferBuilder::new(rows) }
    }
}

/// Whether pages of this column can be decoded here.
pub(super) fn decodes(column: Column) -> bool {
    matches!(column.physical, Type::INT32 | Type::INT64) && column.max_repetition == 0 && column.max_definition <= 1
}

/// The levels of a page, if it has any, and its values.
struct Parts<'a> {
    levels: Option<&'a [u8]>,
    values: &'a [u8],
    encoding: Encoding,
    /// Values, nulls included, that the page claims.
    count: usize,
}

fn parts(column: Column, page: &Page) -> Result<Parts<'_>, Reason> {
    match page {
        Page::DataPage { buf, num_values, encoding, def_level_encoding, rep_level_encoding, .. } => {
            let count = *num_values as usize;
            let parts = page_check::split(column, buf, count, *rep_level_encoding, *def_level_encoding)?;
            if column.max_definition > 0 && parts.definition.is_none() {
                return Err("levels have an encoding that look-ups do not know");
            }
            Ok(Parts { levels: parts.definition, values: parts.values, encoding: *encoding, count })
        }
        Page::DataPageV2 { buf, num_values, encoding, def_levels_byte_len, rep_levels_byte_len, .. } => {
            let start = *rep_levels_byte_len as usize;
            let end = start + *def_levels_byte_len as usize;
            let levels = buf.get(start..end).ok_or(SHORT)?;
            let values = buf.get(end..).ok_or(SHORT)?;
            let levels = (column.max_definition > 0).then_some(levels);
            Ok(Parts { levels, values, encoding: *encoding, count: *num_values as usize })
        }
        Page::DictionaryPage { .. } => Err("a dictionary stands where values should be"),
    }
}

/// Appends the `rows` of `page` (counted in the page) to `out`. `dictionary` are the plain values that keys stand for.
pub(super) fn append(
    column: Column,
    page: &Page,
    dictionary: Option<&[u8]>,
    rows: Range<usize>,
    out: &mut Ints,
) -> Result<(), Reason> {
    let parts = parts(column, page)?;
    let Parts { levels, .. } = parts;
    let levels = levels.filter(|levels| !hybrid::starts_with_run(levels, 1, 1, rows.end));
    let Some(levels) = levels else {
        out.nulls.append_n_non_nulls(rows.len());
        return append_values(column, &parts, dictionary, rows, &mut out.values);
    };
    let mut present = Vec::new();
    hybrid::decode(levels, 1, 0..rows.end, &mut present)?;
    let count = |levels: &[u32]| levels.iter().filter(|level| **level == 1).count();
    let before = count(&present[..rows.start]);
    let wanted = &present[rows.start..];
    let mut dense = Vec::new();
    append_values(column, &parts, dictionary, before..before + count(wanted), &mut dense)?;
    let mut dense = dense.into_iter();
    for level in wanted {
        out.nulls.append(*level == 1);
        out.values.push(if *level == 1 { dense.next().ok_or(SHORT)? } else { 0 });
    }
    Ok(())
}

/// Appends the values number `wanted`, nulls not counted.
fn append_values(
    column: Column,
    page: &Parts<'_>,
    dictionary: Option<&[u8]>,
    wanted: Range<usize>,
    out: &mut Vec<i64>,
) -> Result<(), Reason> {
    if wanted.is_empty() {
        return Ok(());
    }
    match page.encoding {
        Encoding::PLAIN => append_plain(column, page.values, wanted, out),
        Encoding::DELTA_BINARY_PACKED => {
            let mut all = Vec::new();
            delta::decode(page.values, &mut 0, page.count, wanted.end, &mut all)?;
            let values = all.get(wanted).ok_or(SHORT)?;
            match column.physical {
                // Deltas of 32-bit columns wrap around in 32 bits.
                Type::INT32 => out.extend(values.iter().map(|value| i64::from(*value as i32))),
                _ => out.extend_from_slice(values),
            }
            Ok(())
        }
        Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => {
            let dictionary = dictionary.ok_or("a page refers to a dictionary that is not there")?;
            let (&width, keys) = page.values.split_first().ok_or(SHORT)?;
            let mut found = Vec::with_capacity(wanted.len());
            hybrid::decode(keys, width.into(), wanted, &mut found)?;
            for key in found {
                let key = key as usize;
                append_plain(column, dictionary, key..key + 1, out)
                    .map_err(|_| "a key stands for nothing in the dictionary")?;
            }
            Ok(())
        }
        _ => Err("values have an encoding that look-ups do not know"),
    }
}

/// Appends the plain values number `wanted`.
pub(super) fn append_plain(
    column: Column,
    bytes: &[u8],
    wanted: Range<usize>,
    out: &mut Vec<i64>,
) -> Result<(), Reason> {
    let end = wanted.end.checked_mul(column.width).ok_or(SHORT)?;
    let bytes = bytes.get(wanted.start * column.width..end).ok_or(SHORT)?;
    match column.physical {
        Type::INT32 => {
            let (values, _) = bytes.as_chunks::<4>();
            out.extend(values.iter().map(|value| i64::from(i32::from_le_bytes(*value))));
        }
        _ => {
            let (values, _) = bytes.as_chunks::<8>();
            out.extend(values.iter().map(|value| i64::from_le_bytes(*value)));
        }
    }
    Ok(())
}

/// Where the value number 0 of a page lies in it, if all its values are plain and there are no nulls among the first
/// `rows`: then single values can be read without the rest of the page. `start` is the first part of the page.
pub(super) fn plain_values_at(column: Column, encoding: Encoding, start: &[u8], rows: usize) -> Option<usize> {
    if encoding != Encoding::PLAIN {
        return None;
    }
    if column.max_definition == 0 {
        return Some(0);
    }
    let (length, behind) = start.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length) as usize;
    let levels = behind.get(..length)?;
    hybrid::starts_with_run(levels, 1, 1, rows).then_some(4 + length)
}
