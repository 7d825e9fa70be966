//! Nodes, their attributes and their placements.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, StringArray, UInt32Array};
use arrow_schema::DataType;
use arrow_select::interleave::interleave;
use isomorph_error::{Error, Result};
use isomorph_model::NodeBatch;
use isomorph_model::batch::MembershipBatch;
use isomorph_storage::Reservation;

use super::columns::{arrow, column, columns, gather, gather_all, ids, keys, lost, text};
use super::facts::EntityFacts;
use super::layers::{LayerIds, PLACEHOLDER, layer_column};
use super::matrix::MatrixRows;
use super::output::Output;
use super::shape::Shape;
use super::table::TableOut;
use super::{WriteLayout, WriteOptions};
use crate::layout::{Words, column as name, file, word};
use crate::read::ids::{self as hashes, ENTRY_BYTES, IdMap};

/// Rows that are written at a time.
const BATCH_ROWS: usize = 1 << 16;

/// The tables that list entities.
enum Index {
    /// One table with a row for each placement.
    Placements(Box<TableOut>),
    /// One table for each fact, with a row for each entity.
    Entities(Box<EntityFacts>),
}

/// Nodes that are being written.
pub(super) struct Nodes {
    is_flat: bool,
    words: Words,
    index: Index,
    table: TableOut,
    /// For a graph with layers: the ids in the order in which they arrived, and the index of the first of each batch.
    keys: Vec<ArrayRef>,
    starts: Vec<u32>,
    rows: IdMap<u32>,
    is_entity: Vec<bool>,
    /// Ids of edges that are entities.
    entities: IdMap<()>,
    placements: Vec<(u32, i64)>,
    attributes: Option<TableOut>,
    count: u64,
    /// Numbers of entities, and of nodes among them, for the manifest: each is counted in every layer.
    pub counts: (u64, u64),
    /// Rows of the matrix, if one is written.
    matrix: Option<MatrixRows>,
    held: Reservation,
}

impl Nodes {
    /// Begins the tables of nodes.
    ///
    /// # Errors
    /// Returns an error if they cannot be created.
    pub fn new(output: &Output<'_>, shape: &Shape, options: &WriteOptions) -> Result<Self> {
        let index = [
            (name::ENTITY_ID, DataType::Utf8),
            (name::LAYER_ID, DataType::Int64),
            (name::IDX, DataType::Int64),
            (name::TYPE, DataType::Utf8),
        ];
        let words = options.layout.words();
        let index = match options.layout {
            WriteLayout::V2 => {
                Index::Placements(Box::new(TableOut::create(output, file::ENTITY_INDEX, &index, options)?))
            }
            WriteLayout::Specification => Index::Entities(Box::new(EntityFacts::new(output, options)?)),
        };
        if shape.node_columns.iter().any(|(name, _)| name == words.node_id) {
            return Err(lost(format!("a column {} already exists", words.node_id)));
        }
        let own = shape.node_columns.iter().map(|(name, data_type)| (name.as_str(), data_type.clone()));
        let table: Vec<(&str, DataType)> = std::iter::once((words.node_id, DataType::Utf8)).chain(own).collect();
        Ok(Nodes {
            is_flat: shape.is_flat,
            words,
            index,
            table: TableOut::create(output, words.node_table, &table, options)?,
            keys: Vec::new(),
            starts: Vec::new(),
            rows: IdMap::default(),
            is_entity: Vec::new(),
            entities: IdMap::default(),
            placements: Vec::new(),
            attributes: None,
            count: 0,
            counts: (0, 0),
            matrix: options.has_matrix().then(|| MatrixRows::new(options)).transpose()?,
            held: options.budget.reserve(0)?,
        })
    }

    /// Begins with this position, and with the rows of an existing matrix.
    pub fn begin_at(&mut self, idx: u64, matrix: Option<MatrixRows>) {
        self.counts.0 = idx;
        if let Index::Entities(facts) = &mut self.index {
            facts.begin_at(idx);
        }
        self.matrix = matrix;
    }

    /// Returns the number of rows of the matrix, if one is written.
    pub fn matrix_rows(&self) -> Option<u64> {
        self.matrix.as_ref().map(MatrixRows::count)
    }

    /// Returns whether the edge with this id is an entity.
    pub fn is_entity(&self, id: &str) -> bool {
        !self.entities.is_empty() && self.entities.contains_key(&hashes::hash(id))
    }

    /// Returns the row of an entity in the matrix, if one is written. No layer means the placeholder.
    pub fn matrix_row(&self, id: &str, layer: Option<i64>) -> Option<i32> {
        // In the specification's layout, an entity has one row, whatever its placements.
        let by_layer = matches!(self.index, Index::Placements(_)) && !self.is_flat;
        self.matrix.as_ref()?.of(id, layer.filter(|_| by_layer).unwrap_or(PLACEHOLDER))
    }

