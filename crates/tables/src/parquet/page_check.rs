//! Checks the content of a page before the decoder gets it, and computes how large it can become when decoded.
//!
//! Each check corresponds to a case in which a published decoder panics or reserves memory for what a page merely claims:
//! dictionary counts, lengths that become negative, prefixes longer than the previous value.

use parquet::basic::{Encoding, Type};

use super::{delta, hybrid};

/// The reason why a page is refused.
pub(super) type Reason = &'static str;

/// The properties of a column that the checks need.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub physical: Type,
    /// The size of a value of fixed length; 0 for byte arrays.
    pub width: usize,
    pub max_definition: i16,
    pub max_repetition: i16,
}

impl Column {
    pub(super) fn new(column: &parquet::schema::types::ColumnDescriptor) -> Self {
        let width = match column.physical_type() {
            Type::BOOLEAN => 1,
            Type::INT32 | Type::FLOAT => 4,
            Type::INT64 | Type::DOUBLE => 8,
            Type::INT96 => 12,
            Type::BYTE_ARRAY => 0,
            Type::FIXED_LEN_BYTE_ARRAY => usize::try_from(column.type_length()).unwrap_or_default(),
        };
        Column {
            physical: column.physical_type(),
            width,
            max_definition: column.max_def_level(),
            max_repetition: column.max_rep_level(),
        }
    }

    fn is_bytes(&self) -> bool {
        self.physical == Type::BYTE_ARRAY
    }
}

/// Checks a dictionary page; returns the length of its longest entry.
pub(super) fn dictionary(column: Column, page: &[u8], entries: usize, encoding: Encoding) -> Result<usize, Reason> {
    if !matches!(encoding, Encoding::PLAIN | Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY) {
        return Err("the encoding is not valid for a dictionary");
    }
    match column.physical {
        Type::BOOLEAN => Err("a boolean column must not have a dictionary"),
        Type::BYTE_ARRAY => {
            let (mut rest, mut longest) = (page, 0);
            for _ in 0..entries {
                let (length, behind) = rest.split_first_chunk::<4>().ok_or("unexpected end of a dictionary")?;
                let length = u32::from_le_bytes(*length) as usize;
                rest = behind.get(length..).ok_or("unexpected end of a dictionary")?;
                longest = longest.max(length);
            }
            Ok(longest)
        }
        _ if entries.checked_mul(column.width.max(1)).is_none_or(|needed| needed > page.len()) => {
            Err("unexpected end of a dictionary")
        }
        _ => Ok(column.width),
    }
}

/// The parts of a first-generation data page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts<'a> {
    /// The run-length encoded repetition levels; `None` if there are none, or if they have the encoding of old files.
    pub repetition: Option<&'a [u8]>,
    /// The same for the definition levels.
    pub definition: Option<&'a [u8]>,
    /// The bytes after the levels.
    pub values: &'a [u8],
}

/// Splits the levels from the values of a first-generation data page.
pub(super) fn split(
    column: Column,
    page: &[u8],
    values: usize,
    repetition: Encoding,
    definition: Encoding,
) -> Result<Parts<'_>, Reason> {
    let (repetition, behind) = take_level(page, values, column.max_repetition, repetition)?;
    let (definition, values) = take_level(behind, values, column.max_definition, definition)?;
    Ok(Parts { repetition, definition, values })
}

/// Checks the run-length encoded levels of `values` values.
pub(super) fn levels(column: Column, parts: &Parts<'_>, values: usize) -> Result<(), Reason> {
    for (levels, most) in [(parts.repetition, column.max_repetition), (parts.definition, column.max_definition)] {
        if let Some(levels) = levels {
            hybrid::check(levels, level_bits(most)?, most.unsigned_abs().into(), values)?;
        }
    }
    Ok(())
}

/// Counts the rows that start in a page: values with repetition level 0. The first value of a page must start one.
pub(super) fn rows(column: Column, repetition: &[u8], values: usize) -> Result<u64, Reason> {
    let mut found = Vec::new();
    hybrid::decode(repetition, level_bits(column.max_repetition)?, 0..values, &mut found)?;
    match found.first() {
        Some(1..) => Err("a page starts inside a row"),
        _ => Ok(found.iter().filter(|level| **level == 0).count() as u64),
    }
}

/// Run-length encoded levels, and the bytes after them.
type Taken<'a> = (Option<&'a [u8]>, &'a [u8]);

