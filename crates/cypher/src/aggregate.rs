//! Grouping and aggregates.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use isomorph::Error;

use crate::eval::{Row, eval, set};
use crate::exec::Context;
use crate::fault::{Class, Fault, Result};
use crate::operators::{add, multiply, number};
use crate::plan::{Aggregate, Aggregation, Projection, Slot};
use crate::tables::{Argument, Whole, each};
use crate::value::{Equivalent, Value, order};

/// The groups of a projection, in the order in which they were found.
pub(crate) struct Grouping<'p> {
    projection: &'p Projection,
    /// Slots of the input that expressions over aggregates or the order read.
    reads: Vec<Slot>,
    found: HashMap<Vec<Equivalent>, usize>,
    groups: Vec<Group>,
    rows: std::vec::IntoIter<Group>,
}

struct Group {
    keys: Vec<Value>,
    /// Values of `reads` in the first row.
    first: Vec<Value>,
    states: Vec<State>,
}

impl<'p> Grouping<'p> {
    pub(crate) fn new(projection: &'p Projection) -> Self {
        let made = |slot: &Slot| {
            projection.outputs.contains(slot) || projection.aggregates.iter().any(|one| one.slot == *slot)
        };
        let exprs = projection.after.iter().map(|(_, expr)| expr).chain(projection.order.iter().map(|(expr, _)| expr));
        let mut reads: Vec<Slot> = exprs.flat_map(crate::plan::Expr::slots).filter(|slot| !made(slot)).collect();
        reads.sort_unstable();
        reads.dedup();
        Grouping { projection, reads, found: HashMap::new(), groups: Vec::new(), rows: Vec::new().into_iter() }
    }

    /// Adds a row that stands for `times` equal ones.
    pub(crate) fn add(&mut self, row: &mut Row, times: u64, cx: &Context<'_>) -> Result<()> {
        let mut keys = Vec::with_capacity(self.projection.keys.len());
        for (_, expr) in &self.projection.keys {
            keys.push(Equivalent(eval(expr, row, cx)?));
        }
        let reads = std::mem::take(&mut self.reads);
        let first = || reads.iter().map(|slot| row.get(*slot).cloned().unwrap_or_default()).collect();
        let at = self.group(keys, first, cx);
        self.reads = reads;
        let Some(group) = self.groups.get_mut(at?) else { return Ok(()) };
        for (state, aggregate) in group.states.iter_mut().zip(&self.projection.aggregates) {
            state.add(aggregate, row, times, cx)?;
        }
        Ok(())
    }

    /// Adds all rows of a batch, if its columns are all that is read. Returns whether it has.
    pub(crate) fn add_batch(&mut self, whole: &Whole<'_>, cx: &Context<'_>) -> Result<bool> {
        let aggregates = &self.projection.aggregates;
        if !self.projection.keys.is_empty() || !self.reads.is_empty() {
            return Ok(false);
        }
        let Some(arguments) = aggregates.iter().map(|one| whole.of(one)).collect::<Option<Vec<_>>>() else {
            return Ok(false);
        };
        let at = self.group(Vec::new(), Vec::new, cx)?;
        let Some(group) = self.groups.get_mut(at) else { return Ok(false) };
        for ((state, aggregate), argument) in group.states.iter_mut().zip(aggregates).zip(arguments) {
            match argument {
                Argument::Rows(count) => {
                    state.count = state.count.saturating_add(i64::try_from(count).unwrap_or(i64::MAX));
                }
                Argument::Numbers(column) => each(column, &mut |value| state.add_value(aggregate.what, value, 1, cx))?,
            }
        }
        Ok(true)
    }

