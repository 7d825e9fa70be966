//! Quads in sorted orders, for look-ups by any of their terms.

use std::collections::HashSet;
use std::sync::{Mutex, OnceLock, PoisonError};

use isomorph::error::Result;
use isomorph::storage::{Budget, Reservation, pool};
use rayon::slice::ParallelSliceMut;

use crate::builder::{DEFAULT_GRAPH, too_large};
use crate::dictionary::Dictionary;

/// A sorted copy of rows, made when it is first needed.
type Sorted<const N: usize> = OnceLock<Vec<[u32; N]>>;

/// The quads of a graph, or those of them that a query can read.
///
/// Terms are numbers of a dictionary. The triples of the default graph are sorted by subject, and by predicate and by
/// object when a query needs it; quads of named graphs likewise, within each graph and over all of them. Every
/// combination of known terms is then a range of one order.
pub struct TripleIndex {
    pub(crate) terms: Dictionary,
    /// Names of named graphs, in ascending order.
    pub(crate) graphs: Vec<u32>,
    /// Subject, predicate, object; predicate, object, subject; object, subject, predicate.
    default: [Sorted<3>; 3],
    /// The same within each graph.
    in_graphs: [Sorted<4>; 3],
    /// The same with the graph at the end.
    over_graphs: [Sorted<4>; 3],
    budget: Budget,
    /// Threads that work on a query.
    threads: usize,
    held: Mutex<Vec<Reservation>>,
}

impl std::fmt::Debug for TripleIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TripleIndex").field("quads", &self.len()).finish_non_exhaustive()
    }
}

/// Positions of subject, predicate, object and graph in the rows of an order; 3 is no position in rows of three.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Positions(pub [usize; 4]);

