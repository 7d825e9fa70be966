//! For sinks that keep whole tables: nodes, edges with their ends as keys, and the rest, each in the source's order.

use isomorph_error::{Error, Result};
use isomorph_model::{Batch, Delivery, EdgeBatch, EndForm, Ends, Graph, Request, Sink, Source, Tables};

use super::ends::KeysByRow;
use super::nodes_of;
use crate::digests::Resources;
use crate::parallel;
use crate::progress::Progress;

/// Brings `deliveries` one after another. Ends that are rows become keys, which are kept while nodes pass.
///
/// # Errors
/// As [`super::run`]; [`isomorph_error::Kind::Usage`] when edges are asked for before the nodes that they end in.
pub(super) fn tables(
    source: &dyn Source,
    sink: &mut dyn Sink,
    deliveries: &[Delivery],
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<()> {
    let graph = source.graph();
    let of_rows = (0..graph.edges.len()).any(|ty| source.end_form(ty) == EndForm::Rows);
    let mut collected = of_rows.then(|| KeysByRow::builder(graph, resources));
    let mut keys = None;
    for (number, delivery) in deliveries.iter().enumerate() {
        let (what, wanted) = match *delivery {
            Delivery::Nodes(ty) => ("nodes", Tables::Nodes(ty)),
            Delivery::EdgesWithKeys(ty) => ("edges", Tables::Edges(ty)),
            Delivery::Rest => ("rest", Tables::Rest),
            Delivery::Edges { .. } | Delivery::NodesWithOutEdges => {
                return Err(Error::usage("whole tables are a delivery of their own"));
            }
        };
        if let Some(builder) = collected.take_if(|_| matches!(wanted, Tables::Edges(_))) {
            keys = Some(builder.finish()?);
        }
        let parts = source.scan(&Request::of(wanted))?;
        progress.begin(what, parts.iter().map(|part| part.rows()).sum());
        let mut next = 0;
        let prepare = |batch| match batch {
            Batch::Edges(edges) => with_keys(edges, graph, keys.as_ref()).map(Batch::Edges),
            other => Ok(other),
        };
        let brought = parallel::in_order(&parts, resources.threads, prepare, |batch| {
            progress.advance(batch.rows() as u64)?;
            let Tables::Nodes(ty) = wanted else { return sink.write(number, batch) };
            let nodes = nodes_of(batch, ty, &mut next)?;
            if let Some(builder) = &mut collected {
                builder.add(&nodes)?;
            }
            sink.write(number, Batch::Nodes(nodes))
        });
        progress.end();
        brought?;
    }
    Ok(())
}

fn with_keys(mut edges: EdgeBatch, graph: &Graph, keys: Option<&KeysByRow>) -> Result<EdgeBatch> {
    let ty = graph.edges.get(edges.ty).ok_or_else(|| Error::usage("no such edge type"))?;
    let by_key = |ends: Ends, node: usize| -> Result<Ends> {
        match ends {
            Ends::Keys(_) => Ok(ends),
            Ends::Rows(rows) => {
                let keys = keys.ok_or_else(|| Error::usage("ends are rows where keys were announced"))?;
                Ok(Ends::Keys(keys.gather(node, rows.values())?))
            }
        }
    };
    edges.source = by_key(edges.source, ty.source)?;
    edges.target = by_key(edges.target, ty.target)?;
    Ok(edges)
}
