//! Requests, and the buffers for results.

use isomorph_error::{Error, Result};

use crate::graph::{Graph, fits};

/// A set of types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeSet(Option<Vec<i32>>);

impl TypeSet {
    /// Returns the set of all types.
    pub fn all() -> Self {
        TypeSet(None)
    }

    /// Returns the set of these types, in any order. Types that do not exist match nothing.
    pub fn of(types: &[i32]) -> Self {
        let mut types = types.to_vec();
        types.sort_unstable();
        types.dedup();
        TypeSet(Some(types))
    }

    /// Returns the types in ascending order, or `None` for all types.
    pub fn listed(&self) -> Option<&[i32]> {
        self.0.as_deref()
    }

    /// Returns whether a type is in the set.
    pub fn has(&self, ty: i32) -> bool {
        self.0.as_ref().is_none_or(|types| types.binary_search(&ty).is_ok())
    }
}

/// The random generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Generator {
    /// Keyed by seed, hop and node (and the number of earlier occurrences of the node in the call). One seed gives the same result for any
    /// number of threads, and for any partitioning if the edges of a node are in the order that the specification requires.
    #[default]
    Stable,
    /// The published engine's generator: its result for the same seed and the same partitions of a binary. Weights of edges are returned
    /// as differences of 32-bit sums. A graph that is not a binary has no tables, and no order of edges with equal ends or times:
    /// nodes and edges are not drawn from it by weight, and neighbours and walks may differ from those of its binary.
    Compat,
}

/// Time of creation of an edge without a time, in a graph whose edges have times: before every time.
pub const NO_TIME: i64 = i64::MIN;

/// The starting point of random choices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Draw {
    /// The seed; for negative seeds of the published engine, their bits.
    pub seed: u64,
    /// The step of a larger sample, so that a node that occurs again in a later step draws other numbers. The compatible
    /// generator ignores it.
    pub hop: u32,
}

impl Draw {
    /// Returns the first hop of a seed.
    pub fn of(seed: u64) -> Self {
        Draw { seed, hop: 0 }
    }
}

/// The values that are written if there is nothing to choose from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Missing {
    /// Value for a missing neighbour.
    pub node: i64,
    /// Value for a missing weight.
    pub weight: f32,
    /// Value for a missing edge type.
    pub ty: i32,
    /// Value for a missing time of creation.
    pub created: i64,
}

impl Default for Missing {
    fn default() -> Self {
        Missing { node: -1, weight: 0.0, ty: -1, created: -1 }
    }
}

/// A request for neighbours of nodes.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// The nodes, in any order, possibly repeated. Unknown nodes have no neighbours.
    pub nodes: &'a [i64],
    /// Types of the edges.
    pub types: &'a TypeSet,
    /// For each node, the requested time: edges exist that were created then or before, and removed later or not at
    /// all. Edges without times always exist.
    pub times: Option<&'a [i64]>,
}

impl<'a> Ask<'a> {
    /// Creates a request without times.
    pub fn new(nodes: &'a [i64], types: &'a TypeSet) -> Self {
        Ask { nodes, types, times: None }
    }

    /// Checks that there are no times or one for each node, and that times of these edges can be compared.
    ///
    /// # Errors
    /// Returns [`Kind::Usage`](isomorph_error::Kind::Usage) if not.
    pub(crate) fn check(&self, graph: &Graph) -> Result<()> {
        if u32::try_from(self.nodes.len()).is_err() {
            return Err(Error::usage("a request may have at most 2³² nodes").hint("use several requests"));
        }
        let Some(times) = self.times else { return Ok(()) };
        fits(self.nodes.len(), times.len())?;
        graph.comparable(self.types)
    }

    pub(crate) fn split(self, at: usize) -> (Self, Self) {
        let (left, right) = self.nodes.split_at(at);
        let times = self.times.map(|times| times.split_at(at));
        (
            Ask { nodes: left, times: times.map(|(left, _)| left), ..self },
            Ask { nodes: right, times: times.map(|(_, right)| right), ..self },
        )
    }

