//! The pipeline: delivers from a source what a sink has requested, in bounded memory.
//!
//! Data flows one way. Nodes come first, in the order of the source; their keys are kept only as far as edges need
//! them: key → row if the source refers to ends by key and the sink needs rows, row → key in the opposite case. Edges
//! are sorted if the source does not have them in the requested order.

mod apart;
mod bulk;
mod ends;
mod ids;
mod keys;
mod merge;
mod run;
mod shares;
mod sorted;
mod tables;

use arrow_array::{Array, UInt64Array};
use isomorph_error::{Error, Result};
use isomorph_model::{Batch, Delivery, EdgeBatch, EdgeOrder, EndForm, Ends, NodeBatch, Request, Sink, Source, Tables};

use crate::parallel::{self, Pass};
use crate::progress::Progress;
pub(crate) use apart::{NodesApart, is_mixed};
use ends::RowsByKey;
pub use ends::{DANGLING_END, REPEATED_KEY};
pub(crate) use ids::IdParts;
use isomorph_dataset::KeysByRow;
use isomorph_storage::Resources;
use merge::merge;
use run::Cursor;
pub use run::EDGE_ORDER;
use sorted::{Sorted, Wanted, sort};

/// Number of nodes that are delivered together with their outgoing edges: these edges are held in memory.
const TOGETHER: usize = 8_192;

/// Delivers to `sink` all that it requests.
///
/// # Errors
/// If the source cannot be read or is invalid, the sink cannot write, or there is too little memory even for spilling.
pub fn run(source: &dyn Source, sink: &mut dyn Sink, resources: &Resources, progress: &dyn Progress) -> Result<()> {
    run_with_ids(source, sink, IdParts::default(), resources, progress)
}

