//! Features in JSON: `float_feature`, `sparse_int32_feature`, `binary_feature` and so on.

use super::super::Reading;
use super::super::fault::{Fault, Parsed, shown};
use super::Slots;
use super::scan::Scan;
use crate::block::{Block, Kind};
use crate::number::{self, Wrong};
use crate::{DType, rules};

/// Ids of features, at most: lists are as long as the largest.
const MOST_IDS: i128 = 65_536;

/// Passes a member that may be a map of features.
///
/// # Errors
/// When it is one of a type that is not known, or its values are none.
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
    if scan.null() {
        return Ok(());
    }
    let form = Form::of_key(key);
    scan.object(|scan, id, id_at| {
        let form =
            form.ok_or_else(|| Fault::new(&rules::DTYPE, format!("{} is no type of features", shown(key)), key_at))?;
        let id = match number::integer(id) {
            Ok(id @ 0..MOST_IDS) => id as usize,
            _ => return Err(Fault::new(&rules::NUMBER, format!("{} is no id of a feature", shown(id)), id_at)),
        };
        let start = slots.bytes.len();
        let kind = form.value(scan, &mut slots.bytes, block)?;
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

    fn value(self, scan: &mut Scan<'_>, out: &mut Vec<u8>, block: &mut Block) -> Parsed<Kind> {
        let at = scan.here();
        match self {
            Form::Text => {
                if scan.peek() != Some(b'"') {
                    return Err(Fault::new(&rules::DTYPE, "the value of a binary feature is a text", at));
                }
                out.extend_from_slice(&scan.string()?.bytes()?);
                Ok(Kind::Text)
            }
            Form::Dense(dtype) if is_temporal(scan) => temporal(scan, dtype, out, block),
            Form::Dense(dtype) => {
                // Null is no number for Python's floats.
                if scan.null() {
                    let nan = number::push_float(dtype, f64::NAN, out);
                    nan.map_err(|wrong| Fault::number(wrong, dtype.name(), b"null", at))?;
                    return Ok(Kind::Dense(dtype));
                }
                let start = out.len();
                let mut shape = Shape::default();
                tensor(scan, dtype, 0, &mut shape, out, block)?;
                if out.len() == start {
                    return Err(Fault::new(&rules::FIELD, "an empty list of values", at));
                }
                Ok(Kind::Dense(dtype))
            }
            Form::Sparse(dtype) => sparse(scan, dtype, out, block),
        }
    }
}

/// Whether a list of values at times stands here.
fn is_temporal(scan: &Scan<'_>) -> bool {
    let mut ahead = scan.clone();
    let mut temporal = false;
    // What is wrong with it is said when it is read.
    let _ = ahead.array(|scan| {
        temporal |= scan.peek() == Some(b'{');
        Err(Fault::new(&rules::JSON, "", 0))
    });
    temporal
}

/// The sides of nested lists, as far as they are known.
#[derive(Debug, Default)]
struct Shape {
    sides: Vec<usize>,
    /// Where a number stood.
    depth: Option<usize>,
}

/// Appends numbers of nested lists, which are of one length on each level.
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
    Fault::new(&rules::JSON, "lists of different lengths inside one list", at)
}

/// Appends one number: a text that is one counts as well, and so do true and false.
fn value(scan: &mut Scan<'_>, dtype: DType, out: &mut Vec<u8>, block: &mut Block) -> Parsed {
    let at = scan.here();
    // What nearly every number is.
    let quick = match dtype {
        DType::Float16 | DType::Float32 | DType::Float64 => {
            scan.decimal().map(|(value, _)| number::push_float(dtype, value, out))
        }
        _ => scan.integer().map(|value| number::push_integer(dtype, i128::from(value), out)),
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
        let pushed = number::push_integer(dtype, i128::from(truth), out);
        return pushed.map_err(|wrong| Fault::number(wrong, dtype.name(), b"a truth value", at));
    }
    let (text, in_quotes) = match scan.peek() {
        Some(b'"') => (scan.string()?.bytes()?, true),
        _ => (std::borrow::Cow::Borrowed(scan.number("a number")?.0), false),
    };
    let pushed = match number::push(dtype, &text, out) {
        Err(Wrong::NotNumber) if !in_quotes => {
            number::float(&text).and_then(|value| number::push_float(dtype, value, out))
        }
        Err(Wrong::Range) if dtype == DType::UInt64 => wrapped(&text, out, block, at),
        pushed => pushed,
    };
    pushed.map_err(|wrong| Fault::number(wrong, dtype.name(), &text, at))
}

