//! Rows in canonical spelling, in which equal rows are equal lines.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayAccessor, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, StringViewArray,
};
use arrow_buffer::BooleanBuffer;
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use isomorph_error::{Error, Result};
use isomorph_model::json::{Members, Value, items, push_string, value};

use super::CompareOptions;
use super::spelling::Spelling;
use crate::Nock;
use crate::columns::{Column, ColumnSet};
use crate::layout::{Extra, Layout};
use crate::rows::{Rows, Shape, split_labels};
use crate::text::{LineSorter, Sorted, lines};

/// The common columns of two files, and how one of the files is read for them.
pub(crate) struct Canonical {
    schema: SchemaRef,
    shape: Shape,
    /// The spelling of each further column.
    spellings: Vec<Spelling>,
    edge_ids: bool,
}

fn failed(error: &ArrowError) -> Error {
    Error::malformed(format!("rows cannot be compared: {error}"))
}

impl Canonical {
    /// Determines the common columns of two files, for reading `own`.
    ///
    /// # Errors
    /// Returns an error if further columns of the same name have incompatible types and are not compared as text.
    pub fn of(own: &Nock, other: &Nock, options: &CompareOptions) -> Result<Self> {
        let (mut shape, spellings) = if options.as_text { as_text(own, other) } else { together(own, other)? };
        shape.truth = if options.narrow_truth { DataType::Float32 } else { DataType::Float64 };
        let nine = Column::ALL.into_iter().map(|column| {
            let data_type = match column {
                Column::EdgeId | Column::Shadow => DataType::Int64,
                Column::Truth => DataType::Float64,
                Column::IsRdf => DataType::Boolean,
                _ => DataType::Utf8,
            };
            Field::new(column.name(), data_type, true)
        });
        let extras = shape.extras.iter().map(|extra| Field::new(&extra.name, DataType::Utf8, true));
        let schema = Arc::new(Schema::new(nine.chain(extras).collect::<Vec<_>>()));
        Ok(Canonical { schema, shape, spellings, edge_ids: options.edge_ids })
    }

    /// Returns all rows of a file as sorted lines.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn sorted(&self, nock: &Nock, options: &CompareOptions) -> Result<Sorted> {
        let mut sorter = LineSorter::new(&options.budget, options.scratch.clone())?;
        let wanted = nock.wanted(ColumnSet::ALL, true);
        let wanted = crate::dataset::Wanted { shape: &self.shape, stated_ids: self.edge_ids, ..wanted };
        for (index, piece) in nock.pieces.iter().enumerate() {
            for rows in nock.partition_of(index)?.read(piece, None, &wanted)? {
                let rows = rows?;
                let batch = self.batch(&rows)?;
                let ids = batch.column(Column::EdgeId as usize).as_primitive::<arrow_array::types::Int64Type>();
                for (row, line) in lines(&batch)?.iter().enumerate() {
                    sorter.push(rows.names.value(row).as_bytes(), ids.value(row), line)?;
                }
            }
        }
        sorter.finish()
    }

    /// Converts rows to these columns: the nine, then the further ones as text.
    ///
    /// # Errors
    /// Returns an error if a value has no text form.
    pub fn batch(&self, rows: &Rows) -> Result<RecordBatch> {
        let len = rows.len;
        let is_node = |row: usize| rows.edge_ids.value(row) < 0;
        let words = |words: &Option<crate::rows::Words>| -> Result<Option<StringArray>> {
            let texts = words.as_ref().map(|words| cast(words, &DataType::Utf8));
            Ok(texts.transpose()?.map(|texts| texts.as_string().clone()))
        };
        let ids = (0..len).map(|row| match rows.edge_ids.value(row) {
            node if node < 0 => -1,
            edge if self.edge_ids => edge,
            _ => 0,
        });
        let shadow = rows.shadow.as_ref();
        let owners = (0..len).map(|row| {
            let owner = shadow.filter(|shadow| is_node(row) && shadow.is_valid(row)).map(|shadow| shadow.value(row));
            owner.filter(|&owner| owner >= 0).unwrap_or(-1)
        });
        let truth = rows.truth.clone().unwrap_or_else(|| Arc::new(Float64Array::from(vec![1.0; len])));
        let is_rdf: ArrayRef = match &rows.is_rdf {
            Some(flags) => Arc::new(flags.clone()),
            None => Arc::new(BooleanArray::new(BooleanBuffer::new_unset(len), None)),
        };
        let truth = cast(&truth, &DataType::Float64)?;
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(StringArray::from_iter_values(rows.names.iter().flatten())),
            Arc::new(Int64Array::from_iter_values(ids)),
            only(rows, words(&rows.rels)?.as_ref(), false),
            only(rows, rows.dsts.as_ref(), false),
            truth,
            Arc::new(Int64Array::from_iter_values(owners)),
            is_rdf,
            only(rows, words(&rows.labels)?.as_ref().map(sorted_labels).as_ref(), true),
            Arc::new(sorted_props(rows.props.as_ref(), len)),
        ];
        for (extra, spelling) in rows.extras.iter().zip(&self.spellings) {
            columns.push(match extra {
                Some(extra) => spelling.texts(extra)?,
                None => spelling.nothing(len),
            });
        }
        RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(|error| failed(&error))
    }
}