    #[inline]
    pub(crate) fn time(&self, at: usize) -> Option<i64> {
        self.times.map(|times| times[at])
    }
}

/// Buffers for a fixed number of neighbours of each node: row by row, *nodes × count* elements each. All except `ids` may be
/// empty, and are then not written.
#[derive(Debug)]
pub struct Picks<'a> {
    /// The neighbours.
    pub ids: &'a mut [i64],
    /// Weights of the edges to them; rounded if the graph has weights of more than 32 bits.
    pub weights: &'a mut [f32],
    /// Types of these edges.
    pub types: &'a mut [i32],
    /// Times of creation of these edges: −1 in graphs without times; in other graphs, [`NO_TIME`] for edges without a time.
    pub created: &'a mut [i64],
    /// The weights with all their bits: see [`Graph::has_exact_weights`](crate::Graph::has_exact_weights).
    pub exact: &'a mut [f64],
}

impl<'a> Picks<'a> {
    /// Creates a buffer for neighbours only.
    pub fn of_ids(ids: &'a mut [i64]) -> Self {
        Picks { ids, weights: &mut [], types: &mut [], created: &mut [], exact: &mut [] }
    }

    /// Splits the buffers at element `at`.
    pub(crate) fn split(self, at: usize) -> (Self, Self) {
        let (ids, more_ids) = self.ids.split_at_mut(at);
        let (weights, more_weights) = self.weights.split_at_mut(at.min(self.weights.len()));
        let (types, more_types) = self.types.split_at_mut(at.min(self.types.len()));
        let (created, more_created) = self.created.split_at_mut(at.min(self.created.len()));
        let (exact, more_exact) = self.exact.split_at_mut(at.min(self.exact.len()));
        let behind =
            Picks { ids: more_ids, weights: more_weights, types: more_types, created: more_created, exact: more_exact };
        (Picks { ids, weights, types, created, exact }, behind)
    }
}

impl Picks<'_> {
    pub(crate) fn check(&self, wanted: usize) -> Result<()> {
        let filled_or_empty = |given: usize| if given == 0 { Ok(()) } else { fits(wanted, given) };
        fits(wanted, self.ids.len())?;
        filled_or_empty(self.weights.len())?;
        filled_or_empty(self.types.len())?;
        filled_or_empty(self.created.len())?;
        filled_or_empty(self.exact.len())
    }

    pub(crate) fn reborrow(&mut self) -> Picks<'_> {
        Picks { ids: self.ids, weights: self.weights, types: self.types, created: self.created, exact: self.exact }
    }

    /// Returns the elements `from..to`.
    #[inline]
    pub(crate) fn rows(&mut self, from: usize, to: usize) -> Picks<'_> {
        Picks {
            ids: &mut self.ids[from..to],
            weights: if self.weights.is_empty() { &mut [] } else { &mut self.weights[from..to] },
            types: if self.types.is_empty() { &mut [] } else { &mut self.types[from..to] },
            created: if self.created.is_empty() { &mut [] } else { &mut self.created[from..to] },
            exact: if self.exact.is_empty() { &mut [] } else { &mut self.exact[from..to] },
        }
    }

    #[inline]
    pub(crate) fn put(&mut self, at: usize, id: i64, weight: f32, ty: i32, created: i64) {
        self.ids[at] = id;
        if let Some(slot) = self.weights.get_mut(at) {
            *slot = weight;
        }
        if let Some(slot) = self.types.get_mut(at) {
            *slot = ty;
        }
        if let Some(slot) = self.created.get_mut(at) {
            *slot = created;
        }
    }

    /// Fills the buffers from element `from` on with the values for missing elements.
    pub(crate) fn fill(&mut self, from: usize, missing: &Missing) {
        self.ids[from..].fill(missing.node);
        self.weights.iter_mut().skip(from).for_each(|slot| *slot = missing.weight);
        self.types.iter_mut().skip(from).for_each(|slot| *slot = missing.ty);
        self.created.iter_mut().skip(from).for_each(|slot| *slot = missing.created);
        self.exact.iter_mut().skip(from).for_each(|slot| *slot = f64::from(missing.weight));
    }
}
