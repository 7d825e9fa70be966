//! Building both views of an opened graph.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int8Type};
use arrow_array::{Array, Float32Array, Int8Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use isomorph_error::{Error, Place, Result};
use isomorph_storage::{Budget, Scratch};
use isomorph_tables::sort::{EdgeSorter, SortOptions, SortedEdges};
use serde_json::{Map, json};

use super::arrays::{Column, Compressed};
use super::places::{Columns, Entities, NONE};
use super::stamp::{BUILT_FROM, FACTS, SHAPE, built_from};
use super::{BATCH_ROWS, CSC, CSR, Side};
use crate::Annnet;
use crate::cells::Cells;
use crate::layout::column;
use crate::read::{COLUMNS, Class, Placement, Role, directions, hash, weights};
use crate::rules;
use crate::write::{Output, WriteOptions};
use crate::zarr::put_group;

/// Writes both views of a graph.
///
/// # Errors
/// Returns an error if the graph cannot be read, exceeds the budget, or files cannot be written.
pub(crate) fn build(annnet: &Annnet, output: &mut Output<'_>, options: &WriteOptions) -> Result<()> {
    let scratch = options.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?;
    let entities = Entities::of(annnet, &options.budget)?;
    let columns = Columns::of(annnet, &options.budget)?;
    let payload = Arc::new(Schema::new(vec![
        Field::new("data", DataType::Float32, false),
        Field::new("side", DataType::Int8, false),
    ]));
    let sorter = |memory: u64| {
        EdgeSorter::new(SortOptions::new(&options.budget, &scratch).memory(memory).payload(Arc::clone(&payload)))
    };
    let memory = options.budget.limit() / 4;
    let by_entity = sorter(memory)?;
    // Edges that are in the order of their columns need no sorting.
    let by_column = columns.of_rows.is_some().then(|| sorter(memory)).transpose()?;
    let mut csc = Compressed::create(CSC, options)?;
    let mut sequence = 0;
    let mut entries = Entries::default();
    let one_sided = annnet.edges.rows_of(Class::OneSided).len();
    let mut direct = !annnet.edges.has_coefficients && annnet.edge_attributes.is_by_row() && one_sided == 0;
    each_edge(
        annnet,
        &columns,
        &mut entries,
        |entries, edge| {
            direct &= edge.is_placed;
            if by_column.is_none() && edge.column != NONE {
                csc.begin(edge.column, output)?;
                for at in edge.from..entries.columns.len() {
                    csc.add(edge.column, entries.entities[at], entries.values[at], output)?;
                }
            }
            if entries.columns.len() >= BATCH_ROWS || edge.is_last {
                let batch = entries.payload(&payload)?;
                by_entity.push(&entries.entities, &entries.columns, Some(&batch), sequence)?;
                if let Some(sorter) = &by_column {
                    sorter.push(&entries.columns, &entries.entities, Some(&batch), sequence)?;
                }
                sequence += entries.columns.len() as u64;
                entries.clear();
            }
            Ok(())
        },
        &entities,
    )?;
    if let Some(sorter) = by_column {
        let sorted = sorter.finish()?;
        let mut stream = sorted.stream()?;
        while let Some(batch) = stream.next_batch()? {
            let values = batch.payload.column(0).as_primitive::<Float32Type>();
            for row in 0..batch.aligned.len() {
                csc.add(batch.aligned.value(row), batch.other.value(row), values.value(row), output)?;
            }
        }
    }
    csc.finish(columns.count, output)?;
    let mut rows = Column::create(CSC, "row", options)?;
    columns.rows(|row| rows.push(row, output))?;
    rows.finish(output)?;

    let mut csr = Compressed::create(CSR, options)?;
    let mut sides = Column::create(CSR, "side", options)?;
    let sorted = by_entity.finish()?;
    let mut stream = sorted.stream()?;
    while let Some(batch) = stream.next_batch()? {
        let values = batch.payload.column(0).as_primitive::<Float32Type>();
        let own = batch.payload.column(1).as_primitive::<Int8Type>();
        for row in 0..batch.aligned.len() {
            csr.add(batch.aligned.value(row), batch.other.value(row), values.value(row), output)?;
            sides.push(own.value(row), output)?;
        }
    }
    csr.finish(entities.count, output)?;
    sides.finish(output)?;
    entities.write_ids(annnet, options, output)?;

    let mut attributes = Map::new();
    attributes.insert(SHAPE.to_owned(), json!([entities.count, columns.count]));
    let version = annnet.manifest.graph_version.as_deref();
    attributes.insert(BUILT_FROM.to_owned(), built_from(&annnet.members, &annnet.words, version)?);
    attributes.insert(FACTS.to_owned(), json!({ "direct": direct, "nodes": annnet.entities.len() }));
    put_group(CSC, attributes.clone(), output)?;
    put_group(CSR, attributes, output)
}

/// Returns the entries of the incidence matrix that the tables imply, sorted by column and row, each with its value
/// (`Float32`): one for each side of an edge that an entity is on, never summed.
///
/// # Errors
/// Returns the errors of [`build`].
pub(crate) fn implied(annnet: &Annnet, budget: &Budget, scratch: &Scratch) -> Result<SortedEdges> {
    let entities = Entities::of_matrix(annnet, budget)?;
    let columns = Columns::of(annnet, budget)?;
    let payload = Arc::new(Schema::new(vec![Field::new("data", DataType::Float32, false)]));
    let options = SortOptions::new(budget, scratch).memory(budget.limit() / 4).payload(Arc::clone(&payload));
    let sorter = EdgeSorter::new(options)?;
    let (mut sequence, mut entries) = (0, Entries::default());
    let take = |entries: &mut Entries, edge: Edge| {
        if entries.columns.len() >= BATCH_ROWS || edge.is_last {
            let values = Arc::new(Float32Array::from(std::mem::take(&mut entries.values)));
            let batch = RecordBatch::try_new(Arc::clone(&payload), vec![values])
                .map_err(|error| Error::usage(error.to_string()).caused_by(error))?;
            sorter.push(&entries.columns, &entries.entities, Some(&batch), sequence)?;
            sequence += entries.columns.len() as u64;
            entries.clear();
        }
        Ok(())
    };
    each_edge(annnet, &columns, &mut entries, take, &entities)?;
    sorter.finish()
}

/// Entries of the matrix.
#[derive(Default)]
struct Entries {
    entities: Vec<u64>,
    columns: Vec<u64>,
    values: Vec<f32>,
    sides: Vec<i8>,
}

impl Entries {
    fn add(&mut self, entity: Option<u64>, column: u64, value: f64, side: Side) {
        if let Some(entity) = entity {
            self.entities.push(entity);
            self.columns.push(column);
            self.values.push(value as f32);
            self.sides.push(side as i8);
        }
    }

    fn payload(&self, schema: &Arc<Schema>) -> Result<RecordBatch> {
        let values = Arc::new(Float32Array::from(self.values.clone()));
        let sides = Arc::new(Int8Array::from(self.sides.clone()));
        RecordBatch::try_new(Arc::clone(schema), vec![values, sides])
            .map_err(|error| Error::usage(error.to_string()).caused_by(error))
    }

    fn clear(&mut self) {
        self.entities.clear();
        self.columns.clear();
        self.values.clear();
        self.sides.clear();
    }
}

/// The edge whose entries were added last.
struct Edge {
    column: u64,
    /// Index of its first entry.
    from: usize,
    /// Whether every end states its layer.
    is_placed: bool,
    is_last: bool,
}

/// Adds the entries of each edge, in the order of the table, and reports each edge.
fn each_edge(
    annnet: &Annnet,
    columns: &Columns,
    entries: &mut Entries,
    mut each: impl FnMut(&mut Entries, Edge) -> Result<()>,
    entities: &Entities,
) -> Result<()> {
    let (table, known) = (&annnet.edges.table, annnet.known());
    let (mut row, mut before) = (0, 0);
    for cells in table.batches(&COLUMNS, 0..table.rows(), BATCH_ROWS)? {
        let cells: Cells = cells?;
        let ids = cells.ids(column::EDGE_ID, &rules::EDGE_ID)?;
        let weights = weights(&cells)?;
        let weights = weights.as_primitive::<Float64Type>();
        let directed = directions(&cells, annnet.manifest.is_directed())?;
        let (sources, targets) = (cells.text(column::SOURCE)?, cells.text(column::TARGET)?);
        let ends = [known.entities.rows_of(&sources), known.entities.rows_of(&targets)];
        let layers = [cells.integers(column::SOURCE_LAYER)?, cells.integers(column::TARGET_LAYER)?];
        for at in 0..ids.len() {
            let id = hash(ids.value(at));
            let class = annnet.edges.class_of(id);
            let is_last = row + 1 == table.rows();
            let mut edge = Edge { column: NONE, from: entries.columns.len(), is_placed: true, is_last };
            if class == Class::Placeholder {
                before += 1;
            } else {
                edge.column = columns.of_row(row, before);
                let weight = weights.value(at);
                let value = |entity: Placement, is_bare: bool, sign: f64| {
                    known.coefficients.of(id, Some(entity), is_bare).unwrap_or(sign * weight)
                };
                if class == Class::Hyperedge {
                    let members = known.hyperedges.get(id);
                    let members = members.iter().flat_map(|own| own.members.iter().zip(own.are_bare));
                    for ((entity, role), is_bare) in members {
                        let (side, sign) = match role {
                            Role::Head => (Side::Head, 1.0),
                            Role::Tail => (Side::Tail, -1.0),
                            Role::Member => (Side::Member, 1.0),
                        };
                        entries.add(entities.row(*entity), edge.column, value(*entity, *is_bare, sign), side);
                    }
                } else {
                    let directed = directed.as_ref().is_none_or(|directed| directed.value(at));
                    let sides = [(Side::Source, 1.0), (Side::Target, if directed { -1.0 } else { 1.0 })];
                    for ((side, sign), (ends, layers)) in sides.into_iter().zip(ends.iter().zip(&layers)) {
                        let place = || Place::file(&table.name).row(row);
                        let layer = layers.is_valid(at).then(|| known.layers.at(layers.value(at))).transpose();
                        let layer = layer.map_err(|error| error.at(place()))?;
                        edge.is_placed &= layer.is_some() || known.layers.is_flat();
                        let entity = ends[at].and_then(|node| known.entities.placement(node, layer));
                        if let Some(entity) = entity {
                            entries.add(entities.row(entity), edge.column, value(entity, layer.is_none(), sign), side);
                        }
                    }
                }
            }
            row += 1;
            if edge.column != NONE || edge.is_last {
                each(entries, edge)?;
            }
        }
    }
    Ok(())
}
