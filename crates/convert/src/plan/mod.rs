//! The plan of a conversion, which is shown before a byte is written.

pub(crate) mod coercion;
pub(crate) mod cost;
mod database;
pub(crate) mod graph_as_rdf;
mod lines;
pub(crate) mod lossy;
pub(crate) mod merged_nodes;
pub(crate) mod numbered;
pub(crate) mod one_type;
pub(crate) mod rdf_as_nodes;
pub(crate) mod relations;
mod surveyed;
pub(crate) mod unstorable_texts;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use isomorph_error::{Error, Findings, Kind, Result};
use isomorph_model::capability::Directions;
use isomorph_model::{Graph, KeyKind, Source};
use isomorph_storage::{Location, Resources};
use serde::Serialize;

use crate::digests::Digested;
use crate::driver::{Format, Shape};
use crate::ends_by_key::Keying;
use crate::mapping::{
    Bundling, Fusing, Fusion, Gathered, Mapping, Projected, Projection, Reification, Step, has_large_keys,
};
use crate::open::Opened;
use crate::options::{ConvertOptions, Hyperedges, RdfMode, graph_name};
use crate::plan::rdf_as_nodes::PynockView;
use crate::progress::Progress;
use crate::sidecar;

pub(crate) use lines::{counted, edge_text};
pub(crate) use surveyed::survey;

/// The sidecar entry if files do not declare everything that the graph does.
pub(crate) const UNDECLARED: &str = "declarations that the files do not have";

/// One line of a plan: a part of the graph and its form in the output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanLine {
    /// The part: a type, a property.
    pub subject: String,
    /// Its form in the output.
    pub becomes: String,
}

/// The plan of a conversion.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Format of the graph.
    pub from: Format,
    /// Format of the output.
    pub to: Format,
    /// Passes over the source, in order: `survey`, `keys`, `nodes`, `edges`.
    pub passes: Vec<&'static str>,
    /// Orders in which edges are sorted, by the name of the edge type.
    pub sorts: Vec<String>,
    /// The form of each part.
    pub lines: Vec<PlanLine>,
    /// What goes into the sidecar because the target cannot store it.
    pub carried: Vec<String>,
    /// The entries of [`Plan::carried`] about nodes that are merged: they are lost even if the output declares
    /// everything itself.
    pub merged: Vec<String>,
    /// Whether a node has an integer key from 2^63 on, where the target does not have such keys.
    pub(crate) large_keys: bool,
    /// Whether nodes of one type have the same key, which the target merges.
    pub repeats_keys: bool,
    /// What the format cannot store, by type and property: lost without the sidecar.
    pub losses: Vec<PlanLine>,
    /// What is dropped from the graph before anything else: its hyperedges, unless they become nodes.
    pub projection: Option<Arc<Projection>>,
    /// RDF in the mode pynock, if requested.
    pub pynock: Option<Arc<PynockView>>,
    /// The keys of nodes, if their types are determined from keys and edges refer to rows.
    pub(crate) keying: Option<Keying>,
    /// RDF as nodes with properties, whose resources were sorted for the plan.
    pub(crate) gathered: Option<Arc<Gathered>>,
    /// The mapping from the graph to the output.
    pub mapping: Mapping,
    /// The graph as the target stores it.
    pub target: Graph,
    /// Digests of the source, if a survey has already read it.
    pub digested: Option<Digested>,
    /// What readers will object to in the requested layout.
    pub findings: Findings,
    /// Wall time of planning in seconds: a survey reads the whole source.
    pub seconds: f64,
}

/// The target format: as requested, as the name of the destination indicates, or the format that the sidecar describes;
/// if the name has no extension, that of the source.
///
/// # Errors
/// If none of these determines it.
pub fn target_format(opened: &Opened, destination: &Location, options: &ConvertOptions) -> Result<Format> {
    let carried = Some(opened.format_of_graph()).filter(|format| *format != opened.format);
    let own = Some(opened.format).filter(|_| !destination.file_name().contains('.'));
    let formats = &opened.options.formats;
    options.to.or_else(|| formats.of_name(destination.file_name())).or(carried).or(own).ok_or_else(|| {
        Error::usage("the format cannot be determined from the name of the destination")
            .at(destination.to_string())
            .hint(format!("--to {}", formats.ids("|")))
    })
}

