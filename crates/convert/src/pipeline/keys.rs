//! Keys of elements that members and memberships refer to by row, for sinks that need keys.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_select::concat::concat;
use arrow_select::take::take;
use isomorph_error::{Error, Result};
use isomorph_model::schema::Owner;
use isomorph_model::{Batch, Ends, Graph, NodeBatch};

use crate::mapping::malformed;
use isomorph_dataset::{KeysByRow, KeysByRowBuilder};
use isomorph_storage::Resources;

/// Keys of nodes, hyperedges and groups, collected while these are delivered. Rows are counted from 0 in each table, in
/// the order of delivery.
pub(super) struct Keys {
    nodes: Table,
    hyperedges: Table,
    /// Groups of each kind, which are few: their keys can be lists, which the other tables cannot store.
    groups: Vec<Vec<ArrayRef>>,
}

/// Keys that are being collected, or can be looked up.
enum Table {
    Collecting(KeysByRowBuilder),
    Known(KeysByRow),
    Failed,
}

impl Table {
    fn push(&mut self, ty: usize, keys: &ArrayRef) -> Result<()> {
        match self {
            Table::Collecting(builder) => builder.push(ty, keys),
            _ => Err(Error::usage("elements were delivered after ends that refer to them by row")),
        }
    }

    fn settle(&mut self) -> Result<&KeysByRow> {
        if matches!(self, Table::Collecting(_))
            && let Table::Collecting(builder) = std::mem::replace(self, Table::Failed)
        {
            *self = Table::Known(builder.finish()?);
        }
        self.known()
    }

    fn known(&self) -> Result<&KeysByRow> {
        match self {
            Table::Known(keys) => Ok(keys),
            _ => Err(Error::usage("ends are rows, but the keys of their elements are not known yet")),
        }
    }
}

impl Keys {
    /// Creates empty tables.
    pub fn new(graph: &Graph, resources: &Resources) -> Self {
        let hyperedges = graph.hyperedges.iter().map(|ty| ty.key.kind).collect();
        Keys {
            nodes: Table::Collecting(KeysByRow::builder(graph, resources)),
            hyperedges: Table::Collecting(KeysByRow::builder_of(hyperedges, resources)),
            groups: vec![Vec::new(); graph.groups.len()],
        }
    }

    /// Adds the keys of nodes, which follow the nodes before.
    ///
    /// # Errors
    /// If nodes were already looked up, or there is no space for temporary files.
    pub fn add_nodes(&mut self, nodes: &NodeBatch) -> Result<()> {
        nodes.keys.as_ref().map_or(Ok(()), |keys| self.nodes.push(nodes.ty, keys))
    }

    /// Finishes the nodes.
    ///
    /// # Errors
    /// If there is no space for temporary files.
    pub fn nodes_done(&mut self) -> Result<&KeysByRow> {
        self.nodes.settle()
    }

    /// The keys of nodes, after [`Keys::nodes_done`].
    ///
    /// # Errors
    /// If called before.
    pub fn nodes(&self) -> Result<&KeysByRow> {
        self.nodes.known()
    }

    /// Replaces row ends by keys in batches of neither nodes nor edges; keys of hyperedges and groups are collected.
    ///
    /// # Errors
    /// If the element of a row was not delivered yet, or there is no space for temporary files.
    pub fn of_rest(&mut self, batch: Batch, graph: &Graph) -> Result<Batch> {
        Ok(match batch {
            Batch::Hyperedges(batch) => {
                self.hyperedges.push(batch.ty, &batch.keys)?;
                Batch::Hyperedges(batch)
            }
            Batch::Groups(batch) => {
                if let Some(groups) = self.groups.get_mut(batch.kind) {
                    groups.push(Arc::clone(&batch.keys));
                }
                Batch::Groups(batch)
            }
            Batch::Members(mut batch) => {
                let ends = graph.hyperedges.get(batch.ty).map(|ty| ty.ends);
                batch.member = self.of_owner(batch.member, ends.map(Owner::Nodes))?;
                batch.owner = self.of_owner(batch.owner, Some(Owner::Hyperedges(batch.ty)))?;
                Batch::Members(batch)
            }
            Batch::Memberships(mut batch) => {
                let table = graph.groups.get(batch.kind).and_then(|kind| kind.memberships.get(batch.table));
                batch.member = self.of_owner(batch.member, table.map(|table| table.of))?;
                batch.group = self.of_group(batch.group, batch.kind)?;
                Batch::Memberships(batch)
            }
            other => other,
        })
    }

    fn of_owner(&mut self, ends: Ends, owner: Option<Owner>) -> Result<Ends> {
        let rows = match ends {
            Ends::Keys(_) => return Ok(ends),
            Ends::Rows(rows) => rows,
        };
        let (table, ty) = match owner {
            Some(Owner::Nodes(ty)) => (&mut self.nodes, ty),
            Some(Owner::Hyperedges(ty)) => (&mut self.hyperedges, ty),
            _ => return Err(Error::usage("edges must be members by key, not by row")),
        };
        Ok(Ends::Keys(table.settle()?.gather(ty, rows.values())?))
    }

    fn of_group(&mut self, ends: Ends, kind: usize) -> Result<Ends> {
        let rows = match ends {
            Ends::Keys(_) => return Ok(ends),
            Ends::Rows(rows) => rows,
        };
        let groups = self.groups.get_mut(kind).ok_or_else(|| Error::usage("no such kind of groups"))?;
        if groups.len() > 1 {
            let pieces: Vec<&dyn Array> = groups.iter().map(AsRef::as_ref).collect();
            *groups = vec![concat(&pieces).map_err(malformed)?];
        }
        let keys = groups.first().ok_or_else(|| Error::malformed("members refer to groups that do not exist"))?;
        if rows.values().iter().any(|row| *row >= keys.len() as u64) {
            return Err(Error::malformed("a member refers to a group that does not exist"));
        }
        Ok(Ends::Keys(take(keys, &rows, None).map_err(malformed)?))
    }
}
