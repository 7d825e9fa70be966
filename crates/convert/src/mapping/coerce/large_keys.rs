//! Whether keys of nodes are larger than integers with a sign: formats without unsigned keys write such keys as text.

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_schema::DataType;
use isomorph_error::Result;
use isomorph_model::{Batch, EndForm, Ends, Request, Source, Tables};
use isomorph_storage::Resources;

use crate::parallel::Pass;
use crate::progress::Progress;

/// Whether a node of `source` has an integer key from 2^63 on. Reads the keys of node types with unsigned keys of 64 bits and, where ends of
/// edges may be nodes that no row describes, these ends.
///
/// # Errors
/// If they cannot be read.
pub(crate) fn has_large_keys(source: &dyn Source, resources: &Resources, progress: &dyn Progress) -> Result<bool> {
    let graph = source.graph();
    let is_wide = |ty: usize| graph.nodes.get(ty).is_some_and(|ty| ty.key.data_type == DataType::UInt64);
    let mut parts = Vec::new();
    for (at, ty) in graph.nodes.iter().enumerate().filter(|(at, _)| is_wide(*at)) {
        parts.extend(source.scan(&Request::of(Tables::NodeKeys(at)))?);
        let edges =
            graph.edges.iter().enumerate().filter(|(_, edge)| ty.implied && [edge.source, edge.target].contains(&at));
        for (edge, _) in edges.filter(|(edge, _)| source.end_form(*edge) != EndForm::Rows) {
            parts.extend(source.scan(&Request::of(Tables::EdgeEnds(edge)))?);
        }
    }
    if parts.is_empty() {
        return Ok(false);
    }
    let pass = Pass::new(parts, "keys", resources.threads, progress);
    let found = pass.fold(Default::default, |found, _, batch| {
        *found |= match &batch {
            Batch::Nodes(nodes) => nodes.keys.as_ref().is_some_and(has_large),
            Batch::Edges(edges) => [&edges.source, &edges.target].into_iter().any(|ends| match ends {
                Ends::Keys(keys) => has_large(keys),
                Ends::Rows(_) => false,
            }),
            _ => false,
        };
        Ok(())
    })?;
    Ok(found.contains(&true))
}

fn has_large(keys: &ArrayRef) -> bool {
    let numbers = keys.as_primitive_opt::<UInt64Type>();
    numbers.is_some_and(|numbers| numbers.iter().flatten().any(|key| i64::try_from(key).is_err()))
}