fn take_level(page: &[u8], values: usize, most: i16, encoding: Encoding) -> Result<Taken<'_>, Reason> {
    const SHORT: Reason = "a page ends inside its levels";
    let bits = level_bits(most)?;
    if bits == 0 {
        return Ok((None, page));
    }
    match encoding {
        Encoding::RLE => {
            let (length, behind) = page.split_first_chunk::<4>().ok_or(SHORT)?;
            let (levels, values) = behind.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or(SHORT)?;
            Ok((Some(levels), values))
        }
        #[allow(deprecated)] // old files have bit-packed levels
        Encoding::BIT_PACKED => {
            let length = (values * bits as usize).div_ceil(8);
            page.get(length..).map(|values| (None, values)).ok_or(SHORT)
        }
        _ => Err("the encoding is not valid for levels"),
    }
}

/// Returns the number of bits of a level that is at most `most`.
fn level_bits(most: i16) -> Result<u32, Reason> {
    let most = u16::try_from(most).map_err(|_| "a level is negative")?;
    Ok(most.checked_ilog2().map_or(0, |log| log + 1))
}

/// Whether any of the first `values` definition levels means that there is a value.
fn any_value(column: Column, levels: &[u8], values: usize) -> Result<bool, Reason> {
    let mut found = Vec::new();
    hybrid::decode(levels, level_bits(column.max_definition)?, 0..values, &mut found)?;
    Ok(found.iter().any(|level| i64::from(*level) == i64::from(column.max_definition)))
}

/// The maximum size of the decoded values of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Growth {
    /// Total size of all values, bytes.
    pub total: u64,
    /// Size of the longest value, bytes.
    pub longest: u64,
}

/// Checks the values of a data page. `values` is the declared number of values, including nulls, and `entry` the length of
/// the longest entry of the dictionary.
pub(super) fn values(
    column: Column,
    page: &Parts<'_>,
    values: usize,
    encoding: Encoding,
    entry: usize,
) -> Result<Growth, Reason> {
    let definition = page.definition;
    let page = page.values;
    let stored = page.len() as u64;
    let fixed = Growth { total: values as u64 * column.width as u64, longest: column.width as u64 };
    match encoding {
        Encoding::PLAIN if column.is_bytes() => Ok(Growth { total: stored, longest: stored }),
        Encoding::PLAIN | Encoding::RLE => Ok(fixed),
        Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => match page.first() {
            Some(bits) if *bits > 32 => Err("dictionary keys have more than 32 bits"),
            _ => Ok(Growth { total: (values as u64).saturating_mul(entry as u64), longest: entry as u64 }),
        },
        Encoding::DELTA_BINARY_PACKED => {
            let count = if page.is_empty() { 0 } else { delta::Head::parse(page, &mut 0, values)?.count };
            // The decoder subtracts from the run's declared count, and must not underflow.
            let is_short = match definition {
                _ if count > 0 || values == 0 => false,
                Some(levels) => any_value(column, levels, values)?,
                None => column.max_definition == 0,
            };
            if is_short { Err("a delta-encoded run declares no values, but there are some") } else { Ok(fixed) }
        }
        Encoding::DELTA_LENGTH_BYTE_ARRAY => {
            if !page.is_empty() {
                let mut at = 0;
                let lengths = lengths(page, &mut at, values)?;
                fits(&lengths, page, at)?;
            }
            Ok(Growth { total: stored, longest: stored })
        }
        Encoding::DELTA_BYTE_ARRAY => delta_byte_array(page, values),
        Encoding::BYTE_STREAM_SPLIT => {
            if column.width == 0 || !page.len().is_multiple_of(column.width) || page.len() / column.width > values {
                return Err("the length of split byte streams is not a multiple of the value size");
            }
            Ok(fixed)
        }
        #[allow(unreachable_patterns)] // the enumeration may grow
        _ => Err("the encoding is not valid for values"),
    }
}

/// Decodes a run of lengths, none of which may be negative.
fn lengths(page: &[u8], at: &mut usize, most: usize) -> Result<Vec<i64>, Reason> {
    let mut lengths = Vec::new();
    delta::decode(page, at, most, most, &mut lengths)?;
    // The decoder computes with 32 bits, where larger numbers would wrap around.
    if lengths.iter().any(|length| i32::try_from(*length).map_or(true, |length| length < 0)) {
        return Err("a length is negative or too large");
    }
    Ok(lengths)
}

fn fits(lengths: &[i64], page: &[u8], at: usize) -> Result<(), Reason> {
    let total: i128 = lengths.iter().map(|length| i128::from(*length)).sum();
    if total > (page.len() - at) as i128 { Err("a page ends inside a value") } else { Ok(()) }
}

