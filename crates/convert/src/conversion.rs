//! Conversion: pipeline, verification, certificate, publishing.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use isomorph_error::{Error, Finding, Findings, Kind, Result, Severity};
use isomorph_model::digest::{LineKind, Table};
use isomorph_model::{Sink, Source};
use isomorph_storage::{Location, Mode, Published, Resources, Staging};
use serde::Serialize;

use crate::destination_name::{check_apart, check_replaced};
use crate::digested::Tapped;
use crate::digests::{Digested, Digests, digest};
use crate::driver::Format;
use crate::mapping::{CARRY_FITS, Detacher, Lifter, Mapping, Numberer, TableFiles, in_form, says_itself};
use crate::open::Opened;
use crate::options::{ConvertOptions, OpenOptions, SidecarUse};
use crate::pipeline;
use crate::plan::merged_nodes::with_place;
use crate::plan::{Plan, Route};
use crate::progress::Progress;
use crate::sidecar::{self, Bound, Sidecar};
use crate::traits::Shape;

/// A running conversion.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The input.
    pub opened: &'a Opened,
    /// The plan.
    pub plan: &'a Plan,
    /// Where the output goes.
    pub destination: &'a Location,
    /// The options.
    pub options: &'a ConvertOptions,
    /// Memory, threads and temporary files.
    pub resources: &'a Resources,
}

/// What a conversion did, and the proof that it lost nothing.
#[derive(Debug, Clone, Serialize)]
pub struct Certificate {
    /// Id of the input format.
    pub from: String,
    /// Id of the output format.
    pub to: String,
    /// Version of the digest.
    pub digest: &'static str,
    /// Digests of the input; `None` if it was not read as a graph: a text that became a binary without verification.
    pub source: Option<Digests>,
    /// Digests of the output, read back; `None` without verification.
    pub result: Option<Digests>,
    /// Number of nodes.
    pub nodes: u64,
    /// Number of edges.
    pub edges: u64,
    /// Number of triples that were written, if triples became triples: edges and values. In this case `nodes` is 0,
    /// because nodes follow from the triples, and `edges` is 0 as well without verification.
    pub triples: Option<u64>,
    /// The entries of the sidecar.
    pub carried: Vec<String>,
    /// What was lost: with `--lossy`, what the sidecar would have kept.
    pub lost: Vec<String>,
    /// Number of files.
    pub files: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// Wall time in seconds, including the plan.
    pub seconds: f64,
    /// Findings about an input that was read for the first time.
    #[serde(skip)]
    pub findings: Findings,
}

impl Certificate {
    /// What has been published since `started`, of whose content nothing is known.
    pub(crate) fn of(plan: &Plan, published: &Published, started: Instant) -> Self {
        Certificate {
            from: plan.from.id().to_owned(),
            to: plan.to.id().to_owned(),
            digest: isomorph_model::digest::VERSION,
            source: None,
            result: None,
            nodes: 0,
            edges: 0,
            triples: None,
            carried: Vec::new(),
            lost: Vec::new(),
            files: published.files,
            bytes: published.bytes,
            seconds: plan.seconds + started.elapsed().as_secs_f64(),
            findings: Findings::default(),
        }
    }
}

