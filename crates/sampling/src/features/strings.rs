//! Features as texts, or any bytes, of variable length.

use std::ops::Range;

use isomorph_error::{Error, Result, index};

use super::find::Elements;
use super::{Asked, Strings};
use crate::divide::{divide, pieces};
use crate::sampler::Sampler;

impl Sampler {
    pub(super) fn strings(
        &self,
        elements: Elements<'_>,
        features: &[u32],
        times: Option<&[i64]>,
        out: &mut Strings,
    ) -> Result<()> {
        let count = elements.check(times)?;
        out.bytes.clear();
        out.lengths.clear();
        let (asked, threads, each) = (self.asked(elements, times), self.workers.len(), features.len());
        let nanoseconds = elements.each_takes().saturating_mul(each as u64);
        let Some(size) = pieces(count, nanoseconds, threads) else {
            return strings(&asked, 0..count, features, &mut |bytes| {
                out.bytes.extend_from_slice(bytes);
                out.lengths.push(bytes.len() as u64);
            });
        };
        // Two passes over the batch: first all lengths, then the bytes of each piece to their positions.
        let workers = &mut vec![(); threads];
        let range = |number: usize| number * size..count.min((number + 1) * size);
        out.lengths.resize(count.saturating_mul(each), 0);
        let mut pieces = out.lengths.chunks_mut(size * each).enumerate();
        divide(
            workers,
            || pieces.next(),
            |(), (number, lengths)| {
                let mut lengths = lengths.iter_mut();
                strings(&asked, range(number), features, &mut |bytes| {
                    lengths.next().into_iter().for_each(|length| *length = bytes.len() as u64);
                })
            },
        )?;
        let total = out.lengths.iter().try_fold(0usize, |sum, length| sum.checked_add(index(*length)));
        out.bytes.resize(total.ok_or_else(|| Error::usage("the features are too long"))?, 0);
        let mut rest = out.bytes.as_mut_slice();
        let mut pieces = out.lengths.chunks(size * each).enumerate();
        let next = || {
            let (number, lengths) = pieces.next()?;
            let these = rest.split_off_mut(..lengths.iter().map(|length| index(*length)).sum())?;
            Some((number, lengths, these))
        };
        divide(workers, next, |(), (number, lengths, mut rest)| {
            let mut lengths = lengths.iter();
            strings(&asked, range(number), features, &mut |bytes| {
                // If a mapped file is changed meanwhile, lengths change: only as much as there is room for is copied.
                let room = lengths.next().map_or(0, |length| index(*length)).min(rest.len());
                let Some(place) = rest.split_off_mut(..room) else { return };
                let copied = bytes.len().min(room);
                place[..copied].copy_from_slice(&bytes[..copied]);
            })
        })
    }
}

/// Passes the bytes of each feature of each element to `put`.
fn strings(asked: &Asked<'_>, range: Range<usize>, features: &[u32], put: &mut dyn FnMut(&[u8])) -> Result<()> {
    let mut ahead = asked.ahead(&[]);
    for at in range.clone() {
        let place = asked.features_at(&mut ahead, at, &range);
        for feature in features {
            put(asked.feature(at, place, *feature)?.unwrap_or_default());
        }
    }
    Ok(())
}
