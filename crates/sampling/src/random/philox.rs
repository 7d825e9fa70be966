//! The `stable` generator: Philox 2×64 with ten rounds (Salmon, Moraes, Dror, Shaw: *Parallel random numbers: as easy as
//! 1, 2, 3*, 2011).
//!
//! It has no state: number *i* of a stream is a function of the key and of *i*. So what is drawn for a node does not depend on
//! which thread draws it, on what was drawn before, or on where the node is stored. It was chosen over our own hash because its
//! quality is documented in publications, and over a crate because it is twenty lines; the authors' test vectors are below.

#![expect(clippy::cast_possible_truncation, reason = "both halves of products are used")]

const MULTIPLIER: u64 = 0xD2B7_4407_B1CE_6E93;
const WEYL: u64 = 0x9E37_79B9_7F4A_7C15;
const ROUNDS: u32 = 10;

/// The key of streams: a seed and a hop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key(u64);

impl Key {
    /// Returns the key of a hop. For one seed, all hops have different keys.
    pub fn new(seed: u64, hop: u32) -> Key {
        Key(mixed(seed).wrapping_add(u64::from(hop).wrapping_mul(WEYL)))
    }

    /// Returns the stream for one element: a node, and the number of its earlier occurrences in the call.
    #[inline]
    pub fn stream(self, element: u64, occurrence: u32) -> Stream {
        Stream { key: self.0, element, block: u64::from(occurrence) << 32, spare: None }
    }
}

/// SplitMix64's mixing function: similar seeds give dissimilar keys.
fn mixed(seed: u64) -> u64 {
    let a = (seed ^ (seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let b = (a ^ (a >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    b ^ (b >> 31)
}

#[inline]
fn philox(mut high: u64, mut low: u64, mut key: u64) -> (u64, u64) {
    for _ in 0..ROUNDS {
        let product = u128::from(high) * u128::from(MULTIPLIER);
        (high, low) = ((product >> 64) as u64 ^ key ^ low, product as u64);
        key = key.wrapping_add(WEYL);
    }
    (high, low)
}

/// The random numbers of one element, 2³² blocks of two.
#[derive(Debug, Clone)]
pub(crate) struct Stream {
    key: u64,
    element: u64,
    block: u64,
    spare: Option<u64>,
}

impl Stream {
    /// Returns the stream at block number `block`; a block is two numbers.
    #[inline]
    pub fn at(mut self, block: u32) -> Self {
        self.block = self.block & !u64::from(u32::MAX) | u64::from(block);
        self.spare = None;
        self
    }

    /// Returns 64 random bits.
    #[inline]
    pub fn next(&mut self) -> u64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let (now, spare) = philox(self.element, self.block, self.key);
        self.block += 1;
        self.spare = Some(spare);
        now
    }

    /// Returns a number from 0 to below 1 with 53 bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Returns a number above 0 and at most 1, for logarithms.
    #[inline]
    pub fn open_unit(&mut self) -> f64 {
        1.0 - self.unit()
    }

    /// Returns a uniform number below `limit`, which must not be 0 (Lemire 2019).
    #[inline]
    pub fn below(&mut self, limit: u64) -> u64 {
        let mut product = u128::from(self.next()) * u128::from(limit);
        if (product as u64) < limit {
            let threshold = limit.wrapping_neg() % limit;
            while (product as u64) < threshold {
                product = u128::from(self.next()) * u128::from(limit);
            }
        }
        (product >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_authors_vectors_are_met() {
        assert_eq!(philox(0, 0, 0), (0xca00_a045_9843_d731, 0x66c2_4222_c9a8_45b5));
        assert_eq!(philox(u64::MAX, u64::MAX, u64::MAX), (0x65b0_21d6_0cd8_310f, 0x4d02_f322_2f86_df20));
        let pi = philox(0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344, 0xa409_3822_299f_31d0);
        assert_eq!(pi, (0x0a5e_742c_2997_341c, 0xb0f8_83d3_8000_de5d));
    }

    #[test]
    fn streams_do_not_depend_on_each_other() {
        let numbers = |seed, hop, element, occurrence| {
            let mut stream = Key::new(seed, hop).stream(element, occurrence);
            [stream.next(), stream.next(), stream.next()]
        };
        let here = numbers(1, 0, 5, 0);
        assert_eq!(here, numbers(1, 0, 5, 0));
        for other in [numbers(2, 0, 5, 0), numbers(1, 1, 5, 0), numbers(1, 0, 6, 0), numbers(1, 0, 5, 1)] {
            assert!(here.iter().all(|number| !other.contains(number)));
        }
    }

    #[test]
    fn small_ranges_are_even() {
        let mut stream = Key::new(3, 0).stream(0, 0);
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[stream.below(7) as usize] += 1;
        }
        let chi: f64 = counts.iter().map(|count| (f64::from(*count) - 10_000.0).powi(2) / 10_000.0).sum();
        // 6 degrees of freedom: 22.5 is exceeded for one in a thousand seeds.
        assert!(chi < 22.5, "{chi}");
    }
}
