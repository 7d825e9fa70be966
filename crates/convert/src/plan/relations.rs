//! Plans for edges that name their relations and may end at ids without a node.

use std::sync::Arc;

use isomorph_error::{Error, Result};
use isomorph_model::{Graph, Source};

use crate::mapping::{Bundling, By, Completed, Completion, Divided, Labels, Parting, Relating, Step, TypesFrom};
use crate::options::RdfMode;
use crate::plan::lines::ONE_TABLE;
use crate::plan::planner::Planner;
use crate::plan::{Plan, counted, edge_text, survey};
use crate::traits::Shape;

impl Planner<'_> {
    /// Plans to write relations as edge types, and ends of edges without a node as nodes; returns the resulting source.
    /// The source is read once for the first and its ends once for the second.
    ///
    /// # Errors
    /// If the source is invalid, or cannot be read.
    pub fn relate(&mut self) -> Result<Option<Graph>> {
        let Planner { opened, options, resources, progress, .. } = *self;
        let mut source = Arc::clone(&opened.graph);
        if self.plan.from.shape() != Shape::Typed || !Relating::is_needed(source.graph()) {
            return Ok(None);
        }
        if let Some(record) = Completion::needed(source.as_ref(), opened.sidecar.is_some(), resources, progress)? {
            source = Arc::new(Completed::new(source, &record)?);
            self.plan.then(Step::Complete(Box::new(record)));
        }
        let (survey, digested) = survey(opened, options.typing, resources, progress)?;
        self.plan.passes.push("survey");
        self.plan.digested = Some(digested);
        let record = Relating::surveyed(source.graph(), &survey)?;
        let typed = record.typed.clone();
        self.plan.then(Step::Relate(Box::new(record)));
        Ok(Some(typed))
    }

    /// Checks that this conversion can produce the requested node types.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] if it cannot.
    pub fn check_node_types(&self) -> Result<()> {
        let Some(how) = &self.options.node_types else { return Ok(()) };
        let (same, target) = (self.plan.to == self.plan.from, self.plan.to);
        let (from, to) = (self.plan.from.shape(), target.shape());
        match how.from {
            TypesFrom::Property(_) if same || target.traits().has_numbers_only => Err(Error::usage(format!(
                "--node-type-from does not apply to output in {target}, where nodes keep their types",
            ))),
            TypesFrom::Property(_) => Ok(()),
            TypesFrom::Label if same || to == Shape::Triples || from == Shape::Typed => Err(Error::usage(
                "--node-type-from label needs RDF that becomes a property graph, or NOCK that becomes another",
            )),
            TypesFrom::Label if to == Shape::Bundled && !how.names.is_empty() => {
                Err(Error::usage("in NOCK the types of nodes are their labels, which keep their names"))
            }
            TypesFrom::Label if self.options.rdf_mode == Some(RdfMode::Pynock) => {
                Err(Error::usage("the mode pynock makes no labels of classes"))
            }
            TypesFrom::Label => Ok(()),
        }
    }

    /// Plans node types by a property, if requested; returns the resulting source. Nodes and ends of edges are read
    /// once.
    ///
    /// # Errors
    /// If the graph has no such types, or the target no node types.
    pub fn part(&mut self) -> Result<Option<Graph>> {
        let Planner { options, resources, progress, .. } = *self;
        let Some((how, TypesFrom::Property(name))) = options.node_types.as_ref().map(|how| (how, &how.from)) else {
            return Ok(None);
        };
        let source = self.plan.mapping.apply(self.source(), &resources.budget)?;
        let record = Parting::of_values(source.as_ref(), how, name, resources, progress)?;
        let typed = record.typed.clone();
        self.plan.then(Step::Part(Box::new(record)));
        Ok(Some(typed))
    }

    /// Plans to type `bundled` as `bundling` states, with node types by label if requested; returns the resulting
    /// graph.
    ///
    /// # Errors
    /// If labels cannot be types, or the graph cannot be read.
    pub fn types_of(&mut self, bundled: &Arc<dyn Source>, bundling: Bundling) -> Result<Graph> {
        let Planner { options, resources, progress, .. } = *self;
        let Some(how) = options.node_types.as_ref().filter(|how| how.from == TypesFrom::Label) else {
            let typed = bundling.typed.clone();
            self.plan.then(Step::Shred(Box::new(bundling)));
            return Ok(typed);
        };
        let labels = Labels::of(&bundling, how, &self.plan.to.name_rules())?;
        let shown = Divided::of(Arc::clone(bundled), bundling.layout())?;
        let record = Parting::of_labels(&shown, &labels, resources, progress)?;
        let typed = record.typed.clone();
        // Shown with the step that follows.
        self.plan.mapping.steps.push(Step::Shred(Box::new(bundling)));
        self.plan.then(Step::Part(Box::new(record)));
        Ok(typed)
    }
}

