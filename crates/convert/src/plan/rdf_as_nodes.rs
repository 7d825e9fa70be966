//! Plans the conversion of RDF to nodes with properties.

use std::sync::Arc;

use isomorph_error::{Error, Kind, Result};
use isomorph_model::faces::{BASE, description};
use isomorph_model::{Graph, Source, well_known};
use isomorph_storage::Budget;

use crate::mapping::{Bundling, Exported, Flattened, Gathered, Gathering, NameRules, Step, TERM};
use crate::options::{RdfMode, Typing};
use crate::plan::planner::Planner;
use crate::plan::{Plan, Preparation, counted, survey};
use crate::traits::Shape;

/// RDF and NOCK in the mode pynock.
#[derive(Debug, Clone)]
pub enum PynockView {
    /// RDF whose terms are all nodes, sorted within a budget.
    Flattened(Box<Gathering>, Budget),
    /// Edges as triples; names that are not IRIs are appended to a base.
    Exported(String),
}

impl PynockView {
    /// Shows `graph` in this form.
    pub(crate) fn of(&self, graph: Arc<dyn Source>) -> Arc<dyn Source> {
        match self {
            PynockView::Flattened(record, budget) => Arc::new(Flattened::new(graph, record, budget)),
            PynockView::Exported(base) => Arc::new(Exported::new(graph, base)),
        }
    }
}