/// Returns the further columns in the common types of both files.
fn together(own: &Nock, other: &Nock) -> Result<(Shape, Vec<Spelling>)> {
    let kept = |name: &str| [own, other].iter().any(|nock| nock.shape.extras.iter().any(|extra| extra.name == name));
    let partitions = own.partitions.iter().chain(&other.partitions);
    let mut layouts: Vec<Layout> = partitions.map(|partition| partition.layout.clone()).collect();
    for layout in &mut layouts {
        layout.extras.retain(|extra| kept(&extra.name));
        layout.nested.iter_mut().for_each(|edges| edges.extras.retain(|extra| kept(&extra.name)));
    }
    let shape = Shape::of(layouts.iter())?;
    let spellings = vec![Spelling::Own; shape.extras.len()];
    Ok((shape, spellings))
}

/// Returns the further columns of both files, with the types of `own`, and the spelling of their text.
fn as_text(own: &Nock, other: &Nock) -> (Shape, Vec<Spelling>) {
    let mut extras = own.shape.extras.clone();
    let of = |extras: &[Extra], name: &str| extras.iter().find(|extra| extra.name == name).map(|e| e.data_type.clone());
    let missing = other.shape.extras.iter().filter(|extra| of(&own.shape.extras, &extra.name).is_none());
    extras.extend(missing.cloned());
    extras.sort_by(|left, right| left.name.cmp(&right.name));
    let typed = |extra: &Extra| match of(&other.shape.extras, &extra.name) {
        Some(theirs) if extra.data_type == DataType::Utf8 => Spelling::of(&theirs),
        _ => Spelling::of(&extra.data_type),
    };
    let spellings = extras.iter().map(typed).collect();
    (Shape { truth: own.shape.truth.clone(), extras }, spellings)
}

/// Converts a column to another type. A value that cannot be converted is an error, because null is compared as null.
fn cast(column: &dyn Array, to: &DataType) -> Result<ArrayRef> {
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(column, to, &strict).map_err(|error| failed(&error))
}

/// Returns the cells of node rows, or of edge rows; empty on the other rows and if there is no column.
fn only<'a>(rows: &Rows, cells: Option<impl ArrayAccessor<Item = &'a str>>, on_nodes: bool) -> ArrayRef {
    let cell = |row: usize| cells.as_ref().filter(|cells| cells.is_valid(row)).map_or("", |cells| cells.value(row));
    let kept = (0..rows.len).map(|row| if (rows.edge_ids.value(row) < 0) == on_nodes { cell(row) } else { "" });
    Arc::new(StringArray::from_iter_values(kept))
}

/// Sorts labels and removes repeated ones.
fn sorted_labels(texts: &StringArray) -> StringArray {
    let sorted = |text: &str| {
        let mut labels: Vec<&str> = split_labels(text).collect();
        labels.sort_unstable();
        labels.dedup();
        labels.join(",")
    };
    texts.iter().map(|text| text.map(sorted)).collect()
}

/// Returns props with sorted keys and no spaces. A text that is not an object is unchanged.
fn sorted_props(props: Option<&StringViewArray>, len: usize) -> StringArray {
    let mut out = StringBuilder::with_capacity(len, 0);
    let mut members = Members::default();
    for row in 0..len {
        let text = props.filter(|props| props.is_valid(row)).map_or("", |props| props.value(row));
        out.append_value(sorted_object(text, &mut members).unwrap_or_else(|_| text.to_owned()));
    }
    out.finish()
}

fn sorted_object(text: &str, members: &mut Members) -> Result<String> {
    let mut stated: Vec<(String, String)> = Vec::new();
    members.read(text, |name, raw| {
        let mut compact = String::new();
        push_compact(raw, &mut compact)?;
        stated.push((name.to_owned(), compact));
        Ok(())
    })?;
    stated.sort_unstable();
    let mut out = String::new();
    for (name, raw) in &stated {
        out.push(if out.is_empty() { '{' } else { ',' });
        push_string(&mut out, name);
        out.push(':');
        out.push_str(raw);
    }
    if !out.is_empty() {
        out.push('}');
    }
    Ok(out)
}

/// Appends a JSON value without spaces, strings in one spelling.
pub(super) fn push_compact(raw: &str, out: &mut String) -> Result<()> {
    match value(raw)? {
        Value::Text(text) => push_string(out, &text),
        Value::Array(array) => {
            out.push('[');
            let mut first = true;
            items(array, |item| {
                if !std::mem::take(&mut first) {
                    out.push(',');
                }
                push_compact(item, out)
            })?;
            out.push(']');
        }
        Value::Object(object) => {
            out.push('{');
            let mut first = true;
            Members::default().read(object, |name, member| {
                if !std::mem::take(&mut first) {
                    out.push(',');
                }
                push_string(out, name);
                out.push(':');
                push_compact(member, out)
            })?;
            out.push('}');
        }
        _ => out.push_str(raw.trim()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn spelling_and_order_of_props_mean_nothing() {
        let mut members = Members::default();
        let one = sorted_object(r#"{ "b" : [1, {"x":"\u00e9"}], "a": 1.50 }"#, &mut members).unwrap();
        assert_eq!(one, r#"{"a":1.50,"b":[1,{"x":"é"}]}"#);
        assert_eq!(sorted_object("null", &mut members).unwrap(), "");
        assert_eq!(sorted_object("{}", &mut members).unwrap(), "");
        assert!(sorted_object("[1]", &mut members).is_err());
        let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert!(sorted_object(&deep, &mut members).is_err(), "too deep to be parsed");
    }

    #[test]
    fn labels_are_a_set() {
        let sorted = sorted_labels(&StringArray::from(vec![Some("B,A,,B"), None]));
        assert_eq!(sorted.value(0), "A,B");
        assert!(sorted.is_null(1));
    }
}
