//! Values of columns as numbers that have their order.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::DataType;
use datafusion::common::HashMap;
use isomorph::storage::Reservation;
use isomorph::{Error, Kind, Result};
use isomorph_cypher::JoinedEdges;

use crate::errors::internal;

/// Bytes of a text beside its letters, while texts get their numbers.
const TEXT_BYTES: u64 = 64;

/// The types of values that have numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Int,
    Text,
}

impl Type {
    pub fn of(data_type: &DataType) -> Option<Type> {
        match data_type {
            DataType::Int64 => Some(Type::Int),
            DataType::Utf8 => Some(Type::Text),
            _ => None,
        }
    }
}

/// A column as it is read.
#[derive(Debug)]
enum Read {
    Ints(Vec<i64>),
    /// Texts by the order in which they were first seen.
    Texts(Vec<u32>),
    /// All rows have one value: a table of one column is joined as if it had a second one that nothing else is compared with.
    Same(usize),
}

/// The columns of a table as they are read.
#[derive(Debug)]
pub(super) struct ReadTable {
    columns: [Read; 2],
    /// Rows of each column that have no value.
    nulls: [Vec<u32>; 2],
    /// Columns whose rows without a value are left out.
    required: [bool; 2],
}

/// Gives values their numbers.
pub(super) struct Numbering {
    texts: HashMap<Box<str>, u32>,
    memory: Reservation,
}

/// The values of numbers.
#[derive(Debug)]
pub(super) struct Numbers {
    ints: Ints,
    texts: StringArray,
    /// The number of the first text. The one before it is that of no integer.
    first_text: u32,
    /// One more than the greatest number, which is that of no text.
    pub count: u32,
}

#[derive(Debug)]
enum Ints {
    /// All from the first one on.
    Dense {
        first: i64,
        count: u32,
    },
    Sorted(Vec<i64>),
}

fn too_many() -> Error {
    Error::new(Kind::Unsupported, "tables with more than 4,294,967,295 values are not joined in memory")
}

impl Ints {
    fn len(&self) -> u32 {
        match self {
            Ints::Dense { count, .. } => *count,
            Ints::Sorted(all) => u32::try_from(all.len()).unwrap_or(u32::MAX),
        }
    }

    fn number(&self, value: i64) -> u32 {
        let at = match self {
            Ints::Dense { first, .. } => u32::try_from(value.wrapping_sub(*first)),
            Ints::Sorted(all) => u32::try_from(all.partition_point(|one| *one < value)),
        };
        at.unwrap_or(u32::MAX)
    }

    fn value(&self, number: u32) -> Option<i64> {
        match self {
            Ints::Dense { first, count } => (number < *count).then(|| first.wrapping_add(i64::from(number))),
            Ints::Sorted(all) => all.get(number as usize).copied(),
        }
    }
}

impl ReadTable {
    /// A table of columns of these types; of one, if there is no second. It has about so many rows.
    pub fn new(types: [Option<Type>; 2], required: [bool; 2], rows: usize) -> Self {
        let column = |one: Option<Type>| match one {
            Some(Type::Int) => Read::Ints(Vec::with_capacity(rows)),
            Some(Type::Text) => Read::Texts(Vec::with_capacity(rows)),
            None => Read::Same(0),
        };
        ReadTable { columns: types.map(column), nulls: [Vec::new(), Vec::new()], required }
    }
}

impl Numbering {
    pub fn new(memory: Reservation) -> Self {
        Numbering { texts: HashMap::default(), memory }
    }

    fn grow(&mut self, bytes: usize) -> Result<()> {
        self.memory.grow(bytes as u64).map_err(|error| error.hint("--memory"))
    }

    /// Adds the rows of a batch with the columns of the table.
    ///
    /// # Errors
    /// If memory is too small.
    pub fn add(&mut self, table: &mut ReadTable, batch: &RecordBatch) -> Result<()> {
        self.grow(16 * batch.num_rows())?;
        let is_left_out = |row: usize| {
            batch.columns().iter().zip(table.required).any(|(column, required)| required && column.is_null(row))
        };
        let all_stay =
            batch.columns().iter().zip(table.required).all(|(one, required)| !required || one.null_count() == 0);
        let rows: Vec<usize> = (0..batch.num_rows()).filter(|row| all_stay || !is_left_out(*row)).collect();
        for (at, column) in table.columns.iter_mut().enumerate() {
            let values = batch.columns().get(at);
            let unexpected = || internal("a column has another type than its table says");
            let first = match column {
                Read::Ints(ints) => {
                    let first = ints.len();
                    let values = values.and_then(|values| values.as_primitive_opt::<Int64Type>());
                    let values = values.ok_or_else(unexpected)?.values();
                    ints.extend(rows.iter().filter_map(|row| values.get(*row)));
                    first
                }
                Read::Texts(texts) => {
                    let first = texts.len();
                    let values = values.and_then(|values| values.as_string_opt::<i32>()).ok_or_else(unexpected)?;
                    for row in &rows {
                        texts.push(number_of(values.value(*row), &mut self.texts, &mut self.memory)?);
                    }
                    first
                }
                Read::Same(count) => {
                    *count += rows.len();
                    continue;
                }
            };
            if let (Some(values), Some(nulls)) = (values.filter(|one| one.null_count() > 0), table.nulls.get_mut(at)) {
                for (position, _) in rows.iter().enumerate().filter(|(_, row)| values.is_null(**row)) {
                    nulls.push(u32::try_from(first + position).map_err(|_| too_many())?);
                }
            }
        }
        Ok(())
    }