    /// The position of the group of these keys, which is added if it is new.
    fn group(&mut self, keys: Vec<Equivalent>, first: impl FnOnce() -> Vec<Value>, cx: &Context<'_>) -> Result<usize> {
        if let Some(at) = self.found.get(&keys) {
            return Ok(*at);
        }
        let values: Vec<Value> = keys.iter().map(|key| key.0.clone()).collect();
        let states: Vec<State> = self.projection.aggregates.iter().map(State::new).collect();
        let first = first();
        let bytes = 2 * values.iter().chain(&first).map(Value::bytes).sum::<u64>();
        cx.grow(bytes + 128 + 96 * states.len() as u64)?;
        self.groups.push(Group { keys: values, first, states });
        self.found.insert(keys, self.groups.len() - 1);
        Ok(self.groups.len() - 1)
    }

    /// The groups of a part of the rows: their keys, what is read of their first rows, and what is known of each aggregate.
    pub(crate) fn into_parts(self) -> impl Iterator<Item = Vec<Value>> {
        self.groups.into_iter().map(|Group { keys, first, states }| {
            keys.into_iter().chain(first).chain(states.into_iter().map(State::into_value)).collect()
        })
    }

    /// Adds such a group.
    pub(crate) fn add_part(&mut self, values: Vec<Value>, cx: &Context<'_>) -> Result<()> {
        let (keys, aggregates) = (self.projection.keys.len(), self.projection.aggregates.len());
        if values.len() != keys + self.reads.len() + aggregates {
            return Err(Fault::Other(broken()));
        }
        let mut values = values.into_iter();
        let keys = values.by_ref().take(keys).map(Equivalent).collect();
        let first: Vec<Value> = values.by_ref().take(self.reads.len()).collect();
        let at = self.group(keys, || first, cx)?;
        let Some(group) = self.groups.get_mut(at) else { return Ok(()) };
        for ((state, aggregate), part) in group.states.iter_mut().zip(&self.projection.aggregates).zip(values) {
            state.add_part(aggregate, &part, cx)?;
        }
        Ok(())
    }

    /// No more rows come.
    pub(crate) fn finish(&mut self, _: &Context<'_>) {
        // Without keys there is one group, also of no rows.
        if self.groups.is_empty() && self.projection.keys.is_empty() {
            let states = self.projection.aggregates.iter().map(State::new).collect();
            let first = vec![Value::Null; self.reads.len()];
            self.groups.push(Group { keys: Vec::new(), first, states });
        }
        self.found = HashMap::new();
        self.rows = std::mem::take(&mut self.groups).into_iter();
    }

    /// The row of the next group.
    pub(crate) fn next(&mut self, base: &Row, cx: &Context<'_>) -> Result<Option<Row>> {
        let Some(group) = self.rows.next() else { return Ok(None) };
        let mut row = base.clone();
        for (slot, value) in self.reads.iter().zip(group.first) {
            set(&mut row, *slot, value);
        }
        for ((slot, _), value) in self.projection.keys.iter().zip(group.keys) {
            set(&mut row, *slot, value);
        }
        for (state, aggregate) in group.states.into_iter().zip(&self.projection.aggregates) {
            let value = state.finish(aggregate.what)?;
            set(&mut row, aggregate.slot, value);
        }
        let _ = cx;
        Ok(Some(row))
    }
}

fn broken() -> Error {
    Error::malformed("groups of another process cannot be read")
}

fn mixed() -> Fault {
    Fault::argument_type("avg expects numbers or durations, found both")
}

/// The state of one aggregate of one group.
struct State {
    seen: Option<HashSet<Equivalent>>,
    count: i64,
    value: Value,
    values: Vec<Value>,
    /// Mean and sum of squared distances from it, by Welford's method.
    mean: f64,
    /// The sum of the values of a mean or a sum, while all of them are integers: only the end of a sum need have room in 64 bits.
    whole: Option<i128>,
    squares: f64,
    fraction: Option<f64>,
}

impl State {
    fn new(aggregate: &Aggregate) -> Self {
        State {
            seen: aggregate.distinct.then(HashSet::new),
            count: 0,
            value: Value::Null,
            values: Vec::new(),
            mean: 0.0,
            whole: Some(0),
            squares: 0.0,
            fraction: None,
        }
    }

