//! Tables as a graph: a file for each type in one encoding, with a mapping file or a convention that says which graph they are.

use std::sync::Arc;

use isomorph_error::{Finding, Result};
use isomorph_flat::{Form, OpenOptions as Opening, WriteOptions as Writing};
use isomorph_model::capability::Capability;
use isomorph_model::{Graph, Property, Sink, Source, Written};
use isomorph_storage::{Location, Scheme, Staging};
use isomorph_tables::Encoding;

use crate::driver::{Driver, Flags, Traits};
use crate::mapping::Allowed;
use crate::open::Opened;
use crate::options::{OpenOptions, WriteOptions};

/// Tables of one encoding: each is a format, because what columns hold depends on it.
pub(super) struct Flat(pub Encoding);

/// The tables that were opened.
fn own(native: &dyn Source) -> Option<&isomorph_flat::Tables> {
    native.as_any().and_then(|own| own.downcast_ref::<isomorph_flat::Tables>())
}

/// The options of tables, with the resources of the job.
pub(super) fn opening(options: &OpenOptions) -> Opening {
    let mut own = options.get::<Opening>().into_owned();
    if let Some(resources) = &options.resources {
        own.budget = resources.budget.clone();
        own.scratch = Some(resources.scratch.clone());
        own.threads = resources.threads;
    }
    own
}

impl Driver for Flat {
    fn id(&self) -> &'static str {
        match self.0 {
            Encoding::Csv => "csv",
            Encoding::Arrow => "arrow",
            Encoding::JsonLines => "jsonl",
            Encoding::Parquet | Encoding::Orc => "parquet",
        }
    }

    fn name(&self) -> &'static str {
        match self.0 {
            Encoding::Csv => "CSV tables",
            Encoding::Arrow => "Arrow tables",
            Encoding::JsonLines => "JSON lines tables",
            Encoding::Parquet | Encoding::Orc => "Parquet tables",
        }
    }

    fn capability(&self) -> &'static Capability {
        match self.0 {
            Encoding::Csv => &isomorph_flat::CSV,
            Encoding::JsonLines => &isomorph_flat::JSON,
            Encoding::Arrow | Encoding::Parquet | Encoding::Orc => &isomorph_flat::TYPED,
        }
    }

    fn traits(&self) -> Traits {
        Traits {
            rules: isomorph_flat::rules::RULES,
            usual_names: match self.0 {
                Encoding::Csv => &["NAME.pgq", "DIRECTORY/", "DIRECTORY/nodes.csv"],
                _ => &["NAME.pgq", "DIRECTORY/"],
            },
            flags: Flags { opening: &["--allow-outside"], ..Flags::default() },
            is_named_by_file: true,
            sorts_edges: false,
            knows_nodes_by_key: true,
            ..Traits::of(self.shape())
        }
    }

    fn detect(&self, location: &Location) -> Result<bool> {
        if location.scheme() == Scheme::Stream {
            return Ok(false);
        }
        // Tables in ORC are read, not written: the mapping file that names them is no format of its own.
        // Headers of Neo4j, JSON lines of KGX and workbooks are formats of their own.
        Ok(match isomorph_flat::detect(location)? {
            Some(Form::Tables(found)) => found == self.0 || (found, self.0) == (Encoding::Orc, Encoding::Parquet),
            Some(Form::Neo4j | Form::Workbook | Form::Kgx) | None => false,
        })
    }

    fn owns_directory(&self, directory: &Location, names: &[&str]) -> Result<bool> {
        let names: Vec<&str> = names.iter().copied().filter(|name| *name != crate::sidecar::FOLDER).collect();
        isomorph_flat::owns(directory, &names)
    }

    fn suggested_name(&self, stem: &str, _options: &WriteOptions) -> String {
        stem.to_owned()
    }

    fn open(&self, location: &Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        Ok(Arc::new(isomorph_flat::Tables::open(location, opening(options))?))
    }

    fn copy_options(&self, opened: &Opened, options: &mut OpenOptions) {
        let (own, of) = (options.get_mut::<Opening>(), opened.options.get::<Opening>());
        (own.allow_outside, own.lenient) = (of.allow_outside, of.lenient);
    }

    fn recognised(&self, native: &dyn Source) -> Vec<(String, String)> {
        own(native).map(|tables| tables.recognised().to_vec()).unwrap_or_default()
    }

    fn set_aside<'a>(&self, native: &'a dyn Source) -> &'a [Finding] {
        own(native).map(isomorph_flat::Tables::rejected).unwrap_or_default()
    }

    fn allowed(&self) -> Allowed {
        fn holds<const TEXT: bool, const JSON: bool>(property: &Property, _of_edge: bool) -> bool {
            let encoding = match (TEXT, JSON) {
                (true, false) => Encoding::Csv,
                (true, true) => Encoding::JsonLines,
                (false, _) => Encoding::Parquet,
            };
            isomorph_flat::holds(encoding, property)
        }
        let holds = match self.0 {
            Encoding::Csv => holds::<true, false>,
            Encoding::JsonLines => holds::<true, true>,
            Encoding::Arrow | Encoding::Parquet | Encoding::Orc => holds::<false, false>,
        };
        let is_named = |name: &str| !name.is_empty();
        Allowed {
            holds,
            is_type: is_named,
            is_relation: is_named,
            is_property: is_named,
            is_label: is_named,
            documents: |_| false,
            ..Allowed::anything()
        }
    }

    fn layout(&self, _options: &WriteOptions) -> String {
        format!("a directory with a file for each type, and {}", isomorph_flat::MAPPING)
    }

    fn is_directory(&self, _options: &WriteOptions) -> bool {
        true
    }

    fn encoding(&self, _options: &WriteOptions) -> Option<String> {
        Some(self.id().to_owned())
    }

    fn create<'a>(&self, staging: &'a Staging, graph: &Graph, _options: &WriteOptions) -> Result<Box<dyn Sink + 'a>> {
        let options = Writing { form: Form::Tables(self.0), scratch: None };
        Ok(Box::new(isomorph_flat::TablesWriter::create(staging, graph, options)?))
    }

    fn manifests<'a>(&self, written: &'a Written) -> Vec<&'a str> {
        super::file_called(written, isomorph_flat::MAPPING)
    }
}
