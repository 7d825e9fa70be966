//! Nodes with their attributes.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, StringArray, UInt32Array};
use arrow_schema::DataType;
use isomorph_error::{Findings, Result};
use isomorph_model::{Batch, Columns, Narrowing, NodeBatch, Part, Property, part, well_known};
use isomorph_storage::{Budget, Reservation};

use super::attributes::Attributes;
use super::entities::Entities;
use crate::cells::Cells;
use crate::layout::word;
use crate::table::{Table, TableBatches};

/// Rows of a batch while both orders are compared.
const BATCH_ROWS: usize = 1 << 15;

/// Attributes of nodes.
#[derive(Default)]
pub(crate) struct NodeTable {
    attributes: Attributes,
    source: Source,
    /// The column `entity`, if a node is an edge.
    entity: Option<ArrayRef>,
}

#[derive(Default)]
enum Source {
    #[default]
    None,
    /// The table has the nodes in the order of the graph: it is read on demand.
    Beside(Table),
    /// The table has another order or other nodes: it is held in memory, with the row of the table for each node.
    Held { cells: Cells, rows: UInt32Array, _held: Reservation },
}

impl NodeTable {
    /// Determines how the attributes of `entities` are read.
    ///
    /// # Errors
    /// Returns an error if the table is malformed, or must be held and exceeds the budget.
    pub fn open(
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
        // Also if no node is an edge: the name must not depend on the rows, and a writer treats this property as the
        // mark of edges.
        nodes.attributes = Attributes::of(table, &[id], &[well_known::ENTITY], findings)?;
        if nodes.attributes.properties.is_empty() {
            return Ok(nodes);
        }
        if is_beside(table, id, entities)? {
            nodes.source = Source::Beside(table.clone());
            return Ok(nodes);
        }
        let (cells, mut held) = table.read(&[], budget)?;
        let ids = cells.text(id)?;
        held.grow(entities.len() as u64 * 8)?;
        // If a node has several rows, the last one is used.
        let mut rows: Vec<Option<u32>> = vec![None; entities.len()];
        for (row, id) in ids.iter().enumerate() {
            let node = id.and_then(|id| entities.row(id)).filter(|node| !entities.is_edge[*node as usize]);
            if let Some(slot) = node.and_then(|node| rows.get_mut(node as usize)) {
                *slot = Some(row as u32);
            }
        }
        nodes.source = Source::Held { cells, rows: UInt32Array::from(rows), _held: held };
        Ok(nodes)
    }

    /// Returns the attributes of nodes, without the mark of nodes that are edges.
    pub fn own_properties(&self) -> &[Property] {
        &self.attributes.properties
    }

    /// Returns the names of properties that differ from those of their columns, with the names of the columns.
    pub fn renamed(&self) -> &[(String, String)] {
        &self.attributes.renamed
    }

    /// Returns the properties of nodes.
    pub fn properties(&self) -> Vec<Property> {
        let entity = self.entity.iter().map(|_| Property::new(well_known::ENTITY, DataType::Utf8));
        entity.chain(self.attributes.properties.iter().cloned()).collect()
    }

    /// Returns ranges of rows that can be read in parallel.
    pub fn groups(&self, nodes: usize) -> Vec<Range<usize>> {
        match &self.source {
            Source::Beside(table) => table.groups().iter().map(|rows| rows.start as usize..rows.end as usize).collect(),
            Source::None | Source::Held { .. } => Some(0..nodes).into_iter().collect(),
        }
    }

    fn batches(
        &self,
        rows: &Range<usize>,
        batch_rows: usize,
        narrowing: Option<&Narrowing>,
    ) -> Result<Option<TableBatches>> {
        let names = self.attributes.names_of(narrowing, usize::from(self.entity.is_some()));
        match &self.source {
            Source::Beside(table) if !names.is_empty() => {
                table.batches(&names, rows.start as u64..rows.end as u64, batch_rows).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn columns(&self, start: usize, rows: usize, batches: &mut Option<TableBatches>) -> Result<Columns> {
        let entity = self.entity.iter().map(|all| Some(all.slice(start, rows)));
        let attributes = match (&self.source, batches) {
            (Source::Held { cells, rows: of, .. }, _) => self.attributes.take(cells, &of.slice(start, rows))?,
            (_, Some(batches)) => {
                let cells = batches.take_rows(rows)?;
                cells.map_or_else(|| Ok(self.attributes.absent()), |cells| self.attributes.columns(&cells))?
            }
            _ => self.attributes.absent(),
        };
        Ok(entity.chain(attributes).collect())
    }
}

/// Returns whether the table has the nodes in their order, row by row.
fn is_beside(table: &Table, id: &str, entities: &Entities) -> Result<bool> {
    if table.rows() != entities.len() as u64 || entities.has_edges() {
        return Ok(false);
    }
    let mut start = 0;
    for cells in table.batches(&[id], 0..table.rows(), BATCH_ROWS)? {
        let ids = cells?.text(id)?;
        if entities.keys.slice(start, ids.len()) != ids {
            return Ok(false);
        }
        start += ids.len();
    }
    Ok(start == entities.len())
}

/// A range of the nodes, in their order.
pub(crate) struct NodePart<'a> {
    pub entities: &'a Entities,
    pub table: &'a NodeTable,
    pub nodes: Range<usize>,
    /// The columns to read in addition to keys; all if `None`.
    pub narrowing: Option<Arc<Narrowing>>,
    pub batch_rows: usize,
}

impl<'a> NodePart<'a> {
    /// Returns it as a part of a scan.
    pub fn part(self) -> Box<dyn Part + 'a> {
        let NodePart { entities, table, nodes, narrowing, batch_rows } = self;
        let (batch_rows, rows) = (batch_rows.max(1), nodes.len() as u64);
        let mut start = nodes.start;
        let keys_only = narrowing.as_ref().is_some_and(|narrowing| narrowing.properties.is_empty());
        let open = move || match keys_only {
            true => Ok(None),
            false => table.batches(&(start..nodes.end), batch_rows, narrowing.as_deref()),
        };
        part::opened(Some(rows), open, move |batches| {
            let rows = batch_rows.min(nodes.end.saturating_sub(start));
            if rows == 0 {
                return Ok(None);
            }
            let properties = match keys_only {
                true => vec![None; table.properties().len()],
                false => table.columns(start, rows, batches)?,
            };
            let keys: ArrayRef = Arc::new(entities.keys.slice(start, rows));
            let (keys, first) = (Some(keys), start as u64);
            start += rows;
            Ok(Some(Batch::Nodes(NodeBatch {
                ty: 0,
                start: first,
                numbers: None,
                rows,
                keys,
                labels: None,
                properties,
            })))
        })
    }
}
