//! The published engine's random walk.

use isomorph_error::Result;

use crate::ask::{Ask, Draw};
use crate::partition::target;
use crate::random::Xoroshiro;
use crate::sampler::Sampler;
use crate::walk::Bias;

impl Sampler {
    /// One generator for the call; steps are the outer loop. A walk can go back to where it came from although no edge leads
    /// there, and where it starts the node itself counts as where it came from.
    pub(crate) fn compat_walk(
        &mut self,
        ask: &Ask<'_>,
        length: usize,
        bias: Bias,
        draw: Draw,
        default: i64,
        out: &mut [i64],
    ) -> Result<()> {
        let mut random = Xoroshiro::new(draw.seed);
        let (back, away) = (bias.back as f32, bias.away as f32);
        // Of each walk the neighbours of the node before: id and weight, the first of each id.
        let mut before: Vec<Vec<(i64, f32)>> = vec![Vec::new(); ask.nodes.len()];
        let mut ended = vec![false; ask.nodes.len()];
        let mut candidates: Vec<(i64, f32)> = Vec::new();
        let mut here: Vec<(i64, f32)> = Vec::new();
        for step in 0..=length {
            for (at, node) in ask.nodes.iter().enumerate() {
                let row = at * (length + 1);
                if step == 0 {
                    out[row] = *node;
                    continue;
                }
                let now = out[row + step - 1];
                let parent = if step == 1 { now } else { out[row + step - 2] };
                here.clear();
                for entry in self.graph.find(now) {
                    let Some(worker) = self.workers.first_mut() else { return Ok(()) };
                    worker.segments.clear();
                    worker.segments.add_entry(&self.graph, entry, ask.types, ask.time(at))?;
                    let mut sums = super::Sums::new(self.graph.partition(entry), entry.entry)?;
                    here.extend(
                        worker.segments.each(&self.graph).map(|(edge, _, number)| (target(edge), sums.weight(number))),
                    );
                }
                candidates.clear();
                let came = |id: i64| before[at].iter().find(|(other, _)| *other == id);
                if step > 1
                    && let Some((_, weight)) = came(now)
                {
                    candidates.push((parent, weight / back));
                }
                for (id, weight) in here.iter().filter(|(id, _)| *id != parent) {
                    let near = step > 1 && came(*id).is_some();
                    candidates.push((*id, if near { *weight } else { weight / away }));
                }
                let mut sum = 0.0;
                for (_, weight) in &mut candidates {
                    sum += *weight;
                    *weight = sum;
                }
                ended[at] |= candidates.is_empty();
                out[row + step] = if ended[at] {
                    default
                } else {
                    let wanted = sum * random.unit();
                    let chosen = candidates.partition_point(|(_, sum)| *sum < wanted).min(candidates.len() - 1);
                    candidates[chosen].0
                };
                std::mem::swap(&mut before[at], &mut here);
            }
        }
        Ok(())
    }
}
