//! Key columns in the few forms that look-ups support.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Int64Array, LargeStringArray, StringArray, StringViewArray, UInt64Array};
use arrow_cast::cast;
use arrow_schema::DataType;
use isomorph_error::{Error, Place, Result};

use crate::sort::arrow_error;

/// The type of the keys of a look-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyKind {
    /// Integers in the range of `i64`.
    Signed,
    /// Integers in the range of `u64`.
    Unsigned,
    /// Texts, compared as bytes.
    Text,
}

/// A column of keys.
#[derive(Debug, Clone)]
pub(super) enum KeyColumn {
    Signed(Int64Array),
    Unsigned(UInt64Array),
    Text(StringArray),
    LargeText(LargeStringArray),
    TextView(StringViewArray),
}

impl KeyColumn {
    /// # Errors
    /// [`Kind::Unsupported`](isomorph_error::Kind::Unsupported) if the keys are neither integers nor texts.
    pub fn new(keys: &dyn Array) -> Result<Self> {
        let cast_to = |target| cast(keys, &target).map_err(arrow_error);
        Ok(match keys.data_type() {
            DataType::Int64 => KeyColumn::Signed(keys.as_primitive::<Int64Type>().clone()),
            DataType::UInt64 => KeyColumn::Unsigned(keys.as_primitive::<UInt64Type>().clone()),
            DataType::Int8 | DataType::Int16 | DataType::Int32 => {
                KeyColumn::Signed(cast_to(DataType::Int64)?.as_primitive::<Int64Type>().clone())
            }
            DataType::UInt8 | DataType::UInt16 | DataType::UInt32 => {
                KeyColumn::Unsigned(cast_to(DataType::UInt64)?.as_primitive::<UInt64Type>().clone())
            }
            DataType::Utf8 => KeyColumn::Text(keys.as_string().clone()),
            DataType::LargeUtf8 => KeyColumn::LargeText(keys.as_string().clone()),
            DataType::Utf8View => KeyColumn::TextView(keys.as_string_view().clone()),
            DataType::Dictionary(_, values) if !matches!(values.as_ref(), DataType::Dictionary(..)) => {
                KeyColumn::new(&cast_to(values.as_ref().clone())?)?
            }
            other => {
                let message = format!("keys must be integers or texts, found {other}");
                return Err(Error::unsupported(message));
            }
        })
    }

    pub fn kind(&self) -> KeyKind {
        match self {
            KeyColumn::Signed(_) => KeyKind::Signed,
            KeyColumn::Unsigned(_) => KeyKind::Unsigned,
            _ => KeyKind::Text,
        }
    }

    pub fn array(&self) -> &dyn Array {
        match self {
            KeyColumn::Signed(keys) => keys,
            KeyColumn::Unsigned(keys) => keys,
            KeyColumn::Text(keys) => keys,
            KeyColumn::LargeText(keys) => keys,
            KeyColumn::TextView(keys) => keys,
        }
    }

    pub fn len(&self) -> usize {
        self.array().len()
    }

    /// Returns an error if a key is null; `first_row` is the row of the first key.
    pub fn refuse_nulls(&self, first_row: u64) -> Result<()> {
        let null = self.array().nulls().and_then(|nulls| (0..nulls.len()).find(|at| nulls.is_null(*at)));
        match null {
            Some(at) => Err(Error::malformed("key is null").at(Place::default().row(first_row + at as u64))),
            None => Ok(()),
        }
    }

    /// Returns the texts, `None` for nulls. Empty for integers.
    pub fn texts(&self) -> Box<dyn Iterator<Item = Option<&[u8]>> + '_> {
        match self {
            KeyColumn::Text(keys) => Box::new(keys.iter().map(|text| text.map(str::as_bytes))),
            KeyColumn::LargeText(keys) => Box::new(keys.iter().map(|text| text.map(str::as_bytes))),
            KeyColumn::TextView(keys) => Box::new(keys.iter().map(|text| text.map(str::as_bytes))),
            KeyColumn::Signed(_) | KeyColumn::Unsigned(_) => Box::new(std::iter::empty()),
        }
    }

    /// Returns the keys as one kind of text column.
    ///
    /// # Errors
    /// [`Kind::TooLarge`](isomorph_error::Kind::TooLarge) if they take more than 2 GiB.
    pub fn utf8(&self) -> Result<ArrayRef> {
        cast(self.array(), &DataType::Utf8).map_err(arrow_error)
    }

    /// Returns the integers as numbers in the order of `kind`, and those that are out of range (null entries may have
    /// any value). `None` for texts.
    pub fn ordinals(&self, kind: KeyKind) -> Option<Ordinals<'_>> {
        let outside = |sign: &dyn Fn(usize) -> bool| (0..self.len()).filter(|at| sign(*at)).collect();
        match (self, kind) {
            (KeyColumn::Unsigned(keys), KeyKind::Unsigned) => {
                Some(Ordinals { numbers: Cow::Borrowed(keys.values()), outside: Vec::new() })
            }
            (KeyColumn::Signed(keys), KeyKind::Signed) => {
                let numbers = keys.values().iter().map(|key| ordinal(*key)).collect();
                Some(Ordinals { numbers: Cow::Owned(numbers), outside: Vec::new() })
            }
            (KeyColumn::Signed(keys), KeyKind::Unsigned) => {
                let numbers = keys.values().iter().map(|key| key.cast_unsigned()).collect();
                Some(Ordinals { numbers: Cow::Owned(numbers), outside: outside(&|at| keys.value(at) < 0) })
            }
            (KeyColumn::Unsigned(keys), KeyKind::Signed) => {
                let numbers = keys.values().iter().map(|key| ordinal(key.cast_signed())).collect();
                Some(Ordinals { numbers: Cow::Owned(numbers), outside: outside(&|at| keys.value(at) >> 63 == 1) })
            }
            _ => None,
        }
    }
}

/// Integer keys as unsigned numbers in the same order.
pub(super) struct Ordinals<'a> {
    pub numbers: Cow<'a, [u64]>,
    /// Positions of the values outside the range of the kind, ascending.
    pub outside: Vec<usize>,
}

/// Maps a signed key to an unsigned number in the same order.
#[inline]
pub(super) fn ordinal(key: i64) -> u64 {
    key.cast_unsigned() ^ (1 << 63)
}

/// The inverse of [`ordinal`].
pub(super) fn signed(ordinal: u64) -> i64 {
    (ordinal ^ (1 << 63)).cast_signed()
}

/// Returns keys in the output type of a kind.
pub(super) fn integers(kind: KeyKind, ordinals: Vec<u64>) -> ArrayRef {
    match kind {
        KeyKind::Signed => Arc::new(Int64Array::from_iter_values(ordinals.into_iter().map(signed))),
        _ => Arc::new(UInt64Array::from(ordinals)),
    }
}
