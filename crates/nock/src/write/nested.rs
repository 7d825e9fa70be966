//! The nested layout: edge rows as a list in their node row.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, BooleanArray, Int64Array, ListArray, RecordBatch, StructArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use arrow_select::filter::FilterBuilder;
use isomorph_error::{Error, Result};

use super::cells::cast;
use super::file::Table;
use super::sink::RowFile;
use super::target::Target;
use crate::columns::Column;
use crate::layout::EDGES;
use crate::rows::{is_node, map_field, to_map};

/// Converts flat rows to nested ones.
pub(super) struct Nested {
    /// Columns of flat rows that node rows keep.
    of_nodes: Vec<usize>,
    /// Columns of flat rows that edge rows keep.
    of_edges: Vec<usize>,
    schema: SchemaRef,
    members: Fields,
    /// Whether the props of edges become a map, as those of nodes do.
    props_map: bool,
}

fn failed(error: &arrow_schema::ArrowError) -> Error {
    Error::usage(format!("rows cannot be nested: {error}"))
}

impl Nested {
    /// Prepares the nesting of rows of this target.
    ///
    /// # Errors
    /// Returns an error if a further column has the name of the list of edges.
    pub fn new(target: &Target, props_map: bool) -> Result<Self> {
        let flat = target.schema.fields();
        let mut of_nodes: Vec<usize> = [Column::SrcName, Column::Truth, Column::Shadow, Column::IsRdf, Column::Labels]
            .map(|column| column as usize)
            .to_vec();
        of_nodes.push(Column::Props as usize);
        let mut of_edges: Vec<usize> = [Column::EdgeId, Column::RelName, Column::DstName, Column::Truth, Column::Props]
            .map(|column| column as usize)
            .to_vec();
        for (index, extra) in target.extras.iter().enumerate() {
            if extra.name == EDGES {
                return Err(Error::usage("with nested edges, a further column cannot be called `edges`"));
            }
            of_nodes.extend(extra.node.map(|_| 9 + index));
            of_edges.extend(extra.edge.map(|_| 9 + index));
        }
        let field = |&index: &usize| flat.get(index).cloned();
        let member = |index: &usize| match field(index) {
            Some(field) if props_map && *index == Column::Props as usize => {
                Some(Arc::new(map_field(field.is_nullable())))
            }
            other => other,
        };
        let members: Fields = of_edges.iter().filter_map(member).collect();
        let item: FieldRef = Arc::new(Field::new("element", DataType::Struct(members.clone()), false));
        let mut fields: Vec<FieldRef> = of_nodes.iter().filter_map(field).collect();
        fields.push(Arc::new(Field::new(EDGES, DataType::List(item), false)));
        Ok(Nested { of_nodes, of_edges, schema: Arc::new(Schema::new(fields)), members, props_map })
    }

    /// Returns the schema of nested rows.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns a file that writes nested rows into `table`.
    pub fn into(self, table: Table) -> NestedFile {
        NestedFile { nested: self, table, pending: Vec::new() }
    }

    /// Nests rows that begin with a node row and contain all edges of their nodes.
    fn nest(&self, rows: &RecordBatch) -> Result<RecordBatch> {
        let ids = edge_ids(rows)?;
        let nodes = is_node(&ids);
        let edges = BooleanArray::new(!nodes.values(), None);
        let pick = |mask: &BooleanArray, index: usize| {
            let filter = FilterBuilder::new(mask).optimize().build();
            filter.filter(rows.column(index)).map_err(|error| failed(&error))
        };
        let mut columns = self.of_nodes.iter().map(|&index| pick(&nodes, index)).collect::<Result<Vec<ArrayRef>>>()?;
        let member = |&index: &usize| {
            let column = pick(&edges, index)?;
            if self.props_map && index == Column::Props as usize {
                return Ok(Arc::new(to_map(column.as_string())?) as ArrayRef);
            }
            Ok(column)
        };
        let members = self.of_edges.iter().map(member).collect::<Result<Vec<ArrayRef>>>()?;
        let starts: Vec<usize> = nodes.values().set_indices().collect();
        let ends = starts.iter().skip(1).copied().chain([ids.len()]);
        let lengths = starts.iter().zip(ends).map(|(start, end)| end - start - 1);
        let offsets = OffsetBuffer::<i32>::from_lengths(lengths);
        let members = StructArray::try_new_with_length(self.members.clone(), members, None, edges.true_count())
            .map_err(|error| failed(&error))?;
        let DataType::List(item) = self.schema.field(columns.len()).data_type() else {
            return Err(Error::usage("the nested schema has no list of edges"));
        };
        let list = ListArray::try_new(Arc::clone(item), offsets, Arc::new(members), None);
        columns.push(Arc::new(list.map_err(|error| failed(&error))?));
        RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(|error| failed(&error))
    }
}

fn edge_ids(rows: &RecordBatch) -> Result<Int64Array> {
    let ids = cast(rows.column(Column::EdgeId as usize), &DataType::Int64, Column::EdgeId.name())?;
    Ok(ids.as_primitive::<Int64Type>().clone())
}

/// A Parquet file of nested rows.
pub(super) struct NestedFile {
    nested: Nested,
    table: Table,
    /// Rows of the last node received so far: it may have more edges.
    pending: Vec<RecordBatch>,
}

impl NestedFile {
    fn write_pending(&mut self) -> Result<()> {
        let pending = std::mem::take(&mut self.pending);
        let Some(first) = pending.first() else { return Ok(()) };
        let rows = concat_batches(first.schema_ref(), &pending).map_err(|error| failed(&error))?;
        self.table.write(&self.nested.nest(&rows)?)
    }
}

impl RowFile for NestedFile {
    fn write(&mut self, rows: &RecordBatch) -> Result<()> {
        let nodes = is_node(&edge_ids(rows)?);
        let Some(last) = nodes.values().set_indices().last() else {
            self.pending.push(rows.clone());
            return Ok(());
        };
        self.pending.push(rows.slice(0, last));
        self.write_pending()?;
        self.pending.push(rows.slice(last, rows.num_rows() - last));
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<(String, u64)>> {
        self.write_pending()?;
        Box::new(self.table).finish()
    }
}
