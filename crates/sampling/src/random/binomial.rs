//! Binomial numbers with a large expectation, drawn as in the published engine's library.
//!
//! The algorithm is BTRD (Hörmann: *The generation of binomial random variates*, 1993): a point below a simple hat function is drawn, and
//! accepted if it is below the distribution, which is evaluated by recursion near its middle and by Stirling's formula elsewhere. The
//! number and order of the random numbers it uses are part of the compatible generator.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers from 0 to that of the trials, which has 32 bits"
)]

/// Below this expectation (more exactly, this most probable number), the library uses inversion.
pub(super) const LEAST: f64 = 11.0;

/// Number of steps from the middle for which recursion is used.
const NEAR: f64 = 15.0;

/// The area below the hat, and values derived from it.
struct Hat {
    a: f64,
    b: f64,
    c: f64,
    alpha: f64,
    /// The share of the height where the hat is a rectangle.
    straight: f64,
    /// Variance.
    spread: f64,
}

/// Returns the error of Stirling's formula for the logarithm of `number`!.
fn correction(number: f64) -> f64 {
    const FIRST: [f64; 10] = [
        0.081_061_466_795_327_26,
        0.041_340_695_955_409_29,
        0.027_677_925_684_998_34,
        0.020_790_672_103_765_09,
        0.016_644_691_189_821_19,
        0.013_876_128_823_070_75,
        0.011_896_709_945_891_77,
        0.010_411_265_261_972_09,
        0.009_255_462_182_712_733,
        0.008_330_563_433_362_87,
    ];
    if let Some(known) = FIRST.get(number as usize) {
        return *known;
    }
    let one = 1.0 / (number + 1.0);
    (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 * (one * one)) * (one * one)) * one
}

/// Draws the number of successes of `trials`, each with probability `chance` (at most a half). The most probable number must be at
/// least [`LEAST`].
pub(super) fn draw(trials: u32, chance: f64, mut unit: impl FnMut() -> f64) -> u32 {
    let all = f64::from(trials);
    let middle = ((all + 1.0) * chance).floor();
    let ratio = chance / (1.0 - chance);
    let step = (all + 1.0) * ratio;
    let spread = all * chance * (1.0 - chance);
    let root = spread.sqrt();
    let b = 1.15 + 2.53 * root;
    let hat = Hat {
        a: -0.0873 + 0.0248 * b + 0.01 * chance,
        b,
        c: all * chance + 0.5,
        alpha: (2.83 + 5.1 / b) * root,
        straight: 0.92 - 4.2 / b,
        spread,
    };
    loop {
        let mut v = unit();
        let mut u;
        if v <= 0.86 * hat.straight {
            // Below the triangle in the middle, everything is accepted.
            u = v / hat.straight - 0.43;
            return at(&hat, u) as u32;
        }
        if v >= hat.straight {
            u = unit() - 0.5;
        } else {
            u = v / hat.straight - 0.93;
            u = if u < 0.0 { -0.5 } else { 0.5 } - u;
            v = unit() * hat.straight;
        }
        let us = 0.5 - u.abs();
        let number = at(&hat, u);
        if !(0.0..=all).contains(&number) {
            continue;
        }
        v = v * hat.alpha / (hat.a / (us * us) + hat.b);
        let distance = (number - middle).abs();
        if distance <= NEAR {
            let mut height = 1.0;
            let (mut from, up) = (middle.min(number), middle < number);
            while from < middle.max(number) {
                from += 1.0;
                let factor = step / from - ratio;
                if up { height *= factor } else { v *= factor }
            }
            if v <= height {
                return number as u32;
            }
            continue;
        }
        v = v.ln();
        let rho = (distance / hat.spread) * (((distance / 3.0 + 0.625) * distance + 1.0 / 6.0) / hat.spread + 0.5);
        let bell = -distance * distance / (2.0 * hat.spread);
        if v < bell - rho {
            return number as u32;
        }
        if v > bell + rho {
            continue;
        }
        let above_middle = all - middle + 1.0;
        let top = (middle + 0.5) * ((middle + 1.0) / (ratio * above_middle)).ln()
            + correction(middle)
            + correction(all - middle);
        let above = all - number + 1.0;
        let limit =
            top + (all + 1.0) * (above_middle / above).ln() + (number + 0.5) * (above * ratio / (number + 1.0)).ln()
                - correction(number)
                - correction(all - number);
        if v <= limit {
            return number as u32;
        }
    }
}

/// Returns the number below a point of the hat.
fn at(hat: &Hat, u: f64) -> f64 {
    ((2.0 * hat.a / (0.5 - u.abs()) + hat.b) * u + hat.c).floor()
}
