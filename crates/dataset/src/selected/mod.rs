//! A part of a graph that is a graph again: selected types, columns and rows.
//!
//! [`Selected`] shows any source as the graph that a [`Selection`] keeps. Edges of nodes that are left out are left out
//! too; the remaining nodes are renumbered. The format is asked to skip what it can (see `pushed.rs`); here the whole
//! selection is applied again.

mod batches;
mod build;
mod hyperedges;
mod implied_nodes;
mod kept_rows;
mod row_set;
mod shape;
mod shown;
mod test;
mod type_names;
mod values;
mod view;

pub(crate) use batches::Rows;

use std::sync::Arc;

use isomorph_model::{Predicate, Source};
use isomorph_storage::Resources;

use crate::dataset::Dataset;
use crate::schema::Role;
use crate::table::TableKind;
use type_names::Named;

pub use view::{EdgesLeft, Selected};

/// The wanted part of a graph. Names refer to the graph that is shown: a node type, a hyperedge type, a kind of groups,
/// an edge type by its relation or by `source_relation_target` (also with `-` or blanks between them), or a table by
/// the name that [`crate::Dataset`] gives it. If the rows of edges name their relations, such a relation is a name as
/// well.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// Only these types: node types with all edges between them; edge and hyperedge types with the nodes at their ends,
    /// and then no others.
    pub types: Option<Vec<String>>,
    /// Only these properties, by name or as `TYPE.NAME`. Keys, labels and columns of the ends of edges are always
    /// included.
    pub columns: Option<Vec<String>>,
    /// Only elements of a type for which its condition is true. Several conditions on one type must all be true.
    pub conditions: Vec<(String, Predicate)>,
    /// Only the first nodes of each type, up to this number, after the other restrictions.
    pub limit: Option<u64>,
    /// Only a sample of the nodes of each type, drawn from those that pass the conditions.
    pub sample: Option<Sample>,
    /// Keep edges with one end that is left out. The node at that end is kept with its key only, and with properties
    /// that are inseparable.
    pub keep_dangling: bool,
    /// Properties without which an element would be a different one: they are included whatever the columns.
    pub inseparable: Vec<String>,
}

/// A sample of nodes. It depends only on their keys and the seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Number of nodes of each type.
    pub rows: u64,
    /// The seed; another seed draws other nodes.
    pub seed: u64,
}

impl Selection {
    /// Whether this selects the whole graph.
    pub fn is_everything(&self) -> bool {
        let Selection { types, columns, conditions, limit, sample, keep_dangling: _, inseparable: _ } = self;
        types.is_none() && columns.is_none() && conditions.is_empty() && limit.is_none() && sample.is_none()
    }
}

/// Whether `condition` uses only properties and keys, by name, and other columns by role, in the tables that `name`
/// refers to.
pub fn is_stored(source: &Arc<dyn Source>, name: &str, condition: &Predicate, resources: &Resources) -> bool {
    let dataset = Dataset::new(Arc::clone(source), resources.clone());
    let Ok(named) = Named::new(&dataset, name) else { return false };
    let has = |kind: TableKind, column: &str| {
        let table = dataset.tables().iter().find(|table| table.kind() == kind);
        table.is_some_and(|table| {
            let mut columns = table.roles().iter().zip(table.schema().fields());
            let is_role =
                column.strip_prefix('@').is_some_and(|word| table.roles().iter().any(|role| role.word() == word));
            let is_own = |role: &Role| matches!(role, Role::Property(_) | Role::Key);
            is_role || columns.any(|(role, field)| is_own(role) && field.name() == column)
        })
    };
    let named = named.first();
    condition.columns().into_iter().all(|column| named.tables().all(|kind| has(kind, column)))
}

/// Whether a table of `source` has a column with this name, given alone or as `TYPE.NAME`.
pub fn has_column(source: &Arc<dyn Source>, name: &str, resources: &Resources) -> bool {
    let dataset = Dataset::new(Arc::clone(source), resources.clone());
    type_names::Columns::new(&dataset, Some(&[name.to_owned()])).is_ok()
}
