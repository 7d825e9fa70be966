//! Checks that need all ids: ids are unique, and edges end in nodes.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use isomorph_error::{Error, Findings, Place, Result, Rule};
use isomorph_model::{Batch, Ends, Request, Source, Tables};
use isomorph_storage::Scratch;
use isomorph_tables::lookup::{ABSENT, BulkLookup, KeyRowsBuilder, Lookup, LookupOptions};

use crate::rules;
use crate::source::GraphMl;

/// Adds findings about ids to `findings`.
///
/// # Errors
/// Returns an error if the file cannot be read, or there is no space for temporary files.
pub(crate) fn validate(graph: &GraphMl, findings: &mut Findings) -> Result<()> {
    let budget = &graph.options.budget;
    let scratch = graph.options.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?;
    let mut keys = KeyRowsBuilder::new(LookupOptions::new(budget, &scratch).memory(budget.available() / 2));
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
    repeats(graph, &lookup, "node", &rules::ID, findings);
    let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::Utf8, false)]));
    let bulk = match &lookup {
        Lookup::Spilled(keys) => Some(BulkLookup::within(keys, &schema, budget.available() / 2)?),
        Lookup::Memory(_) => None,
    };
    let (mut rows, mut sequence) = (Vec::new(), 0);
    let mut parts = graph.scan(&Request::of(Tables::EdgeEnds(0)))?;
    parts.extend(graph.scan(&Request::of(Tables::Rest))?);
    for part in parts {
        for batch in part {
            let all = match batch? {
                Batch::Edges(edges) => vec![edges.source, edges.target],
                Batch::Members(members) => vec![members.member],
                _ => continue,
            };
            for ends in &all {
                let Ends::Keys(ends) = ends else { continue };
                match (&lookup, &bulk) {
                    (Lookup::Memory(keys), _) => {
                        rows.clear();
                        if keys.translate(ends.as_ref(), &mut rows)?.not_found > 0 {
                            missing(graph, ends, &rows, findings);
                        }
                    }
                    (_, Some(bulk)) => {
                        let tags = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::clone(ends)]);
                        let tags = tags.map_err(|error| Error::malformed(error.to_string()))?;
                        bulk.add_probes(ends.as_ref(), &tags, sequence)?;
                        sequence += ends.len() as u64;
                    }
                    _ => {}
                }
            }
        }
    }
    if let Some(bulk) = bulk {
        let answers = bulk.finish()?;
        let mut stream = answers.stream()?;
        while let Some(batch) = stream.next_batch()? {
            missing(graph, batch.tags.column(0), &batch.rows, findings);
        }
    }
    drop(lookup);
    hyperedges(graph, &scratch, findings)
}

/// Adds hyperedges with the same id: their ends cannot be distinguished.
fn hyperedges(graph: &GraphMl, scratch: &Scratch, findings: &mut Findings) -> Result<()> {
    let budget = &graph.options.budget;
    let mut keys = KeyRowsBuilder::new(LookupOptions::new(budget, scratch).memory(budget.available() / 2));
    for part in graph.scan(&Request::of(Tables::Rest))? {
        for batch in part {
            if let Batch::Hyperedges(own) = batch? {
                keys.push(own.keys.as_ref())?;
            }
        }
    }
    repeats(graph, &keys.finish()?, "hyperedge", &rules::HYPEREDGE, findings);
    Ok(())
}

/// Adds elements with the same id as another of their kind.
fn repeats(graph: &GraphMl, lookup: &Lookup, kind: &str, rule: &'static Rule, findings: &mut Findings) {
    for repeat in lookup.repeats().shown() {
        let message = format!("{kind}s {} and {} have the same id", repeat.first, repeat.row);
        findings.push(rule, message, place(graph).row(repeat.row));
    }
    for _ in lookup.repeats().shown().len() as u64..lookup.repeats().count() {
        findings.push(rule, format!("two {kind}s have the same id"), place(graph));
    }
}

fn place(graph: &GraphMl) -> Place {
    graph.file.blob.place()
}

/// Adds ends without a row.
fn missing(graph: &GraphMl, ends: &ArrayRef, rows: &[u64], findings: &mut Findings) {
    let Some(ends) = ends.as_string_opt::<i32>() else { return };
    for (end, _) in ends.iter().zip(rows).filter(|(_, row)| **row == ABSENT) {
        findings.push(
            &rules::END,
            format!("an edge or a hyperedge ends in {:?}, which is not a node", end.unwrap_or_default()),
            place(graph),
        );
    }
}
