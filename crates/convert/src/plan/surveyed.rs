//! Reading a source without a schema before its plan.

use isomorph_error::Result;
use isomorph_model::{EndForm, Request, Tables};
use isomorph_storage::Resources;

use crate::digests::Digested;
use crate::open::Opened;
use crate::options::Typing;
use crate::parallel::Pass;
use crate::progress::Progress;
use crate::running::{Running, State};
use crate::survey::Survey;

/// One pass over a source without a schema: its content, and its digests.
pub(crate) fn survey(
    opened: &Opened,
    typing: Typing,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<(Survey, Digested)> {
    let source = &opened.graph;
    let running = Running::new(source.as_ref(), resources)?;
    let graph = source.graph();
    // If edges refer to rows, the keys of all nodes are needed.
    let by_row = (0..graph.edges.len()).any(|ty| source.end_form(ty) == EndForm::Rows);
    let passes: &[Tables] = if by_row { &[Tables::AllNodes, Tables::AllEdges] } else { &[Tables::All] };
    let mut survey = Survey::new(typing);
    for tables in passes {
        let parts = source.scan(&Request::of(*tables))?;
        let pass = Pass::new(parts, "survey", resources.threads, progress);
        let new = || (Survey::new(typing), State::default());
        let states = pass.fold(new, |(survey, state), _, batch| {
            survey.see(graph, &batch)?;
            running.add(state, &batch)
        })?;
        for (found, state) in states {
            survey.merge(found);
            running.merge(state);
        }
        running.nodes_done()?;
    }
    Ok((survey, running.finish()?))
}
