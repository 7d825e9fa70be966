//! Property paths: breadth first over the index, from the ends that are known.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use isomorph::error::Result;

use super::execute::{Context, Out};
use super::matching::BATCH;
use super::plan::{Atom, Path, Slot};
use super::table::{Table, UNBOUND, Vars, has, number};

/// Terms between two looks at the time.
const AT_ONCE: usize = 1 << 12;

/// Terms at the ends of paths that are remembered.
const MOST_REMEMBERED: usize = 1 << 20;

/// The ends that were found for a term.
type Remembered = HashMap<(u32, bool), Arc<[u32]>>;

impl Context<'_> {
    /// Joins solutions with the ends of a path.
    ///
    /// # Errors
    /// If the evaluation is stopped, or an order does not fit into the budget; those of `out`.
    pub(super) fn paths(&self, atom: &Atom, table: &Table, live: Vars, out: &mut Out<'_>) -> Result<bool> {
        let Atom::Path(subject, path, object) = atom else { return Ok(true) };
        let known = |slot: &Slot, row: usize| match slot {
            Slot::Term(term) => *term,
            Slot::Var(var) => table.value(*var, row),
        };
        let mut found =
            Found { table, live, subject: *subject, object: *object, rows: Vec::new(), ends: Default::default() };
        let (mut remembered, mut size) = (Remembered::new(), 0);
        let mut open: Option<Vec<(u32, u32)>> = None;
        for row in 0..table.rows {
            let (start, end) = (known(subject, row), known(object, row));
            match (start, end) {
                (UNBOUND, UNBOUND) => {
                    if open.is_none() {
                        open = Some(self.pairs(path)?);
                    }
                    for (start, end) in open.iter().flatten() {
                        if (subject != object || start == end) && !found.push(row, *start, *end, out)? {
                            return Ok(false);
                        }
                    }
                }
                (start, end) => {
                    let forward = start != UNBOUND;
                    let from = if forward { start } else { end };
                    let ends = match remembered.get(&(from, forward)) {
                        Some(ends) => Arc::clone(ends),
                        None => {
                            let ends: Arc<[u32]> = self.ends(path, from, forward)?.into();
                            size += ends.len() + 8;
                            if size > MOST_REMEMBERED {
                                remembered.clear();
                                size = ends.len();
                            }
                            remembered.insert((from, forward), Arc::clone(&ends));
                            ends
                        }
                    };
                    if forward && end != UNBOUND {
                        if ends.contains(&end) && !found.push(row, start, end, out)? {
                            return Ok(false);
                        }
                        continue;
                    }
                    for other in ends.iter() {
                        let (start, end) = if forward { (start, *other) } else { (*other, end) };
                        if !found.push(row, start, end, out)? {
                            return Ok(false);
                        }
                    }
                }
            }
        }
        found.flush(out)
    }

    /// The terms that a path leads to from one, or from which it leads there.
    fn ends(&self, path: &Path, from: u32, forward: bool) -> Result<Vec<u32>> {
        Ok(match path {
            Path::One(predicate) => {
                if forward {
                    let probe = self.probe(0, &[])?;
                    probe.announce(1, &self.budget);
                    let rows = probe.find(from, &mut 0);
                    super::probe::narrow(rows, 1, &[*predicate]).iter().map(|row| row[2]).collect()
                } else {
                    let probe = self.probe(1, &[*predicate])?;
                    probe.announce(1, &self.budget);
                    probe.find(from, &mut 0).iter().map(|row| row[2]).collect()
                }
            }
            Path::Reverse(inner) => self.ends(inner, from, !forward)?,
            Path::Sequence(first, second) => {
                let (first, second) = if forward { (first, second) } else { (second, first) };
                let mut ends = Vec::new();
                for middle in self.ends(first, from, forward)? {
                    ends.extend(self.ends(second, middle, forward)?);
                }
                ends
            }
            Path::Alternative(first, second) => {
                let mut ends = self.ends(first, from, forward)?;
                ends.extend(self.ends(second, from, forward)?);
                let mut seen = HashSet::with_capacity(ends.len());
                ends.retain(|end| seen.insert(*end));
                ends
            }
            Path::Repeated { path, zero, many } => {
                if *zero && !self.is_node(from)? {
                    return Ok(Vec::new());
                }
                let mut seen = Seen::new(self.numbers.last_known());
                let (mut ends, mut found): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
                if *zero {
                    seen.insert(from);
                    ends.push(from);
                }
                // One predicate, frequently: its rows are found once.
                let direct = match &**path {
                    Path::One(predicate) if forward => Some((self.probe(0, &[])?, Some(*predicate))),
                    Path::One(predicate) => Some((self.probe(1, &[*predicate])?, None)),
                    _ => None,
                };
                let (mut at, mut next, mut near) = (usize::from(*zero), from, 0);
                loop {
                    match &direct {
                        Some((probe, predicate)) => {
                            probe.announce(1, &self.budget);
                            let mut rows = probe.find(next, &mut near);
                            if let Some(predicate) = predicate {
                                rows = super::probe::narrow(rows, 1, &[*predicate]);
                            }
                            found.extend(rows.iter().map(|row| row[2]));
                        }
                        None => found = self.ends(path, next, forward)?,
                    }
                    ends.extend(found.drain(..).filter(|end| seen.insert(*end)));
                    // The start itself has been expanded.
                    match ends.get(at).copied() {
                        Some(end) if *many => next = end,
                        _ => break,
                    }
                    at += 1;
                    if at % AT_ONCE == 0 {
                        self.alive()?;
                    }
                }
                ends
            }
        })
    }

    /// Whether a term is a subject or an object: paths of length zero connect only these with themselves.
    fn is_node(&self, term: u32) -> Result<bool> {
        let is = |order: usize| Ok::<_, isomorph::Error>(!self.probe(order, &[])?.find(term, &mut 0).is_empty());
        Ok(is(0)? || is(2)?)
    }

    /// All pairs that a path connects.
    fn pairs(&self, path: &Path) -> Result<Vec<(u32, u32)>> {
        Ok(match path {
            Path::One(predicate) => {
                let rows = self.probe(1, &[*predicate])?.rows();
                rows.iter().map(|[_, object, subject]| (*subject, *object)).collect()
            }
            Path::Reverse(inner) => self.pairs(inner)?.into_iter().map(|(start, end)| (end, start)).collect(),
            Path::Sequence(first, second) => {
                let mut pairs = Vec::new();
                for (start, middle) in self.pairs(first)? {
                    pairs.extend(self.ends(second, middle, true)?.into_iter().map(|end| (start, end)));
                }
                pairs
            }
            Path::Alternative(first, second) => {
                let mut pairs = self.pairs(first)?;
                pairs.extend(self.pairs(second)?);
                let mut seen = HashSet::with_capacity(pairs.len());
                pairs.retain(|pair| seen.insert(*pair));
                pairs
            }
            Path::Repeated { path: inner, zero, .. } => {
                let mut starts = Vec::new();
                if *zero {
                    starts.extend(
                        self.graph.default_rows(0)?.iter().flat_map(|[subject, _, object]| [*subject, *object]),
                    );
                } else {
                    starts.extend(self.pairs(inner)?.into_iter().map(|(start, _)| start));
                }
                starts.sort_unstable();
                starts.dedup();
                let (mut pairs, mut held) = (Vec::new(), self.budget.reserve(0)?);
                for start in starts {
                    self.alive()?;
                    pairs.extend(self.ends(path, start, true)?.into_iter().map(|end| (start, end)));
                    self.hold(&mut held, (pairs.len() * size_of::<(u32, u32)>()) as u64, pairs.len())?;
                }
                self.keep(held);
                pairs
            }
        })
    }
}

