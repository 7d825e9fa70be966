//! JSON lines of KGX: a file of nodes and a file of edges, an object in each line.

use std::sync::Arc;

use isomorph_error::{Finding, Result};
use isomorph_flat::{Form, OpenOptions as Opening, WriteOptions as Writing};
use isomorph_model::capability::Capability;
use isomorph_model::{Graph, Sink, Source, Written};
use isomorph_storage::{Location, Scheme, Staging};
use isomorph_tables::Encoding;

use super::flat::Flat;
use crate::driver::{Driver, Traits};
use crate::mapping::{Allowed, Fusing};
use crate::open::Opened;
use crate::options::{OpenOptions, WriteOptions};

pub(super) struct KgxLines;

/// They are read as tables in JSON lines.
const TABLES: Flat = Flat(Encoding::JsonLines);

impl Driver for KgxLines {
    fn id(&self) -> &'static str {
        "kgxl"
    }

    fn name(&self) -> &'static str {
        "KGX JSON lines"
    }

    fn capability(&self) -> &'static Capability {
        &isomorph_flat::KGX
    }

    fn traits(&self) -> Traits {
        let of_tables = TABLES.traits();
        Traits {
            rules: of_tables.rules,
            usual_names: &["DIRECTORY/nodes.jsonl, DIRECTORY/edges.jsonl"],
            flags: of_tables.flags,
            fusing: Fusing::Kgx,
            sorts_edges: false,
            knows_nodes_by_key: true,
            needs_schema: true,
            ..Traits::of(self.shape())
        }
    }

    fn detect(&self, location: &Location) -> Result<bool> {
        if location.scheme() == Scheme::Stream {
            return Ok(false);
        }
        Ok(isomorph_flat::detect(location)? == Some(Form::Kgx))
    }

    fn owns_directory(&self, directory: &Location, names: &[&str]) -> Result<bool> {
        let names: Vec<&str> = names.iter().copied().filter(|name| *name != crate::sidecar::FOLDER).collect();
        isomorph_flat::owns_kgx(directory, &names)
    }

    fn suggested_name(&self, stem: &str, _options: &WriteOptions) -> String {
        stem.to_owned()
    }

    fn open(&self, location: &Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        TABLES.open(location, options)
    }

    fn shown<'o>(&self, options: &'o mut OpenOptions) -> Option<&'o mut Option<Graph>> {
        Some(&mut options.get_mut::<Opening>().shown)
    }

    fn copy_options(&self, opened: &Opened, options: &mut OpenOptions) {
        TABLES.copy_options(opened, options);
    }

    fn opens_the_same(&self, before: &OpenOptions, now: &OpenOptions, _kept: Option<&Graph>) -> bool {
        before.get::<Opening>().shown == now.get::<Opening>().shown
    }

    fn recognised(&self, native: &dyn Source) -> Vec<(String, String)> {
        TABLES.recognised(native)
    }

    fn set_aside<'a>(&self, native: &'a dyn Source) -> &'a [Finding] {
        TABLES.set_aside(native)
    }

    fn allowed(&self) -> Allowed {
        Allowed {
            is_property: |name| !matches!(name, "" | "id" | "category"),
            is_edge_property: Some(|name| !matches!(name, "" | "subject" | "object")),
            ..TABLES.allowed()
        }
    }

    fn layout(&self, _options: &WriteOptions) -> String {
        "a directory with nodes.jsonl and edges.jsonl".to_owned()
    }

    fn is_directory(&self, _options: &WriteOptions) -> bool {
        true
    }

    fn create<'a>(&self, staging: &'a Staging, graph: &Graph, _options: &WriteOptions) -> Result<Box<dyn Sink + 'a>> {
        let options = Writing { form: Form::Kgx, scratch: None };
        Ok(Box::new(isomorph_flat::TablesWriter::create(staging, graph, options)?))
    }

    fn manifests<'a>(&self, written: &'a Written) -> Vec<&'a str> {
        super::file_called(written, "edges.jsonl")
    }
}