/// Rows that match a pattern.
pub(crate) enum Rows<'a> {
    Triples(&'a [[u32; 3]], Positions),
    Quads(&'a [[u32; 4]], Positions),
}

impl TripleIndex {
    pub(crate) fn new(
        terms: Dictionary,
        mut rows: Vec<[u32; 4]>,
        graphs: HashSet<u32>,
        budget: &Budget,
        mut held: Reservation,
    ) -> Result<Self> {
        // Rows become two tables, for a moment beside the rows.
        let more = (rows.len() * size_of::<[u32; 4]>()) as u64;
        if !held.try_grow(more) {
            return Err(too_large(budget, more));
        }
        sort(&mut rows, terms.len(), 3);
        rows.dedup();
        let first_named = rows.partition_point(|row| row[0] == DEFAULT_GRAPH);
        let default: Vec<[u32; 3]> = rows.iter().take(first_named).map(|[_, s, p, o]| [*s, *p, *o]).collect();
        let named = if first_named == 0 { rows } else { rows.split_off(first_named) };
        let mut graphs: Vec<u32> = graphs.into_iter().collect();
        graphs.sort_unstable();
        let kept = terms.memory()
            + (size_of::<[u32; 3]>() * default.capacity() + size_of::<[u32; 4]>() * named.capacity()) as u64;
        held.shrink(held.bytes().saturating_sub(kept));
        Ok(TripleIndex {
            terms,
            graphs,
            default: [default.into(), Sorted::new(), Sorted::new()],
            in_graphs: [named.into(), Sorted::new(), Sorted::new()],
            over_graphs: Default::default(),
            budget: budget.clone(),
            threads: pool::threads(),
            held: Mutex::new(vec![held]),
        })
    }

    /// The same, with a number of threads on which a query is evaluated; otherwise those of this machine.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The triples of the default graph in an order: 0 is subject, predicate, object; 1 is predicate, object, subject; 2 is object,
    /// subject, predicate.
    ///
    /// # Errors
    /// As [`TripleIndex::in_graph`].
    pub(crate) fn default_rows(&self, order: usize) -> Result<&[[u32; 3]]> {
        self.sorted(&self.default, order, |rows: &[[u32; 3]]| {
            let mut turned: Vec<[u32; 3]> = rows.iter().map(|row| turn(*row, order)).collect();
            // Rows that are sorted by subject need to be sorted by the terms before it only. That takes a copy of them.
            let room = self.budget.try_reserve((turned.len() * size_of::<[u32; 3]>()) as u64);
            match (order, room) {
                (0, _) => {}
                (1 | 2, Some(_)) => sort(&mut turned, self.terms.len(), 2 - order),
                _ => turned.par_sort_unstable(),
            }
            turned
        })
    }

    /// The number of triples of the default graph with these terms.
    ///
    /// # Errors
    /// As [`TripleIndex::in_graph`].
    pub(crate) fn default_count(&self, terms: [Option<u32>; 3]) -> Result<usize> {
        let (order, known) = order_of(terms);
        Ok(range(self.default_rows(order)?, &known).len())
    }

    /// The number of quads.
    pub fn len(&self) -> usize {
        self.base().len() + self.named().len()
    }

    /// Whether there are no quads.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn base(&self) -> &[[u32; 3]] {
        self.default.first().and_then(OnceLock::get).map(Vec::as_slice).unwrap_or_default()
    }

    /// Quads of named graphs: graph, subject, predicate, object.
    fn named(&self) -> &[[u32; 4]] {
        self.in_graphs.first().and_then(OnceLock::get).map(Vec::as_slice).unwrap_or_default()
    }

    /// All quads: graph, subject, predicate, object.
    pub(crate) fn rows(&self) -> impl Iterator<Item = [u32; 4]> {
        let base = self.base().iter().map(|[s, p, o]| [DEFAULT_GRAPH, *s, *p, *o]);
        base.chain(self.named().iter().copied())
    }

    /// Whether there is a quad: graph, subject, predicate, object.
    pub(crate) fn has(&self, row: &[u32; 4]) -> bool {
        match row {
            [DEFAULT_GRAPH, rest @ ..] => self.base().binary_search(rest).is_ok(),
            row => self.named().binary_search(row).is_ok(),
        }
    }

    /// The quads with these terms, in one graph.
    ///
    /// # Errors
    /// [`isomorph::error::Kind::TooLarge`] if there is no memory for the order that this needs.
    pub(crate) fn in_graph(&self, graph: u32, terms: [Option<u32>; 3]) -> Result<Rows<'_>> {
        let (order, known) = order_of(terms);
        if graph == DEFAULT_GRAPH {
            let rows = self.default_rows(order)?;
            return Ok(Rows::Triples(range(rows, &known), Positions(places(order, 0, 3))));
        }
        let rows = self.sorted(&self.in_graphs, order, |rows: &[[u32; 4]]| {
            let turned = rows.iter().map(|[g, s, p, o]| {
                let [a, b, c] = turn([*s, *p, *o], order);
                [*g, a, b, c]
            });
            let mut turned: Vec<[u32; 4]> = turned.collect();
            turned.par_sort_unstable();
            turned
        })?;
        let mut prefix = vec![graph];
        prefix.extend(known);
        Ok(Rows::Quads(range(rows, &prefix), Positions(places(order, 1, 0))))
    }

    /// The quads with these terms, in any named graph.
    ///
    /// # Errors
    /// As [`TripleIndex::in_graph`].
    pub(crate) fn in_named_graphs(&self, terms: [Option<u32>; 3]) -> Result<Rows<'_>> {
        if terms == [None; 3] {
            return Ok(Rows::Quads(self.named(), Positions(places(0, 1, 0))));
        }
        let (order, known) = order_of(terms);
        let named = self.named();
        let make = || {
            let turned = named.iter().map(|[g, s, p, o]| {
                let [a, b, c] = turn([*s, *p, *o], order);
                [a, b, c, *g]
            });
            let mut turned: Vec<[u32; 4]> = turned.collect();
            turned.par_sort_unstable();
            turned
        };
        let rows = self.made(&self.over_graphs, order, named.len(), make)?;
        Ok(Rows::Quads(range(rows, &known), Positions(places(order, 0, 3))))
    }

    /// One of three orders of which the first exists.
    fn sorted<'s, const N: usize>(
        &'s self,
        orders: &'s [Sorted<N>; 3],
        order: usize,
        make: impl FnOnce(&[[u32; N]]) -> Vec<[u32; N]>,
    ) -> Result<&'s [[u32; N]]> {
        let first = orders.first().and_then(OnceLock::get).map(Vec::as_slice).unwrap_or_default();
        self.made(orders, order, first.len(), || make(first))
    }

    fn made<'s, const N: usize>(
        &'s self,
        orders: &'s [Sorted<N>; 3],
        order: usize,
        rows: usize,
        make: impl FnOnce() -> Vec<[u32; N]>,
    ) -> Result<&'s [[u32; N]]> {
        let Some(slot) = orders.get(order) else { return Ok(&[]) };
        if let Some(rows) = slot.get() {
            return Ok(rows);
        }
        let bytes = (rows * size_of::<[u32; N]>()) as u64;
        let held = self.budget.try_reserve(bytes).ok_or_else(|| too_large(&self.budget, bytes))?;
        let rows = slot.get_or_init(make);
        self.held.lock().unwrap_or_else(PoisonError::into_inner).push(held);
        Ok(rows)
    }
}

