//! Comparisons of one column with several values, as a look-up in a set of them.

use arrow_array::StringArray;
use arrow_schema::{DataType, Schema};

use super::bind::{value, value_type};
use super::{Comparison, Predicate, Set, Value};

/// The texts of a set are one array, which cannot be larger.
const BYTES: usize = 1 << 30;

/// A column that may equal one of several values.
struct Candidate<'a> {
    column: &'a str,
    values: Vec<Value>,
    comparisons: Vec<&'a Predicate>,
}

impl Predicate {
    /// Returns the same condition with a set for each column of integers or text in `schema` that may equal one of several values
    /// (`in`, or `=` with `or` between): each row is then looked at once, however many values there are, and formats find the rows as they
    /// find those of a look-up. Whatever does not fit the schema is left as it is.
    pub fn with_sets(&self, schema: &Schema) -> Predicate {
        match self {
            Predicate::And(all) => Predicate::And(all.iter().map(|one| one.with_sets(schema)).collect()),
            Predicate::Or(any) => any_of(any, schema),
            Predicate::Not(one) => Predicate::Not(Box::new(one.with_sets(schema))),
            other => other.clone(),
        }
    }
}

fn any_of(any: &[Predicate], schema: &Schema) -> Predicate {
    let mut candidates: Vec<Candidate<'_>> = Vec::new();
    let mut all = Vec::new();
    for one in any {
        let Some((column, value)) = equal_to(one, schema) else {
            all.push(one.with_sets(schema));
            continue;
        };
        match candidates.iter_mut().find(|candidate| candidate.column == column) {
            Some(candidate) => {
                candidate.values.push(value);
                candidate.comparisons.push(one);
            }
            None => candidates.push(Candidate { column, values: vec![value], comparisons: vec![one] }),
        }
    }
    for candidate in candidates {
        match candidate.set().filter(|_| candidate.values.len() > 1) {
            Some(set) => all.push(Predicate::In { column: candidate.column.to_owned(), set }),
            None => all.extend(candidate.comparisons.into_iter().cloned()),
        }
    }
    match all.pop() {
        Some(only) if all.is_empty() => only,
        last => {
            all.extend(last);
            Predicate::Or(all)
        }
    }
}

/// The column of integers or text that a comparison is true of if it has this value.
fn equal_to<'a>(comparison: &'a Predicate, schema: &Schema) -> Option<(&'a str, Value)> {
    let Predicate::Compare { column, comparison: Comparison::Equal, literal } = comparison else { return None };
    let data_type = value_type(schema.field_with_name(column).ok()?.data_type());
    let is_text = matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let value = value(data_type, literal).ok()?;
    let fits = match &value {
        Value::Int(_) => data_type.is_integer(),
        Value::Bytes(bytes) => is_text && std::str::from_utf8(bytes).is_ok(),
        Value::Float(_) | Value::Decimal(_) => false,
    };
    fits.then_some((column, value))
}

impl Candidate<'_> {
    /// The values, which are all integers or all text because they are those of one column.
    fn set(&self) -> Option<Set> {
        let integer = |value: &Value| if let Value::Int(integer) = value { Some(*integer) } else { None };
        fn text(value: &Value) -> Option<&str> {
            if let Value::Bytes(bytes) = value { std::str::from_utf8(bytes).ok() } else { None }
        }
        if let Some(integers) = self.values.iter().map(integer).collect::<Option<Vec<i128>>>() {
            return Some(Set::of_ints(integers));
        }
        let texts = self.values.iter().map(text).collect::<Option<Vec<&str>>>()?;
        let is_small = texts.iter().map(|text| text.len()).sum::<usize>() < BYTES;
        Set::of(&StringArray::from_iter_values(texts.into_iter().filter(|_| is_small))).ok().filter(|_| is_small)
    }
}
