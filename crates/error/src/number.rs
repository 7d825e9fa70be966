//! The one integer conversion that the program relies on everywhere: `u64` to `usize`.

/// Converts a count or a position to an index into memory. The conversion loses nothing: the program requires a 64-bit machine, and
/// this crate does not compile for others.
///
/// It does not check bounds. A count from a file must be compared with the data that exists, or with a limit, before anything is
/// allocated or indexed with it.
#[allow(clippy::cast_possible_truncation, reason = "usize has 64 bits, by the assertion below")]
#[must_use]
#[inline]
pub const fn index(number: u64) -> usize {
    number as usize
}

const _: () = assert!(usize::BITS == 64, "isomorph is for 64-bit machines");

#[cfg(test)]
mod tests {
    use super::index;

    #[test]
    fn no_digit_is_lost() {
        assert_eq!(index(u64::MAX), usize::MAX);
        assert_eq!(index(1 << 40), 1 << 40);
    }
}