/// Sorts rows that are sorted by what is after `last`, counting from 0: by the terms up to it.
///
/// Terms are small numbers, so rows are distributed by each of them instead of compared: about a third of the time.
fn sort<const N: usize>(rows: &mut Vec<[u32; N]>, terms: usize, last: usize) {
    if rows.is_sorted() {
        return;
    }
    if rows.len() < FEW_ROWS || terms / 8 > rows.len() || u32::try_from(rows.len()).is_err() {
        return rows.par_sort_unstable();
    }
    let mut other = vec![[0; N]; rows.len()];
    for column in (0..=last).rev() {
        let mut starts = vec![0u32; terms + 2];
        for row in rows.iter() {
            starts[row[column] as usize + 1] += 1;
        }
        // All rows have the same term: the default graph, mostly.
        if rows.first().is_some_and(|row| starts[row[column] as usize + 1] as usize == rows.len()) {
            continue;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        for row in rows.iter() {
            let place = &mut starts[row[column] as usize];
            other[*place as usize] = *row;
            *place += 1;
        }
        std::mem::swap(rows, &mut other);
    }
}

/// Fewer rows are compared.
const FEW_ROWS: usize = 4_096;

/// The order in which the known terms come first, and these terms in that order.
fn order_of([subject, predicate, object]: [Option<u32>; 3]) -> (usize, Vec<u32>) {
    let (order, terms) = match (subject, predicate, object) {
        (Some(_), None, Some(_)) | (None, None, Some(_)) => (2, [object, subject, predicate]),
        (None, Some(_), _) => (1, [predicate, object, subject]),
        _ => (0, [subject, predicate, object]),
    };
    (order, terms.into_iter().map_while(|term| term).collect())
}

/// Subject, predicate and object in an order.
fn turn([s, p, o]: [u32; 3], order: usize) -> [u32; 3] {
    match order {
        0 => [s, p, o],
        1 => [p, o, s],
        _ => [o, s, p],
    }
}

/// The positions of subject, predicate, object and graph in rows of an order whose terms start at `first`.
fn places(order: usize, first: usize, graph: usize) -> [usize; 4] {
    let [s, p, o] = match order {
        0 => [0, 1, 2],
        1 => [2, 0, 1],
        _ => [1, 2, 0],
    };
    [s + first, p + first, o + first, graph]
}

/// The rows that begin with these terms.
fn range<'r, const N: usize>(rows: &'r [[u32; N]], prefix: &[u32]) -> &'r [[u32; N]] {
    let known = prefix.len();
    let begins = |row: &[u32; N]| row.get(..known).unwrap_or_default().cmp(prefix);
    let start = rows.partition_point(|row| begins(row).is_lt());
    let rest = rows.get(start..).unwrap_or_default();
    // Most ranges are short: their ends are searched near their starts.
    let mut far = 1;
    while rest.get(far).is_some_and(|row| begins(row).is_eq()) {
        far = far.saturating_mul(2);
    }
    let near = rest.get(..far.saturating_add(1).min(rest.len())).unwrap_or_default();
    let end = near.partition_point(|row| begins(row).is_eq());
    near.get(..end).unwrap_or_default()
}
