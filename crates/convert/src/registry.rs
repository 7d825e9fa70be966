//! The formats, and which of them is at a place.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use arrow_schema::{DataType, TimeUnit};
use isomorph_bridges::{Packing, Syntax, TextSink};
use isomorph_error::{Error, Findings, Kind, Result, Rule};
use isomorph_graphar::info::FileType;
use isomorph_model::capability::Capability;
use isomorph_model::faces::{QuadSink, holds as holds_literals};
use isomorph_model::{Graph, Property, Sink, Source, ValueKind, Written, well_known};
use isomorph_storage::{Location, Scheme, Staging};
use serde::Serialize;

use crate::catalogue::{catalogue, not_one_graph};
use crate::mapping::{Allowed, NameRules, has_text, holds_feature};
use crate::options::{ConvertOptions, OpenOptions, WriteOptions};
use isomorph_storage::Resources;

/// A format that graphs are kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Format {
    /// Apache GraphAr: a directory of chunks.
    GraphAr,
    /// NOCK: one file, or a directory of partitions.
    Nock,
    /// annnet: a directory or an archive of tables.
    Annnet,
    /// DeepGNN: one of four texts, or a directory of partitions.
    DeepGnn,
    /// GraphLake: a directory of triples and snapshots.
    GraphLake,
    /// RDF: a text in one of six syntaxes.
    Rdf,
}

