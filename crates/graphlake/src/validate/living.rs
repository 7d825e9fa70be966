//! What partitions say of how many triples live: nothing is read by it, but it is shown, and told to whoever plans.

use isomorph_error::{Findings, Place, Result};

use crate::lookup::each_in_order;
use crate::read::GraphLake;
use crate::rules;
use crate::snapshot::{Living, NamedGraph, file_of};

pub(super) fn living(lake: &GraphLake, findings: &mut Findings) -> Result<()> {
    if lake.options.naive {
        return Ok(());
    }
    let mut tasks = Vec::new();
    for graph in &lake.snapshot.graphs {
        let stated = graph.living();
        let said =
            graph.all_predicates().into_iter().filter_map(|one| Some((one, stated.get(one).copied().flatten()?)));
        tasks.extend(said.map(|(predicate, stated)| (graph, predicate, stated)));
    }
    // Each predicate is merged by itself, on all threads; findings come in their order.
    let merge = |(graph, predicate, stated): (&NamedGraph, &str, Living)| -> Result<Option<(String, Place)>> {
        let found = match lake.count(graph, predicate) {
            Ok(found) => found,
            // What is broken was found before.
            Err(error) if error.broken_rule().is_some() => return Ok(None),
            Err(error) => return Err(error),
        };
        if found == stated {
            return Ok(None);
        }
        let message = format!(
            "{} triples of {predicate} live, {} of them with literals; living_count says {}, living_literal_count {}",
            found.triples, found.literals, stated.triples, stated.literals
        );
        Ok(Some((message, Place::file(file_of(&lake.snapshot.id)).in_field(format!("graphs[{}]", graph.name)))))
    };
    each_in_order(tasks, lake.options.threads, merge, |found| {
        if let Some((message, place)) = found {
            findings.push(&rules::COUNT, message, place);
        }
        Ok(())
    })
}
