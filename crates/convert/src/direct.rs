//! Converts a text of DeepGNN to a binary in one pass, without batches of the model: the order of lines and edges,
//! which a graph does not have, determines the layout of the binary.

use std::sync::Arc;
use std::time::Instant;

use isomorph_deepgnn::{BuildOptions, Built, DeepGnn, OpenOptions, Text, WriteOptions as Writing};
use isomorph_error::{Error, Kind, Result};
use isomorph_model::well_known::{CREATED_AT, REMOVED_AT, WEIGHT};
use isomorph_model::{Graph, Source};
use isomorph_storage::{Location, Resources};

use crate::conversion::{Certificate, Job, compare, staged, write_sidecar};
use crate::digests::{Digested, digest};
use crate::driver::Format;
use crate::mapping::{Mapping, Step, declared};
use crate::open::Opened;
use crate::options::{ConvertOptions, WriteOptions};
use crate::plan::{Plan, PlanLine};
use crate::progress::Progress;
use crate::shortcut::Shortcut;

/// The contents of the sidecar of the binary of a text.
const CARRIED: &str = "types of features, weights and times of nodes, times of edges as they are stated";

/// What becomes of times of edges without a watermark.
const NO_TIMES: &str =
    "times of edges: in the sidecar alone; the binary has none for DeepGNN's engine, which needs --watermark TIME";

/// The direct conversion, if the input is a text and the output a binary.
pub(crate) fn of<'a>(opened: &'a Opened, write: &WriteOptions) -> Option<Box<dyn Shortcut + 'a>> {
    if write.get::<Writing>().text.is_some() || opened.sidecar.is_some() {
        return None;
    }
    let text = opened.native.as_any().and_then(|graph| graph.downcast_ref::<DeepGnn>())?.text()?;
    Some(Box::new(Direct(text)))
}

/// The direct conversion of a text.
struct Direct<'a>(&'a Text);

impl Shortcut for Direct<'_> {
    /// The plan of writing the binary.
    fn plan(&self, _destination: &Location, options: &ConvertOptions, started: Instant) -> Result<Plan> {
        let write = options.write.get::<Writing>();
        let mut carried = vec![CARRIED.to_owned()];
        if self.0.is_temporal() && write.binary.watermark.is_none() && !options.loses() {
            carried.push(NO_TIMES.to_owned());
        }
        let becomes = layout(&write);
        Ok(Plan {
            passes: vec!["build"],
            lines: vec![PlanLine { subject: format!("{} text", self.0.format()), becomes }],
            carried,
            seconds: started.elapsed().as_secs_f64(),
            ..Plan::shortcut(Format::DEEPGNN, Format::DEEPGNN)
        })
    }

    fn build(&self, job: &Job<'_>, progress: &dyn Progress) -> Result<Certificate> {
        build(self.0, job, progress)
    }
}

impl Plan {
    /// Describes how a graph of DeepGNN is written, and what would be lost.
    ///
    /// # Errors
    /// If something would be lost, and `--lossy` was not given.
    pub(crate) fn describe_deepgnn(&mut self, graph: &Graph, options: &ConvertOptions) -> Result<()> {
        let mut write = options.write.get::<Writing>().into_owned();
        write.binary.beside = !options.loses();
        self.line("graph", layout(&write));
        self.lose(isomorph_deepgnn::unheld(graph, &write)?, options, "drop them")?;
        let has = |name: &str| graph.nodes.iter().flat_map(|ty| &ty.properties).any(|property| property.name == name);
        if !has(WEIGHT) {
            self.line("weights of nodes", "1, as the graph states none");
        }
        if write.text.is_none() && write.binary.beside {
            self.carried.extend(has(WEIGHT).then(|| "weights of nodes".to_owned()));
            self.carried.extend((has(CREATED_AT) || has(REMOVED_AT)).then(|| "times of nodes".to_owned()));
            let several = isomorph_deepgnn::several(graph)?.into_iter();
            self.carried.extend(several.map(|id| format!("the type of each value of feature {id}")));
        }
        Ok(())
    }
}

/// The description of the output.
pub(crate) fn layout(options: &Writing) -> String {
    if let Some(format) = options.text {
        let left_out = if options.leave_out { ", with a file of defaults" } else { "" };
        return match options.parts {
            None => format!("{format} text"),
            Some(1) => format!("{format} text, a directory of 1 file{left_out}"),
            Some(count) => format!("{format} text, a directory of {count} files{left_out}"),
        };
    }
    let BuildOptions { partitions, node_samplers, edge_samplers, .. } = options.binary;
    let samplers = match (node_samplers, edge_samplers) {
        (true, true) => ", with tables for sampling",
        _ => "",
    };
    let several = if partitions == 1 { "" } else { "s" };
    format!("binary v2, {partitions} partition{several}{samplers}")
}

/// Returns whether a property is a time of a node or an edge.
fn is_time(name: &str) -> bool {
    [CREATED_AT, REMOVED_AT].contains(&name)
}

