//! Nodes with their attributes.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, StringArray, UInt32Array};
use arrow_schema::DataType;
use isomorph_error::{Findings, Result};
use isomorph_model::{Batch, NodeBatch, Part, Property, well_known};
use isomorph_storage::{Budget, Reservation};

use super::attributes::Attributes;
use super::entities::Entities;
use crate::cells::Cells;
use crate::layout::word;
use crate::table::Table;

/// Attributes of nodes, held in memory, in the order of the nodes.
#[derive(Default)]
pub(crate) struct NodeTable {
    attributes: Attributes,
    cells: Option<Cells>,
    /// Row of the table by node, when they are not the same.
    rows: Option<UInt32Array>,
    /// What `entity` says, when a node is an edge.
    entity: Option<ArrayRef>,
    _held: Option<Reservation>,
}

impl NodeTable {
    /// Reads the attributes of `entities`.
    ///
    /// # Errors
    /// When the table is not sound or does not fit the budget.
    pub fn read(
        table: Option<&Table>,
        id: &str,
        entities: &Entities,
        budget: &Budget,
        findings: &mut Findings,
    ) -> Result<NodeTable> {
        let mut nodes = NodeTable::default();
        if entities.has_edges() {
            let words = entities.is_edge.iter().map(|is_edge| is_edge.then_some(word::EDGE));
            nodes.entity = Some(Arc::new(words.collect::<StringArray>()));
        }
        let Some(table) = table.filter(|table| table.has(id)) else { return Ok(nodes) };
        let reserved = if nodes.entity.is_some() { &[well_known::ENTITY][..] } else { &[] };
        nodes.attributes = Attributes::of(table, &[id], reserved, findings);
        if nodes.attributes.properties.is_empty() {
            return Ok(nodes);
        }
        let (cells, mut held) = table.read(&[], budget)?;
        let ids = cells.text(id)?;
        if ids != entities.keys {
            held.grow(entities.len() as u64 * 8)?;
            // Of several rows for one node the last one counts.
            let mut rows: Vec<Option<u32>> = vec![None; entities.len()];
            for (row, id) in ids.iter().enumerate() {
                let node = id.and_then(|id| entities.row(id)).filter(|node| !entities.is_edge[*node as usize]);
                if let Some(slot) = node.and_then(|node| rows.get_mut(node as usize)) {
                    *slot = Some(row as u32);
                }
            }
            nodes.rows = Some(UInt32Array::from(rows));
        }
        (nodes.cells, nodes._held) = (Some(cells), Some(held));
        Ok(nodes)
    }

    /// The properties of nodes.
    pub fn properties(&self) -> Vec<Property> {
        let entity = self.entity.iter().map(|_| Property::new(well_known::ENTITY, DataType::Utf8));
        entity.chain(self.attributes.properties.iter().cloned()).collect()
    }

    fn columns(&self, start: usize, rows: usize) -> Result<Vec<Option<ArrayRef>>> {
        let entity = self.entity.iter().map(|all| Some(all.slice(start, rows)));
        let attributes = match (&self.cells, &self.rows) {
            (None, _) => self.attributes.absent(),
            (Some(cells), Some(of)) => self.attributes.take(cells, &of.slice(start, rows))?,
            (Some(cells), None) => {
                let batch = cells.batch.slice(start, rows);
                self.attributes.columns(&Cells { name: cells.name.clone(), batch })
            }
        };
        Ok(entity.chain(attributes).collect())
    }
}

/// All nodes.
pub(crate) struct NodePart<'a> {
    pub entities: &'a Entities,
    pub table: &'a NodeTable,
    pub keys_only: bool,
    pub batch_rows: usize,
}

impl Part for NodePart<'_> {
    fn read(&self, take: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        let count = self.entities.len();
        for start in (0..count).step_by(self.batch_rows.max(1)) {
            let rows = self.batch_rows.max(1).min(count - start);
            let properties = match self.keys_only {
                true => vec![None; self.table.properties().len()],
                false => self.table.columns(start, rows)?,
            };
            let keys: ArrayRef = Arc::new(self.entities.keys.slice(start, rows));
            let keys = Some(keys);
            take(Batch::Nodes(NodeBatch { ty: 0, start: start as u64, rows, keys, labels: None, properties }))?;
        }
        Ok(())
    }

    fn rows(&self) -> Option<u64> {
        Some(self.entities.len() as u64)
    }
}
