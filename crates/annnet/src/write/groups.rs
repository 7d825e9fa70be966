//! Aspects, elementary layers, and attributes of layers.

use std::fmt::Write;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_schema::DataType;
use isomorph_error::{Error, Result};
use isomorph_model::batch::GroupBatch;
use isomorph_model::json::{Members, push_string};

use super::WriteOptions;
use super::columns::{column, gather, gather_all, ids, lists, text};
use super::json::{ascii, string};
use super::layers::{LayerIds, layer_column, list};
use super::output::Output;
use super::shape::Shape;
use super::slices::rows_with;
use super::table::TableOut;
use crate::layout::{column as name, file, word};

/// One aspect.
struct Aspect {
    name: String,
    labels: Vec<String>,
    /// Attributes as JSON members, each with its name.
    attributes: Vec<String>,
}

/// The tables of layers that are being written.
#[derive(Default)]
pub(super) struct Groups {
    aspects: Vec<Aspect>,
    /// Elementary layers: aspect and label.
    labels: Vec<(String, String)>,
    elementary: Option<TableOut>,
    layers: Option<TableOut>,
}

impl Groups {
    /// Returns the number of aspects.
    pub fn aspects(&self) -> usize {
        self.aspects.len()
    }

    /// Adds aspects.
    ///
    /// # Errors
    /// Returns an error if their attributes are not JSON objects.
    pub fn add_aspects(&mut self, batch: &GroupBatch, numbers: (Option<usize>, Option<usize>)) -> Result<()> {
        let own = ids(&batch.keys, "names of aspects")?;
        let ordered = column(&batch.properties, numbers.0).and_then(|ordered| ordered.as_boolean_opt());
        let texts =
            column(&batch.properties, numbers.1).map(|texts| text(texts, "attributes of aspects")).transpose()?;
        for row in 0..own.len() {
            let mut attributes = Vec::new();
            if let Some(texts) = texts.filter(|texts| texts.is_valid(row)) {
                Members::default().read(texts.value(row), |name, value| {
                    attributes.push(format!("{}: {value}", string(name)));
                    Ok(())
                })?;
            }
            if ordered.is_some_and(|ordered| ordered.is_valid(row) && ordered.value(row)) {
                attributes.push(format!("\"{}\": true", word::ORDERED_KEY));
            }
            self.aspects.push(Aspect { name: own.value(row).to_owned(), labels: Vec::new(), attributes });
        }
        Ok(())
    }

    /// Adds elementary layers.
    ///
    /// # Errors
    /// Returns an error if their keys are not pairs of aspect and label, or they cannot be written.
    pub fn add_elementary(
        &mut self,
        batch: &GroupBatch,
        shape: &Shape,
        (output, options): (&Output<'_>, &WriteOptions),
    ) -> Result<()> {
        let keys = lists(&batch.keys)?;
        let parts = keys.values().as_string::<i32>();
        let start = self.labels.len();
        for row in 0..keys.len() {
            let offset = keys.value_offsets()[row] as usize;
            if keys.value_length(row) != 2 {
                return Err(Error::malformed("the key of an elementary layer must be an aspect and a label"));
            }
            self.labels.push((parts.value(offset).to_owned(), parts.value(offset + 1).to_owned()));
        }
        if shape.elementary_columns.is_empty() {
            return Ok(());
        }
        let columns: Vec<(&str, DataType)> = [name::LAYER_ID, name::ASPECT, name::ELEMENTARY]
            .map(|name| (name, DataType::Utf8))
            .into_iter()
            .chain(shape.elementary_columns.iter().map(|(name, data_type)| (name.as_str(), data_type.clone())))
            .collect();
        let table = match &mut self.elementary {
            Some(table) => table,
            none => none.insert(TableOut::create(output, file::ELEMENTARY_ATTRIBUTES, &columns, options)?),
        };
        let new = self.labels.get(start..).unwrap_or_default();
        let shown = new.iter().map(|(aspect, label)| format!("{aspect}_{label}"));
        let keys: [ArrayRef; 3] = [
            Arc::new(StringArray::from_iter_values(shown)),
            Arc::new(StringArray::from_iter_values(new.iter().map(|(aspect, _)| aspect))),
            Arc::new(StringArray::from_iter_values(new.iter().map(|(_, label)| label))),
        ];
        let rows = rows_with(&batch.properties, new.len());
        let columns = keys.into_iter().map(Some).chain(batch.properties.iter().cloned()).collect();
        table.push(rows.len(), gather_all(columns, &rows)?)
    }

    /// Adds attributes of layers.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn add_layers(
        &mut self,
        batch: &GroupBatch,
        attributes: Option<usize>,
        layers: &mut LayerIds,
        (output, options): (&Output<'_>, &WriteOptions),
    ) -> Result<()> {
        let numbers = layers.column(&batch.keys)?;
        let texts = column(&batch.properties, attributes).cloned();
        let rows = rows_with(std::slice::from_ref(&texts), numbers.len());
        let Some(texts) = texts.filter(|_| !rows.is_empty()) else { return Ok(()) };
        let columns = [layer_column(options.layout), (name::ATTRIBUTES, DataType::Utf8)];
        let table = match &mut self.layers {
            Some(table) => table,
            none => none.insert(TableOut::create(output, file::LAYER_ATTRIBUTES, &columns, options)?),
        };
        let numbers = layers.as_column(numbers, options.layout);
        table.push(rows.len(), vec![Some(gather(&numbers, &rows)?), Some(gather(&texts, &rows)?)])
    }

    /// Writes the remaining files; nothing for a graph without aspects.
    ///
    /// # Errors
    /// Returns an error if a label belongs to no aspect, or a file cannot be written.
    pub fn finish(mut self, output: &mut Output<'_>) -> Result<()> {
        for (of, label) in std::mem::take(&mut self.labels) {
            let aspect = self.aspects.iter_mut().find(|aspect| aspect.name == of);
            let aspect =
                aspect.ok_or_else(|| Error::malformed(format!("{label:?} is a label of an unknown aspect: {of:?}")))?;
            aspect.labels.push(label);
        }
        for table in [self.elementary, self.layers].into_iter().flatten() {
            table.finish(output)?;
        }
        if self.aspects.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = self.aspects.iter().map(|aspect| aspect.name.as_str()).collect();
        let mut text = format!("{{\n  \"aspects\": {},\n  \"elem_layers\": {{", list(&names));
        // The published library refuses an aspect with an empty list, but accepts one that is not listed.
        for (at, aspect) in self.aspects.iter().filter(|aspect| !aspect.labels.is_empty()).enumerate() {
            let comma = if at == 0 { "" } else { "," };
            // Writing to a string does not fail.
            let _ = write!(text, "{comma}\n    {}: {}", string(&aspect.name), list(&aspect.labels));
        }
        text.push_str("\n  }\n}");
        output.put(file::LAYERS, &ascii(&text))?;
        let mut text = String::from("{");
        for aspect in self.aspects.iter().filter(|aspect| !aspect.attributes.is_empty()) {
            text.push_str(if text.len() == 1 { "\n  " } else { ",\n  " });
            push_string(&mut text, &aspect.name);
            let _ = write!(text, ": {{{}}}", aspect.attributes.join(", "));
        }
        if text.len() == 1 {
            return Ok(());
        }
        text.push_str("\n}");
        output.put(file::ASPECT_ATTRIBUTES, &ascii(&text))
    }
}
