//! Random walks.

use isomorph_error::{Error, Result};

use crate::graph::{Graph, fits};
use crate::hubs::MANY;
use crate::neighbors::{SumsRoom, Weights};
use crate::partition::{Edge, target};
use crate::random::Stream;
use crate::request::{Ask, Draw, Generator, Picks};
use crate::sampler::{Sampler, Share, Worker};
use crate::segments::Segments;

/// The bias of a second-order walk (Grover, Leskovec: *node2vec*, 2016). The weight of an edge is divided by `back` if it
/// leads to the previous node, unchanged if it leads to a neighbour of the previous node, and divided by `away` otherwise.
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
    /// Targets of the previous node, sorted if there are many.
    near: Vec<i64>,
    /// The walks of a batch that have ended.
    pub ended: Vec<bool>,
}

/// Time of a step in nanoseconds.
const STEP: u64 = 80;

/// Maximum number of neighbours that are searched linearly.
const FEW: usize = 16;

/// Number of edges that are drawn before all edges are weighed.
const TRIES: usize = 64;

impl Sampler {
    /// Walks `length` steps from each node: writes `length + 1` nodes to `out` for each, the first of which is the node. Edges
    /// are chosen by weight and `bias`, and only existing edges are followed: the published engine also goes back along edges in the
    /// wrong direction. If no edge leads on, the rest is `default`.
    ///
    /// # Errors
    /// Returns [`Kind::Usage`](isomorph_error::Kind::Usage) if `out` has another length or `bias` is not above 0; otherwise as
    /// [`Sampler::weighted`].
    pub fn walk(
        &mut self,
        ask: &Ask<'_>,
        length: usize,
        bias: Bias,
        draw: Draw,
        default: i64,
        out: &mut [i64],
    ) -> Result<()> {
        ask.check(&self.graph)?;
        let steps = u32::try_from(length).map_err(|_| Error::usage("a walk may have at most 2³² steps"))?;
        fits(ask.nodes.len().saturating_mul(length.saturating_add(1)), out.len())?;
        if !(bias.back > 0.0 && bias.away > 0.0 && bias.back.is_finite() && bias.away.is_finite()) {
            return Err(Error::usage("p and q of a walk must be above 0"));
        }
        self.graph.weighs_edges(ask.types, self.generator)?;
        if self.generator == Generator::Compat {
            return self.compat_walk(ask, length, bias, draw, default, out);
        }
        let each = STEP.saturating_mul(length as u64);
        self.divide(ask, length + 1, each, &mut Picks::of_ids(out), &|share, worker, picks| {
            walks(share, worker, steps, bias, draw, default, picks.ids)
        })
    }
}

/// Does all walks of a share, step by step: each read of a walk depends on the previous one, and other walks use the waiting time.
fn walks(
    share: &Share<'_>,
    worker: &mut Worker,
    steps: u32,
    bias: Bias,
    draw: Draw,
    default: i64,
    out: &mut [i64],
) -> Result<()> {
    let (graph, nodes, stride) = (share.graph, share.ask.nodes, steps as usize + 1);
    let plain = bias == Bias::default();
    let Worker { segments, before, sums, walk, .. } = worker;
    walk.ended.clear();
    walk.ended.resize(nodes.len(), false);
    nodes.iter().enumerate().for_each(|(at, node)| out[at * stride] = *node);
    for (number, step) in (1..=steps).zip(1usize..) {
        let mut ahead = share.ahead();
        for at in 0..nodes.len() {
            let place = ahead.place(graph, at, nodes.len(), |at| out[at * stride + step - 1]);
            let (row, time) = (at * stride, share.ask.time(at));
            let chosen = if walk.ended[at] {
                None
            } else {
                segments.collect_at(graph, place, out[row + step - 1], share.ask.types, time)?;
                let mut stream = share.stream(at, draw).at(number);
                if plain || step == 1 {
                    Weights::of(graph, segments, sums)?.map(|weights| weights.pick(stream.unit()))
                } else {
                    let came = out[row + step - 2];
                    before.collect(graph, came, share.ask.types, time)?;
                    let near = Near::of(graph, before, &mut walk.near);
                    biased(graph, segments, &near, sums, came, bias, &mut stream)?
                }
            };
            out[row + step] = chosen.map_or(default, |chosen| target(segments.edge(graph, chosen)));
            walk.ended[at] = chosen.is_none();
        }
    }
    Ok(())
}

/// The neighbours of the previous node.
enum Near<'a> {
    /// In any order.
    Few(&'a [i64]),
    /// In ascending order.
    Sorted(&'a [i64]),
    /// Edges that are sorted by target.
    Edges(&'a [Edge]),
}

impl<'a> Near<'a> {
    fn of(graph: &'a Graph, before: &Segments, targets: &'a mut Vec<i64>) -> Near<'a> {
        if before.hub(graph).is_some_and(|hub| hub.ascends)
            && let Some((partition, range)) = before.only()
        {
            return Near::Edges(&graph.partitions[partition].edges()[range]);
        }
        targets.clear();
        targets.extend(before.runs(graph).flatten().map(target));
        if targets.len() <= FEW {
            return Near::Few(targets);
        }
        targets.sort_unstable();
        Near::Sorted(targets)
    }

    fn has(&self, id: i64) -> bool {
        match self {
            Near::Few(targets) => targets.contains(&id),
            Near::Sorted(targets) => targets.binary_search(&id).is_ok(),
            Near::Edges(edges) => edges.binary_search_by_key(&id, target).is_ok(),
        }
    }
}

/// Chooses among `segments`; the previous node is `came`, whose neighbours are `near`.
///
/// With many edges, one is drawn by weight and accepted with a probability that corrects the bias, else drawn again: this reads few edges
/// (Yang et al.: *KnightKing*, 2019). With few edges, or if the bias is so strong that nothing is accepted, all are weighed.
fn biased(
    graph: &Graph,
    segments: &Segments,
    near: &Near<'_>,
    room: &mut SumsRoom,
    came: i64,
    bias: Bias,
    stream: &mut Stream,
) -> Result<Option<usize>> {
    let by = |id: i64| match id {
        _ if id == came => bias.back,
        _ if near.has(id) => 1.0,
        _ => bias.away,
    };
    if segments.len() >= MANY {
        let least = bias.back.min(1.0).min(bias.away);
        let Some(weights) = Weights::of(graph, segments, room)? else { return Ok(None) };
        for _ in 0..TRIES {
            let chosen = weights.pick(stream.unit());
            if stream.unit() * by(target(segments.edge(graph, chosen))) < least {
                return Ok(Some(chosen));
            }
        }
    }
    let sums = &mut room.made;
    sums.clear();
    let mut sum = 0.0;
    for (partition, edges) in segments.ranges() {
        let partition = &graph.partitions[partition];
        for (number, edge) in edges.clone().zip(&partition.edges()[edges]) {
            sum += partition.mass(number, edge) / by(target(edge));
            sums.push(sum);
        }
    }
    Ok(Weights::over(sums)?.map(|weights| weights.pick(stream.unit())))
}
