//! Features in JSON: `float_feature`, `sparse_int32_feature`, `binary_feature` and so on.

use std::ops::Range;

use super::super::Reading;
use super::super::fault::{Fault, Parsed, shown};
use super::scan::Scan;
use super::{Key, SinceElement, Slots, of_python};
use crate::block::{Block, Kind};
use crate::feature::Timed;
use crate::number::{self, Wrong};
use crate::{DType, rules};

/// Maximum number of feature ids: lists are as long as the largest id.
const MOST_IDS: i128 = 65_536;

/// Parses a member that may be a map of features.
///
/// # Errors
/// Returns an error if its type is not known, or its values are invalid.
pub(super) fn member(
    reading: &Reading,
    scan: &mut Scan<'_>,
    key: &[u8],
    key_at: usize,
    slots: &mut Slots,
    block: &mut Block,
) -> Parsed {
    if memchr::memmem::find(key, b"feature").is_none() {
        return scan.skip();
    }
    let known = slots.keys.iter_mut().find(|known| scan.part(known.at, known.length) == key);
    let value = scan.here();
    match known {
        Some(known) => {
            known.value = value;
            block.repaired(&rules::JSON_TWICE, key_at);
        }
        None => slots.keys.push(Key { at: key_at, length: key.len(), value }),
    }
    // For a repeated key, the published converter uses the last value, in the position of the first.
    if reading.compat { scan.skip() } else { features(reading, scan, key, key_at, slots, block) }
}

/// Parses the features that were deferred until all members with the same key are known.
///
/// # Errors
/// Returns the errors of [`member`].
pub(super) fn finish(reading: &Reading, scan: &Scan<'_>, slots: &mut Slots, block: &mut Block) -> Parsed {
    if reading.compat {
        for at in 0..slots.keys.len() {
            let key = slots.keys[at];
            features(reading, &mut scan.moved(key.value), scan.part(key.at, key.length), key.at, slots, block)?;
        }
    }
    Ok(())
}

/// Parses features by their ids.
fn features(
    reading: &Reading,
    scan: &mut Scan<'_>,
    key: &[u8],
    key_at: usize,
    slots: &mut Slots,
    block: &mut Block,
) -> Parsed {
    if scan.null() {
        return Ok(());
    }
    let form = Form::of_key(key);
    scan.object(|scan, id, id_at| {
        let form =
            form.ok_or_else(|| Fault::new(&rules::DTYPE, format!("{} is not a feature type", shown(key)), key_at))?;
        let id = match number::integer(id) {
            #[expect(clippy::cast_sign_loss, reason = "from 0 to below MOST_IDS")]
            Ok(id @ 0..MOST_IDS) => id as usize,
            _ => return Err(Fault::new(&rules::NUMBER, format!("{} is not a feature id", shown(id)), id_at)),
        };
        let start = slots.bytes.len();
        let kind = form.value(scan, slots, block)?;
        if slots.set(id, kind, start, reading.compat) {
            block.repaired(&rules::FEATURE_ID, id_at);
        }
        Ok(())
    })
}

/// How the values of a key are written.
#[derive(Debug, Clone, Copy)]
enum Form {
    Text,
    Dense(DType),
    Sparse(DType),
}

impl Form {
    fn of_key(key: &[u8]) -> Option<Form> {
        let word = key.strip_suffix(b"_feature")?;
        if word == b"binary" {
            return Some(Form::Text);
        }
        match word.strip_prefix(b"sparse_") {
            Some(word) => DType::of_json_key(word).map(Form::Sparse),
            None => DType::of_json_key(word).map(Form::Dense),
        }
    }

