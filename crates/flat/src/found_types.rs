//! Types of columns that nobody declares: what was found in the cells, and what their roles want.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_schema::DataType;
use isomorph_error::{Findings, Place};
use isomorph_model::ValueKind;
use isomorph_model::json::{Value, value};
use isomorph_storage::Blob;
use isomorph_tables::Encoding;

use crate::rules;
use crate::sql::{ColumnType, ExternalTable, Hints};
use crate::survey::OddCell;
use crate::table::{Stored, Table, TableColumn};
use crate::whole_floats::settle_keys;

/// Gives the columns of a text, with the types that were found, those that hints say, that keys are, and that other tables decide.
pub(crate) fn settle(
    columns: &mut [TableColumn],
    declared: &ExternalTable,
    known: &HashMap<String, DataType>,
    keys: &[String],
    whole: &[String],
) {
    let found: Vec<(String, ColumnType)> = columns.iter().map(|own| (own.name.clone(), own.ty.clone())).collect();
    for column in columns.iter_mut() {
        if let Some((_, data_type)) = declared.hints.cells.iter().find(|(name, _)| *name == column.name) {
            column.ty = ColumnType::plain(data_type.clone());
        }
    }
    settle_keys(columns, keys, whole);
    for column in columns.iter_mut() {
        let is_key = keys.contains(&column.name);
        if is_key && !column.ty.data_type.is_integer() {
            column.ty = ColumnType::plain(DataType::Utf8);
        }
        if let Some(key) = known.get(&column.name) {
            // What does not look like an integer, `01`, is not the key 1.
            let is_float = key.is_integer() && column.ty.data_type == DataType::Float64;
            let is_text = declared.encoding == Encoding::Csv && key.is_integer() && !column.ty.data_type.is_integer();
            column.ty = ColumnType::plain(key.clone());
            column.stored = if is_text { Stored::Keys } else { Stored::AsShown };
            if is_float {
                column.of_integers(true);
            }
        }
        if let Some((_, ty)) = declared.hints.types.iter().find(|(name, _)| *name == column.name) {
            (column.ty, column.stored) = (ty.clone(), Stored::AsShown);
        }
    }
    if declared.encoding == Encoding::JsonLines {
        let is_hinted = |name: &String| declared.hints.types.iter().any(|(hinted, _)| hinted == name);
        keep_keys(columns, &found, |name| !is_hinted(name) && (keys.contains(name) || known.contains_key(name)));
        let mixed = columns.iter_mut().filter(|own| own.ty.kind == ValueKind::Json && !is_hinted(&own.name));
        mixed.for_each(|own| own.stored = Stored::Json);
    }
}

/// Keys of JSON lines that are texts, and of which some are integers, become texts.
pub(crate) fn keep_keys(columns: &mut [TableColumn], found: &[(String, ColumnType)], is_key: impl Fn(&String) -> bool) {
    let text = ColumnType::plain(DataType::Utf8);
    for column in columns.iter_mut().filter(|own| own.ty == text && is_key(&own.name)) {
        if found.iter().any(|(name, ty)| *name == column.name && *ty != text) {
            column.stored = Stored::JsonKeys;
        }
    }
}

/// Notes columns of a file that are not declared and so not read.
pub(crate) fn unread(findings: &mut Findings, names: &[String], place: Place, table: &str) {
    if names.is_empty() {
        return;
    }
    let shown: Vec<&str> = names.iter().take(20).map(String::as_str).collect();
    let more =
        if names.len() > shown.len() { format!(" and {} more", names.len() - shown.len()) } else { String::new() };
    let what = format!("not read, because the table {table} does not declare them: {}{more}", shown.join(", "));
    findings.push(&rules::COLUMN, what, place);
}

