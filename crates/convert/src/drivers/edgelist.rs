//! Edge lists: one line per edge.

use std::sync::Arc;

use isomorph_edgelist::{OpenOptions as Opening, WriteOptions as Writing};
use isomorph_error::Result;
use isomorph_model::capability::Capability;
use isomorph_model::{Graph, Sink, Source, well_known};
use isomorph_storage::{Location, Staging};

use super::in_table;
use crate::conversion::Job;
use crate::driver::Driver;
use crate::mapping::Allowed;
use crate::open::Opened;
use crate::options::{OpenOptions, WriteOptions};
use crate::traits::{Flags, Traits};

pub(super) struct EdgeList;

/// Returns the opened edge list.
fn own(native: &dyn Source) -> Option<&isomorph_edgelist::EdgeList> {
    native.as_any().and_then(|own| own.downcast_ref::<isomorph_edgelist::EdgeList>())
}

impl Driver for EdgeList {
    fn id(&self) -> &'static str {
        "edgelist"
    }

    fn name(&self) -> &'static str {
        "edge list"
    }

    fn capability(&self) -> &'static Capability {
        &isomorph_edgelist::CAPABILITY
    }

    fn traits(&self) -> Traits {
        Traits {
            rules: isomorph_edgelist::rules::RULES,
            usual_names: &["NAME.edges", "NAME.txt", "NAME.csv"],
            flags: Flags {
                opening: &["--edge-columns", "--undirected"],
                writing: &["--edge-data"],
                telling: &["--edge-columns", "--undirected", "--edge-data"],
            },
            key: "name",
            is_single_file: true,
            holds_lone_nodes: false,
            detaches: true,
            sorts_edges: false,
            inseparable: &[well_known::WEIGHT],
            knows_nodes_by_key: true,
            ..Traits::of(self.shape())
        }
    }

    fn detect(&self, location: &Location) -> Result<bool> {
        isomorph_edgelist::detect(location)
    }

    fn matches_name(&self, name: &str) -> bool {
        let stem = super::unpacked(name);
        [".edges", ".el", ".wel", ".ncol"].iter().any(|ending| stem.ends_with(ending))
    }

    fn suggested_name(&self, stem: &str, _options: &WriteOptions) -> String {
        format!("{stem}.edges")
    }

    fn open(&self, location: &Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        let mut own = options.get::<Opening>().into_owned();
        if let Some(resources) = &options.resources {
            own.budget = resources.budget.clone();
            own.scratch = Some(resources.scratch.clone());
        }
        Ok(Arc::new(isomorph_edgelist::EdgeList::open(location, &own)?))
    }

    fn shown<'o>(&self, options: &'o mut OpenOptions) -> Option<&'o mut Option<Graph>> {
        Some(&mut options.get_mut::<Opening>().shown)
    }

    fn copy_options(&self, opened: &Opened, options: &mut OpenOptions) {
        let asked = opened.options.get::<Opening>();
        let own = options.get_mut::<Opening>();
        (own.columns, own.undirected) = (asked.columns.clone(), asked.undirected);
    }

    fn same_layout(&self, _opened: &Opened, native: &dyn Source, options: &mut WriteOptions) -> Result<()> {
        options.get_mut::<Writing>().data = own(native).map(isomorph_edgelist::EdgeList::data);
        Ok(())
    }

    fn recognised(&self, native: &dyn Source) -> Vec<(String, String)> {
        own(native).map(|list| list.recognised().to_vec()).unwrap_or_default()
    }

    fn allowed(&self) -> Allowed {
        let holds = |property: &isomorph_model::Property, of_edge: bool| match of_edge {
            true => isomorph_edgelist::holds(property),
            false => in_table(property),
        };
        Allowed {
            holds,
            // It distinguishes parallel edges in NetworkX, which merges those of which it is the same.
            is_edge_property: Some(|name| name != "key"),
            wide_keys: false,
            documents: |_| false,
            ..Allowed::anything()
        }
    }

    fn keeps_order(&self, _options: &WriteOptions) -> bool {
        false
    }

    fn stored(&self, graph: &Graph) -> Graph {
        isomorph_edgelist::stored(graph)
    }

    fn not_stored(&self, graph: &Graph, _options: &WriteOptions) -> Result<Vec<(String, String)>> {
        Ok(isomorph_edgelist::unheld(graph))
    }

    fn is_text(&self, _options: &WriteOptions) -> bool {
        true
    }

    fn prepare(&self, options: &mut WriteOptions, job: &Job<'_>) -> Result<()> {
        options.get_mut::<Writing>().without_unheld = job.options.loses();
        Ok(())
    }

    fn create<'a>(&self, staging: &'a Staging, graph: &Graph, options: &WriteOptions) -> Result<Box<dyn Sink + 'a>> {
        Ok(Box::new(isomorph_edgelist::EdgeListWriter::create(staging, graph, &options.get::<Writing>())?))
    }
}
