//! Random walks.

use isomorph_error::{Error, Result};

use crate::ask::{Ask, Draw, Generator, Picks};
use crate::graph::{Graph, fits};
use crate::neighbors::{Weights, safe};
use crate::partition::{target, weight};
use crate::random::Stream;
use crate::sampler::{Sampler, Share, Worker};
use crate::segments::Segments;

/// What a walk of second order likes (Grover, Leskovec: *node2vec*, 2016). The weight of an edge is divided by `back` when it
/// leads to where the walk came from, by nothing when it leads to a neighbour of that node, and by `away` otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bias {
    /// `p`.
    pub back: f64,
    /// `q`.
    pub away: f64,
}

impl Default for Bias {
    fn default() -> Self {
        Bias { back: 1.0, away: 1.0 }
    }
}

/// Buffers of a walk.
#[derive(Default)]
pub(crate) struct Walk {
    /// Targets of the node that it came from, sorted.
    near: Vec<i64>,
}

/// Neighbours that are looked at one after another for a node.
const FEW: usize = 16;

impl Sampler {
    /// A walk of `length` steps from each node: `length + 1` nodes in `out` for each, the first of which is the node. Edges
    /// are chosen by weight and `bias`, and only edges that exist: the published engine also goes back along edges in the
    /// wrong direction. Where no edge leads on, the rest is `default`.
    ///
    /// # Errors
    /// [`Kind::Usage`](isomorph_error::Kind::Usage) when `out` has another length, or `bias` is not above 0, and
    /// `DEEPGNN-BOUNDS` when an offset points outside.
    pub fn walk(
        &mut self,
        ask: &Ask<'_>,
        length: usize,
        bias: Bias,
        draw: Draw,
        default: i64,
        out: &mut [i64],
    ) -> Result<()> {
        ask.check()?;
        fits(ask.nodes.len().saturating_mul(length.saturating_add(1)), out.len())?;
        if !(bias.back > 0.0 && bias.away > 0.0 && bias.back.is_finite() && bias.away.is_finite()) {
            return Err(Error::usage("p and q of a walk must be above 0"));
        }
        if self.generator == Generator::Compat {
            return self.compat_walk(ask, length, bias, draw, default, out);
        }
        let stride = length + 1;
        self.divide_ids(ask, stride, out, &|share, worker, picks| {
            for (at, node) in share.ask.nodes.iter().enumerate() {
                let mut stream = share.stream(at, draw);
                let row = &mut picks.ids[at * stride..(at + 1) * stride];
                walk(share, worker, (*node, share.ask.time(at)), bias, &mut stream, default, row)?;
            }
            Ok(())
        })
    }

    /// Divides a batch whose answers are ids alone.
    pub(crate) fn divide_ids<F>(&mut self, ask: &Ask<'_>, stride: usize, out: &mut [i64], work: &F) -> Result<()>
    where
        F: Fn(&Share<'_>, &mut Worker, &mut Picks<'_>) -> Result<()> + Sync,
    {
        self.divide(ask, stride, &mut Picks::of_ids(out), work)
    }
}

fn walk(
    share: &Share<'_>,
    worker: &mut Worker,
    (node, time): (i64, Option<i64>),
    bias: Bias,
    stream: &mut Stream,
    default: i64,
    row: &mut [i64],
) -> Result<()> {
    let graph = share.graph;
    let plain = bias == Bias::default();
    let Worker { segments, before, sums, walk, .. } = worker;
    let Some((first, steps)) = row.split_first_mut() else { return Ok(()) };
    *first = node;
    let (mut now, mut came) = (node, None);
    for at in 0..steps.len() {
        segments.collect(graph, now, share.ask.types, time)?;
        let chosen = match came {
            Some(came) if !plain => biased(graph, segments, before, walk, sums, came, bias, stream),
            _ => Weights::of(graph, segments, sums).map(|weights| weights.pick(stream.unit())),
        };
        let Some(chosen) = chosen else {
            steps[at..].fill(default);
            return Ok(());
        };
        (now, came) = (target(segments.edge(graph, chosen)), Some(now));
        steps[at] = now;
        if !plain {
            std::mem::swap(segments, before);
        }
    }
    Ok(())
}

/// Chooses among `segments`, having come from the node `came` whose edges are `before`.
#[allow(clippy::too_many_arguments, reason = "the buffers of a worker, borrowed apart")]
fn biased(
    graph: &Graph,
    segments: &Segments,
    before: &Segments,
    walk: &mut Walk,
    sums: &mut Vec<f64>,
    came: i64,
    bias: Bias,
    stream: &mut Stream,
) -> Option<usize> {
    walk.near.clear();
    walk.near.extend(before.runs(graph).flatten().map(target));
    let few = walk.near.len() <= FEW;
    if !few {
        walk.near.sort_unstable();
    }
    let near = |id: i64| if few { walk.near.contains(&id) } else { walk.near.binary_search(&id).is_ok() };
    sums.clear();
    let mut sum = 0.0;
    for edge in segments.runs(graph).flatten() {
        let id = target(edge);
        let by = match id {
            _ if id == came => bias.back,
            _ if near(id) => 1.0,
            _ => bias.away,
        };
        sum += safe(weight(edge)) / by;
        sums.push(sum);
    }
    Weights::over(sums).map(|weights| weights.pick(stream.unit()))
}
