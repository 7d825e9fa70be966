//! NOCK: one table of nodes and edges, with bags of properties; one file, or a directory of partitions.

use std::sync::Arc;

use arrow_schema::DataType;
use isomorph_error::Result;
use isomorph_model::capability::Capability;
use isomorph_model::{Graph, Property, Sink, Source, ValueKind, well_known};
use isomorph_nock::{CreateOptions as Writing, Format as Encoding, OpenOptions as Opening};
use isomorph_storage::{Location, Resources, Staging};

use crate::driver::{Driver, Unprintable, not_text};
use crate::mapping::{Allowed, has_text};
use crate::open::Opened;
use crate::options::{OpenOptions, WriteOptions};
use crate::plan::counted;
use crate::traits::{Flags, Shape, Traits};

pub(super) struct Nock;

impl Driver for Nock {
    fn id(&self) -> &'static str {
        "nock"
    }

    fn name(&self) -> &'static str {
        "NOCK"
    }

    fn shape(&self) -> Shape {
        Shape::Bundled
    }

    fn capability(&self) -> &'static Capability {
        &isomorph_nock::CAPABILITY
    }

    fn traits(&self) -> Traits {
        Traits {
            rules: isomorph_nock::rules::RULES,
            usual_names: &["NAME.parq", "NAME.csv", "DIRECTORY/part_0.parq"],
            flags: Flags {
                opening: &["--strict", "--keep-edge-id"],
                writing: &[
                    "--partitions",
                    "--partition-by",
                    "--dialect",
                    "--truth-double",
                    "--nested-edges",
                    "--props-map",
                    "--sort",
                    "--file-type",
                    "--compression",
                ],
                telling: &[],
            },
            key: "src_name",
            inseparable: &[well_known::TRUTH, well_known::IS_RDF, well_known::SHADOW],
            ..Traits::of(self.shape())
        }
    }

    fn detect(&self, location: &Location) -> Result<bool> {
        Ok(isomorph_nock::detect(location)?.is_some())
    }

    fn is_conclusive(&self, location: &Location) -> Result<bool> {
        Ok(!location.scheme().has_listing() || isomorph_nock::has_partition_names(location)?)
    }

    fn owns_directory(&self, directory: &Location, names: &[&str]) -> Result<bool> {
        // Any directory with a table can be read as a NOCK graph.
        let is_table = |name: &str| Encoding::of_name(name).is_some() || name.starts_with(['.', '_']);
        let only_tables = names.iter().all(|name| is_table(name) || name.ends_with(".isomorph"));
        Ok((only_tables || isomorph_nock::has_partition_names(directory)?) && self.detect(directory)?)
    }

    fn matches_name(&self, name: &str) -> bool {
        [".parq", ".parquet", ".pq", ".csv"].iter().any(|ending| name.ends_with(ending))
    }

    fn suggested_name(&self, stem: &str, options: &WriteOptions) -> String {
        match options.get::<Writing>().format {
            Encoding::Csv => format!("{stem}.csv"),
            _ => format!("{stem}.parq"),
        }
    }

    fn open(&self, location: &Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        let mut own = options.get::<Opening>().into_owned();
        if let Some(resources) = &options.resources {
            own.budget = resources.budget.clone();
            own.threads = resources.threads;
            own.scratch = Some(resources.scratch.clone());
        }
        Ok(Arc::new(isomorph_nock::Nock::open(location, &own)?))
    }

    fn show_all_of(&self, options: &mut OpenOptions, graph: &Graph) {
        let mut properties = graph.edges.iter().flat_map(|ty| &ty.properties);
        if properties.any(|property| property.name == isomorph_nock::Column::EdgeId.name()) {
            options.get_mut::<Opening>().keep_edge_id = true;
        }
    }

    fn copy_options(&self, opened: &Opened, options: &mut OpenOptions) {
        options.get_mut::<Opening>().keep_edge_id = opened.options.get::<Opening>().keep_edge_id;
    }

    fn reopen_options(&self, opened: &Opened, options: &mut OpenOptions) {
        options.get_mut::<Opening>().tolerance = opened.options.get::<Opening>().tolerance;
    }

    fn same_layout(&self, opened: &Opened, _native: &dyn Source, options: &mut WriteOptions) -> Result<()> {
        if let Some(encoding) = isomorph_nock::detect(&opened.location)? {
            options.get_mut::<Writing>().format = encoding;
        }
        Ok(())
    }

    fn dropped_on_open(&self, native: &dyn Source) -> Vec<String> {
        left_out(native)
    }

    fn allowed(&self) -> Allowed {
        Allowed { holds: |property, _| has_text(property), ..Allowed::anything() }
    }

    fn allowed_in_layout(&self, options: &WriteOptions) -> Option<Allowed> {
        // A text file cannot store bytes and nested values.
        let is_cell = |property: &Property, _: bool| property.kind == ValueKind::Bag || is_cell(&property.data_type);
        (options.get::<Writing>().format == Encoding::Csv).then(|| Allowed { holds: is_cell, ..self.allowed() })
    }

    fn keeps_order(&self, options: &WriteOptions) -> bool {
        let options = options.get::<Writing>();
        !options.sort && options.partitions.as_ref().is_none_or(|partitions| partitions.count == 1)
    }

    fn undeclared(&self, graph: &Graph, options: &WriteOptions) -> Option<&'static str> {
        let is_told =
            |property: &Property| matches!(property.data_type, DataType::Utf8 | DataType::Boolean | DataType::Float64);
        let is_text = options.get::<Writing>().format == Encoding::Csv;
        let hides = is_text && super::properties(graph).any(|property| !is_told(property));
        hides.then_some("widths of numbers, which text does not declare")
    }

    fn is_directory(&self, options: &WriteOptions) -> bool {
        options.get::<Writing>().partitions.is_some()
    }

    fn encoding(&self, options: &WriteOptions) -> Option<String> {
        Some(if options.get::<Writing>().format == Encoding::Csv { "CSV" } else { "Parquet" }.to_owned())
    }

    fn check_stdout(&self, options: &WriteOptions) -> std::result::Result<(), Unprintable> {
        if self.is_directory(options) {
            return Err(match not_text(self.name(), true) {
                Unprintable::NoText(why, mut hints) => {
                    hints.push("--file-type csv    write one text, without --partitions");
                    Unprintable::NoText(why, hints)
                }
                other => other,
            });
        }
        match options.get::<Writing>().format {
            Encoding::Csv => Ok(()),
            _ => Err(Unprintable::NoText(
                "Parquet is binary, and its readers need a file".to_owned(),
                vec!["--file-type csv    write a text"],
            )),
        }
    }

    fn check_layout(&self, options: &WriteOptions) -> Result<()> {
        options.get::<Writing>().check()
    }

    fn fit(&self, options: &mut WriteOptions, graph: &Graph, name: &str, resources: &Resources) {
        let own = options.get_mut::<Writing>();
        // The name decides whether the file is text, and a 64-bit truth needs a 64-bit column.
        if name.to_ascii_lowercase().ends_with(".csv") {
            own.format = Encoding::Csv;
        }
        own.truth_double |= super::properties(graph)
            .any(|property| property.name == well_known::TRUTH && property.data_type == DataType::Float64);
        own.budget = resources.budget.clone();
        own.scratch = Some(resources.scratch.clone());
    }

    fn create<'a>(&self, staging: &'a Staging, graph: &Graph, options: &WriteOptions) -> Result<Box<dyn Sink + 'a>> {
        isomorph_nock::NockWriter::create(staging, graph, &options.get::<Writing>())
    }

    fn opens_the_same(&self, before: &OpenOptions, now: &OpenOptions, _kept: Option<&Graph>) -> bool {
        before.get::<Opening>().keep_edge_id == now.get::<Opening>().keep_edge_id
    }
}

