//! Features as stored, one after another, for callers that forward them.

use isomorph_error::Result;

use super::find::{AtFeatures, Elements};
use super::{Dense, Edges, times};
use crate::prefetch::Ahead;
use crate::sampler::Sampler;

/// The value of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Value<'a> {
    /// Its bytes; empty for a hole.
    pub bytes: &'a [u8],
    /// Its time of creation, if a time is requested; otherwise 0.
    pub created: i64,
}

/// A request for features.
#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    /// Their ids.
    pub features: &'a [u32],
    /// A time for each element: the latest value that was created then or before is returned.
    pub times: Option<&'a [i64]>,
    /// Whether a hole is an empty value, which hides those of later entries, as in the published engine; otherwise it is skipped.
    pub holes: bool,
}

impl Sampler {
    /// Passes each feature of each node to `take`: the number of the node in the batch, that of the feature in the list, and the
    /// value. A node with several entries has the feature of the first that has it; at a time, the latest of all.
    ///
    /// # Errors
    /// As [`Sampler::node_features`], and the errors of `take`.
    pub fn node_values(
        &self,
        nodes: &[i64],
        asked: &Values<'_>,
        take: impl FnMut(usize, usize, Option<Value<'_>>) -> Result<()>,
    ) -> Result<()> {
        self.values(Elements::Nodes(nodes), asked, take)
    }

    /// Passes each feature of each edge to `take`.
    ///
    /// # Errors
    /// As [`Sampler::edge_features`], and the errors of `take`.
    pub fn edge_values(
        &self,
        edges: Edges<'_>,
        asked: &Values<'_>,
        take: impl FnMut(usize, usize, Option<Value<'_>>) -> Result<()>,
    ) -> Result<()> {
        self.values(Elements::Edges(edges), asked, take)
    }

    fn values(
        &self,
        elements: Elements<'_>,
        asked: &Values<'_>,
        mut take: impl FnMut(usize, usize, Option<Value<'_>>) -> Result<()>,
    ) -> Result<()> {
        let count = elements.check(asked.times)?;
        let mut found: Vec<Option<Value<'_>>> = vec![None; asked.features.len()];
        // As many bytes as each value has.
        let fetched: Vec<Dense> = asked.features.iter().map(|id| Dense { id: *id, bytes: usize::MAX }).collect();
        let mut ahead = Ahead::new(AtFeatures { graph: &self.graph, features: &fetched });
        let mut beat = self.stop.beat();
        for at in 0..count {
            found.fill(None);
            let place = match elements {
                Elements::Nodes(nodes) => ahead.place(&self.graph, at, count, |at| nodes[at]),
                Elements::Edges(_) => None,
            };
            let time = asked.times.map(|times| times[at]);
            let looked_at = match place {
                Some(place) => {
                    asked.look(
                        &self.graph.partitions[place.partition].node_features,
                        place.slots(),
                        time,
                        &mut found,
                    )?;
                    0
                }
                None => elements.each(&self.graph, at, &mut |features, slots| {
                    asked.look(features, slots, time, &mut found)?;
                    Ok(false)
                })?,
            };
            beat.add(looked_at + 1)?;
            for (feature, value) in found.iter().enumerate() {
                beat.add(1 + value.map_or(0, |value| value.bytes.len() as u64 / 64))?;
                take(at, feature, *value)?;
            }
        }
        Ok(())
    }
}

impl Values<'_> {
    /// Reads the slots of one entry.
    fn look<'g>(
        &self,
        features: &'g crate::partition::Features,
        slots: std::ops::Range<usize>,
        time: Option<i64>,
        found: &mut [Option<Value<'g>>],
    ) -> Result<()> {
        for (id, found) in self.features.iter().zip(found) {
            if time.is_none() && found.is_some() {
                continue;
            }
            let Some(bytes) = features.get(&slots, *id)? else { continue };
            let value = match time {
                // A hole has no times.
                _ if bytes.is_empty() => (self.holes && time.is_none()).then_some(Value { bytes, created: 0 }),
                None => Some(Value { bytes, created: 0 }),
                Some(time) => match times::value_at(bytes, time) {
                    Some(value) => value.map(|(bytes, created)| Value { bytes, created }),
                    None => {
                        return Err(times::without_times());
                    }
                },
            };
            let newer = |value: &Value<'_>| found.is_none_or(|found| value.created > found.created);
            if let Some(value) = value.filter(newer) {
                *found = Some(value);
            }
        }
        Ok(())
    }
}
