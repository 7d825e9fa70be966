//! Tables for Neo4j's admin import: CSV whose headers say what columns are.

use std::sync::Arc;

use isomorph_error::{Finding, Result};
use isomorph_flat::{Form, WriteOptions as Writing, neo4j};
use isomorph_model::capability::Capability;
use isomorph_model::{Graph, Sink, Source, Written};
use isomorph_storage::{Location, Scheme, Staging};
use isomorph_tables::Encoding;

use super::flat::Flat;
use super::neo4j_changes::{self, Carrier};
use crate::driver::{Driver, Traits};
use crate::mapping::{Allowed, NameRules};
use crate::open::Opened;
use crate::options::{OpenOptions, WriteOptions};

pub(super) struct Neo4j;

/// Tables of CSV are read alike, whatever their headers.
const TABLES: Flat = Flat(Encoding::Csv);

impl Driver for Neo4j {
    fn id(&self) -> &'static str {
        "neo4j"
    }

    fn name(&self) -> &'static str {
        "Neo4j CSV"
    }

    fn capability(&self) -> &'static Capability {
        &isomorph_flat::NEO4J
    }

    fn traits(&self) -> Traits {
        Traits { usual_names: &["DIRECTORY/"], ..TABLES.traits() }
    }

    fn detect(&self, location: &Location) -> Result<bool> {
        if location.scheme() == Scheme::Stream {
            return Ok(false);
        }
        Ok(isomorph_flat::detect(location)?.is_some_and(|found| found == Form::Neo4j))
    }

    fn owns_directory(&self, directory: &Location, names: &[&str]) -> Result<bool> {
        TABLES.owns_directory(directory, names)
    }

    fn suggested_name(&self, stem: &str, options: &WriteOptions) -> String {
        TABLES.suggested_name(stem, options)
    }

    fn open(&self, location: &Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        TABLES.open(location, options)
    }

    fn copy_options(&self, opened: &Opened, options: &mut OpenOptions) {
        TABLES.copy_options(opened, options);
    }

    fn recognised(&self, native: &dyn Source) -> Vec<(String, String)> {
        TABLES.recognised(native)
    }

    fn set_aside<'a>(&self, native: &'a dyn Source) -> &'a [Finding] {
        TABLES.set_aside(native)
    }

    fn name_rules(&self) -> NameRules {
        NameRules { legal: |c| !matches!(c, '{' | '}'), reserved_prefix: "", key: self.traits().key }
    }

    fn allowed(&self) -> Allowed {
        Allowed {
            holds: |property, _| neo4j::holds(property),
            is_type: neo4j::is_label,
            is_relation: |name| !name.is_empty(),
            is_property: neo4j::is_property,
            is_label: neo4j::is_label,
            documents: |_| false,
            ..Allowed::anything()
        }
    }

    fn altered(&self, opened: &Opened, graph: &Graph) -> Vec<(String, String)> {
        neo4j_changes::altered(opened, graph, Carrier::Tables)
    }

    fn layout(&self, _options: &WriteOptions) -> String {
        format!("a directory with a file for each type, and {}", isomorph_flat::MAPPING)
    }

    fn loaded_by(&self, graph: &Graph, _destination: &str) -> Option<String> {
        Some(neo4j::command(graph))
    }

    fn is_directory(&self, _options: &WriteOptions) -> bool {
        true
    }

    fn create<'a>(&self, staging: &'a Staging, graph: &Graph, _options: &WriteOptions) -> Result<Box<dyn Sink + 'a>> {
        let options = Writing { form: Form::Neo4j, scratch: None };
        Ok(Box::new(isomorph_flat::TablesWriter::create(staging, graph, options)?))
    }

    fn manifests<'a>(&self, written: &'a Written) -> Vec<&'a str> {
        TABLES.manifests(written)
    }
}
