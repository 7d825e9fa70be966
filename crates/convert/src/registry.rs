//! The formats, and which of them is at a place.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use isomorph_error::{Error, Kind, Result, Rule};
use isomorph_model::{Graph, Sink, Source, Written};
use isomorph_storage::{Location, Staging};
use serde::Serialize;

use crate::mapping::NameRules;
use crate::options::{OpenOptions, WriteOptions};

/// A format that graphs are kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Format {
    /// Apache GraphAr: a directory of chunks.
    GraphAr,
    /// NOCK: one file, or a directory of partitions.
    Nock,
}

/// Column names that GraphAr's readers and writers keep for themselves.
const GRAPHAR_COLUMNS: &[&str] = &[
    "_graphArVertexIndex",
    "_graphArSrcIndex",
    "_graphArDstIndex",
    "_graphArOffset",
    "_graphArPrimary",
    "_graphArVertexChunkIndex",
    "_graphArEdgeIndex",
];

/// How a format sees properties and types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Types with typed columns.
    Typed,
    /// One table of nodes and one of edges, with bags of properties.
    Bundled,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 2] = [Format::GraphAr, Format::Nock];

    /// The id that flags and carries use.
    pub fn id(self) -> &'static str {
        match self {
            Format::GraphAr => "graphar",
            Format::Nock => "nock",
        }
    }

    /// The name that people use.
    pub fn name(self) -> &'static str {
        match self {
            Format::GraphAr => "GraphAr",
            Format::Nock => "NOCK",
        }
    }

    /// How it sees properties and types.
    pub fn shape(self) -> Shape {
        match self {
            Format::GraphAr => Shape::Typed,
            Format::Nock => Shape::Bundled,
        }
    }

    /// What it allows in names, for typed formats.
    pub(crate) fn name_rules(self) -> NameRules {
        match self {
            Format::GraphAr => NameRules {
                legal: |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'),
                reserved: GRAPHAR_COLUMNS,
                key: "id",
            },
            Format::Nock => NameRules { legal: |_| true, reserved: &[], key: "src_name" },
        }
    }

    /// The rules that `validate` checks.
    pub fn rules(self) -> &'static [&'static Rule] {
        match self {
            Format::GraphAr => isomorph_graphar::rules::RULES,
            Format::Nock => isomorph_nock::rules::RULES,
        }
    }

    /// Whether a graph of this format is at `location`, by a look at names and first bytes.
    ///
    /// # Errors
    /// When the place cannot be looked at.
    pub fn detect(self, location: &Location) -> Result<bool> {
        match self {
            Format::GraphAr => isomorph_graphar::detect(location),
            Format::Nock => Ok(isomorph_nock::detect(location)?.is_some()),
        }
    }

    /// The format at `location`.
    ///
    /// # Errors
    /// [`Kind::NotFound`] when there is nothing; [`Kind::Unsupported`] when it is none of the formats.
    pub fn at(location: &Location) -> Result<Format> {
        let mut missing = false;
        for format in Format::ALL {
            match format.detect(location) {
                Ok(true) => return Ok(format),
                Ok(false) => {}
                Err(error) if error.kind() == Kind::NotFound => missing = true,
                Err(error) => return Err(error),
            }
        }
        if missing {
            return Err(Error::new(Kind::NotFound, "there is nothing at this place").at(location.to_string()));
        }
        // A name that promises a format: its reader says best what is wrong.
        if let Some(format) = Format::of_name(location.file_name()) {
            return Ok(format);
        }
        Err(Error::unsupported("this is none of the formats that are known")
            .at(location.to_string())
            .hint("--from graphar|nock    say which it is"))
    }

    /// Opens a graph; nothing is read but metadata.
    ///
    /// # Errors
    /// When the metadata is missing or not sound.
    pub fn open(self, location: &Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        Ok(match self {
            Format::GraphAr => Arc::new(isomorph_graphar::GraphAr::open(location, &options.graphar)?),
            Format::Nock => Arc::new(isomorph_nock::Nock::open(location, &options.nock)?),
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
        }
    }

    /// The files that make the others a graph, in the order in which they become visible: published last.
    pub(crate) fn manifests(self, written: &Written) -> Vec<&str> {
        match self {
            Format::GraphAr => {
                let names = written.files.iter().map(|(name, _)| name.as_str());
                names.filter(|name| name.ends_with(".graph.yml")).collect()
            }
            Format::Nock => Vec::new(),
        }
    }

    /// The format that the name of a destination suggests.
    pub fn of_name(name: &str) -> Option<Format> {
        let name = name.to_ascii_lowercase();
        if name.ends_with(".parq") || name.ends_with(".parquet") || name.ends_with(".csv") {
            Some(Format::Nock)
        } else if name.ends_with(".graphar") || name.ends_with(".gar") {
            Some(Format::GraphAr)
        } else {
            None
        }
    }
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
        known.ok_or_else(|| Error::usage(format!("{id:?} is no format")).hint("graphar, nock"))
    }
}