    /// Adds the value of a row that stands for `times` equal ones; more than one only for aggregates of which
    /// `columnar` knows that they can be added at once, and distinct ones.
    fn add(&mut self, aggregate: &Aggregate, row: &mut Row, times: u64, cx: &Context<'_>) -> Result<()> {
        let times = i64::try_from(times).unwrap_or(i64::MAX);
        let Some(argument) = aggregate.arguments.first() else {
            self.count = self.count.saturating_add(times);
            return Ok(());
        };
        let value = eval(argument, row, cx)?;
        if let Some(fraction) = aggregate.arguments.get(1)
            && self.fraction.is_none()
        {
            let fraction = eval(fraction, row, cx)?;
            let known = number(&fraction).filter(|fraction| (0.0..=1.0).contains(fraction));
            self.fraction = Some(known.ok_or_else(|| {
                let message = "a percentile is a number from 0.0 to 1.0";
                Fault::runtime(Class::ArgumentError, "NumberOutOfRange", message)
            })?);
        }
        self.add_value(aggregate.what, value, times, cx)
    }

    fn add_value(&mut self, what: Aggregation, value: Value, times: i64, cx: &Context<'_>) -> Result<()> {
        if value.is_null() {
            return Ok(());
        }
        if let Some(seen) = &mut self.seen {
            let key = Equivalent(value.clone());
            if seen.contains(&key) {
                return Ok(());
            }
            cx.grow(32 + value.bytes())?;
            seen.insert(key);
        }
        let times = if self.seen.is_some() { 1 } else { times };
        self.count = self.count.saturating_add(times);
        let numeric = |what: &str| {
            number(&value)
                .ok_or_else(|| Fault::argument_type(format!("{what} expects numbers, found {}", value.type_name())))
        };
        match what {
            Aggregation::CountRows | Aggregation::Count => {}
            Aggregation::Sum => {
                if !matches!(value, Value::Duration(_)) {
                    numeric("sum")?;
                }
                self.sum(value, times)?;
            }
            Aggregation::Avg => {
                let is_duration = matches!(value, Value::Duration(_));
                if self.count > times && is_duration != matches!(self.value, Value::Duration(_)) {
                    return Err(mixed());
                }
                if is_duration {
                    let value = if times == 1 { value } else { multiply(&value, &Value::Int(times))? };
                    self.value = if self.value.is_null() { value } else { add(&self.value, &value)? };
                } else {
                    let one = numeric("avg")?;
                    self.whole = match (&value, self.whole) {
                        (Value::Int(one), Some(sum)) => {
                            i128::from(*one).checked_mul(i128::from(times)).and_then(|more| sum.checked_add(more))
                        }
                        _ => None,
                    };
                    self.mean = toward(self.mean, one, times, self.count);
                }
            }
            Aggregation::Min => {
                if self.value.is_null() || order(&value, &self.value) == Ordering::Less {
                    self.value = value;
                }
            }
            Aggregation::Max => {
                if self.value.is_null() || order(&value, &self.value) == Ordering::Greater {
                    self.value = value;
                }
            }
            Aggregation::Collect => {
                cx.grow(value.bytes())?;
                self.values.push(value);
            }
            Aggregation::StDev | Aggregation::StDevP => {
                let one = numeric("stDev")?;
                #[expect(clippy::cast_precision_loss, reason = "a count of rows")]
                let count = self.count as f64;
                let distance = one - self.mean;
                self.mean += distance / count;
                self.squares += distance * (one - self.mean);
            }
            Aggregation::PercentileCont | Aggregation::PercentileDisc => {
                numeric("a percentile")?;
                cx.grow(value.bytes())?;
                self.values.push(value);
            }
        }
        Ok(())
    }

