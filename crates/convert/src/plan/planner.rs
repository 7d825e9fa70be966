//! Chooses how a graph is converted.

use std::sync::Arc;

use isomorph_error::{Error, Kind, Result};
use isomorph_model::capability::Directions;
use isomorph_model::{Graph, KeyKind, Source};
use isomorph_storage::{Location, Resources};

use super::{Plan, PlanLine, Preparation, counted, survey};
use crate::driver::Format;
use crate::ends_by_key::Keying;
use crate::mapping::{Bundling, Fusing, Fusion, Projection, Reification, Step, has_large_keys};
use crate::open::Opened;
use crate::options::{ConvertOptions, Hyperedges, RdfMode, graph_name};
use crate::progress::Progress;
use crate::traits::Shape;

/// A plan that is being made, and what it is made from.
pub(super) struct Planner<'a> {
    pub opened: &'a Opened,
    pub destination: &'a Location,
    pub options: &'a ConvertOptions,
    pub resources: &'a Resources,
    pub progress: &'a dyn Progress,
    pub plan: Plan,
}

impl Planner<'_> {
    /// Chooses every step.
    ///
    /// # Errors
    /// If the target cannot hold the graph, or the survey finds the source invalid.
    pub fn choose(&mut self) -> Result<()> {
        let Planner { opened, destination, options, resources, progress, .. } = *self;
        let (from, to) = (self.plan.from, self.plan.to);
        let graph = opened.graph.graph();
        self.plan.findings = to.cautions(&options.write);
        for (subject, fact) in opened.format.recognised(opened.native.as_ref()) {
            self.plan.line(subject, fact);
        }
        if let Some(other) = self.other_format() {
            self.plan.line(format!("or --to {}", other.id()), other.layout(&options.write));
        }
        let write = options.write.fitted(to, graph, destination.file_name(), resources);
        to.check_layout(&write)?;
        if !options.loses() && !to.keeps_order(&write) && !to.traits().detaches {
            refuse_order(graph, to)?;
        }
        self.check_rdf()?;
        self.check_node_types()?;
        self.project()?;
        if options.node_types.is_some() || self.mixes_ends() {
            let keying = Keying::of(self.source().as_ref(), resources, progress)?;
            self.plan.prepared.extend(keying.map(Preparation::Key));
        }
        let source = self.source();
        let reified = self.reify(source.as_ref())?;
        let related = match &reified {
            None if !to.traits().has_numbers_only => self.relate()?,
            _ => None,
        };
        let parted = self.part()?;
        self.plan.large_keys = !to.allowed().wide_keys && has_large_keys(source.as_ref(), resources, progress)?;
        let graph = parted.as_ref().or(related.as_ref()).or(reified.as_ref()).unwrap_or(source.graph());
        let fitted = match to.allowed_in_layout(&write).filter(|_| from == to) {
            Some(allowed) => self.plan.fit_to(graph, &allowed)?,
            None => self.plan.fit(graph)?,
        };
        let graph = fitted.as_ref().unwrap_or(graph);
        let plan = &mut self.plan;
        match (from.shape(), to.shape()) {
            (Shape::Triples, Shape::Triples) => {
                match to.syntax(destination, &options.write)? {
                    Some(syntax) => plan.line("triples", format!("one text of {syntax}")),
                    None => plan.line("triples", "the same"),
                }
                plan.keep(graph);
            }
            (Shape::Bundled, Shape::Triples) if options.rdf_mode.is_some() => self.scatter()?,
            (Shape::Triples, Shape::Bundled) if options.rdf_mode == Some(RdfMode::Pynock) => self.flatten(graph)?,
            (_, Shape::Triples) => self.lift(graph)?,
            (Shape::Triples, _) => self.gather(&source)?,
            (Shape::Typed, Shape::Bundled) => {
                let losses = to.capability().losses(graph).into_iter();
                plan.losses = losses.map(|loss| PlanLine { subject: loss.subject, becomes: loss.text }).collect();
                let bundling = Bundling::of_typed(graph)?;
                plan.target = bundling.bundled.clone();
                plan.then(Step::Bundle(Box::new(bundling)));
            }
            (Shape::Bundled, Shape::Typed) => {
                let (survey, digested) = survey(opened, options.typing, resources, progress)?;
                plan.passes.push("survey");
                plan.digested = Some(digested);
                let bundling = Bundling::surveyed(graph, &survey, options.typing, &to.name_rules())?;
                self.shred(&source, bundling)?;
            }
            // Hyperedges have become separate types.
            // Edge types of KGX are the predicates of one table.
            _ if to.has_one_type() && (from != to || graph.nodes.len() > 1 || to.traits().fusing == Fusing::Kgx) => {
                self.unite(graph)?;
            }
            (Shape::Bundled, Shape::Bundled) if fitted.is_some() => {
                plan.target = graph.clone();
                plan.carried.extend(to.undeclared(graph, &write).map(str::to_owned));
                plan.keep(graph);
            }
            // The lines were added before.
            _ if reified.is_some() || related.is_some() || parted.is_some() || fitted.is_some() => {
                plan.target = graph.clone();
            }
            _ => {
                plan.describe_identity(graph);
                to.describe(plan, graph, options)?;
                plan.carried.extend(to.undeclared(graph, &write).map(str::to_owned));
                plan.keep(graph);
            }
        }
        for (subject, becomes) in to.altered(opened, &self.plan.target) {
            self.plan.line(&subject, &becomes);
            self.plan.losses.push(PlanLine { subject, becomes });
        }
        for (subject, remark) in to.remarks(&self.plan.target) {
            self.plan.line(subject, remark);
        }
        self.leave_out(&write)?;
        self.read_texts(source)?;
        self.keep_files()?;
        self.merge_nodes()?;
        self.plan.for_database(destination);
        Ok(())
    }

    /// The input of the mapping.
    pub fn source(&self) -> Arc<dyn Source> {
        self.plan.source(&self.opened.graph)
    }

    /// The format whose id is the ending of the destination, where the name was taken for another one.
    fn other_format(&self) -> Option<Format> {
        let (_, ending) = self.destination.file_name().rsplit_once('.').filter(|_| self.options.to.is_none())?;
        self.opened.options.formats.find(&ending.to_ascii_lowercase()).filter(|other| *other != self.plan.to)
    }

    /// Plans what happens to the files of a graph that no layout of its format lists.
    ///
    /// # Errors
    /// Returns [`Kind::WouldLose`] for those that are too large for the sidecar.
    fn keep_files(&mut self) -> Result<()> {
        let (opened, plan) = (self.opened, &mut self.plan);
        if plan.to == opened.format {
            return Ok(());
        }
        let [kept, left] = opened.format.extra_files(opened.native.as_ref());
        if !kept.is_empty() {
            plan.carried.push(format!("files {}", kept.join(", ")));
        }
        let Some(first) = left.first() else { return Ok(()) };
        if self.options.loses() {
            plan.carried.push(format!("files {}, which are too large for the sidecar", left.join(", ")));
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
    fn project(&mut self) -> Result<()> {
        let (how, plan) = (self.options.hyperedges, &mut self.plan);
        if how != Hyperedges::Reify && plan.to.capability().hyperedges {
            return Err(Error::usage(format!("{} has hyperedges, so --hyperedges does not apply", plan.to)));
        }
        let projection = Projection::of(self.opened.graph.as_ref(), how, self.resources, self.progress)?;
        let Some(projection) = projection else { return Ok(()) };
        plan.passes.push("hyperedges");
        if how == Hyperedges::Expand {
            plan.passes.push("members");
        }
        for (ty, becomes) in &projection.lines {
            plan.line(format!("hyperedges {ty}"), becomes);
        }
        plan.carried.extend(projection.lost.iter().cloned());
        plan.prepared.push(Preparation::Project(projection));
        Ok(())
    }

    /// Plans to write as nodes and edges what the target cannot store otherwise; returns the resulting graph.
    ///
    /// # Errors
    /// If the graph has something that cannot be written in this way.
    fn reify(&mut self, source: &dyn Source) -> Result<Option<Graph>> {
        let (graph, from, to) = (source.graph(), self.plan.from, self.plan.to);
        let (bundled, capability) = (to.shape() == Shape::Bundled, to.capability());
        let to_rdf = to.shape() == Shape::Triples;
        // A format of one type that has no direction for each edge refuses such a graph: an undirected edge would be a directed one.
        let by_row = bundled || to_rdf || self.becomes_plain() || capability.directions == Directions::ByRow;
        // The hyperedges and groups of a format have its own shape, which a graph of another format does not have.
        let holds_it = from == to && capability.hyperedges && capability.edge_keys && capability.layers;
        if from.shape() != Shape::Typed || holds_it || !Reification::is_needed(graph, by_row) {
            return Ok(None);
        }
        let mut record = Reification::of(graph)?;
        if bundled || to.has_one_type() {
            // One table of all nodes needs the first row of each type.
            record = record.counted(source)?;
        }
        let plain = record.plain.clone();
        self.plan.then(Step::Reify(Box::new(record)));
        Ok(Some(plain))
    }

    /// Plans to write several types as one.
    ///
    /// # Errors
    /// If the graph has something that cannot be written in this way.
    pub fn unite(&mut self, graph: &Graph) -> Result<()> {
        if self.plan.to.traits().has_numbers_only {
            return self.number(graph);
        }
        let mut record = Fusion::of(graph, self.plan.to.traits().fusing)?;
        if self.becomes_plain() && self.plan.to.capability().nodes.json {
            record.keep_json();
        }
        let written = record.written();
        let is_plain = record.fusing != Fusing::Annnet;
        self.plan.then(Step::Fuse(Box::new(record)));
        // Labels are a list, which the target may not be able to store.
        let fitted = if is_plain { self.plan.fit_to(&written, &self.plan.to.allowed())? } else { None };
        self.plan.target = fitted.unwrap_or(written);
        Ok(())
    }

    /// Plans to type a bundled graph, and to write the types as the target does.
    ///
    /// # Errors
    /// If labels cannot be types, the target cannot hold the types, or the graph cannot be read.
    pub fn shred(&mut self, bundled: &Arc<dyn Source>, bundling: Bundling) -> Result<()> {
        let typed = self.types_of(bundled, bundling)?;
        let typed = self.plan.fit_to(&typed, &self.plan.to.allowed())?.unwrap_or(typed);
        self.plan.target = typed.clone();
        self.plan.target.name = self.plan.target.name.take().or_else(|| graph_name(self.destination.file_name()));
        if self.plan.to.has_one_type() { self.unite(&typed) } else { Ok(()) }
    }
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