    fn value(self, scan: &mut Scan<'_>, slots: &mut Slots, block: &mut Block) -> Parsed<Kind> {
        let at = scan.here();
        match self {
            _ if is_temporal(scan) => self.temporal(scan, slots, block),
            Form::Text => {
                text(scan, &mut slots.bytes)?;
                Ok(Kind::Text)
            }
            Form::Dense(dtype) => {
                let out = &mut slots.bytes;
                // Python's floats do not accept null.
                if scan.null() {
                    let nan = number::push_float(dtype, f64::NAN, scan.overflow, out);
                    nan.map_err(|wrong| Fault::number(wrong, dtype.name(), b"null", at))?;
                    return Ok(Kind::Dense(dtype));
                }
                let start = out.len();
                let mut shape = Shape::default();
                tensor(scan, dtype, 0, &mut shape, out, block)?;
                if out.len() == start {
                    return Err(Fault::new(&rules::FIELD, "the list of values is empty", at));
                }
                Ok(Kind::Dense(dtype))
            }
            Form::Sparse(dtype) => {
                let mut sparse = Sparse::begin(dtype, &mut slots.bytes);
                scan.object(|scan, key, _| match sparse.member(scan, key, &mut slots.bytes, block)? {
                    true => Ok(()),
                    false => scan.skip(),
                })?;
                sparse.end(at, &mut slots.bytes)
            }
        }
    }

    /// Parses values at times: a count, the times in ascending order, the start of each value and the end of the last,
    /// the values as they are stored without times, 8 zeros. The published converter supports only dense values, and
    /// only with `created_at`; its documentation describes all kinds.
    fn temporal(self, scan: &mut Scan<'_>, slots: &mut Slots, block: &mut Block) -> Parsed<Kind> {
        let at = scan.here();
        let mut values: Vec<u8> = Vec::new();
        let mut found: Vec<(Option<i64>, Range<usize>)> = Vec::new();
        scan.array(|scan| {
            let at = scan.here();
            let (mut created, start) = (None, values.len());
            let mut has_values = false;
            let mut sparse = match self {
                Form::Sparse(dtype) => Some(Sparse::begin(dtype, &mut values)),
                _ => None,
            };
            scan.object(|scan, key, _| {
                if key == b"created_at" {
                    created = super::time(scan)?;
                    return Ok(());
                }
                if let Some(sparse) = &mut sparse {
                    return if sparse.member(scan, key, &mut values, block)? { Ok(()) } else { scan.skip() };
                }
                if key != b"values" {
                    return scan.skip();
                }
                values.truncate(start);
                has_values = true;
                match self {
                    Form::Dense(dtype) => tensor(scan, dtype, 0, &mut Shape::default(), &mut values, block),
                    Form::Text | Form::Sparse(_) => only_text(scan, &mut values),
                }
            })?;
            match sparse {
                Some(sparse) => {
                    sparse.end(at, &mut values)?;
                }
                None if has_values => {}
                None => return Err(Fault::new(&rules::JSON, "a value at a time must not be empty", at)),
            }
            found.push((created, start..values.len()));
            Ok(())
        })?;
        // A value without a time exists since its element does.
        found.sort_by_key(|(created, _)| *created);
        let count = u32::try_from(found.len()).map_err(|_| Fault::new(&rules::NUMBER, "too many times", at))?;
        let mut offset = 4 + 8 * (2 * i64::from(count) + 1);
        let out = &mut slots.bytes;
        out.extend_from_slice(&count.to_le_bytes());
        for (number, (created, _)) in found.iter().enumerate() {
            if created.is_none() {
                let followed = number + 1 < found.len();
                slots.since_element.push(SinceElement { place: out.len(), followed, at });
            }
            out.extend_from_slice(&created.unwrap_or(i64::MIN).to_le_bytes());
        }
        for (_, bytes) in &found {
            out.extend_from_slice(&offset.to_le_bytes());
            offset += bytes.len().cast_signed() as i64;
        }
        out.extend_from_slice(&offset.to_le_bytes());
        found.into_iter().for_each(|(_, bytes)| out.extend_from_slice(&values[bytes]));
        out.extend_from_slice(&[0; 8]);
        Ok(Kind::Temporal(match self {
            Form::Text => Timed::Text,
            Form::Dense(dtype) => Timed::Dense(dtype),
            Form::Sparse(dtype) => Timed::Sparse(dtype),
        }))
    }
}

