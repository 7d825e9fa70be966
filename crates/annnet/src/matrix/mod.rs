//! The incidence matrix: three Zarr arrays of rows, columns and values.
//!
//! Only what annnet writes is read: one-dimensional arrays of numbers in regular chunks, as they are or in Blosc frames
//! of zstd. Whatever else Zarr knows is refused by name. A missing chunk is full of the fill value.

mod blosc;

use isomorph_error::{Error, Kind, Place, Result};
use isomorph_storage::{Budget, Reservation, limits};

use crate::layout::file;
use crate::members::Members;
use crate::read::json;
use crate::rules;

/// Most bytes of one chunk, unpacked.
const CHUNK_BYTES: u64 = 64 << 20;

/// The entries of a matrix, in the order of their columns.
pub(crate) struct Matrix {
    /// Column, row and value.
    pub entries: Vec<(i64, i64, f64)>,
    _held: Reservation,
}

/// The error for a matrix that cannot be read.
fn broken(name: &str, what: impl Into<String>) -> Error {
    Error::broken(&rules::MATRIX, what).at(Place::file(name))
}

/// What `zarr.json` says of an array.
#[derive(Debug, Default)]
struct Array {
    length: u64,
    chunk: u64,
    number: Option<Number>,
    fill: f64,
    blosc: bool,
}

/// Types of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    I32,
    I64,
    F32,
    F64,
}

impl Number {
    fn of(name: &str) -> Option<Number> {
        Some(match name {
            "int32" => Number::I32,
            "int64" => Number::I64,
            "float32" => Number::F32,
            "float64" => Number::F64,
            _ => return None,
        })
    }

    fn bytes(self) -> usize {
        match self {
            Number::I32 | Number::F32 => 4,
            Number::I64 | Number::F64 => 8,
        }
    }

    fn read(self, bytes: &[u8]) -> f64 {
        let four = || bytes.try_into().unwrap_or_default();
        let eight = || bytes.try_into().unwrap_or_default();
        match self {
            Number::I32 => f64::from(i32::from_le_bytes(four())),
            Number::F32 => f64::from(f32::from_le_bytes(four())),
            // Rows and columns stay far below the 53 bits that are exact.
            Number::I64 => i64::from_le_bytes(eight()) as f64,
            Number::F64 => f64::from_le_bytes(eight()),
        }
    }
}

impl Matrix {
    /// Reads the matrix, if there is one.
    ///
    /// # Errors
    /// When it is not sound, in an encoding that annnet does not write, or does not fit the budget.
    pub fn read(members: &Members, budget: &Budget) -> Result<Option<Matrix>> {
        let group = format!("{}/zarr.json", file::INCIDENCE);
        let Some(text) = members.text(&group, limits::MANIFEST_BYTES)? else { return Ok(None) };
        let mut shape = false;
        json::members(&text, &group, |name, value| {
            if name == "attributes" && value.trim_start().starts_with('{') {
                json::members(value, &group, |name, _| {
                    shape |= name == "shape";
                    Ok(())
                })?;
            }
            Ok(())
        })?;
        if !shape {
            return Err(broken(&group, "the attribute shape is missing"));
        }
        let mut held = budget.reserve(0)?;
        let mut array = |name: &str| array(members, &format!("{}/{name}", file::INCIDENCE), &mut held);
        let (rows, columns, values) = (array("row")?, array("col")?, array("data")?);
        if rows.len() != columns.len() || rows.len() != values.len() {
            return Err(broken(&group, "row, col and data differ in length"));
        }
        let numbers = rows.into_iter().zip(columns).zip(values);
        let mut entries: Vec<(i64, i64, f64)> =
            numbers.map(|((row, column), value)| (column as i64, row as i64, value)).collect();
        entries.sort_by_key(|(column, row, _)| (*column, *row));
        Ok(Some(Matrix { entries, _held: held }))
    }