    /// Adds to a sum, with the value counted already.
    fn sum(&mut self, value: Value, times: i64) -> Result<()> {
        if let (Value::Int(one), Value::Null) = (&value, &self.value) {
            let more = i128::from(*one).checked_mul(i128::from(times));
            self.whole = self.whole.zip(more).and_then(|(sum, more)| sum.checked_add(more));
            return Ok(());
        }
        let value = if times == 1 { value } else { multiply(&value, &Value::Int(times))? };
        self.value = match self.summed(self.count.saturating_sub(times), &value) {
            Value::Null => value,
            before => add(&before, &value)?,
        };
        Ok(())
    }

    /// The sum of the first `count` values, to which another value is added.
    #[expect(clippy::cast_precision_loss, reason = "beside a float, a sum is one")]
    fn summed(&mut self, count: i64, other: &Value) -> Value {
        match (&self.value, self.whole.filter(|_| count > 0), other) {
            (Value::Null, Some(sum), Value::Float(_)) => Value::Float(sum as f64),
            (Value::Null, Some(sum), _) => Value::Int(i64::try_from(sum).unwrap_or_default()),
            _ => std::mem::take(&mut self.value),
        }
    }

    /// What is known, for [`State::add_part`]. Of different values, that is all of them.
    fn into_value(self) -> Value {
        let fraction = self.fraction.map_or(Value::Null, Value::Float);
        if let Some(seen) = self.seen {
            return Value::list(vec![Value::list(seen.into_iter().map(|one| one.0).collect()), fraction]);
        }
        Value::list(vec![
            Value::Int(self.count),
            self.value,
            Value::list(self.values),
            Value::Float(self.mean),
            self.whole.map_or(Value::Null, |sum| Value::text(sum.to_string())),
            Value::Float(self.squares),
            fraction,
        ])
    }

