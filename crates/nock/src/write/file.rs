//! One file of rows, of the kind that the options request.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Schema, SchemaRef};
use isomorph_error::{Error, Result};
use isomorph_storage::{StagedFile, Staging};
use isomorph_tables::{Encoding, TableWriter};

use super::nested::Nested;
use super::options::CreateOptions;
use super::sink::RowFile;
use super::target::Target;
use super::text::SortedText;
use crate::Format;
use crate::columns::Column;
use crate::rows::{map_field, to_map};

/// Returns the name of a partition's file.
pub(super) fn part_name(id: u32, options: &CreateOptions) -> String {
    match options.format {
        Format::Parquet => format!("part_{id}.parq"),
        Format::Csv => format!("part_{id}.csv"),
    }
}

/// Begins a file of rows.
///
/// # Errors
/// Returns an error if the file cannot be created, or if a further column has a type that it cannot store.
pub(super) fn row_file(
    staging: &Staging,
    name: &str,
    target: &Target,
    options: &CreateOptions,
) -> Result<Box<dyn RowFile>> {
    let file = staging.create(name)?;
    Ok(match options.format {
        Format::Csv if options.sort => Box::new(SortedText::create(file, name, target, options)?),
        Format::Csv => Box::new(Table::create(file, name, &target.schema, options)?),
        Format::Parquet if options.nested_edges => {
            let nested = Nested::new(target, options.props_map)?;
            let table = Table::create(file, name, nested.schema(), options)?;
            Box::new(nested.into(table))
        }
        Format::Parquet => Box::new(Table::create(file, name, &target.schema, options)?),
    })
}

/// A file of rows in the order in which they arrive.
pub(super) struct Table {
    name: String,
    writer: TableWriter<StagedFile>,
    schema: SchemaRef,
    props: Option<usize>,
}

impl Table {
    /// Begins a file with this schema; props become a map if the options say so.
    ///
    /// # Errors
    /// Returns an error if a type cannot be written.
    pub fn create(file: StagedFile, name: &str, schema: &SchemaRef, options: &CreateOptions) -> Result<Self> {
        let props = schema.index_of(Column::Props.name()).ok().filter(|_| options.props_map);
        let fields = schema.fields().iter().enumerate().map(|(index, field)| {
            if Some(index) == props { Arc::new(map_field(field.is_nullable())) } else { Arc::clone(field) }
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let encoding = match options.format {
            Format::Parquet => Encoding::Parquet,
            Format::Csv => Encoding::Csv,
        };
        let writer = TableWriter::create(file, encoding, &schema, &options.table()).map_err(|error| error.at(name))?;
        Ok(Table { name: name.to_owned(), writer, schema, props })
    }
}

impl RowFile for Table {
    fn write(&mut self, rows: &RecordBatch) -> Result<()> {
        let mut columns: Vec<ArrayRef> = rows.columns().to_vec();
        if let Some(slot) = self.props.and_then(|index| columns.get_mut(index)) {
            *slot = Arc::new(to_map(slot.as_string())?);
        }
        let rows = RecordBatch::try_new(Arc::clone(&self.schema), columns)
            .map_err(|error| Error::usage(format!("the columns do not match the file: {error}")))?;
        self.writer.write(&rows).map_err(|error| error.at(self.name.as_str()))
    }

    fn finish(self: Box<Self>) -> Result<Vec<(String, u64)>> {
        let (file, _) = self.writer.finish().map_err(|error| error.at(self.name.as_str()))?;
        let digest = file.finish()?;
        Ok(vec![(self.name, digest.size)])
    }
}
