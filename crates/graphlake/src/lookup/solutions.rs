//! Answers batches of bindings with batches of solutions, step by step.

use std::collections::VecDeque;
use std::ops::{Deref, Range};
use std::sync::Arc;

use isomorph_error::{Result, index};
use isomorph_storage::Reservation;

use super::keys::Wanted;
use super::question::{Asked, Question, Unit};
use super::terms::{Bindings, Terms};
use crate::merge::Merge;
use crate::read::{GraphLake, Order};
use crate::term;
use crate::triple::Triple;

/// Maximum rows of a batch.
const ROWS: usize = 4096;

/// Rows of the first batch for callers that may want only a few; each further batch may have this many times as many.
const FIRST_ROWS: usize = 16;
const MORE_ROWS: usize = 4;

/// Bytes of text after which a batch ends.
pub(super) const TEXT: u64 = 1 << 20;

/// Limit of a step: triples that are examined; opening the files of a predicate counts as [`OPENING`].
const WORK: usize = 1 << 16;
const OPENING: usize = 1 << 10;

/// The minimum cost of a part, in bytes of files.
pub(super) const LEAST: u64 = 1 << 20;

/// Memory of the batch that is filled and of the one that was returned, in bytes.
const BATCHES: u64 = 2 * TEXT;

/// A batch of solutions: for each row, the row of the bindings that it belongs to, and the values of the variables.
/// Columns of known positions are empty.
#[derive(Debug, Default)]
pub struct Found {
    /// Rows of the bindings, counted from 0.
    pub rows: Vec<u32>,
    /// Subjects, if they are a variable.
    pub subjects: Terms,
    /// Predicates, likewise.
    pub predicates: Terms,
    /// Objects, likewise.
    pub objects: Terms,
    /// Graphs, likewise; the empty text is the default graph.
    pub graphs: Terms,
}

impl Found {
    fn is_full(&self, rows: usize) -> bool {
        self.rows.len() >= rows || self.subjects.text_bytes() + self.objects.text_bytes() >= TEXT
    }
}

/// The answers to a [`Question`]: a state that [`Solutions::next_batch`] advances, and that holds no thread in between.
///
/// A step reads and examines a bounded number of triples, then returns what it has found, which may be an empty batch;
/// callers with many questions let the threads of a pool take steps, and cancel one by dropping it. It is `Send`, and
/// with an `Arc` of the store it borrows nothing. Reads are blocking: an asynchronous engine takes steps where blocking
/// is allowed.
///
/// **Order.** By graph and predicate: in the order of the snapshot; if they are columns of the bindings, by their texts
/// first. Among these by subject and then object, or by object and then subject if the subject is a variable and the
/// object is not: texts by their bytes, and of equal ones resources before literals. For one triple, the rows of the
/// bindings by the values of their columns, ties in the order of the rows.
///
/// **Cost.** Bindings are sorted, each different text once, and merged with each file: blocks of a file that can hold
/// some of them are read once, in order, whatever the number of bindings; if these are most of the file, all of it is
/// read.
pub struct Solutions<L> {
    lake: L,
    asked: Arc<Asked>,
    units: VecDeque<Unit>,
    running: Option<Running>,
    /// Maximum rows of the next batch.
    rows: usize,
    /// Memory for the state between steps; reserved by the first step.
    memory: Option<Reservation>,
}

/// The triples of one predicate in one graph, being read.
struct Running {
    unit: Unit,
    merge: Merge,
    /// Rows that still need the current triple: a range in the list of its key or group.
    left: Range<usize>,
}

impl<L: Deref<Target = GraphLake>> Solutions<L> {
    /// Prepares a question for a batch of bindings; nothing is read.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Usage`] if the bindings do not have such a column.
    pub fn new(lake: L, question: &Question<'_>, bindings: Arc<Bindings>) -> Result<Self> {
        let (asked, units) = Asked::of(&lake, question, bindings)?;
        Ok(Solutions { lake, asked: Arc::new(asked), units: units.into(), running: None, rows: ROWS, memory: None })
    }

