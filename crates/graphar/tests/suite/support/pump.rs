//! Delivers what a sink requests, from any source with numbered ends; in memory, in batches of an odd size.

use arrow_array::{ArrayRef, UInt32Array, UInt64Array, cast::AsArray};
use arrow_select::concat::concat;
use arrow_select::take::take;
use isomorph_error::Result;
use isomorph_graphar::{GraphArWriter, WriteOptions};
use isomorph_model::{Batch, Delivery, EdgeBatch, EdgeOrder, Ends, Graph, Request, Sink, Source, Tables};
use isomorph_storage::{Location, Mode, Staging};

/// Returns all rows of the edge type `ty`, sorted by `order`.
pub fn sorted_edges(source: &dyn Source, ty: usize, order: EdgeOrder) -> Result<EdgeBatch> {
    let mut batches = Vec::new();
    for mut part in source.scan(&Request::of(Tables::Edges(ty)))? {
        part.read(&mut |batch| {
            let Batch::Edges(batch) = batch else { panic!("not edges") };
            batches.push(batch);
            Ok(())
        })?;
    }
    let rows = |ends: &Ends| match ends {
        Ends::Rows(rows) => rows.values().to_vec(),
        Ends::Keys(_) => panic!("ends as keys"),
    };
    let sources: Vec<u64> = batches.iter().flat_map(|batch| rows(&batch.source)).collect();
    let targets: Vec<u64> = batches.iter().flat_map(|batch| rows(&batch.target)).collect();
    let mut at: Vec<u32> = (0..sources.len() as u32).collect();
    at.sort_by_key(|&row| {
        let (source, target) = (sources[row as usize], targets[row as usize]);
        if order == EdgeOrder::Target { (target, source) } else { (source, target) }
    });
    let at = UInt32Array::from(at);
    let pick = |array: ArrayRef| take(&array, &at, None).unwrap();
    let ends = |values: Vec<u64>| {
        let array: ArrayRef = std::sync::Arc::new(UInt64Array::from(values));
        Ends::Rows(pick(array).as_primitive::<arrow_array::types::UInt64Type>().clone())
    };
    let properties = (0..source.graph().edges[ty].properties.len())
        .map(|property| {
            let columns: Vec<_> = batches.iter().filter_map(|batch| batch.properties[property].clone()).collect();
            let columns: Vec<&dyn arrow_array::Array> = columns.iter().map(AsRef::as_ref).collect();
            if columns.is_empty() { None } else { Some(pick(concat(&columns).unwrap())) }
        })
        .collect();
    Ok(EdgeBatch {
        ty,
        rows: at.len(),
        relations: None,
        source: ends(sources),
        target: ends(targets),
        layers: None,
        directed: None,
        keys: None,
        properties,
    })
}

/// Delivers everything to `sink`, in pieces of at most `piece` rows.
pub fn pump(source: &dyn Source, sink: &mut dyn Sink, piece: usize) -> Result<()> {
    for (number, delivery) in sink.deliveries().into_iter().enumerate() {
        match delivery {
            Delivery::Nodes(ty) => {
                let request = Request::of(Tables::Nodes(ty)).in_batches_of(piece);
                for mut part in source.scan(&request)? {
                    part.read(&mut |batch| sink.write(number, batch))?;
                }
            }
            Delivery::Edges { ty, order } => {
                let all = sorted_edges(source, ty, order)?;
                for start in (0..all.rows).step_by(piece) {
                    sink.write(number, Batch::Edges(all.slice(start, piece.min(all.rows - start))))?;
                }
            }
            other => panic!("not for GraphAr: {other:?}"),
        }
    }
    Ok(())
}

/// Writes `source` to the directory `to`.
pub fn write_as(source: &dyn Source, graph: &Graph, options: &WriteOptions, to: &Location, piece: usize) -> Result<()> {
    let staging = Staging::directory(to, Mode::CreateNew)?;
    let info = GraphArWriter::plan(graph, options)?;
    let mut sink = GraphArWriter::create(&staging, graph, options)?;
    pump(source, &mut *sink, piece)?;
    sink.finish()?;
    let manifests = GraphArWriter::manifests(&info);
    staging.commit(&manifests.iter().map(String::as_str).collect::<Vec<_>>())?;
    Ok(())
}
