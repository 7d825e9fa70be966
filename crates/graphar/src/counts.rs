//! Count files: 8 bytes, a little-endian signed integer.

use isomorph_error::{Error, Place, Result};
use isomorph_storage::Root;

use crate::open::linked;
use crate::rules;

/// Size of a count file in bytes.
pub(crate) const COUNT_BYTES: u64 = 8;

/// Reads the count in file `path`; `None` if the file does not exist.
///
/// # Errors
/// Returns [`rules::COUNT_SIZE`], [`rules::COUNT_RANGE`], or an error of reading.
pub(crate) fn read_count(root: &Root, path: &str) -> Result<Option<u64>> {
    let Some(blob) = root.try_file(path).map_err(|error| linked(error, path))? else { return Ok(None) };
    if blob.size() != COUNT_BYTES {
        let message = format!("expected a count file of 8 bytes, found {} bytes", blob.size());
        return Err(Error::broken(&rules::COUNT_SIZE, message).at(Place::file(path)));
    }
    decode(&blob.read(0..COUNT_BYTES)?).map(Some).map_err(|error| error.at(Place::file(path)))
}

/// Decodes the content of a count file.
///
/// # Errors
/// As [`read_count`].
pub(crate) fn decode(bytes: &[u8]) -> Result<u64> {
    let bytes: [u8; 8] =
        bytes.try_into().map_err(|_| Error::broken(&rules::COUNT_SIZE, format!("size is {} bytes", bytes.len())))?;
    let count = i64::from_le_bytes(bytes);
    u64::try_from(count).map_err(|_| Error::broken(&rules::COUNT_RANGE, format!("the count is {count}")))
}

/// Encodes the content of a count file.
///
/// # Errors
/// Returns [`rules::COUNT_RANGE`] if `count` is 2^63 or more.
pub(crate) fn encode(count: u64) -> Result<[u8; 8]> {
    let count =
        i64::try_from(count).map_err(|_| Error::broken(&rules::COUNT_RANGE, format!("the count is {count}")))?;
    Ok(count.to_le_bytes())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn counts_are_eight_bytes_little_endian() {
        assert_eq!(encode(903).unwrap(), [0x87, 3, 0, 0, 0, 0, 0, 0]);
        assert_eq!(decode(&[0x87, 3, 0, 0, 0, 0, 0, 0]).unwrap(), 903);
        assert_eq!(decode(b"903").unwrap_err().broken_rule().unwrap().id, "GAR-COUNT-SIZE");
        assert_eq!(decode(&(-1i64).to_le_bytes()).unwrap_err().broken_rule().unwrap().id, "GAR-COUNT-RANGE");
        assert!(encode(u64::MAX).is_err());
    }
}
