//! Joins of tables of two columns, answered by the same search: each column is a node of a pattern, each row an edge.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};

use isomorph::dataset::Cancel;
use isomorph::model::Comparison;
use isomorph::storage::Reservation;
use isomorph::{Error, Result};

use super::adjacency::{Adjacency, EachEdge};
use super::running::{Found, Running};
use super::search::{Mode, Pair, Search, pairs};
use super::steps::{Link, Place, Step, order};
use super::{ALONE, float};

/// The rows of a table of two columns: numbers of their values.
#[derive(Debug, Default)]
pub struct JoinedEdges {
    /// The values of the first column.
    pub left: Vec<u32>,
    /// The values of the second column.
    pub right: Vec<u32>,
}

/// A table of a join: which edges it has, and which nodes of the join its columns are.
#[derive(Debug, Clone, Copy)]
pub struct JoinedLink {
    /// The position of its edges.
    pub edges: usize,
    /// The node that its first column is.
    pub left: usize,
    /// The node that its second column is.
    pub right: usize,
}

/// A join. All of its nodes have to be connected by links.
#[derive(Debug, Default)]
pub struct Joined {
    /// Values are numbers below this one.
    pub values: u32,
    /// The edges of tables, each once, however often it is joined.
    pub edges: Vec<JoinedEdges>,
    /// The tables.
    pub links: Vec<JoinedLink>,
    /// The number of nodes: of sets of columns that are equal.
    pub nodes: usize,
    /// Comparisons of the numbers of two nodes, which are those of their values if numbers have their order.
    pub comparisons: Vec<(usize, Comparison, usize)>,
    /// The nodes whose values are wanted, in this order.
    pub shown: Vec<usize>,
    /// Whether one match may stand for all that look alike, wherever they are found, so that each is given in no order.
    pub merges: bool,
}

/// The matches of a join. Dropping them ends the search.
#[derive(Debug)]
pub struct JoinedMatches {
    running: Running,
    _memory: Reservation,
}

impl Joined {
    /// Builds lists of neighbours, and starts a search over them. `memory` is what the edges take; it grows.
    ///
    /// # Errors
    /// If memory is too small, or threads cannot be started.
    pub fn search(self, threads: usize, mut memory: Reservation, cancel: &Cancel) -> Result<JoinedMatches> {
        let Joined { values, edges, links, nodes, comparisons, shown, merges } = self;
        let count = |link: &JoinedLink| edges.get(link.edges).map_or(0, |edges| edges.left.len());
        let is_compared = |node: usize| comparisons.iter().any(|(left, _, right)| *left == node || *right == node);
        let place = |node: usize| Place {
            passing: f64::from(values),
            of: f64::from(values),
            is_plain: !shown.contains(&node) && !is_compared(node),
        };
        let places: Vec<Place> = (0..nodes).map(place).collect();
        let of_order =
            |link: &JoinedLink| Link { left: link.left, right: link.right, length: None, edges: float(count(link)) };
        let steps = order(&places, &links.iter().map(of_order).collect::<Vec<_>>());
        if !(0..nodes).all(|node| steps.iter().any(|step| step.binds(node))) {
            return Err(Error::usage("internal error: the tables of a join are not connected"));
        }
        let threads =
            if edges.iter().map(|edges| edges.left.len()).sum::<usize>() < ALONE { 1 } else { threads.max(1) };
        let mut lists = vec![[None; 2]; links.len()];
        let (mut known, mut adjacency) = (Vec::new(), Vec::new());
        for one in steps.iter().flat_map(Step::via) {
            let Some(link) = links.get(one.relationship) else { continue };
            let wanted = (link.edges, one.from_left);
            let found = match known.iter().position(|other| *other == wanted) {
                Some(found) => found,
                None => {
                    adjacency.push(neighbors(edges.get(link.edges), one.from_left, values, threads, &mut memory)?);
                    known.push(wanted);
                    known.len() - 1
                }
            };
            lists[one.relationship][usize::from(!one.from_left)] = Some(found);
        }
        // The lists have all of them.
        let bytes: usize = edges.iter().map(|edges| 4 * (edges.left.capacity() + edges.right.capacity())).sum();
        drop(edges);
        memory.shrink(bytes as u64);
        let mode = match shown.as_slice() {
            [] => Mode::Count,
            [_] if merges => Mode::Weigh,
            _ => Mode::Rows,
        };
        let mut weights = Vec::new();
        if mode == Mode::Weigh {
            memory.grow(8 * u64::from(values)).map_err(|error| error.hint("--memory"))?;
            weights.resize_with(values as usize, AtomicU64::default);
        }
        memory.grow(4 * u64::from(values)).map_err(|error| error.hint("--memory"))?;
        let compared = |(left, comparison, right): &(usize, Comparison, usize)| {
            (*left, Pair { other: *right, comparison: *comparison })
        };
        let compared: Vec<(usize, Pair)> = comparisons.iter().map(compared).collect();
        let search = Search {
            pairs: pairs(&compared, &steps, nodes),
            steps,
            lists,
            adjacency,
            passing: (0..nodes).map(|_| None).collect(),
            repeats: true,
            starts: (0..values).collect(),
            shown_nodes: shown,
            shown_edges: Vec::new(),
            counted: Vec::new(),
            mode,
            weights,
            cancel: cancel.clone(),
            deadline: None,
            next: AtomicUsize::new(0),
            is_left: AtomicBool::new(false),
        };
        let running = Running::start(Search { counted: search.counted(), ..search }, threads)?;
        Ok(JoinedMatches { running, _memory: memory })
    }
}