    /// The same for callers that count rows: no column is filled. Also returns the number of rows that need no reading,
    /// and are omitted.
    pub(super) fn counting(lake: L, question: &Question<'_>, bindings: Arc<Bindings>) -> Result<(Self, u64)> {
        let (mut asked, mut units) = Asked::of(&lake, question, bindings)?;
        asked.asks = [false; 4];
        let known = lake.known_rows(&asked, &mut units);
        let asked = Arc::new(asked);
        Ok((Solutions { lake, asked, units: units.into(), running: None, rows: ROWS, memory: None }, known))
    }

    /// The same in batches that start small and grow: for callers that may stop after a few rows.
    pub fn with_small_batches(mut self) -> Self {
        self.rows = FIRST_ROWS;
        self
    }

    /// Returns the next solutions, which may be an empty batch; `None` at the end.
    ///
    /// # Errors
    /// Returns an error if a file is missing, truncated, damaged or not in order, or if the budget is exhausted. After
    /// an error the answers end.
    pub fn next_batch(&mut self) -> Result<Option<Found>> {
        let done = self.step();
        self.rows = self.rows.saturating_mul(MORE_ROWS).min(ROWS);
        if done.is_err() {
            self.units.clear();
            self.running = None;
        }
        done
    }

    fn step(&mut self) -> Result<Option<Found>> {
        if self.memory.is_none() {
            self.memory = Some(self.lake.options.budget.reserve(BATCHES)?);
        }
        let mut found = Found::default();
        let mut work = 0;
        loop {
            let Some(running) = &mut self.running else {
                let Some(unit) = self.units.pop_front() else {
                    return Ok(Some(found).filter(|found| !found.rows.is_empty()));
                };
                work += OPENING;
                self.running = open(&self.lake, self.asked.order, unit)?;
                if self.running.is_none() && work >= WORK {
                    return Ok(Some(found));
                }
                continue;
            };
            if running.left.is_empty() && !running.forward(&self.asked)? {
                self.running = None;
                continue;
            }
            running.give(&self.lake, &self.asked, self.rows, &mut found)?;
            work += 1;
            if work >= WORK || found.is_full(self.rows) {
                return Ok(Some(found));
            }
        }
    }

    /// Divides the remaining work into at most this many parts, which may be advanced at the same time; in sequence,
    /// they return what the whole would have returned, in its order. Large files that are read from start to end are
    /// also divided, if they have index files.
    ///
    /// # Errors
    /// Returns an error if an index cannot be read.
    pub fn divide(mut self, parts: usize) -> Result<Vec<Self>>
    where
        L: Clone,
    {
        let all = self.all();
        // Starting a part costs as much as reading this many bytes; remote files are better requested at the same time.
        let least = if self.lake.root.location().as_path().is_none() { 1 } else { LEAST };
        let share = (all / parts.max(1) as u64).max(least);
        let mut shares: Vec<VecDeque<Unit>> = vec![VecDeque::new()];
        let mut taken = 0u64;
        for unit in std::mem::take(&mut self.units) {
            for (unit, weight) in self.pieces(unit, share)? {
                let at = index((taken.saturating_add(weight / 2) / share).min(parts.max(1) as u64 - 1));
                if shares.len() <= at && shares.last().is_some_and(|last| !last.is_empty()) {
                    shares.push(VecDeque::new());
                }
                taken = taken.saturating_add(weight);
                if let Some(last) = shares.last_mut() {
                    last.push_back(unit);
                }
            }
        }
        let mut running = self.running.take();
        let make = |units| Solutions {
            lake: self.lake.clone(),
            asked: Arc::clone(&self.asked),
            units,
            running: running.take(),
            rows: self.rows,
            memory: None,
        };
        Ok(shares.into_iter().map(make).collect())
    }

    /// The approximate cost of the remaining work, in bytes that are read.
    pub(super) fn all(&self) -> u64 {
        self.units.iter().map(|unit| self.weight(unit)).fold(0, u64::saturating_add)
    }

    /// The approximate cost of a unit, in bytes that are read.
    fn weight(&self, unit: &Unit) -> u64 {
        let files = self.lake.files(unit).map(|(files, graph)| {
            let sizes = files.data(self.asked.order).iter().filter_map(|known| known.file(graph)).map(|file| file.size);
            sizes.fold(0, u64::saturating_add)
        });
        let all = files.unwrap_or_default();
        match unit.wanted.keys() {
            // Each key costs a block.
            Some((_, keys)) => (keys.len() as u64).saturating_mul(crate::index_file::STEP).min(all),
            None => all,
        }
    }

