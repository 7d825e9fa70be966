//! Label files: one boolean column for each label.

use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Field};
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::LabelColumn;
use isomorph_model::label::LabelBuilder;
use isomorph_tables::{Batches, Encoding, Selection, TableReader};

use crate::rules;
use crate::table::{VertexTable, open_chunk};

/// An opened label file.
pub(crate) struct LabelFile {
    pub path: String,
    pub reader: TableReader,
}

impl LabelFile {
    /// Opens the label file of vertex chunk `chunk`: in its usual place or, if the prefix has no trailing slash, where the
    /// C++ library then puts it.
    ///
    /// # Errors
    /// Returns [`rules::FILE_MISSING`], [`rules::LABEL_MISSING`] for a label without a boolean column, or an error of opening.
    pub fn open(table: &VertexTable, chunk: u64) -> Result<Self> {
        let path = table.layout.label_chunk(chunk);
        let (path, opened) = match open(table, &path) {
            Err(error) if error.kind() == Kind::Incomplete => match table.layout.glued_label_chunk(chunk) {
                Some(glued) => match open(table, &glued) {
                    // In neither place: reported as missing in its usual place.
                    Err(other) if other.kind() == Kind::Incomplete => return Err(error),
                    opened => (glued, opened),
                },
                None => return Err(error),
            },
            opened => (path, opened),
        };
        let reader = opened?;
        for label in &table.info.labels {
            let data_type = reader.schema().field_with_name(label).ok().map(Field::data_type);
            if data_type != Some(&DataType::Boolean) {
                let place = Place::file(&path).in_field(label);
                return Err(Error::broken(&rules::LABEL_MISSING, format!("boolean column {label} not found")).at(place));
            }
        }
        Ok(LabelFile { path, reader })
    }

    /// Returns the columns of `labels`.
    ///
    /// # Errors
    /// As [`TableReader::batches`].
    pub fn batches<'l>(&self, labels: impl IntoIterator<Item = &'l str>, selection: Selection) -> Result<Batches> {
        self.reader.batches(&selection.columns(labels)).map_err(|error| error.at(Place::file(&self.path)))
    }
}

/// Opens a label file, which is always Parquet, whatever the file type of the property groups.
fn open(table: &VertexTable, path: &str) -> Result<TableReader> {
    open_chunk(&table.root, path, Encoding::Parquet, Vec::new())
}

/// Returns the label sets of the rows of a batch with the columns `labels`; `None` if no row has a label. Null counts as false.
pub(crate) fn label_column(labels: &[String], batch: &RecordBatch) -> Option<LabelColumn> {
    let words = labels.len().div_ceil(64).max(1);
    let mut masks = vec![0u64; batch.num_rows() * words];
    let mut any = false;
    for (number, column) in batch.columns().iter().enumerate() {
        let Some(column) = column.as_boolean_opt() else { continue };
        let set = match column.nulls() {
            Some(valid) => column.values() & valid.inner(),
            None => column.values().clone(),
        };
        for row in set.set_indices() {
            any = true;
            if let Some(mask) = masks.get_mut(row * words + number / 64) {
                *mask |= 1 << (number % 64);
            }
        }
    }
    any.then(|| {
        let mut builder = LabelBuilder::default();
        let mut known: HashMap<&[u64], u32> = HashMap::new();
        let mut last: Option<(&[u64], u32)> = None;
        for mask in masks.chunks_exact(words) {
            let set = match last {
                Some((seen, set)) if seen == mask => set,
                _ => *known.entry(mask).or_insert_with(|| {
                    let has = |number: usize| mask.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1);
                    let names = labels.iter().enumerate().filter(|(number, _)| has(*number));
                    builder.intern(names.map(|(_, label)| label.as_str()))
                }),
            };
            last = Some((mask, set));
            builder.push_set(set);
        }
        builder.finish()
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::{ArrayRef, BooleanArray};

    use super::*;

    #[test]
    fn rows_get_the_labels_whose_columns_are_true() {
        let column = |cells: [Option<bool>; 3]| Arc::new(BooleanArray::from(cells.to_vec())) as ArrayRef;
        let labels: Vec<String> = (0..70).map(|number| format!("l{number}")).collect();
        let mut columns: Vec<(&str, ArrayRef)> =
            labels.iter().map(|label| (label.as_str(), column([Some(false); 3]))).collect();
        columns[1].1 = column([Some(true), None, Some(true)]);
        columns[69].1 = column([Some(true), Some(false), None]);
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let found = label_column(&labels, &batch).unwrap();
        assert_eq!(found.row(0).collect::<Vec<_>>(), ["l1", "l69"]);
        assert_eq!(found.row(1).count(), 0);
        assert_eq!(found.row(2).collect::<Vec<_>>(), ["l1"]);
        assert!(label_column(&labels, &batch.slice(1, 1)).is_none());
    }
}
