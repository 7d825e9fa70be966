//! The matches of a pattern: a search over lists of neighbours, depth first, so that it holds no more than the nodes and edges of one
//! match, on several threads that take the first nodes from each other.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Instant;

use isomorph::dataset::Cancel;
use isomorph::model::Comparison;

use super::adjacency::{Adjacency, Entry, NodeSet, edge, entry, neighbor};
use super::steps::{MOST_VIA, Step, Via};

/// Steps between two looks at whether the search goes on.
const TICKS: u32 = 4096;

/// First nodes that a thread takes at once.
const STARTS: usize = 64;

/// Matches that are sent at once.
pub(super) const MATCHES: usize = 4096;

/// What is told of matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// How many there are.
    Count,
    /// How many each value of the only node that is read has.
    Weigh,
    /// The nodes and edges that are read.
    Rows,
}

/// What a thread of the search sends.
#[derive(Debug)]
pub(super) enum Message {
    /// Matches: what is read of them, one after another, and how many look alike.
    Rows { values: Vec<u32>, times: Vec<u64> },
    /// A thread has come to its end, and has counted so many matches.
    Done { count: u64, is_complete: bool },
}

/// A condition on two nodes: how their numbers compare. Only where these are in the order of their keys is it more than whether both are the same one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    /// The node that is bound before, on the right of the comparison.
    pub other: usize,
    pub comparison: Comparison,
}

impl Pair {
    fn holds(&self, value: u32, nodes: &[u32]) -> bool {
        nodes.get(self.other).is_some_and(|other| match self.comparison {
            Comparison::Equal => value == *other,
            Comparison::NotEqual => value != *other,
            Comparison::Less => value < *other,
            Comparison::LessOrEqual => value <= *other,
            Comparison::Greater => value > *other,
            Comparison::GreaterOrEqual => value >= *other,
        })
    }

    /// No node below the first number, or above the second one, passes.
    fn bounds(&self, nodes: &[u32]) -> (u32, u32) {
        let other = nodes.get(self.other).copied().unwrap_or_default();
        match self.comparison {
            Comparison::Equal => (other, other),
            Comparison::NotEqual => (0, u32::MAX),
            Comparison::Less => (0, other.saturating_sub(1)),
            Comparison::LessOrEqual => (0, other),
            Comparison::Greater => (other.saturating_add(1), u32::MAX),
            Comparison::GreaterOrEqual => (other, u32::MAX),
        }
    }
}

/// The pairs of each node of a pattern, given with the node on the left of each comparison: they are tested when the later node is bound.
pub(super) fn pairs(all: &[(usize, Pair)], steps: &[Step], nodes: usize) -> Vec<Vec<Pair>> {
    let rank = |node: usize| steps.iter().position(|step| step.binds(node));
    let mut pairs = vec![Vec::new(); nodes];
    for (node, pair) in all {
        let (later, pair) = match rank(*node) > rank(pair.other) {
            true => (*node, *pair),
            false => (pair.other, Pair { other: *node, comparison: reversed(pair.comparison) }),
        };
        pairs[later].push(pair);
    }
    pairs
}

/// The same comparison with its sides exchanged.
fn reversed(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Less => Comparison::Greater,
        Comparison::LessOrEqual => Comparison::GreaterOrEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterOrEqual => Comparison::LessOrEqual,
        same @ (Comparison::Equal | Comparison::NotEqual) => same,
    }
}

/// A search.
#[derive(Debug)]
pub(super) struct Search {
    pub steps: Vec<Step>,
    /// The lists of each relationship of the pattern, from its left and from its right node.
    pub lists: Vec<[Option<usize>; 2]>,
    pub adjacency: Vec<Adjacency>,
    /// The nodes that pass the conditions on each node of the pattern; `None` if all do.
    pub passing: Vec<Option<NodeSet>>,
    pub pairs: Vec<Vec<Pair>>,
    /// Whether a match may have an edge several times.
    pub repeats: bool,
    pub starts: Vec<u32>,
    pub shown_nodes: Vec<usize>,
    pub shown_edges: Vec<usize>,
    /// Whether what each step binds is only counted: `counted`.
    pub counted: Vec<bool>,
    pub mode: Mode,
    /// For [`Mode::Weigh`]: matches by node.
    pub weights: Vec<AtomicU64>,
    pub cancel: Cancel,
    pub deadline: Option<Instant>,
    pub next: AtomicUsize,
    pub is_left: AtomicBool,
}

/// The search was left, or cancelled.
struct Stopped;

type Flow = Result<(), Stopped>;

/// An edge of the match, with the nodes at its ends.
#[derive(Clone, Copy)]
struct Taken {
    edge: u32,
    ends: [u32; 2],
}

