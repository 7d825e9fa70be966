//! Values of expressions.
//!
//! An expression is evaluated by `spareval`, so that every function has one meaning; but once for each distinct tuple of terms
//! that its variables take, and not for each solution. The tuples are the quads of a data set of their own.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use isomorph::error::{Error, Result};
use oxrdf::{Term, Variable};
use spareval::{InternalQuad, QueryResults, QueryableDataset};
use spargebra::Query;
use spargebra::algebra::GraphPattern;
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

use super::compile::MOST_INPUTS;
use super::execute::Context;
use super::native;
use super::plan::{Computed, Condition, Scalar};
use super::table::{Table, UNBOUND};
use crate::dataset::{Face, Id};
use crate::operators;
use crate::run::failure;
use crate::sums;
use crate::visit::each_inside;

/// Tuples that are evaluated at once.
const AT_ONCE: usize = 1 << 14;

/// In a memory: the result is an error, or no value.
const NO_VALUE: u32 = u32::MAX;

/// The truth of a condition for a solution.
pub(super) const NO: u8 = 0;
pub(super) const YES: u8 = 1;
pub(super) const ERROR: u8 = 2;

/// Results of an expression: 0 where it was not evaluated.
#[derive(Default)]
pub(super) struct Memo {
    /// By the number of the only variable's term, if that is one of the graph.
    dense: OnceLock<Option<Box<[AtomicU32]>>>,
    sparse: Mutex<HashMap<[u32; MOST_INPUTS], u32>>,
}