/// The lists of neighbours of edges, from their left or their right end.
fn neighbors(
    edges: Option<&JoinedEdges>,
    from_left: bool,
    values: u32,
    threads: usize,
    memory: &mut Reservation,
) -> Result<Adjacency> {
    let each = |found: &mut EachEdge<'_>| {
        for (number, (left, right)) in
            edges.into_iter().flat_map(|edges| edges.left.iter().zip(&edges.right)).enumerate()
        {
            let (from, to) = if from_left { (*left, *right) } else { (*right, *left) };
            // As many as fit: `build` refuses more.
            found(from, to, u32::try_from(number).unwrap_or(u32::MAX));
        }
    };
    Adjacency::build(values as usize, threads, memory, &each)
}

impl JoinedMatches {
    /// The next matches: for each one the values that are wanted, and how many look alike; nothing at the end.
    ///
    /// # Errors
    /// If the search was cancelled or failed.
    pub fn more(&mut self) -> Result<Option<Found>> {
        self.running.next()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use isomorph::storage::Budget;

    use super::*;

    /// A small generator: the same joins each time.
    struct Dice(u64);

    impl Dice {
        fn roll(&mut self, sides: u32) -> u32 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            u32::try_from((self.0 >> 33) % u64::from(sides)).unwrap()
        }
    }

    /// All choices of a row of each table that agree, by trying all.
    fn tried(edges: &[Vec<(u32, u32)>], links: &[JoinedLink], nodes: usize) -> Vec<Vec<u32>> {
        let mut matches: Vec<Vec<Option<u32>>> = vec![vec![None; nodes]];
        for link in links {
            let mut next = Vec::new();
            for bound in &matches {
                for (left, right) in &edges[link.edges] {
                    let mut more = bound.clone();
                    let fits = [(link.left, *left), (link.right, *right)].into_iter().all(|(node, value)| {
                        let is_same = more[node].is_none_or(|own| own == value);
                        more[node] = Some(value);
                        is_same
                    });
                    if fits {
                        next.push(more);
                    }
                }
            }
            matches = next;
        }
        matches.into_iter().map(|bound| bound.into_iter().map(Option::unwrap).collect()).collect()
    }

    fn compares(left: u32, comparison: Comparison, right: u32) -> bool {
        match comparison {
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
            Comparison::Less => left < right,
            Comparison::LessOrEqual => left <= right,
            Comparison::Greater => left > right,
            Comparison::GreaterOrEqual => left >= right,
        }
    }

    #[test]
    fn random_joins_have_the_rows_of_trying_all() {
        let all = [
            Comparison::Equal,
            Comparison::NotEqual,
            Comparison::Less,
            Comparison::LessOrEqual,
            Comparison::Greater,
            Comparison::GreaterOrEqual,
        ];
        let mut dice = Dice(11);
        for _ in 0..400 {
            let values = 1 + dice.roll(6);
            let tables = 1 + dice.roll(2);
            let edges: Vec<Vec<(u32, u32)>> = (0..tables)
                .map(|_| (0..dice.roll(12)).map(|_| (dice.roll(values), dice.roll(values))).collect())
                .collect();
            let nodes = 2 + dice.roll(3);
            let mut links = Vec::new();
            // Each node is connected to one before it; then some more.
            for node in 1..nodes {
                let other = dice.roll(node);
                let (left, right) = if dice.roll(2) == 0 { (node, other) } else { (other, node) };
                links.push((left, right));
            }
            (0..dice.roll(3)).for_each(|_| links.push((dice.roll(nodes), dice.roll(nodes))));
            let links: Vec<JoinedLink> = links
                .into_iter()
                .map(|(left, right)| JoinedLink {
                    edges: dice.roll(tables) as usize,
                    left: left as usize,
                    right: right as usize,
                })
                .collect();
            let nodes = nodes as usize;
            let mut comparisons = Vec::new();
            for _ in 0..dice.roll(3) {
                let (left, right) = (dice.roll(nodes as u32) as usize, dice.roll(nodes as u32) as usize);
                if left != right {
                    comparisons.push((left, all[dice.roll(6) as usize], right));
                }
            }
            let shown: Vec<usize> = (0..nodes).filter(|_| dice.roll(3) == 0).collect();
            let mut expected: Vec<Vec<u32>> = tried(&edges, &links, nodes)
                .into_iter()
                .filter(|one| comparisons.iter().all(|(left, is, right)| compares(one[*left], *is, one[*right])))
                .map(|one| shown.iter().map(|node| one[*node]).collect())
                .collect();
            expected.sort_unstable();
            let lists = |edges: &Vec<(u32, u32)>| {
                let (left, right) = edges.iter().copied().unzip();
                JoinedEdges { left, right }
            };
            let joined = Joined {
                values,
                edges: edges.iter().map(lists).collect(),
                links: links.clone(),
                nodes,
                comparisons: comparisons.clone(),
                shown: shown.clone(),
                merges: dice.roll(2) == 0,
            };
            let memory = Budget::new(1 << 24).reserve(0).unwrap();
            let mut matches = joined.search(2, memory, &Cancel::new()).unwrap();
            let mut found = Vec::new();
            while let Some(Found { values, times }) = matches.more().unwrap() {
                for (at, times) in times.iter().enumerate() {
                    let one = values[at * shown.len()..(at + 1) * shown.len()].to_vec();
                    found.extend(std::iter::repeat_n(one, usize::try_from(*times).unwrap()));
                }
            }
            found.sort_unstable();
            assert_eq!(found, expected, "{edges:?} {links:?} {comparisons:?} {shown:?}");
        }
    }

    #[test]
    fn tables_that_are_not_connected_are_refused() {
        let joined = Joined { values: 1, nodes: 2, ..Joined::default() };
        let memory = Budget::new(1 << 20).reserve(0).unwrap();
        assert!(joined.search(1, memory, &Cancel::new()).is_err());
    }
}
