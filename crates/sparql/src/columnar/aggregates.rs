//! GROUP BY and its aggregates, as `spareval` computes them.

use hashbrown::{HashMap, HashSet};
use isomorph::error::Result;
use isomorph::storage::Reservation;
use oxrdf::{BaseDirection, Literal, Term};
use spareval::ExpressionTerm;
use spargebra::algebra::AggregateFunction;

use super::compare::compare;
use super::execute::Context;
use super::hashed::Key;
use super::plan::Aggregate;
use super::table::{Table, UNBOUND, Var, number};
use crate::sums::{Number, Sum};

/// What an element of a table takes, beside its content.
const PLACE: usize = 16;

/// The groups so far.
pub(super) struct Groups<'c, 'g> {
    context: &'c Context<'g>,
    keys: &'c [Var],
    aggregates: &'c [(Var, Aggregate)],
    numbers: HashMap<Key, u32>,
    /// The values of each key, by group.
    values: Vec<Vec<u32>>,
    count: usize,
    /// For each aggregate, by group.
    states: Vec<Vec<State>>,
    /// Values of terms.
    known: HashMap<u32, Option<Known>>,
    /// Elements of sets and texts, about, in bytes.
    inside: u64,
    held: Reservation,
}

/// What an aggregate knows of a group.
enum State {
    Count(u64),
    Distinct(HashSet<u32>),
    Failed,
    /// Of a function, with the different values so far if only these count.
    Value {
        seen: Option<HashSet<ExpressionTerm>>,
        count: i64,
        value: Value,
    },
}

/// What a term is.
struct Known {
    value: ExpressionTerm,
    number: Option<Number>,
}

enum Value {
    Nothing,
    One(ExpressionTerm),
    Sum(Box<Sum>),
    /// Texts, and the language that all of them have.
    Texts(String, Option<(String, Option<BaseDirection>)>),
}

impl<'c, 'g> Groups<'c, 'g> {
    pub fn new(context: &'c Context<'g>, keys: &'c [Var], aggregates: &'c [(Var, Aggregate)]) -> Result<Self> {
        let mut groups = Groups {
            context,
            keys,
            aggregates,
            numbers: HashMap::new(),
            values: vec![Vec::new(); keys.len()],
            count: 0,
            states: aggregates.iter().map(|_| Vec::new()).collect(),
            known: HashMap::new(),
            inside: 0,
            held: context.budget.reserve(0)?,
        };
        if keys.is_empty() {
            // There is a group even if there are no solutions.
            groups.numbers.insert(Key::Narrow(0), 0);
            groups.begin();
        }
        Ok(groups)
    }

    /// Begins a group.
    fn begin(&mut self) {
        self.count += 1;
        for ((_, aggregate), states) in self.aggregates.iter().zip(&mut self.states) {
            states.push(match aggregate {
                Aggregate::Rows | Aggregate::Bound { distinct: false, .. } => State::Count(0),
                Aggregate::Bound { distinct: true, .. } => State::Distinct(HashSet::new()),
                Aggregate::Of { function, distinct, .. } => State::Value {
                    seen: (*distinct && *function != AggregateFunction::Sample).then(HashSet::new),
                    count: 0,
                    value: match function {
                        AggregateFunction::Sum | AggregateFunction::Avg => Value::Sum(Box::default()),
                        _ => Value::Nothing,
                    },
                },
            });
        }
    }

    /// Adds solutions.
    ///
    /// # Errors
    /// If the groups do not fit into the budget; if a value is compared by rules that are not those of this module.
    pub fn add(&mut self, batch: &Table) -> Result<()> {
        let mut groups = vec![0; batch.rows];
        let columns: Vec<Option<&[u32]>> = self.keys.iter().map(|key| batch.column(*key)).collect();
        if !self.keys.is_empty() {
            for (row, group) in groups.iter_mut().enumerate() {
                let key = match columns.as_slice() {
                    [Some(column)] => Key::Narrow(u64::from(column[row])),
                    _ => Key::of(batch, self.keys, row),
                };
                *group = match self.numbers.get(&key) {
                    Some(group) => *group,
                    None => {
                        let group = number(self.count);
                        for (values, column) in self.values.iter_mut().zip(&columns) {
                            values.push(column.map_or(UNBOUND, |column| column[row]));
                        }
                        if let Key::Wide(terms) = &key {
                            self.inside += (terms.len() * 4 + PLACE) as u64;
                        }
                        self.numbers.insert(key, group);
                        self.begin();
                        group
                    }
                };
            }
        }
        let aggregates = self.aggregates;
        for (at, (_, aggregate)) in aggregates.iter().enumerate() {
            match aggregate {
                Aggregate::Rows => {
                    if self.keys.is_empty() {
                        if let Some(State::Count(count)) = self.states[at].first_mut() {
                            *count += batch.rows as u64;
                        }
                    } else {
                        groups.iter().for_each(|group| count(&mut self.states[at][*group as usize]));
                    }
                }
                Aggregate::Bound { var, distinct } => {
                    let Some(column) = batch.column(*var) else { continue };
                    for (group, term) in groups.iter().zip(column).filter(|(_, term)| **term != UNBOUND) {
                        match &mut self.states[at][*group as usize] {
                            State::Distinct(terms) if *distinct => {
                                self.inside += if terms.insert(*term) { 8 } else { 0 };
                            }
                            state => count(state),
                        }
                    }
                }
                Aggregate::Of { function, of, .. } => {
                    let column = self.context.scalar(of, batch)?;
                    for (group, term) in groups.iter().zip(column) {
                        self.one(at, *group as usize, function, term)?;
                    }
                }
            }
        }
        let places = self.count * (self.aggregates.len() * size_of::<State>() + 4 * self.keys.len() + 2 * PLACE);
        let known = self.known.capacity() * (size_of::<Known>() + PLACE);
        let is_sum = |(_, aggregate): &&(Var, Aggregate)| {
            matches!(aggregate, Aggregate::Of { function: AggregateFunction::Sum | AggregateFunction::Avg, .. })
        };
        let sums = self.count * self.aggregates.iter().filter(is_sum).count() * size_of::<Sum>();
        self.context.hold(&mut self.held, (places + known + sums) as u64 + self.inside, self.count)
    }