impl Table {
    /// Notes cells without which columns would not be text or JSON.
    pub fn tell_odd(&self, odd: &[OddCell], hints: &Hints, findings: &mut Findings) {
        let is_told = |name: &String| {
            hints.types.iter().any(|(told, _)| told == name) || hints.cells.iter().any(|(told, _)| told == name)
        };
        for OddCell { column, row, text, others } in odd.iter().filter(|odd| !is_told(&odd.column)) {
            let Some(own) = self.find(column).and_then(|at| self.columns.get(at)) else { continue };
            if own.ty.data_type == DataType::Utf8 && matches!(own.stored, Stored::AsShown | Stored::Json) {
                let word = if own.ty.kind == ValueKind::Json { "JSON" } else { "text" };
                let text = if self.encoding == Encoding::Csv { format!("{text:?}") } else { text.clone() };
                let what = format!("{column} is {word} because of {text}: every other value is {others}");
                findings.push(&rules::ODD_CELL, what, self.place_of(*row).in_field(column.clone()));
            }
        }
    }
}

/// Marks the index that pandas and Dask write as a column, so that it is no property unless a mapping file says so.
pub(crate) fn leave_out_index(
    columns: &mut [TableColumn],
    declared: &ExternalTable,
    blob: &Blob,
    findings: &mut Findings,
) {
    if !declared.columns.is_empty() {
        return;
    }
    for column in columns.iter_mut().filter(|own| is_index(&own.name)) {
        column.undeclared = true;
        findings.push(&rules::INDEX, "the index of pandas is not read", blob.place().in_field(column.name.clone()));
    }
}

/// Whether pandas or Dask has added this column for its index.
pub(crate) fn is_index(name: &str) -> bool {
    let digits = name.strip_prefix("__index_level_").and_then(|rest| rest.strip_suffix("__"));
    name == "__null_dask_index__"
        || digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// JSON values without those that are null.
pub(crate) fn without_null(column: &ArrayRef) -> ArrayRef {
    let Some(texts) = column.as_string_opt::<i32>() else { return Arc::clone(column) };
    Arc::new(texts.iter().map(|text| text.filter(|text| *text != "null")).collect::<StringArray>())
}

/// The texts and integers of JSON as texts; or the row of another value, and what is wrong.
pub(crate) fn key_texts(column: &ArrayRef) -> std::result::Result<ArrayRef, (usize, String)> {
    let texts = column.as_string_opt::<i32>().ok_or_else(|| (0, "keys are no JSON".to_owned()))?;
    let mut keys = StringBuilder::with_capacity(texts.len(), texts.value_data().len());
    for (row, text) in texts.iter().enumerate() {
        let Some(text) = text else {
            keys.append_null();
            continue;
        };
        match value(text).map_err(|error| (row, error.message().to_owned()))? {
            Value::Null => keys.append_null(),
            Value::Text(own) => keys.append_value(own),
            // An integer has no negative zero.
            Value::Integer(_) if text != "-0" => keys.append_value(text),
            _ => {
                let shown: String = text.chars().take(40).collect();
                return Err((row, format!("{shown} is no key: keys are integers or texts")));
            }
        }
    }
    Ok(Arc::new(keys.finish()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn keys_of_json_are_texts() {
        let of = |all: &[Option<&str>]| key_texts(&(Arc::new(StringArray::from(all.to_vec())) as ArrayRef));
        let keys = of(&[Some("1"), Some("\"1\""), Some("\"a\\u0062\""), Some("null"), None]).unwrap();
        let expected = StringArray::from(vec![Some("1"), Some("1"), Some("ab"), None, None]);
        assert_eq!(keys.as_string::<i32>(), &expected);
        for other in ["1.5", "true", "[1]", "-0", "{}"] {
            assert_eq!(of(&[Some("1"), Some(other)]).unwrap_err().0, 1, "{other}");
        }
    }

    #[test]
    fn an_index_is_told_by_its_name() {
        assert!(["__index_level_0__", "__index_level_12__", "__null_dask_index__"].into_iter().all(is_index));
        assert!(!["__index_level___", "index", "", "__index_level_a__"].into_iter().any(is_index));
    }
}