/// Returns whether a cell of a text file can store every value of a type.
fn is_cell(data_type: &DataType) -> bool {
    let other =
        matches!(data_type, DataType::Boolean | DataType::Utf8 | DataType::Date32 | DataType::Timestamp(_, None));
    other || data_type.is_integer() || matches!(data_type, DataType::Float32 | DataType::Float64)
}

/// Returns what opening the graph has dropped: rows of nodes that have another row, and columns that were read as an
/// index. A shadow row without further information is not counted.
fn left_out(native: &dyn Source) -> Vec<String> {
    use isomorph_nock::rules::{FILE_INDEX, NODE_OWNERS, NODE_REPEATED, SHADOW_VALUES};
    // Preparing has compared the names.
    let findings = native.about().findings;
    let told = [
        (&NODE_REPEATED, "node row", "of nodes that have another row"),
        (&NODE_OWNERS, "node row", "of nodes that another partition also owns"),
        (&FILE_INDEX, "column", "read as an index"),
        (&SHADOW_VALUES, "shadow row", "with values that the used row does not have"),
    ];
    let line = |(rule, what, which)| {
        let count = findings.count(rule);
        let mut kept = findings.by_rule().flat_map(|(_, kept)| kept);
        let first =
            kept.find(|finding| finding.rule == rule).map(|finding| format!(": {}", finding.place)).unwrap_or_default();
        let what = counted(usize::try_from(count).unwrap_or(usize::MAX), what);
        (count > 0).then(|| format!("{what} {which}{first}"))
    };
    told.into_iter().filter_map(line).collect()
}