struct State<'s> {
    nodes: Vec<u32>,
    edges: Vec<u32>,
    taken: Vec<Taken>,
    ticks: u32,
    /// How many choices of nodes that are only counted the match has so far.
    choices: u64,
    count: u64,
    /// The node that was weighed last, with its matches since.
    weighed: Option<(u32, u64)>,
    values: Vec<u32>,
    times: Vec<u64>,
    /// What is read of the match.
    shown: Vec<u32>,
    sender: &'s SyncSender<Message>,
}

impl Search {
    /// Works until there are no more first nodes.
    pub(super) fn work(&self, sender: &SyncSender<Message>) {
        let mut state = State {
            nodes: vec![0; self.passing.len()],
            edges: vec![0; self.lists.len()],
            taken: Vec::new(),
            ticks: 0,
            choices: 1,
            count: 0,
            weighed: None,
            values: Vec::new(),
            times: Vec::new(),
            shown: Vec::new(),
            sender,
        };
        let is_complete = self.all(&mut state).is_ok();
        // Nobody may be left who reads it.
        let _ = sender.send(Message::Done { count: state.count, is_complete });
    }

    fn all(&self, state: &mut State<'_>) -> Flow {
        let Some(Step::Start { node }) = self.steps.first() else { return Ok(()) };
        loop {
            let first = self.next.fetch_add(STARTS, Ordering::Relaxed);
            let Some(starts) = self.starts.get(first..(first + STARTS).min(self.starts.len())) else { break };
            if starts.is_empty() {
                break;
            }
            for start in starts {
                self.tick(state)?;
                state.nodes[*node] = *start;
                self.step(1, state)?;
            }
        }
        self.flush(state)
    }

    fn tick(&self, state: &mut State<'_>) -> Flow {
        state.ticks += 1;
        if state.ticks < TICKS {
            return Ok(());
        }
        state.ticks = 0;
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        match is_late || self.cancel.is_cancelled() || self.is_left.load(Ordering::Relaxed) {
            true => Err(Stopped),
            false => Ok(()),
        }
    }

    /// The edges of a bound node that a relationship of the pattern may be.
    fn list(&self, via: Via, state: &State<'_>) -> &[Entry] {
        let from = state.nodes.get(via.from).copied().unwrap_or(u32::MAX);
        let at = self.lists.get(via.relationship).and_then(|sides| sides.get(usize::from(!via.from_left)).copied());
        at.flatten().and_then(|at| self.adjacency.get(at)).map_or(&[], |lists| lists.of(from))
    }

    fn accepts(&self, node: usize, value: u32, state: &State<'_>) -> bool {
        let passes = self.passing.get(node).and_then(Option::as_ref).is_none_or(|set| set.has(value));
        passes && self.pairs.get(node).is_none_or(|pairs| pairs.iter().all(|pair| pair.holds(value, &state.nodes)))
    }

    /// The first and the last number that a node may have after its pairs.
    fn bounds(&self, node: usize, state: &State<'_>) -> (u32, u32) {
        let pairs = self.pairs.get(node).into_iter().flatten();
        pairs
            .map(|pair| pair.bounds(&state.nodes))
            .fold((0, u32::MAX), |(least, most), (low, high)| (least.max(low), most.min(high)))
    }

    /// For each step, whether nothing is read or tested of what it binds, and no later step begins or ends there: then it is only counted. Where a match has each
    /// edge once, the edges of later steps depend on those of this one, so that it has to be the last.
    pub(super) fn counted(&self) -> Vec<bool> {
        let is_counted = |(at, step): (usize, &Step)| {
            let (node, relationship) = match step {
                Step::Extend { node, via } => match via.as_slice() {
                    [one] => (*node, one.relationship),
                    _ => return false,
                },
                Step::Walk { via, to, to_is_bound: false, .. } => (*to, via.relationship),
                Step::Start { .. } | Step::Check { .. } | Step::Walk { .. } => return false,
            };
            let later = self.steps.get(at + 1..).unwrap_or_default();
            (later.is_empty() || self.repeats)
                && !later.iter().any(|step| step.touches(node))
                && self.passing.get(node).is_some_and(Option::is_none)
                && self.pairs.iter().enumerate().all(|(own, pairs)| match own == node {
                    true => pairs.is_empty(),
                    false => pairs.iter().all(|pair| pair.other != node),
                })
                && !self.shown_nodes.contains(&node)
                && !self.shown_edges.contains(&relationship)
        };
        self.steps.iter().enumerate().map(is_counted).collect()
    }

    fn is_counted(&self, at: usize) -> bool {
        self.counted.get(at) == Some(&true)
    }

