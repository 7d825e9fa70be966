//! Adds an adjacency list.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow_schema::{Field, Schema};
use isomorph_error::{Error, Kind, Result};
use isomorph_model::{Batch, EdgeBatch, Ends, Request, Tables};
use isomorph_storage::{Budget, Changed, Scratch};
use isomorph_tables::Compression;
use isomorph_tables::sort::{EdgeSorter, SortOptions};

use crate::GraphAr;
use crate::info::{AdjList, AdjListType, FileType};
use crate::rules;
use crate::write::EdgeWriter;

impl GraphAr {
    /// Adds the adjacency list `kind` to edge type `ty`: a copy of its edges and their properties, sorted by the end
    /// that it is aligned by. The sort uses memory of `budget` and spills to `scratch`.
    ///
    /// Open the graph again to see it.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] if the list already exists; and errors of reading, sorting and writing. Nothing is
    /// changed in these cases.
    pub fn add_list(&self, ty: usize, kind: AdjListType, budget: &Budget, scratch: &Scratch) -> Result<Changed> {
        let table = self.edge_table(ty)?;
        self.refuse_unknown(&table.info.file, &table.info.unknown)?;
        if table.list(kind).is_some() {
            let message = format!("{} already has this adjacency list", table.info.name());
            return Err(Error::usage(message).rule(&rules::META_LIST_TWICE));
        }
        let file_type = table.info.lists.first().map_or(FileType::Parquet, |list| list.file_type);
        let mut info = table.info.clone();
        info.lists.push(AdjList { kind, prefix: format!("{}/", kind.word()), file_type });
        let mut alone = info.clone();
        alone.lists.retain(|list| list.kind == kind);

        let fields: Vec<Field> = table
            .shown
            .properties
            .iter()
            .map(|property| Field::new(&property.name, property.data_type.clone(), true))
            .collect();
        let schema = Arc::new(Schema::new(fields));
        let sorter = EdgeSorter::new(SortOptions::new(budget, scratch).payload(Arc::clone(&schema)))?;
        let mut sequence = 0;
        for part in self.scan_parts(&Request::of(Tables::Edges(ty)))? {
            for batch in part {
                let Batch::Edges(batch) = batch? else { continue };
                let (Ends::Rows(source), Ends::Rows(target)) = (&batch.source, &batch.target) else { continue };
                let (aligned, other) = if kind.by_source() { (source, target) } else { (target, source) };
                let columns = batch.properties.iter().zip(schema.fields()).map(|(column, field)| match column {
                    Some(column) => Arc::clone(column),
                    None => new_null_array(field.data_type(), batch.rows),
                });
                let columns: Vec<ArrayRef> = columns.collect();
                let options = RecordBatchOptions::new().with_row_count(Some(batch.rows));
                let payload = RecordBatch::try_new_with_options(Arc::clone(&schema), columns, &options)
                    .map_err(|error| Error::malformed(error.to_string()).caused_by(error))?;
                sorter.push(aligned.values(), other.values(), Some(&payload), sequence)?;
                sequence += batch.rows as u64;
            }
        }
        let sorted = sorter.finish()?;
        let vertices = (self.vertex_table(table.shown.source)?.rows()?, self.vertex_table(table.shown.target)?.rows()?);
        let writer = EdgeWriter::new(&table.shown, &alone, kind.order(), vertices, Compression::Zstd(1));
        let mut writer = writer?;
        self.change(&info.file, &info.to_yml()?, |files| {
            let mut stream = sorted.stream()?;
            while let Some(batch) = stream.next_batch()? {
                let (aligned, other) = (Ends::Rows(batch.aligned), Ends::Rows(batch.other));
                let (source, target) = if kind.by_source() { (aligned, other) } else { (other, aligned) };
                let rows = source.len();
                let properties = batch.payload.columns().iter().cloned().map(Some).collect();
                let edges = EdgeBatch {
                    ty,
                    rows,
                    relations: None,
                    source,
                    target,
                    layers: None,
                    directed: None,
                    keys: None,
                    properties,
                };
                writer.write(files, &edges)?;
            }
            writer.finish(files)
        })
        .map_err(|error| match error.kind() {
            // A writer of a whole graph uses Parquet if CSV lines would be empty; lists that are added share the existing file types.
            Kind::Unsupported if info.groups.iter().any(|group| group.file_type == FileType::Csv) => {
                let lists: Vec<&str> = info.lists.iter().map(|list| list.kind.word()).collect();
                let lists = lists.join(",");
                error.hint(format!(
                    "isomorph convert GRAPH NEW --to graphar --adj-lists {lists}    write such a column as Parquet"
                ))
            }
            _ => error,
        })
    }
}
