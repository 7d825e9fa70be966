//! Apache GraphAr: a directory of chunks that an information file describes.

use std::sync::Arc;

use arrow_schema::{DataType, TimeUnit};
use isomorph_error::{Findings, Result};
use isomorph_graphar::info::FileType;
use isomorph_graphar::{OpenOptions as Opening, WriteOptions as Writing, write};
use isomorph_model::capability::Capability;
use isomorph_model::{Graph, Sink, Source, Written};
use isomorph_storage::{Location, Resources, Scheme, Staging};

use crate::driver::Driver;
use crate::mapping::{Allowed, NameRules};
use crate::open::Opened;
use crate::options::{OpenOptions, WriteOptions};
use crate::traits::{Flags, Traits};

/// Prefix of GraphAr's own properties.
const RESERVED: &str = "_graphAr";

pub(super) struct GraphAr;

impl Driver for GraphAr {
    fn id(&self) -> &'static str {
        "graphar"
    }

    fn name(&self) -> &'static str {
        "GraphAr"
    }

    fn capability(&self) -> &'static Capability {
        &isomorph_graphar::CAPABILITY
    }

    fn traits(&self) -> Traits {
        Traits {
            rules: isomorph_graphar::rules::RULES,
            usual_names: &["NAME.graph.yml", "DIRECTORY/"],
            flags: Flags {
                opening: &["--root", "--follow-links", "--adjacency", "--key", "--timestamps"],
                writing: &[
                    "--vertex-chunk",
                    "--edge-chunk",
                    "--adj-lists",
                    "--groups",
                    "--name",
                    "--keep-layout",
                    "--props",
                    "--labels",
                    "--relations",
                    "--file-type",
                    "--compression",
                ],
                telling: &[],
            },
            ..Traits::of(self.shape())
        }
    }

    fn stands_for_directory(&self, _name: &str) -> bool {
        true
    }

    fn detect(&self, location: &Location) -> Result<bool> {
        // A graph is a directory, but a stream is a single file.
        if location.scheme() == Scheme::Stream { Ok(false) } else { isomorph_graphar::detect(location) }
    }

    fn matches_name(&self, name: &str) -> bool {
        name.ends_with(".graphar") || name.ends_with(".gar")
    }

    fn suggested_name(&self, stem: &str, _options: &WriteOptions) -> String {
        format!("{stem}.gar")
    }

    fn open(&self, location: &Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        Ok(Arc::new(isomorph_graphar::GraphAr::open(location, &options.get::<Opening>())?))
    }

    fn may_differ_from_sidecar(&self, _native: &dyn Source, options: &OpenOptions) -> bool {
        options.get::<Opening>().root.is_some()
    }

    fn copy_options(&self, opened: &Opened, options: &mut OpenOptions) {
        let asked = opened.options.get::<Opening>();
        let own = options.get_mut::<Opening>();
        (own.key_row, own.timestamps) = (asked.key_row, asked.timestamps);
    }

    fn reopen_options(&self, opened: &Opened, options: &mut OpenOptions) {
        options.own.set(opened.options.get::<Opening>().into_owned());
    }

    fn same_layout(&self, _opened: &Opened, _native: &dyn Source, options: &mut WriteOptions) -> Result<()> {
        options.get_mut::<Writing>().hints = true;
        Ok(())
    }

    fn name_rules(&self) -> NameRules {
        NameRules {
            legal: |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'),
            reserved_prefix: RESERVED,
            key: self.traits().key,
        }
    }

    fn allowed(&self) -> Allowed {
        Allowed {
            holds: write::holds_values,
            is_type: write::is_type_name,
            is_relation: write::is_relation,
            is_edge: write::is_edge_type,
            is_property: write::is_property_name,
            is_edge_property: None,
            is_label: write::is_label,
            key_names: true,
            wide_keys: false,
            reserved_prefix: RESERVED,
            documents: write::holds_document,
        }
    }

    fn edge_orders(&self, options: &WriteOptions) -> u64 {
        let options = options.get::<Writing>();
        let Some(lists) = &options.adjacency else { return 2 };
        let by = |by_source: bool| lists.iter().any(|list| list.by_source() == by_source);
        u64::from(by(true)) + u64::from(by(false))
    }

    fn undeclared(&self, graph: &Graph, options: &WriteOptions) -> Option<&'static str> {
        let is_fine =
            |data_type: &DataType| matches!(data_type, DataType::Timestamp(unit, _) if *unit != TimeUnit::Millisecond);
        let is_stated = options.get::<Writing>().file_type.is_none_or(|file_type| file_type == FileType::Parquet);
        let has_fine = super::properties(graph).any(|property| is_fine(&property.data_type));
        (!is_stated && has_fine).then_some("units of timestamps")
    }

    fn is_directory(&self, _options: &WriteOptions) -> bool {
        true
    }

    fn encoding(&self, options: &WriteOptions) -> Option<String> {
        let options = options.get::<Writing>();
        let kind = if options.hints { options.file_type } else { options.file_type.or(Some(FileType::Parquet)) };
        kind.map(|kind| kind.to_string())
    }

    fn cautions(&self, options: &WriteOptions) -> Findings {
        options.get::<Writing>().findings()
    }

    fn fit(&self, options: &mut WriteOptions, _graph: &Graph, _name: &str, resources: &Resources) {
        options.get_mut::<Writing>().threads = Some(resources.threads);
    }

    fn create<'a>(&self, staging: &'a Staging, graph: &Graph, options: &WriteOptions) -> Result<Box<dyn Sink + 'a>> {
        isomorph_graphar::GraphArWriter::create(staging, graph, &options.get::<Writing>())
    }

    fn manifests<'a>(&self, written: &'a Written) -> Vec<&'a str> {
        let names = written.files.iter().map(|(name, _)| name.as_str());
        names.filter(|name| name.ends_with(".graph.yml")).collect()
    }
}
