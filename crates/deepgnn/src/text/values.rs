//! Features as words: a type, a length, values.

use super::fault::{Fault, Parsed, shown};
use crate::block::{Features, Kind};
use crate::number::{self, Overflow, Wrong};
use crate::{DType, rules};

/// The kind of the values of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values {
    Numbers(DType),
    Text,
}

impl Values {
    /// Returns the type with this name; `text` is the name for text, which differs between the formats.
    pub fn of_name(name: &[u8], text: &[u8]) -> Option<Values> {
        if name == text { Some(Values::Text) } else { DType::of_name(name).map(Values::Numbers) }
    }
}

/// The length of a feature: the number of its values and, for sparse features, of its coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// This number of values.
    Dense(usize),
    /// Points and values.
    Sparse {
        /// Number of integers in the coordinates.
        coordinates: usize,
        /// Number of points, from the first dimension of the coordinates.
        points: usize,
        /// Number of coordinates of a point, from the last dimension.
        width: u32,
        /// Whether the coordinates have only one dimension.
        flat: bool,
        values: usize,
    },
}

impl Length {
    /// Returns the length for dimensions of coordinates and a number of values, as Linear writes them.
    pub fn of_sides(sides: &[usize], values: usize) -> Option<Length> {
        let (Some(first), Some(last)) = (sides.first(), sides.last()) else { return Some(Length::Dense(values)) };
        let coordinates = sides.iter().try_fold(1usize, |product, side| product.checked_mul(*side))?;
        let flat = sides.len() == 1;
        let width = if flat { 1 } else { u32::try_from(*last).ok()? };
        Some(Length::Sparse { coordinates, points: *first, width, flat, values })
    }

    /// Returns the maximum number of words that it requires.
    pub fn words(&self) -> usize {
        match *self {
            Length::Dense(values) => values,
            Length::Sparse { coordinates, values, .. } => coordinates.saturating_add(values),
        }
    }
}

/// Words with any separator.
pub(crate) trait Words<'a> {
    /// Returns the next word and its position.
    fn word(&mut self) -> Option<(&'a [u8], usize)>;
    /// Returns the position of the next word.
    fn here(&mut self) -> usize;
}

/// In which respects the values of features are read as the published decoders read them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Like {
    /// A line may end before all values.
    pub fewer: bool,
    /// Every boolean is true.
    pub truth: bool,
    /// Numbers that a float type cannot represent are infinite.
    pub overflow: bool,
    /// The sparse feature of the specification's example is read as in its later edition.
    pub example: bool,
}

impl Like {
    /// Returns how a number that a float type cannot represent is handled.
    pub fn overflow(self) -> Overflow {
        if self.overflow { Overflow::Infinite } else { Overflow::Refused }
    }
}

