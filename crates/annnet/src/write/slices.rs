//! Slices and their members.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float64Array, StringArray, UInt32Array};
use arrow_schema::DataType;
use isomorph_error::Result;
use isomorph_model::batch::{GroupBatch, MembershipBatch};
use isomorph_model::schema::Owner;
use isomorph_storage::Reservation;

use super::columns::{column, columns, floats, gather, gather_all, ids, keys, same};
use super::json::object;
use super::output::Output;
use super::shape::Shape;
use super::table::TableOut;
use super::{WriteLayout, WriteOptions};
use crate::layout::{column as name, file, word};
use crate::read::ids::{self as hashes, ENTRY_BYTES, IdMap};

/// The tables of slices that are being written.
pub(super) struct Slices {
    /// Ids of slices in their order.
    pub names: Vec<String>,
    /// In the specification's layout: attributes of slices as JSON objects.
    said: HashMap<String, String>,
    layout: WriteLayout,
    registry: TableOut,
    attributes: TableOut,
    pairs: TableOut,
    nodes: TableOut,
    edges: TableOut,
    /// Weights of edges in slices that contain everything; such an edge is listed with its weight when it arrives.
    weights: IdMap<f64>,
    held: Reservation,
}

impl Slices {
    /// Begins the tables of slices.
    ///
    /// # Errors
    /// Returns an error if they cannot be created.
    pub fn new(output: &Output<'_>, shape: &Shape, options: &WriteOptions) -> Result<Self> {
        let text = |name| (name, DataType::Utf8);
        let with = |own: Vec<(&'static str, DataType)>, more: &[(String, DataType)], path| {
            let mut columns: Vec<(&str, DataType)> = own;
            columns.extend(more.iter().map(|(name, data_type)| (name.as_str(), data_type.clone())));
            TableOut::create(output, path, &columns, options)
        };
        let weight = (name::WEIGHT, DataType::Float64);
        let words = options.layout.words();
        let mut node = vec![text(name::SLICE_ID), text(words.node_id)];
        let mut slice = vec![text(name::SLICE_ID)];
        match options.layout {
            WriteLayout::V2 => node.push((words.node_layer_id, DataType::Int64)),
            WriteLayout::Specification => slice.extend([text(name::NAME), text(name::ATTRIBUTES)]),
        }
        let edge = vec![text(name::SLICE_ID), text(name::EDGE_ID), weight];
        Ok(Slices {
            names: Vec::new(),
            said: HashMap::new(),
            layout: options.layout,
            registry: with(slice, &[], file::REGISTRY)?,
            attributes: with(vec![text(name::SLICE_ID)], &shape.slice_columns, file::SLICE_ATTRIBUTES)?,
            pairs: with(edge.clone(), &shape.pair_columns, file::EDGE_SLICE_ATTRIBUTES)?,
            nodes: with(node, &[], words.memberships)?,
            edges: with(edge, &[], file::EDGE_MEMBERSHIPS)?,
            weights: IdMap::default(),
            held: options.budget.reserve(0)?,
        })
    }

    /// Adds slices with their attributes.
    ///
    /// # Errors
    /// Returns an error if they cannot be written.
    pub fn write(&mut self, batch: &GroupBatch, shape: &Shape) -> Result<()> {
        let own = ids(&batch.keys, "ids of slices")?;
        self.names.extend(own.iter().flatten().map(str::to_owned));
        if self.layout == WriteLayout::Specification {
            for (row, name) in own.iter().enumerate() {
                let object = object(shape.slice_columns.iter().map(|(name, _)| name), &batch.properties, row)?;
                self.said.insert(name.unwrap_or_default().to_owned(), object);
            }
        }
        let mut columns: Vec<Option<ArrayRef>> = vec![Some(Arc::clone(&batch.keys))];
        columns.extend(batch.properties.iter().cloned());
        let rows = rows_with(columns.get(1..).unwrap_or_default(), own.len());
        self.attributes.push(rows.len(), gather_all(columns, &rows)?)
    }

    /// Lists nodes in the slices that contain everything.
    ///
    /// # Errors
    /// Returns an error if they cannot be written.
    pub fn list_nodes(&mut self, ids: &ArrayRef, all: &[String]) -> Result<()> {
        for slice in all {
            self.list(vec![Some(same(slice, ids.len())), Some(Arc::clone(ids))], ids.len())?;
        }
        Ok(())
    }

