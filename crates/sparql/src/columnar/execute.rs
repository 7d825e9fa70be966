//! Evaluates operators. Solutions go from one to the next in batches, so that a join need not fit into memory.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use isomorph::error::{Error, Kind, Result};
use isomorph::storage::{Budget, Reservation};
use oxrdf::{Literal, Term};
use spareval::{CancellationToken, QueryEvaluationError};
use spargebra::Query;

use super::aggregates::Groups;
use super::hashed::{Built, Rows};
use super::matching;
use super::numbers::Numbers;
use super::plan::{Condition, Node, Plan, Slot};
use super::probe::{Probe, narrow};
use super::scalars::{Memo, NO, YES};
use super::table::{Table, UNBOUND, Var, Vars, each, number, only};
use crate::builder::too_large;
use crate::index::TripleIndex;
use crate::run::failure;

/// The column of row numbers, where solutions must be told apart.
const ROW: Var = 126;

/// The most rows of a table.
const MOST_ROWS: usize = 1 << 31;

/// Takes a batch; false if no more are wanted.
pub(super) type Out<'o> = dyn FnMut(Table) -> Result<bool> + 'o;

/// By the number of an order, and the terms that its rows begin with.
type Probes<'g> = HashMap<(usize, Vec<u32>), Arc<Probe<'g>>>;

/// What an evaluation has.
pub(super) struct Context<'g> {
    pub graph: &'g TripleIndex,
    pub numbers: Numbers<'g>,
    /// A query with the base of the one that is evaluated.
    pub template: Query,
    pub token: CancellationToken,
    pub timeout: Option<Duration>,
    /// The numbers of `false` and `true`.
    pub booleans: [u32; 2],
    pub memos: Vec<Memo>,
    pub budget: Budget,
    pub threads: usize,
    probes: Mutex<Probes<'g>>,
    held: Mutex<Vec<Reservation>>,
    refused: AtomicBool,
}

impl<'g> Context<'g> {
    pub fn new(
        graph: &'g TripleIndex,
        numbers: Numbers<'g>,
        template: Query,
        memos: usize,
        token: CancellationToken,
        timeout: Option<Duration>,
    ) -> Result<Self> {
        let boolean = |value: bool| numbers.number(&Term::from(Literal::from(value)));
        let booleans = [boolean(false)?, boolean(true)?];
        Ok(Context {
            graph,
            numbers,
            template,
            token,
            timeout,
            booleans,
            memos: (0..memos).map(|_| Memo::default()).collect(),
            budget: graph.budget().clone(),
            threads: graph.threads(),
            probes: Mutex::new(HashMap::new()),
            held: Mutex::new(Vec::new()),
            refused: AtomicBool::new(false),
        })
    }

    /// An error if the evaluation shall stop.
    pub fn alive(&self) -> Result<()> {
        match self.token.is_cancelled() {
            true => Err(failure(QueryEvaluationError::Cancelled, self.timeout)),
            false => Ok(()),
        }
    }