    /// Adds nodes and returns their ids.
    ///
    /// # Errors
    /// Returns an error if an edge has attributes as a node, or tables cannot be written.
    pub fn write<'b>(&mut self, batch: &'b NodeBatch, shape: &Shape) -> Result<&'b ArrayRef> {
        let column_of_ids = batch.keys.as_ref().ok_or_else(|| Error::usage("nodes of annnet must have ids"))?;
        let own = ids(column_of_ids, "ids of nodes")?;
        let attributes = columns(&batch.properties, &shape.node_attributes);
        let marks =
            column(&batch.properties, shape.entity).map(|marks| text(marks, "marks of entities")).transpose()?;
        let is_entity = marks.filter(|marks| marks.null_count() < marks.len());
        let entity = |row: usize| is_entity.is_some_and(|marks| marks.is_valid(row));
        for row in (0..batch.rows).filter(|row| entity(*row)) {
            if is_entity.is_some_and(|marks| marks.value(row) != word::EDGE) {
                return Err(lost(format!("node {:?} is marked as an edge, but there is no such edge", own.value(row))));
            }
            if attributes.iter().flatten().any(|column| column.is_valid(row)) {
                return Err(lost(format!("{:?} is an edge, but has attributes as a node", own.value(row))));
            }
            self.entities.insert(hashes::hash(own.value(row)), ());
        }
        let mut row_of_table: Vec<Option<ArrayRef>> = vec![Some(Arc::clone(column_of_ids))];
        row_of_table.extend(attributes);
        match is_entity {
            None => self.table.push(batch.rows, row_of_table)?,
            Some(_) => {
                let rows: UInt32Array = (0..batch.rows as u32).filter(|row| !entity(*row as usize)).map(Some).collect();
                self.table.push(rows.len(), gather_all(row_of_table, &rows)?)?;
            }
        }
        if let Index::Entities(facts) = &mut self.index {
            let is_edge: BooleanArray = (0..batch.rows).map(|row| Some(entity(row))).collect();
            facts.push(column_of_ids, &is_edge)?;
            if let Some(matrix) = &mut self.matrix {
                matrix.add(own, &Int64Array::from_value(PLACEHOLDER, batch.rows))?;
            }
            self.counts.0 += batch.rows as u64;
            self.counts.1 += is_edge.false_count() as u64;
        }
        if self.is_flat {
            let types = (0..batch.rows).map(|row| Some(if entity(row) { word::EDGE_ENTITY } else { word::NODE }));
            let layers = Int64Array::from_value(PLACEHOLDER, batch.rows);
            self.push_index(Arc::clone(column_of_ids), layers, types.collect())?;
        } else {
            self.held.grow(column_of_ids.get_array_memory_size() as u64 + batch.rows as u64 * (ENTRY_BYTES + 1))?;
            let start =
                u32::try_from(self.count).map_err(|_| lost("an annnet graph must have fewer than 2^32 nodes"))?;
            self.starts.push(start);
            for row in 0..batch.rows {
                self.rows.insert(hashes::hash(own.value(row)), start + row as u32);
                self.is_entity.push(entity(row));
            }
            self.keys.push(Arc::clone(column_of_ids));
        }
        self.count += batch.rows as u64;
        Ok(column_of_ids)
    }

    /// Adds nodes that are already written, and get further placements.
    pub fn know(&mut self, keys: ArrayRef) {
        if keys.is_empty() || self.is_flat {
            return;
        }
        let start = self.count as u32;
        for (row, id) in keys.as_string::<i32>().iter().flatten().enumerate() {
            self.rows.insert(hashes::hash(id), start + row as u32);
            self.is_entity.push(false);
        }
        self.starts.push(start);
        self.count += keys.len() as u64;
        self.keys.push(keys);
    }

    fn push_index(&mut self, ids: ArrayRef, layers: Int64Array, types: StringArray) -> Result<()> {
        let Index::Placements(index) = &mut self.index else { return Ok(()) };
        let rows = ids.len();
        if let Some(matrix) = &mut self.matrix {
            matrix.add(text(&ids, "ids of entities")?, &layers)?;
        }
        let start = self.counts.0 as i64;
        let positions = Int64Array::from_iter_values(start..start + rows as i64);
        self.counts.0 += rows as u64;
        self.counts.1 += types.iter().flatten().filter(|own| *own == word::NODE).count() as u64;
        index.push(rows, vec![Some(ids), Some(Arc::new(layers)), Some(Arc::new(positions)), Some(Arc::new(types))])
    }

    /// Adds placements of nodes in layers, with their attributes.
    ///
    /// # Errors
    /// Returns an error if a node does not exist, or a table cannot be written.
    pub fn place(
        &mut self,
        batch: &MembershipBatch,
        layers: &mut LayerIds,
        (output, options): (&Output<'_>, &WriteOptions),
    ) -> Result<()> {
        let members = ids(keys(&batch.member)?, "ids of placed nodes")?;
        let numbers = layers.column(keys(&batch.group)?)?;
        self.held.grow(members.len() as u64 * 16)?;
        for row in 0..members.len() {
            let id = members.value(row);
            let node = self.rows.get(&hashes::hash(id)).copied();
            let node =
                node.ok_or_else(|| Error::malformed(format!("{id:?} is placed in a layer but is not a node")))?;
            if numbers.is_null(row) {
                return Err(Error::malformed(format!("a placement of {id:?} has no layer")));
            }
            self.placements.push((node, numbers.value(row)));
        }
        let Some(texts) = column(&batch.properties, Some(0)) else { return Ok(()) };
        let rows: UInt32Array = (0..texts.len() as u32).filter(|row| texts.is_valid(*row as usize)).map(Some).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let columns =
            [(self.words.node_id, DataType::Utf8), layer_column(options.layout), (name::ATTRIBUTES, DataType::Utf8)];
        let table = match &mut self.attributes {
            Some(table) => table,
            none => none.insert(TableOut::create(output, self.words.node_layer_attributes, &columns, options)?),
        };
        let numbers = layers.as_column(numbers, options.layout);
        let of = [gather(members, &rows)?, gather(&numbers, &rows)?, gather(texts, &rows)?];
        table.push(rows.len(), of.into_iter().map(Some).collect())
    }

    /// Writes the index of a graph with layers, once all placements are known.
    ///
    /// # Errors
    /// Returns an error if a node has no placement, or a table cannot be written.
    pub fn settle(&mut self, layers: &LayerIds, output: &mut Output<'_>, options: &WriteOptions) -> Result<()> {
        if self.is_flat {
            return Ok(());
        }
        // The order of the nodes is that of their first placements. If the placements have another order, those of
        // each node are written together.
        let mut placements = std::mem::take(&mut self.placements);
        if !firsts_ascend(&placements) {
            placements.sort_by_key(|(node, _)| *node);
        }
        let mut placed = vec![false; self.is_entity.len()];
        for (node, _) in &placements {
            placed[*node as usize] = true;
        }
        if placed.contains(&false) {
            return Err(lost("a node of a graph with layers is in none of them"));
        }
        let columns = [(self.words.node_id, DataType::Utf8), layer_column(options.layout)];
        let mut presence = TableOut::create(output, self.words.presence, &columns, options)?;
        // If no index states it, edges that are entities must be listed with the nodes: those that are in a layer,
        // with all their placements.
        let mut listed = vec![false; self.is_entity.len()];
        if matches!(self.index, Index::Entities(_)) {
            for (node, layer) in &placements {
                listed[*node as usize] |= layers.labels(*layer).iter().any(|label| label != word::NO_LAYER);
            }
        }
        for some in placements.chunks(BATCH_ROWS) {
            let ids = self.ids_of(some.iter().map(|(node, _)| *node))?;
            let numbers = Int64Array::from_iter_values(some.iter().map(|(_, layer)| *layer));
            let is_entity = |node: u32| self.is_entity.get(node as usize).copied().unwrap_or_default();
            let of_nodes: UInt32Array = (0..some.len() as u32)
                .filter(|at| {
                    let (node, _) = some[*at as usize];
                    !is_entity(node) || listed[node as usize]
                })
                .map(Some)
                .collect();
            let shown = layers.as_column(numbers.clone(), options.layout);
            presence.push(of_nodes.len(), vec![Some(gather(&ids, &of_nodes)?), Some(gather(&shown, &of_nodes)?)])?;
            let types =
                some.iter().map(|(node, _)| Some(if is_entity(*node) { word::EDGE_ENTITY } else { word::NODE }));
            let types = types.collect();
            self.push_index(ids, numbers, types)?;
        }
        self.keys.clear();
        self.rows.clear();
        presence.finish(output)
    }

    fn ids_of(&self, nodes: impl Iterator<Item = u32>) -> Result<ArrayRef> {
        let arrays: Vec<&dyn Array> = self.keys.iter().map(AsRef::as_ref).collect();
        let places: Vec<(usize, usize)> = nodes
            .map(|node| {
                let batch = self.starts.partition_point(|start| *start <= node).saturating_sub(1);
                (batch, (node - self.starts.get(batch).copied().unwrap_or_default()) as usize)
            })
            .collect();
        interleave(&arrays, &places).map_err(arrow)
    }

    /// Completes the tables.
    ///
    /// # Errors
    /// Returns an error if they cannot be written.
    pub fn finish(self, output: &mut Output<'_>) -> Result<()> {
        match self.index {
            Index::Placements(table) => table.finish(output)?,
            Index::Entities(facts) => facts.finish(output)?,
        }
        self.table.finish(output)?;
        self.attributes.map_or(Ok(()), |table| table.finish(output))
    }
}

/// Returns whether the first placements of nodes are in the order of the nodes.
fn firsts_ascend(placements: &[(u32, i64)]) -> bool {
    let mut next = 0;
    placements.iter().all(|(node, _)| {
        let known = *node <= next;
        next += u32::from(*node == next);
        known
    })
}
