//! Look-up of keys, labels and properties of single vertices.

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema};
use isomorph_error::{Error, Result};
use isomorph_model::{Columns, NodeBatch};
use isomorph_tables::Encoding;
use std::sync::Arc;

use super::gather::{Order, Segment};
use crate::GraphAr;
use crate::read::{LabelFile, label_column};
use crate::table::{Chunk, Target, rows_error};

impl GraphAr {
    /// Returns keys, labels and properties of the vertices `rows` of node type `ty`, which may repeat and be in any order.
    /// The batch has one row for each; its `start` has no meaning.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::NotFound`] for a vertex that does not exist, or an error of reading.
    pub fn vertices(&self, ty: usize, rows: &[u64]) -> Result<NodeBatch> {
        let table = self.vertex_table(ty)?;
        let size = table.info.chunk_size;
        let segment = |row: u64| Segment { part: 0, chunk: row / size, rows: row % size..row % size + 1 };
        self.check_exist(ty, rows)?;
        let segments: Vec<Segment> = rows.iter().copied().map(segment).collect();
        let order = Order::new(&segments);
        let mut keys: Option<ArrayRef> = None;
        let mut properties: Columns = vec![None; table.shown.properties.len()];
        for group in &table.groups {
            let mut pieces: Vec<Vec<ArrayRef>> = vec![Vec::new(); group.columns.len()];
            order.each(&segments, |_, chunk, rows| {
                let path = table.layout.chunk(group.number, chunk);
                let fields = || group.columns.iter().filter_map(|column| column.field(group.encoding)).collect();
                let reader = self.lookups.reader(&table.root, &path, group.encoding, fields)?;
                let read = Chunk::of_reader(path, reader, Arc::clone(&group.columns))?.read_rows(rows)?;
                pieces.iter_mut().zip(read).for_each(|(pieces, array)| pieces.push(array));
                Ok(())
            })?;
            for (column, pieces) in group.columns.iter().zip(&pieces) {
                let array = order.arrange(pieces, &column.data_type)?;
                match column.target {
                    Target::Key => keys = Some(array),
                    Target::Property(position) => properties[position] = Some(array),
                }
            }
        }
        let labels = &table.info.labels;
        let mut label_sets = None;
        if !labels.is_empty() && !segments.is_empty() {
            let mut pieces: Vec<Vec<ArrayRef>> = vec![Vec::new(); labels.len()];
            let names: Vec<&str> = labels.iter().map(String::as_str).collect();
            order.each(&segments, |_, chunk, rows| {
                let path = table.layout.label_chunk(chunk);
                let batch = match self.lookups.reader(&table.root, &path, Encoding::Parquet, Vec::new) {
                    Ok(reader) => reader.read_rows(&names, rows),
                    // `LabelFile` also knows the other possible location of label files.
                    Err(_) => LabelFile::open(table, chunk)?.reader.read_rows(&names, rows),
                };
                let batch = batch.map_err(|error| rows_error(error, &path))?;
                pieces.iter_mut().zip(batch.columns()).for_each(|(pieces, array)| pieces.push(array.clone()));
                Ok(())
            })?;
            let fields = labels.iter().map(|label| arrow_schema::Field::new(label, DataType::Boolean, true));
            let columns: Result<Vec<ArrayRef>> =
                pieces.iter().map(|pieces| order.arrange(pieces, &DataType::Boolean)).collect();
            let batch = RecordBatch::try_new(Arc::new(Schema::new(fields.collect::<Vec<_>>())), columns?)
                .map_err(|error| Error::malformed(error.to_string()).caused_by(error))?;
            label_sets = label_column(labels, &batch);
        }
        Ok(NodeBatch { ty, start: 0, numbers: None, rows: rows.len(), keys, labels: label_sets, properties })
    }
}
