//! ORDER BY, of all solutions or the best few.

use std::borrow::Cow;
use std::cmp::Ordering;

use hashbrown::HashMap;
use isomorph::error::Result;
use oxrdf::vocab::{rdf, xsd};
use spareval::ExpressionTerm;

use super::compare::{SortKind, compare, sort_kind, text};
use super::execute::{Context, Out};
use super::plan::{Node, Scalar, SortKey};
use super::table::{Table, UNBOUND, Vars, has, number};
use crate::term::{View, view};

/// Sorted solutions that are passed on at once.
const BATCH: usize = 1 << 15;

/// A value that is sorted.
enum Value<'g> {
    Unbound,
    Blank(Cow<'g, str>),
    Iri(Cow<'g, str>),
    /// Text, datatype and language.
    Text(Cow<'g, str>, Cow<'g, str>, Option<Cow<'g, str>>),
    Other(ExpressionTerm),
}

impl Value<'_> {
    fn rank(&self) -> u8 {
        match self {
            Value::Unbound => 0,
            Value::Blank(_) => 1,
            Value::Iri(_) => 2,
            Value::Text(..) | Value::Other(_) => 3,
        }
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Value::Blank(left), Value::Blank(right)) | (Value::Iri(left), Value::Iri(right)) => left.cmp(right),
            (Value::Text(left, of, language), Value::Text(right, other, another)) => {
                left.cmp(right).then_with(|| of.cmp(other)).then_with(|| language.cmp(another))
            }
            // Values of one kind are comparable.
            (Value::Other(left), Value::Other(right)) => compare(left, right).unwrap_or(Ordering::Equal),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl Context<'_> {
    /// Passes on the solutions of `inner` in the order of some keys: the first `most` of them.
    ///
    /// # Errors
    /// If the evaluation is stopped, solutions do not fit into the budget, or their values are compared by rules that are not
    /// those of this module; errors of `out`.
    pub(super) fn order(
        &self,
        inner: &Node,
        keys: &[SortKey],
        most: usize,
        input: &Table,
        needed: Vars,
        out: &mut Out<'_>,
    ) -> Result<bool> {
        let of_keys = keys.iter().fold(0, |set, key| set | key.of.vars()) & inner.vars();
        let mut all = Table::empty((needed | of_keys) & inner.vars());
        let mut held = self.budget.reserve(0)?;
        self.run(inner, input, needed | of_keys, &mut |batch| {
            all.append(&batch.keep(needed | of_keys));
            self.hold(&mut held, all.bytes() + (4 * (keys.len() + 1) * all.rows) as u64, all.rows)?;
            Ok(true)
        })?;
        let mut sorted = Vec::with_capacity(keys.len());
        for key in keys {
            let column = match &key.of {
                Scalar::Var(var) => match all.column(*var) {
                    Some(column) => Cow::Borrowed(column),
                    None => continue,
                },
                other => Cow::Owned(self.scalar(other, &all)?),
            };
            sorted.push((self.values(&column, &mut held)?, key.descending));
        }
        let compare = |left: &u32, right: &u32| {
            for ((slots, values), descending) in &sorted {
                let (left, right) = (slots[*left as usize], slots[*right as usize]);
                if left != right {
                    let order = values[left as usize].compare(&values[right as usize]);
                    if order.is_ne() {
                        return if *descending { order.reverse() } else { order };
                    }
                }
            }
            // Solutions of equal keys stay in their order, so that an answer is the same in every run.
            left.cmp(right)
        };
        let mut rows: Vec<u32> = (0..all.rows).map(number).collect();
        if most < rows.len() {
            rows.select_nth_unstable_by(most, compare);
            rows.truncate(most);
        }
        rows.sort_unstable_by(compare);
        for part in rows.chunks(BATCH) {
            self.alive()?;
            let batch = all.take(part, needed);
            debug_assert!(batch.vars.iter().all(|var| has(needed, *var)));
            if !out(batch)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The different values of a column, and the place of each row's value among them.
    fn values(&self, column: &[u32], held: &mut isomorph::storage::Reservation) -> Result<(Vec<u32>, Vec<Value<'_>>)> {
        let (mut places, mut values, mut kind) = (HashMap::new(), Vec::new(), None);
        let mut slots = Vec::with_capacity(column.len());
        for term in column {
            let slot = match places.get(term) {
                Some(slot) => *slot,
                None => {
                    let (value, of) = self.sorted_value(*term)?;
                    if of != SortKind::Resource {
                        if kind.is_some_and(|kind| kind != of) {
                            return Err(self.refuse());
                        }
                        kind = Some(of);
                    }
                    values.push(value);
                    let slot = number(values.len() - 1);
                    places.insert(*term, slot);
                    slot
                }
            };
            slots.push(slot);
        }
        let bytes = held.bytes() + (values.len() * (size_of::<Value<'_>>() + 16)) as u64;
        self.hold(held, bytes, values.len())?;
        Ok((slots, values))
    }

    fn sorted_value(&self, number: u32) -> Result<(Value<'_>, SortKind)> {
        let borrowed = Cow::Borrowed;
        match self.graph.terms.key(number).filter(|_| number != UNBOUND).map(view) {
            _ if number == UNBOUND => return Ok((Value::Unbound, SortKind::Resource)),
            Some(View::Iri(iri)) => return Ok((Value::Iri(borrowed(iri)), SortKind::Resource)),
            Some(View::Blank(label)) => return Ok((Value::Blank(borrowed(label)), SortKind::Resource)),
            Some(View::Text(value)) => {
                let value = Value::Text(borrowed(value), borrowed(xsd::STRING.as_str()), None);
                return Ok((value, SortKind::Text));
            }
            Some(View::Language(language, value)) => {
                let value = Value::Text(borrowed(value), borrowed(rdf::LANG_STRING.as_str()), Some(borrowed(language)));
                return Ok((value, SortKind::Text));
            }
            _ => {}
        }
        let Some(term) = self.numbers.value(number)? else { return Ok((Value::Unbound, SortKind::Resource)) };
        let Some(kind) = sort_kind(&term) else { return Err(self.refuse()) };
        let owned = |text: &str| Cow::Owned(text.to_owned());
        let value = match &term {
            ExpressionTerm::NamedNode(iri) => Value::Iri(owned(iri.as_str())),
            ExpressionTerm::BlankNode(node) => Value::Blank(owned(node.as_str())),
            other => match text(other) {
                Some((value, datatype, language)) => Value::Text(owned(value), owned(datatype), language.map(owned)),
                None => Value::Other(term),
            },
        };
        Ok((value, kind))
    }
}
