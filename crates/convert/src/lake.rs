//! A snapshot of GraphLake as a store of its own: quads are sorted anew, without the detour of model batches, in which
//! triples have no order.

use std::time::Instant;

use isomorph_error::Result;
use isomorph_graphlake::{GraphLake, LakeWriter, OpenOptions, Order, WriteOptions};
use isomorph_model::digest::LineKind;
use isomorph_model::{Graph, Source};
use isomorph_storage::{Location, Mode, Staging};

use crate::conversion::{Certificate, compare};
use crate::digests::{Resources, digest};
use crate::mapping::Mapping;
use crate::open::Opened;
use crate::options::ConvertOptions;
use crate::plan::{Plan, PlanLine};
use crate::progress::Progress;
use crate::registry::Format;

/// The snapshot that becomes a store of its own, where one is wanted.
pub(crate) fn snapshot(opened: &Opened, to: Format) -> Option<&GraphLake> {
    if to != Format::GraphLake || opened.carry.is_some() {
        return None;
    }
    opened.native.as_any().and_then(|graph| graph.downcast_ref::<GraphLake>())
}

/// The plan of writing `lake` anew.
pub(crate) fn plan(lake: &GraphLake, started: Instant) -> Plan {
    let snapshot = lake.snapshot();
    let others = lake.store().snapshots.len().saturating_sub(1);
    let mut lines = vec![PlanLine {
        subject: format!("snapshot {}", snapshot.id),
        becomes: "the only snapshot of a new store, version 1".to_owned(),
    }];
    if others > 0 {
        lines.push(PlanLine { subject: "other snapshots".to_owned(), becomes: format!("{others} stay behind") });
    }
    Plan {
        from: Format::GraphLake,
        to: Format::GraphLake,
        passes: vec!["sort"],
        sorts: vec!["triples by subject".to_owned(), "triples by object".to_owned()],
        lines,
        carried: Vec::new(),
        losses: Vec::new(),
        projection: None,
        mapping: Mapping::default(),
        target: Graph::default(),
        digested: None,
        findings: Default::default(),
        seconds: started.elapsed().as_secs_f64(),
    }
}

/// Writes the store, compares what is read from it with the snapshot, and publishes it.
///
/// # Errors
/// When the snapshot is not sound, files cannot be written, or what is read back is another graph: then nothing is published.
pub(crate) fn build(
    lake: &GraphLake,
    destination: &Location,
    options: &ConvertOptions,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Certificate> {
    let started = Instant::now();
    let mode = if options.replace { Mode::Replace } else { Mode::CreateNew };
    let staging = Staging::directory(destination, mode)?;
    if let Some(time) = options.epoch {
        staging.dated(time);
    }
    let write = WriteOptions {
        time: options.epoch,
        budget: resources.budget.clone(),
        scratch: Some(resources.scratch.clone()),
        ..WriteOptions::default()
    };
    let mut writer = LakeWriter::create(&staging, &write)?;
    progress.begin("sort", None);
    let pushed = push(lake, &mut writer, progress).and_then(|()| writer.finish(&|rows| progress.advance(rows)));
    progress.end();
    let created = pushed?;
    // The last moment to turn back.
    progress.advance(0)?;
    let manifests = LakeWriter::manifests();
    let (published, proof) = staging.commit_proved(&manifests.each_ref().map(String::as_str), |location| {
        if options.no_verify {
            return Ok(None);
        }
        let open = OpenOptions { budget: resources.budget.clone(), ..OpenOptions::default() };
        let written = GraphLake::open(location, &open)?.described_as(lake.graph());
        let source = digest(lake, resources, progress)?;
        let result = digest(&written as &dyn Source, resources, progress)?;
        compare(&source, &result)?;
        Ok(Some((source, result)))
    })?;
    let edges = proof.as_ref().map_or(created.triples, |(source, _)| {
        let edges = source.table.lines().filter(|(line, _)| line.kind == LineKind::Edges && line.property.is_empty());
        edges.map(|(_, sum)| sum.count).sum()
    });
    Ok(Certificate {
        from: Format::GraphLake.id().to_owned(),
        to: Format::GraphLake.id().to_owned(),
        digest: isomorph_model::digest::VERSION,
        source: proof.as_ref().map(|(source, _)| source.digests),
        result: proof.as_ref().map(|(_, result)| result.digests),
        nodes: 0,
        edges,
        carried: Vec::new(),
        lost: Vec::new(),
        files: published.files,
        bytes: published.bytes,
        seconds: started.elapsed().as_secs_f64(),
        findings: Default::default(),
    })
}

/// Gives all graphs and quads of a snapshot to a writer.
fn push(lake: &GraphLake, writer: &mut LakeWriter<'_>, progress: &dyn Progress) -> Result<()> {
    lake.named_graphs().try_for_each(|name| writer.graph(name))?;
    let mut unsaid = 0u64;
    lake.quads(Order::Subject, &mut |quad| {
        unsaid += 1;
        if unsaid.is_multiple_of(1 << 14) {
            // Cancelled work ends here too.
            progress.advance(0)?;
        }
        writer.push(&quad)
    })
}