    /// Lists nodes in slices.
    fn list(&mut self, mut columns: Vec<Option<ArrayRef>>, rows: usize) -> Result<()> {
        if self.layout == WriteLayout::V2 {
            // The layer of the node, which is never stated.
            columns.push(None);
        }
        self.nodes.push(rows, columns)
    }

    /// Lists edges in the slices that contain everything.
    ///
    /// # Errors
    /// Returns an error if they cannot be written.
    pub fn list_edges(&mut self, ids: &ArrayRef, own: &StringArray, all: &[String]) -> Result<()> {
        for slice in all {
            let hash = hashes::hash(slice);
            let weight = |id: Option<&str>| self.weights.get(&hashes::pair(hash, hashes::hash(id?))).copied();
            let weights: Option<ArrayRef> = match self.weights.is_empty() {
                true => None,
                false => Some(Arc::new(own.iter().map(weight).collect::<Float64Array>())),
            };
            self.edges.push(ids.len(), vec![Some(same(slice, ids.len())), Some(Arc::clone(ids)), weights])?;
        }
        Ok(())
    }

    /// Adds memberships of nodes or edges. In slices that contain everything, they add values to a membership.
    ///
    /// # Errors
    /// Returns an error if they cannot be written.
    pub fn add(&mut self, batch: &MembershipBatch, shape: &Shape) -> Result<()> {
        let Some((of, valued)) = shape.pairs.get(batch.table) else { return Ok(()) };
        let (groups, members) = (keys(&batch.group)?, keys(&batch.member)?);
        let (slices, own) = (ids(groups, "slices of members")?, ids(members, "members of slices")?);
        let listed = |row: usize| shape.all.iter().any(|all| all == slices.value(row));
        let others: UInt32Array = (0..own.len() as u32).filter(|row| !listed(*row as usize)).map(Some).collect();
        let both = [gather(groups, &others)?, gather(members, &others)?].map(Some);
        if matches!(of, Owner::Nodes(_)) {
            return self.list(both.into_iter().collect(), others.len());
        }
        let weights = column(&batch.properties, valued.weight);
        if let Some(weights) = weights {
            let weights = floats(weights, "weights of edges in slices")?;
            for row in (0..own.len()).filter(|row| weights.is_valid(*row) && listed(*row)) {
                self.held.grow(ENTRY_BYTES)?;
                let pair = hashes::pair(hashes::hash(slices.value(row)), hashes::hash(own.value(row)));
                self.weights.insert(pair, weights.value(row));
            }
        }
        let of_others = weights.map(|weights| gather(weights, &others)).transpose()?;
        self.edges.push(others.len(), both.into_iter().chain([of_others]).collect())?;
        let mut said: Vec<Option<ArrayRef>> = vec![weights.cloned()];
        said.extend(columns(&batch.properties, &valued.attributes));
        let rows = rows_with(&said, own.len());
        let columns = [groups, members].map(|column| Some(Arc::clone(column))).into_iter().chain(said).collect();
        self.pairs.push(rows.len(), gather_all(columns, &rows)?)
    }

    /// Completes the tables. The slice `default` always exists.
    ///
    /// # Errors
    /// Returns an error if they cannot be written.
    pub fn finish(mut self, output: &mut Output<'_>) -> Result<Vec<String>> {
        if !self.names.iter().any(|name| name == word::DEFAULT) {
            self.names.push(word::DEFAULT.to_owned());
        }
        let names: ArrayRef = Arc::new(StringArray::from_iter_values(&self.names));
        let mut columns = vec![Some(Arc::clone(&names))];
        if self.layout == WriteLayout::Specification {
            let said = self.names.iter().map(|name| self.said.get(name).map_or("{}", String::as_str));
            columns.extend([Some(Arc::clone(&names)), Some(Arc::new(StringArray::from_iter_values(said)) as ArrayRef)]);
        }
        self.registry.push(names.len(), columns)?;
        for table in [self.registry, self.attributes, self.pairs, self.nodes, self.edges] {
            table.finish(output)?;
        }
        Ok(self.names)
    }
}

/// Returns the rows in which some column has a value.
pub(super) fn rows_with(columns: &[Option<ArrayRef>], rows: usize) -> UInt32Array {
    let said = |row: usize| columns.iter().flatten().any(|column| column.is_valid(row));
    (0..rows as u32).filter(|row| said(*row as usize)).map(Some).collect()
}
