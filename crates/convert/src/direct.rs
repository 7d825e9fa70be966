//! A text of DeepGNN and its binary: made in one pass over the text, without the detour of model batches, because the
//! order of lines and edges, which a graph does not have, decides where things lie in the binary.

use std::time::Instant;

use isomorph_deepgnn::{BuildOptions, DeepGnn, OpenOptions, Text};
use isomorph_error::{Error, Result};
use isomorph_model::{Graph, Source};
use isomorph_storage::{Location, Mode, Staging};

use crate::conversion::{Certificate, compare};
use crate::digests::{Resources, digest};
use crate::mapping::Mapping;
use crate::open::Opened;
use crate::options::{ConvertOptions, WriteOptions};
use crate::plan::{Plan, PlanLine};
use crate::progress::Progress;
use crate::registry::{Format, no_way};

/// The text that was opened.
fn text(opened: &Opened) -> Result<&Text> {
    let graph = opened.native.as_any().and_then(|graph| graph.downcast_ref::<DeepGnn>());
    let graph = graph.ok_or_else(|| no_way(Format::DeepGnn))?;
    graph.text().ok_or_else(|| Error::unsupported("a binary of DeepGNN is not written again yet"))
}

/// The plan of making a binary.
///
/// # Errors
/// When it is not a text that is to become a binary.
pub(crate) fn plan(opened: &Opened, to: Format, write: &WriteOptions, started: Instant) -> Result<Plan> {
    if opened.format != Format::DeepGnn || to != Format::DeepGnn {
        return Err(no_way(Format::DeepGnn));
    }
    let format = text(opened)?.format();
    let BuildOptions { partitions, node_samplers, edge_samplers, .. } = write.deepgnn;
    let samplers = match (node_samplers, edge_samplers) {
        (true, true) => ", with tables for sampling",
        _ => "",
    };
    let several = if partitions == 1 { "" } else { "s" };
    let becomes = format!("binary v2, {partitions} partition{several}{samplers}");
    Ok(Plan {
        from: Format::DeepGnn,
        to,
        passes: vec!["build"],
        sorts: Vec::new(),
        lines: vec![PlanLine { subject: format!("{format} text"), becomes }],
        carried: Vec::new(),
        losses: Vec::new(),
        projection: None,
        mapping: Mapping::default(),
        target: Graph::default(),
        digested: None,
        findings: Default::default(),
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// Makes the binary, compares what is read from it with what the text says, and publishes it.
///
/// # Errors
/// When the text is not sound, files cannot be written, or what is read back is another graph: then nothing is published.
pub(crate) fn build(
    opened: &Opened,
    destination: &Location,
    options: &ConvertOptions,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Certificate> {
    let started = Instant::now();
    let text = text(opened)?;
    let mode = if options.replace { Mode::Replace } else { Mode::CreateNew };
    let staging = Staging::directory(destination, mode)?;
    if let Some(time) = options.epoch {
        staging.dated(time);
    }
    let mut write = options.write.deepgnn.clone();
    (write.budget, write.scratch) = (resources.budget.clone(), Some(resources.scratch.clone()));
    progress.begin("build", None);
    let built = isomorph_deepgnn::build(text, &staging, &write, &|rows| progress.advance(rows));
    progress.end();
    let built = built?;
    // The last moment to turn back.
    progress.advance(0)?;
    let (published, proof) = staging.commit_proved(&["meta.json"], |location| {
        if options.no_verify {
            return Ok(None);
        }
        let raw = OpenOptions { raw: true, ..OpenOptions::default() };
        let source = digest(&DeepGnn::of_text(text.as_binary())?, resources, progress)?;
        let result = digest(&DeepGnn::open(location, &raw)? as &dyn Source, resources, progress)?;
        compare(&source, &result)?;
        Ok(Some((source.digests, result.digests)))
    })?;
    Ok(Certificate {
        from: Format::DeepGnn.id().to_owned(),
        to: Format::DeepGnn.id().to_owned(),
        digest: isomorph_model::digest::VERSION,
        source: proof.map(|(source, _)| source),
        result: proof.map(|(_, result)| result),
        nodes: built.nodes,
        edges: built.edges,
        carried: Vec::new(),
        lost: Vec::new(),
        files: published.files,
        bytes: published.bytes,
        seconds: started.elapsed().as_secs_f64(),
        findings: built.findings,
    })
}