impl Plan {
    pub(super) fn describe_completion(&mut self, record: &Completion) {
        if record.added() > 0 {
            self.passes.push("ends");
            self.carried.push(format!("that {} ends of edges are not nodes", record.added()));
        }
    }

    /// Adds a line for each part, and for the edge types between them.
    pub(super) fn describe_parting(&mut self, record: &Parting) {
        self.passes.push("types");
        let typed = &record.typed;
        let (what, values): (&str, Vec<Option<String>>) = match &record.by {
            By::Property { property, values } => {
                // The lines about the one type are replaced by lines about its parts.
                self.lines.clear();
                let property = record.single.nodes.first().and_then(|ty| ty.properties.get(*property));
                let values = values.iter().map(|value| value.map(|value| value.to_string()));
                (property.map_or("", |property| property.name.as_str()), values.collect())
            }
            By::Label { labels, .. } => {
                self.sorts.push("edges by their ends".to_owned());
                self.carried.push(ONE_TABLE.to_owned());
                let renamed = match self.mapping.steps.last() {
                    Some(Step::Shred(bundling)) => bundling.nodes.first().map(|slots| slots.labels.as_slice()),
                    _ => None,
                };
                let real = |label: &String| {
                    let renamed = renamed.unwrap_or_default().iter().find(|(given, _)| given == label);
                    renamed.map_or(label, |(_, real)| real).clone()
                };
                ("label", labels.iter().map(|label| label.as_ref().map(real)).collect())
            }
        };
        if self.to.has_types() {
            for (ty, value) in typed.nodes.iter().zip(values) {
                let of = value.map_or_else(|| format!("nodes without {what}"), |value| format!("{what} {value}"));
                self.line(of, format!("vertex type {}", ty.name));
            }
            self.describe_edge_types(typed);
        }
        let are = if typed.nodes.len() == 1 { "is" } else { "are" };
        self.carried.push(format!("that {} {are} one type", counted(typed.nodes.len(), "node type")));
    }

    fn describe_edge_types(&mut self, typed: &Graph) {
        for ty in &typed.edges {
            let relation = ty.relation.fixed().unwrap_or_default();
            self.line(format!("edges {relation}"), format!("edge type {}", edge_text(typed, ty)));
        }
    }

    pub(super) fn describe_relations(&mut self, record: &Relating) {
        let typed = &record.typed;
        // Other steps have a line for each type.
        if self.to.has_types() {
            for ty in &typed.nodes {
                self.line(
                    &ty.name,
                    format!("vertex type {}, {} = id", ty.name, ty.key.name.as_deref().unwrap_or("id")),
                );
            }
            self.describe_edge_types(typed);
        }
        if record.in_column {
            let predicate = typed.edges.first().and_then(|ty| ty.properties.last());
            let name = predicate.map(|property| property.name.as_str()).unwrap_or_default();
            self.line("all relations", format!("one edge type, relation = {name}"));
        }
        let what = counted(typed.edges.len(), "relation");
        self.carried.push(format!("that {what} {} one table", if typed.edges.len() == 1 { "is" } else { "are" }));
    }
}
