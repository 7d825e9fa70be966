//! Plans for edges that name their relations and may end at ids without a node.

use std::sync::Arc;

use isomorph_error::{Error, Result};
use isomorph_model::{Graph, Source};

use crate::driver::Shape;
use crate::mapping::{Bundling, By, Completed, Completion, Labels, Parting, Relating, Shredded, Step, TypesFrom};
use crate::open::Opened;
use crate::options::{ConvertOptions, RdfMode, Typing};
use crate::plan::{Plan, counted, edge_text, survey};
use crate::progress::Progress;
use isomorph_storage::Resources;

impl Plan {
    /// Plans to write relations as edge types, and ends of edges without a node as nodes; returns the resulting source.
    /// The source is read once for the first and its ends once for the second.
    ///
    /// # Errors
    /// If the source is invalid, or cannot be read.
    pub(crate) fn relate(
        &mut self,
        opened: &Opened,
        typing: Typing,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Option<Graph>> {
        let mut source = Arc::clone(&opened.graph);
        if self.from.shape() != Shape::Typed || !Relating::is_needed(source.graph()) {
            return Ok(None);
        }
        if let Some(record) = Completion::needed(source.as_ref(), opened.sidecar.is_some(), resources, progress)? {
            if record.added() > 0 {
                self.passes.push("ends");
                self.carried.push(format!("that {} ends of edges are not nodes", record.added()));
            }
            source = Arc::new(Completed::new(source, &record)?);
            self.mapping.steps.push(Step::Complete(Box::new(record)));
        }
        let (survey, digested) = survey(opened, typing, resources, progress)?;
        self.passes.push("survey");
        self.digested = Some(digested);
        let record = Relating::surveyed(source.graph(), &survey)?;
        self.describe_relations(&record);
        let typed = record.typed.clone();
        self.mapping.steps.push(Step::Relate(Box::new(record)));
        Ok(Some(typed))
    }

    /// Checks that this conversion can produce the requested node types.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] if it cannot.
    pub(crate) fn check_node_types(&self, options: &ConvertOptions) -> Result<()> {
        let Some(how) = &options.node_types else { return Ok(()) };
        let (from, to) = (self.from.shape(), self.to.shape());
        match how.from {
            TypesFrom::Property(_) if self.to == self.from || self.to.has_numbers_only() => Err(Error::usage(format!(
                "--node-type-from does not apply to output in {}, where nodes keep their types",
                self.to
            ))),
            TypesFrom::Property(_) => Ok(()),
            TypesFrom::Label if self.to == self.from || to == Shape::Triples || from == Shape::Typed => {
                Err(Error::usage(
                    "--node-type-from label needs RDF that becomes a property graph, or NOCK that becomes another",
                ))
            }
            TypesFrom::Label if to == Shape::Bundled && !how.names.is_empty() => {
                Err(Error::usage("in NOCK the types of nodes are their labels, which keep their names"))
            }
            TypesFrom::Label if options.rdf_mode == Some(RdfMode::Pynock) => {
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
    pub(crate) fn part(
        &mut self,
        opened: &Opened,
        options: &ConvertOptions,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Option<Graph>> {
        let Some((how, TypesFrom::Property(name))) = options.node_types.as_ref().map(|how| (how, &how.from)) else {
            return Ok(None);
        };
        let source = self.mapping.apply(self.source(&opened.graph), &resources.budget)?;
        let record = Parting::of_values(source.as_ref(), how, name, resources, progress)?;
        // The lines about the one type are replaced by lines about its parts.
        self.lines.clear();
        let values = match &record.by {
            By::Property { values, .. } => values.iter().map(|value| value.map(|value| value.to_string())).collect(),
            By::Label { .. } => Vec::new(),
        };
        Ok(Some(self.parted(record, name, values)))
    }

    /// Plans to type `bundled` as `bundling` states, with node types by label if requested; returns the resulting
    /// graph.
    ///
    /// # Errors
    /// If labels cannot be types, or the graph cannot be read.
    pub(crate) fn shred(
        &mut self,
        bundled: &Arc<dyn Source>,
        bundling: Bundling,
        options: &ConvertOptions,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Graph> {
        let by_label = options.node_types.as_ref().filter(|how| how.from == TypesFrom::Label);
        let typed = match by_label {
            None => {
                self.describe_shredding(&bundling);
                self.mapping.steps.push(Step::Shred(Box::new(bundling.clone())));
                bundling.typed
            }
            Some(how) => {
                let labels = Labels::of(&bundling, how, &self.to.name_rules())?;
                let typed = Shredded::new(Arc::clone(bundled), &bundling)?;
                let record = Parting::of_labels(&typed, &labels, resources, progress)?;
                self.sorts.push("edges by their ends".to_owned());
                self.carried.push("names, and that the graph was one table".to_owned());
                self.mapping.steps.push(Step::Shred(Box::new(bundling)));
                let values = match &record.by {
                    By::Label { labels: own, .. } => {
                        own.iter().map(|label| label.as_deref().map(|label| labels.real(label).to_owned())).collect()
                    }
                    By::Property { .. } => Vec::new(),
                };
                self.parted(record, "label", values)
            }
        };
        Ok(typed)
    }

    /// Adds lines for the parts, which represent these values of `what`; returns the resulting graph.
    fn parted(&mut self, record: Parting, what: &str, values: Vec<Option<String>>) -> Graph {
        self.passes.push("types");
        let typed = record.typed.clone();
        if self.to.has_types() {
            for (ty, value) in typed.nodes.iter().zip(values) {
                let of = value.map_or_else(|| format!("nodes without {what}"), |value| format!("{what} {value}"));
                self.line(of, format!("vertex type {}", ty.name));
            }
            for ty in &typed.edges {
                let relation = ty.relation.fixed().unwrap_or_default();
                self.line(format!("edges {relation}"), format!("edge type {}", edge_text(&typed, ty)));
            }
        }
        let are = if typed.nodes.len() == 1 { "is" } else { "are" };
        self.carried.push(format!("that {} {are} one type", counted(typed.nodes.len(), "node type")));
        self.mapping.steps.push(Step::Part(Box::new(record)));
        typed
    }

    fn describe_relations(&mut self, record: &Relating) {
        let typed = &record.typed;
        // Other steps have a line for each type.
        if self.to.has_types() {
            for ty in &typed.nodes {
                self.line(
                    &ty.name,
                    format!("vertex type {}, {} = id", ty.name, ty.key.name.as_deref().unwrap_or("id")),
                );
            }
            for ty in &typed.edges {
                let relation = ty.relation.fixed().unwrap_or_default();
                self.line(format!("edges {relation}"), format!("edge type {}", edge_text(typed, ty)));
            }
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
