//! GraphML: XML with nodes and edges.

use std::sync::Arc;

use isomorph_error::{Finding, Result};
use isomorph_graphml::{GraphMl as Syntax, OpenOptions as Opening, RecordGraph, RecordWriter, WriteOptions as Writing};
use isomorph_model::capability::Capability;
use isomorph_model::{Graph, Sink, Source, well_known};
use isomorph_storage::{Location, Staging};

use crate::driver::Driver;
use crate::mapping::Allowed;
use crate::options::{OpenOptions, WriteOptions};
use crate::traits::Traits;

pub(super) struct GraphMl;

fn own(native: &dyn Source) -> Option<&RecordGraph> {
    native.as_any().and_then(|own| own.downcast_ref::<RecordGraph>())
}

impl Driver for GraphMl {
    fn id(&self) -> &'static str {
        "graphml"
    }

    fn name(&self) -> &'static str {
        "GraphML"
    }

    fn capability(&self) -> &'static Capability {
        &isomorph_graphml::CAPABILITY
    }

    fn traits(&self) -> Traits {
        Traits {
            rules: isomorph_graphml::rules::RULES,
            usual_names: &["NAME.graphml", "NAME.graphml.gz"],
            is_single_file: true,
            sorts_edges: false,
            inseparable: &[well_known::WEIGHT],
            knows_nodes_by_key: true,
            ..Traits::of(self.shape())
        }
    }

    fn detect(&self, location: &Location) -> Result<bool> {
        Syntax::detect(location)
    }

    fn matches_name(&self, name: &str) -> bool {
        let stem = super::unpacked(name);
        stem.ends_with(".graphml")
    }

    fn open(&self, location: &Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        // What the options show is of another format.
        let mut own = Opening { shown: None, ..options.get::<Opening>().into_owned() };
        if let Some(resources) = &options.resources {
            own.budget = resources.budget.clone();
            own.scratch = Some(resources.scratch.clone());
        }
        Ok(Arc::new(RecordGraph::open(location, &Syntax, own)?))
    }

    fn recognised(&self, native: &dyn Source) -> Vec<(String, String)> {
        own(native).map(RecordGraph::recognised).unwrap_or_default()
    }

    fn set_aside<'a>(&self, native: &'a dyn Source) -> &'a [Finding] {
        own(native).map(RecordGraph::set_aside).unwrap_or_default()
    }

    fn allowed(&self) -> Allowed {
        let holds = |property: &isomorph_model::Property, _: bool| isomorph_graphml::holds(property);
        // It distinguishes parallel edges in NetworkX, which merges those of which it is the same.
        let is_edge_property = Some(isomorph_graphml::is_edge_property as fn(&str) -> bool);
        Allowed { holds, is_edge_property, wide_keys: false, documents: |_| false, ..Allowed::anything() }
    }

    fn not_stored(&self, graph: &Graph, _options: &WriteOptions) -> Result<Vec<(String, String)>> {
        let unheld = isomorph_graphml::unheld(&graph.documents);
        Ok(unheld
            .map(|document| (format!("document {}", document.name), "GraphML cannot store it".to_owned()))
            .collect())
    }

    fn remarks(&self, graph: &Graph) -> Vec<(String, String)> {
        super::mixed_directions(
            graph,
            "where both kinds are, NetworkX refuses the file, and igraph reads all edges as directed",
        )
    }

    fn is_text(&self, _options: &WriteOptions) -> bool {
        true
    }

    fn create<'a>(&self, staging: &'a Staging, graph: &Graph, options: &WriteOptions) -> Result<Box<dyn Sink + 'a>> {
        Ok(Box::new(RecordWriter::create(staging, graph, Syntax::form(), &options.get::<Writing>())?))
    }
}