fn delta_byte_array(page: &[u8], values: usize) -> Result<Growth, Reason> {
    if page.is_empty() {
        return Ok(Growth { total: 0, longest: 0 });
    }
    let mut at = 0;
    let prefixes = lengths(page, &mut at, values)?;
    let suffixes = lengths(page, &mut at, values)?;
    if prefixes.len() != suffixes.len() {
        return Err("the numbers of prefixes and suffixes in a page differ");
    }
    fits(&suffixes, page, at)?;
    let mut growth = Growth { total: 0, longest: 0 };
    let mut before = 0;
    for (prefix, suffix) in prefixes.into_iter().zip(suffixes) {
        if prefix > before {
            return Err("a prefix is longer than the value before it");
        }
        before = prefix + suffix;
        growth.total = growth.total.saturating_add(before.cast_unsigned());
        growth.longest = growth.longest.max(before.cast_unsigned());
    }
    Ok(growth)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const TEXT: Column = Column { physical: Type::BYTE_ARRAY, width: 0, max_definition: 1, max_repetition: 0 };
    const LONG: Column = Column { physical: Type::INT64, width: 8, max_definition: 0, max_repetition: 0 };

    fn plain(values: &[u8]) -> Parts<'_> {
        Parts { repetition: None, definition: None, values }
    }

    #[test]
    fn dictionaries_must_hold_what_they_claim() {
        let page = [3, 0, 0, 0, b'a', b'b', b'c', 1, 0, 0, 0, b'd'];
        assert_eq!(dictionary(TEXT, &page, 2, Encoding::PLAIN), Ok(3));
        assert!(dictionary(TEXT, &page, 3, Encoding::PLAIN).is_err());
        assert_eq!(dictionary(LONG, &[0; 16], 2, Encoding::PLAIN), Ok(8));
        assert!(dictionary(LONG, &[0; 16], usize::MAX, Encoding::PLAIN).is_err());
        assert!(dictionary(LONG, &[0; 16], 2, Encoding::RLE).is_err());
    }

    #[test]
    fn levels_must_lie_inside_the_page() {
        let page = [2, 0, 0, 0, 9, 9, 7];
        let parts = Parts { repetition: None, definition: Some(&[9, 9]), values: &[7] };
        assert_eq!(split(TEXT, &page, 4, Encoding::RLE, Encoding::RLE), Ok(parts));
        assert!(split(TEXT, &page[..5], 4, Encoding::RLE, Encoding::RLE).is_err());
        assert_eq!(split(LONG, &page, 4, Encoding::RLE, Encoding::RLE), Ok(plain(&page)));
        assert!(split(TEXT, &page, 4, Encoding::RLE, Encoding::PLAIN).is_err());
    }

    /// One block of 128 values in four miniblocks, with two values: `first`, then `first + delta`.
    fn two(first: u8, delta: u8) -> Vec<u8> {
        vec![0x80, 1, 4, 2, first << 1, delta << 1, 0, 0, 0, 0]
    }

    #[test]
    fn prefixes_cannot_be_longer_than_the_value_before() {
        let mut page = two(0, 2);
        page.extend(two(2, 0));
        page.extend(b"abcd");
        let growth = values(TEXT, &plain(&page), 2, Encoding::DELTA_BYTE_ARRAY, 0);
        assert_eq!(growth, Ok(Growth { total: 6, longest: 4 }));
        let mut page = two(0, 3);
        page.extend(two(2, 0));
        page.extend(b"abcd");
        assert!(values(TEXT, &plain(&page), 2, Encoding::DELTA_BYTE_ARRAY, 0).is_err());
        let mut negative = vec![0x80, 1, 4, 2, 0, 1, 0, 0, 0, 0];
        negative.extend(two(2, 0));
        negative.extend(b"abcd");
        assert!(values(TEXT, &plain(&negative), 2, Encoding::DELTA_BYTE_ARRAY, 0).is_err());
    }

    #[test]
    fn dictionary_keys_grow_by_the_longest_entry() {
        assert_eq!(
            values(TEXT, &plain(&[1, 2]), 1000, Encoding::RLE_DICTIONARY, 50),
            Ok(Growth { total: 50_000, longest: 50 })
        );
        assert!(values(TEXT, &plain(&[33]), 1000, Encoding::RLE_DICTIONARY, 50).is_err());
    }

    #[test]
    fn delta_runs_without_values_need_nulls() {
        let none = [0x80, 1, 4, 0, 0];
        let column = Column { max_definition: 1, ..LONG };
        let check = |column, levels: Option<&[u8]>| {
            let parts = Parts { repetition: None, definition: levels, values: &none };
            values(column, &parts, 8, Encoding::DELTA_BINARY_PACKED, 0).is_ok()
        };
        assert!(check(column, Some(&[16, 0])) && !check(column, Some(&[16, 1])) && !check(LONG, None));
    }
}
