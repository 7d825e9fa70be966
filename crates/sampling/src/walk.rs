//! Random walks.

use isomorph_error::{Error, Result};

use crate::ahead::AHEAD;
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
    /// Targets of the node that it came from, sorted where they are many.
    near: Vec<i64>,
    /// Which walks of a batch have come to an end.
    ended: Vec<bool>,
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
        self.divide_ids(ask, length + 1, out, &|share, worker, picks| {
            walks(share, worker, length, bias, draw, default, picks.ids)
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

/// All walks of a share, step by step: what a walk reads next depends on what it read before, and other walks fill the wait.
fn walks(
    share: &Share<'_>,
    worker: &mut Worker,
    length: usize,
    bias: Bias,
    draw: Draw,
    default: i64,
    out: &mut [i64],
) -> Result<()> {
    let (graph, nodes, stride) = (share.graph, share.ask.nodes, length + 1);
    let plain = bias == Bias::default();
    let Worker { segments, before, sums, walk, ahead, .. } = worker;
    walk.ended.clear();
    walk.ended.resize(nodes.len(), false);
    nodes.iter().enumerate().for_each(|(at, node)| out[at * stride] = *node);
    for step in 1..=length {
        for at in 0..nodes.len() {
            if at.is_multiple_of(AHEAD) {
                let some = at..nodes.len().min(at + AHEAD);
                let now = some.filter(|at| !walk.ended[*at]).map(|at| out[at * stride + step - 1]);
                ahead.fetch(graph, now);
            }
            let (row, time) = (at * stride, share.ask.time(at));
            let chosen = if walk.ended[at] {
                None
            } else {
                segments.collect(graph, out[row + step - 1], share.ask.types, time)?;
                let mut stream = share.stream(at, draw).at(step as u32);
                if plain || step == 1 {
                    Weights::of(graph, segments, sums).map(|weights| weights.pick(stream.unit()))
                } else {
                    let came = out[row + step - 2];
                    before.collect(graph, came, share.ask.types, time)?;
                    biased(graph, segments, before, &mut walk.near, sums, came, bias, &mut stream)
                }
            };
            out[row + step] = chosen.map_or(default, |chosen| target(segments.edge(graph, chosen)));
            walk.ended[at] = chosen.is_none();
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
    targets: &mut Vec<i64>,
    sums: &mut Vec<f64>,
    came: i64,
    bias: Bias,
    stream: &mut Stream,
) -> Option<usize> {
    targets.clear();
    targets.extend(before.runs(graph).flatten().map(target));
    let few = targets.len() <= FEW;
    if !few {
        targets.sort_unstable();
    }
    let near = |id: i64| if few { targets.contains(&id) } else { targets.binary_search(&id).is_ok() };
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
