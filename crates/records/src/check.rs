//! Checks that need all ids: ids are unique, and edges end in nodes.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema};
use isomorph_error::{Error, Findings, Place, Result, Rule};
use isomorph_model::{Batch, Ends, Request, Source, Tables};
use isomorph_storage::{Budget, Scratch};
use isomorph_tables::lookup::{ABSENT, BulkLookup, KeyRowsBuilder, Lookup, LookupOptions};

/// Adds findings about the ids of nodes, and about ends of edges and hyperedges, to `findings`. `rules` are that ids are
/// unique and that ends are nodes.
///
/// # Errors
/// Returns an error if the file cannot be read, or there is no space for temporary files.
pub fn check_ids(
    graph: &dyn Source,
    place: &Place,
    (unique, end): (&'static Rule, &'static Rule),
    (budget, scratch): (&Budget, &Scratch),
    findings: &mut Findings,
) -> Result<()> {
    let mut keys = KeyRowsBuilder::new(LookupOptions::new(budget, scratch).memory(budget.available() / 2));
    for part in graph.scan(&Request::of(Tables::NodeKeys(0)))? {
        for batch in part {
            if let Batch::Nodes(nodes) = batch?
                && let Some(own) = &nodes.keys
            {
                keys.push(own.as_ref())?;
            }
        }
    }
    let lookup = keys.finish()?;
    repeats(&lookup, "node", unique, place, findings);
    let mut schema = None;
    let (mut rows, mut sequence) = (Vec::new(), 0);
    let mut parts = graph.scan(&Request::of(Tables::EdgeEnds(0)))?;
    parts.extend(graph.scan(&Request::of(Tables::Rest))?);
    let mut bulk = None;
    for part in parts {
        for batch in part {
            let all = match batch? {
                Batch::Edges(edges) => vec![edges.source, edges.target],
                Batch::Members(members) => vec![members.member],
                _ => continue,
            };
            for ends in &all {
                let Ends::Keys(ends) = ends else { continue };
                match &lookup {
                    Lookup::Memory(keys) => {
                        rows.clear();
                        if keys.translate(ends.as_ref(), &mut rows)?.not_found > 0 {
                            missing(ends, &rows, end, place, findings);
                        }
                    }
                    Lookup::Spilled(keys) => {
                        let schema = schema.get_or_insert_with(|| {
                            Arc::new(Schema::new(vec![Field::new("id", ends.data_type().clone(), false)]))
                        });
                        if bulk.is_none() {
                            bulk = Some(BulkLookup::within(keys, schema, budget.available() / 2)?);
                        }
                        let Some(bulk) = &bulk else { continue };
                        let tags = RecordBatch::try_new(Arc::clone(schema), vec![Arc::clone(ends)]);
                        let tags = tags.map_err(|error| Error::malformed(error.to_string()))?;
                        bulk.add_probes(ends.as_ref(), &tags, sequence)?;
                        sequence += ends.len() as u64;
                    }
                }
            }
        }
    }
    if let Some(bulk) = bulk {
        let answers = bulk.finish()?;
        let mut stream = answers.stream()?;
        while let Some(batch) = stream.next_batch()? {
            missing(batch.tags.column(0), &batch.rows, end, place, findings);
        }
    }
    Ok(())
}

/// Adds elements with the same id as another of their kind.
pub fn repeats(lookup: &Lookup, kind: &str, rule: &'static Rule, place: &Place, findings: &mut Findings) {
    for repeat in lookup.repeats().shown() {
        let message = format!("{kind}s {} and {} have the same id", repeat.first, repeat.row);
        findings.push(rule, message, place.clone().row(repeat.row));
    }
    for _ in lookup.repeats().shown().len() as u64..lookup.repeats().count() {
        findings.push(rule, format!("two {kind}s have the same id"), place.clone());
    }
}

/// Adds ends without a row.
fn missing(ends: &ArrayRef, rows: &[u64], rule: &'static Rule, place: &Place, findings: &mut Findings) {
    for (at, _) in rows.iter().enumerate().filter(|(at, row)| **row == ABSENT && *at < ends.len()) {
        let end = match (ends.as_primitive_opt::<Int64Type>(), ends.as_string_opt::<i32>()) {
            (Some(numbers), _) => numbers.value(at).to_string(),
            (_, Some(texts)) => format!("{:?}", texts.value(at)),
            _ => continue,
        };
        findings.push(rule, format!("an edge or a hyperedge ends in {end}, which is not a node"), place.clone());
    }
}
