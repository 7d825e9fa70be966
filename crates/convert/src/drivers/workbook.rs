//! Workbooks: tables as the sheets of one file.

use std::sync::Arc;

use isomorph_error::{Finding, Result};
use isomorph_flat::{Form, WriteOptions as Writing};
use isomorph_model::capability::Capability;
use isomorph_model::{Graph, Sink, Source};
use isomorph_storage::{Location, Resources, Scheme, Scratch, Staging};
use isomorph_tables::Encoding;

use super::flat::{Flat, opening};
use crate::driver::{Driver, TextCheck, Traits};
use crate::mapping::{Allowed, NameRules};
use crate::open::Opened;
use crate::options::{OpenOptions, WriteOptions};
use crate::registry::Registry;

pub(super) struct Workbook;

/// Sheets are read as CSV, and hold the same.
const TABLES: Flat = Flat(Encoding::Csv);

/// The ending of the workbooks that are written.
const ENDING: &str = ".xlsx";

/// Where sheets wait.
#[derive(Debug, Clone, Default)]
struct Temporary(Option<Scratch>);

impl Driver for Workbook {
    fn id(&self) -> &'static str {
        "xlsx"
    }

    fn name(&self) -> &'static str {
        "workbook"
    }

    fn capability(&self) -> &'static Capability {
        TABLES.capability()
    }

    fn traits(&self) -> Traits {
        // A sheet has limits that other tables do not have.
        let of_tables = TABLES.traits();
        Traits {
            rules: of_tables.rules,
            usual_names: &["NAME.xlsx", "NAME.xlsm", "NAME.ods"],
            flags: of_tables.flags,
            is_single_file: true,
            sorts_edges: false,
            knows_nodes_by_key: true,
            is_partial: true,
            ..Traits::of(self.shape())
        }
    }

    fn detect(&self, location: &Location) -> Result<bool> {
        if location.scheme() == Scheme::Stream {
            return Ok(false);
        }
        Ok(isomorph_flat::detect(location)? == Some(Form::Workbook))
    }

    fn matches_name(&self, name: &str) -> bool {
        name.ends_with(ENDING)
    }

    fn missing_extension(
        &self,
        _options: &WriteOptions,
        name: &str,
        _formats: &Registry,
    ) -> Option<(&'static str, &'static str)> {
        (!self.matches_name(&name.to_ascii_lowercase())).then_some(("a workbook", "xlsx"))
    }

    fn suggested_name(&self, stem: &str, _options: &WriteOptions) -> String {
        format!("{stem}{ENDING}")
    }

    fn open(&self, location: &Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        // Output that is verified has another name.
        let own = isomorph_flat::OpenOptions { is_workbook: true, ..opening(options) };
        Ok(Arc::new(isomorph_flat::Tables::open(location, own)?))
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
        TABLES.name_rules()
    }

    fn allowed(&self) -> Allowed {
        TABLES.allowed()
    }

    fn not_stored(&self, graph: &Graph, _options: &WriteOptions) -> Result<Vec<(String, String)>> {
        isomorph_flat::check_workbook(graph)?;
        Ok(Vec::new())
    }

    fn text_check(&self, _options: &WriteOptions) -> Option<TextCheck> {
        Some(Box::new(isomorph_tables::check_sheet_text))
    }

    fn layout(&self, _options: &WriteOptions) -> String {
        format!("a workbook with a sheet for each type, and {}", isomorph_flat::MAPPING)
    }

    fn fit(&self, options: &mut WriteOptions, _graph: &Graph, _name: &str, resources: &Resources) {
        *options.get_mut::<Temporary>() = Temporary(Some(resources.scratch.clone()));
    }

    fn create<'a>(&self, staging: &'a Staging, graph: &Graph, options: &WriteOptions) -> Result<Box<dyn Sink + 'a>> {
        let scratch = options.get::<Temporary>().0.clone();
        let options = Writing { form: Form::Workbook, scratch };
        Ok(Box::new(isomorph_flat::TablesWriter::create(staging, graph, options)?))
    }
}
