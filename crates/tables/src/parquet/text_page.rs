//! Decodes texts of some rows of a page, for look-ups: copies only the wanted ones.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer};
use arrow_schema::DataType;
use parquet::basic::{Encoding, Type};

use super::page_check::Column;
use super::page_rows::{PageRows, Reason, SHORT, keys};

/// Texts, one after another; nulls are empty.
#[derive(Debug)]
pub(super) struct Texts {
    bytes: Vec<u8>,
    offsets: Vec<i32>,
    nulls: NullBufferBuilder,
}

/// Whether columns of this type with this storage can be decoded here.
pub(super) fn decodes(data_type: &DataType, column: Column) -> bool {
    let text = data_type == &DataType::Utf8 && column.physical == Type::BYTE_ARRAY;
    text && column.max_repetition == 0 && column.max_definition <= 1
}

/// Whether look-ups support this encoding of texts; delta encodings are left to the decoder of scans.
pub(super) fn knows(encoding: Encoding) -> bool {
    matches!(encoding, Encoding::PLAIN | Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY)
}

impl Texts {
    pub(super) fn with_capacity(rows: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Texts { bytes: Vec::new(), offsets, nulls: NullBufferBuilder::new(rows) }
    }

    /// Appends the `rows` of a page (counted in the page). `dictionary` contains the plain values to which keys refer.
    pub(super) fn append(
        &mut self,
        page: &PageRows<'_>,
        dictionary: Option<&[u8]>,
        rows: Range<usize>,
    ) -> Result<(), Reason> {
        let count = rows.len();
        let present = page.present(rows)?;
        let mut texts = match page.encoding {
            _ if present.values.is_empty() => Vec::new(),
            Encoding::PLAIN => {
                let skipped = Plain(page.values).skip(present.values.start);
                let texts: Vec<&[u8]> = skipped.take(present.values.len()).collect();
                if texts.len() < present.values.len() {
                    return Err(SHORT);
                }
                texts
            }
            _ => entries(dictionary.ok_or("a page refers to a dictionary that does not exist")?, page, present.values)?,
        }
        .into_iter();
        match present.rows {
            None => {
                self.nulls.append_n_non_nulls(count);
                texts.try_for_each(|text| self.push(text))
            }
            Some(levels) => levels.into_iter().try_for_each(|level| {
                self.nulls.append(level == 1);
                self.push(if level == 1 { texts.next().ok_or(SHORT)? } else { &[] })
            }),
        }
    }

    fn push(&mut self, text: &[u8]) -> Result<(), Reason> {
        self.bytes.extend_from_slice(text);
        self.offsets.push(i32::try_from(self.bytes.len()).map_err(|_| "the texts are too long for one batch")?);
        Ok(())
    }

    /// Returns the texts after checking that they are UTF-8.
    pub(super) fn finish(mut self) -> Result<ArrayRef, Reason> {
        let offsets = OffsetBuffer::new(self.offsets.into());
        let array = StringArray::try_new(offsets, self.bytes.into(), self.nulls.finish());
        Ok(Arc::new(array.map_err(|_| "text is not UTF-8")?))
    }
}

/// Returns the entries of the dictionary to which the keys with the numbers `wanted` refer.
fn entries<'a>(dictionary: &'a [u8], page: &PageRows<'_>, wanted: Range<usize>) -> Result<Vec<&'a [u8]>, Reason> {
    const NOTHING: Reason = "a key is outside the dictionary";
    let keys = keys(page.values, wanted)?;
    let most = keys.iter().max().map_or(0, |key| *key as usize + 1);
    let entries: Vec<&[u8]> = Plain(dictionary).take(most).collect();
    keys.into_iter().map(|key| entries.get(key as usize).copied().ok_or(NOTHING)).collect()
}

/// Plain texts, each preceded by its length. The iterator ends at a truncated one.
struct Plain<'a>(&'a [u8]);

impl<'a> Iterator for Plain<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (length, behind) = self.0.split_first_chunk::<4>()?;
        let (text, rest) = behind.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        self.0 = rest;
        Some(text)
    }
}