    /// Keeps a reservation until the end of the evaluation.
    pub fn keep(&self, held: Reservation) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).push(held);
    }

    /// Reserves memory for `table`, which has grown.
    pub fn hold(&self, held: &mut Reservation, bytes: u64, rows: usize) -> Result<()> {
        if rows > MOST_ROWS {
            return Err(Error::new(Kind::TooLarge, "an operator would hold more than 2,147,483,648 solutions"));
        }
        let missing = bytes.saturating_sub(held.bytes());
        // By parts: a table that grows asks seldom.
        if missing > 0 && !held.try_grow(missing.max(held.bytes() / 4)) && !held.try_grow(missing) {
            return Err(too_large(&self.budget, missing));
        }
        Ok(())
    }

    /// The error for values that only the evaluator of rows compares. [`Context::is_refused`] tells it from others.
    pub fn refuse(&self) -> Error {
        self.refused.store(true, Relaxed);
        Error::unsupported("internal error: values that are not compared over columns")
    }

    pub fn is_refused(&self) -> bool {
        self.refused.load(Relaxed)
    }

    /// The rows of an order that begin with some terms.
    pub fn probe(&self, order: usize, first: &[u32]) -> Result<Arc<Probe<'g>>> {
        let mut probes = self.probes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(probe) = probes.get(&(order, first.to_vec())) {
            return Ok(Arc::clone(probe));
        }
        let rows = narrow(self.graph.default_rows(order)?, 0, first);
        let probe = Arc::new(Probe::new(rows, first.len().min(2)));
        probes.insert((order, first.to_vec()), Arc::clone(&probe));
        Ok(probe)
    }

    /// Evaluates an operator, and passes its solutions to `out`, with the columns that are `needed` at least. The solutions are
    /// those that are compatible with `input`, which only operators that take input have. Returns false if `out` wanted no more.
    ///
    /// # Errors
    /// If the evaluation is stopped, or there is no memory for it; those of `out`.
    pub fn run(&self, node: &Node, input: &Table, needed: Vars, out: &mut Out<'_>) -> Result<bool> {
        self.alive()?;
        match node {
            Node::Match { atoms, filters } => matching::run(self, atoms, filters, input, needed, out),
            Node::Values(table) => out(table.clone()),
            Node::Join(left, right) => self.join(left, right, input, needed, out),
            Node::Union(left, right) => Ok(self.run(left, input, needed, out)? && self.run(right, input, needed, out)?),
            Node::LeftJoin(left, right, condition) => {
                self.left_join(left, right, condition.as_ref(), input, needed, out)
            }
            Node::Minus(left, right) => {
                let shared = left.vars() & right.vars();
                let built = self.built(right, shared, shared)?;
                self.run(left, input, needed | shared, &mut |batch| {
                    let kept = built.without_compatible(&batch);
                    if kept.is_empty() { Ok(true) } else { out(batch.take(&kept, needed)) }
                })
            }
            Node::Filter(condition, inner) => {
                let conditions = std::slice::from_ref(condition);
                let inside = needed | (condition.vars() & inner.vars());
                self.run(inner, input, inside, &mut |batch| match self.rows_where(conditions, &batch)? {
                    None => out(batch),
                    Some(rows) if rows.is_empty() => Ok(true),
                    Some(rows) => out(batch.take(&rows, inside)),
                })
            }
            Node::Extend(inner, var, value) => {
                self.run(inner, input, needed | (value.vars() & inner.vars()), &mut |mut batch| {
                    let column = self.scalar(value, &batch)?;
                    batch.push_column(*var, column);
                    out(batch)
                })
            }
            Node::Project(inner, vars) => self.run(inner, input, *vars, &mut |batch| out(batch.keep(*vars))),
            Node::Distinct(inner) => {
                let vars: Vec<Var> = each(inner.vars()).collect();
                let (mut seen, mut held) = (Rows::default(), self.budget.reserve(0)?);
                self.run(inner, input, inner.vars(), &mut |batch| {
                    let fresh = (0..batch.rows).filter(|row| seen.insert(&batch, &vars, *row)).map(number);
                    let fresh: Vec<u32> = fresh.collect();
                    self.hold(&mut held, seen.bytes(), seen.len())?;
                    if fresh.is_empty() { Ok(true) } else { out(batch.take(&fresh, inner.vars())) }
                })
            }
            Node::Reduced(inner) => {
                let vars: Vec<Var> = each(inner.vars()).collect();
                let mut last: Option<Vec<u32>> = None;
                self.run(inner, input, inner.vars(), &mut |batch| {
                    let mut fresh = Vec::new();
                    for row in 0..batch.rows {
                        let tuple = batch.tuple(&vars, row);
                        if last.as_ref() != Some(&tuple) {
                            fresh.push(number(row));
                            last = Some(tuple);
                        }
                    }
                    if fresh.is_empty() { Ok(true) } else { out(batch.take(&fresh, inner.vars())) }
                })
            }
            Node::Slice { inner, start, length } => self.slice(inner, *start, *length, input, needed, out),
            Node::Order { inner, keys } => self.order(inner, keys, usize::MAX, input, needed, out),
            Node::Group { inner, keys, aggregates } => {
                if let Some(counted) = self.counted(inner, keys, aggregates)? {
                    return out(counted);
                }
                let mut groups = Groups::new(self, keys, aggregates)?;
                let inside = aggregates.iter().fold(0, |set, (_, aggregate)| set | aggregate.vars());
                let inside = keys.iter().fold(inside, |set, key| set | only(*key));
                self.run(inner, input, inside, &mut |batch| {
                    groups.add(&batch)?;
                    Ok(true)
                })?;
                out(groups.finish()?)
            }
        }
    }

    fn slice(
        &self,
        inner: &Node,
        start: usize,
        length: Option<usize>,
        input: &Table,
        needed: Vars,
        out: &mut Out<'_>,
    ) -> Result<bool> {
        let end = length.map_or(usize::MAX, |length| start.saturating_add(length));
        if end == start {
            return Ok(true);
        }
        let (mut seen, mut more) = (0, true);
        let mut take = |batch: Table| {
            let from = start.saturating_sub(seen).min(batch.rows);
            let to = (end - seen).min(batch.rows);
            seen += batch.rows;
            if from < to {
                more = out(if (from, to) == (0, batch.rows) { batch } else { batch.slice(from, to) })?;
            }
            Ok(more && seen < end)
        };
        // The best few need not be sorted with all others.
        match inner {
            Node::Order { inner, keys } => self.order(inner, keys, end, input, needed, &mut take)?,
            Node::Project(under, vars) => match &**under {
                Node::Order { inner, keys } => {
                    self.order(inner, keys, end, input, *vars, &mut |batch| take(batch.keep(*vars)))?
                }
                _ => self.run(inner, input, needed, &mut take)?,
            },
            _ => self.run(inner, input, needed, &mut take)?,
        };
        Ok(more)
    }

    fn join(&self, left: &Node, right: &Node, input: &Table, needed: Vars, out: &mut Out<'_>) -> Result<bool> {
        // What one side does not have may be a value of the input that the other one needs.
        let inside = needed | (left.vars() & right.vars()) | (input.set() & (left.vars() | right.vars()));
        let (takes_left, takes_right) = (left.takes_input(), right.takes_input());
        let right_first = takes_left && (!takes_right || self.size(right)? < self.size(left)? / 4.0);
        if takes_right && !right_first {
            return self.run(left, input, inside, &mut |batch| self.run(right, &batch, needed, out));
        }
        if right_first {
            return self.run(right, input, inside, &mut |batch| self.run(left, &batch, needed, out));
        }
        let built = self.built(right, left.vars() & right.vars(), inside)?;
        if built.is_empty() {
            return Ok(true);
        }
        self.run(left, input, inside, &mut |batch| built.join(self, &batch, out))
    }

    /// About how many solutions a node that takes input has on its own.
    fn size(&self, node: &Node) -> Result<f64> {
        Ok(match node {
            Node::Match { atoms, .. } => matching::size(self, atoms)?,
            Node::Values(table) => table.rows as f64,
            Node::Join(left, right) => self.size(left)?.min(self.size(right)?),
            Node::Union(left, right) => self.size(left)? + self.size(right)?,
            Node::Filter(_, inner) => self.size(inner)?,
            _ => f64::MAX,
        })
    }

    fn left_join(
        &self,
        left: &Node,
        right: &Node,
        condition: Option<&Condition>,
        input: &Table,
        needed: Vars,
        out: &mut Out<'_>,
    ) -> Result<bool> {
        let of_condition = condition.map_or(0, Condition::vars) & (left.vars() | right.vars());
        let inside = needed | (left.vars() & right.vars()) | of_condition;
        let conditions: Vec<Condition> = condition.cloned().into_iter().collect();
        if right.takes_input() {
            return self.run(left, input, inside, &mut |batch| {
                let mut find = |batch: &Table, out: &mut Out<'_>| self.run(right, batch, inside | only(ROW), out);
                self.optional(batch, &conditions, inside, &mut find, out)
            });
        }
        let built = self.built(right, left.vars() & right.vars(), inside)?;
        self.run(left, input, inside, &mut |batch| {
            let mut find = |batch: &Table, out: &mut Out<'_>| built.join(self, batch, out);
            self.optional(batch, &conditions, inside, &mut find, out)
        })
    }

    /// Passes on what `find` finds for the rows of a batch, as far as it passes the conditions; then the rows for which there is nothing.
    fn optional(
        &self,
        mut batch: Table,
        conditions: &[Condition],
        vars: Vars,
        find: &mut dyn FnMut(&Table, &mut Out<'_>) -> Result<bool>,
        out: &mut Out<'_>,
    ) -> Result<bool> {
        let mut matched = vec![false; batch.rows];
        batch.push_column(ROW, (0..batch.rows).map(number).collect());
        let more = find(&batch, &mut |found| {
            let found = match self.rows_where(conditions, &found)? {
                None => found,
                Some(rows) => found.take(&rows, vars | only(ROW)),
            };
            for row in found.column(ROW).unwrap_or_default() {
                matched[*row as usize] = true;
            }
            if found.rows == 0 { Ok(true) } else { out(found.keep(vars)) }
        })?;
        let rows: Vec<u32> =
            matched.iter().enumerate().filter(|(_, matched)| !**matched).map(|(row, _)| number(row)).collect();
        if !more || rows.is_empty() { Ok(more) } else { out(batch.take(&rows, vars)) }
    }

    /// Whether a pattern has a solution, for each row.
    ///
    /// # Errors
    /// As [`Context::run`].
    pub fn exists(&self, node: &Node, table: &Table) -> Result<Vec<u8>> {
        let shared = table.set() & node.vars();
        let vars: Vec<Var> = each(shared).collect();
        // Once for each distinct tuple of the variables that both have.
        let (mut numbers, mut first, mut tuple_of) = (HashMap::new(), Vec::new(), Vec::with_capacity(table.rows));
        for row in 0..table.rows {
            let at = *numbers.entry(table.tuple(&vars, row)).or_insert_with(|| {
                first.push(number(row));
                first.len() - 1
            });
            tuple_of.push(at);
        }
        let mut distinct = table.take(&first, shared);
        distinct.push_column(ROW, (0..distinct.rows).map(number).collect());
        let mut found = vec![NO; distinct.rows];
        let mut missing = distinct.rows;
        self.run(node, &distinct, only(ROW), &mut |batch| {
            for row in batch.column(ROW).unwrap_or_default() {
                missing -= usize::from(found[*row as usize] == NO);
                found[*row as usize] = YES;
            }
            Ok(missing > 0)
        })?;
        Ok(tuple_of.into_iter().map(|at| found[at]).collect())
    }

    /// All solutions of an operator, to be found by the values of `shared` variables.
    fn built(&self, node: &Node, shared: Vars, needed: Vars) -> Result<Built> {
        let mut all = Table::empty(node.vars() & needed);
        let mut held = self.budget.reserve(0)?;
        self.run(node, &Table::unit(), needed, &mut |batch| {
            all.append(&batch.keep(needed));
            // Rows are found by hash tables of twice their size.
            self.hold(&mut held, all.bytes() + 24 * all.rows as u64, all.rows)?;
            Ok(true)
        })?;
        Ok(Built::new(all, shared, held))
    }

    /// Counts that the index answers: all triples of a pattern, or those of each of its predicates.
    fn counted(
        &self,
        inner: &Node,
        keys: &[Var],
        aggregates: &[(Var, super::plan::Aggregate)],
    ) -> Result<Option<Table>> {
        use super::plan::{Aggregate, Atom};
        let Node::Match { atoms, filters } = inner else { return Ok(None) };
        let ([Atom::Triple(slots)], []) = (atoms.as_slice(), filters.as_slice()) else { return Ok(None) };
        let vars = inner.vars();
        let variables = slots.iter().filter(|slot| matches!(slot, Slot::Var(_))).count();
        let counts = aggregates.iter().all(|(_, aggregate)| match aggregate {
            Aggregate::Rows => true,
            Aggregate::Bound { var, distinct: false } => vars & only(*var) != 0,
            _ => false,
        });
        if !counts || vars.count_ones() as usize != variables {
            return Ok(None);
        }
        let [_, predicate, _] = *slots;
        let counts: Vec<(u32, usize)> = match keys {
            [] => {
                let known = slots.map(|slot| match slot {
                    Slot::Term(term) => Some(term),
                    Slot::Var(_) => None,
                });
                vec![(UNBOUND, self.graph.default_count(known)?)]
            }
            [key] if predicate == Slot::Var(*key) && variables == 3 => {
                let (mut rows, mut counts) = (self.graph.default_rows(1)?, Vec::new());
                while let Some([term, ..]) = rows.first() {
                    let count = super::probe::prefix(rows, |row| row[0] == *term).len();
                    counts.push((*term, count));
                    rows = &rows[count..];
                }
                counts
            }
            _ => return Ok(None),
        };
        let mut table = Table { rows: counts.len(), ..Table::default() };
        if let [key] = keys {
            table.push_column(*key, counts.iter().map(|(term, _)| *term).collect());
        }
        let column = counts.iter().map(|(_, count)| {
            let count = i64::try_from(*count).unwrap_or(i64::MAX);
            self.numbers.number(&Literal::from(count).into())
        });
        let column = column.collect::<Result<Vec<u32>>>()?;
        for (var, _) in aggregates {
            table.push_column(*var, column.clone());
        }
        Ok(Some(table))
    }

    /// Evaluates a plan.
    ///
    /// # Errors
    /// As [`Context::run`].
    pub fn answer(&self, plan: &Plan, out: &mut Out<'_>) -> Result<()> {
        let needed = plan.answer.iter().fold(0, |set, (var, _)| set | only(*var));
        self.run(&plan.root, &Table::unit(), needed, out)?;
        Ok(())
    }
}
