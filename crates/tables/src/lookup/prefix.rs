//! Text keys that are one text and a number each: `n0`, `n1`, … or `https://example.org/node/17`.

use crate::text::number::write_int;

/// The most digits of a number: any so many fit into 64 bits.
const DIGITS: usize = 19;

/// What all keys have in front of their numbers. Numbers have no zeros in front, so that different keys have different numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Prefix(Box<[u8]>);

impl Prefix {
    /// Returns the prefix of a key that ends in a number.
    pub fn of(key: &[u8]) -> Option<Prefix> {
        let digits = key.iter().rev().take(DIGITS).take_while(|byte| byte.is_ascii_digit()).count();
        let (before, digits) = key.split_at_checked(key.len() - digits)?;
        let zeros = digits.iter().take(digits.len().checked_sub(1)?).take_while(|byte| **byte == b'0').count();
        key.get(..before.len() + zeros).map(|prefix| Prefix(prefix.into()))
    }

    /// Returns the number of a key; `None` if the key is anything else than the prefix and a number.
    #[inline]
    pub fn number(&self, key: &[u8]) -> Option<u64> {
        // Comparing no bytes is a call that takes 150 ns on some processors: masked loads from the address of an empty slice.
        let digits = if self.0.is_empty() { key } else { key.strip_prefix(&*self.0)? };
        match digits {
            [b'0'] => Some(0),
            [b'1'..=b'9', ..] if digits.len() <= DIGITS => digits
                .iter()
                .try_fold(0u64, |number, digit| digit.is_ascii_digit().then(|| number * 10 + u64::from(digit - b'0'))),
            _ => None,
        }
    }

    /// Appends the key with this number.
    #[inline]
    pub fn write(&self, number: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0);
        write_int(false, number, out);
    }

    /// Returns the size of keys of seven digits, bytes.
    pub fn usual(&self) -> usize {
        self.0.len() + 7
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_one_prefix_are_their_numbers() {
        for (first, prefix) in [
            ("0", Some("")),
            ("17", Some("")),
            ("007", Some("00")),
            ("000", Some("00")),
            ("n100", Some("n")),
            ("n-0", Some("n-")),
            ("a1b20", Some("a1b")),
            ("é9", Some("é")),
            ("9999999999999999999", Some("")),
            ("99999999999999999999", Some("9")),
            ("10000000000000000000", Some("1000000000000000000")),
            ("", None),
            ("n", None),
            ("1n", None),
            ("٣", None),
        ] {
            let found = Prefix::of(first.as_bytes());
            assert_eq!(found.as_ref().map(|prefix| &*prefix.0), prefix.map(str::as_bytes), "{first}");
            let Some(prefix) = found else { continue };
            let mut written = Vec::new();
            prefix.number(first.as_bytes()).into_iter().for_each(|number| prefix.write(number, &mut written));
            assert_eq!(written, first.as_bytes());
        }
    }

    #[test]
    fn what_is_not_written_so_has_no_number() {
        let prefix = Prefix(b"n".as_slice().into());
        for (key, number) in [
            ("n0", Some(0)),
            ("n10", Some(10)),
            ("n9999999999999999999", Some(9_999_999_999_999_999_999)),
            ("n10000000000000000000", None),
            ("n", None),
            ("n01", None),
            ("n00", None),
            ("n-1", None),
            ("n+1", None),
            ("n1 ", None),
            ("n1a", None),
            ("1", None),
            ("N1", None),
            ("nn1", None),
            ("", None),
        ] {
            assert_eq!(prefix.number(key.as_bytes()), number, "{key}");
        }
    }
}
