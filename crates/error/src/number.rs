//! The one conversion of integers that this program takes for granted.

/// A count or a position as an index into memory. It loses nothing: the program is for 64-bit machines, and the crate does not
/// compile for another.
///
/// It does not check that the number is within anything: a count that comes out of a file is compared with what is there, or
/// with a limit, before anything is allocated or indexed with it.
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