/// Converts `opened` as planned and publishes the output at `destination`.
///
/// # Errors
/// If the input cannot be read, the output cannot be written, or verification fails. Nothing is published in these
/// cases.
pub fn convert(
    opened: &Opened,
    plan: &Plan,
    destination: &Location,
    options: &ConvertOptions,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Certificate> {
    let started = Instant::now();
    check_apart(opened, destination)?;
    let mut write = options.write.fitted(plan.to, &plan.target, destination.file_name(), resources);
    if options.replace && write.is_directory(plan.to) {
        check_replaced(destination, &opened.options.formats)?;
    }
    opened.check_bytes(resources, progress)?;
    let job = Job { opened, plan, destination, options, resources };
    if plan.route == Route::Shortcut {
        let shortcut = plan.to.shortcut(opened, &options.write);
        let shortcut = shortcut.ok_or_else(|| Error::usage("the plan is of another graph, or of other options"))?;
        return shortcut.build(&job, progress);
    }
    plan.to.prepare(&mut write, &job)?;
    let directory = write.is_directory(plan.to);
    let staging = staged(destination, directory, options)?;
    let mut described = plan.target.clone();
    if opened.format != plan.to {
        // Rows that were moved to another partition may have another order.
        isomorph_annnet::forget_rows(&mut described);
    }
    // Unpublished output has a name that does not show its format.
    let as_written = |mapping: &Mapping| {
        let mut options = native_options(opened, plan.to, mapping, resources);
        plan.to.written_options(&mut options, &write, &job).map(|()| options)
    };
    let mut sink = match plan.mapping.lifting() {
        Some(record) => {
            // Without a sidecar nobody reads triples that only isomorph understands.
            let helpers = options.rdf_1_1.is_none() || !options.loses();
            let quads = in_form(plan.to.quads(&staging, &job)?, record, helpers)?;
            Box::new(Lifter::new(quads, record, resources, progress)) as Box<dyn Sink>
        }
        None if plan.to.shape() == Shape::Triples => {
            Box::new(Lifter::of_rdf(plan.to.quads(&staging, &job)?, &plan.target, progress))
        }
        None => plan.to.create(&staging, &described, &write)?,
    };
    sink = match plan.mapping.numbering() {
        Some(record) => Box::new(Numberer::new(sink, record, resources)),
        None => plan.to.wrap_sink(sink, &plan.target),
    };
    let tables = Arc::new(Mutex::new(Vec::new()));
    if let Some(record) = plan.mapping.detachment() {
        let files = (!options.loses()).then(|| TableFiles::create(&staging, directory, record)).transpose()?;
        sink = Box::new(Detacher::new(sink, record, files, &tables));
    }
    let source = brought(opened, plan, sink.as_mut(), resources, progress).map_err(|error| match &opened.sidecar {
        None => not_of_rdf(plan, error),
        Some(sidecar) if sidecar.schema_only => undescribed(error),
        Some(_) => error,
    })?;
    let written = sink.finish()?;
    let verify = !options.no_verify && !options.loses();
    let (mut mapping, mut carried) = (plan.mapping.clone(), plan.carried.clone());
    let mut seen = None;
    let files: Vec<String> = staging.finished().into_iter().map(|(name, _)| name).collect();
    let alone = plan.mapping.kept().filter(|graph| plan.to.needs_no_sidecar(graph, &write, &files));
    if let (Some(graph), Ok(location)) = (alone, staging.preview()) {
        // Opened with the options of any reader: the files do not state what only a sidecar makes a reader show.
        let options = as_written(&Mapping::default())?;
        let found = plan.to.open(&location, &options)?;
        if says_itself(found.graph(), graph) {
            (mapping, carried) = (Mapping::default(), plan.merged.clone());
        } else if carried.is_empty() {
            carried.push(crate::plan::UNDECLARED.to_owned());
        }
        // Opening may have read names: its results are reused for verification.
        seen = Some((location, options, found));
    }
    let carries = !options.loses() && !mapping.steps.is_empty();
    if carries {
        let tables = std::mem::take(&mut *tables.lock().unwrap_or_else(PoisonError::into_inner));
        write_sidecar(&staging, directory, (plan.from, plan.to), &mapping, Some(source.digests), tables)?;
    }
    let companion = staging.companion();
    // The last point at which the conversion can be cancelled.
    progress.advance(0)?;
    let manifests: Vec<&str> = plan.to.manifests(&written);
    let mut left = Vec::new();
    let (published, result) = staging.commit_proved(&manifests, |location| {
        if !verify {
            if options.lossy && !options.no_verify && plan.mapping.scattering().is_some() {
                let found = plan.to.open(location, &as_written(&mapping)?)?;
                let found = mapping.inverse().apply(found, &resources.budget)?;
                left = missing(&source, &digest(found.as_ref(), resources, progress)?);
            }
            return Ok(None);
        }
        let options = as_written(&mapping)?;
        let folder = match directory {
            true => location.join(sidecar::FOLDER)?,
            false => companion.preview().unwrap_or_else(|| location.companion()),
        };
        let inverse = mapping.clone().in_folder(folder).inverse();
        let other = |error| blame(opened, with_place(error, opened.graph.as_ref(), resources, progress));
        if let Some(found) = plan.to.open_single_pass(location, &options, &mapping, progress)? {
            let back = inverse.rest().apply(found, &resources.budget)?;
            let back = digest(back.as_ref(), resources, progress)?;
            compare(&source, &back).map_err(other)?;
            return Ok(Some(back));
        }
        let fits = |(place, before, _): &(Location, OpenOptions, _)| {
            place == location && plan.to.opens_the_same(before, &options, mapping.kept())
        };
        let found = match seen.take().filter(fits) {
            Some((_, _, found)) => found,
            None => plan.to.open(location, &options)?,
        };
        if let Some(what) = plan.to.hidden_difference(found.graph(), &write, &job) {
            return Err(another(what));
        }
        let back = digest(inverse.apply(found, &resources.budget)?.as_ref(), resources, progress)?;
        compare(&source, &back).map_err(|error| match plan.mapping.scattering() {
            Some(_) => no_more_than_rdf(error),
            _ => other(error),
        })?;
        Ok(Some(back))
    })?;
    let (nodes, edges) = counts(&source.table);
    let mut lost = Vec::new();
    if options.loses() {
        lost = std::mem::take(&mut carried);
        lost.extend(plan.losses.iter().map(|loss| format!("{}: {}", loss.subject, loss.becomes)));
        lost.append(&mut left);
    }
    let (source, result) = (Some(source.digests), result.map(|result| result.digests));
    Ok(Certificate { source, result, nodes, edges, carried, lost, ..Certificate::of(plan, &published, started) })
}

/// A place for output that is not visible before it is published.
///
/// # Errors
/// If it cannot be created, or the destination exists and is not to be replaced.
pub(crate) fn staged(destination: &Location, directory: bool, options: &ConvertOptions) -> Result<Staging> {
    let mode = if options.replace { Mode::Replace } else { Mode::CreateNew };
    let staging = match directory {
        true => Staging::directory(destination, mode)?,
        false => Staging::file(destination, mode)?,
    };
    if let Some(time) = options.epoch {
        staging.dated(time);
    }
    Ok(staging)
}

/// Numbers of nodes and edges, as counted by the digest. Implied nodes, whose existence it does not count, are counted
/// by the property that most of them have.
pub fn counts(table: &Table) -> (u64, u64) {
    let (mut nodes, mut edges) = (BTreeMap::new(), 0);
    for (line, sum) in table.lines() {
        match line.kind {
            LineKind::Nodes => {
                let most: &mut (bool, u64) = nodes.entry(&line.ty).or_default();
                if line.property.is_empty() {
                    *most = (true, sum.count);
                } else if !most.0 {
                    most.1 = most.1.max(sum.count);
                }
            }
            LineKind::Edges if line.property.is_empty() => edges += sum.count,
            _ => {}
        }
    }
    (nodes.values().map(|(_, count)| count).sum(), edges)
}

/// The options to open output without its sidecar, for reading it through `mapping`.
pub(crate) fn native_options(opened: &Opened, format: Format, mapping: &Mapping, resources: &Resources) -> OpenOptions {
    let options = OpenOptions {
        formats: opened.options.formats.clone(),
        from: Some(format),
        sidecar: SidecarUse::Ignore,
        resources: Some(resources.clone()),
        ..OpenOptions::default()
    };
    options.showing(format, mapping.shown())
}

/// Returns an error that states the difference between input and output, if they differ.
pub(crate) fn compare(source: &Digested, result: &Digested) -> Result<()> {
    if source.digests == result.digests {
        return Ok(());
    }
    let differences = source.table.differences(&result.table);
    // A format that identifies nodes by name merges those with the same name.
    let fewer = differences.iter().find(|(line, went_in, came_out)| {
        line.kind == LineKind::Nodes && line.property.is_empty() && went_in.count > came_out.count
    });
    if let Some((line, went_in, came_out)) = fewer {
        let what = format!("{} nodes of {} have {} keys", went_in.count, line.ty.join("─"), came_out.count);
        return Err(Error::broken(&pipeline::REPEATED_KEY, what));
    }
    let what = match differences.first() {
        Some((line, left, right)) => format!(
            "{} {} {}: {} facts went in, {} came out",
            line.kind.word(),
            line.ty.join("─"),
            line.property,
            left.count,
            right.count
        ),
        None if source.digests.schema != result.digests.schema => "the schema differs".to_owned(),
        None => "the order differs".to_owned(),
    };
    Err(another(&what))
}

/// The error for output that differs from the input.
fn another(what: &str) -> Error {
    Error::new(Kind::WouldLose, format!("verification failed: the output differs from the input; {what}"))
        .hint("no output was written; internal error: please report this with the command and the version")
        .hint("--lossy    write it without verification")
}

/// Delivers the graph of `opened` to `sink`, and returns its digests.
fn brought(
    opened: &Opened,
    plan: &Plan,
    sink: &mut dyn Sink,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Digested> {
    let ids = pipeline::IdParts { relation: plan.mapping.relation_of_ids(), rows: plan.repeats_keys };
    let Some(digested) = &plan.digested else {
        let tapped = Arc::new(Tapped::new(Arc::clone(&opened.graph), resources)?);
        let source = plan.source(&(Arc::clone(&tapped) as Arc<dyn Source>));
        let target = shown(&plan.mapping, source, resources, progress)?;
        pipeline::run_with_ids(target.as_ref(), sink, ids, resources, progress)?;
        drop(target);
        let tapped = Arc::into_inner(tapped).ok_or_else(|| Error::usage("a source is still in use"))?;
        return tapped.finish(resources, progress);
    };
    let (source, mapping) = plan.remaining(plan.source(&opened.graph));
    let target = shown(&mapping, source, resources, progress)?;
    pipeline::run_with_ids(target.as_ref(), sink, ids, resources, progress)?;
    Ok(digested.clone())
}

/// `source` as the graph that it is mapped to, for writing. If several node types in one table must be written type
/// after type, they are read now.
pub(crate) fn shown(
    mapping: &Mapping,
    source: Arc<dyn Source>,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Arc<dyn Source>> {
    mapping.steps.iter().try_fold(source, |mut source, step| {
        if step.puts_types_in_line() && pipeline::is_mixed(source.as_ref()) {
            source = Arc::new(pipeline::NodesApart::read(source, resources, progress)?);
        }
        step.apply(source, &resources.budget)
    })
}

/// The error for data that the names and types of its sidecar do not describe.
pub(crate) fn undescribed(error: Error) -> Error {
    match error.broken_rule() {
        Some(_) => Error::broken(
            &sidecar::CARRY_UNREAD,
            format!("the sidecar does not describe the data: {}", error.message()),
        )
        .of_kind(Kind::StaleSidecar)
        .at(error.place().clone()),
        None => error,
    }
}

/// What is missing in the output, one line for each part of the graph.
fn missing(source: &Digested, result: &Digested) -> Vec<String> {
    let differences = source.table.differences(&result.table).into_iter();
    let fewer = differences.filter(|(_, went_in, _)| went_in.count > 0).map(|(line, went_in, came_out)| {
        let of = [line.ty.join("─"), line.property.clone()].join(" ");
        let (word, of) = (line.kind.word(), of.trim_end());
        match went_in.count.checked_sub(came_out.count).filter(|fewer| *fewer > 0) {
            Some(fewer) => format!("{fewer} of {} {word} {of}", went_in.count),
            None => format!("{word} {of}: other values"),
        }
    });
    fewer.collect()
}

/// The error for nodes that are to be RDF and have something that literals cannot represent: it is independent of the
/// sidecar.
fn not_of_rdf(plan: &Plan, error: Error) -> Error {
    let misfit = error.broken_rule().is_some_and(|rule| std::ptr::eq(rule, &CARRY_FITS));
    if !misfit || plan.mapping.scattering().is_none() {
        return error;
    }
    Error::new(Kind::Unsupported, format!("RDF cannot represent this: {}", error.message()))
        .at(error.place().clone())
        .hint("without --rdf-mode, everything becomes RDF, with IRIs below --base")
}

/// The error for nodes that were read as RDF and have more than that.
fn no_more_than_rdf(error: Error) -> Error {
    let what =
        "RDF cannot store all of these nodes: nodes without triples, equal edges, equal items or an order in arrays";
    Error::new(Kind::WouldLose, format!("{what}; {}", error.message())).hint("--lossy    drop it")
}

/// The error for output that differs from the input. More often than a bug, the cause is an input that breaks a rule of
/// its format which reading does not check, such as duplicate keys; so it is validated now.
pub(crate) fn blame(opened: &Opened, error: Error) -> Error {
    let mut findings = Findings::keeping(1);
    if let Err(unsound) = opened.native.validate(&mut findings) {
        return if unsound.kind().exit_code() == 3 { unsound } else { error };
    }
    let broken = findings.by_rule().flat_map(|(_, kept)| kept).find(|finding| finding.rule.severity == Severity::Error);
    match broken {
        Some(Finding { rule, message, place }) => {
            Error::broken(rule, message.clone()).at(place.clone()).hint("isomorph validate lists every violation")
        }
        None => error,
    }
}

/// Writes the sidecar for a graph of one format in files of another; `tables` are its own files.
///
/// # Errors
/// If the file cannot be written.
pub(crate) fn write_sidecar(
    staging: &Staging,
    directory: bool,
    (of, format): (Format, Format),
    mapping: &Mapping,
    digests: Option<Digests>,
    tables: Vec<Bound>,
) -> Result<()> {
    let mut files: Vec<Bound> =
        staging.finished().into_iter().map(|(name, digest)| Bound::new(name, &digest)).collect();
    // Those in a directory are among its files.
    files.extend(tables.into_iter().filter(|_| !directory));
    let sidecar = Sidecar {
        version: sidecar::VERSION,
        written_by: concat!("isomorph ", env!("CARGO_PKG_VERSION")).to_owned(),
        of: of.id().to_owned(),
        format: format.id().to_owned(),
        mapping: mapping.clone(),
        digests,
        files,
        alternate: false,
        schema_only: false,
    };
    let mut file = match directory {
        true => staging.create(&format!("{}/{}", sidecar::FOLDER, sidecar::DOCUMENT))?,
        false => staging.companion().create(sidecar::DOCUMENT)?,
    };
    file.write_all(sidecar.to_json()?.as_bytes())?;
    file.finish()?;
    Ok(())
}