    /// The entries of a column.
    pub fn column(&self, column: i64) -> &[(i64, i64, f64)] {
        let start = self.entries.partition_point(|(own, _, _)| *own < column);
        let end = self.entries.partition_point(|(own, _, _)| *own <= column);
        self.entries.get(start..end).unwrap_or_default()
    }
}

/// Reads one array.
fn array(members: &Members, directory: &str, held: &mut Reservation) -> Result<Vec<f64>> {
    let name = format!("{directory}/zarr.json");
    let text = members.text(&name, limits::MANIFEST_BYTES)?;
    let array = describe(&text.ok_or_else(|| broken(&name, "the array is missing"))?, &name)?;
    let number = array.number.ok_or_else(|| broken(&name, "the type of its numbers is not known"))?;
    let chunk_bytes = array.chunk.checked_mul(number.bytes() as u64).filter(|bytes| (1..=CHUNK_BYTES).contains(bytes));
    let chunk_bytes = chunk_bytes.ok_or_else(|| broken(&name, "its chunks are empty or too large"))? as usize;
    // An entry is held as three numbers, and again while they are put together.
    let wanted = array.length.checked_mul(16).ok_or_else(|| broken(&name, "it is too long").of_kind(Kind::TooLarge))?;
    held.grow(wanted).map_err(|error| error.at(Place::file(&name)))?;
    let mut values: Vec<f64> = Vec::with_capacity(array.length as usize);
    for chunk in 0..array.length.div_ceil(array.chunk) {
        let wanted = (array.length - chunk * array.chunk).min(array.chunk) as usize;
        let file = format!("{directory}/c/{chunk}");
        let Some(blob) = members.try_file(&file)? else {
            values.extend(std::iter::repeat_n(array.fill, wanted));
            continue;
        };
        let stored = blob.read_all(CHUNK_BYTES + (1 << 20))?;
        let unpacked;
        let bytes = match array.blosc {
            true => {
                unpacked = blosc::unpack(&stored, chunk_bytes).map_err(|what| broken(&file, what))?;
                unpacked.as_slice()
            }
            false => stored.as_ref(),
        };
        if bytes.len() != chunk_bytes {
            return Err(broken(&file, format!("the chunk has {} bytes instead of {chunk_bytes}", bytes.len())));
        }
        values.extend(bytes.chunks_exact(number.bytes()).take(wanted).map(|bytes| number.read(bytes)));
    }
    Ok(values)
}

/// Reads the description of an array.
fn describe(text: &str, file: &str) -> Result<Array> {
    let mut array = Array::default();
    let only = |value: &str| {
        let mut sides = Vec::new();
        json::items(value, file, |side| {
            sides.push(json::count(side));
            Ok(())
        })?;
        match sides.as_slice() {
            [Some(side)] => Ok(*side),
            _ => Err(broken(file, "the array has not one side")),
        }
    };
    json::members(text, file, |name, value| {
        match name {
            "shape" => array.length = only(value)?,
            "data_type" => array.number = json::string(value).and_then(|name| Number::of(&name)),
            "fill_value" => array.fill = value.trim().parse().unwrap_or(f64::NAN),
            "chunk_grid" => json::members(value, file, |name, value| {
                if name == "configuration" {
                    json::members(value, file, |name, value| {
                        if name == "chunk_shape" {
                            array.chunk = only(value)?;
                        }
                        Ok(())
                    })?;
                }
                Ok(())
            })?,
            "codecs" => json::items(value, file, |codec| {
                json::members(codec, file, |name, value| {
                    if name != "name" {
                        // Frames say themselves how they are packed; big-endian numbers are not written by anybody.
                        return if value.contains("\"big\"") {
                            Err(broken(file, "numbers are big-endian"))
                        } else {
                            Ok(())
                        };
                    }
                    match json::string(value).as_deref() {
                        Some("bytes") => Ok(()),
                        Some("blosc") => {
                            array.blosc = true;
                            Ok(())
                        }
                        _ => Err(Error::unsupported(format!("chunks are packed by {value}")).at(Place::file(file))),
                    }
                })
            })?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(array)
}
