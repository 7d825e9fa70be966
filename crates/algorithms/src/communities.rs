//! Communities by the propagation of labels.

use isomorph_error::Result;
use isomorph_model::Progress;
use isomorph_storage::{Resources, parallel::map};

use crate::adjacency::Adjacency;
use crate::array::{Array, at};

/// Nodes of which a thread takes the labels together.
const BLOCK: usize = 1 << 14;

/// After `iterations`, the label of each node, starting from `labels`: in each iteration, all nodes together take the label that most of the arcs of a node
/// lead to, of several the smallest. Arcs from a node to itself do not count. Ends early if no label changes.
///
/// # Errors
/// If there is no space for temporary files, or the work is cancelled.
pub(crate) fn propagate(
    both: &Adjacency,
    mut labels: Array<u32>,
    iterations: u32,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Array<u32>> {
    let mut next: Array<u32> = Array::zeros(u64::from(both.nodes()), 0, resources)?;
    progress.begin("labels", Some(u64::from(iterations) * both.arcs()));
    for _ in 0..iterations {
        let tasks: Vec<(u32, &mut [u32])> = (0u32..).step_by(BLOCK).zip(next.chunks_mut(BLOCK)).collect();
        let changed = map(resources.threads, tasks, |(first, next)| {
            let (mut near, mut changed) = (Vec::new(), false);
            for (node, slot) in (first..).zip(next) {
                near.clear();
                near.extend(both.of(node).iter().filter(|other| **other != node).map(|other| at(&labels, *other)));
                near.sort_unstable();
                let own = at(&labels, node);
                *slot = most_frequent(&near).unwrap_or(own);
                changed |= *slot != own;
            }
            changed
        });
        std::mem::swap(&mut labels, &mut next);
        progress.advance(both.arcs())?;
        if !changed.contains(&true) {
            break;
        }
    }
    progress.end();
    Ok(labels)
}

/// Of sorted labels the one that occurs most often; of several the smallest.
fn most_frequent(labels: &[u32]) -> Option<u32> {
    let mut best: Option<(usize, u32)> = None;
    for run in labels.chunk_by(|one, other| one == other) {
        if let Some(label) = run.first()
            && best.is_none_or(|(count, _)| run.len() > count)
        {
            best = Some((run.len(), *label));
        }
    }
    best.map(|(_, label)| label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_labels_the_smallest_wins() {
        assert_eq!(most_frequent(&[]), None);
        assert_eq!(most_frequent(&[3]), Some(3));
        assert_eq!(most_frequent(&[1, 2, 2, 5, 5]), Some(2));
        assert_eq!(most_frequent(&[1, 1, 2, 2, 2]), Some(2));
    }
}
