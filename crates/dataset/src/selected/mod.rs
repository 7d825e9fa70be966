//! A part of a graph that is a graph: types, columns and rows that are chosen.
//!
//! [`Selected`] shows any source as the graph that a [`Selection`] leaves. Nodes that are left out take their edges with them; the others
//! are numbered anew. What a format can leave out by itself is asked of it (see `pushed.rs`); here everything is applied once more.

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

/// What is wanted of a graph. Names are those of the graph that is shown: a node type, a hyperedge type, a kind of groups, an edge type by
/// its relation or by `source_relation_target` (also with `-` or blanks between them), a table by the name that [`crate::Dataset`] gives it. Where
/// edges name their relations in their rows, such a relation is a name as well.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// Only these types: node types with all edges between them; edge and hyperedge types with the nodes at their ends, and then no others.
    pub types: Option<Vec<String>>,
    /// Only these properties, by name or as `TYPE.NAME`. Keys, labels and what belongs to ends of edges always come.
    pub columns: Option<Vec<String>>,
    /// Only elements of a type for which its condition is true. Several conditions on one type must all be true.
    pub conditions: Vec<(String, Predicate)>,
    /// Only the first so many nodes of each type, of those that are left.
    pub limit: Option<u64>,
    /// Only some nodes of each type, drawn from those that are left.
    pub sample: Option<Sample>,
    /// Edges of which one end is left out stay, and so does the node at that end: its key, and nothing that is said of it but what is
    /// inseparable.
    pub keep_dangling: bool,
    /// Properties that an element would be another one without: they come whatever the columns.
    pub inseparable: Vec<String>,
}

/// Nodes that are drawn: which those are depends on their keys and the seed, and on nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// So many of each type.
    pub rows: u64,
    /// Another seed draws others.
    pub seed: u64,
}

impl Selection {
    /// Whether everything is wanted.
    pub fn is_everything(&self) -> bool {
        let Selection { types, columns, conditions, limit, sample, keep_dangling: _, inseparable: _ } = self;
        types.is_none() && columns.is_none() && conditions.is_empty() && limit.is_none() && sample.is_none()
    }
}

/// Whether `condition` looks at nothing but properties and keys, by their names, and other columns by their roles, in the tables that
/// `name` means.
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

/// Whether a table of `source` has a column that is called so, by its name or as `TYPE.NAME`.
pub fn has_column(source: &Arc<dyn Source>, name: &str, resources: &Resources) -> bool {
    let dataset = Dataset::new(Arc::clone(source), resources.clone());
    type_names::Columns::new(&dataset, Some(&[name.to_owned()])).is_ok()
}
