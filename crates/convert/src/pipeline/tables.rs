//! For sinks that keep whole tables: nodes, edges with their ends as keys, and the rest, each in the source's order.

use isomorph_error::{Error, Result};
use isomorph_model::{Batch, Delivery, EdgeBatch, EndForm, Ends, Graph, Request, Sink, Source, Tables};

use super::keys::Keys;
use super::nodes_of;
use crate::digests::Resources;
use crate::parallel;
use crate::progress::Progress;

/// Brings `deliveries` one after another. Ends that are rows become keys, which are kept while their elements pass.
///
/// # Errors
/// As [`super::run`]; [`isomorph_error::Kind::Usage`] when ends are asked for before the elements that they name.
pub(super) fn tables(
    source: &dyn Source,
    sink: &mut dyn Sink,
    deliveries: &[Delivery],
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<()> {
    let graph = source.graph();
    let of_rows = (0..graph.edges.len()).any(|ty| source.end_form(ty) == EndForm::Rows);
    let mut keys = of_rows.then(|| Keys::new(graph, resources));
    for (number, delivery) in deliveries.iter().enumerate() {
        let (what, wanted) = match *delivery {
            Delivery::Nodes(ty) => ("nodes", Tables::Nodes(ty)),
            Delivery::EdgesWithKeys(ty) => ("edges", Tables::Edges(ty)),
            Delivery::Rest => ("rest", Tables::Rest),
            Delivery::Edges { .. } | Delivery::NodesWithOutEdges => {
                return Err(Error::usage("whole tables are a delivery of their own"));
            }
        };
        let parts = source.scan(&Request::of(wanted))?;
        progress.begin(what, parts.iter().map(|part| part.rows()).sum());
        let brought = match wanted {
            Tables::Edges(_) => {
                keys.as_mut().map(Keys::nodes_done).transpose()?;
                let keys = keys.as_ref();
                let prepare = |batch| match batch {
                    Batch::Edges(edges) => with_keys(edges, graph, keys).map(Batch::Edges),
                    other => Ok(other),
                };
                parallel::in_order(&parts, resources.threads, prepare, |batch| {
                    progress.advance(batch.rows() as u64)?;
                    sink.write(number, batch)
                })
            }
            _ => {
                let mut next = 0;
                parallel::in_order(&parts, resources.threads, Ok, |batch| {
                    progress.advance(batch.rows() as u64)?;
                    let batch = match wanted {
                        Tables::Nodes(ty) => {
                            let nodes = nodes_of(batch, ty, &mut next)?;
                            keys.as_mut().map_or(Ok(()), |keys| keys.add_nodes(&nodes))?;
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

/// Edges with keys for ends.
fn with_keys(mut edges: EdgeBatch, graph: &Graph, keys: Option<&Keys>) -> Result<EdgeBatch> {
    let ty = graph.edges.get(edges.ty).ok_or_else(|| Error::usage("no such edge type"))?;
    let by_key = |ends: Ends, node: usize| -> Result<Ends> {
        match ends {
            Ends::Keys(_) => Ok(ends),
            Ends::Rows(rows) => {
                let keys = keys.ok_or_else(|| Error::usage("ends are rows where keys were announced"))?;
                Ok(Ends::Keys(keys.nodes()?.gather(node, rows.values())?))
            }
        }
    };
    edges.source = by_key(edges.source, ty.source)?;
    edges.target = by_key(edges.target, ty.target)?;
    Ok(edges)
}
