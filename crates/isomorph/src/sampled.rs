//! Graphs of any format, prepared for sampling.

use std::sync::Arc;

use isomorph_convert::{Hyperedges, Opened, Silent};
use isomorph_deepgnn::DeepGnn;
use isomorph_error::{Error, Result, did_you_mean};
use isomorph_model::{Graph as Model, Source};
use isomorph_sampling::answers::{Drawing, Feature, KeyedGraph, Question, has_several_types};
use isomorph_sampling::{Graph, GraphOptions};
use isomorph_storage::Resources;

/// How the parts of a graph that are neither nodes nor edges are read.
#[derive(Debug, Clone, Default)]
pub struct SampledOptions {
    /// How hyperedges are read; by default, a graph with hyperedges is rejected.
    pub hyperedges: Option<Hyperedges>,
    /// Whether groups are read as nodes with edges to their members; otherwise they are ignored.
    pub groups_as_nodes: bool,
}

/// A graph that is sampled by keys and names, see [`KeyedGraph::draw`].
#[derive(Debug)]
pub struct Sampled {
    /// The graph.
    pub graph: KeyedGraph,
    /// Kinds of groups that are not in it.
    pub left_out: Vec<String>,
}

impl Sampled {
    /// Prepares `opened` for one question, or for others about the same features. A DeepGNN binary is sampled in place,
    /// unless its sidecar gives nodes other keys or types than the binary; any other graph is read once. If a requested
    /// feature is not the name of a property, a graph whose properties have no columns is surveyed for it.
    ///
    /// # Errors
    /// Returns an error if the graph is invalid, has no node type with the given name, or its format cannot give a
    /// repeatable answer.
    pub fn of(
        opened: Opened,
        question: &Question,
        how: &Drawing,
        options: &SampledOptions,
        graph: &GraphOptions,
        resources: &Resources,
    ) -> Result<Sampled> {
        let described = opened.graph.graph();
        if let Some(ty) = how.node_type.as_deref().filter(|ty| described.node_type(ty).is_none()) {
            return Err(no_node_type(described, ty));
        }
        // A question names nodes by the keys and types of the shown graph, which a mapped binary has only if they are
        // its own.
        let renumbered = opened.sidecar.as_ref().is_some_and(|sidecar| sidecar.mapping.renumbers_nodes());
        let is_binary = Sampled::is_binary(&opened) && !renumbered;
        if !is_binary {
            question.without_binary(how.generator)?;
        }
        let features = question.features();
        // The sidecar states which of its types a feature has: the graph is read through it.
        if is_binary && !features.iter().any(|feature| has_several_types(described, &feature.id)) {
            return Sampled::of_binary(&opened, graph);
        }
        let known = |feature: &Feature| has_property(described, &feature.id);
        let source = match options.hyperedges {
            Some(how) => opened.without_hyperedges(how, resources, &Silent)?,
            None if !features.iter().all(known) => opened.in_columns(resources, &Silent)?,
            None => opened.with_resources_as_nodes(resources)?,
        };
        Sampled::read(source, options, graph, resources)
    }

    /// Prepares `opened` for all questions, as a server needs it. A DeepGNN binary is sampled in place; any other graph
    /// is read once, with all its properties as columns.
    ///
    /// # Errors
    /// Returns an error if the graph is invalid.
    pub fn whole(
        opened: &Opened,
        options: &SampledOptions,
        graph: &GraphOptions,
        resources: &Resources,
    ) -> Result<Sampled> {
        if Sampled::is_binary(opened) {
            return Sampled::of_binary(opened, graph);
        }
        let source = match options.hyperedges {
            Some(how) => opened.without_hyperedges(how, resources, &Silent)?,
            None => opened.in_columns(resources, &Silent)?,
        };
        Sampled::read(source, options, graph, resources)
    }

    /// Whether a graph is a binary of DeepGNN, which is sampled where it is, and no text of it.
    pub fn is_binary(opened: &Opened) -> bool {
        let native = opened.native.as_any().and_then(|native| native.downcast_ref::<DeepGnn>());
        native.is_some_and(|graph| graph.text().is_none())
    }

    fn of_binary(opened: &Opened, graph: &GraphOptions) -> Result<Sampled> {
        let model = opened.graph.graph().clone();
        let graph = Arc::new(Graph::open(&opened.location, graph)?);
        Ok(Sampled { graph: KeyedGraph::new(graph, None, model), left_out: Vec::new() })
    }

    fn read(
        mut source: Arc<dyn Source>,
        options: &SampledOptions,
        graph: &GraphOptions,
        resources: &Resources,
    ) -> Result<Sampled> {
        let kinds = source.graph().groups.iter().filter(|kind| !kind.memberships.is_empty());
        let mut left_out: Vec<String> = kinds.map(|kind| kind.kind.clone()).collect();
        if options.groups_as_nodes && !left_out.is_empty() {
            left_out.clear();
            source = Opened::with_groups_as_nodes(source, resources)?;
        }
        let (graph, names) = Graph::of_source(source.as_ref(), graph)?;
        let model = source.graph().clone();
        Ok(Sampled { graph: KeyedGraph::new(Arc::new(graph), Some(names), model), left_out })
    }
}

fn no_node_type(graph: &Model, name: &str) -> Error {
    let names: Vec<&str> = graph.nodes.iter().map(|ty| ty.name.as_str()).collect();
    let near = did_you_mean(name, names.iter().copied());
    Error::usage(format!("there is no node type {name:?}{near}")).hint(format!("--type {}", names.join("|")))
}

/// Returns whether nodes or edges have a property with this name.
fn has_property(graph: &Model, name: &str) -> bool {
    let properties = graph.nodes.iter().map(|ty| &ty.properties).chain(graph.edges.iter().map(|ty| &ty.properties));
    properties.flatten().any(|property| property.name == name)
}
