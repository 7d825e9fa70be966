//! What the columns of files stand for, told by the mapping that they were written by.

use arrow_schema::DataType;
use isomorph_model::{Graph, Property, ValueKind};

use super::{Mapping, Step};

/// What a column of a file is, beside what is shown of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stored {
    /// What is shown, or what compares as that does.
    Itself,
    /// JSON text of it.
    Json,
    /// Values of a type that the format has, which do not compare as those of another that stand behind them.
    Other,
}

impl Stored {
    /// What stands for another value at one step of a way is no value at its end.
    pub(super) fn and(self, other: Stored) -> Stored {
        match (self, other) {
            (Stored::Itself, other) | (other, Stored::Itself) => other,
            (Stored::Json, Stored::Json) => Stored::Json,
            _ => Stored::Other,
        }
    }
}

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// Whether values of a type compare as those of another type that stand for them.
pub(super) fn compares_as(own: &DataType, stored: &DataType) -> bool {
    use DataType as T;
    // What has no sign is stored with the same bits where there is no wider type.
    let fits = own.is_signed_integer() || own.primitive_width() < stored.primitive_width();
    own == stored
        || own.is_integer() && stored.is_integer() && fits
        || own.is_floating() && stored.is_floating()
        || is_text(own) && is_text(stored)
        || matches!((own, stored), (T::Timestamp(..), T::Timestamp(..)))
}

/// What the column of a property is; `named` is the property in the file.
pub(super) fn of_property(named: &Property, own: &Property) -> Stored {
    let is_json = own.kind == ValueKind::Json || named.kind == ValueKind::Json;
    match compares_as(&own.data_type, &named.data_type) {
        _ if is_json && is_text(&named.data_type) => Stored::Json,
        true if !is_json => Stored::Itself,
        _ => Stored::Other,
    }
}

impl Mapping {
    /// Whether a node type of the files stands for groups in which edges are: which these are lies with the edges.
    pub(crate) fn is_group_of_edges(&self, ty: &str) -> bool {
        let mut nodes: Vec<usize> = Vec::new();
        let mut found = false;
        let is_named = |graph: &Graph, nodes: &[usize]| {
            nodes.iter().filter_map(|at| graph.nodes.get(*at)).any(|node| node.name == ty)
        };
        for step in &self.steps {
            match step {
                Step::Reify(record) => {
                    let of_edges = record.edges.iter().flat_map(|columns| &columns.memberships);
                    let kinds = of_edges.filter_map(|table| record.groups.get(table.kind));
                    nodes = kinds.map(|tables| tables.node).collect();
                    found = is_named(&record.plain, &nodes);
                }
                // In the same order, called otherwise.
                Step::Fit(record) => found = is_named(&record.fitted, &nodes),
                _ => {}
            }
        }
        found
    }
}
