//! What a plan does about property graphs that become triples.

use isomorph_error::Result;
use isomorph_model::{Direction, Graph, KeyKind, Property};

use crate::mapping::{Fitting, Lifting, Step};
use crate::options::ConvertOptions;
use crate::plan::{Plan, counted, edge_text};
use crate::registry::{Format, no_way};

impl Plan {
    /// Writes nodes and edges as triples.
    ///
    /// # Errors
    /// When the graph has what cannot be written so, or the base of its IRIs is none.
    pub(crate) fn lift(&mut self, graph: &Graph, options: &ConvertOptions) -> Result<()> {
        if self.to == Format::Rdf {
            return Err(no_way());
        }
        // What is typed was fitted before, bundled graphs are not.
        let fitted = Fitting::of(graph, &self.to.allowed())?;
        let graph = fitted.as_ref().map_or(graph, |record| &record.fitted);
        let record = Lifting::of(graph, options.base.as_deref())?;
        self.describe_lifting(&record);
        self.sorts.extend(["triples by subject", "triples by object"].map(str::to_owned));
        self.target = record.graph.clone();
        self.mapping.steps.extend(fitted.map(|record| Step::Fit(Box::new(record))));
        self.mapping.steps.push(Step::Lift(Box::new(record)));
        Ok(())
    }

    fn describe_lifting(&mut self, record: &Lifting) {
        let Lifting { graph, base } = record;
        for ty in &graph.nodes {
            let key = match (ty.key.kind, &ty.key.name) {
                (KeyKind::Row, _) => "row",
                (_, Some(name)) => name,
                (_, None) => "key",
            };
            let text = format!("resources {base}{}/{key}{}", ty.name, literals(&ty.properties));
            self.line(&ty.name, text);
        }
        for ty in &graph.edges {
            let relation = ty.relation.fixed().unwrap_or("relation");
            let says = !ty.properties.is_empty() || ty.key.is_some() || ty.direction != Direction::Directed;
            let reified = if says { ", with reifiers" } else { "" };
            let text = format!("triples {base}{relation}{reified}{}", literals(&ty.properties));
            self.line(edge_text(graph, ty), text);
        }
        let (nodes, edges) = (counted(graph.nodes.len(), "node type"), counted(graph.edges.len(), "edge type"));
        self.carried.push(format!("schema of {nodes} and {edges}"));
        self.carried.extend(graph.documents.iter().map(|document| format!("document {}", document.name)));
        if let Some(name) = &graph.name {
            self.carried.push(format!("the graph's name, {name}"));
        }
    }
}

fn literals(properties: &[Property]) -> String {
    let names: Vec<&str> = properties.iter().map(|property| property.name.as_str()).collect();
    if names.is_empty() { String::new() } else { format!(", literals {}", names.join(" ")) }
}