/// What the binary of a text does not store, if there is no sidecar.
fn unsaid(built: &Built, write: &Writing) -> Result<Vec<String>> {
    if write.binary.beside {
        return Ok(Vec::new());
    }
    let mut stated = built.graph.clone();
    if !built.lives {
        stated.nodes.iter_mut().for_each(|ty| ty.properties.retain(|property| !is_time(&property.name)));
    }
    let unheld = isomorph_deepgnn::unheld(&stated, write)?;
    let mut unsaid: Vec<String> = unheld.into_iter().map(|(subject, why)| format!("{subject}: {why}")).collect();
    let mut of_edges = stated.edges.iter().flat_map(|ty| &ty.properties);
    if write.binary.watermark.is_none() && of_edges.any(|property| is_time(&property.name)) {
        unsaid.push("times of edges: they are only stored with a watermark (--watermark)".to_owned());
    }
    Ok(unsaid)
}

/// The digests of a text, and those that its binary must have.
fn said(text: &Text, typed: bool, resources: &Resources, progress: &dyn Progress) -> Result<[Digested; 2]> {
    let text = if typed { text.clone() } else { text.as_binary() };
    let graph = DeepGnn::of_text(text.clone())?;
    let whole = digest(&graph, resources, progress)?;
    let stated = match typed && graph.is_split()? {
        true => digest(&graph.as_stated(), resources, progress)?,
        false => whole.clone(),
    };
    Ok([whole, stated])
}

/// The error for a binary in which the first statement about a node is another one than in its text.
fn reordered(error: Error) -> Error {
    let message =
        "a node has several statements, and in the binary another one counts, because of the order of partitions";
    Error::new(Kind::WouldLose, format!("{message}; {}", error.message()))
        .hint("--partitions 1    keep the order of lines")
        .hint("--lossy    write it anyway")
}

/// Writes the binary, compares what is read from it with the text, and publishes it. The sidecar holds what the binary
/// does not store: types of features, weights and times of nodes, times of edges that differ from the stored ones or
/// are not stored.
///
/// # Errors
/// If the text is invalid, files cannot be written, or verification fails. Nothing is published in these cases.
fn build(text: &Text, job: &Job<'_>, progress: &dyn Progress) -> Result<Certificate> {
    let (Job { plan, destination, options, resources, .. }, started) = (*job, Instant::now());
    let staging = staged(destination, true, options)?;
    let asked = options.write.get::<Writing>();
    let mut write = asked.binary.clone();
    (write.budget, write.scratch) = (resources.budget.clone(), Some(resources.scratch.clone()));
    write.beside = !options.loses();
    progress.begin("build", None);
    let built = isomorph_deepgnn::build(text, &staging, &write, &|rows| progress.advance(rows));
    progress.end();
    let built = built?;
    // The last point at which the conversion can be cancelled.
    progress.advance(0)?;
    let mut lost = unsaid(&built, &Writing { binary: write, ..asked.as_ref().clone() })?;
    let graph = built.graph;
    let carries = !options.loses();
    let source = match options.no_verify {
        true => None,
        false => Some(said(text, carries, resources, progress)?),
    };
    // The statements about a node can be in different partitions, whose order differs from that of the lines.
    let scatters = asked.binary.partitions > 1 && !built.ascends;
    let split = match &source {
        _ if !scatters => None,
        Some([whole, stated]) if carries => (whole.digests != stated.digests).then(|| whole.clone()),
        _ => {
            let graph = DeepGnn::of_text(text.clone())?;
            if graph.is_split()? { Some(digest(&graph, resources, progress)?) } else { None }
        }
    };
    if !carries && split.is_some() {
        lost.push("nodes with several statements: the order of partitions determines which of them counts".to_owned());
    }
    let mut carried = Vec::new();
    if carries {
        let mapping = Mapping { steps: vec![Step::Native(Box::new(graph.clone()))] };
        let digests = source.as_ref().map(|[whole, _]| whole.digests);
        write_sidecar(&staging, true, (Format::DEEPGNN, Format::DEEPGNN), &mapping, digests, Vec::new())?;
        carried.push(CARRIED.to_owned());
        let mut of_edges = graph.edges.iter().flat_map(|ty| &ty.properties);
        if asked.binary.watermark.is_none() && of_edges.any(|property| is_time(&property.name)) {
            carried.push(NO_TIMES.to_owned());
        }
    }
    let (published, proof) = staging.commit_proved(&[isomorph_deepgnn::META], |location| {
        let mut how = OpenOptions { raw: !carries, ..OpenOptions::default() };
        (how.budget, how.scratch) = (resources.budget.clone(), Some(resources.scratch.clone()));
        let how = if carries { how.showing(&graph) } else { how };
        let read = |as_stated: bool| {
            let found = DeepGnn::open(location, &how)?;
            let found: Arc<dyn Source> = Arc::new(if as_stated { found.as_stated() } else { found });
            let found = if carries { declared(found, &graph)? } else { found };
            digest(found.as_ref(), resources, progress)
        };
        let united = match &split {
            Some(whole) if carries => {
                let found = read(false)?;
                compare(whole, &found).map_err(reordered)?;
                Some((whole.digests, found.digests))
            }
            _ => None,
        };
        let Some([whole, source]) = &source else { return Ok(None) };
        let result = read(true)?;
        compare(source, &result)?;
        // Each statement is compared as a separate node; the statements that count are the graph.
        let same = (whole.digests, if carries { whole.digests } else { result.digests });
        Ok(Some(united.unwrap_or(same)))
    })?;
    Ok(Certificate {
        source: proof.map(|(source, _)| source),
        result: proof.map(|(_, result)| result),
        nodes: built.nodes,
        edges: built.edges,
        carried,
        lost,
        findings: built.findings,
        ..Certificate::of(plan, &published, started)
    })
}