impl Context<'_> {
    /// The values of a scalar in all solutions.
    ///
    /// # Errors
    /// If the evaluation is stopped, or there is no memory for new terms.
    pub(super) fn scalar(&self, scalar: &Scalar, table: &Table) -> Result<Vec<u32>> {
        match scalar {
            Scalar::Var(var) => Ok(table.column(*var).map_or_else(|| vec![UNBOUND; table.rows], <[u32]>::to_vec)),
            Scalar::Term(number) => Ok(vec![*number; table.rows]),
            Scalar::Computed(computed) => self.computed(computed, table),
        }
    }

    /// The truth of a condition in all solutions.
    ///
    /// # Errors
    /// As [`Context::scalar`], and those of patterns of EXISTS.
    pub(super) fn truth(&self, condition: &Condition, table: &Table) -> Result<Vec<u8>> {
        Ok(match condition {
            Condition::Bound(var) => match table.column(*var) {
                Some(column) => column.iter().map(|term| u8::from(*term != UNBOUND)).collect(),
                None => vec![NO; table.rows],
            },
            Condition::Not(inner) => {
                let mut truth = self.truth(inner, table)?;
                truth.iter_mut().filter(|truth| **truth != ERROR).for_each(|truth| *truth = 1 - *truth);
                truth
            }
            Condition::And(all) => self.connected(all, table, NO)?,
            Condition::Or(all) => self.connected(all, table, YES)?,
            Condition::Exists(node) => self.exists(node, table)?,
            Condition::Value(computed) => {
                let values = self.computed(computed, table)?;
                let [no, yes] = self.booleans;
                let of = |value: &u32| match *value {
                    value if value == yes => YES,
                    value if value == no => NO,
                    _ => ERROR,
                };
                values.iter().map(of).collect()
            }
        })
    }

    /// Conditions connected by AND or OR, which are decided by one that is `deciding`, even if others are errors.
    fn connected(&self, all: &[Condition], table: &Table, deciding: u8) -> Result<Vec<u8>> {
        let mut connected = vec![1 - deciding; table.rows];
        for one in all {
            for (all, one) in connected.iter_mut().zip(self.truth(one, table)?) {
                if *all != deciding && one != 1 - deciding {
                    *all = one;
                }
            }
        }
        Ok(connected)
    }

    /// The rows in which all conditions hold.
    ///
    /// # Errors
    /// As [`Context::truth`].
    pub(super) fn rows_where(&self, conditions: &[Condition], table: &Table) -> Result<Option<Vec<u32>>> {
        let truth = self.connected(conditions, table, NO)?;
        if truth.iter().all(|truth| *truth == YES) {
            return Ok(None);
        }
        let rows = truth.iter().enumerate().filter(|(_, truth)| **truth == YES);
        Ok(Some(rows.map(|(row, _)| super::table::number(row)).collect()))
    }

    fn computed(&self, computed: &Computed, table: &Table) -> Result<Vec<u32>> {
        let memo = &self.memos[computed.memo];
        match computed.inputs.as_slice() {
            [(var, _)] => {
                let Some(column) = table.column(*var) else {
                    return Ok(vec![self.one(computed, [UNBOUND; MOST_INPUTS])?; table.rows]);
                };
                self.of_column(computed, memo, column)
            }
            inputs => {
                let columns: Vec<Option<&[u32]>> = inputs.iter().map(|(var, _)| table.column(*var)).collect();
                if columns.iter().all(Option::is_none) {
                    return Ok(vec![self.one(computed, [UNBOUND; MOST_INPUTS])?; table.rows]);
                }
                let tuple = |row: usize| {
                    let mut tuple = [UNBOUND; MOST_INPUTS];
                    for (term, column) in tuple.iter_mut().zip(&columns) {
                        *term = column.map_or(UNBOUND, |column| column[row]);
                    }
                    tuple
                };
                // Most tuples of several variables are seen once, so what is cheap is not remembered.
                let (mut values, mut rows, mut tuples) = (vec![UNBOUND; table.rows], Vec::new(), Vec::new());
                for (row, value) in values.iter_mut().enumerate() {
                    let tuple = tuple(row);
                    match self.native(computed, &tuple)? {
                        Some(NO_VALUE) => {}
                        Some(found) => *value = found,
                        None => {
                            rows.push(row);
                            tuples.push(tuple);
                        }
                    }
                }
                if !rows.is_empty() {
                    for (row, value) in rows.into_iter().zip(self.of_tuples(computed, memo, tuples)?) {
                        values[row] = value;
                    }
                }
                Ok(values)
            }
        }
    }

    /// The result for a tuple, if no evaluator of rows is needed for it.
    fn native(&self, computed: &Computed, tuple: &[u32; MOST_INPUTS]) -> Result<Option<u32>> {
        let value = |name: &Variable| {
            let at = computed.inputs.iter().position(|(_, of)| of == name);
            at.map_or(Ok(None), |at| native::seen(&self.numbers, tuple[at]))
        };
        Ok(match native::evaluate(&computed.expression, &value) {
            Err(native::Unknown) => None,
            Ok(None) => Some(NO_VALUE),
            Ok(Some(native::Seen::Boolean(value))) => Some(self.booleans[usize::from(value)]),
            Ok(Some(seen)) => Some(self.numbers.number(&seen.term())?),
        })
    }

    fn one(&self, computed: &Computed, tuple: [u32; MOST_INPUTS]) -> Result<u32> {
        Ok(self.of_tuples(computed, &self.memos[computed.memo], vec![tuple])?.first().copied().unwrap_or_default())
    }

    /// The results for the terms of one variable.
    fn of_column(&self, computed: &Computed, memo: &Memo, column: &[u32]) -> Result<Vec<u32>> {
        let tuple = |term: u32| {
            let mut tuple = [UNBOUND; MOST_INPUTS];
            tuple[0] = term;
            tuple
        };
        let size = self.numbers.last_known() as usize + 1;
        // A table of all terms is worth its memory only if there are many rows.
        let make = || {
            let enough = column.len() >= 4_096 || column.len() * 64 >= size;
            let held = if enough { self.budget.try_reserve((size * size_of::<u32>()) as u64) } else { None };
            held.map(|held| {
                self.keep(held);
                (0..size).map(|_| AtomicU32::new(0)).collect()
            })
        };
        let Some(dense) = memo.dense.get_or_init(make) else {
            return self.of_tuples(computed, memo, column.iter().map(|term| tuple(*term)).collect());
        };
        let known = |term: u32| dense.get(term as usize).map_or(0, |result| result.load(Relaxed));
        let mut missing: Vec<u32> = column.iter().copied().filter(|term| known(*term) == 0).collect();
        missing.sort_unstable();
        missing.dedup();
        let mut others = HashMap::new();
        for part in missing.chunks(AT_ONCE) {
            let tuples: Vec<[u32; MOST_INPUTS]> = part.iter().map(|term| tuple(*term)).collect();
            for (term, result) in part.iter().zip(self.evaluated(computed, &tuples)?) {
                match dense.get(*term as usize) {
                    Some(slot) => slot.store(result, Relaxed),
                    None => drop(others.insert(*term, result)),
                }
            }
        }
        let result = |term: &u32| {
            let result = known(*term);
            let result = if result == 0 { others.get(term).copied().unwrap_or(NO_VALUE) } else { result };
            if result == NO_VALUE { UNBOUND } else { result }
        };
        Ok(column.iter().map(result).collect())
    }

    fn of_tuples(&self, computed: &Computed, memo: &Memo, tuples: Vec<[u32; MOST_INPUTS]>) -> Result<Vec<u32>> {
        let lock = || memo.sparse.lock().unwrap_or_else(PoisonError::into_inner);
        let mut results = Vec::with_capacity(tuples.len());
        let mut missing = Vec::new();
        {
            let known = lock();
            for tuple in &tuples {
                let result = known.get(tuple).copied().unwrap_or(0);
                if result == 0 {
                    missing.push(*tuple);
                }
                results.push(result);
            }
        }
        if missing.is_empty() {
            results.iter_mut().filter(|result| **result == NO_VALUE).for_each(|result| *result = UNBOUND);
            return Ok(results);
        }
        missing.sort_unstable();
        missing.dedup();
        let mut found = HashMap::with_capacity(missing.len());
        for part in missing.chunks(AT_ONCE) {
            found.extend(part.iter().copied().zip(self.evaluated(computed, part)?));
        }
        for (result, tuple) in results.iter_mut().zip(&tuples) {
            if *result == 0 {
                *result = found.get(tuple).copied().unwrap_or(NO_VALUE);
            }
            if *result == NO_VALUE {
                *result = UNBOUND;
            }
        }
        // Remembered as far as memory allows.
        let bytes = (found.len() * 2 * size_of::<[u32; MOST_INPUTS + 1]>()) as u64;
        if let Some(held) = self.budget.try_reserve(bytes) {
            self.keep(held);
            lock().extend(found);
        }
        Ok(results)
    }

    /// The results for distinct tuples, in their order: numbers of terms, or [`NO_VALUE`].
    fn evaluated(&self, computed: &Computed, tuples: &[[u32; MOST_INPUTS]]) -> Result<Vec<u32>> {
        let inputs = computed.inputs.len();
        let mask = |tuple: &[u32; MOST_INPUTS]| tuple.iter().take(inputs).map(|term| *term != UNBOUND).collect();
        let mut by_mask: HashMap<Vec<bool>, Vec<usize>> = HashMap::new();
        let mut results = vec![NO_VALUE; tuples.len()];
        for (at, tuple) in tuples.iter().enumerate() {
            match self.native(computed, tuple)? {
                Some(result) => results[at] = result,
                None => by_mask.entry(mask(tuple)).or_default().push(at),
            }
        }
        for (bound, rows) in by_mask {
            let query = self.question_of(computed, &bound);
            let quads: Vec<[Id; MOST_INPUTS]> =
                rows.iter().map(|at| tuples[*at].map(|term| self.numbers.id(term))).collect();
            let dataset = Tuples { face: Face(self.graph), rows: quads.into() };
            let evaluator = sums::evaluator(&self.token).without_optimizations();
            let failed = |error| failure(error, self.timeout);
            let QueryResults::Solutions(solutions) = evaluator.prepare(&query).execute(dataset).map_err(failed)? else {
                return Err(lost());
            };
            let mut rows = rows.into_iter();
            for solution in solutions {
                let solution = solution.map_err(failed)?;
                let at = rows.next().ok_or_else(lost)?;
                if let Some(Some(term)) = solution.values().first() {
                    results[at] = match is_boolean(term) {
                        Some(value) => self.booleans[usize::from(value)],
                        None => self.numbers.number(term)?,
                    };
                }
            }
            if rows.next().is_some() {
                return Err(lost());
            }
        }
        Ok(results)
    }

    /// `SELECT` of the expression for every quad. Variables that have no value are not in the pattern.
    fn question_of(&self, computed: &Computed, bound: &[bool]) -> Query {
        let name = |at: usize| match (computed.inputs.get(at), bound.get(at)) {
            (Some((_, name)), Some(true)) => name.clone(),
            // A query cannot name it.
            _ => Variable::new_unchecked(format!("no input {at}")),
        };
        let triple = TriplePattern {
            subject: TermPattern::Variable(name(0)),
            predicate: NamedNodePattern::Variable(name(1)),
            object: TermPattern::Variable(name(2)),
        };
        let quad = GraphPattern::Graph {
            name: NamedNodePattern::Variable(name(3)),
            inner: GraphPattern::Bgp { patterns: vec![triple] }.into(),
        };
        let result = Variable::new_unchecked("the result");
        let mut expression = computed.expression.clone();
        each_inside(&mut expression, &mut operators::replaced);
        let extended = GraphPattern::Extend { inner: quad.into(), variable: result.clone(), expression };
        let projected = GraphPattern::Project { inner: extended.into(), variables: vec![result] };
        let mut query = self.template.clone();
        if let Query::Select { pattern, .. } = &mut query {
            *pattern = projected;
        }
        query
    }
}

