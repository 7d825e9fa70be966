//! Sizes of memory: `512MiB`, `2GiB`, `500MB`, `1g`.

use isomorph::{Error, Result};

/// The smallest memory limit.
const LEAST: u64 = 16 << 20;

/// Parses a size in bytes. Units of 1024 (`KiB`, `k`) and of 1000 (`KB`); no unit means bytes.
///
/// # Errors
/// Returns a usage error if the text is not a size, or is too small.
pub fn parse(text: &str) -> Result<u64> {
    let refused = || Error::usage(format!("{text:?} is not a size: use 512MiB or 2GiB"));
    let digits = text.trim().trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = text.trim().get(digits.len()..).unwrap_or_default().to_ascii_lowercase();
    let factor: u64 = match unit.as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return Err(refused()),
    };
    let number: f64 = digits.trim_end().parse().map_err(|_| refused())?;
    let bytes = number * factor as f64;
    if !bytes.is_finite() || !(0.0..1e18).contains(&bytes) {
        return Err(refused());
    }
    let bytes = bytes as u64;
    if bytes < LEAST {
        return Err(Error::usage(format!("{text} is too small: the minimum is 16MiB")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn sizes_have_units() {
        let sizes = ["512MiB", "512m", "2GiB", "500MB", "1.5GiB", "33554432", "1 TiB"].map(|text| parse(text).unwrap());
        assert_eq!(sizes, [512 << 20, 512 << 20, 2 << 30, 500_000_000, 3 << 29, 32 << 20, 1 << 40]);
        for text in ["", "x", "12XB", "-1GiB", "nanGiB", "1e30", "1MiB", "99999999TiB"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
