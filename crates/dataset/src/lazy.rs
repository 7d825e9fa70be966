//! Keys of elements that batches name by row, read when the first row is met.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, UInt64Array};
use isomorph_error::Result;
use isomorph_model::{Batch, KeyKind, Request, Source, Tables};
use isomorph_storage::Resources;

use crate::keys::{KeysByRow, KeysByRowBuilder};

/// Elements that have keys by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keyed {
    Nodes(usize),
    Hyperedges(usize),
    Groups(usize),
}

/// Keys of tables of one sort, once they are read.
type Known = Mutex<Option<Arc<KeysByRow>>>;

/// The keys of the elements of a graph.
pub(crate) struct Keys {
    source: Arc<dyn Source>,
    resources: Resources,
    nodes: Known,
    hyperedges: Known,
    groups: Known,
}

impl Keys {
    pub fn new(source: Arc<dyn Source>, resources: Resources) -> Self {
        Keys { source, resources, nodes: Known::default(), hyperedges: Known::default(), groups: Known::default() }
    }

    /// The keys of rows of a table; of a table without keys, the rows themselves.
    ///
    /// # Errors
    /// When a row does not exist, keys cannot be read, or there is no room for temporary files.
    pub fn gather(&self, what: Keyed, rows: &UInt64Array) -> Result<ArrayRef> {
        let (known, ty) = match what {
            Keyed::Nodes(ty) => (&self.nodes, ty),
            Keyed::Hyperedges(ty) => (&self.hyperedges, ty),
            Keyed::Groups(ty) => (&self.groups, ty),
        };
        // Others that need the same keys wait for them.
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = match &*known {
            Some(keys) => Arc::clone(keys),
            None => Arc::clone(known.insert(Arc::new(self.read(what)?))),
        };
        drop(known);
        keys.gather(ty, rows.values())
    }

    fn read(&self, what: Keyed) -> Result<KeysByRow> {
        let graph = self.source.graph();
        let of = |kinds: Vec<KeyKind>| KeysByRow::builder_of(kinds, &self.resources);
        match what {
            Keyed::Nodes(_) => {
                let mut keys = KeysByRow::builder(graph, &self.resources);
                for (at, _) in graph.nodes.iter().enumerate().filter(|(_, ty)| ty.key.kind != KeyKind::Row) {
                    self.each(Tables::NodeKeys(at), &mut keys, |batch, keys| match batch {
                        Batch::Nodes(nodes) => keys.add(&nodes),
                        _ => Ok(()),
                    })?;
                }
                keys.finish()
            }
            Keyed::Hyperedges(_) => {
                let mut keys = of(graph.hyperedges.iter().map(|ty| ty.key.kind).collect());
                self.each(Tables::Rest, &mut keys, |batch, keys| match batch {
                    Batch::Hyperedges(batch) => keys.push(batch.ty, &batch.keys),
                    _ => Ok(()),
                })?;
                keys.finish()
            }
            Keyed::Groups(_) => {
                let mut keys = of(graph.groups.iter().map(|kind| kind.key.kind).collect());
                self.each(Tables::Rest, &mut keys, |batch, keys| match batch {
                    Batch::Groups(batch) => keys.push(batch.kind, &batch.keys),
                    _ => Ok(()),
                })?;
                keys.finish()
            }
        }
    }

    fn each(
        &self,
        tables: Tables,
        keys: &mut KeysByRowBuilder,
        take: impl Fn(Batch, &mut KeysByRowBuilder) -> Result<()>,
    ) -> Result<()> {
        let parts = self.source.scan(&Request::of(tables))?;
        parts.into_iter().flatten().try_for_each(|batch| take(batch?, keys))
    }
}
