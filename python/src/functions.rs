//! Functions of the module that need no opened graph, or two.

use std::sync::Arc;

use isomorph::convert::{Described, Opened, Registry, SidecarUse, sidecar};
use isomorph::error::{Findings, Severity};
use isomorph::{Error, Kind, Result};
use pyo3::prelude::*;
use serde_json::json;

use crate::conversion::to_json;
use crate::graph::Graph;
use crate::options::Opening;
use crate::work::{Ending, run};

/// Opens a graph whatever is wrong with it, without its sidecar if this is stale.
fn unsound(path: &str, options: &Opening) -> Result<Opened> {
    let (location, mut how) = options.place(path)?;
    how.unsound = true;
    match Opened::open(&location, &how) {
        Err(error) if error.kind() == Kind::StaleSidecar => Opened::open(&location, &sidecar::told(&location, how)),
        opened => opened,
    }
}

/// Validates a graph. Returns the document of `isomorph validate --json`, with up to `kept` places of each rule.
#[pyfunction]
pub(crate) fn validate(py: Python<'_>, path: String, options: Opening, kept: usize) -> PyResult<String> {
    run(py, None, Ending::Abandoned, move |_| {
        let (location, mut how) = options.place(&path)?;
        how.unsound = true;
        let is_ignored = how.sidecar == SidecarUse::Ignore;
        // The rules are those of the format: the sidecar is validated separately.
        let how = if is_ignored { how } else { sidecar::told(&location, how) };
        let opened = Opened::open(&location, &how)?;
        let mut findings = Findings::keeping(kept);
        opened.native.validate(&mut findings)?;
        if !is_ignored {
            opened.validate_sidecar(&mut findings)?;
        }
        let document = json!({
            "path": path,
            "format": opened.format.id(),
            "sound": findings.worst() < Some(Severity::Error),
            "rules": opened.format.traits().rules.len(),
            "findings": to_json(&findings.documents())?,
        });
        Ok(document.to_string())
    })
}

/// Describes a graph without reading its rows. Returns the document of `isomorph info --json`.
#[pyfunction]
pub(crate) fn info(py: Python<'_>, path: String, options: Opening) -> PyResult<String> {
    run(py, None, Ending::Abandoned, move |_| {
        let opened = unsound(&path, &options)?;
        let (beside, cautions) = (opened.beside(opened.options.sidecar)?, opened.cautions()?);
        let described = Described::of(&opened, beside, cautions, None);
        Ok(to_json(&described.document(&path))?.to_string())
    })
}

/// The formats: id, name, usual names of files.
#[pyfunction]
pub(crate) fn formats() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    let formats = Registry::standard();
    formats.all().iter().map(|format| (format.id(), format.name(), format.traits().usual_names.to_vec())).collect()
}

/// Compares two graphs. Returns the differences as JSON.
#[pyfunction]
#[pyo3(signature = (left, right, most, progress=None))]
pub(crate) fn diff(
    py: Python<'_>,
    left: &Graph,
    right: &Graph,
    most: usize,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let (left, right) = (Arc::clone(left.shared()), Arc::clone(right.shared()));
    run(py, progress, Ending::Abandoned, move |watch| {
        let (one, other, resources) = (left.graph()?, right.graph()?, left.resources());
        for graph in [&one, &other] {
            graph.opened().check_whole(false, resources, watch)?;
        }
        let sources = (one.opened().graph.as_ref(), other.opened().graph.as_ref());
        let diff = isomorph::convert::diff(sources.0, sources.1, most, resources, watch)?;
        Ok(to_json(&diff)?.to_string())
    })
}

/// The error for something that Python should not have passed.
pub(crate) fn invalid(message: impl Into<String>) -> Error {
    Error::usage(message)
}
