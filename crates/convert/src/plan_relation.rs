//! What a plan does about edges that name their relations and may end where no node is.

use std::sync::Arc;

use isomorph_error::{Error, Result};
use isomorph_model::Graph;

use crate::digests::Resources;
use crate::mapping::{Completed, Completion, Parting, Relating, Step};
use crate::open::Opened;
use crate::options::{ConvertOptions, Typing};
use crate::plan::{Plan, counted, edge_text, survey};
use crate::progress::Progress;
use crate::registry::{Format, Shape};

impl Plan {
    /// Writes relations as edge types, and ends of edges that are no nodes as nodes; returns what is written then. The
    /// source is read once for the first and its ends once for the second.
    ///
    /// # Errors
    /// When the source is not sound, or cannot be read.
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
        if let Some(record) = Completion::of(source.as_ref(), resources, progress)? {
            self.passes.push("ends");
            self.carried.push(format!("that {} ends of edges are no nodes", record.added()));
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

    /// Gives nodes types of their own, where that is asked for; returns what is written then. Nodes and ends of edges are read once.
    ///
    /// # Errors
    /// When the graph has no such types, or the target no node types.
    pub(crate) fn part(
        &mut self,
        opened: &Opened,
        options: &ConvertOptions,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Option<Graph>> {
        let Some(how) = &options.node_types else { return Ok(None) };
        if self.to == self.from || self.to == Format::DeepGnn {
            return Err(Error::usage(format!(
                "{} is to be written, where nodes have the types that they had",
                self.to
            )));
        }
        let source = self.mapping.apply(self.source(&opened.graph), &resources.budget)?;
        let record = Parting::of(source.as_ref(), how, resources, progress)?;
        self.passes.push("types");
        // What was said of one type is said of its parts.
        self.lines.clear();
        let typed = record.typed.clone();
        if self.to == Format::GraphAr {
            for (ty, value) in typed.nodes.iter().zip(&record.values) {
                let of = value.map_or_else(
                    || format!("nodes without {}", how.property),
                    |value| format!("{} {value}", how.property),
                );
                self.line(of, format!("vertex type {}", ty.name));
            }
            for ty in &typed.edges {
                let relation = ty.relation.fixed().unwrap_or_default();
                self.line(format!("edges {relation}"), format!("edge type {}", edge_text(&typed, ty)));
            }
        }
        self.carried.push(format!("that {} one type", counted(typed.nodes.len(), "node type")));
        self.mapping.steps.push(Step::Part(Box::new(record)));
        Ok(Some(typed))
    }

    fn describe_relations(&mut self, record: &Relating) {
        let typed = &record.typed;
        // Other steps have a line for each type.
        if self.to == Format::GraphAr {
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