    /// Goes on after a step with so many choices that look alike.
    fn times(&self, at: usize, choices: u64, state: &mut State<'_>) -> Flow {
        if choices == 0 {
            return Ok(());
        }
        let before = state.choices;
        state.choices = before.saturating_mul(choices);
        let flow = self.step(at + 1, state);
        state.choices = before;
        flow
    }

    fn step(&self, at: usize, state: &mut State<'_>) -> Flow {
        match self.steps.get(at) {
            None => self.found(state),
            Some(Step::Extend { node, via }) => match via.as_slice() {
                [one] if self.is_counted(at) => {
                    self.tick(state)?;
                    let list = self.list(*one, state);
                    let from = state.nodes.get(one.from).copied().unwrap_or(u32::MAX);
                    self.times(at, list.len() as u64 - self.used(list, from, state), state)
                }
                _ => self.extend(at, *node, via, state),
            },
            Some(Step::Check { via, to }) => {
                let list = self.list(*via, state);
                let from = state.nodes[via.from];
                let goal = state.nodes[*to];
                let first = seek(list, 0, goal);
                for one in list.iter().skip(first).take_while(|one| neighbor(**one) == goal) {
                    self.tick(state)?;
                    if self.take(via.relationship, *one, from, state) {
                        self.step(at + 1, state)?;
                        state.taken.pop();
                    }
                }
                Ok(())
            }
            Some(Step::Walk { via, to, to_is_bound, least, most }) => {
                let walk = Walk { at, via: *via, to: *to, to_is_bound: *to_is_bound, least: *least, most: *most };
                let from = state.nodes[via.from];
                self.walk(&walk, 0, from, state)
            }
            Some(Step::Start { .. }) => Ok(()),
        }
    }

    /// Adds an edge to the match, unless it has it already.
    fn take(&self, relationship: usize, one: Entry, from: u32, state: &mut State<'_>) -> bool {
        let number = edge(one);
        if !self.repeats && state.taken.iter().any(|taken| taken.edge == number) {
            return false;
        }
        state.edges[relationship] = number;
        state.taken.push(Taken { edge: number, ends: [from, neighbor(one)] });
        true
    }