impl Plan {
    /// Plans the conversion of `opened` to `destination`. A source that needs a survey is read once. If only names and
    /// types of the sidecar are used, the source is read more often, to find what the sidecar does not read.
    ///
    /// # Errors
    /// If the target is unknown or cannot hold the graph, the survey finds the source invalid, or data that the sidecar
    /// does not read would be lost.
    pub fn new(
        opened: &Opened,
        destination: &Location,
        options: &ConvertOptions,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Plan> {
        let plan = Plan::of(opened, destination, options, resources, progress);
        let mut plan = plan.map_err(|error| sidecar::verify::of_reading(opened, error))?;
        let Some(sidecar) = opened.sidecar.as_ref().filter(|sidecar| sidecar.schema_only) else { return Ok(plan) };
        let unread = sidecar::reread(opened, sidecar, resources, progress)?.unread;
        if !unread.is_empty() && !options.loses() {
            return Err(sidecar::says_more(&opened.location, &unread)
                .hint("--lossy    convert what the sidecar reads, and list what is lost"));
        }
        plan.losses.extend(unread.into_iter().map(|subject| PlanLine { subject, becomes: "nothing".to_owned() }));
        Ok(plan)
    }

    /// The plan of writing a graph by a known mapping, as `target`.
    pub(crate) fn known(from: Format, to: Format, mapping: Mapping, target: Graph) -> Plan {
        Plan {
            from,
            to,
            passes: Vec::new(),
            sorts: Vec::new(),
            lines: Vec::new(),
            carried: Vec::new(),
            merged: Vec::new(),
            large_keys: false,
            repeats_keys: false,
            losses: Vec::new(),
            projection: None,
            pynock: None,
            keying: None,
            gathered: None,
            mapping,
            target,
            digested: None,
            findings: Findings::default(),
            seconds: 0.0,
        }
    }

    /// The plan of a graph as it is shown.
    ///
    /// # Errors
    /// As [`Plan::new`], except for data that a sidecar does not read.
    pub(crate) fn of(
        opened: &Opened,
        destination: &Location,
        options: &ConvertOptions,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Plan> {
        let started = Instant::now();
        let to = target_format(opened, destination, options)?;
        if let Some(shortcut) = to.shortcut(opened, &options.write) {
            return shortcut.plan(destination, options, started);
        }
        opened.graph.prepare(resources.threads, progress)?;
        let graph = opened.graph.graph();
        let from = opened.format_of_graph();
        let mut plan = Plan::known(from, to, Mapping::default(), graph.clone());
        plan.findings = to.cautions(&options.write);
        for (subject, fact) in opened.format.recognised(opened.native.as_ref()) {
            plan.line(subject, fact);
        }
        if let Some(other) = other_format(to, destination, opened, options) {
            plan.line(format!("or --to {}", other.id()), other.layout(&options.write));
        }
        let write = options.write.fitted(to, graph, destination.file_name(), resources);
        to.check_layout(&write)?;
        if !options.loses() && !to.keeps_order(&write) {
            refuse_order(graph, to)?;
        }
        plan.check_rdf(options)?;
        plan.check_node_types(options)?;
        plan.project(opened, options.hyperedges, resources, progress)?;
        if options.node_types.is_some() || plan.mixes_ends(&opened.graph) {
            plan.keying = Keying::of(plan.source(&opened.graph).as_ref(), resources, progress)?;
        }
        let source = plan.source(&opened.graph);
        let reified = plan.reify(source.as_ref())?;
        let related = match &reified {
            None if !to.has_numbers_only() => plan.relate(opened, options.typing, resources, progress)?,
            _ => None,
        };
        let parted = plan.part(opened, options, resources, progress)?;
        plan.large_keys = !to.allowed().wide_keys && has_large_keys(source.as_ref(), resources, progress)?;
        let graph = parted.as_ref().or(related.as_ref()).or(reified.as_ref()).unwrap_or(source.graph());
        let fitted = match to.allowed_in_layout(&write).filter(|_| from == to) {
            Some(allowed) => plan.fit_to(graph, &allowed)?,
            None => plan.fit(graph)?,
        };
        let graph = fitted.as_ref().unwrap_or(graph);
        match (from.shape(), to.shape()) {
            (Shape::Triples, Shape::Triples) => {
                match to.syntax(destination, &options.write)? {
                    Some(syntax) => plan.line("triples", format!("one text of {syntax}")),
                    None => plan.line("triples", "the same"),
                }
                plan.mapping.steps.push(Step::Native(Box::new(graph.clone())));
            }
            (Shape::Bundled, Shape::Triples) if options.rdf_mode.is_some() => {
                plan.scatter(opened, options, resources, progress)?;
            }
            (Shape::Triples, Shape::Bundled) if options.rdf_mode == Some(RdfMode::Pynock) => {
                plan.flatten(graph, resources)?;
            }
            (_, Shape::Triples) => plan.lift(graph, (&opened.location, destination), options)?,
            (Shape::Triples, _) => {
                let name = graph_name(destination.file_name());
                plan.gather(&source, options, name, resources, progress)?;
            }
            (Shape::Typed, Shape::Bundled) => {
                let bundling = Bundling::of_typed(graph)?;
                plan.describe_bundling(&bundling);
                let losses = to.capability().losses(graph).into_iter();
                plan.losses = losses.map(|loss| PlanLine { subject: loss.subject, becomes: loss.text }).collect();
                plan.target = bundling.bundled.clone();
                plan.mapping.steps.push(Step::Bundle(Box::new(bundling)));
            }
            (Shape::Bundled, Shape::Typed) => {
                let (survey, digested) = survey(opened, options.typing, resources, progress)?;
                plan.passes.push("survey");
                plan.digested = Some(digested);
                let bundling = Bundling::surveyed(graph, &survey, options.typing, &to.name_rules())?;
                let typed = plan.shred(&source, bundling, options, resources, progress)?;
                let typed = plan.fit_to(&typed, &to.allowed())?.unwrap_or(typed);
                plan.target = typed.clone();
                plan.target.name = plan.target.name.take().or_else(|| graph_name(destination.file_name()));
                if to.has_one_type() {
                    plan.unite(&typed, options)?;
                }
            }
            // Hyperedges have become separate types.
            _ if to.has_one_type() && (from != to || graph.nodes.len() > 1) => plan.unite(graph, options)?,
            (Shape::Bundled, Shape::Bundled) if fitted.is_some() => {
                plan.target = graph.clone();
                plan.carried.extend(to.undeclared(graph, &write).map(str::to_owned));
                plan.mapping.steps.push(Step::Native(Box::new(graph.clone())));
            }
            // The lines were added before.
            _ if reified.is_some() || related.is_some() || parted.is_some() || fitted.is_some() => {
                plan.target = graph.clone();
            }
            _ => {
                plan.describe_identity(graph);
                to.describe(&mut plan, graph, options)?;
                plan.carried.extend(to.undeclared(graph, &write).map(str::to_owned));
                plan.mapping.steps.push(Step::Native(Box::new(graph.clone())));
            }
        }
        for (subject, becomes) in to.altered(opened, &plan.target) {
            plan.line(&subject, &becomes);
            plan.losses.push(PlanLine { subject, becomes });
        }
        plan.leave_out(opened, &write, options, resources, progress)?;
        plan.read_texts(source, options, resources, progress)?;
        plan.keep_files(opened, options)?;
        plan.merge_nodes(opened, options, resources, progress)?;
        plan.for_database(destination);
        plan.passes.extend(match to.shape() {
            Shape::Typed | Shape::Triples => ["nodes", "edges"],
            Shape::Bundled => ["keys", "nodes and edges"],
        });
        plan.seconds = started.elapsed().as_secs_f64();
        Ok(plan)
    }

    /// Plans what happens to the files of a graph that no layout of its format lists.
    ///
    /// # Errors
    /// Returns [`Kind::WouldLose`] for those that are too large for the sidecar.
    fn keep_files(&mut self, opened: &Opened, options: &ConvertOptions) -> Result<()> {
        if self.to == opened.format {
            return Ok(());
        }
        let [kept, left] = opened.format.extra_files(opened.native.as_ref());
        if !kept.is_empty() {
            self.carried.push(format!("files {}", kept.join(", ")));
        }
        let Some(first) = left.first() else { return Ok(()) };
        if options.loses() {
            self.carried.push(format!("files {}, which are too large for the sidecar", left.join(", ")));
            return Ok(());
        }
        let more = match left.len() {
            1 => String::new(),
            all => format!(" and {}", counted(all - 1, "more file")),
        };
        Err(Error::new(
            Kind::WouldLose,
            format!(
                "{first}{more} would be lost: not part of any layout of {}, and too large for the sidecar",
                opened.format
            ),
        )
        .at(opened.location.to_string())
        .hint("move it elsewhere first")
        .hint("--lossy    drop it"))
    }

    /// Drops the hyperedges of the graph, or makes edges of them, as requested.
    ///
    /// # Errors
    /// If the target has hyperedges, or those of the graph cannot be read.
    fn project(
        &mut self,
        opened: &Opened,
        how: Hyperedges,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<()> {
        if how != Hyperedges::Reify && self.to.capability().hyperedges {
            return Err(Error::usage(format!("{} has hyperedges, so --hyperedges does not apply", self.to)));
        }
        let Some(projection) = Projection::of(opened.graph.as_ref(), how, resources, progress)? else { return Ok(()) };
        self.passes.push("hyperedges");
        if how == Hyperedges::Expand {
            self.passes.push("members");
        }
        for (ty, becomes) in &projection.lines {
            self.line(format!("hyperedges {ty}"), becomes);
        }
        self.carried.extend(projection.lost.iter().cloned());
        self.projection = Some(projection);
        Ok(())
    }

    /// `graph` without what is dropped before anything else: the input of the mapping.
    pub(crate) fn source(&self, graph: &Arc<dyn Source>) -> Arc<dyn Source> {
        let graph: Arc<dyn Source> = match &self.projection {
            Some(projection) => Arc::new(Projected::new(Arc::clone(graph), Arc::clone(projection))),
            None => Arc::clone(graph),
        };
        let graph = self.pynock.as_ref().map_or(Arc::clone(&graph), |view| view.of(graph));
        self.keying.as_ref().map_or(Arc::clone(&graph), |keying| keying.shown(graph))
    }

    /// Returns a source and the steps that remain to be applied to it: all of them to `source`, or those after the first
    /// to the source that planning has gathered already.
    pub(crate) fn remaining(&self, source: Arc<dyn Source>) -> (Arc<dyn Source>, Cow<'_, Mapping>) {
        match &self.gathered {
            Some(gathered) => (Arc::clone(gathered) as Arc<dyn Source>, Cow::Owned(self.mapping.rest())),
            None => (source, Cow::Borrowed(&self.mapping)),
        }
    }

    /// Returns `source`, the input of the mapping, as a view in which the known steps are applied.
    ///
    /// # Errors
    /// Returns the errors of [`Mapping::apply`].
    pub(crate) fn mapped(&self, source: Arc<dyn Source>, resources: &Resources) -> Result<Arc<dyn Source>> {
        let (source, mapping) = self.remaining(source);
        mapping.apply(source, &resources.budget)
    }

    /// Plans to write as nodes and edges what the target cannot store otherwise; returns the resulting graph.
    ///
    /// # Errors
    /// If the graph has something that cannot be written in this way.
    fn reify(&mut self, source: &dyn Source) -> Result<Option<Graph>> {
        let graph = source.graph();
        let (bundled, capability) = (self.to.shape() == Shape::Bundled, self.to.capability());
        let to_rdf = self.to.shape() == Shape::Triples;
        // A format of one type that has no direction for each edge refuses such a graph: an undirected edge would be a directed one.
        let by_row = bundled || to_rdf || self.becomes_plain() || capability.directions == Directions::ByRow;
        // The hyperedges and groups of a format have its own shape, which a graph of another format does not have.
        let holds_it = self.from == self.to && capability.hyperedges && capability.edge_keys && capability.layers;
        if self.from.shape() != Shape::Typed || holds_it || !Reification::is_needed(graph, by_row) {
            return Ok(None);
        }
        let mut record = Reification::of(graph)?;
        if bundled || self.to.has_one_type() {
            // One table of all nodes needs the first row of each type.
            record = record.counted(source)?;
        }
        self.describe_reification(&record);
        let plain = record.plain.clone();
        self.mapping.steps.push(Step::Reify(Box::new(record)));
        Ok(Some(plain))
    }

    /// Plans to write several types as one.
    ///
    /// # Errors
    /// If the graph has something that cannot be written in this way.
    pub(crate) fn unite(&mut self, graph: &Graph, options: &ConvertOptions) -> Result<()> {
        if self.to.has_numbers_only() {
            return self.number(graph, options);
        }
        let mut record = Fusion::of(graph, self.to.fusing())?;
        if self.becomes_plain() && self.to.capability().nodes.json {
            record.keep_json();
        }
        self.describe_fusion(&record);
        let written = record.written();
        let is_plain = record.fusing == Fusing::Plain;
        self.mapping.steps.push(Step::Fuse(Box::new(record)));
        // Labels are a list, which the target may not be able to store.
        let fitted = if is_plain { self.fit_to(&written, &self.to.allowed())? } else { None };
        self.target = fitted.unwrap_or(written);
        Ok(())
    }

    pub(crate) fn line(&mut self, subject: impl Into<String>, becomes: impl Into<String>) {
        self.lines.push(PlanLine { subject: subject.into(), becomes: becomes.into() });
    }
}

/// The format whose id is the ending of the destination, where the name was taken for another one.
fn other_format(to: Format, destination: &Location, opened: &Opened, options: &ConvertOptions) -> Option<Format> {
    let (_, ending) = destination.file_name().rsplit_once('.').filter(|_| options.to.is_none())?;
    opened.options.formats.find(&ending.to_ascii_lowercase()).filter(|other| *other != to)
}

/// Fails where positions of nodes mean something.
fn refuse_order(graph: &Graph, to: Format) -> Result<()> {
    match graph.nodes.iter().find(|ty| ty.ordered || ty.key.kind == KeyKind::Row) {
        None => Ok(()),
        Some(ty) => {
            let what = format!("this layout does not keep the order of nodes, which has a meaning in {}", ty.name);
            let error = Error::new(Kind::WouldLose, what).hint("--lossy    drop the order");
            Err(match to.shape() {
                Shape::Bundled => error.hint("a single file without sorting keeps it"),
                _ => error,
            })
        }
    }
}
