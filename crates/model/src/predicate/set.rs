//! Integers or texts that the values of a column may be among.

use std::fmt;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, StringArray};
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType;
use isomorph_error::{Error, Kind, Result, index};
use xxhash_rust::xxh3::xxh3_64;

use super::Value;
use super::bind::value_type;

/// Integers or texts, each once. Clones share them.
#[derive(Clone, PartialEq)]
pub struct Set(Arc<Members>);

#[derive(PartialEq)]
enum Members {
    /// Ascending; where they lie close together, also a bit for each number from the first on.
    Ints(Vec<i128>, Option<BooleanBuffer>),
    /// Ascending by bytes, and a table of places among them by their hashes.
    Texts(StringArray, Vec<u32>),
}

/// Bits for each integer at most: where they lie further apart, they are searched for.
const SPREAD: i128 = 64;

/// No place.
const FREE: u32 = u32::MAX;

impl fmt::Debug for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a set of {}", self.len())
    }
}

impl Set {
    /// The most memory that a set of `keys` takes while it is made, bytes.
    pub fn bytes_for(keys: &dyn Array) -> u64 {
        40 * keys.len() as u64 + 2 * keys.get_array_memory_size() as u64
    }

    /// Integers.
    pub fn of_ints(ints: impl IntoIterator<Item = i128>) -> Self {
        let mut ints: Vec<i128> = ints.into_iter().collect();
        ints.sort_unstable();
        ints.dedup();
        let span = ints.first().zip(ints.last()).and_then(|(first, last)| last.checked_sub(*first)?.checked_add(1));
        let dense = span.filter(|span| *span <= SPREAD * ints.len() as i128).and_then(|span| {
            let (first, mut bits) = (*ints.first()?, vec![false; usize::try_from(span).ok()?]);
            ints.iter().filter_map(|int| usize::try_from(int - first).ok()).for_each(|at| bits[at] = true);
            Some(BooleanBuffer::from(bits))
        });
        Set(Arc::new(Members::Ints(ints, dense)))
    }

    /// What an array of integers or texts holds, without its nulls; also one with a dictionary of them.
    ///
    /// # Errors
    /// [`Kind::Usage`] for other types; [`Kind::TooLarge`] for more texts than an array of 2 GiB holds.
    pub fn of(keys: &dyn Array) -> Result<Self> {
        let cast = |to: &DataType| {
            arrow_cast::cast(keys, to).map_err(|error| Error::new(Kind::TooLarge, error.to_string()).caused_by(error))
        };
        match value_type(keys.data_type()) {
            DataType::UInt64 => {
                let keys = cast(&DataType::UInt64)?;
                Ok(Set::of_ints(keys.as_primitive::<UInt64Type>().iter().flatten().map(i128::from)))
            }
            integer if integer.is_integer() => {
                let keys = cast(&DataType::Int64)?;
                Ok(Set::of_ints(keys.as_primitive::<Int64Type>().iter().flatten().map(i128::from)))
            }
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                let keys = cast(&DataType::Utf8)?;
                let keys = keys.as_string::<i32>();
                let mut texts: Vec<&str> = keys.iter().flatten().collect();
                texts.sort_unstable();
                texts.dedup();
                let texts = StringArray::from_iter_values(texts);
                let places = places(&texts);
                Ok(Set(Arc::new(Members::Texts(texts, places))))
            }
            other => Err(Error::usage(format!("a set of values of type {other}: they are integers or texts"))),
        }
    }

    /// Number of its members.
    pub fn len(&self) -> usize {
        match &*self.0 {
            Members::Ints(ints, _) => ints.len(),
            Members::Texts(texts, _) => texts.len(),
        }
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The integers, ascending; nothing where these are texts.
    pub fn ints(&self) -> Option<&[i128]> {
        match &*self.0 {
            Members::Ints(ints, _) => Some(ints),
            Members::Texts(..) => None,
        }
    }

    /// The texts, ascending by bytes; nothing where these are integers.
    pub fn texts(&self) -> Option<&StringArray> {
        match &*self.0 {
            Members::Ints(..) => None,
            Members::Texts(texts, _) => Some(texts),
        }
    }

    /// Those of the integers that are rows, ascending.
    pub fn rows(&self) -> impl Iterator<Item = u64> {
        self.ints().unwrap_or_default().iter().filter_map(|int| u64::try_from(*int).ok())
    }

    /// Whether it has an integer.
    pub fn has_int(&self, int: i128) -> bool {
        match &*self.0 {
            Members::Ints(ints, Some(bits)) => {
                let at = ints.first().and_then(|first| usize::try_from(int.checked_sub(*first)?).ok());
                at.is_some_and(|at| at < bits.len() && bits.value(at))
            }
            Members::Ints(ints, None) => ints.binary_search(&int).is_ok(),
            Members::Texts(..) => false,
        }
    }

    /// Whether it has a text.
    pub fn has_text(&self, text: &str) -> bool {
        let Members::Texts(texts, places) = &*self.0 else { return false };
        let mut at = slot(text, places.len());
        while let Some(place) = places.get(at).copied().filter(|place| *place != FREE) {
            if texts.value(place as usize) == text {
                return true;
            }
            at = (at + 1) % places.len();
        }
        false
    }

    /// Whether any member is neither less than `least` nor greater than `greatest`, where these are known. A bound of another sort says nothing.
    pub(super) fn any_between(&self, least: Option<&Value>, greatest: Option<&Value>) -> bool {
        let (from, to) = match &*self.0 {
            Members::Ints(ints, _) => {
                let int = |bound: Option<&Value>| if let Some(Value::Int(int)) = bound { Some(*int) } else { None };
                let from = int(least).map_or(0, |least| ints.partition_point(|int| *int < least));
                (from, int(greatest).map_or(ints.len(), |greatest| ints.partition_point(|int| *int <= greatest)))
            }
            Members::Texts(texts, _) => {
                let before = |bytes: &[u8], and_equal: bool| {
                    let (mut low, mut high) = (0, texts.len());
                    while low < high {
                        let middle = low.midpoint(high);
                        let text = texts.value(middle).as_bytes();
                        if text < bytes || and_equal && text == bytes { low = middle + 1 } else { high = middle }
                    }
                    low
                };
                let text = |bound: Option<&Value>, and_equal, none| match bound {
                    Some(Value::Bytes(bytes)) => before(bytes, and_equal),
                    _ => none,
                };
                (text(least, false, 0), text(greatest, true, texts.len()))
            }
        };
        from < to
    }
}

/// The places of texts, in a table that is at least half empty.
fn places(texts: &StringArray) -> Vec<u32> {
    let mut places = vec![FREE; (2 * texts.len()).next_power_of_two()];
    for (place, text) in (0u32..).zip(texts.iter()) {
        let mut at = slot(text.unwrap_or_default(), places.len());
        while places.get(at).is_some_and(|other| *other != FREE) {
            at = (at + 1) % places.len();
        }
        places[at] = place;
    }
    places
}

/// Where a text is looked for first in a table of so many slots, a power of two.
fn slot(text: &str, slots: usize) -> usize {
    index(xxh3_64(text.as_bytes()) & (slots as u64).saturating_sub(1))
}
