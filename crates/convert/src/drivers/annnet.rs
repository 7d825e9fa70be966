//! annnet: a directory or an archive of tables, with layers, hyperedges and slices.

use std::sync::Arc;

use isomorph_annnet::{Conversion, OpenOptions as Opening, Unknown, WriteLayout, WriteOptions as Writing};
use isomorph_error::{Kind, Result};
use isomorph_model::capability::Capability;
use isomorph_model::{Graph, Sink, Source, Written, well_known};
use isomorph_storage::{Location, Resources, Staging};

use crate::conversion::Job;
use crate::driver::{Driver, Format};
use crate::mapping::{Allowed, Fusing};
use crate::open::Opened;
use crate::options::{OpenOptions, WriteOptions};
use crate::traits::{Flags, Traits};

pub(super) struct Annnet;

/// Returns the options of the format, with the resources of the job.
fn opening(options: &OpenOptions) -> Opening {
    let mut own = options.get::<Opening>().into_owned();
    if let Some(resources) = &options.resources {
        own.budget = resources.budget.clone();
        own.scratch = Some(resources.scratch.clone());
    }
    own
}

impl Driver for Annnet {
    fn id(&self) -> &'static str {
        "annnet"
    }

    fn name(&self) -> &'static str {
        "annnet"
    }

    fn capability(&self) -> &'static Capability {
        &isomorph_annnet::CAPABILITY
    }

    fn traits(&self) -> Traits {
        Traits {
            rules: isomorph_annnet::rules::RULES,
            usual_names: &["NAME.annnet", "DIRECTORY/structure/edges.parquet"],
            flags: Flags {
                writing: &["--layout", "--matrix", "--cache", "--file-type", "--compression"],
                ..Flags::default()
            },
            key: "node_id",
            fusing: Fusing::Annnet,
            sorts_edges: false,
            inseparable: &[well_known::WEIGHT, well_known::ENTITY],
            knows_nodes_by_key: true,
            ..Traits::of(self.shape())
        }
    }

    fn detect(&self, location: &Location) -> Result<bool> {
        isomorph_annnet::detect(location)
    }

    fn matches_name(&self, name: &str) -> bool {
        name.ends_with(".annnet")
    }

    fn suggested_name(&self, stem: &str, options: &WriteOptions) -> String {
        if options.get::<Writing>().archive { format!("{stem}.annnet") } else { stem.to_owned() }
    }

    fn open(&self, location: &Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        Ok(Arc::new(isomorph_annnet::Annnet::open(location, &opening(options))?))
    }

    fn open_for_lookups(&self, location: &Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        isomorph_annnet::LookUps::open(location, &opening(options))
    }

    fn copy_options(&self, _opened: &Opened, _options: &mut OpenOptions) {}

    fn same_layout(&self, _opened: &Opened, native: &dyn Source, options: &mut WriteOptions) -> Result<()> {
        if native.about().version.starts_with(isomorph_annnet::Layout::V1.name()) {
            options.get_mut::<Writing>().layout = WriteLayout::Specification;
        }
        Ok(())
    }

    fn extra_files(&self, native: &dyn Source) -> [Vec<String>; 2] {
        let own = native.as_any().and_then(|own| own.downcast_ref::<isomorph_annnet::Annnet>());
        own.map_or_else(Default::default, |graph| [graph.files_that_travel(), graph.files_left_out().to_vec()])
    }

    fn allowed(&self) -> Allowed {
        Allowed { holds: |property, _| isomorph_annnet::holds(&property.data_type), ..Allowed::anything() }
    }

    fn edge_orders(&self, _options: &WriteOptions) -> u64 {
        2
    }

    fn is_directory(&self, options: &WriteOptions) -> bool {
        !options.get::<Writing>().archive
    }

    fn fit(&self, options: &mut WriteOptions, _graph: &Graph, name: &str, resources: &Resources) {
        let own = options.get_mut::<Writing>();
        own.archive |= name.to_ascii_lowercase().ends_with(".annnet");
        own.budget = resources.budget.clone();
        own.scratch = Some(resources.scratch.clone());
    }

    fn prepare(&self, options: &mut WriteOptions, job: &Job<'_>) -> Result<()> {
        let (opened, plan) = (job.opened, job.plan);
        let own = options.get_mut::<Writing>();
        own.created = own.created.or(job.options.epoch);
        own.conversion = Some(Conversion {
            from: opened.location.file_name().to_owned(),
            format: opened.format.name().to_owned(),
            of: (plan.from != opened.format).then(|| plan.from.name().to_owned()),
        });
        if opened.format == plan.to && !opened.is_part {
            // Files that the format does not define stay with the graph.
            let open = Opening {
                budget: job.resources.budget.clone(),
                scratch: Some(job.resources.scratch.clone()),
                ..Opening::default()
            };
            own.keep = match isomorph_annnet::unknown(&opened.location, &open) {
                // A graph in memory has no files.
                Err(error) if error.kind() == Kind::NotFound => Unknown::default(),
                found => found?,
            };
        }
        Ok(())
    }

    fn create<'a>(&self, staging: &'a Staging, graph: &Graph, options: &WriteOptions) -> Result<Box<dyn Sink + 'a>> {
        isomorph_annnet::AnnnetWriter::create(staging, graph, &options.get::<Writing>())
    }

    fn manifests<'a>(&self, written: &'a Written) -> Vec<&'a str> {
        super::file_called(written, isomorph_annnet::layout::file::MANIFEST)
    }

    fn hidden_difference(&self, found: &Graph, options: &WriteOptions, job: &Job<'_>) -> Option<&'static str> {
        // Digests do not cover layers and kinds that edges state in contradiction to their ends.
        let are_alike = job.plan.from == Format::ANNNET
            && job.opened.sidecar.is_none()
            && options.get::<Writing>().layout == WriteLayout::V2;
        let stated = || isomorph_annnet::stated(found) != isomorph_annnet::stated(job.opened.native.graph());
        (are_alike && stated()).then_some("layers or kinds of edges differ")
    }
}