/// Appends a text.
fn text(scan: &mut Scan<'_>, out: &mut Vec<u8>) -> Parsed {
    if scan.peek() != Some(b'"') {
        return Err(Fault::new(&rules::DTYPE, "the value of a binary feature must be a string", scan.here()));
    }
    out.extend_from_slice(&scan.string()?.bytes()?);
    Ok(())
}

/// Appends a text of a value at a time. It may be the only item of a list, as in the documentation.
fn only_text(scan: &mut Scan<'_>, out: &mut Vec<u8>) -> Parsed {
    if scan.peek() != Some(b'[') {
        return text(scan, out);
    }
    let (at, mut count) = (scan.here(), 0);
    scan.array(|scan| {
        count += 1;
        text(scan, out)
    })?;
    if count == 1 {
        Ok(())
    } else {
        Err(Fault::new(&rules::DTYPE, "a binary feature must have exactly one string", at))
    }
}

/// Returns whether the next value is a list of values at times.
fn is_temporal(scan: &Scan<'_>) -> bool {
    let mut ahead = scan.clone();
    let mut temporal = false;
    // Errors in it are reported when it is parsed.
    let _ = ahead.array(|scan| {
        temporal |= scan.peek() == Some(b'{');
        Err(Fault::new(&rules::JSON, "", 0))
    });
    temporal
}

/// The dimensions of nested lists, as far as they are known.
#[derive(Debug, Default)]
struct Shape {
    sides: Vec<usize>,
    /// The depth at which a number was found.
    depth: Option<usize>,
}

/// Appends numbers of nested lists, which must have the same length on each level.
fn tensor(
    scan: &mut Scan<'_>,
    dtype: DType,
    depth: usize,
    shape: &mut Shape,
    out: &mut Vec<u8>,
    block: &mut Block,
) -> Parsed {
    let at = scan.here();
    if scan.peek() != Some(b'[') {
        if *shape.depth.get_or_insert(depth) != depth {
            return Err(ragged(at));
        }
        return value(scan, dtype, out, block);
    }
    let mut count = 0;
    // The level of numbers is by far the longest: one pass without recursion.
    scan.array(|scan| {
        count += 1;
        match scan.peek() {
            Some(b'[') => tensor(scan, dtype, depth + 1, shape, out, block),
            _ if shape.depth.get_or_insert(depth + 1) != &(depth + 1) => Err(ragged(at)),
            _ => value(scan, dtype, out, block),
        }
    })?;
    if shape.sides.len() <= depth {
        shape.sides.resize(depth + 1, usize::MAX);
    }
    match shape.sides[depth] {
        usize::MAX => shape.sides[depth] = count,
        side if side == count => {}
        _ => return Err(ragged(at)),
    }
    Ok(())
}

fn ragged(at: usize) -> Box<Fault> {
    Fault::new(&rules::JSON, "lists inside a list have different lengths", at)
}

/// Appends one number. A string that contains a number is accepted as well, and so are true and false.
fn value(scan: &mut Scan<'_>, dtype: DType, out: &mut Vec<u8>, block: &mut Block) -> Parsed {
    let (at, overflow) = (scan.here(), scan.overflow);
    // The common case.
    let quick = match dtype {
        DType::Float16 | DType::Float32 | DType::Float64 => {
            scan.decimal().map(|(value, whole)| number::push_float(dtype, of_python(value, whole), overflow, out))
        }
        _ => scan.integer().map(|value| number::push_integer(dtype, i128::from(value), overflow, out)),
    };
    match quick {
        Some(Ok(())) => return Ok(()),
        Some(Err(_)) if dtype == DType::UInt64 => {
            let wrapped = wrapped(scan.behind(at), out, block, at);
            return wrapped.map_err(|wrong| Fault::number(wrong, dtype.name(), scan.behind(at), at));
        }
        Some(Err(wrong)) => return Err(Fault::number(wrong, dtype.name(), scan.behind(at), at)),
        None => {}
    }
    if let Some(truth) = scan.truth() {
        let pushed = number::push_integer(dtype, i128::from(truth), overflow, out);
        return pushed.map_err(|wrong| Fault::number(wrong, dtype.name(), b"a boolean", at));
    }
    let (text, in_quotes) = match scan.peek() {
        Some(b'"') => (scan.string()?.bytes()?, true),
        _ => (std::borrow::Cow::Borrowed(scan.number("a number")?.0), false),
    };
    let pushed = match number::push(dtype, &text, overflow, out) {
        Err(Wrong::NotNumber) if !in_quotes && scan.cuts => {
            number::float(&text).and_then(|value| number::push_float(dtype, value, overflow, out))
        }
        Err(Wrong::NotNumber) if !in_quotes => {
            number::whole_decimal(&text).and_then(|value| number::push_integer(dtype, value, overflow, out))
        }
        Err(Wrong::Range) if dtype == DType::UInt64 => wrapped(&text, out, block, at),
        pushed => pushed,
    };
    pushed.map_err(|wrong| Fault::number(wrong, dtype.name(), &text, at))
}

