//! For sinks that store whole tables: nodes, edges with keys as ends, and everything else, each in the order of the
//! source. Edges without keys have no order: they are sorted by their ends, and each gets an id.

use std::sync::Arc;

use isomorph_error::{Error, Result};
use isomorph_model::{
    Batch, Delivery, EdgeBatch, EdgeOrder, EndForm, Ends, Graph, KeyKind, Request, Sink, Source, Tables,
};

use super::ends::RowsByKey;
use super::ids::{IdParts, Ids};
use super::keys::Keys;
use super::nodes_of;
use super::sorted::{Wanted, sort};
use crate::parallel;
use crate::progress::Progress;
use isomorph_storage::Resources;

/// Delivers `deliveries` one after another. Ends that are rows become keys, which are kept while their elements are
/// delivered. Edges without keys get ids made of `parts`.
///
/// # Errors
/// As [`super::run`]; [`isomorph_error::Kind::Usage`] if ends are requested before the elements that they refer to.
pub(super) fn tables(
    source: &dyn Source,
    sink: &mut dyn Sink,
    deliveries: &[Delivery],
    parts: IdParts,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<()> {
    let graph = source.graph();
    let is_keyless = |ty: usize| graph.edges.get(ty).is_some_and(|ty| ty.key.is_none());
    let keyless = |delivery: &Delivery| matches!(delivery, Delivery::EdgesWithKeys(ty) if is_keyless(*ty));
    let mut rows = match deliveries.iter().any(keyless) {
        true => Some(RowsByKey::new(source, resources)?),
        false => None,
    };
    // Of nodes without keys ends are rows, whatever is said of the edges.
    let ends = graph.edges.iter().flat_map(|ty| [ty.source, ty.target]).filter_map(|ty| graph.nodes.get(ty));
    let has_rows = (0..graph.edges.len()).any(|ty| source.end_form(ty) == EndForm::Rows);
    let of_rows = rows.is_some() || has_rows || ends.into_iter().any(|ty| ty.key.kind == KeyKind::Row);
    let mut keys = of_rows.then(|| Keys::new(graph, resources));
    // Edges of all types in one table are delivered together, with the first of these types.
    let place_of = |ty: usize| deliveries.iter().position(|delivery| *delivery == Delivery::EdgesAsTheyCome(ty));
    let are_mixed = graph.edges.len() > 1
        && source.is_one_table(Tables::AllEdges)
        && (0..graph.edges.len()).all(|ty| place_of(ty).is_some());
    let mut have_come = false;
    for (number, delivery) in deliveries.iter().enumerate() {
        let (what, wanted) = match *delivery {
            Delivery::Nodes(ty) => ("nodes", Tables::Nodes(ty)),
            Delivery::EdgesAsTheyCome(_) if are_mixed => match std::mem::replace(&mut have_come, true) {
                true => continue,
                false => ("edges", Tables::AllEdges),
            },
            Delivery::EdgesWithKeys(ty) | Delivery::EdgesAsTheyCome(ty) => ("edges", Tables::Edges(ty)),
            Delivery::Rest => ("rest", Tables::Rest),
            Delivery::Edges { .. } | Delivery::NodesWithOutEdges => {
                return Err(Error::usage("whole tables must be a separate delivery"));
            }
        };
        if let (true, Tables::Edges(ty), Some(keys)) = (keyless(delivery), wanted, &mut keys) {
            let mut of_keys = rows
                .take()
                .ok_or_else(|| Error::usage("generating ids for edges of two types is not supported yet"))?;
            of_keys.finish()?;
            let wanted = Wanted { number, ty, order: EdgeOrder::Source };
            with_ids(source, sink, wanted, (&of_keys, keys), parts, resources, progress)?;
            continue;
        }
        let parts = source.scan(&Request::of(wanted))?;
        progress.begin(what, parts.iter().map(|part| part.rows()).sum());
        let brought = match wanted {
            Tables::Edges(_) | Tables::AllEdges => {
                keys.as_mut().map(Keys::nodes_done).transpose()?;
                let keys = keys.as_ref();
                let prepare = |batch| match batch {
                    Batch::Edges(edges) => with_keys(edges, graph, keys).map(Batch::Edges),
                    other => Ok(other),
                };
                parallel::in_order(parts, resources.threads, prepare, |batch| {
                    progress.advance(batch.rows() as u64)?;
                    let number = match &batch {
                        Batch::Edges(edges) if are_mixed => place_of(edges.ty).unwrap_or(number),
                        _ => number,
                    };
                    sink.write(number, batch)
                })
            }
            _ => {
                let mut next = 0;
                parallel::in_order(parts, resources.threads, Ok, |batch| {
                    progress.advance(batch.rows() as u64)?;
                    let batch = match wanted {
                        Tables::Nodes(ty) => {
                            let nodes = nodes_of(batch, ty, &mut next)?;
                            keys.as_mut().map_or(Ok(()), |keys| keys.add_nodes(&nodes))?;
                            rows.as_mut().map_or(Ok(()), |rows| rows.add(&nodes))?;
                            Batch::Nodes(nodes)
                        }
                        _ => match &mut keys {
                            Some(keys) => keys.of_rest(batch, graph)?,
                            None => batch,
                        },
                    };
                    sink.write(number, batch)
                })
            }
        };
        progress.end();
        brought?;
    }
    Ok(())
}

/// Edges with keys as ends.
fn with_keys(mut edges: EdgeBatch, graph: &Graph, keys: Option<&Keys>) -> Result<EdgeBatch> {
    let ty = graph.edges.get(edges.ty).ok_or_else(|| Error::usage("no such edge type"))?;
    let by_key = |ends: Ends, node: usize| -> Result<Ends> {
        match ends {
            Ends::Keys(_) => Ok(ends),
            Ends::Rows(rows) => {
                let keys = keys.ok_or_else(|| Error::usage("ends are rows, but keys were announced"))?;
                Ok(Ends::Keys(keys.nodes()?.gather(node, rows.values())?))
            }
        }
    };
    edges.source = by_key(edges.source, ty.source)?;
    edges.target = by_key(edges.target, ty.target)?;
    Ok(edges)
}

/// Delivers edges that have no keys: sorted by their ends, with ids.
fn with_ids(
    source: &dyn Source,
    sink: &mut dyn Sink,
    wanted: Wanted,
    (rows, keys): (&RowsByKey, &mut Keys),
    parts: IdParts,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<()> {
    let ty = source.graph().edges.get(wanted.ty).ok_or_else(|| Error::usage("no such edge type"))?;
    let keys = keys.nodes_done()?;
    let sorted = sort(source, &[wanted], rows, resources, progress)?;
    let mut ids = Ids::new(parts);
    progress.begin("write", Some(sorted.iter().map(super::Sorted::rows).sum()));
    let brought = sorted.iter().try_for_each(|sorted| {
        sorted.each(|mut edges| {
            progress.advance(edges.rows as u64)?;
            let keys_of = |ends: &Ends, node: usize| match ends {
                Ends::Rows(rows) => keys.gather(node, rows.values()),
                Ends::Keys(keys) => Ok(Arc::clone(keys)),
            };
            let (from, to) = (keys_of(&edges.source, ty.source)?, keys_of(&edges.target, ty.target)?);
            edges.keys = Some(Arc::new(ids.of(&edges, &from, &to)?));
            (edges.source, edges.target) = (Ends::Keys(from), Ends::Keys(to));
            sink.write(wanted.number, Batch::Edges(edges))
        })
    });
    progress.end();
    brought
}
