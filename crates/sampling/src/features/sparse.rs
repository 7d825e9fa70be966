//! Sparse features: points and their values, for the elements that have them.

use std::ops::Range;

use isomorph_deepgnn::rules;
use isomorph_error::{Error, Result};

use super::find::Elements;
use super::{Asked, Sparse};
use crate::divide::{divide, pieces};
use crate::graph::fits;
use crate::sampler::Sampler;

impl Sampler {
    pub(super) fn sparse(
        &self,
        elements: Elements<'_>,
        features: &[u32],
        times: Option<&[i64]>,
        out: &mut [Sparse],
    ) -> Result<()> {
        let count = elements.check(times)?;
        fits(features.len(), out.len())?;
        let (asked, threads) = (self.asked(elements, times), self.workers.len());
        for (feature, out) in features.iter().zip(out) {
            out.clear();
            let size = pieces(count, elements.each_takes().saturating_mul(2), threads);
            if size.is_none_or(|size| divided(&asked, count, size, *feature, threads, out).is_err()) {
                // The first error in the order of elements is reported, whatever the number of threads.
                out.clear();
                out.add_all(&asked, 0..count, *feature)?;
            }
        }
        Ok(())
    }
}

/// Reads each piece separately, then appends them in order.
fn divided(asked: &Asked<'_>, count: usize, size: usize, feature: u32, threads: usize, out: &mut Sparse) -> Result<()> {
    let mut parts = vec![Sparse::default(); count.div_ceil(size)];
    let mut pieces = parts.iter_mut().enumerate();
    divide(
        &mut vec![(); threads],
        || pieces.next(),
        |(), (number, part)| part.add_all(asked, number * size..count.min((number + 1) * size), feature),
    )?;
    for part in parts.iter().filter(|part| part.dimensions != 0) {
        out.agree(part.dimensions)?;
        out.indices.extend_from_slice(&part.indices);
        out.values.extend_from_slice(&part.values);
    }
    Ok(())
}

fn wrong(what: &str) -> Error {
    Error::broken(&rules::COORDINATES, what.to_owned())
}

impl Sparse {
    fn clear(&mut self) {
        self.indices.clear();
        self.values.clear();
        self.dimensions = 0;
    }

    fn add_all(&mut self, asked: &Asked<'_>, range: Range<usize>, feature: u32) -> Result<()> {
        let mut ahead = asked.ahead(&[]);
        for at in range.clone() {
            let place = asked.features_at(&mut ahead, at, &range);
            let bytes = asked.feature(at, place, feature)?.unwrap_or_default();
            if !bytes.is_empty() {
                self.push(at, bytes)?;
            }
        }
        Ok(())
    }

    /// Checks that points of `each` coordinates can be added.
    fn agree(&mut self, each: u32) -> Result<()> {
        if self.dimensions != 0 && self.dimensions != each {
            return Err(wrong(&format!("points have {each} coordinates, but others have {}", self.dimensions)));
        }
        self.dimensions = each;
        Ok(())
    }

    /// Adds the stored feature of an element: number of coordinates and of those of a point (32 bits each), coordinates, values.
    ///
    /// # Errors
    /// Returns `DEEPGNN-COORDINATES` if the bytes have another form, or the points another number of coordinates than the previous ones.
    pub fn push(&mut self, row: usize, bytes: &[u8]) -> Result<()> {
        let head =
            |at: usize| bytes.get(at..at + 4).and_then(|four| four.first_chunk()).map(|four| u32::from_le_bytes(*four));
        let (Some(count), Some(each)) = (head(0), head(4)) else {
            return Err(wrong("a feature is too short for a sparse feature"));
        };
        let end = (count as usize).saturating_mul(8).saturating_add(8);
        if each == 0 || count % each != 0 || bytes.len() < end {
            return Err(wrong("a feature is not encoded as a sparse feature"));
        }
        self.agree(each)?;
        let coordinates = bytes[8..end].as_chunks::<8>().0;
        for point in coordinates.chunks_exact(each as usize) {
            self.indices.push(row.cast_signed() as i64);
            self.indices.extend(point.iter().map(|number| i64::from_le_bytes(*number)));
        }
        self.values.extend_from_slice(&bytes[end..]);
        Ok(())
    }
}
