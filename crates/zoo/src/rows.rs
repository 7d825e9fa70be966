//! Selects rows of batches, and iterates over all their columns.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{ArrayRef, UInt32Array};
use arrow_select::take::take;

use isomorph_model::batch::{GroupBatch, HyperedgeBatch, MemberBatch, MembershipBatch, ValueBatch};
use isomorph_model::label::LabelBuilder;
use isomorph_model::schema::Owner;
use isomorph_model::{Batch, Columns, EdgeBatch, Ends, Graph, MemoryGraph, NodeBatch, Property, Relations};

/// Returns the rows of a column in another order; rows that do not exist are an error of the test.
pub(super) fn pick_column(column: &ArrayRef, rows: &[usize]) -> ArrayRef {
    let rows = UInt32Array::from_iter_values(rows.iter().map(|row| *row as u32));
    take(column, &rows, None).unwrap_or_else(|_| Arc::clone(column))
}

fn pick_columns(columns: &Columns, rows: &[usize]) -> Columns {
    columns.iter().map(|column| column.as_ref().map(|column| pick_column(column, rows))).collect()
}

fn pick_ends(ends: &Ends, rows: &[usize]) -> Ends {
    match ends {
        Ends::Keys(keys) => Ends::Keys(pick_column(keys, rows)),
        Ends::Rows(all) => {
            let picked = pick_column(&(Arc::new(all.clone()) as ArrayRef), rows);
            Ends::Rows(picked.as_primitive::<UInt64Type>().clone())
        }
    }
}

/// Returns the given rows of a batch, in the given order; a row may be repeated.
pub(super) fn pick(batch: &Batch, rows: &[usize]) -> Batch {
    let all = |column: &ArrayRef| pick_column(column, rows);
    let bools = |column: &arrow_array::BooleanArray| all(&(Arc::new(column.clone()) as ArrayRef)).as_boolean().clone();
    match batch {
        Batch::Nodes(batch) => Batch::Nodes(NodeBatch {
            rows: rows.len(),
            keys: batch.keys.as_ref().map(all),
            labels: batch.labels.as_ref().map(|labels| {
                let mut builder = LabelBuilder::default();
                rows.iter().for_each(|row| builder.push(labels.row(*row)));
                builder.finish()
            }),
            properties: pick_columns(&batch.properties, rows),
            ..batch.clone()
        }),
        Batch::Edges(batch) => Batch::Edges(EdgeBatch {
            rows: rows.len(),
            relations: batch.relations.as_ref().map(|relations| Relations {
                names: relations.names.clone(),
                index: UInt32Array::from_iter_values(rows.iter().map(|row| relations.index.value(*row))),
            }),
            source: pick_ends(&batch.source, rows),
            target: pick_ends(&batch.target, rows),
            layers: batch.layers.as_ref().map(|(source, target)| (all(source), all(target))),
            directed: batch.directed.as_ref().map(bools),
            keys: batch.keys.as_ref().map(all),
            properties: pick_columns(&batch.properties, rows),
            ..batch.clone()
        }),
        Batch::Hyperedges(batch) => Batch::Hyperedges(HyperedgeBatch {
            rows: rows.len(),
            keys: all(&batch.keys),
            directed: batch.directed.as_ref().map(bools),
            properties: pick_columns(&batch.properties, rows),
            ..batch.clone()
        }),
        Batch::Members(batch) => Batch::Members(MemberBatch {
            owner: pick_ends(&batch.owner, rows),
            member: pick_ends(&batch.member, rows),
            roles: all(&(Arc::new(batch.roles.clone()) as ArrayRef)).as_string().clone(),
            layers: batch.layers.as_ref().map(all),
            coefficients: batch
                .coefficients
                .as_ref()
                .map(|column| all(&(Arc::new(column.clone()) as ArrayRef)).as_primitive().clone()),
            ..batch.clone()
        }),
        Batch::Values(batch) => Batch::Values(ValueBatch {
            owner: pick_ends(&batch.owner, rows),
            values: all(&batch.values),
            qualifiers: pick_columns(&batch.qualifiers, rows),
            ..batch.clone()
        }),
        Batch::Groups(batch) => Batch::Groups(GroupBatch {
            keys: all(&batch.keys),
            properties: pick_columns(&batch.properties, rows),
            ..batch.clone()
        }),
        Batch::Memberships(batch) => Batch::Memberships(MembershipBatch {
            group: pick_ends(&batch.group, rows),
            member: pick_ends(&batch.member, rows),
            properties: pick_columns(&batch.properties, rows),
            ..batch.clone()
        }),
    }
}