/// The specification's example has −1 among unsigned numbers of 64 bits.
fn wrapped(text: &[u8], out: &mut Vec<u8>, block: &mut Block, at: usize) -> Result<(), Wrong> {
    let value = i64::try_from(number::integer(text)?).map_err(|_| Wrong::Range)?;
    block.repaired(&rules::WRAPPED, at);
    out.extend_from_slice(&value.to_le_bytes());
    Ok(())
}

fn sparse(scan: &mut Scan<'_>, dtype: DType, out: &mut Vec<u8>, block: &mut Block) -> Parsed<Kind> {
    let at = scan.here();
    let start = out.len();
    let (mut coordinates, mut values) = (None, None);
    // Coordinates come before values in what is stored, whatever the order of the members.
    let mut behind = Vec::new();
    out.extend_from_slice(&[0; 8]);
    scan.object(|scan, key, _| {
        match key {
            b"coordinates" => {
                let mut shape = Shape::default();
                out.truncate(start + 8);
                tensor(scan, DType::Int64, 0, &mut shape, out, block)?;
                coordinates = Some(shape);
            }
            b"values" => {
                let mut shape = Shape::default();
                behind.clear();
                tensor(scan, dtype, 0, &mut shape, &mut behind, block)?;
                values = Some(shape);
            }
            _ => scan.skip()?,
        }
        Ok(())
    })?;
    let missing = |what: &str| Fault::new(&rules::JSON, format!("a sparse feature without {what}"), at);
    let (coordinates, values) =
        (coordinates.ok_or_else(|| missing("coordinates"))?, values.ok_or_else(|| missing("values"))?);
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

/// Values at times: a count, the times in ascending order, where each value begins and the last ends, the values, 8 zeros.
fn temporal(scan: &mut Scan<'_>, dtype: DType, out: &mut Vec<u8>, block: &mut Block) -> Parsed<Kind> {
    let at = scan.here();
    let mut values: Vec<u8> = Vec::new();
    let mut found: Vec<(i64, std::ops::Range<usize>)> = Vec::new();
    scan.array(|scan| {
        let at = scan.here();
        let (mut created, start) = (None, values.len());
        let mut has_values = false;
        scan.object(|scan, key, _| {
            match key {
                b"created_at" => created = super::time(scan)?,
                b"values" => {
                    values.truncate(start);
                    tensor(scan, dtype, 0, &mut Shape::default(), &mut values, block)?;
                    has_values = true;
                }
                _ => scan.skip()?,
            }
            Ok(())
        })?;
        let created = created.filter(|_| has_values);
        let created =
            created.ok_or_else(|| Fault::new(&rules::JSON, "a value at a time has values and created_at", at))?;
        found.push((created, start..values.len()));
        Ok(())
    })?;
    found.sort_by_key(|(created, _)| *created);
    let count = u32::try_from(found.len()).map_err(|_| Fault::new(&rules::NUMBER, "too many times", at))?;
    let mut offset = 4 + 8 * (2 * i64::from(count) + 1);
    out.extend_from_slice(&count.to_le_bytes());
    found.iter().for_each(|(created, _)| out.extend_from_slice(&created.to_le_bytes()));
    for (_, bytes) in &found {
        out.extend_from_slice(&offset.to_le_bytes());
        offset += bytes.len() as i64;
    }
    out.extend_from_slice(&offset.to_le_bytes());
    found.into_iter().for_each(|(_, bytes)| out.extend_from_slice(&values[bytes]));
    out.extend_from_slice(&[0; 8]);
    Ok(Kind::Temporal(dtype))
}
