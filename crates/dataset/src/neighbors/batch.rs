//! Edges of one node with the nodes at their other ends.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, StringArray};
use arrow_schema::{DataType, Schema};
use isomorph_error::{Error, Result};
use isomorph_model::{Columns, EdgeType, KeyKind, NodeType, Side, ValueKind};

use crate::arrays::declared;
use crate::names::unique;
use crate::schema::{Role, field, of_key, property_name};

/// Edges of one type from or to the node, with the nodes at their other ends, one per row.
#[derive(Debug, Clone)]
pub struct NeighborBatch<'d> {
    /// The end of the edges that the node is. Undirected edges appear at the end at which they are stored.
    pub side: Side,
    /// The type of the edges.
    pub edge_type: &'d EdgeType,
    /// The type of the neighbours.
    pub node_type: &'d NodeType,
    /// The keys of the neighbours; row numbers as `UInt64` for a type without a key.
    pub neighbors: ArrayRef,
    /// The relation of each edge.
    pub relations: StringArray,
    /// Whether each edge has a direction; never null.
    pub directed: BooleanArray,
    /// The properties, in the order of the edge type; `None` for a property that was not requested, or that is always
    /// null.
    pub properties: Columns,
    /// Whether each property was requested, in the same order.
    pub(super) wanted: Vec<bool>,
}

impl NeighborBatch<'_> {
    /// Number of edges.
    pub fn rows(&self) -> usize {
        self.neighbors.len()
    }

    /// Whether the neighbours are given by row number, because their type has no key.
    pub fn by_row(&self) -> bool {
        self.node_type.key.kind == KeyKind::Row
    }

    /// Converts to one record batch: `neighbor` (the type's key, or `UInt64`), `relation` (`Utf8`), `direction`
    /// (`Utf8`: `out`, `in`, or `none`), and the requested properties. If a property has one of the first three names,
    /// it keeps the name, and the other column is prefixed with `_`.
    ///
    /// # Errors
    /// If values are not of the declared type.
    /// When values are not of the declared type.
    pub fn to_record_batch(&self) -> Result<RecordBatch> {
        let rows = self.rows();
        let direction = match self.side {
            Side::Out => "out",
            Side::In => "in",
        };
        let directions: StringArray = self
            .directed
            .iter()
            .map(|directed| Some(if directed == Some(false) { "none" } else { direction }))
            .collect();
        let properties = self.edge_type.properties.iter().zip(&self.properties).zip(&self.wanted);
        let properties: Vec<_> = properties.filter(|(_, wanted)| **wanted).map(|(property, _)| property).collect();
        let mut taken: Vec<String> =
            properties.iter().map(|(property, _)| property_name(property).to_owned()).collect();
        let (mut fields, mut columns) = (Vec::new(), Vec::new());
        let own: [(Role, &str, DataType, ArrayRef); 3] = [
            (Role::Member, "neighbor", of_key(&self.node_type.key), Arc::clone(&self.neighbors)),
            (Role::Relation, "relation", DataType::Utf8, Arc::new(self.relations.clone())),
            (Role::Directed, "direction", DataType::Utf8, Arc::new(directions)),
        ];
        for (role, name, data_type, column) in own {
            let name = unique(name.to_owned(), &taken);
            columns.push(declared(Some(&column), &data_type, rows)?);
            fields.push(field(role, &name, data_type, false, &ValueKind::Plain));
            taken.push(name);
        }
        for (at, (property, column)) in properties.into_iter().enumerate() {
            columns.push(declared(column.as_ref(), &property.data_type, rows)?);
            let name = property_name(property);
            fields.push(field(Role::Property(at), name, property.data_type.clone(), true, &property.kind));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
            .map_err(|error| Error::malformed(error.to_string()).caused_by(error))
    }
}