    /// Binds a node to each one that is in all lists.
    fn extend(&self, at: usize, node: usize, via: &[Via], state: &mut State<'_>) -> Flow {
        let mut lists: [(&[Entry], usize, u32); MOST_VIA] = [(&[], 0, 0); MOST_VIA];
        let mut shortest = 0;
        for (place, one) in via.iter().enumerate() {
            let from = state.nodes.get(one.from).copied().unwrap_or(u32::MAX);
            lists[place] = (self.list(*one, state), one.relationship, from);
            if lists[place].0.len() < lists[shortest].0.len() {
                shortest = place;
            }
        }
        lists.swap(0, shortest);
        let lists = &lists[..via.len()];
        let (first, relationship, from) = lists[0];
        let (least, most) = self.bounds(node, state);
        let begin = if least == 0 { 0 } else { seek(first, 0, least) };
        let mut cursors = [0; MOST_VIA];
        'nodes: for one in first.iter().skip(begin) {
            self.tick(state)?;
            let value = neighbor(*one);
            if value > most {
                break;
            }
            if !self.accepts(node, value, state) {
                continue;
            }
            for (place, (list, ..)) in lists.iter().enumerate().skip(1) {
                // Nodes come in order, so no list is searched from its beginning again.
                let cursor = seek(list, cursors[place], value);
                cursors[place] = cursor;
                match list.get(cursor) {
                    None => return Ok(()),
                    Some(other) if neighbor(*other) != value => continue 'nodes,
                    Some(_) => {}
                }
            }
            if self.take(relationship, *one, from, state) {
                state.nodes[node] = value;
                self.product(at, &lists[1..], &cursors[1..lists.len()], value, state)?;
                state.taken.pop();
            }
        }
        Ok(())
    }

    /// All choices of one edge to `value` from each list; parallel edges are several.
    fn product(
        &self,
        at: usize,
        lists: &[(&[Entry], usize, u32)],
        cursors: &[usize],
        value: u32,
        state: &mut State<'_>,
    ) -> Flow {
        let (Some(((list, relationship, from), lists)), Some((cursor, cursors))) =
            (lists.split_first(), cursors.split_first())
        else {
            return self.step(at + 1, state);
        };
        for one in list.iter().skip(*cursor).take_while(|one| neighbor(**one) == value) {
            if self.take(*relationship, *one, *from, state) {
                self.product(at, lists, cursors, value, state)?;
                state.taken.pop();
            }
        }
        Ok(())
    }

    fn walk(&self, walk: &Walk, depth: u32, at: u32, state: &mut State<'_>) -> Flow {
        self.tick(state)?;
        if depth >= walk.least {
            if walk.to_is_bound {
                if state.nodes[walk.to] == at {
                    self.step(walk.at + 1, state)?;
                }
            } else if self.accepts(walk.to, at, state) {
                state.nodes[walk.to] = at;
                self.step(walk.at + 1, state)?;
            }
        }
        if depth == walk.most {
            return Ok(());
        }
        let lists = self.lists.get(walk.via.relationship);
        let lists = lists.and_then(|sides| sides.get(usize::from(!walk.via.from_left)).copied().flatten());
        let Some(lists) = lists.and_then(|lists| self.adjacency.get(lists)) else { return Ok(()) };
        let list = lists.of(at);
        let is_last = depth + 1 == walk.most && depth + 1 >= walk.least && !walk.to_is_bound;
        if is_last && self.is_counted(walk.at) {
            return self.times(walk.at, list.len() as u64 - self.used(list, at, state), state);
        }
        for one in list {
            if self.take(walk.via.relationship, *one, at, state) {
                self.walk(walk, depth + 1, neighbor(*one), state)?;
                state.taken.pop();
            }
        }
        Ok(())
    }

    /// A match, as often as what is only counted of it has choices.
    fn found(&self, state: &mut State<'_>) -> Flow {
        let times = state.choices;
        match self.mode {
            Mode::Count => {
                state.count = state.count.saturating_add(times);
                Ok(())
            }
            Mode::Weigh => {
                let node = self.shown_nodes.first().and_then(|node| state.nodes.get(*node)).copied().unwrap_or(0);
                match &mut state.weighed {
                    Some((last, sum)) if *last == node => *sum = sum.saturating_add(times),
                    _ => {
                        self.weigh(state);
                        state.weighed = Some((node, times));
                    }
                }
                Ok(())
            }
            Mode::Rows => {
                state.shown.clear();
                for node in &self.shown_nodes {
                    state.shown.extend(state.nodes.get(*node));
                }
                for one in &self.shown_edges {
                    state.shown.extend(state.edges.get(*one));
                }
                let last = state.values.len().checked_sub(state.shown.len()).and_then(|from| state.values.get(from..));
                if last == Some(&state.shown)
                    && let Some(same) = state.times.last_mut()
                {
                    *same = same.saturating_add(times);
                    return Ok(());
                }
                if state.times.len() == MATCHES {
                    self.flush(state)?;
                }
                state.values.extend_from_slice(&state.shown);
                state.times.push(times);
                Ok(())
            }
        }
    }

    /// How many edges of the match are in the list of `node`, and cannot be followed again.
    fn used(&self, list: &[Entry], node: u32, state: &State<'_>) -> u64 {
        let mut count = 0;
        for taken in state.taken.iter().filter(|_| !self.repeats) {
            let other = match taken.ends {
                [left, right] if left == node => right,
                [left, right] if right == node => left,
                _ => continue,
            };
            count += u64::from(list.binary_search(&entry(other, taken.edge)).is_ok());
        }
        count
    }

    fn weigh(&self, state: &mut State<'_>) {
        if let Some((node, sum)) = state.weighed.take()
            && let Some(weight) = self.weights.get(node as usize)
        {
            weight.fetch_add(sum, Ordering::Relaxed);
        }
    }

    fn flush(&self, state: &mut State<'_>) -> Flow {
        self.weigh(state);
        if state.times.is_empty() {
            return Ok(());
        }
        let (values, times) = (std::mem::take(&mut state.values), std::mem::take(&mut state.times));
        state.sender.send(Message::Rows { values, times }).map_err(|_| Stopped)
    }
}

/// A walk of a variable length.
struct Walk {
    at: usize,
    via: Via,
    to: usize,
    to_is_bound: bool,
    least: u32,
    most: u32,
}

/// The first place at or after `from` with this node or a later one.
fn seek(list: &[Entry], from: usize, node: u32) -> usize {
    let least = entry(node, 0);
    let rest = list.get(from..).unwrap_or_default();
    // Often it is near.
    let mut far = 1;
    while rest.get(far).is_some_and(|one| *one < least) {
        far *= 2;
    }
    let near = far / 2;
    let part = rest.get(near..(far + 1).min(rest.len())).unwrap_or_default();
    from + near + part.partition_point(|one| *one < least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_sorted_lists_are_found_from_anywhere() {
        let list: Vec<Entry> =
            [1, 1, 4, 4, 4, 9, 12, 30].iter().enumerate().map(|(at, node)| entry(*node, at as u32)).collect();
        for node in 0..32 {
            let expected = list.iter().position(|one| neighbor(*one) >= node).unwrap_or(list.len());
            for from in 0..=expected {
                assert_eq!(seek(&list, from, node), expected, "{node} from {from}");
            }
        }
        assert_eq!(seek(&[], 0, 3), 0);
    }
}
