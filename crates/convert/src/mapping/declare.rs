//! Declarations that a format does not store, restored: names of keys, widths, kinds of values, order.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::DataType;
use isomorph_error::{Error, Result};
use isomorph_model::digest::schema_json;
use isomorph_model::{Document, Graph, Property, Source};

use super::exact_cast::exact_cast;
use super::{CARRY_FITS, Redeclared};

/// Shows `inner` as `graph`; returns `inner` itself if it already is.
///
/// # Errors
/// Returns [`CARRY_FITS`] if it has other types or properties.
pub fn declared(inner: Arc<dyn Source>, graph: &Graph) -> Result<Arc<dyn Source>> {
    if says_itself(inner.graph(), graph) && names(inner.graph()) == names(graph) {
        return Ok(inner);
    }
    Ok(Arc::new(Redeclared::declared(inner, graph)?))
}

/// Whether the graph in the files declares everything that `graph` does, in any order.
pub fn says_itself(found: &Graph, graph: &Graph) -> bool {
    documents(found) == documents(graph) && schema_json(found) == schema_json(graph)
}

/// The documents by name: layouts store them in different files, and their order has no meaning.
fn documents(graph: &Graph) -> Vec<&Document> {
    let mut documents: Vec<&Document> = graph.documents.iter().collect();
    documents.sort_by(|left, right| left.name.cmp(&right.name));
    documents
}

/// Types and properties, in order.
fn names(graph: &Graph) -> Vec<String> {
    let of = |properties: &[Property]| properties.iter().map(|property| property.name.clone()).collect::<Vec<_>>();
    let nodes = graph.nodes.iter().flat_map(|ty| [vec![ty.name.clone()], of(&ty.properties)]);
    let edges = graph.edges.iter().flat_map(|ty| {
        let (source, relation, target) = graph.edge_name(ty);
        [vec![source, relation, target], of(&ty.properties)]
    });
    nodes.chain(edges).flatten().collect()
}

/// Casts a column to its declared type; every value must be representable.
pub(super) fn cast(column: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    exact_cast(column, to)
        .map_err(|error| Error::broken(&CARRY_FITS, format!("a value does not fit its declared type: {error}")))
}
