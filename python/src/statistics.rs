//! What a graph looks like.

use std::collections::BTreeSet;
use std::sync::Arc;

use isomorph::algorithms::{self, Job};
use pyo3::prelude::*;

use crate::conversion::to_json;
use crate::graph::Graph;
use crate::work::{Ending, run};

/// Counts, degrees, components and columns of a graph, as the document of `isomorph stats --json`. Only edges of `relations` are walked.
#[pyfunction]
#[pyo3(signature = (graph, relations=None, progress=None))]
pub(crate) fn statistics(
    py: Python<'_>,
    graph: &Graph,
    relations: Option<BTreeSet<String>>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let shared = Arc::clone(graph.shared());
    run(py, progress, Ending::Abandoned, move |watch| {
        let (graph, resources) = (shared.graph()?, shared.resources());
        let source = graph.opened().with_resources_as_nodes(resources)?;
        let job = Job { resources, relations: relations.as_ref(), progress: watch };
        Ok(to_json(&algorithms::statistics(&source, &job)?)?.to_string())
    })
}
