//! Features in words: a type, a length, values.

use super::fault::{Fault, Parsed, shown};
use crate::block::{Features, Kind};
use crate::number::{self, Wrong};
use crate::{DType, rules};

/// What the values of a feature are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values {
    Numbers(DType),
    Text,
}

impl Values {
    /// The type that a word names; `text` is the word for text, which differs between the formats.
    pub fn of_name(name: &[u8], text: &[u8]) -> Option<Values> {
        if name == text { Some(Values::Text) } else { DType::of_name(name).map(Values::Numbers) }
    }
}

/// The length of a feature: of its values, and for sparse ones of its coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// So many values.
    Dense(usize),
    /// Points and values.
    Sparse {
        /// Numbers in the coordinates.
        coordinates: usize,
        /// Points, by the first side of the coordinates.
        points: usize,
        /// Numbers of a point, by the last side.
        width: u32,
        /// Whether the coordinates have one side only.
        flat: bool,
        values: usize,
    },
}

impl Length {
    /// The length that sides of coordinates and a number of values make, as Linear writes them.
    pub fn of_sides(sides: &[usize], values: usize) -> Option<Length> {
        let (Some(first), Some(last)) = (sides.first(), sides.last()) else { return Some(Length::Dense(values)) };
        let coordinates = sides.iter().try_fold(1usize, |product, side| product.checked_mul(*side))?;
        let flat = sides.len() == 1;
        let width = if flat { 1 } else { u32::try_from(*last).ok()? };
        Some(Length::Sparse { coordinates, points: *first, width, flat, values })
    }

    /// The most words that it can ask for.
    pub fn words(&self) -> usize {
        match *self {
            Length::Dense(values) => values,
            Length::Sparse { coordinates, values, .. } => coordinates.saturating_add(values),
        }
    }
}

/// Words, whatever divides them.
pub(crate) trait Words<'a> {
    /// The next word, and where it is.
    fn word(&mut self) -> Option<(&'a [u8], usize)>;
    /// Where the next word would be.
    fn here(&mut self) -> usize;
}

/// Reads the values of one feature and appends it.
///
/// # Errors
/// When there are too few, or one is no number of the type.
pub(crate) fn read<'a>(
    words: &mut impl Words<'a>,
    dtype: DType,
    length: Length,
    compat: bool,
    out: &mut Features,
) -> Parsed {
    let place = words.here();
    match length {
        Length::Dense(values) => {
            numbers(words, dtype, values, compat, &mut out.bytes)?;
            out.end_feature(Kind::Dense(dtype));
        }
        Length::Sparse { coordinates, points, width, flat, values } => {
            let start = out.bytes.len();
            let count = u32::try_from(coordinates)
                .map_err(|_| Fault::new(&rules::NUMBER, "more than 4294967295 coordinates", place))?;
            out.bytes.extend_from_slice(&count.to_le_bytes());
            out.bytes.extend_from_slice(&width.to_le_bytes());
            numbers(words, DType::Int64, coordinates, false, &mut out.bytes)?;
            let read = numbers(words, dtype, values, compat, &mut out.bytes)?;
            if count == 0 || read == 0 {
                // The published converter stores nothing of a feature that lacks either.
                out.bytes.truncate(start);
            } else if if read == 1 { !flat && points != 1 } else { points != read } {
                return Err(Fault::new(
                    &rules::COORDINATES,
                    format!("{points} points of coordinates for {read} values"),
                    place,
                ));
            }
            out.end_feature(Kind::Sparse(dtype, width));
        }
    }
    Ok(())
}

/// Appends so many numbers; returns how many there were, which are fewer only where that is imitated.
fn numbers<'a>(
    words: &mut impl Words<'a>,
    dtype: DType,
    count: usize,
    compat: bool,
    out: &mut Vec<u8>,
) -> Parsed<usize> {
    for read in 0..count {
        let Some((word, at)) = words.word() else {
            if compat {
                return Ok(read);
            }
            let message = format!("{read} values where {count} were announced");
            return Err(Fault::new(&rules::SHORT, message, words.here()));
        };
        one(dtype, word, at, compat, out)?;
    }
    Ok(count)
}

/// Appends one number.
pub(crate) fn one(dtype: DType, word: &[u8], at: usize, compat: bool, out: &mut Vec<u8>) -> Parsed {
    // For the published converter every text is true, also 0 and False.
    if compat && dtype == DType::Bool {
        out.push(u8::from(!word.is_empty()));
        return Ok(());
    }
    number::push(dtype, word, out).map_err(|wrong| Fault::number(wrong, dtype.name(), word, at))
}

/// The largest type. They are counted from 0 on, so a large one makes long lists in every file that names them.
pub(crate) const LAST_TYPE: i64 = 65_535;

/// A type of a node or an edge.
pub(crate) fn element_type(word: &[u8], at: usize) -> Parsed<i32> {
    const LAST: i128 = LAST_TYPE as i128;
    match number::integer(word) {
        Ok(ty @ 0..=LAST) => Ok(ty as i32),
        Ok(ty) => Err(Fault::new(&rules::TYPE, format!("{ty} is no type"), at)),
        Err(wrong) => Err(Fault::number(wrong, "type", word, at)),
    }
}

/// An id of a node.
pub(crate) fn id(word: &[u8], at: usize) -> Parsed<u64> {
    number::id(word.trim_ascii()).map_err(|wrong| match wrong {
        Wrong::Range => Fault::new(&rules::ID, format!("{} is no id", shown(word)), at),
        Wrong::NotNumber => Fault::number(wrong, "id", word, at),
    })
}

/// A weight.
pub(crate) fn weight(word: &[u8], at: usize) -> Parsed<f64> {
    number::float(word).map_err(|wrong| Fault::number(wrong, "weight", word, at))
}

/// A time.
pub(crate) fn time(word: &[u8], at: usize) -> Parsed<i64> {
    let value = number::integer(word).and_then(|time| i64::try_from(time).map_err(|_| Wrong::Range));
    value.map_err(|wrong| Fault::number(wrong, "time", word, at))
}