    /// Adds the value of an expression to a group.
    fn one(&mut self, at: usize, group: usize, function: &AggregateFunction, term: u32) -> Result<()> {
        let state = &mut self.states[at][group];
        let State::Value { seen, count, value } = state else { return Ok(()) };
        if term == UNBOUND {
            // An error makes the aggregate one, but SAMPLE takes another value.
            if *function != AggregateFunction::Sample {
                *state = State::Failed;
            }
            return Ok(());
        }
        let known = match self.known.entry(term) {
            hashbrown::hash_map::Entry::Occupied(known) => known.into_mut(),
            hashbrown::hash_map::Entry::Vacant(place) => {
                let value = self.context.numbers.value(term)?;
                place.insert(value.map(|value| Known { number: Number::of_value(&value), value }))
            }
        };
        let Some(Known { value: element, number }) = known else { return Ok(()) };
        if let Some(seen) = seen {
            if !seen.insert(element.clone()) {
                return Ok(());
            }
            self.inside += 100;
        }
        *count += 1;
        let failed = match (function, &mut *value) {
            (AggregateFunction::Count, _) | (AggregateFunction::Sample, Value::One(_)) => false,
            (_, Value::Sum(sum)) => {
                sum.add(*number);
                false
            }
            (AggregateFunction::Min | AggregateFunction::Max, Value::One(best)) => {
                let Some(order) = compare(element, best) else { return Err(self.context.refuse()) };
                let better = if *function == AggregateFunction::Min { order.is_lt() } else { order.is_gt() };
                if better {
                    *best = element.clone();
                }
                false
            }
            (AggregateFunction::GroupConcat { separator }, value) => match plain(element) {
                Some((text, language)) => {
                    match value {
                        Value::Texts(texts, of) => {
                            texts.push_str(separator.as_deref().unwrap_or(" "));
                            texts.push_str(text);
                            if *of != language {
                                *of = None;
                            }
                        }
                        _ => *value = Value::Texts(text.to_owned(), language),
                    }
                    self.inside += text.len() as u64 + 1;
                    false
                }
                None => true,
            },
            (_, value) => {
                *value = Value::One(element.clone());
                false
            }
        };
        if failed {
            *state = State::Failed;
        }
        Ok(())
    }

    /// The groups, with the values of keys and aggregates.
    ///
    /// # Errors
    /// If there is no memory for new terms.
    pub fn finish(self) -> Result<Table> {
        let mut table = Table { rows: self.count, ..Table::default() };
        for (key, values) in self.keys.iter().zip(self.values) {
            // A variable may be a key twice.
            if table.column(*key).is_none() {
                table.push_column(*key, values);
            }
        }
        for ((var, aggregate), states) in self.aggregates.iter().zip(self.states) {
            let mut column = Vec::with_capacity(states.len());
            for state in states {
                column.push(match finished(aggregate, state) {
                    Some(term) => self.context.numbers.number(&term)?,
                    None => UNBOUND,
                });
            }
            table.push_column(*var, column);
        }
        Ok(table)
    }
}

fn count(state: &mut State) {
    if let State::Count(count) = state {
        *count += 1;
    }
}

fn integer(value: i64) -> Term {
    Literal::from(value).into()
}

fn finished(aggregate: &Aggregate, state: State) -> Option<Term> {
    match state {
        State::Failed => None,
        State::Count(count) => Some(integer(i64::try_from(count).ok()?)),
        State::Distinct(terms) => Some(integer(i64::try_from(terms.len()).ok()?)),
        State::Value { count, value, .. } => {
            let Aggregate::Of { function, .. } = aggregate else { return None };
            let value = match (function, value) {
                (AggregateFunction::Count, _) => return Some(integer(count)),
                (AggregateFunction::Avg, Value::Sum(sum)) => return sum.mean(),
                (_, Value::Sum(sum)) => return sum.sum(),
                (AggregateFunction::GroupConcat { .. }, Value::Nothing) => ExpressionTerm::StringLiteral(String::new()),
                (_, Value::One(value)) => value,
                (_, Value::Nothing) => return None,
                (_, Value::Texts(value, language)) => match language {
                    None => ExpressionTerm::StringLiteral(value),
                    Some((language, None)) => ExpressionTerm::LangStringLiteral { value, language },
                    Some((language, Some(direction))) => {
                        ExpressionTerm::DirLangStringLiteral { value, language, direction }
                    }
                },
            };
            Some(value.into())
        }
    }
}

/// The text of a plain literal, with its language and direction.
#[allow(clippy::type_complexity)]
fn plain(term: &ExpressionTerm) -> Option<(&str, Option<(String, Option<BaseDirection>)>)> {
    match term {
        ExpressionTerm::StringLiteral(value) => Some((value, None)),
        ExpressionTerm::LangStringLiteral { value, language } => Some((value, Some((language.clone(), None)))),
        ExpressionTerm::DirLangStringLiteral { value, language, direction } => {
            Some((value, Some((language.clone(), Some(*direction)))))
        }
        _ => None,
    }
}