    /// Divides a unit into parts of about this cost.
    fn pieces(&self, unit: Unit, share: u64) -> Result<Vec<(Unit, u64)>> {
        let weight = self.weight(&unit);
        let pieces = index(weight / share.max(LEAST));
        if pieces < 2 {
            return Ok(vec![(unit, weight)]);
        }
        let part = |wanted| (Unit { wanted, ..unit.clone() }, weight / pieces as u64);
        if let Wanted::Keys(keys, among) = &unit.wanted {
            let step = among.len().div_ceil(pieces).max(1);
            let starts = among.clone().step_by(step);
            return Ok(starts
                .map(|start| part(Wanted::Keys(Arc::clone(keys), start..(start + step).min(among.end))))
                .collect());
        }
        let Some((files, graph)) = self.lake.files(&unit) else { return Ok(Vec::new()) };
        let texts = self.lake.texts_between(graph, files, self.asked.order, weight / pieces as u64)?;
        let all = Wanted::divided(texts);
        let each = weight / all.len() as u64;
        Ok(all.into_iter().map(|wanted| (Unit { wanted, ..unit.clone() }, each)).collect())
    }
}

fn open(lake: &GraphLake, order: Order, unit: Unit) -> Result<Option<Running>> {
    let Some((files, graph)) = lake.files(&unit) else { return Ok(None) };
    let merge = lake.merge_of(graph, files, order, &unit.wanted)?;
    Ok(Some(Running { unit, merge, left: 0..0 }))
}

impl Running {
    /// Advances to the next wanted triple; false at the end.
    fn forward(&mut self, asked: &Asked) -> Result<bool> {
        while self.merge.next()?.is_some() {
            let Some((triple, key)) = self.merge.current() else { return Ok(false) };
            if asked.object.as_ref().is_some_and(|wanted| !same_object(wanted, triple)) {
                continue;
            }
            self.left = match asked.object_column.and_then(|column| asked.bindings.columns().get(column)) {
                None => 0..rows(&self.unit, asked, key).len(),
                Some(objects) => {
                    let rows = rows(&self.unit, asked, key);
                    let object = (triple.object.as_bytes(), triple.literal, triple.datatype.as_bytes());
                    let start = rows.partition_point(|row| objects.sorted(*row as usize) < object);
                    let same = rows.iter().skip(start).take_while(|row| objects.sorted(**row as usize) == object);
                    start..start + same.count()
                }
            };
            if !self.left.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Adds the current triple for the rows that want it, as many as there is room for.
    fn give(&mut self, lake: &GraphLake, asked: &Asked, most: usize, found: &mut Found) -> Result<()> {
        let (Some((triple, key)), Some((files, graph))) = (self.merge.current(), lake.files(&self.unit)) else {
            self.left = 0..0;
            return Ok(());
        };
        let rows = rows(&self.unit, asked, key);
        let [subject, predicate, object, named] = asked.asks;
        for at in self.left.by_ref() {
            found.rows.extend(rows.get(at));
            if subject {
                found.subjects.push_resource(&triple.subject)?;
            }
            if predicate {
                found.predicates.push_resource(&files.name)?;
            }
            if object && triple.literal {
                found.objects.push_literal(&triple.object, &triple.datatype)?;
            } else if object {
                found.objects.push_resource(&triple.object)?;
            }
            if named {
                found.graphs.push_resource(term::graph_name(&graph.name).unwrap_or_default())?;
            }
            if found.is_full(most) {
                break;
            }
        }
        Ok(())
    }
}

/// The rows that may want a triple with a key.
fn rows<'a>(unit: &'a Unit, asked: &'a Asked, key: usize) -> &'a [u32] {
    match unit.wanted.keys() {
        Some((keys, _)) => keys.rows(key),
        None => asked.groups.get(unit.group).map(|group| group.rows.as_slice()).unwrap_or_default(),
    }
}

fn same_object(one: &Triple, other: &Triple) -> bool {
    (&one.object, one.literal, &one.datatype) == (&other.object, other.literal, &other.datatype)
}
