//! Tables as a graph, with a mapping file or a convention that says which graph they are: a file for each type in one encoding, Neo4j's CSV, the
//! sheets of a workbook, JSON lines of KGX.

use std::sync::Arc;

use isomorph_error::{Error, Finding, Result};
use isomorph_flat::{Form, OpenOptions as Opening, WriteOptions as Writing, neo4j};
use isomorph_model::capability::Capability;
use isomorph_model::{Graph, Sink, Source, Written};
use isomorph_storage::{Location, Resources, Scratch, Staging};
use isomorph_tables::Encoding;

use super::neo4j_changes::{self, Carrier};
use crate::driver::{Driver, TextCheck};
use crate::mapping::{Allowed, Fusing, NameRules};
use crate::open::Opened;
use crate::options::{OpenOptions, WriteOptions};
use crate::registry::Registry;
use crate::traits::{Flags, Traits};

/// Tables of one form: each is a format, because what columns hold depends on it.
pub(super) struct Flat(pub Form);

/// The ending of the workbooks that are written.
const WORKBOOK: &str = ".xlsx";

/// Where sheets wait.
#[derive(Debug, Clone, Default)]
struct Temporary(Option<Scratch>);

/// The tables that were opened.
fn own(native: &dyn Source) -> Option<&isomorph_flat::Tables> {
    native.as_any().and_then(|own| own.downcast_ref::<isomorph_flat::Tables>())
}

