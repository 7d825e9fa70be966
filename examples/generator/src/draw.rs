//! Draws by counter: the value depends on its stream and its number alone, so that adding a column, or more rows,
//! leaves every other value as it was.

/// One stream of draws, named by what is drawn.
#[derive(Debug, Clone, Copy)]
pub struct Stream(u64);

impl Stream {
    /// The stream called `name`.
    pub fn new(name: &str) -> Self {
        Stream(
            name.bytes()
                .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)),
        )
    }

    /// Draw number `number`: 64 bits (SplitMix64 at the place that stream and number give).
    pub fn bits(self, number: u64) -> u64 {
        let mut mixed = self.0.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is above 0; all nearly equally likely.
    pub fn below(self, number: u64, bound: u64) -> u64 {
        let wide = u128::from(self.bits(number)) * u128::from(bound);
        (wide >> 64) as u64
    }

    /// A number below `bound` that is rather small: the square of an even draw. Few things get most of the attention.
    pub fn skewed(self, number: u64, bound: u64) -> u64 {
        let even = u128::from(self.bits(number));
        let square = (even * even) >> 64;
        ((square * u128::from(bound)) >> 64) as u64
    }

    /// One of `choices`.
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
