//! What a plan does about edges that name their relations and may end where no node is.

use std::sync::Arc;

use isomorph_error::Result;
use isomorph_model::Graph;

use crate::digests::Resources;
use crate::mapping::{Completed, Completion, Relating, Step};
use crate::open::Opened;
use crate::options::Typing;
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
