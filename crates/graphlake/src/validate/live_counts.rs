//! Numbers of live triples that partitions state. Reading does not depend on them, but they are shown, and used by
//! planners.

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
    // Each predicate is merged independently, on all threads; findings are in their order.
    let merge = |(graph, predicate, stated): (&NamedGraph, &str, Living)| -> Result<Option<(String, Place)>> {
        let found = match lake.count(graph, predicate) {
            Ok(found) => found,
            // Broken files were reported before.
            Err(error) if error.broken_rule().is_some() => return Ok(None),
            Err(error) => return Err(error),
        };
        if found == stated {
            return Ok(None);
        }
        let message = format!(
            "{} triples of {predicate} are live, {} of them with literals, but living_count is {} and living_literal_count is {}",
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