impl Planner<'_> {
    /// Checks that options for RDF that becomes something else, or the other way round, apply.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] if they do not.
    pub fn check_rdf(&self) -> Result<()> {
        let (options, from, to) = (self.options, self.plan.from.shape(), self.plan.to.shape());
        if options.labels_from_type && (from != Shape::Triples || to == Shape::Triples) {
            return Err(Error::usage("--labels-from applies only to RDF that becomes a property graph"));
        }
        let between = matches!((from, to), (Shape::Triples, Shape::Bundled) | (Shape::Bundled, Shape::Triples));
        if options.iri_map.is_some() && (from == Shape::Triples) == (to == Shape::Triples) {
            return Err(Error::usage(
                "--iri-map applies to property graphs that become RDF, and to RDF that becomes a property graph",
            ));
        }
        if options.iri_map.is_some() && (options.rdf_mode.is_some() || from == Shape::Triples && to == Shape::Bundled) {
            return Err(Error::usage("--iri-map does not apply to RDF in NOCK, whose names are the IRIs"));
        }
        if options.rdf_mode.is_some() && !between {
            return Err(Error::usage("--rdf-mode applies only to RDF that becomes NOCK, and to NOCK that becomes RDF"));
        }
        if options.rdf_mode == Some(RdfMode::Pynock) && options.labels_from_type {
            return Err(Error::usage("the mode pynock makes no labels of classes"));
        }
        Ok(())
    }

    /// Plans to write every term as a node named by its text, as pynock does.
    ///
    /// # Errors
    /// If the graph is not RDF.
    pub fn flatten(&mut self, graph: &Graph) -> Result<()> {
        let (record, plan) = (Gathering::of(graph, true, false, true)?, &mut self.plan);
        plan.passes.push("resources");
        plan.sorts.push("all terms".to_owned());
        plan.line("resources and literals", "nodes, name = text, is_rdf");
        plan.line("triples", "edges, rel_name = predicate");
        plan.carried.extend(
            [
                "datatypes and languages",
                "whether a term is an IRI, a blank node or a literal: terms with the same text become one node",
                "named graphs with their triples",
            ]
            .map(str::to_owned),
        );
        plan.target = record.bundled.clone();
        let view = PynockView::Flattened(Box::new(record), self.resources.budget.clone());
        plan.prepared.push(Preparation::Pynock(Box::new(view)));
        Ok(())
    }

    /// Plans to write NOCK whose nodes are RDF as that RDF.
    ///
    /// # Errors
    /// If nodes are not RDF, or there is something that RDF cannot represent.
    pub fn scatter(&mut self) -> Result<()> {
        let (opened, options, plan) = (self.opened, self.options, &mut self.plan);
        let graph = opened.graph.graph();
        let (survey, digested) = survey(opened, Typing::default(), self.resources, self.progress)?;
        plan.passes.push("survey");
        plan.digested = Some(digested);
        if survey.nodes.other {
            return Err(Error::usage("some nodes are not RDF: their is_rdf is not true")
                .hint("without --rdf-mode, names become IRIs below --base"));
        }
        let truths = survey.nodes.truth || survey.edges().any(|found| found.truth);
        let columns = !survey.nodes.columns.is_empty() || survey.edges().any(|found| !found.columns.is_empty());
        let members = survey.edges().any(|found| found.members.keys().any(|name| name != well_known::GRAPH));
        let unsaid = [(truths, "truths other than 1"), (columns, "further columns"), (members, "properties of edges")];
        let unsaid: Vec<&str> = unsaid.into_iter().filter(|(is, _)| *is).map(|(_, what)| what).collect();
        plan.carried.extend(unsaid.iter().map(|what| (*what).to_owned()));
        if !unsaid.is_empty() && !options.loses() {
            let what = format!("RDF in the mode rich cannot store {}", unsaid.join(", "));
            return Err(Error::new(Kind::WouldLose, what)
                .hint("--lossy    drop it")
                .hint("without --rdf-mode, everything becomes RDF, with IRIs below --base"));
        }
        if options.rdf_mode == Some(RdfMode::Pynock) {
            plan.line("edges", "triples of three IRIs");
            plan.carried.push("properties, labels, and nodes without edges".to_owned());
            plan.target = description(None, []);
            let base = options.base.as_deref().unwrap_or(BASE).to_owned();
            plan.prepared.push(Preparation::Pynock(Box::new(PynockView::Exported(base))));
            return Ok(());
        }
        let labels = survey.many_labels || !survey.labels.is_empty();
        let predicates = survey.nodes.members.keys().map(String::as_str);
        let record = Gathering::behind(graph, predicates, labels, options.loses())?;
        plan.target = record.rdf.clone();
        plan.then(Step::Scatter(Box::new(record)));
        Ok(())
    }

    /// Plans to write resources as nodes, literals as their properties and all other triples as edges. For formats that
    /// declare properties, the result is surveyed.
    ///
    /// # Errors
    /// If the source is invalid, or has something that cannot be written in this way.
    pub fn gather(&mut self, source: &Arc<dyn Source>) -> Result<()> {
        let Planner { options, resources, progress, .. } = *self;
        let bundled = self.plan.to.shape() == Shape::Bundled;
        // Types of nodes are labels first.
        let labels = options.labels_from_type || options.node_types.is_some();
        let record = Gathering::of(source.graph(), bundled, labels, options.loses())?;
        self.plan.target = record.bundled.clone();
        self.plan.then(Step::Gather(Box::new(record.clone())));
        let typing = (!bundled).then_some(options.typing);
        let (gathered, digested, survey) = Gathered::read(source, &record, typing, resources, progress)?;
        let gathered = Arc::new(gathered);
        self.plan.digested = Some(digested);
        self.plan.gathered = Some(Arc::clone(&gathered));
        let Some(survey) = survey else { return Ok(()) };
        self.plan.passes.push("survey");
        let rules = NameRules { key: TERM, ..self.plan.to.name_rules() };
        let bundling = Bundling::surveyed(&record.bundled, &survey, options.typing, &rules)?;
        let bundling = options.iri_map.as_ref().map_or(bundling.clone(), |map| map.named(bundling));
        self.shred(&(gathered as Arc<dyn Source>), bundling)
    }
}

impl Plan {
    pub(super) fn describe_scattering(&mut self, record: &Gathering) {
        self.line("nodes", "resources, term = name");
        self.line("props", "literals, by predicate");
        if record.labels {
            self.line("labels", "rdf:type");
        }
        self.line("edges", "triples, predicate = rel_name");
        self.carried.push("that it was NOCK".to_owned());
    }

    pub(super) fn describe_gathering(&mut self, record: &Gathering) {
        self.passes.push("resources");
        self.sorts.push("literals of resources".to_owned());
        if self.to.shape() == Shape::Bundled {
            self.line("resources", "nodes, name = term, is_rdf");
            self.line("literals", "props, by predicate; literals that JSON cannot represent are JSON-LD objects");
            if record.labels {
                self.line("rdf:type in the default graph", "labels");
            }
            self.line("other triples", "edges, rel_name = predicate; the named graph in props");
        }
        let predicates = counted(record.rdf.values.len(), "predicate");
        self.carried.push(format!("that it was RDF, with literals of {predicates}"));
        if record.lossy {
            self.carried.push("graphs without triples".to_owned());
        }
    }
}