    /// The numbers of all values, and the edges of each table.
    ///
    /// # Errors
    /// If memory is too small, or there are more values than numbers.
    pub fn finish(mut self, tables: Vec<ReadTable>) -> Result<(Numbers, Vec<JoinedEdges>, Reservation)> {
        let ints = self.ints(&tables)?;
        // In the order of texts.
        let mut all: Vec<(Box<str>, u32)> = std::mem::take(&mut self.texts).into_iter().collect();
        all.sort_unstable();
        let mut ranks = vec![0; all.len()];
        for (rank, (_, seen)) in all.iter().enumerate() {
            if let Some(place) = ranks.get_mut(*seen as usize) {
                *place = u32::try_from(rank).map_err(|_| too_many())?;
            }
        }
        let bytes: usize = all.iter().map(|(text, _)| text.len() + 4).sum();
        if i32::try_from(bytes).is_err() {
            return Err(Error::unsupported("tables with more than 2 GiB of different texts are not joined in memory"));
        }
        self.grow(bytes)?;
        let texts = StringArray::from_iter_values(all.iter().map(|(text, _)| text));
        let before = all.iter().map(|(text, _)| TEXT_BYTES + text.len() as u64).sum();
        drop(all);
        self.memory.shrink(before);
        let first_text = ints.len().checked_add(1).ok_or_else(too_many)?;
        let count = u32::try_from(texts.len()).ok().and_then(|texts| first_text.checked_add(texts)?.checked_add(1));
        let count = count.ok_or_else(too_many)?;
        let numbers = Numbers { ints, texts, first_text, count };
        let mut edges = Vec::new();
        for ReadTable { columns, nulls, .. } in tables {
            let [left, right] = columns;
            let [left_nulls, right_nulls] = nulls;
            let left = numbers.column(left, &left_nulls, &ranks);
            // A column of integers has half of its size now.
            let right = numbers.column(right, &right_nulls, &ranks);
            self.memory.shrink(8 * left.len() as u64);
            edges.push(JoinedEdges { left, right });
        }
        Ok((numbers, edges, self.memory))
    }

    fn ints(&mut self, tables: &[ReadTable]) -> Result<Ints> {
        let columns = || {
            tables.iter().flat_map(|table| &table.columns).filter_map(|column| match column {
                Read::Ints(ints) => Some(ints),
                _ => None,
            })
        };
        let total: usize = columns().map(Vec::len).sum();
        let (Some(least), Some(most)) = (columns().flatten().copied().min(), columns().flatten().copied().max()) else {
            return Ok(Ints::Sorted(Vec::new()));
        };
        let span = most.checked_sub(least).and_then(|span| usize::try_from(span).ok()?.checked_add(1));
        if let Some(span) = span.filter(|span| *span <= 2 * total + 1024) {
            return Ok(Ints::Dense { first: least, count: u32::try_from(span).map_err(|_| too_many())? });
        }
        self.grow(8 * total)?;
        let mut all = Vec::with_capacity(total);
        columns().for_each(|column| all.extend_from_slice(column));
        all.sort_unstable();
        all.dedup();
        all.shrink_to_fit();
        self.memory.shrink(8 * (total - all.len()) as u64);
        if u32::try_from(all.len()).is_err() {
            return Err(too_many());
        }
        Ok(Ints::Sorted(all))
    }
}

/// The number of a text by the order in which they are seen.
fn number_of(text: &str, texts: &mut HashMap<Box<str>, u32>, memory: &mut Reservation) -> Result<u32> {
    if let Some(number) = texts.get(text) {
        return Ok(*number);
    }
    memory.grow(TEXT_BYTES + text.len() as u64).map_err(|error| error.hint("--memory"))?;
    let number = u32::try_from(texts.len()).map_err(|_| too_many())?;
    texts.insert(text.into(), number);
    Ok(number)
}

