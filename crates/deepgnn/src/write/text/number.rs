//! Numbers as words that Python, and therefore the published converter, reads as the same bits.

use std::io::Write;

use crate::DType;

/// Appends an integer.
pub(super) fn integer(value: impl Into<i128>, out: &mut Vec<u8>) {
    // Writing to a vector does not fail.
    let _ = write!(out, "{}", value.into());
}

/// Appends an id.
pub(super) fn id(value: u64, out: &mut Vec<u8>) {
    let mut digits = [0u8; 20];
    let (mut at, mut left) = (digits.len(), value);
    loop {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends a weight with a decimal point: sums of integers are integers in the metadata.
pub(super) fn weight(value: f64, out: &mut Vec<u8>) {
    float(crate::number::single(value), value.is_finite(), out);
}

fn float(value: impl std::fmt::Debug, is_finite: bool, out: &mut Vec<u8>) {
    let start = out.len();
    let _ = write!(out, "{value:?}");
    if !is_finite {
        // `NaN` and `inf` as words that Python's JSON also accepts.
        let word: &[u8] = match &out[start..] {
            b"inf" => b"Infinity",
            b"-inf" => b"-Infinity",
            _ => b"NaN",
        };
        out.truncate(start);
        out.extend_from_slice(word);
    }
}

/// Appends the numbers of a feature, separated by `between`.
pub(super) fn all(dtype: DType, bytes: &[u8], between: &[u8], out: &mut Vec<u8>) {
    macro_rules! each {
        ($type:ty, $append:expr) => {
            for (number, chunk) in bytes.as_chunks::<{ size_of::<$type>() }>().0.iter().enumerate() {
                if number > 0 {
                    out.extend_from_slice(between);
                }
                #[allow(clippy::redundant_closure_call)]
                $append(<$type>::from_le_bytes(*chunk), &mut *out);
            }
        };
    }
    match dtype {
        DType::Bool | DType::UInt8 => each!(u8, integer),
        DType::Int8 => each!(i8, integer),
        DType::Int16 => each!(i16, integer),
        DType::Int32 => each!(i32, integer),
        DType::Int64 => each!(i64, integer),
        DType::UInt16 => each!(u16, integer),
        DType::UInt32 => each!(u32, integer),
        DType::UInt64 => each!(u64, id),
        DType::Float16 => each!(u16, |bits, out| {
            let value = wide(bits);
            float(value, value.is_finite(), out);
        }),
        DType::Float32 => each!(f32, |value: f32, out| float(value, value.is_finite(), out)),
        DType::Float64 => each!(f64, |value: f64, out| float(value, value.is_finite(), out)),
    }
}

/// Converts a 16-bit float to 32 bits, which is exact.
fn wide(bits: u16) -> f32 {
    let (sign, exponent, fraction) = (bits >> 15, (bits >> 10) & 0x1f, bits & 0x3ff);
    let magnitude = match exponent {
        0x1f if fraction == 0 => f32::INFINITY,
        0x1f => f32::NAN,
        0 => f32::from(fraction) * 2f32.powi(-24),
        _ => (1024.0 + f32::from(fraction)) * 2f32.powi(i32::from(exponent) - 25),
    };
    if sign == 1 { -magnitude } else { magnitude }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::number::{Overflow, push};

    #[test]
    fn numbers_come_back_bit_by_bit() {
        let again = |dtype: DType, bytes: &[u8]| {
            let mut text = Vec::new();
            all(dtype, bytes, b" ", &mut text);
            let mut back = Vec::new();
            text.split(|byte| *byte == b' ').for_each(|word| push(dtype, word, Overflow::Refused, &mut back).unwrap());
            assert_eq!(back, bytes, "{dtype} {}", String::from_utf8_lossy(&text));
        };
        // Every 16-bit float except NaNs, of which one stands for all.
        for bits in (0..=u16::MAX).filter(|bits| bits & 0x7c00 != 0x7c00 || bits & 0x3ff == 0) {
            again(DType::Float16, &bits.to_le_bytes());
        }
        for value in [0.1f32, -0.0, 1e30, f32::MIN_POSITIVE, 1e-45, f32::MAX, f32::INFINITY, 16_777_217.0] {
            again(DType::Float32, &value.to_le_bytes());
        }
        for value in [0.1f64, 1e300, 5e-324, f64::MAX, f64::NEG_INFINITY, 0.1 + 0.2] {
            again(DType::Float64, &value.to_le_bytes());
        }
        again(DType::UInt64, &u64::MAX.to_le_bytes());
        again(DType::Int64, &i64::MIN.to_le_bytes());
        again(DType::Int8, &[0x80, 0x7f, 0]);
    }
}
