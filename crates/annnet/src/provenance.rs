//! Conversions in the history of a graph: rows that isomorph writes next to the operations of the published library.
//!
//! They are not content: converting a graph does not change it. A conversion is a row with a value in a column that
//! only isomorph fills, and neither the row nor the column is part of the document `history`.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, new_null_array};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::concat::concat_batches;
use arrow_select::filter::filter_record_batch;
use isomorph_error::{Error, Place, Result};
use isomorph_model::json::{Value, push_string, value};

use crate::layout::file;
use crate::read::json;

/// The column that marks a conversion: a JSON object.
pub(crate) const COLUMN: &str = "isomorph_conversion";
/// Key in the metadata of a description: a JSON array of conversions.
pub(crate) const METADATA: &str = "annnet.conversions";
/// Value of `op` for a conversion.
const OPERATION: &str = "isomorph.convert";
/// Columns of the history of a graph that had no history before.
const COLUMNS: [(&str, DataType); 3] =
    [("op", DataType::Utf8), ("ts_utc", DataType::Utf8), ("version", DataType::Int64)];

/// The source of a conversion. A conversion to annnet records it in history and provenance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversion {
    /// Name of the source, without its directories, which are private to the writer.
    pub from: String,
    /// Format of the source.
    pub format: String,
    /// The original format, if the sidecar of the source says that the graph came from another format.
    pub of: Option<String>,
}

impl Conversion {
    /// Returns the record of the conversion by `writer` at `time`, as a JSON object.
    pub(crate) fn to_json(&self, writer: &str, time: &str, version: &str) -> String {
        let mut out = String::from("{");
        let texts = [("from", Some(&self.from)), ("format", Some(&self.format)), ("of", self.of.as_ref())];
        let given = texts.into_iter().filter_map(|(name, text)| text.map(|text| (name, text.as_str())));
        // A path such as `.` has no file name.
        let given = given.filter(|(_, text)| !text.is_empty());
        for (name, text) in given.chain([("by", writer), ("ts_utc", time)]) {
            push_string(&mut out, name);
            out.push_str(": ");
            push_string(&mut out, text);
            out.push_str(", ");
        }
        out.push_str("\"version\": ");
        out.push_str(version);
        out.push('}');
        out
    }
}

/// Returns a history with `conversions` (JSON objects) appended.
///
/// # Errors
/// Returns an error if the history already has a column of that name, or a conversion is not a JSON object.
pub(crate) fn with(history: Option<&RecordBatch>, conversions: &[String]) -> Result<RecordBatch> {
    let rows = conversions.len();
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(conversions));
    let fields: Vec<Field> = match history {
        Some(history) => {
            history.schema().fields().iter().map(|field| field.as_ref().clone().with_nullable(true)).collect()
        }
        None => COLUMNS.map(|(name, data_type)| Field::new(name, data_type, true)).to_vec(),
    };
    if fields.iter().any(|field| field.name() == COLUMN) {
        return Err(Error::usage(format!("the history already has a column {COLUMN}")).at(Place::file(file::HISTORY)));
    }
    let mut versions = Vec::with_capacity(rows);
    let mut times = Vec::with_capacity(rows);
    for text in conversions {
        let (mut version, mut time) = (None, None);
        json::members(text, file::HISTORY, |name, own| {
            match (name, value(own)) {
                ("version", Ok(Value::Integer(number))) => version = i64::try_from(number).ok(),
                ("ts_utc", Ok(Value::Text(text))) => time = Some(text.into_owned()),
                _ => {}
            }
            Ok(())
        })?;
        versions.push(version);
        times.push(time);
    }
    // Only existing columns are filled: an additional one would become part of the document.
    let column = |field: &Field| -> ArrayRef {
        match (field.name().as_str(), field.data_type()) {
            ("op", DataType::Utf8) => Arc::new(StringArray::from_iter_values(std::iter::repeat_n(OPERATION, rows))),
            ("ts_utc", DataType::Utf8) => Arc::new(StringArray::from_iter(times.iter().map(Option::as_deref))),
            ("version", DataType::Int64) => Arc::new(Int64Array::from(versions.clone())),
            (_, other) => new_null_array(other, rows),
        }
    };
    let mut columns: Vec<ArrayRef> = fields.iter().map(column).collect();
    columns.push(texts);
    let fields: Vec<Field> = fields.into_iter().chain([Field::new(COLUMN, DataType::Utf8, true)]).collect();
    let schema = Arc::new(Schema::new(fields));
    let own = RecordBatch::try_new(Arc::clone(&schema), columns).map_err(broken)?;
    let Some(history) = history else { return Ok(own) };
    let mut columns = history.columns().to_vec();
    columns.push(new_null_array(&DataType::Utf8, history.num_rows()));
    let before = RecordBatch::try_new(Arc::clone(&schema), columns).map_err(broken)?;
    concat_batches(&schema, [&before, &own]).map_err(broken)
}