impl Driver for Flat {
    fn id(&self) -> &'static str {
        match self.0 {
            Form::Tables(Encoding::Csv) => "csv",
            Form::Tables(Encoding::Arrow) => "arrow",
            Form::Tables(Encoding::JsonLines) => "jsonl",
            Form::Tables(Encoding::Parquet | Encoding::Orc) => "parquet",
            Form::Neo4j => "neo4j",
            Form::Workbook => "xlsx",
            Form::Kgx => "kgxl",
        }
    }

    fn name(&self) -> &'static str {
        match self.0 {
            Form::Tables(Encoding::Csv) => "CSV tables",
            Form::Tables(Encoding::Arrow) => "Arrow tables",
            Form::Tables(Encoding::JsonLines) => "JSON lines tables",
            Form::Tables(Encoding::Parquet | Encoding::Orc) => "Parquet tables",
            Form::Neo4j => "Neo4j CSV",
            Form::Workbook => "workbook",
            Form::Kgx => "KGX JSON lines",
        }
    }

    fn capability(&self) -> &'static Capability {
        match self.0 {
            Form::Tables(Encoding::Csv) | Form::Workbook => &isomorph_flat::CSV,
            Form::Tables(Encoding::JsonLines) => &isomorph_flat::JSON,
            Form::Tables(Encoding::Arrow | Encoding::Parquet | Encoding::Orc) => &isomorph_flat::TYPED,
            Form::Neo4j => &isomorph_flat::NEO4J,
            Form::Kgx => &isomorph_flat::KGX,
        }
    }

    fn traits(&self) -> Traits {
        let all = Traits {
            rules: isomorph_flat::rules::RULES,
            usual_names: match self.0 {
                Form::Tables(Encoding::Csv) => &["NAME.pgq", "DIRECTORY/", "DIRECTORY/nodes.csv"],
                Form::Tables(Encoding::Parquet | Encoding::Orc) => &["NAME.pgq", "DIRECTORY/", "edges.parquet"],
                Form::Tables(Encoding::Arrow) => &["NAME.pgq", "DIRECTORY/", "edges.arrow"],
                Form::Tables(Encoding::JsonLines) => &["NAME.pgq", "DIRECTORY/", "edges.jsonl"],
                Form::Neo4j => &["DIRECTORY/"],
                Form::Workbook => &["NAME.xlsx", "NAME.xlsm", "NAME.ods"],
                Form::Kgx => &["DIRECTORY/nodes.jsonl, DIRECTORY/edges.jsonl"],
            },
            flags: Flags { opening: &["--allow-outside"], ..Flags::default() },
            sorts_edges: false,
            knows_nodes_by_key: true,
            ..Traits::of(self.shape())
        };
        match self.0 {
            Form::Tables(_) | Form::Neo4j => all,
            // A sheet has limits that other tables do not have.
            Form::Workbook => Traits { is_single_file: true, is_partial: true, ..all },
            Form::Kgx => Traits { fusing: Fusing::Kgx, needs_schema: true, ..all },
        }
    }

    fn detect(&self, location: &Location) -> Result<bool> {
        // Tables in ORC are read, not written: the mapping file that names them is no format of its own.
        let found = match isomorph_flat::detect(location)? {
            Some(Form::Tables(Encoding::Orc)) => Some(Form::Tables(Encoding::Parquet)),
            found => found,
        };
        Ok(found == Some(self.0))
    }

    fn is_conclusive(&self, location: &Location) -> Result<bool> {
        Ok(!matches!(self.0, Form::Tables(_)) || !isomorph_flat::is_table_alone(location)?)
    }

    fn parts(&self, directory: &Location) -> Result<Vec<String>> {
        match self.0 {
            Form::Tables(_) => isomorph_flat::parts_of_table(directory),
            Form::Neo4j | Form::Workbook | Form::Kgx => Ok(Vec::new()),
        }
    }

    fn owns_directory(&self, directory: &Location, names: &[&str]) -> Result<bool> {
        let names: Vec<&str> = names.iter().copied().filter(|name| *name != crate::sidecar::FOLDER).collect();
        match self.0 {
            Form::Tables(_) | Form::Neo4j => isomorph_flat::owns(directory, &names),
            Form::Kgx => isomorph_flat::owns_kgx(directory, &names),
            Form::Workbook => self.detect(directory),
        }
    }

    fn matches_name(&self, name: &str) -> bool {
        self.0 == Form::Workbook && name.ends_with(WORKBOOK)
    }

    fn stands_for_directory(&self, name: &str) -> bool {
        // A table alone has its sidecar beside it.
        matches!(self.0, Form::Tables(_) | Form::Neo4j) && !isomorph_flat::is_table(name)
    }

    fn unrecognised(&self, location: &Location) -> Option<Error> {
        // Once: the other forms say the same. A file of CSV is an edge list, or NOCK.
        let name = location.file_name().to_ascii_lowercase();
        let is_asked = self.0 == Form::Tables(Encoding::Parquet) && !name.ends_with(".csv");
        if is_asked { isomorph_flat::unrecognised(location) } else { None }
    }

    fn missing_extension(
        &self,
        _options: &WriteOptions,
        name: &str,
        _formats: &Registry,
    ) -> Option<(&'static str, &'static str)> {
        let is_missing = self.0 == Form::Workbook && !self.matches_name(&name.to_ascii_lowercase());
        is_missing.then_some(("a workbook", "xlsx"))
    }

    fn suggested_name(&self, stem: &str, _options: &WriteOptions) -> String {
        let ending = if self.0 == Form::Workbook { WORKBOOK } else { "" };
        format!("{stem}{ending}")
    }

    fn open(&self, location: &Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        let mut own = options.get::<Opening>().into_owned();
        if let Some(resources) = &options.resources {
            own.budget = resources.budget.clone();
            own.scratch = Some(resources.scratch.clone());
            own.threads = resources.threads;
        }
        // A workbook that is verified has another name.
        own.is_workbook |= self.0 == Form::Workbook;
        Ok(Arc::new(isomorph_flat::Tables::open(location, own)?))
    }

    fn shown<'o>(&self, options: &'o mut OpenOptions) -> Option<&'o mut Option<Graph>> {
        (self.0 == Form::Kgx).then(|| &mut options.get_mut::<Opening>().shown)
    }

    fn copy_options(&self, opened: &Opened, options: &mut OpenOptions) {
        let (own, of) = (options.get_mut::<Opening>(), opened.options.get::<Opening>());
        (own.allow_outside, own.lenient) = (of.allow_outside, of.lenient);
    }

    fn opens_the_same(&self, before: &OpenOptions, now: &OpenOptions, _kept: Option<&Graph>) -> bool {
        before.get::<Opening>().shown == now.get::<Opening>().shown
    }

    fn recognised(&self, native: &dyn Source) -> Vec<(String, String)> {
        own(native).map(|tables| tables.recognised().to_vec()).unwrap_or_default()
    }

    fn finds_wrong_rows(&self, options: &mut OpenOptions) -> bool {
        options.get_mut::<Opening>().lenient = true;
        true
    }

    fn is_table_alone(&self, native: &dyn Source) -> bool {
        own(native).is_some_and(isomorph_flat::Tables::is_table_alone)
    }

    fn set_aside<'a>(&self, native: &'a dyn Source) -> &'a [Finding] {
        own(native).map(isomorph_flat::Tables::rejected).unwrap_or_default()
    }

    fn name_rules(&self) -> NameRules {
        let legal = if self.0 == Form::Neo4j { |c| !matches!(c, '{' | '}') } else { |_| true };
        NameRules { legal, reserved_prefix: "", key: self.traits().key }
    }

    fn allowed(&self) -> Allowed {
        let is_named = |name: &str| !name.is_empty();
        let all = Allowed {
            holds: match self.0.encoding() {
                Encoding::Csv => |property, _| isomorph_flat::holds(Encoding::Csv, property),
                Encoding::JsonLines => |property, _| isomorph_flat::holds(Encoding::JsonLines, property),
                Encoding::Arrow | Encoding::Parquet | Encoding::Orc => {
                    |property, _| isomorph_flat::holds(Encoding::Parquet, property)
                }
            },
            is_type: is_named,
            is_relation: is_named,
            is_property: is_named,
            is_label: is_named,
            documents: |_| false,
            ..Allowed::anything()
        };
        match self.0 {
            Form::Tables(_) | Form::Workbook => all,
            Form::Neo4j => Allowed {
                holds: |property, _| neo4j::holds(property),
                is_type: neo4j::is_label,
                is_property: neo4j::is_property,
                is_label: neo4j::is_label,
                ..all
            },
            Form::Kgx => Allowed {
                is_property: |name| !matches!(name, "" | "id" | "category"),
                is_edge_property: Some(|name| !matches!(name, "" | "subject" | "object")),
                ..all
            },
        }
    }

    fn not_stored(&self, graph: &Graph, _options: &WriteOptions) -> Result<Vec<(String, String)>> {
        if self.0 == Form::Workbook {
            isomorph_flat::check_workbook(graph)?;
        }
        Ok(Vec::new())
    }

    fn altered(&self, opened: &Opened, graph: &Graph) -> Vec<(String, String)> {
        match self.0 {
            Form::Neo4j => neo4j_changes::altered(opened, graph, Carrier::Tables),
            _ => Vec::new(),
        }
    }

    fn text_check(&self, _options: &WriteOptions) -> Option<TextCheck> {
        (self.0 == Form::Workbook).then(|| Box::new(isomorph_tables::check_sheet_text) as TextCheck)
    }

    fn layout(&self, _options: &WriteOptions) -> String {
        match self.0 {
            Form::Tables(_) | Form::Neo4j => {
                format!("a directory with a file for each type, and {}", isomorph_flat::MAPPING)
            }
            Form::Workbook => format!("a workbook with a sheet for each type, and {}", isomorph_flat::MAPPING),
            Form::Kgx => "a directory with nodes.jsonl and edges.jsonl".to_owned(),
        }
    }

    fn loaded_by(&self, graph: &Graph, _destination: &str) -> Option<String> {
        (self.0 == Form::Neo4j).then(|| neo4j::command(graph))
    }

    fn is_directory(&self, _options: &WriteOptions) -> bool {
        self.0 != Form::Workbook
    }

    fn encoding(&self, _options: &WriteOptions) -> Option<String> {
        matches!(self.0, Form::Tables(_)).then(|| self.id().to_owned())
    }

    fn fit(&self, options: &mut WriteOptions, _graph: &Graph, _name: &str, resources: &Resources) {
        if self.0 == Form::Workbook {
            *options.get_mut::<Temporary>() = Temporary(Some(resources.scratch.clone()));
        }
    }

    fn create<'a>(&self, staging: &'a Staging, graph: &Graph, options: &WriteOptions) -> Result<Box<dyn Sink + 'a>> {
        let options = Writing { form: self.0, scratch: options.get::<Temporary>().0.clone() };
        Ok(Box::new(isomorph_flat::TablesWriter::create(staging, graph, options)?))
    }

    fn manifests<'a>(&self, written: &'a Written) -> Vec<&'a str> {
        match self.0 {
            Form::Tables(_) | Form::Neo4j => super::file_called(written, isomorph_flat::MAPPING),
            Form::Kgx => super::file_called(written, "edges.jsonl"),
            Form::Workbook => Vec::new(),
        }
    }
}