/// Terms that were found: a set, and a bit for each term of the graph once there are many.
struct Seen {
    last: u32,
    few: HashSet<u32>,
    bits: Vec<u64>,
}

/// Terms that are a set.
const FEW: usize = 256;

impl Seen {
    fn new(last: u32) -> Self {
        Seen { last, few: HashSet::new(), bits: Vec::new() }
    }

    /// Adds a term; false if it is there.
    fn insert(&mut self, term: u32) -> bool {
        if term > self.last {
            return self.few.insert(term);
        }
        if self.bits.is_empty() {
            let is_new = self.few.insert(term);
            if self.few.len() > FEW {
                self.bits = vec![0; self.last as usize / 64 + 1];
                let (bits, last) = (&mut self.bits, self.last);
                self.few
                    .iter()
                    .filter(|term| **term <= last)
                    .for_each(|term| bits[*term as usize / 64] |= 1 << (term % 64));
            }
            return is_new;
        }
        let (word, bit) = (&mut self.bits[term as usize / 64], 1 << (term % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

/// Ends that are not passed on yet.
struct Found<'t> {
    table: &'t Table,
    live: Vars,
    subject: Slot,
    object: Slot,
    rows: Vec<u32>,
    ends: [Vec<u32>; 2],
}

impl Found<'_> {
    fn push(&mut self, row: usize, start: u32, end: u32, out: &mut Out<'_>) -> Result<bool> {
        self.rows.push(number(row));
        let [starts, ends] = &mut self.ends;
        starts.push(start);
        ends.push(end);
        if self.rows.len() >= BATCH { self.flush(out) } else { Ok(true) }
    }

    fn flush(&mut self, out: &mut Out<'_>) -> Result<bool> {
        if self.rows.is_empty() {
            return Ok(true);
        }
        let mut joined = self.table.take(&std::mem::take(&mut self.rows), self.live);
        for (slot, column) in [self.subject, self.object].into_iter().zip(&mut self.ends) {
            let column = std::mem::take(column);
            if let Slot::Var(var) = slot
                && has(self.live, var)
                && !joined.vars.contains(&var)
            {
                joined.push_column(var, column);
            }
        }
        out(joined)
    }
}
