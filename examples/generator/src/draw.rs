//! Random numbers by counter: a number depends only on its stream and its index, so that adding a column or rows leaves
//! all other values unchanged.

/// A stream of random numbers, named after its use.
#[derive(Debug, Clone, Copy)]
pub struct Stream(u64);

impl Stream {
    /// Returns the stream with this name.
    pub fn new(name: &str) -> Self {
        Stream(
            name.bytes()
                .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)),
        )
    }

    /// Returns number `number` of the stream: 64 bits (SplitMix64 at the position given by stream and number).
    pub fn bits(self, number: u64) -> u64 {
        let mut mixed = self.0.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`, which must be above 0; all are almost equally likely.
    pub fn below(self, number: u64, bound: u64) -> u64 {
        let wide = u128::from(self.bits(number)) * u128::from(bound);
        (wide >> 64) as u64
    }

    /// Returns a number below `bound`, mostly a small one: the square of a uniform number. A few elements get most of
    /// the edges.
    pub fn skewed(self, number: u64, bound: u64) -> u64 {
        let even = u128::from(self.bits(number));
        let square = (even * even) >> 64;
        ((square * u128::from(bound)) >> 64) as u64
    }

    /// Returns one of `choices`.
    pub fn pick<'a, T: ?Sized>(self, number: u64, choices: &[&'a T]) -> &'a T {
        choices[self.below(number, choices.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_stay_below_their_bound_and_reach_all_of_it() {
        let stream = Stream::new("test");
        let mut seen = [false; 7];
        for number in 0..1_000 {
            seen[stream.below(number, 7) as usize] = true;
            assert!(stream.skewed(number, 7) < 7);
        }
        assert_eq!(seen, [true; 7]);
    }

    #[test]
    fn streams_differ_and_repeat() {
        assert_eq!(Stream::new("a").bits(3), Stream::new("a").bits(3));
        assert_ne!(Stream::new("a").bits(3), Stream::new("b").bits(3));
        assert_ne!(Stream::new("a").bits(3), Stream::new("a").bits(4));
    }
}