    /// Adds what is known of a part of the rows.
    #[expect(clippy::cast_precision_loss, reason = "counts of rows")]
    fn add_part(&mut self, aggregate: &Aggregate, part: &Value, cx: &Context<'_>) -> Result<()> {
        let Value::List(parts) = part else { return Err(Fault::Other(broken())) };
        if aggregate.distinct {
            let [Value::List(seen), fraction] = parts.as_slice() else { return Err(Fault::Other(broken())) };
            self.fraction = self.fraction.or(number(fraction));
            return seen.iter().try_for_each(|value| self.add_value(aggregate.what, value.clone(), 1, cx));
        }
        let [Value::Int(count), value, Value::List(values), Value::Float(mean), whole, Value::Float(squares), fraction] =
            parts.as_slice()
        else {
            return Err(Fault::Other(broken()));
        };
        let before = self.count;
        self.count = self.count.saturating_add(*count);
        self.fraction = self.fraction.or(number(fraction));
        if *count == 0 {
            return Ok(());
        }
        if aggregate.what == Aggregation::Avg && before > 0 && value.is_null() != self.value.is_null() {
            return Err(mixed());
        }
        let whole = match whole {
            Value::String(digits) => Some(digits.parse::<i128>().map_err(|_| Fault::Other(broken()))?),
            _ => None,
        };
        if aggregate.what == Aggregation::Sum && (self.value.is_null() != value.is_null()) {
            // One of both has integers alone.
            match (value, whole) {
                (Value::Null, Some(sum)) => self.value = add(&self.value, &Value::Float(sum as f64))?,
                _ => {
                    let own = self.summed(before, value);
                    self.value = if own.is_null() { value.clone() } else { add(&own, value)? };
                }
            }
        } else if !value.is_null() {
            let is_kept = match aggregate.what {
                _ if self.value.is_null() => false,
                Aggregation::Min => order(value, &self.value) != Ordering::Less,
                Aggregation::Max => order(value, &self.value) != Ordering::Greater,
                _ => {
                    self.value = add(&self.value, value)?;
                    true
                }
            };
            if !is_kept {
                self.value = value.clone();
            }
        }
        cx.grow(values.iter().map(Value::bytes).sum())?;
        self.values.extend(values.iter().cloned());
        self.whole = self.whole.zip(whole).and_then(|(own, other)| own.checked_add(other));
        // Means and squares of two parts, by Chan's method.
        let share = *count as f64 / self.count as f64;
        let distance = mean - self.mean;
        self.squares += squares + distance * distance * before as f64 * share;
        self.mean = toward(self.mean, *mean, *count, self.count);
        Ok(())
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of rows")]
    fn finish(mut self, what: Aggregation) -> Result<Value> {
        Ok(match what {
            Aggregation::CountRows | Aggregation::Count => Value::Int(self.count),
            Aggregation::Sum if self.value.is_null() => {
                let sum = self.whole.and_then(|sum| i64::try_from(sum).ok());
                Value::Int(sum.ok_or_else(|| Fault::overflow("a sum exceeds a 64-bit integer"))?)
            }
            Aggregation::Sum | Aggregation::Min | Aggregation::Max => self.value,
            Aggregation::Avg if self.count == 0 => Value::Null,
            Aggregation::Avg => match &self.value {
                Value::Duration(sum) => sum.divided(self.count)?,
                _ => Value::Float(match self.whole {
                    Some(sum) => divided(sum, self.count),
                    None => self.mean,
                }),
            },
            Aggregation::Collect => Value::list(self.values),
            Aggregation::StDev if self.count < 2 => Value::Float(0.0),
            Aggregation::StDev => Value::Float((self.squares / (self.count - 1) as f64).sqrt()),
            Aggregation::StDevP if self.count < 1 => Value::Float(0.0),
            Aggregation::StDevP => Value::Float((self.squares / self.count as f64).sqrt()),
            Aggregation::PercentileCont | Aggregation::PercentileDisc => {
                self.values.sort_by(order);
                percentile(&self.values, self.fraction.unwrap_or(0.0), what)
            }
        })
    }
}

/// The mean of `all` values, of which `part` have the mean `other`, and those before them `mean`. With an infinite value it is what their sum is.
#[expect(clippy::cast_precision_loss, reason = "counts of rows")]
fn toward(mean: f64, other: f64, part: i64, all: i64) -> f64 {
    let (distance, part, all) = (other - mean, part as f64, all as f64);
    match (distance.is_finite(), mean.is_finite() && other.is_finite()) {
        (true, _) => mean + distance / all * part,
        // Two values that lie farther apart than floats reach.
        (false, true) => mean * ((all - part) / all) + other * (part / all),
        (false, false) => mean + other,
    }
}

/// The sum of integers divided by their number. The sum has its whole part apart, so that it is rounded about once.
#[expect(clippy::cast_precision_loss, reason = "a mean is a float")]
fn divided(sum: i128, count: i64) -> f64 {
    const EXACT: u128 = 1 << 53;
    if sum.unsigned_abs() <= EXACT {
        return sum as f64 / count as f64;
    }
    let count_of = i128::from(count.max(1));
    (sum / count_of) as f64 + (sum % count_of) as f64 / count as f64
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positions in a list, from fractions between 0 and 1"
)]
fn percentile(values: &[Value], fraction: f64, what: Aggregation) -> Value {
    if values.is_empty() {
        return Value::Null;
    }
    if what == Aggregation::PercentileDisc {
        let at = (fraction * values.len() as f64).ceil() as usize;
        return values.get(at.saturating_sub(1)).cloned().unwrap_or_default();
    }
    let place = fraction * (values.len() - 1) as f64;
    let below = place.floor() as usize;
    let at = |at: usize| values.get(at).and_then(number).unwrap_or(f64::NAN);
    let share = place - place.floor();
    if share == 0.0 {
        return Value::Float(at(below));
    }
    Value::Float(at(below) * (1.0 - share) + at(below + 1) * share)
}