/// Parses −1 as an unsigned 64-bit number, as in the specification's example.
fn wrapped(text: &[u8], out: &mut Vec<u8>, block: &mut Block, at: usize) -> Result<(), Wrong> {
    let value = i64::try_from(number::integer(text)?).map_err(|_| Wrong::Range)?;
    block.repaired(&rules::WRAPPED, at);
    out.extend_from_slice(&value.to_le_bytes());
    Ok(())
}

/// A sparse feature that is being parsed.
struct Sparse {
    dtype: DType,
    start: usize,
    coordinates: Option<Shape>,
    values: Option<Shape>,
    /// Values, because coordinates are stored before values, whatever the order of the members.
    behind: Vec<u8>,
}

impl Sparse {
    fn begin(dtype: DType, out: &mut Vec<u8>) -> Sparse {
        let start = out.len();
        out.extend_from_slice(&[0; 8]);
        Sparse { dtype, start, coordinates: None, values: None, behind: Vec::new() }
    }

    /// Parses the value of a member if it belongs to a sparse feature. Returns whether it does.
    fn member(&mut self, scan: &mut Scan<'_>, key: &[u8], out: &mut Vec<u8>, block: &mut Block) -> Parsed<bool> {
        let mut shape = Shape::default();
        match key {
            b"coordinates" => {
                out.truncate(self.start + 8);
                tensor(scan, DType::Int64, 0, &mut shape, out, block)?;
                self.coordinates = Some(shape);
            }
            b"values" => {
                self.behind.clear();
                tensor(scan, self.dtype, 0, &mut shape, &mut self.behind, block)?;
                self.values = Some(shape);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Ends the feature that began at `at`.
    fn end(self, at: usize, out: &mut Vec<u8>) -> Parsed<Kind> {
        let Sparse { dtype, start, behind, .. } = self;
        let missing = |what: &str| Fault::new(&rules::JSON, format!("a sparse feature has no {what}"), at);
        let (coordinates, values) =
            (self.coordinates.ok_or_else(|| missing("coordinates"))?, self.values.ok_or_else(|| missing("values"))?);
        let (numbers, count) = ((out.len() - start - 8) / 8, behind.len() / dtype.size());
        let width = match coordinates.sides.as_slice() {
            [] | [_] => 1,
            [.., last] => *last,
        };
        if numbers == 0 || count == 0 {
            out.truncate(start);
            return Ok(Kind::Hole);
        }
        let points = coordinates.sides.first().copied().unwrap_or_default();
        let flat = coordinates.sides.len() == 1;
        if values.sides.len() != 1 || if count == 1 { !flat && points != 1 } else { points != count } {
            let message = format!("{points} points of coordinates for {count} values");
            return Err(Fault::new(&rules::COORDINATES, message, at));
        }
        let sides = u32::try_from(numbers).and_then(|numbers| Ok((numbers, u32::try_from(width)?)));
        let (numbers, width) = sides.map_err(|_| Fault::new(&rules::NUMBER, "more than 4294967295 coordinates", at))?;
        out[start..start + 4].copy_from_slice(&numbers.to_le_bytes());
        out[start + 4..start + 8].copy_from_slice(&width.to_le_bytes());
        out.extend_from_slice(&behind);
        Ok(Kind::Sparse(dtype, width))
    }
}