/// Returns the properties of a batch's rows and their columns; members have none.
pub(super) fn properties<'a>(
    graph: &'a mut Graph,
    batch: &'a mut Batch,
) -> Option<(&'a mut Vec<Property>, &'a mut Columns)> {
    match batch {
        Batch::Nodes(batch) => Some((&mut graph.nodes.get_mut(batch.ty)?.properties, &mut batch.properties)),
        Batch::Edges(batch) => Some((&mut graph.edges.get_mut(batch.ty)?.properties, &mut batch.properties)),
        Batch::Hyperedges(batch) => Some((&mut graph.hyperedges.get_mut(batch.ty)?.properties, &mut batch.properties)),
        Batch::Values(batch) => Some((&mut graph.values.get_mut(batch.table)?.qualifiers, &mut batch.qualifiers)),
        Batch::Groups(batch) => Some((&mut graph.groups.get_mut(batch.kind)?.properties, &mut batch.properties)),
        Batch::Memberships(batch) => {
            let table = graph.groups.get_mut(batch.kind)?.memberships.get_mut(batch.table)?;
            Some((&mut table.properties, &mut batch.properties))
        }
        Batch::Members(_) => None,
    }
}

/// Applies `change` to every property column of a graph, and every column of values.
pub(super) fn map_columns(
    memory: &MemoryGraph,
    mut change: impl FnMut(&Property, &ArrayRef) -> ArrayRef,
) -> MemoryGraph {
    let mut memory = memory.clone();
    for batch in &mut memory.batches {
        if let Some((properties, columns)) = properties(&mut memory.graph, batch) {
            for (property, column) in properties.iter().zip(columns.iter_mut()) {
                if let Some(column) = column {
                    *column = change(property, column);
                }
            }
        }
        if let Batch::Values(batch) = batch {
            batch.values = change(&memory.graph.values[batch.table].property, &batch.values);
        }
    }
    memory
}

/// Applies `change` to all keys of a graph, including ends.
pub(super) fn map_keys(memory: &MemoryGraph, mut change: impl FnMut(&ArrayRef) -> ArrayRef) -> MemoryGraph {
    let mut memory = memory.clone();
    for batch in &mut memory.batches {
        match batch {
            Batch::Nodes(batch) => batch.keys.iter_mut().for_each(|keys| *keys = change(keys)),
            Batch::Edges(batch) => batch.keys.iter_mut().for_each(|keys| *keys = change(keys)),
            Batch::Hyperedges(batch) => batch.keys = change(&batch.keys),
            Batch::Groups(batch) => batch.keys = change(&batch.keys),
            _ => {}
        }
        for (_, ends) in ends(&memory.graph, batch) {
            if let Ends::Keys(keys) = ends {
                *keys = change(keys);
            }
        }
    }
    memory
}

/// A table whose rows or keys are referred to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Referred {
    Owner(Owner),
    Group(usize),
}

/// Returns all ends of a batch, with the tables to which they refer.
pub(super) fn ends<'a>(graph: &Graph, batch: &'a mut Batch) -> Vec<(Referred, &'a mut Ends)> {
    let nodes = |ty: usize| Referred::Owner(Owner::Nodes(ty));
    match batch {
        Batch::Edges(batch) => {
            let ty = &graph.edges[batch.ty];
            vec![(nodes(ty.source), &mut batch.source), (nodes(ty.target), &mut batch.target)]
        }
        Batch::Members(batch) => vec![
            (Referred::Owner(Owner::Hyperedges(batch.ty)), &mut batch.owner),
            (nodes(graph.hyperedges[batch.ty].ends), &mut batch.member),
        ],
        Batch::Values(batch) => vec![(Referred::Owner(graph.values[batch.table].owner), &mut batch.owner)],
        Batch::Memberships(batch) => vec![
            (Referred::Group(batch.kind), &mut batch.group),
            (Referred::Owner(graph.groups[batch.kind].memberships[batch.table].of), &mut batch.member),
        ],
        Batch::Nodes(_) | Batch::Hyperedges(_) | Batch::Groups(_) => Vec::new(),
    }
}
