//! PSL: predicates with truth, in files of tabs.

use std::sync::Arc;

use isomorph_error::Result;
use isomorph_model::capability::Capability;
use isomorph_model::{Direction, Graph, Sink, Source, Written};
use isomorph_psl::{OpenOptions as Opening, WriteOptions as Writing};
use isomorph_storage::{Location, Scheme, Staging};

use super::in_table;
use crate::conversion::Job;
use crate::driver::Driver;
use crate::mapping::Allowed;
use crate::open::Opened;
use crate::options::{OpenOptions, WriteOptions};
use crate::plan::edge_text;
use crate::traits::Traits;

pub(super) struct Psl;

impl Driver for Psl {
    fn id(&self) -> &'static str {
        "psl"
    }

    fn name(&self) -> &'static str {
        "PSL"
    }

    fn capability(&self) -> &'static Capability {
        &isomorph_psl::CAPABILITY
    }

    fn traits(&self) -> Traits {
        Traits {
            rules: isomorph_psl::rules::RULES,
            usual_names: &["NAME.data", "DIRECTORY/"],
            key: "name",
            is_partial: true,
            detaches: true,
            sorts_edges: false,
            needs_schema: true,
            knows_nodes_by_key: true,
            ..Traits::of(self.shape())
        }
    }

    fn stands_for_directory(&self, _name: &str) -> bool {
        true
    }

    fn detect(&self, location: &Location) -> Result<bool> {
        if location.scheme() == Scheme::Stream {
            return Ok(false);
        }
        isomorph_psl::detect(location)
    }

    fn owns_directory(&self, directory: &Location, names: &[&str]) -> Result<bool> {
        let names: Vec<&str> = names.iter().copied().filter(|name| *name != crate::sidecar::FOLDER).collect();
        isomorph_psl::owns(directory, &names)
    }

    fn suggested_name(&self, stem: &str, _options: &WriteOptions) -> String {
        stem.to_owned()
    }

    fn open(&self, location: &Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        let mut own = options.get::<Opening>().into_owned();
        own.budget = options.resources.as_ref().map(|resources| resources.budget.clone());
        Ok(Arc::new(isomorph_psl::Predicates::open(location, &own)?))
    }

    fn shown<'o>(&self, options: &'o mut OpenOptions) -> Option<&'o mut Option<Graph>> {
        Some(&mut options.get_mut::<Opening>().shown)
    }

    fn opens_the_same(&self, before: &OpenOptions, now: &OpenOptions, _kept: Option<&Graph>) -> bool {
        before.get::<Opening>().shown == now.get::<Opening>().shown
    }

    fn allowed(&self) -> Allowed {
        let is_named = |name: &str| !name.is_empty() && !name.contains(['\t', '\n', '\r']);
        Allowed {
            holds: |property, _| in_table(property),
            is_type: is_named,
            wide_keys: false,
            documents: |_| false,
            ..Allowed::anything()
        }
    }

    fn stored(&self, graph: &Graph) -> Graph {
        isomorph_psl::stored(graph)
    }

    fn not_stored(&self, graph: &Graph, _options: &WriteOptions) -> Result<Vec<(String, String)>> {
        Ok(isomorph_psl::unheld(graph))
    }

    fn altered(&self, _opened: &Opened, graph: &Graph) -> Vec<(String, String)> {
        let undirected = graph.edges.iter().filter(|ty| ty.direction == Direction::Undirected);
        undirected.map(|ty| (edge_text(graph, ty), "directed in PSL".to_owned())).collect()
    }

    fn layout(&self, _options: &WriteOptions) -> String {
        format!("a directory with a file for each predicate, and {}", isomorph_psl::DATA)
    }

    fn is_directory(&self, _options: &WriteOptions) -> bool {
        true
    }

    fn prepare(&self, options: &mut WriteOptions, job: &Job<'_>) -> Result<()> {
        options.get_mut::<Writing>().without_unheld = job.options.loses();
        Ok(())
    }

    fn create<'a>(&self, staging: &'a Staging, graph: &Graph, options: &WriteOptions) -> Result<Box<dyn Sink + 'a>> {
        Ok(Box::new(isomorph_psl::PredicatesWriter::create(staging, graph, *options.get::<Writing>())?))
    }

    fn manifests<'a>(&self, written: &'a Written) -> Vec<&'a str> {
        super::file_called(written, isomorph_psl::DATA)
    }
}
