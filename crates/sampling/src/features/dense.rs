//! Dense features: a fixed number of bytes for each.

use std::ops::Range;

use isomorph_error::{Error, Result};

use super::find::Elements;
use super::{Asked, Dense};
use crate::divide::{divide, pieces};
use crate::graph::fits;
use crate::sampler::Sampler;

impl Sampler {
    pub(super) fn dense(
        &self,
        elements: Elements<'_>,
        features: &[Dense],
        times: Option<&[i64]>,
        out: &mut [u8],
    ) -> Result<()> {
        let count = elements.check(times)?;
        let width = features.iter().try_fold(0usize, |sum, feature| sum.checked_add(feature.bytes));
        let width = width.ok_or_else(|| Error::usage("the features are too long"))?;
        fits(count.saturating_mul(width), out.len())?;
        if width == 0 {
            return Ok(());
        }
        let (asked, threads) = (self.asked(elements, times), self.workers.len());
        let each = elements.each_takes().saturating_add(width as u64 / 8);
        let Some(size) = pieces(count, each, threads) else {
            return dense(&asked, 0..count, features, width, out);
        };
        let mut pieces = out.chunks_mut(size * width).enumerate();
        let next = || pieces.next().map(|(at, out)| (at * size..count.min((at + 1) * size), out));
        divide(&mut vec![(); threads], next, |(), (range, out)| dense(&asked, range, features, width, out))
    }
}

fn dense(asked: &Asked<'_>, range: Range<usize>, features: &[Dense], width: usize, out: &mut [u8]) -> Result<()> {
    let mut ahead = asked.ahead(features);
    for (at, row) in range.clone().zip(out.chunks_exact_mut(width)) {
        let place = asked.features_at(&mut ahead, at, &range);
        let mut rest = row;
        for feature in features {
            let (place_of, others) = rest.split_at_mut(feature.bytes);
            let bytes = asked.feature(at, place, feature.id)?.unwrap_or_default();
            let copied = bytes.len().min(place_of.len());
            let (begin, end) = place_of.split_at_mut(copied);
            begin.copy_from_slice(&bytes[..copied]);
            end.fill(0);
            rest = others;
        }
    }
    Ok(())
}