/// The same; edges without an id get ids made of the parts `ids`.
///
/// # Errors
/// As [`run`].
pub(crate) fn run_with_ids(
    source: &dyn Source,
    sink: &mut dyn Sink,
    ids: IdParts,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<()> {
    let deliveries = sink.deliveries();
    let by_type = |delivery: &&Delivery| matches!(delivery, Delivery::Nodes(_) | Delivery::NodesWithOutEdges);
    let apart;
    let source = match is_mixed(source) && deliveries.iter().any(|delivery| by_type(&delivery)) {
        true => {
            apart = NodesApart::read(source, resources, progress)?;
            &apart
        }
        false => source,
    };
    if deliveries.contains(&Delivery::NodesWithOutEdges) {
        if deliveries.len() != 1 {
            return Err(Error::usage("nodes with their edges must be a separate delivery"));
        }
        return nodes_with_out_edges(source, sink, resources, progress);
    }
    let by_key = |delivery: &Delivery| matches!(delivery, Delivery::EdgesWithKeys(_) | Delivery::EdgesAsTheyCome(_));
    if deliveries.iter().any(by_key) {
        return tables::tables(source, sink, &deliveries, ids, resources, progress);
    }
    let mut rows = RowsByKey::new(source, resources)?;
    let (mut wanted, mut as_they_come) = (Vec::new(), Vec::new());
    for (number, delivery) in deliveries.iter().enumerate() {
        match *delivery {
            Delivery::Nodes(ty) => {
                let parts = source.scan(&Request::of(Tables::Nodes(ty)))?;
                let mut next = 0;
                Pass::new(parts, "nodes", resources.threads, progress).in_order(|batch| {
                    let nodes = nodes_of(batch, ty, &mut next)?;
                    rows.add(&nodes)?;
                    sink.write(number, Batch::Nodes(nodes))
                })?;
            }
            Delivery::Edges { ty, order } => match (order, source.end_form(ty)) {
                (EdgeOrder::Any, EndForm::Rows) if !source.is_one_table(Tables::AllEdges) => {
                    as_they_come.push((number, ty))
                }
                _ => wanted.push(Wanted { number, ty, order }),
            },
            Delivery::Rest => {
                let parts = source.scan(&Request::of(Tables::Rest))?;
                let pass = Pass::new(parts, "rest", resources.threads, progress);
                pass.in_order(|batch| sink.write(number, batch))?;
            }
            Delivery::NodesWithOutEdges | Delivery::EdgesWithKeys(_) | Delivery::EdgesAsTheyCome(_) => {}
        }
    }
    if wanted.is_empty() && as_they_come.is_empty() {
        return Ok(());
    }
    rows.finish()?;
    for (number, ty) in as_they_come {
        edges_as_they_come(source, sink, number, ty, (&rows, resources), progress)?;
    }
    let sorted = sort(source, &wanted, &rows, resources, progress)?;
    drop(rows);
    let total = sorted.iter().map(Sorted::rows).sum();
    progress.begin("write", Some(total));
    for (wanted, sorted) in wanted.iter().zip(&sorted) {
        sorted.each(|batch| {
            progress.advance(batch.rows as u64)?;
            sink.write(wanted.number, Batch::Edges(batch))
        })?;
    }
    progress.end();
    Ok(())
}

/// Edges of a type whose ends are rows, in no order.
fn edges_as_they_come(
    source: &dyn Source,
    sink: &mut dyn Sink,
    number: usize,
    ty: usize,
    (rows, resources): (&RowsByKey, &Resources),
    progress: &dyn Progress,
) -> Result<()> {
    let ends = source.graph().edges.get(ty).map(|ty| (ty.source, ty.target));
    let (from, to) = ends.ok_or_else(|| Error::usage("no such edge type"))?;
    let parts = source.scan(&Request::of(Tables::Edges(ty)))?;
    Pass::new(parts, "edges", resources.threads, progress).in_order(|batch| {
        let Batch::Edges(edges) = batch else { return Ok(()) };
        rows.rows(from, &edges.source)?;
        rows.rows(to, &edges.target)?;
        sink.write(number, Batch::Edges(edges))
    })
}

/// The nodes of a batch, which must be of the announced type and follow the nodes before.
fn nodes_of(batch: Batch, ty: usize, next: &mut u64) -> Result<NodeBatch> {
    let Batch::Nodes(mut nodes) = batch else {
        return Err(Error::usage("expected a batch of nodes"));
    };
    if nodes.ty != ty {
        return Err(Error::usage("a scan of one node type returned another"));
    }
    // Row numbers of a selection have gaps; rows are renumbered on delivery.
    nodes.start = *next;
    *next += nodes.rows as u64;
    Ok(nodes)
}

/// For sinks that store each node together with its outgoing edges.
fn nodes_with_out_edges(
    source: &dyn Source,
    sink: &mut dyn Sink,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<()> {
    let graph = source.graph();
    let mut rows = RowsByKey::new(source, resources)?;
    let mut keys = KeysByRow::builder(graph, resources);
    for ty in 0..graph.nodes.len() {
        let parts = source.scan(&Request::of(Tables::NodeKeys(ty)))?;
        let mut next = 0;
        Pass::new(parts, "keys", resources.threads, progress).in_order(|batch| {
            let nodes = nodes_of(batch, ty, &mut next)?;
            rows.add(&nodes)?;
            keys.add(&nodes)
        })?;
    }
    rows.finish()?;
    let keys = keys.finish()?;
    // Edges that the source does not have in order are sorted first.
    let mut unordered = Vec::new();
    let mut runs = Vec::new();
    for ty in 0..graph.edges.len() {
        match source.runs(ty, EdgeOrder::Source)? {
            Some(found) if source.end_form(ty) == EndForm::Rows => runs.extend(found),
            _ => unordered.push(Wanted { number: 0, ty, order: EdgeOrder::Source }),
        }
    }
    let sorted = sort(source, &unordered, &rows, resources, progress)?;
    let total = graph.node_rows().zip(graph.edge_rows()).map(|(nodes, edges)| nodes + edges);
    progress.begin("write", total);
    let brought = std::thread::scope(|scope| {
        let mut cursors: Vec<Cursor> = runs.into_iter().map(|run| Cursor::of_run(scope, run)).collect();
        cursors.extend(sorted.iter().map(|sorted| Cursor::of_sorted(scope, sorted)));
        for ty in 0..graph.nodes.len() {
            let parts = source.scan(&Request::of(Tables::Nodes(ty)))?;
            let mut next = 0;
            parallel::in_order(parts, resources.threads, Ok, |batch| {
                let nodes = nodes_of(batch, ty, &mut next)?;
                progress.advance(nodes.rows as u64)?;
                for from in (0..nodes.rows).step_by(TOGETHER) {
                    let nodes = nodes.slice(from, TOGETHER.min(nodes.rows - from));
                    let end = nodes.start + nodes.rows as u64;
                    sink.write(0, Batch::Nodes(nodes))?;
                    let mut pieces = Vec::new();
                    for cursor in &mut cursors {
                        while let Some(edges) = cursor.below(ty, end, graph)? {
                            progress.advance(edges.rows as u64)?;
                            pieces.push(with_target_keys(edges, graph, &keys)?);
                        }
                    }
                    if let Some(edges) = merge(pieces)? {
                        sink.write(0, Batch::Edges(edges))?;
                    }
                }
                Ok(())
            })?;
        }
        cursors.iter_mut().try_for_each(Cursor::must_be_done)
    });
    progress.end();
    brought
}

fn with_target_keys(mut edges: EdgeBatch, graph: &isomorph_model::Graph, keys: &KeysByRow) -> Result<EdgeBatch> {
    let ty = graph.edges.get(edges.ty).ok_or_else(|| Error::usage("no such edge type"))?;
    if let Ends::Rows(rows) = &edges.target {
        edges.target = Ends::Keys(keys.gather(ty.target, rows.values())?);
    }
    Ok(edges)
}

/// Ends as an array of rows.
fn as_rows(ends: &Ends) -> Option<&UInt64Array> {
    match ends {
        Ends::Rows(rows) if rows.null_count() == 0 => Some(rows),
        _ => None,
    }
}