/// Parses and appends the values of one feature. Returns whether it was that of the specification's example and was
/// corrected.
///
/// # Errors
/// Returns an error if there are too few values, or one is not a number of the type.
pub(crate) fn read<'a>(
    words: &mut impl Words<'a>,
    dtype: DType,
    length: Length,
    like: Like,
    out: &mut Features,
) -> Parsed<bool> {
    let place = words.here();
    match length {
        Length::Dense(values) => {
            numbers(words, dtype, values, like, &mut out.bytes)?;
            out.end_feature(Kind::Dense(dtype));
        }
        Length::Sparse { coordinates, points, width, flat, values } => {
            let start = out.bytes.len();
            let count = u32::try_from(coordinates)
                .map_err(|_| Fault::new(&rules::NUMBER, "more than 4294967295 coordinates", place))?;
            out.bytes.extend_from_slice(&count.to_le_bytes());
            out.bytes.extend_from_slice(&width.to_le_bytes());
            numbers(words, DType::Int64, coordinates, Like::default(), &mut out.bytes)?;
            let read = numbers(words, dtype, values, like, &mut out.bytes)?;
            if like.example && dtype == DType::UInt8 && out.bytes[start..] == EXAMPLE {
                out.bytes.truncate(start);
                out.bytes.extend_from_slice(&CORRECTED);
                out.end_feature(Kind::Sparse(dtype, width));
                return Ok(true);
            }
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
    Ok(false)
}

/// The sparse feature of the specification's example, `2,3 0 4 1 1 1`, as it would be stored: two coordinates and three
/// values.
const EXAMPLE: [u8; 27] = example(2, [0, 4, 0x0001_0101]);

/// The same in the project's later documentation: `3,3 0 4 10 1 1 1`.
const CORRECTED: [u8; 35] = example(3, [0, 4, 10, 0x0001_0101]);

/// Counts, followed by 64-bit numbers, of which the last has only three bytes.
const fn example<const NUMBERS: usize, const BYTES: usize>(count: u8, numbers: [u64; NUMBERS]) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    bytes[0] = count;
    bytes[4] = 1;
    let mut at = 8;
    while at < BYTES {
        bytes[at] = numbers[(at - 8) / 8].to_le_bytes()[(at - 8) % 8];
        at += 1;
    }
    bytes
}

/// Appends `count` numbers. Returns how many there were; fewer are accepted only if the published converter is
/// imitated.
fn numbers<'a>(words: &mut impl Words<'a>, dtype: DType, count: usize, like: Like, out: &mut Vec<u8>) -> Parsed<usize> {
    for read in 0..count {
        let Some((word, at)) = words.word() else {
            if like.fewer {
                return Ok(read);
            }
            let message = format!("{read} values, but the feature has length {count}");
            return Err(Fault::new(&rules::SHORT, message, words.here()));
        };
        one(dtype, word, at, like, out)?;
    }
    Ok(count)
}

/// Appends one number.
pub(crate) fn one(dtype: DType, word: &[u8], at: usize, like: Like, out: &mut Vec<u8>) -> Parsed {
    // For the published converter every text is true, including 0 and False.
    if like.truth && dtype == DType::Bool {
        out.push(u8::from(!word.is_empty()));
        return Ok(());
    }
    number::push(dtype, word, like.overflow(), out).map_err(|wrong| Fault::number(wrong, dtype.name(), word, at))
}

/// The largest type. Types are counted from 0, so that a large one makes long lists in every file that names them.
pub(crate) const LAST_TYPE: i64 = 65_535;

/// Parses a type of a node or an edge.
pub(crate) fn element_type(word: &[u8], at: usize) -> Parsed<i32> {
    const LAST: i128 = LAST_TYPE as i128;
    match number::integer(word) {
        #[expect(clippy::cast_possible_truncation, reason = "at most LAST_TYPE")]
        Ok(ty @ 0..=LAST) => Ok(ty as i32),
        Ok(ty) => Err(Fault::new(&rules::TYPE, format!("{ty} is not a valid type"), at)),
        Err(wrong) => Err(Fault::number(wrong, "type", word, at)),
    }
}

/// Parses an id of a node.
pub(crate) fn id(word: &[u8], at: usize) -> Parsed<u64> {
    number::id(word.trim_ascii()).map_err(|wrong| match wrong {
        Wrong::Range => Fault::new(&rules::ID, format!("{} is not a valid id", shown(word)), at),
        Wrong::NotNumber | Wrong::Fraction => Fault::number(wrong, "id", word, at),
    })
}

/// Parses a weight: a number that fits into 32 bits. With others, including NaN and infinity, the published converter
/// makes binaries that its engine cannot open or sample from.
pub(crate) fn weight(word: &[u8], at: usize) -> Parsed<f64> {
    let value = number::float(word).map_err(|wrong| Fault::number(wrong, "weight", word, at))?;
    match is_weight(value) {
        true => Ok(value),
        false => Err(Fault::new(&rules::WEIGHT, format!("{} is not a valid weight", shown(word)), at)),
    }
}

/// Returns whether a number is finite in 32 bits.
pub(crate) fn is_weight(value: f64) -> bool {
    number::single(value).is_finite()
}

/// Parses a time.
pub(crate) fn time(word: &[u8], at: usize) -> Parsed<i64> {
    let value = number::integer(word).and_then(|time| i64::try_from(time).map_err(|_| Wrong::Range));
    value.map_err(|wrong| Fault::number(wrong, "time", word, at))
}
