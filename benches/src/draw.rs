//! Random numbers from a fixed seed, equal on every machine.

/// SplitMix64, <https://prng.di.unimi.it/splitmix64.c>.
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Draw(seed)
    }

    /// Returns any number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// Returns a number below `end`, mostly a small one, like the ends of edges in real graphs.
    pub(crate) fn skewed(&mut self, end: u64) -> u64 {
        let (one, other) = (self.below(end), self.below(end));
        (u128::from(one) * u128::from(other) / u128::from(end.max(1))) as u64
    }
}
