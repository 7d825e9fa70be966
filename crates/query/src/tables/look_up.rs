//! When rows are found by their keys instead of read.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, StringArray, UInt64Array};
use arrow_schema::DataType;
use isomorph::dataset::{Dataset, Role};
use isomorph::model::{Comparison, Literal, Set, Way};
use isomorph::{Predicate, Result};

use crate::tables::columns::Column;
use crate::tables::filter::is_looked_up;

/// A look-up that a condition allows, and what of the condition is left.
pub(crate) struct LookUp {
    pub column: String,
    pub keys: ArrayRef,
    pub rest: Option<Predicate>,
}

/// The values that one condition lets a column have.
enum Wanted {
    Ints(Vec<i128>),
    Texts(StringArray),
}

impl Wanted {
    fn len(&self) -> usize {
        match self {
            Wanted::Ints(ints) => ints.len(),
            Wanted::Texts(texts) => arrow_array::Array::len(texts),
        }
    }

    /// These and others, each once.
    fn with(self, more: Wanted) -> Option<Wanted> {
        match (self, more) {
            (Wanted::Ints(mut ints), Wanted::Ints(others)) => {
                ints.extend(others);
                ints.sort_unstable();
                ints.dedup();
                Some(Wanted::Ints(ints))
            }
            (Wanted::Texts(texts), Wanted::Texts(others)) => {
                let mut all: Vec<&str> = texts.iter().chain(others.iter()).flatten().collect();
                all.sort_unstable();
                all.dedup();
                Some(Wanted::Texts(StringArray::from_iter_values(all)))
            }
            _ => None,
        }
    }

    /// The values as keys of the column's type; those that no key of this type has are left out.
    fn keys(self, data_type: &DataType) -> ArrayRef {
        match self {
            Wanted::Texts(texts) => Arc::new(texts),
            Wanted::Ints(ints) if data_type.is_unsigned_integer() => {
                Arc::new(UInt64Array::from_iter_values(ints.into_iter().filter_map(|int| u64::try_from(int).ok())))
            }
            Wanted::Ints(ints) => {
                Arc::new(Int64Array::from_iter_values(ints.into_iter().filter_map(|int| i64::try_from(int).ok())))
            }
        }
    }
}

/// Chooses the look-up that reads least, if that is less than half of the table of `rows` rows; of how many rows have one key, `per_key` is the average of a column.
///
/// # Errors
/// If the table is not known.
pub(crate) fn choose(
    dataset: &Dataset,
    table: &str,
    columns: &[Column],
    rows: Option<u64>,
    per_key: &dyn Fn(&Column) -> u64,
    condition: &Predicate,
) -> Result<Option<LookUp>> {
    let conditions = flat(condition);
    let mut best: Option<(u64, usize)> = None;
    for (at, one) in conditions.iter().enumerate() {
        let Some((column, wanted)) = wanted(one, columns) else { continue };
        let cost = dataset.look_up_cost(table, &column.stored)?;
        let (Way::Index | Way::Sorted, Some(before)) = (cost.way, cost.rows) else { continue };
        // A row that is found costs more than a row that is passed by.
        let found = (wanted.len() as u64).saturating_mul(per_key(column)).saturating_mul(4);
        let reads = before.saturating_add(found);
        let pays = rows.is_none_or(|rows| reads.saturating_mul(2) <= rows);
        if pays && best.is_none_or(|(least, _)| reads < least) {
            best = Some((reads, at));
        }
    }
    let Some((_, at)) = best else { return Ok(None) };
    let Some((column, wanted)) = conditions.get(at).and_then(|one| self::wanted(one, columns)) else { return Ok(None) };
    let mut rest: Vec<Predicate> =
        conditions.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, one)| (*one).clone()).collect();
    let rest = if rest.len() < 2 { rest.pop() } else { Some(Predicate::And(rest)) };
    Ok(Some(LookUp { column: column.stored.clone(), keys: wanted.keys(&column.data_type), rest }))
}

/// The conditions that must all be true.
fn flat(condition: &Predicate) -> Vec<&Predicate> {
    match condition {
        Predicate::And(all) => all.iter().flat_map(flat).collect(),
        other => vec![other],
    }
}

fn wanted<'c>(condition: &Predicate, columns: &'c [Column]) -> Option<(&'c Column, Wanted)> {
    let find = |name: &str| columns.iter().find(|column| column.stored == name && is_looked_up(column.role));
    match condition {
        Predicate::Compare { column, comparison: Comparison::Equal, literal } => {
            let column = find(column)?;
            match literal {
                Literal::Int(int) if column.data_type.is_integer() => Some((column, Wanted::Ints(vec![*int]))),
                Literal::Text(text) if matches!(column.data_type, DataType::Utf8 | DataType::LargeUtf8) => {
                    Some((column, Wanted::Texts(StringArray::from_iter_values([text]))))
                }
                _ => None,
            }
        }
        Predicate::In { column, set } => Some((find(column)?, of_set(set)?)),
        // The engine writes short lists as equalities.
        Predicate::Or(any) => {
            let mut all = any.iter().map(|one| wanted(one, columns));
            let (column, mut values) = all.next()??;
            for one in all {
                let (other, more) = one?;
                if other.stored != column.stored {
                    return None;
                }
                values = values.with(more)?;
            }
            Some((column, values))
        }
        _ => None,
    }
}

fn of_set(set: &Set) -> Option<Wanted> {
    match (set.ints(), set.texts()) {
        (Some(ints), _) => Some(Wanted::Ints(ints.to_vec())),
        (_, Some(texts)) => Some(Wanted::Texts(texts.clone())),
        _ => None,
    }
}

/// The roles of ends.
pub(crate) fn is_end(role: Role) -> bool {
    matches!(role, Role::Source | Role::Target)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_array::Array;

    use super::*;
    use crate::tables::columns::Compares;

    #[test]
    fn equalities_joined_by_or_are_keys() {
        let column = |name: &str, role, data_type| Column {
            stored: name.to_owned(),
            role,
            compares: Compares::Fully,
            data_type,
        };
        let columns =
            [column("source", Role::Source, DataType::Int64), column("target", Role::Target, DataType::UInt64)];
        let equal = |name: &str, int: i64| Predicate::equal(name, int);
        let any = |all: Vec<Predicate>| Predicate::Or(all);
        let keys = |predicate: &Predicate| {
            wanted(predicate, &columns).map(|(column, wanted)| (column.stored.clone(), wanted.keys(&column.data_type)))
        };
        let three = any(vec![any(vec![equal("source", 7), equal("source", 3)]), equal("source", 7)]);
        let (name, found) = keys(&three).unwrap();
        assert_eq!((name.as_str(), found.as_ref()), ("source", &Int64Array::from(vec![3, 7]) as &dyn Array));
        assert!(keys(&any(vec![equal("source", 7), equal("target", 7)])).is_none());
        assert!(keys(&any(vec![equal("source", 7), Predicate::IsNull("source".to_owned())])).is_none());
        assert!(keys(&any(Vec::new())).is_none());
        // No unsigned key is negative.
        assert_eq!(keys(&any(vec![equal("target", -1), equal("target", 2)])).unwrap().1.len(), 1);
    }
}