impl Numbers {
    /// The numbers of a column; `ranks` has those of texts.
    fn column(&self, column: Read, nulls: &[u32], ranks: &[u32]) -> Vec<u32> {
        let (mut numbers, null): (Vec<u32>, u32) = match column {
            Read::Ints(ints) => (ints.into_iter().map(|int| self.ints.number(int)).collect(), self.first_text - 1),
            Read::Texts(texts) => {
                let rank = |seen: u32| ranks.get(seen as usize).map_or(u32::MAX, |rank| self.first_text + rank);
                (texts.into_iter().map(rank).collect(), self.count - 1)
            }
            Read::Same(rows) => (vec![0; rows], 0),
        };
        for row in nulls {
            if let Some(place) = numbers.get_mut(*row as usize) {
                *place = null;
            }
        }
        numbers
    }

    /// The values of numbers.
    pub fn values(&self, of: Type, numbers: impl Iterator<Item = u32>) -> ArrayRef {
        match of {
            Type::Int => Arc::new(numbers.map(|number| self.ints.value(number)).collect::<Int64Array>()),
            Type::Text => {
                let value = |number: u32| {
                    let at = number.checked_sub(self.first_text)? as usize;
                    (at < self.texts.len()).then(|| self.texts.value(at))
                };
                Arc::new(numbers.map(value).collect::<StringArray>())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_schema::{Field, Schema};
    use isomorph::storage::Budget;

    use super::*;

    fn table(ints: &[Option<i64>], texts: &[Option<&str>]) -> RecordBatch {
        let schema =
            Schema::new(vec![Field::new("int", DataType::Int64, true), Field::new("text", DataType::Utf8, true)]);
        let columns: Vec<ArrayRef> =
            vec![Arc::new(Int64Array::from(ints.to_vec())), Arc::new(StringArray::from(texts.to_vec()))];
        RecordBatch::try_new(Arc::new(schema), columns).unwrap()
    }

    #[test]
    fn numbers_have_the_order_of_values() {
        let cases: [&[Option<i64>]; 3] = [
            &[Some(5), Some(3), None, Some(7)],
            &[Some(i64::MAX), Some(i64::MIN), Some(0), Some(i64::MIN)],
            &[None, None, None, None],
        ];
        for ints in cases {
            let texts = [Some("b"), None, Some(""), Some("ä")];
            let mut numbering = Numbering::new(Budget::new(1 << 20).reserve(0).unwrap());
            let types = [Some(Type::Int), Some(Type::Text)];
            let mut read = ReadTable::new(types, [false, false], 3);
            numbering.add(&mut read, &table(ints, &texts)).unwrap();
            numbering.add(&mut read, &table(ints, &texts)).unwrap();
            let (numbers, edges, _) = numbering.finish(vec![read]).unwrap();
            let JoinedEdges { left, right } = &edges[0];
            assert!(left.iter().chain(right).all(|number| *number < numbers.count));
            for (left, right) in [(0, 1), (1, 3), (3, 0), (2, 3)] {
                if let (Some(one), Some(other)) = (ints[left], ints[right]) {
                    assert_eq!(edges[0].left[left].cmp(&edges[0].left[right]), one.cmp(&other));
                }
                if let (Some(one), Some(other)) = (texts[left], texts[right]) {
                    assert_eq!(edges[0].right[left].cmp(&edges[0].right[right]), one.cmp(other));
                }
            }
            let twice = table(&[ints, ints].concat(), &[texts, texts].concat());
            assert_eq!(&numbers.values(Type::Int, left.iter().copied()), twice.column(0));
            assert_eq!(&numbers.values(Type::Text, right.iter().copied()), twice.column(1));
        }
    }

    #[test]
    fn rows_without_a_required_value_are_left_out() {
        let mut numbering = Numbering::new(Budget::new(1 << 20).reserve(0).unwrap());
        let mut read = ReadTable::new([Some(Type::Int), Some(Type::Text)], [true, false], 0);
        let batch = table(&[Some(1), None, Some(3)], &[None, Some("x"), Some("y")]);
        numbering.add(&mut read, &batch).unwrap();
        let (numbers, edges, _) = numbering.finish(vec![read]).unwrap();
        let left = numbers.values(Type::Int, edges[0].left.iter().copied());
        assert_eq!(left.as_primitive::<Int64Type>(), &Int64Array::from(vec![1, 3]));
        let right = numbers.values(Type::Text, edges[0].right.iter().copied());
        assert_eq!(right.as_string::<i32>(), &StringArray::from(vec![None, Some("y")]));
    }

    #[test]
    fn too_small_a_budget_is_an_error() {
        let mut numbering = Numbering::new(Budget::new(40).reserve(0).unwrap());
        let mut read = ReadTable::new([Some(Type::Int), Some(Type::Text)], [true, true], 0);
        let error = numbering.add(&mut read, &table(&[Some(1)], &[Some("x")])).unwrap_err();
        assert_eq!(error.kind(), Kind::TooLarge);
    }
}
