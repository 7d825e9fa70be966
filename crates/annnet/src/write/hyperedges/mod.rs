//! Hyperedges, placeholders and edges with a missing end. They are held until all their members are known.

mod build;
mod sides;

use arrow_array::Array;
use isomorph_error::{Error, Result};
use isomorph_model::batch::{HyperedgeBatch, MemberBatch};
use isomorph_storage::Reservation;

use super::WriteOptions;
use super::columns::{column, columns, floats, ids, keys};
use super::edges::{Edges, directions};
use super::layers::LayerIds;
use super::matrix::weight_of;
use super::nodes::Nodes;
use super::output::Output;
use super::shape::{Class, Shape};
use super::slices::Slices;
use super::table::TableOut;
use crate::order::Told;
use crate::read::ids::{self as hashes, ENTRY_BYTES, IdMap};
use build::Build;

/// The delivered batches.
pub(super) struct Hyperedges {
    edges: Vec<HyperedgeBatch>,
    members: Vec<MemberBatch>,
    held: Reservation,
    /// Number of edges of the type `hyperedge`.
    pub count: u64,
}

/// One member: its position in the delivered batches, and its layer.
#[derive(Clone, Copy)]
struct Member {
    owner: u32,
    batch: u32,
    row: u32,
    layer: Option<i64>,
}

/// The other tables that are written at the same time.
pub(super) struct Beside<'a, 'o> {
    pub shape: &'a Shape,
    pub nodes: &'a Nodes,
    pub edges: &'a mut Edges,
    pub slices: &'a mut Slices,
    pub layers: &'a mut LayerIds,
    pub output: &'a mut Output<'o>,
    pub options: &'a WriteOptions,
    /// Positions of edges among all columns, as the description states them.
    pub positions: &'a Told,
}

impl Hyperedges {
    /// Creates an empty collection.
    ///
    /// # Errors
    /// Returns an error if no memory is left.
    pub fn new(options: &WriteOptions) -> Result<Self> {
        Ok(Hyperedges { edges: Vec::new(), members: Vec::new(), held: options.budget.reserve(0)?, count: 0 })
    }

    /// Holds hyperedges.
    ///
    /// # Errors
    /// Returns an error if they exceed the budget.
    pub fn add(&mut self, batch: HyperedgeBatch) -> Result<()> {
        let columns = batch.properties.iter().flatten().map(|column| column.get_array_memory_size()).sum::<usize>();
        let own = batch.keys.get_array_memory_size() + columns;
        self.held.grow(own as u64 + batch.rows as u64 * ENTRY_BYTES)?;
        self.edges.push(batch);
        Ok(())
    }

    /// Holds members.
    ///
    /// # Errors
    /// Returns an error if they exceed the budget.
    pub fn add_members(&mut self, batch: MemberBatch) -> Result<()> {
        let own = keys(&batch.owner)?.get_array_memory_size() + keys(&batch.member)?.get_array_memory_size();
        let layers = batch.layers.as_ref().map_or(0, |layers| layers.get_array_memory_size());
        let rows = batch.roles.len() * size_of::<Member>();
        self.held.grow((own + layers + batch.roles.get_array_memory_size() + rows) as u64)?;
        self.members.push(batch);
        Ok(())
    }

    /// Writes everything, once all members are known.
    ///
    /// # Errors
    /// Returns an error if a member does not belong to a hyperedge, the format cannot represent a value, or a table
    /// cannot be written.
    pub fn write(&mut self, beside: &mut Beside<'_, '_>) -> Result<()> {
        let all = std::mem::take(&mut self.members);
        let edges = std::mem::take(&mut self.edges);
        let mut definitions: Option<TableOut> = None;
        let is_column = |ty: usize| beside.shape.hyperedges.get(ty).is_some_and(|(own, _)| *own != Class::Placeholder);
        let columns_of_these = edges.iter().filter(|batch| is_column(batch.ty)).map(|batch| batch.rows as u64).sum();
        beside.edges.keep_positions(beside.positions, columns_of_these);
        for (ty, (class, valued)) in beside.shape.hyperedges.iter().enumerate() {
            let batches: Vec<&HyperedgeBatch> = edges.iter().filter(|batch| batch.ty == ty).collect();
            let members = members_of(ty, &batches, &all, beside.layers)?;
            let mut start = 0;
            for batch in batches {
                let own = ids(&batch.keys, "ids of hyperedges")?;
                let directed = directions(batch.directed.as_ref(), batch.rows);
                let end = start + batch.rows as u32;
                let from = members.partition_point(|member| member.owner < start);
                let to = members.partition_point(|member| member.owner < end);
                let mut build = Build::new(*class, own, &directed, (beside.shape.is_flat, beside.options.layout));
                let mut rest = members.get(from..to).unwrap_or_default();
                let weights = column(&batch.properties, valued.weight);
                let weights = weights.map(|weights| floats(weights, "weights")).transpose()?;
                let weights = (beside.edges.has_matrix() && *class != Class::Placeholder).then_some(weights);
                for row in 0..batch.rows {
                    let count = rest.partition_point(|member| member.owner <= start + row as u32);
                    let (of_row, others) = rest.split_at(count);
                    build.row(row, (of_row, &all), beside.layers, &beside.edges.stating)?;
                    if let Some(weights) = &weights {
                        build.add_cells(row, of_row, &all, weight_of(*weights, row), beside.nodes)?;
                    }
                    rest = others;
                }
                if *class == Class::Hyperedge {
                    self.count += batch.rows as u64;
                    build.define(&batch.keys, &mut definitions, beside)?;
                }
                let weights = column(&batch.properties, valued.weight).cloned();
                let attributes = columns(&batch.properties, &valued.attributes);
                build.finish(&batch.keys, weights, attributes, beside)?;
                beside.slices.list_edges(&batch.keys, own, &beside.shape.all)?;
                start = end;
            }
        }
        definitions.map_or(Ok(()), |table| table.finish(beside.output))
    }
}

/// Returns the members of a type, by their owner.
fn members_of(
    ty: usize,
    batches: &[&HyperedgeBatch],
    all: &[MemberBatch],
    layers: &mut LayerIds,
) -> Result<Vec<Member>> {
    let mut rows: IdMap<u32> = IdMap::default();
    for id in batches.iter().map(|batch| ids(&batch.keys, "ids of hyperedges")) {
        for id in id?.iter().flatten() {
            let row = rows.len() as u32;
            rows.insert(hashes::hash(id), row);
        }
    }
    let mut members = Vec::new();
    for (at, batch) in all.iter().enumerate().filter(|(_, batch)| batch.ty == ty) {
        let owners = ids(keys(&batch.owner)?, "hyperedges of members")?;
        let numbers = batch.layers.as_ref().map(|column| layers.column(column)).transpose()?;
        for row in 0..owners.len() {
            let owner = rows.get(&hashes::hash(owners.value(row))).copied();
            let missing = || Error::malformed(format!("members of {:?}, which is not a hyperedge", owners.value(row)));
            let layer = numbers.as_ref().filter(|all| all.is_valid(row)).map(|all| all.value(row));
            members.push(Member { owner: owner.ok_or_else(missing)?, batch: at as u32, row: row as u32, layer });
        }
    }
    members.sort_by_key(|member| member.owner);
    Ok(members)
}