/// Returns a history without its conversions, and the conversions. The history is `None` if it contains only
/// conversions and has only the columns that isomorph writes: then the graph had no history before.
///
/// # Errors
/// Returns an error if a conversion is not a JSON object, or there is not enough memory.
pub(crate) fn without(history: RecordBatch) -> Result<(Option<RecordBatch>, Vec<String>)> {
    let Ok(at) = history.schema().index_of(COLUMN) else { return Ok((Some(history), Vec::new())) };
    let Some(texts) = history.column(at).as_string_opt::<i32>() else { return Ok((Some(history), Vec::new())) };
    let mut conversions = Vec::new();
    for (row, text) in texts.iter().enumerate().filter_map(|(row, text)| Some((row, text?))) {
        json::members(text, file::HISTORY, |_, _| Ok(()))
            .map_err(|error| error.at(Place::file(file::HISTORY).row(row as u64).in_field(COLUMN)))?;
        conversions.push(text.to_owned());
    }
    let others = BooleanArray::from_iter(texts.iter().map(|text| Some(text.is_none())));
    let rest: Vec<usize> = (0..history.num_columns()).filter(|column| *column != at).collect();
    let kept = filter_record_batch(&history, &others).and_then(|kept| kept.project(&rest)).map_err(broken)?;
    let schema = kept.schema();
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let had_none = kept.num_rows() == 0 && names == COLUMNS.map(|(name, _)| name);
    Ok(((!had_none).then_some(kept), conversions))
}

/// Returns conversions as text for the metadata.
pub(crate) fn to_metadata(conversions: &[String]) -> String {
    format!("[{}]", conversions.join(", "))
}

/// Parses conversions from the metadata.
///
/// # Errors
/// Returns an error if it is not a JSON array.
pub(crate) fn of_metadata(text: &str) -> Result<Vec<String>> {
    let mut all = Vec::new();
    json::items(text, file::HISTORY, |item| {
        all.push(item.trim().to_owned());
        Ok(())
    })?;
    Ok(all)
}

fn broken(error: arrow_schema::ArrowError) -> Error {
    Error::malformed(error.to_string()).at(Place::file(file::HISTORY)).caused_by(error)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn conversion(from: &str) -> String {
        let conversion = Conversion { from: from.to_owned(), format: "nock".to_owned(), of: None };
        conversion.to_json("isomorph 1", "2026-01-01T00:00:00Z", "7")
    }

    #[test]
    fn a_history_is_the_same_with_and_without_conversions() {
        let column: ArrayRef = Arc::new(StringArray::from(vec![Some("add"), None]));
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
        let history = RecordBatch::try_from_iter([("op", column), ("version", numbers)]).unwrap();
        let all = [conversion("a"), conversion("b")];
        let written = with(Some(&history), &all).unwrap();
        assert_eq!(written.num_rows(), 4);
        assert_eq!(written.column(0).as_string::<i32>().value(3), OPERATION);
        let (back, found) = without(written).unwrap();
        let back = back.unwrap();
        assert_eq!((back.columns(), found.as_slice()), (history.columns(), all.as_slice()));
    }

    #[test]
    fn a_graph_without_a_history_has_none_afterwards() {
        let written = with(None, &[conversion("a")]).unwrap();
        let (back, found) = without(written).unwrap();
        assert!(back.is_none() && found.len() == 1);
    }

    #[test]
    fn an_empty_history_stays_one() {
        let column: ArrayRef = Arc::new(StringArray::new_null(0));
        let history = RecordBatch::try_from_iter_with_nullable([("op", column, true)]).unwrap();
        let (back, _) = without(with(Some(&history), &[conversion("a")]).unwrap()).unwrap();
        assert_eq!(back.unwrap().num_columns(), 1);
    }

    #[test]
    fn a_conversion_that_is_no_object_is_named() {
        let texts: ArrayRef = Arc::new(StringArray::from(vec![None, Some("{\"from\": \"a")]));
        let error = without(RecordBatch::try_from_iter([(COLUMN, texts)]).unwrap()).unwrap_err();
        assert!(error.to_string().contains("JSON"), "{error}");
    }

    #[test]
    fn conversions_travel_as_json() {
        let all = vec![conversion("a \"b\""), conversion("c")];
        assert_eq!(of_metadata(&to_metadata(&all)).unwrap(), all);
    }
}