/// `true` and `false` in their canonical forms.
fn is_boolean(term: &Term) -> Option<bool> {
    let Term::Literal(literal) = term else { return None };
    let value = match literal.value() {
        "true" => true,
        "false" => false,
        _ => return None,
    };
    (literal.datatype() == oxrdf::vocab::xsd::BOOLEAN).then_some(value)
}

fn lost() -> Error {
    Error::malformed("internal error: an expression was not evaluated for every tuple of terms")
}

/// Tuples of terms as quads.
struct Tuples<'g> {
    face: Face<'g>,
    rows: Arc<[[Id; MOST_INPUTS]]>,
}

impl<'g> QueryableDataset<'g> for Tuples<'g> {
    type InternalTerm = Id;
    type Error = Error;

    fn internal_quads_for_pattern(
        &self,
        _subject: Option<&Id>,
        _predicate: Option<&Id>,
        _object: Option<&Id>,
        _graph_name: Option<Option<&Id>>,
    ) -> impl Iterator<Item = Result<InternalQuad<Id>, Error>> + use<'g> {
        let rows = Arc::clone(&self.rows);
        (0..rows.len()).map(move |at| {
            let [subject, predicate, object, graph] = rows[at].clone();
            Ok(InternalQuad { subject, predicate, object, graph_name: Some(graph) })
        })
    }

    fn internal_named_graphs(&self) -> impl Iterator<Item = Result<Id, Error>> + use<'g> {
        std::iter::empty()
    }

    fn contains_internal_graph_name(&self, _graph_name: &Id) -> Result<bool, Error> {
        Ok(false)
    }

    fn internalize_term(&self, term: Term) -> Result<Id, Error> {
        self.face.internalize_term(term)
    }

    fn externalize_term(&self, term: Id) -> Result<Term, Error> {
        self.face.externalize_term(term)
    }
}
