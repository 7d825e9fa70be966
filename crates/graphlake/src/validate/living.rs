//! What partitions say of how many triples live: nothing is read by it, but it is shown, and told to whoever plans.

use isomorph_error::{Findings, Place, Result};

use crate::read::GraphLake;
use crate::rules;
use crate::snapshot::file_of;

pub(super) fn living(lake: &GraphLake, findings: &mut Findings) -> Result<()> {
    if lake.options.naive {
        return Ok(());
    }
    for graph in &lake.snapshot.graphs {
        let stated = graph.living();
        for predicate in graph.all_predicates() {
            let Some(Some(stated)) = stated.get(predicate) else { continue };
            let found = match lake.count(graph, predicate) {
                Ok(found) => found,
                // What is broken was found before.
                Err(error) if error.broken_rule().is_some() => continue,
                Err(error) => return Err(error),
            };
            if found != *stated {
                let message = format!(
                    "{} triples of {predicate} live, {} of them with literals; living_count says {}, living_literal_count {}",
                    found.triples, found.literals, stated.triples, stated.literals
                );
                let place = Place::file(file_of(&lake.snapshot.id)).in_field(format!("graphs[{}]", graph.name));
                findings.push(&rules::COUNT, message, place);
            }
        }
    }
    Ok(())
}
