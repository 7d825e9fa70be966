//! Encoding of features with times: `u32` number of values, the time of creation of each (`i64`, ascending), the offset of each
//! and the end of the last (`i64`, from the start of the feature), the values, eight zero bytes.

use isomorph_error::Error;

/// Returns the latest value that was created at `time` or before, and its time: `Some(None)` if the first is later. `None` if the bytes do
/// not have this encoding, like those of features without times.
pub(super) fn value_at(bytes: &[u8], time: i64) -> Option<Option<(&[u8], i64)>> {
    let (count, rest) = bytes.split_first_chunk::<4>()?;
    let count = u32::from_le_bytes(*count) as usize;
    let (numbers, _) = rest.as_chunks::<8>();
    let numbers = numbers.get(..count.checked_mul(2)?.checked_add(1)?)?;
    let number = |at: usize| numbers.get(at).map(|number| i64::from_le_bytes(*number));
    let (created, offsets) = numbers.split_at(count);
    // The header ends at the first value, and the last value ends before the eight bytes at the end.
    let head = 4 + 8 * numbers.len();
    let ends = [number(count)?, number(2 * count)?].map(usize::try_from);
    let [Ok(first), Ok(last)] = ends else { return None };
    if first != head || last.checked_add(8) != Some(bytes.len()) {
        return None;
    }
    let known = created.partition_point(|created| i64::from_le_bytes(*created) <= time);
    let Some(at) = known.checked_sub(1) else { return Some(None) };
    let offset = |at: usize| offsets.get(at).and_then(|offset| usize::try_from(i64::from_le_bytes(*offset)).ok());
    let created = i64::from_le_bytes(*created.get(at)?);
    let value = bytes.get(offset(at)?..offset(at + 1)?).filter(|_| offset(at + 1) <= Some(last))?;
    Some(Some((value, created)))
}

/// The error for a time at which a feature is requested that was stored without times.
#[cold]
pub(super) fn without_times() -> Error {
    Error::usage("the feature was stored without times").hint("omit the time")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(values: &[(i64, &[u8])]) -> Vec<u8> {
        let mut bytes = (values.len() as u32).to_le_bytes().to_vec();
        values.iter().for_each(|(time, _)| bytes.extend(time.to_le_bytes()));
        let mut at = 4 + 8 * (2 * values.len() as i64 + 1);
        bytes.extend(at.to_le_bytes());
        for (_, value) in values {
            at += value.len() as i64;
            bytes.extend(at.to_le_bytes());
        }
        values.iter().for_each(|(_, value)| bytes.extend_from_slice(value));
        bytes.extend([0; 8]);
        bytes
    }

    #[test]
    fn the_newest_value_counts() {
        let bytes = stored(&[(10, b"ab"), (20, b"c")]);
        assert_eq!(value_at(&bytes, 9), Some(None));
        assert_eq!(value_at(&bytes, 10), Some(Some((b"ab".as_slice(), 10))));
        assert_eq!(value_at(&bytes, 19), Some(Some((b"ab".as_slice(), 10))));
        assert_eq!(value_at(&bytes, 99), Some(Some((b"c".as_slice(), 20))));
    }

    #[test]
    fn other_bytes_are_not_taken_for_it() {
        let floats: Vec<u8> = [1.0f32, 2.0, 3.0, 4.0].iter().flat_map(|number| number.to_le_bytes()).collect();
        assert_eq!(value_at(&floats, 0), None);
        assert_eq!(value_at(&[], 0), None);
        let bytes = stored(&[(10, b"ab"), (20, b"c")]);
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                let _ = value_at(&damaged, 15);
            }
            let _ = value_at(&bytes[..at], 15);
        }
    }
}
