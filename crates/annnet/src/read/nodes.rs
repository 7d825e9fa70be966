//! Nodes with their attributes.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{Array, ArrayRef, StringArray, UInt32Array, UInt64Array};
use arrow_schema::DataType;
use arrow_select::take::take;
use isomorph_error::{Error, Findings, Result};
use isomorph_model::statistics::ColumnStatistics;
use isomorph_model::{Batch, Columns, Narrowing, NodeBatch, Part, Property, part, well_known};
use isomorph_storage::{Budget, Reservation};

use super::attributes::Attributes;
use super::edge_part::ranges_of;
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

    /// What the footers say of attributes, where the table has the rows of the nodes.
    ///
    /// # Errors
    /// When a footer is not sound.
    pub fn statistics(&self) -> Result<Vec<(String, ColumnStatistics)>> {
        match &self.source {
            Source::Beside(table) => self.attributes.statistics(table),
            Source::None | Source::Held { .. } => Ok(Vec::new()),
        }
    }

    /// The rows among `within` for whose attributes a filter is true, ascending; nothing where that is not worth asking.
    fn rows_where(&self, narrowing: Option<&Narrowing>, within: &Range<usize>) -> Result<Option<Vec<u32>>> {
        let filter = narrowing.and_then(Narrowing::filter_now);
        let (Some(filter), Source::Beside(table)) = (filter, &self.source) else { return Ok(None) };
        let Some(own) = self.attributes.part_of(&filter, table) else { return Ok(None) };
        let rows = table.rows_where(&own, within.start as u64..within.end as u64)?;
        // There are fewer than 2^32 nodes.
        Ok(rows.map(|rows| rows.into_iter().filter_map(|row| u32::try_from(row).ok()).collect()))
    }

    /// The properties of some nodes, which ascend.
    fn of_rows(&self, rows: &[u32], narrowing: Option<&Narrowing>) -> Result<Columns> {
        let numbers = UInt32Array::from(rows.to_vec());
        let entity = self.entity.iter().map(|all| take(all.as_ref(), &numbers, None).map(Some));
        let entity = entity.collect::<std::result::Result<Columns, _>>().map_err(broken)?;
        let names = self.attributes.names_of(narrowing, entity.len());
        let attributes = match &self.source {
            Source::Held { cells, rows: of, .. } => {
                let of = take(of, &numbers, None).map_err(broken)?;
                self.attributes.take(cells, of.as_primitive::<UInt32Type>())?
            }
            Source::Beside(table) if !names.is_empty() => {
                let rows: Vec<u64> = rows.iter().copied().map(u64::from).collect();
                self.attributes.columns(&table.read_rows(&names, &ranges_of(&rows))?)?
            }
            Source::Beside(_) | Source::None => self.attributes.absent(),
        };
        Ok(entity.into_iter().chain(attributes).collect())
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

/// Nodes that are being read.
enum Reading {
    /// Up to this row, with their attributes, where these are read.
    All(usize, Option<TableBatches>),
    /// Some rows, of which so many were read.
    Found(Vec<u32>, usize),
}

/// Those of some rows, which ascend, that are within others.
fn within(some: &[u32], nodes: &Range<usize>) -> Vec<u32> {
    let before = |end: usize| some.partition_point(|row| (*row as usize) < end);
    some.get(before(nodes.start)..before(nodes.end)).unwrap_or_default().to_vec()
}

/// Some nodes with their properties.
fn found_nodes(entities: &Entities, rows: &[u32], properties: Columns) -> Result<Batch> {
    let numbers = UInt64Array::from_iter_values(rows.iter().copied().map(u64::from));
    let keys = take(&entities.keys, &numbers, None).map_err(broken)?;
    let (start, keys) = (numbers.values().first().copied().unwrap_or_default(), Some(keys));
    let (rows, numbers) = (rows.len(), Some(numbers));
    Ok(Batch::Nodes(NodeBatch { ty: 0, start, numbers, rows, keys, labels: None, properties }))
}

fn broken(error: arrow_schema::ArrowError) -> Error {
    Error::malformed(error.to_string()).caused_by(error)
}

/// Some of the nodes, in their order.
pub(crate) struct NodePart<'a> {
    pub entities: &'a Entities,
    pub table: &'a NodeTable,
    pub nodes: Range<usize>,
    /// Those of them that are asked for by their keys or rows, ascending, if some are.
    pub some: Option<Arc<[u32]>>,
    /// What is read beside keys, if not everything.
    pub narrowing: Option<Arc<Narrowing>>,
    pub batch_rows: usize,
}

impl<'a> NodePart<'a> {
    /// Returns it as a part of a scan.
    pub fn part(self) -> Box<dyn Part + 'a> {
        let NodePart { entities, table, nodes, some, narrowing, batch_rows } = self;
        let (batch_rows, rows) = (batch_rows.max(1), nodes.len() as u64);
        let mut start = nodes.start;
        let keys_only = narrowing.as_ref().is_some_and(|narrowing| narrowing.properties.is_empty());
        let narrowed = narrowing.clone();
        let open = move || {
            let narrowing = narrowed.as_deref();
            let found = match some {
                Some(some) => Some(within(&some, &nodes)).filter(|some| 2 * some.len() <= nodes.len()),
                None => table.rows_where(narrowing, &nodes)?,
            };
            Ok(match found {
                Some(found) => Reading::Found(found, 0),
                None if keys_only => Reading::All(nodes.end, None),
                None => Reading::All(nodes.end, table.batches(&nodes, batch_rows, narrowing)?),
            })
        };
        part::opened(Some(rows), open, move |reading| {
            let (end, batches) = match reading {
                Reading::All(end, batches) => (*end, batches),
                Reading::Found(rows, at) => {
                    let Some(some) = rows.get(*at..).filter(|rest| !rest.is_empty()) else { return Ok(None) };
                    let some = some.get(..batch_rows).unwrap_or(some);
                    *at += some.len();
                    let narrowing = narrowing.as_deref().filter(|_| !keys_only);
                    let properties = match keys_only {
                        true => vec![None; table.properties().len()],
                        false => table.of_rows(some, narrowing)?,
                    };
                    return found_nodes(entities, some, properties).map(Some);
                }
            };
            let rows = batch_rows.min(end.saturating_sub(start));
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
