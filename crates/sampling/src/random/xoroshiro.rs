//! The `compat` generator: xoroshiro128+ (Blackman, Vigna, constants 24, 16, 37) as the published engine seeds and uses it.

use super::binomial;

/// The generator of one call.
#[derive(Debug, Clone)]
pub(crate) struct Xoroshiro {
    a: u64,
    b: u64,
}

impl Xoroshiro {
    /// Creates a generator whose state is two outputs of SplitMix64.
    pub fn new(seed: u64) -> Self {
        let split = |turns: u64| {
            let state = seed.wrapping_add(turns.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            state ^ (state >> 31)
        };
        Xoroshiro { a: split(1), b: split(2) }
    }

    /// Returns 64 random bits.
    pub fn next(&mut self) -> u64 {
        let (a, b) = (self.a, self.b ^ self.a);
        let result = a.wrapping_add(self.b);
        self.a = a.rotate_left(24) ^ b ^ (b << 16);
        self.b = b.rotate_left(37);
        result
    }

    /// Returns a 32-bit float from 0 to below 1: a number that rounds to 1 is drawn again.
    pub fn unit(&mut self) -> f32 {
        loop {
            let number = share(self.next());
            if number < 1.0 {
                return number;
            }
        }
    }

    fn wide_unit(&mut self) -> f64 {
        loop {
            let number = self.next() as f64 / 18_446_744_073_709_551_616.0;
            if number < 1.0 {
                return number;
            }
        }
    }

    /// Draws the number of successes of `trials`, each with probability `chance`.
    ///
    /// Number for number as in the published engine's library: by inversion if few are expected, otherwise by rejection.
    pub fn binomial(&mut self, trials: u32, chance: f64) -> u32 {
        let flipped = chance > 0.5;
        let chance = if flipped { 1.0 - chance } else { chance };
        let most = ((f64::from(trials) + 1.0) * chance).floor();
        let hits = if most < binomial::LEAST {
            self.inversion(trials, chance)
        } else {
            binomial::draw(trials, chance, || self.wide_unit())
        };
        if flipped { trials - hits } else { hits }
    }

    fn inversion(&mut self, trials: u32, chance: f64) -> u32 {
        let rest = 1.0 - chance;
        let ratio = chance / rest;
        let a = (f64::from(trials) + 1.0) * ratio;
        let mut part = i32::try_from(trials).map_or_else(|_| rest.powf(f64::from(trials)), |trials| rest.powi(trials));
        let (mut drawn, mut hits) = (self.wide_unit(), 0);
        while drawn > part && hits < trials {
            drawn -= part;
            hits += 1;
            let next = ((a / f64::from(hits)) - ratio) * part;
            // The tail is below the precision of a double: the engine's library also stops here.
            if next < f64::EPSILON && next < part {
                break;
            }
            part = next;
        }
        hits
    }
}

/// Returns `bits` / 2⁶⁴, rounded to 32 bits like `bits as f32`, without its branch: processors convert signed numbers only, so a number of 64
/// bits is halved first, which half of all draws would mispredict.
#[inline]
fn share(bits: u64) -> f32 {
    let large = bits >> 63;
    // The lowest bit stays, so that the half is rounded as the whole would be.
    let halved = (bits >> large | bits & large).cast_signed();
    let exponent = 63 + large as u32;
    halved as f32 * f32::from_bits(exponent << 23)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_like_the_conversion() {
        let mut random = Xoroshiro::new(3);
        let edges = (0..64).flat_map(|bit| [-2i64, -1, 0, 1, 2].map(|by| (1u64 << bit).wrapping_add_signed(by)));
        // Ties of each length, and their neighbours.
        let ties =
            (24..64).flat_map(|top| [-1i64, 0, 1].map(|by| (1u64 << top | 1 << (top - 24)).wrapping_add_signed(by)));
        let drawn: Vec<u64> = (0..100_000).map(|at| random.next() >> (at % 64)).collect();
        for bits in edges.chain(ties).chain(drawn).chain([0, u64::MAX]) {
            let wanted = bits as f32 / 18_446_744_073_709_551_616.0;
            assert_eq!(share(bits).to_bits(), wanted.to_bits(), "{bits:#x}");
        }
    }

    #[test]
    fn binomials_have_their_mean_and_spread() {
        let few = [(5, 0.3), (40, 0.9), (60, 0.3), (1000, 0.4), (100_000, 0.02), (7, 1.0), (7, 0.0)];
        for (trials, chance) in few.into_iter().chain([(3_000_000_000, 1e-9)]) {
            let mut random = Xoroshiro::new(11);
            let counts: Vec<f64> = (0..4000).map(|_| f64::from(random.binomial(trials, chance))).collect();
            let mean = counts.iter().sum::<f64>() / 4000.0;
            let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 4000.0;
            let (wanted, spread) = (f64::from(trials) * chance, f64::from(trials) * chance * (1.0 - chance));
            assert!((mean - wanted).abs() <= 4.0 * (spread / 4000.0).sqrt(), "{trials} {chance}: {mean}");
            assert!((variance - spread).abs() <= 0.15 * spread, "{trials} {chance}: {variance}");
        }
    }
}
