//! Plans for formats that identify types and values by numbers.

use isomorph_error::Result;
use isomorph_model::{Direction, Graph, Property, Tables};

use crate::mapping::{Fitting, Ids, Numbering, Step, properties_of};
use crate::plan::lines::push_list;
use crate::plan::planner::Planner;
use crate::plan::{Plan, edge_text};

impl Planner<'_> {
    /// Plans to write types as numbers and values as features.
    ///
    /// # Errors
    /// If the graph has something that cannot be written in this way.
    pub fn number(&mut self, graph: &Graph) -> Result<()> {
        let (options, plan) = (self.options, &mut self.plan);
        // The result of a survey is fitted here; everything else was fitted before.
        let fitted = Fitting::of(graph, &plan.to.allowed(), plan.large_keys)?;
        let graph = fitted.as_ref().map_or(graph, |record| &record.fitted);
        let record = Numbering::of(graph)?;
        plan.line("graph", plan.to.layout(&options.write));
        // Weights of nodes are features too.
        let mut features = record.numbered.clone();
        for ty in &mut features.nodes {
            ty.properties.retain(|property| property.feature.is_some());
        }
        plan.lose(plan.to.not_stored(&features, &options.write)?, options, "drop them")?;
        plan.target = record.numbered.clone();
        // Numbers are shown of the graph as it is, so that fitting has no lines.
        plan.mapping.steps.extend(fitted.map(|record| Step::Fit(Box::new(record))));
        plan.then(Step::Number(Box::new(record)));
        Ok(())
    }
}

impl Plan {
    pub(super) fn describe_numbering(&mut self, record: &Numbering) {
        let typed = &record.typed;
        let id = |of_nodes: bool, at: usize| -> &str {
            let tables = if of_nodes { Tables::Nodes(0) } else { Tables::Edges(0) };
            properties_of(&record.numbered, tables).get(at).map_or("", |feature| &feature.name)
        };
        for (number, (ty, own)) in typed.nodes.iter().zip(&record.nodes).enumerate() {
            let key = ty.key.name.as_deref().unwrap_or("key");
            let mut text = match record.ids {
                Ids::Keys => format!("type {number}, id = {key}"),
                Ids::Rows if own.base == 0 => format!("type {number}, id = row"),
                Ids::Rows => format!("type {number}, id = {} + row", own.base),
            };
            let features = own.key.iter().map(|at| (key, *at)).chain(named(&ty.properties, &own.properties));
            let features = features.chain(own.labels.iter().map(|at| ("the labels", *at)));
            let features = features.chain(own.row.iter().map(|at| ("the row", *at)));
            push_features(
                &mut text,
                &features.map(|(what, at)| format!("{} {what}", id(true, at))).collect::<Vec<_>>(),
            );
            self.line(&ty.name, text);
        }
        for (ty, own) in typed.edges.iter().zip(&record.edges) {
            let mut text = format!("type {}", own.number);
            if own.weight.is_some_and(|at| own.properties.get(at) == Some(&0)) {
                text.push_str(", weight");
            }
            if ty.direction == Direction::Undirected {
                text.push_str(", in both directions");
            } else if own.directed.is_some() {
                text.push_str(", without a direction in both");
            }
            let features = named(&ty.properties, &own.properties);
            let features = features.chain(own.mirror.iter().map(|at| ("marks the second", *at)));
            push_features(
                &mut text,
                &features.map(|(what, at)| format!("{} {what}", id(false, at))).collect::<Vec<_>>(),
            );
            self.line(edge_text(typed, ty), text);
        }
        for (at, (what, of_nodes)) in [("nodes", true), ("edges", false)].into_iter().enumerate() {
            if let Some(rest) = record.rest.get(at).copied().flatten() {
                self.line(format!("{what}, cells"), format!("feature {} those that are empty", id(of_nodes, rest)));
            }
        }
        self.carry_schema(typed, ", and the meaning of each feature", None);
    }
}

/// Properties with their features.
fn named<'a>(properties: &'a [Property], places: &'a [usize]) -> impl Iterator<Item = (&'a str, usize)> {
    let all = properties.iter().zip(places).filter(|(_, at)| **at > 0);
    all.map(|(property, at)| (property.name.as_str(), *at))
}

fn push_features(text: &mut String, features: &[String]) {
    let what = if features.len() == 1 { ", feature " } else { ", features " };
    push_list(text, what, features.iter(), ", ");
}
