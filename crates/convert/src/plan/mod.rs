//! The plan of a conversion: one value that is shown before a byte is written, and that is then carried out.
//!
//! A [`Planner`] makes every choice once and records it: the [`Route`], the views before the mapping ([`Preparation`]), the
//! steps of the mapping, the graph that is written. What is shown follows from the steps ([`Plan::then`]); `convert`
//! carries out what the plan says and chooses nothing again.

pub(crate) mod coercion;
pub(crate) mod cost;
mod database;
pub(crate) mod graph_as_rdf;
mod lines;
pub(crate) mod lossy;
pub(crate) mod merged_nodes;
pub(crate) mod numbered;
pub(crate) mod one_type;
mod planner;
pub(crate) mod rdf_as_nodes;
pub(crate) mod relations;
mod surveyed;
pub(crate) mod unstorable_texts;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use isomorph_error::{Error, Findings, Result};
use isomorph_model::{Graph, Source};
use isomorph_storage::{Location, Resources};
use serde::Serialize;

use crate::digests::Digested;
use crate::driver::Format;
use crate::ends_by_key::Keying;
use crate::mapping::{Gathered, Mapping, Projected, Projection, Step};
use crate::open::Opened;
use crate::options::ConvertOptions;
use crate::plan::rdf_as_nodes::PynockView;
use crate::progress::Progress;
use crate::sidecar;
use crate::traits::Shape;

use planner::Planner;

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

/// How a plan is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    /// Rows of the model are read, mapped and written.
    Rows,
    /// The two formats share an encoding: [`crate::driver::Driver::shortcut`].
    Shortcut,
}

/// A view of the graph before the mapping. It has no inverse, so that no sidecar restores what it changes.
#[derive(Debug, Clone)]
pub(crate) enum Preparation {
    /// Hyperedges are dropped, or become pairs of their members.
    Project(Arc<Projection>),
    /// RDF in the mode pynock.
    Pynock(Box<PynockView>),
    /// Edges refer to nodes by key, because types are determined from keys.
    Key(Keying),
}

impl Preparation {
    fn shown(&self, graph: Arc<dyn Source>) -> Arc<dyn Source> {
        match self {
            Preparation::Project(projection) => Arc::new(Projected::new(graph, Arc::clone(projection))),
            Preparation::Pynock(view) => view.of(graph),
            Preparation::Key(keying) => keying.shown(graph),
        }
    }
}

/// The plan of a conversion.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Format of the graph.
    pub from: Format,
    /// Format of the output.
    pub to: Format,
    /// How it is carried out.
    pub(crate) route: Route,
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
    /// The views of the graph before the mapping, in order.
    pub(crate) prepared: Vec<Preparation>,
    /// The result of the first step, if planning has made it: RDF as nodes, whose resources were sorted for the plan.
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
    /// If the target is unknown or cannot hold the graph, the survey finds the source invalid, or data that the format or the
    /// sidecar does not read would be lost.
    pub fn new(
        opened: &Opened,
        destination: &Location,
        options: &ConvertOptions,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Plan> {
        let mut plan = Plan::of_read(opened, destination, options, resources, progress)?;
        if !opened.options.unsound {
            plan.lose(opened.format.unread(opened.native.as_ref()), options, "drop it")?;
        }
        Ok(plan)
    }

    /// The plan for questions: what the format does not read is not asked for.
    ///
    /// # Errors
    /// As [`Plan::new`], except for data that the format does not read.
    pub(crate) fn of_read(
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

    /// The plan of a graph as it is shown.
    ///
    /// # Errors
    /// As [`Plan::of_read`], except for data that a sidecar does not read.
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
        let graph = opened.graph.graph().clone();
        let plan = Plan::known(opened.format_of_graph(), to, Mapping::default(), graph);
        let mut planner = Planner { opened, destination, options, resources, progress, plan };
        planner.choose()?;
        let mut plan = planner.plan;
        plan.passes.extend(match to.shape() {
            Shape::Typed | Shape::Triples => ["nodes", "edges"],
            Shape::Bundled => ["keys", "nodes and edges"],
        });
        plan.seconds = started.elapsed().as_secs_f64();
        Ok(plan)
    }

    /// The plan of writing a graph by a known mapping, as `target`.
    pub(crate) fn known(from: Format, to: Format, mapping: Mapping, target: Graph) -> Plan {
        Plan {
            from,
            to,
            route: Route::Rows,
            passes: Vec::new(),
            sorts: Vec::new(),
            lines: Vec::new(),
            carried: Vec::new(),
            merged: Vec::new(),
            large_keys: false,
            repeats_keys: false,
            losses: Vec::new(),
            prepared: Vec::new(),
            gathered: None,
            mapping,
            target,
            digested: None,
            findings: Findings::default(),
            seconds: 0.0,
        }
    }

    /// The plan of a shortcut.
    pub(crate) fn shortcut(from: Format, to: Format) -> Plan {
        Plan { route: Route::Shortcut, ..Plan::known(from, to, Mapping::default(), Graph::default()) }
    }

    /// `graph` in the views before the mapping: the input of the mapping.
    pub(crate) fn source(&self, graph: &Arc<dyn Source>) -> Arc<dyn Source> {
        self.prepared.iter().fold(Arc::clone(graph), |graph, view| view.shown(graph))
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

    /// Adds a step to the mapping. What is shown of it follows from the step and from those before it.
    pub(crate) fn then(&mut self, step: Step) {
        match &step {
            Step::Reify(record) => self.describe_reification(record),
            Step::Complete(record) => self.describe_completion(record),
            Step::Relate(record) => self.describe_relations(record),
            Step::Part(record) => self.describe_parting(record),
            Step::Fit(record) => self.describe_fitting(record),
            Step::Bundle(record) => self.describe_bundling(record),
            Step::Shred(record) => self.describe_shredding(record),
            Step::Fuse(record) => self.describe_fusion(record),
            Step::Number(record) => self.describe_numbering(record),
            Step::Lift(record) => self.describe_lifting(record),
            Step::Gather(record) => self.describe_gathering(record),
            Step::Scatter(record) => self.describe_scattering(record),
            Step::Detach(record) => self.describe_detachment(record),
            // The other steps are inverses, which only a sidecar has; an unchanged graph is described by its format.
            _ => {}
        }
        self.mapping.steps.push(step);
    }

    /// Adds the step of a format that stores `graph` unchanged.
    pub(crate) fn keep(&mut self, graph: &Graph) {
        self.mapping.steps.push(Step::Native(Box::new(graph.clone())));
    }
}