/// How a format sees properties and types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Types with typed columns.
    Typed,
    /// One table of nodes and one of edges, with bags of properties.
    Bundled,
    /// Triples: resources, and what is said of them.
    Triples,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 6] =
        [Format::GraphAr, Format::Nock, Format::Annnet, Format::DeepGnn, Format::GraphLake, Format::Rdf];

    /// The id that flags and carries use.
    pub fn id(self) -> &'static str {
        match self {
            Format::GraphAr => "graphar",
            Format::Nock => "nock",
            Format::Annnet => "annnet",
            Format::DeepGnn => "deepgnn",
            Format::GraphLake => "graphlake",
            Format::Rdf => "rdf",
        }
    }

    /// The name that people use.
    pub fn name(self) -> &'static str {
        match self {
            Format::GraphAr => "GraphAr",
            Format::Nock => "NOCK",
            Format::Annnet => "annnet",
            Format::DeepGnn => "DeepGNN",
            Format::GraphLake => "GraphLake",
            Format::Rdf => "RDF",
        }
    }

    /// How it sees properties and types.
    pub fn shape(self) -> Shape {
        match self {
            Format::GraphAr | Format::Annnet | Format::DeepGnn => Shape::Typed,
            Format::Nock => Shape::Bundled,
            Format::GraphLake | Format::Rdf => Shape::Triples,
        }
    }

    /// What it allows in names, for typed formats.
    pub(crate) fn name_rules(self) -> NameRules {
        match self {
            Format::GraphAr => NameRules {
                legal: |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'),
                reserved_prefix: "_graphAr",
                key: "id",
            },
            Format::Nock => NameRules { legal: |_| true, reserved_prefix: "", key: "src_name" },
            Format::Annnet => NameRules { legal: |_| true, reserved_prefix: "", key: "node_id" },
            Format::DeepGnn => NameRules { legal: |_| true, reserved_prefix: "", key: "node_id" },
            Format::GraphLake | Format::Rdf => NameRules { legal: |_| true, reserved_prefix: "", key: "term" },
        }
    }

    /// What it allows of a graph that is written as it is.
    pub(crate) fn allowed(self) -> Allowed {
        use isomorph_graphar::write as graphar;
        let any = Allowed {
            holds: |_, _| true,
            is_type: |_| true,
            is_relation: |_| true,
            is_edge: |_, _, _| true,
            is_property: |_| true,
            is_label: |_| true,
            wide_keys: true,
            reserved_prefix: "",
            documents: |_| true,
        };
        match self {
            Format::GraphAr => Allowed {
                holds: graphar::holds_values,
                is_type: graphar::is_type_name,
                is_relation: graphar::is_relation,
                is_edge: graphar::is_edge_type,
                is_property: graphar::is_property_name,
                is_label: graphar::is_label,
                wide_keys: false,
                reserved_prefix: "_graphAr",
                documents: graphar::holds_document,
            },
            Format::Nock => Allowed { holds: |property, _| has_text(property), ..any },
            Format::GraphLake | Format::Rdf => Allowed { holds: |property, _| holds_literals(property), ..any },
            Format::DeepGnn => Allowed { holds: |property, _| holds_feature(property), ..any },
            Format::Annnet => Allowed { holds: |property, _| isomorph_annnet::holds(&property.data_type), ..any },
        }
    }

    /// What a text file of this format allows of a graph that is written as it is.
    pub(crate) fn allowed_in_text(self) -> Allowed {
        Allowed {
            holds: |property, _| property.kind == ValueKind::Bag || is_cell(&property.data_type),
            ..self.allowed()
        }
    }

    /// The rules that `validate` checks.
    pub fn rules(self) -> &'static [&'static Rule] {
        match self {
            Format::GraphAr => isomorph_graphar::rules::RULES,
            Format::Nock => isomorph_nock::rules::RULES,
            Format::Annnet => isomorph_annnet::rules::RULES,
            Format::DeepGnn => isomorph_deepgnn::rules::RULES,
            Format::GraphLake => isomorph_graphlake::rules::RULES,
            Format::Rdf => isomorph_bridges::rules::RULES,
        }
    }

    /// Whether a graph of this format is at `location`, by a look at names and first bytes.
    ///
    /// # Errors
    /// When the place cannot be looked at.
    pub fn detect(self, location: &Location) -> Result<bool> {
        // These are directories, and a stream is one file.
        if location.scheme() == Scheme::Stream && matches!(self, Format::GraphAr | Format::GraphLake) {
            return Ok(false);
        }
        match self {
            Format::GraphAr => isomorph_graphar::detect(location),
            Format::Nock => Ok(isomorph_nock::detect(location)?.is_some()),
            Format::Annnet => isomorph_annnet::detect(location),
            Format::DeepGnn => isomorph_deepgnn::detect(location),
            Format::GraphLake => isomorph_graphlake::detect(location),
            Format::Rdf => isomorph_bridges::detect(location),
        }
    }

    /// The format at `location`.
    ///
    /// # Errors
    /// [`Kind::NotFound`] when there is nothing; [`Kind::Unsupported`] when it is none of the formats, or a directory of
    /// several graphs, which the error lists.
    pub fn at(location: &Location) -> Result<Format> {
        let mut missing = false;
        for format in Format::ALL {
            match format.detect(location) {
                Ok(true) if format == Format::Nock => return Format::only(format, location),
                Ok(true) => return Ok(format),
                Ok(false) => {}
                Err(error) if error.kind() == Kind::NotFound => missing = true,
                Err(error) => return Err(error),
            }
        }
        if missing {
            let message = format!("there is nothing at this place{}", location.did_you_mean());
            return Err(Error::new(Kind::NotFound, message).at(location.to_string()));
        }
        // A name that promises a format: its reader says best what is wrong.
        if let Some(format) = Format::of_name(location.file_name()) {
            return Ok(format);
        }
        let inside = catalogue(location)?;
        if !inside.graphs.is_empty() {
            return Err(not_one_graph(location, &inside));
        }
        let unknown = Error::unsupported("this is none of the formats that are known").at(location.to_string());
        Err(match Format::around(location) {
            Some((format, around)) => unknown.hint(format!("{around}    the graph in {format} that it is part of")),
            None => unknown.hint("--from graphar|nock|annnet|deepgnn|graphlake|rdf    say which it is"),
        })
    }

    /// `format`, unless it is that of one file in a directory that holds other graphs as well.
    fn only(format: Format, location: &Location) -> Result<Format> {
        if !location.scheme().has_listing() || isomorph_nock::has_partition_names(location)? {
            return Ok(format);
        }
        let inside = catalogue(location)?;
        let others = inside.graphs.iter().any(|graph| graph.format != format);
        if others { Err(not_one_graph(location, &inside)) } else { Ok(format) }
    }

    /// The graph that a local file or directory is part of: one that lies at most two directories above it.
    fn around(location: &Location) -> Option<(Format, Location)> {
        let is_dataset = |place: &Location| {
            let named = place.as_path().is_some_and(|path| path.file_name().is_some());
            let mut formats = Format::ALL.into_iter().filter(|format| *format != Format::Rdf && named);
            formats.find(|format| format.detect(place).unwrap_or(false))
        };
        let mut place = location.clone();
        for _ in 0..2 {
            place = place.parent()?;
            if let Some(format) = is_dataset(&place) {
                return Some((format, place));
            }
        }
        None
    }

    /// Opens a graph; nothing is read but metadata.
    ///
    /// # Errors
    /// When the metadata is missing or not sound.
    pub fn open(self, location: &Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        Ok(match self {
            Format::GraphAr => Arc::new(isomorph_graphar::GraphAr::open(location, &options.graphar)?),
            Format::Nock => Arc::new(isomorph_nock::Nock::open(location, &options.nock)?),
            Format::Annnet => Arc::new(isomorph_annnet::Annnet::open(location, &options.annnet)?),
            Format::DeepGnn => Arc::new(isomorph_deepgnn::DeepGnn::open(location, &options.deepgnn)?),
            Format::GraphLake => Arc::new(isomorph_graphlake::GraphLake::open(location, &options.graphlake)?),
            Format::Rdf => Arc::new(isomorph_bridges::RdfText::open(location, &options.rdf)?),
        })
    }

    /// A writer of `graph` into `staging`.
    ///
    /// # Errors
    /// When the graph is not of the format's shape, or files cannot be begun.
    pub(crate) fn create<'a>(
        self,
        staging: &'a Staging,
        graph: &Graph,
        options: &WriteOptions,
    ) -> Result<Box<dyn Sink + 'a>> {
        match self {
            Format::GraphAr => isomorph_graphar::GraphArWriter::create(staging, graph, &options.graphar),
            Format::Nock => isomorph_nock::NockWriter::create(staging, graph, &options.nock),
            Format::Annnet => isomorph_annnet::AnnnetWriter::create(staging, graph, &options.annnet),
            Format::DeepGnn => {
                // The plan has told what a text does not hold, or refused.
                let write = isomorph_deepgnn::WriteOptions { without_unheld: true, ..options.deepgnn.clone() };
                isomorph_deepgnn::DeepGnnWriter::create(staging, graph, &write)
            }
            Format::GraphLake | Format::Rdf => Err(Error::usage("RDF is written as quads")),
        }
    }

    /// A writer of quads into `staging`, for formats of RDF; a text has these prefixes and this syntax.
    ///
    /// # Errors
    /// When the format is none of RDF, or files cannot be begun.
    pub(crate) fn quads<'a>(
        self,
        staging: &'a Staging,
        text: Option<(Syntax, Packing, isomorph_bridges::WriteOptions)>,
        options: &ConvertOptions,
        resources: &Resources,
    ) -> Result<Box<dyn QuadSink + 'a>> {
        match (self, text) {
            (Format::GraphLake, _) => {
                let write = isomorph_graphlake::WriteOptions {
                    time: options.epoch,
                    threads: resources.threads,
                    budget: resources.budget.clone(),
                    scratch: Some(resources.scratch.clone()),
                    ..isomorph_graphlake::WriteOptions::default()
                };
                Ok(Box::new(isomorph_graphlake::LakeWriter::create(staging, &write)?))
            }
            (Format::Rdf, Some((syntax, packing, write))) => {
                Ok(Box::new(TextSink::create(staging, (syntax, packing), &write, options.loses())?))
            }
            _ => Err(Error::usage(format!("{self} is not written as quads"))),
        }
    }

    /// Whether it has one node type and one edge type with typed attributes: graphs of several types become one there.
    pub(crate) fn has_one_type(self) -> bool {
        self.shape() == Shape::Typed && !self.capability().node_types
    }

    /// Whether edges are written in the order of their ends.
    pub(crate) fn sorts_edges(self) -> bool {
        self != Format::Annnet
    }

    /// Whether a layout keeps the order of nodes.
    pub(crate) fn keeps_order(self, options: &WriteOptions) -> bool {
        let nock = &options.nock;
        self != Format::Nock || (!nock.sort && nock.partitions.as_ref().is_none_or(|partitions| partitions.count == 1))
    }

    /// Properties that belong to the elements of this format as their keys do: without them a graph would be another one, or none.
    pub(crate) fn inseparable(self) -> &'static [&'static str] {
        match self {
            Format::Nock => &[well_known::TRUTH, well_known::IS_RDF, well_known::SHADOW],
            Format::Annnet => &[well_known::WEIGHT, well_known::ENTITY],
            Format::DeepGnn => &[well_known::WEIGHT, "type", well_known::CREATED_AT, well_known::REMOVED_AT],
            Format::GraphLake | Format::Rdf => &[well_known::GRAPH],
            Format::GraphAr => &[],
        }
    }

    /// What a graph of this format can say.
    pub fn capability(self) -> &'static Capability {
        match self {
            Format::GraphAr => &isomorph_graphar::CAPABILITY,
            Format::Nock => &isomorph_nock::CAPABILITY,
            Format::Annnet => &isomorph_annnet::CAPABILITY,
            Format::DeepGnn => &isomorph_deepgnn::CAPABILITY,
            Format::GraphLake => &isomorph_graphlake::CAPABILITY,
            Format::Rdf => &isomorph_bridges::CAPABILITY,
        }
    }

    /// What files of this format and layout do not declare of `graph`, which they hold as it is; a hint for plans.
    pub(crate) fn undeclared(self, graph: &Graph, options: &WriteOptions) -> Option<&'static str> {
        let nodes = graph.nodes.iter().flat_map(|ty| &ty.properties);
        let mut properties = nodes.chain(graph.edges.iter().flat_map(|ty| &ty.properties));
        match self {
            Format::GraphAr => {
                let fine = |data_type: &DataType| matches!(data_type, DataType::Timestamp(unit, _) if *unit != TimeUnit::Millisecond);
                let stated = options.graphar.file_type.is_none_or(|file_type| file_type == FileType::Parquet);
                (!stated && properties.any(|property| fine(&property.data_type))).then_some("units of timestamps")
            }
            Format::Nock if options.nock.format == isomorph_nock::Format::Csv => {
                let text = |property: &Property| {
                    matches!(property.data_type, DataType::Utf8 | DataType::Boolean | DataType::Float64)
                };
                properties.any(|property| !text(property)).then_some("widths of numbers, which text does not declare")
            }
            Format::DeepGnn => isomorph_deepgnn::hides_times(graph, &options.deepgnn)
                .then_some("that lines have times (without it: --temporal)"),
            Format::Nock | Format::Annnet | Format::GraphLake | Format::Rdf => None,
        }
    }

    /// What readers will hold against a layout, whatever the graph.
    pub(crate) fn cautions(self, options: &WriteOptions) -> Findings {
        match self {
            Format::GraphAr => options.graphar.findings(),
            Format::Nock | Format::Annnet | Format::DeepGnn | Format::GraphLake | Format::Rdf => Findings::default(),
        }
    }

    /// The files that make the others a graph, in the order in which they become visible: published last.
    pub(crate) fn manifests(self, written: &Written) -> Vec<&str> {
        match self {
            Format::GraphAr => {
                let names = written.files.iter().map(|(name, _)| name.as_str());
                names.filter(|name| name.ends_with(".graph.yml")).collect()
            }
            Format::Nock | Format::Rdf => Vec::new(),
            Format::GraphLake => {
                let manifests = isomorph_graphlake::LakeWriter::manifests();
                let find = |wanted: &String| written.files.iter().find(|(name, _)| name == wanted);
                manifests.iter().filter_map(find).map(|(name, _)| name.as_str()).collect()
            }
            Format::Annnet | Format::DeepGnn => {
                let manifest = match self {
                    Format::Annnet => isomorph_annnet::layout::file::MANIFEST,
                    _ => isomorph_deepgnn::META,
                };
                let names = written.files.iter().map(|(name, _)| name.as_str());
                names.filter(|name| *name == manifest).collect()
            }
        }
    }

    /// The format that the name of a destination suggests.
    pub fn of_name(name: &str) -> Option<Format> {
        let name = name.to_ascii_lowercase();
        if name.ends_with(".parq") || name.ends_with(".parquet") || name.ends_with(".csv") {
            Some(Format::Nock)
        } else if name.ends_with(".graphar") || name.ends_with(".gar") {
            Some(Format::GraphAr)
        } else if name.ends_with(".annnet") {
            Some(Format::Annnet)
        } else if name.ends_with(".deepgnn")
            || isomorph_deepgnn::TextFormat::of_name(&name).is_some() && !name.contains(".json")
        {
            Some(Format::DeepGnn)
        } else if name.ends_with(".graphlake") || name.ends_with(".lake") {
            Some(Format::GraphLake)
        } else if Syntax::of_name(&name).is_some() {
            Some(Format::Rdf)
        } else {
            None
        }
    }
}

/// Whether a cell of a text file holds every value of a type.
fn is_cell(data_type: &DataType) -> bool {
    let other =
        matches!(data_type, DataType::Boolean | DataType::Utf8 | DataType::Date32 | DataType::Timestamp(_, None));
    other || data_type.is_integer() || matches!(data_type, DataType::Float32 | DataType::Float64)
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(id: &str) -> Result<Self> {
        let known = Format::ALL.into_iter().find(|format| format.id() == id.to_ascii_lowercase());
        known.ok_or_else(|| {
            Error::usage(format!("{id:?} is no format")).hint("graphar, nock, annnet, deepgnn, graphlake, rdf")
        })
    }
}
