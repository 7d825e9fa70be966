//! Writes one vertex type: chunks of its property groups, label files, count.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_schema::{DataType, Field};
use isomorph_error::{Error, Place, Result};
use isomorph_model::{KeyKind, LabelColumn, NodeBatch, NodeType};
use isomorph_tables::{Compression, Encoding};

use super::columns::{stored, stored_keys};
use super::sink::Files;
use super::table::{TableFile, TableSpec};
use super::types::stored_type;
use crate::info::{PropertyInfo, VertexInfo};
use crate::layout::VertexLayout;
use crate::read::indexes_from;
use crate::rules;
use crate::table::VERTEX_INDEX;

/// The origin of a file's column.
#[derive(Debug, Clone, Copy)]
enum From {
    Key,
    Property(usize),
}

struct Group {
    number: usize,
    spec: TableSpec,
    columns: Vec<(String, From, DataType)>,
}

/// Writer of one vertex type.
pub(super) struct VertexWriter {
    layout: VertexLayout,
    chunk_size: u64,
    groups: Vec<Group>,
    labels: Option<(Vec<String>, TableSpec)>,
    rows: u64,
    /// The files of the chunk that is being written: groups, then labels.
    open: Vec<TableFile>,
}

impl VertexWriter {
    /// Creates a writer of the type `ty` with the layout of `info`.
    ///
    /// # Errors
    /// As [`VertexLayout::new`].
    pub fn new(ty: &NodeType, info: &VertexInfo, compression: Compression) -> Result<Self> {
        let mut groups = Vec::new();
        for (number, group) in info.groups.iter().enumerate() {
            let mut columns = Vec::new();
            for property in &group.properties {
                let from = source(ty, property)?;
                let data_type = match from {
                    From::Key => property.data_type(),
                    From::Property(at) => ty
                        .properties
                        .get(at)
                        .map_or(DataType::Null, |property| stored_type(&property.data_type, group.file_type)),
                };
                columns.push((property.name.clone(), from, data_type));
            }
            let index = Field::new(VERTEX_INDEX, DataType::Int64, false);
            let field = |(name, from, data_type): &(String, From, DataType)| {
                Field::new(name, data_type.clone(), !matches!(from, From::Key))
            };
            let fields = std::iter::once(index).chain(columns.iter().map(field)).collect();
            let spec = TableSpec::new(fields, group.file_type.encoding(), compression);
            groups.push(Group { number, spec, columns });
        }
        let labels = (!info.labels.is_empty()).then(|| {
            let fields = info.labels.iter().map(|label| Field::new(label, DataType::Boolean, true)).collect();
            (info.labels.clone(), TableSpec::new(fields, Encoding::Parquet, compression))
        });
        let layout = VertexLayout::new(info)?;
        Ok(VertexWriter { layout, chunk_size: info.chunk_size, groups, labels, rows: 0, open: Vec::new() })
    }

    /// Returns the number of vertices written so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Adds the vertices of a batch, which must follow the previous ones.
    ///
    /// # Errors
    /// Returns [`rules::KEY_NULL`], or an error of conversion or writing.
    pub fn write(&mut self, files: &Files<'_>, batch: &NodeBatch) -> Result<()> {
        if batch.start != self.rows {
            return Err(Error::usage(format!("found vertices from {}, expected {}", batch.start, self.rows)));
        }
        let mut columns = Vec::with_capacity(self.groups.len() + 1);
        for group in &self.groups {
            let index: ArrayRef = Arc::new(indexes_from(batch.start, batch.rows));
            let mut arrays = vec![index];
            for (name, from, data_type) in &group.columns {
                arrays.push(match from {
                    From::Key => stored_keys(batch.keys.as_ref(), batch.rows, data_type, name)?,
                    From::Property(at) => {
                        stored(batch.properties.get(*at).and_then(Option::as_ref), batch.rows, data_type, name)?
                    }
                });
            }
            columns.push(group.spec.batch(arrays, batch.rows)?);
        }
        if let Some((labels, spec)) = &self.labels {
            columns.push(spec.batch(label_arrays(labels, batch.labels.as_ref(), batch.rows)?, batch.rows)?);
        } else if let Some(label) =
            batch.labels.as_ref().filter(|_| files.label_files).and_then(|labels| labels.names().first())
        {
            return Err(undeclared(label));
        }
        let mut done = 0;
        while done < batch.rows {
            let within = self.rows % self.chunk_size;
            if within == 0 {
                self.begin_chunk(files)?;
            }
            let room = usize::try_from(self.chunk_size - within).unwrap_or(usize::MAX);
            let rows = room.min(batch.rows - done);
            for (file, batch) in self.open.iter_mut().zip(&columns) {
                file.push(files.encoder, batch.slice(done, rows))?;
            }
            done += rows;
            self.rows += rows as u64;
        }
        Ok(())
    }

    fn begin_chunk(&mut self, files: &Files<'_>) -> Result<()> {
        self.close_chunk(files)?;
        let chunk = self.rows / self.chunk_size;
        for group in &self.groups {
            self.open.push(files.table(&self.layout.chunk(group.number, chunk), &group.spec)?);
        }
        if let Some((_, spec)) = &self.labels {
            self.open.push(files.table(&self.layout.label_chunk(chunk), spec)?);
        }
        Ok(())
    }

    fn close_chunk(&mut self, files: &Files<'_>) -> Result<()> {
        self.open.drain(..).try_for_each(|file| file.close(files.encoder))
    }

    /// Writes the last chunk and the count.
    ///
    /// # Errors
    /// Returns the errors of writing.
    pub fn finish(&mut self, files: &Files<'_>) -> Result<()> {
        self.close_chunk(files)?;
        files.count(&self.layout.count(), self.rows)
    }
}

/// Returns the origin of the column of `property`.
fn source(ty: &NodeType, property: &PropertyInfo) -> Result<From> {
    if property.primary && ty.key.kind != KeyKind::Row {
        return Ok(From::Key);
    }
    let at = ty.properties.iter().position(|own| own.name == property.name);
    at.map(From::Property).ok_or_else(|| Error::usage(format!("{} has no property {}", ty.name, property.name)))
}

/// Returns one column for each label.
fn label_arrays(labels: &[String], column: Option<&LabelColumn>, rows: usize) -> Result<Vec<ArrayRef>> {
    let Some(column) = column else {
        let none: ArrayRef = Arc::new(BooleanArray::from(vec![false; rows]));
        return Ok(vec![none; labels.len()]);
    };
    let used = column.sets().iter().flatten().filter_map(|&name| column.names().get(name as usize));
    if let Some(label) = used.into_iter().find(|label| !labels.contains(label)) {
        return Err(undeclared(label));
    }
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(labels.len());
    for label in labels {
        let number = column.names().iter().position(|name| name == label);
        // Set numbers have at most 32 bits.
        let number = number.and_then(|number| u32::try_from(number).ok());
        let has: Vec<bool> =
            column.sets().iter().map(|set| number.is_some_and(|number| set.contains(&number))).collect();
        let cells = column.rows().iter().map(|set| has.get(*set as usize).copied().unwrap_or_default());
        arrays.push(Arc::new(BooleanArray::from_iter(cells.map(Some))));
    }
    if arrays.iter().any(|array| array.len() != rows) {
        return Err(Error::usage("the number of labels differs from the number of rows"));
    }
    Ok(arrays)
}

fn undeclared(label: &str) -> Error {
    Error::broken(&rules::LABEL_MISSING, format!("the label {label} is not declared")).at(Place::field(label))
}
